"""Products with a symmetric tile that is read once: T v for its rows and T^T v for its columns.

BLAS would pack the tile twice, which for a few vectors takes longer than the arithmetic. Some rows at a time stay in
the first-level cache while they are multiplied by all vectors, two at a time. Serial, without the interpreter lock:
threads run over tiles.

The innermost loop is written in vector instructions. Of a loop in Python the compiler makes one long chain of sums for
each column, each waiting for the one before, and no vector instructions at all where data are asked for in advance.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.core.errors import TypingError
from numba.extending import intrinsic

from mercer.arrays import Array
from mercer.kernels.compiled import compiled, prefer_wide_vectors

_FAST = {"contract", "reassoc", "nsz"}
_TILE, _FOR_COLUMNS, _FOR_ROWS, _COLUMNS = range(4)  # the arrays among the arguments of `_products`
_INDEX, _BYTE = ir.IntType(32), ir.IntType(8).as_pointer()
_ADD_TO_PRODUCT = ("contract",)  # a product and a sum may be one instruction


def _vector_bytes() -> int:
    """Return the size of the vector registers that numba uses, which NUMBA_CPU_FEATURES and others may limit."""
    given = config.CPU_FEATURES
    known = (get_host_cpu_features() if given is None else given).split(",")
    return 64 if "+avx512f" in known else 32 if "+avx" in known else 16


_VECTOR_BYTES = _vector_bytes()
ROWS = 8 if _VECTOR_BYTES == 64 else 4  # at a time: processors with longer vectors have more registers for sums


class _Vectors:
    """Writes instructions for vectors of numbers of the precision of the sums; a tile may have less."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> None:
        number = signature.return_type.dtype
        self._context, self._builder, self._arrays, self._args = context, builder, signature.args, args
        self.size = number.bitwidth // 8
        self.lanes = _VECTOR_BYTES // self.size
        self.scalar = context.get_value_type(number)
        self.type = ir.VectorType(self.scalar, self.lanes)

    def entry(self, which: int, row: Any, column: Any) -> Any:
        """Return where an entry of an argument is."""
        array = self._context.make_array(self._arrays[which])(self._context, self._builder, self._args[which])
        index = [row, column]
        return cgutils.get_item_pointer(
            self._context, self._builder, self._arrays[which], array, index, wraparound=False
        )

    def constant(self, value: float) -> Any:
        """Return a vector of equal numbers."""
        return ir.Constant(self.type, [value] * self.lanes)

    def repeated(self, entry: Any) -> Any:
        """Return a vector of copies of the number that is there."""
        return self._copies(self._builder.load(entry))

    def below(self, count: Any) -> Any:
        """Return a vector that tells for each lane whether its number, from 0, is below a count."""
        numbers = ir.Constant(ir.VectorType(count.type, self.lanes), list(range(self.lanes)))
        return self._builder.icmp_signed("<", numbers, self._copies(count))

    def _copies(self, number: Any) -> Any:
        undefined = ir.Constant(ir.VectorType(number.type, self.lanes), ir.Undefined)
        first = self._builder.insert_element(undefined, number, _INDEX(0))
        zeros = ir.Constant(ir.VectorType(_INDEX, self.lanes), [0] * self.lanes)
        return self._builder.shuffle_vector(first, undefined, zeros)

    def load(self, entry: Any, offset: Any, mask: Any = None) -> Any:
        """Return the vector that begins so many numbers after an entry; zeros where there is a mask that is false."""
        return self._load(self._address(entry, offset, self.type), self.type, self.size, mask)

    def load_short(self, entry: Any, offset: Any, mask: Any = None) -> Any:
        """Return a vector of the tile's numbers, which may be float32 where the sums are float64."""
        number = self._arrays[_TILE].dtype
        given = ir.VectorType(self._context.get_value_type(number), self.lanes)
        vector = self._load(self._address(entry, offset, given), given, number.bitwidth // 8, mask)
        return vector if given == self.type else self._builder.fpext(vector, self.type)

    def _load(self, address: Any, kind: Any, size: int, mask: Any) -> Any:
        if mask is None:
            return self._builder.load(address, align=size)
        function = ir.FunctionType(kind, [address.type, _INDEX, mask.type, kind])
        load = self._intrinsic(f"llvm.masked.load.v{self.lanes}f{8 * size}.p0", function)
        return self._builder.call(load, [address, _INDEX(size), mask, ir.Constant(kind, [0.0] * self.lanes)])

    def store(self, vector: Any, entry: Any, offset: Any, mask: Any = None) -> None:
        """Write the vector that begins so many numbers after an entry; where there is a mask, only what it tells."""
        address = self._address(entry, offset, self.type)
        if mask is None:
            self._builder.store(vector, address, align=self.size)
            return
        function = ir.FunctionType(ir.VoidType(), [self.type, address.type, _INDEX, mask.type])
        store = self._intrinsic(f"llvm.masked.store.v{self.lanes}f{8 * self.size}.p0", function)
        self._builder.call(store, [vector, address, _INDEX(self.size), mask])

    def _address(self, entry: Any, offset: Any, kind: Any) -> Any:
        return self._builder.bitcast(self._builder.gep(entry, [offset]), kind.as_pointer())

    def plus_product(self, a: Any, b: Any, c: Any) -> Any:
        """Return a + b c."""
        return self._builder.fadd(a, self._builder.fmul(b, c, flags=_ADD_TO_PRODUCT), flags=_ADD_TO_PRODUCT)

    def total(self, vector: Any) -> Any:
        """Return the sum of the numbers of a vector, added in pairs."""
        function = ir.FunctionType(self.scalar, [self.scalar, self.type])
        add = self._intrinsic(f"llvm.vector.reduce.fadd.v{self.lanes}f{8 * self.size}", function)
        return self._builder.call(add, [self.scalar(-0.0), vector], fastmath=("reassoc",))

    def ask_for(self, entry: Any, offset: Any) -> None:
        """Ask the processor to bring a line into its second-level cache; any address is harmless."""
        function = ir.FunctionType(ir.VoidType(), [_BYTE, _INDEX, _INDEX, _INDEX])
        hint = self._intrinsic("llvm.prefetch.p0", function)
        address = self._builder.bitcast(self._builder.gep(entry, [offset]), _BYTE)
        self._builder.call(hint, [address, _INDEX(0), _INDEX(2), _INDEX(1)])

    def _intrinsic(self, name: str, function: Any) -> Any:
        return cgutils.get_or_insert_function(self._builder.module, function, name)


def _instructions(builder: Any, vectors: _Vectors, count: int, i: Any, k: Any, n_columns: Any) -> list[Any]:
    """Write the loop over the columns; return the sums of the rows, those for the first vector first."""
    zero, lanes = ir.Constant(n_columns.type, 0), ir.Constant(n_columns.type, vectors.lanes)

    def after(index: Any, more: int) -> Any:
        return builder.add(index, ir.Constant(index.type, more))

    rows = [vectors.entry(_TILE, after(i, a), zero) for a in range(ROWS)]
    factors = [
        [vectors.repeated(vectors.entry(_FOR_COLUMNS, after(k, m), after(i, a))) for a in range(ROWS)]
        for m in range(count)
    ]
    at_columns = [vectors.entry(_FOR_ROWS, after(k, m), zero) for m in range(count)]
    columns = [vectors.entry(_COLUMNS, after(k, m), zero) for m in range(count)]
    sums = [[cgutils.alloca_once_value(builder, vectors.constant(0.0)) for _ in range(ROWS)] for _ in range(count)]

    def add_products(j: Any, mask: Any = None) -> None:
        given = [vectors.load(entry, j, mask) for entry in at_columns]
        found = [vectors.constant(0.0)] * count
        for a, row in enumerate(rows):
            values = vectors.load_short(row, j, mask)
            for m in range(count):
                builder.store(vectors.plus_product(builder.load(sums[m][a]), values, given[m]), sums[m][a])
                found[m] = vectors.plus_product(found[m], values, factors[m][a])
        for entry, more in zip(columns, found, strict=True):
            total = builder.fadd(vectors.load(entry, j, mask), more, flags=_ADD_TO_PRODUCT)
            vectors.store(total, entry, j, mask)

    if count == 1:
        ahead = [vectors.entry(_TILE, after(i, ROWS + a), zero) for a in range(ROWS)]
    else:  # the calls for other vectors ask for the other rows
        each = ROWS // 4  # eight vectors ask for all rows
        first = builder.mul(builder.udiv(k, ir.Constant(k.type, count)), ir.Constant(k.type, each))
        ahead = [vectors.entry(_TILE, builder.add(after(i, ROWS + a), first), zero) for a in range(each)]
    whole = builder.sub(n_columns, builder.urem(n_columns, lanes))
    with cgutils.for_range_slice(builder, zero, whole, lanes, whole.type) as (j, _):
        for row in ahead:
            vectors.ask_for(row, j)
        add_products(j)
    with builder.if_then(builder.icmp_signed("<", whole, n_columns)):
        add_products(whole, vectors.below(builder.sub(n_columns, whole)))
    return [vectors.total(builder.load(of_row)) for part in sums for of_row in part]


def in_python(count: int) -> Callable[..., tuple[float, ...]]:
    """Return the function for so many vectors at once where NUMBA_DISABLE_JIT is set."""

    def products(
        tile: Array, for_columns: Array, for_rows: Array, columns: Array, i: int, k: int, n_columns: int
    ) -> tuple[float, ...]:
        rows, some = tile[i : i + ROWS], slice(k, k + count)
        columns[some] += for_columns[some, i : i + ROWS] @ rows
        return tuple((for_rows[some] @ rows.T).ravel())

    return products


def _in_instructions(count: int) -> Any:
    """Return the function for so many vectors at once, for compiled code."""

    def products(
        typingctx: Any, tile: Any, for_columns: Any, for_rows: Any, columns: Any, i: Any, k: Any, n_columns: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            sums = _instructions(builder, _Vectors(context, builder, signature, args), count, *args[4:])
            return context.make_tuple(builder, signature.return_type, sums)

        precisions = {for_columns.dtype, for_rows.dtype, columns.dtype}
        if any(array.layout != "C" for array in (tile, for_columns, for_rows, columns)) or len(precisions) > 1:
            raise TypingError("Tiles, vectors and sums must be in C order, vectors and sums in one precision.")
        if tile.dtype not in (types.float32, columns.dtype):
            raise TypingError("A tile must not be of more precision than the vectors and sums.")
        sums, numbers = types.UniTuple(columns.dtype, ROWS * count), [types.intp] * 3
        return sums(tile, for_columns, for_rows, columns, *numbers), codegen

    return intrinsic(products)


# A function of the tile, (p, q); the vectors for its columns and for its rows, and the sums for columns, all with one
# vector per row; the first of some rows; the first vector; and q. It adds what these rows contribute to the columns,
# and returns the sums of the rows, those for the first vector first.
_products = in_python if config.DISABLE_JIT else _in_instructions
_with_one_vector = _products(1)
_with_two_vectors = _products(2)


@compiled(fastmath=_FAST)
def add_both_products(
    tile: Array,  # (p, q); all arrays are in C order
    for_columns: Array,  # (b, p), multiplies T^T
    for_rows: Array,  # (b, q), multiplies T
    rows: Array,  # (b, p), gets T v added; float64 here costs nothing
    columns: Array,  # (b, q), gets T^T v added; in the precision of the vectors
) -> None:
    """Add T @ for_rows.T to `rows` and T.T @ for_columns.T to `columns`, both stored with one vector per row."""
    prefer_wide_vectors()
    (p, q), b = tile.shape, len(for_rows)
    whole = p - p % ROWS
    for i in range(0, whole, ROWS):
        for k in range(0, b - 1, 2):
            sums = _with_two_vectors(tile, for_columns, for_rows, columns, i, k, q)
            for a in range(ROWS):
                rows[k, i + a] += sums[a]
                rows[k + 1, i + a] += sums[ROWS + a]
        if b % 2:
            last = _with_one_vector(tile, for_columns, for_rows, columns, i, b - 1, q)
            for a in range(ROWS):
                rows[b - 1, i + a] += last[a]
    for i in range(whole, p):
        for k in range(b):
            w, total = for_columns[k, i], 0.0
            for j in range(q):
                total += tile[i, j] * for_rows[k, j]
                columns[k, j] += w * tile[i, j]
            rows[k, i] += total


@compiled(fastmath=_FAST)
def add_both_products_short(
    tile: Array,  # (p, q), float32, as are the vectors
    for_columns: Array,
    for_rows: Array,
    rows: Array,  # (b, p), float64
    columns: Array,  # (b, q), float64
    sums: Array,  # (b, q), float32, for the sums over the rows of the tile
) -> None:
    """Do the same with sums that are float32 within the tile and float64 beyond it."""
    prefer_wide_vectors()
    sums[:, :] = 0.0
    add_both_products(tile, for_columns, for_rows, rows, sums)
    for k in range(len(sums)):
        for j in range(sums.shape[1]):
            columns[k, j] += sums[k, j]
