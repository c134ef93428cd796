"""Products of four rows of a tile with one or two vectors, in vector instructions that are chosen here.

For the same loops the compiler writes one long chain of sums for each column, each waiting for the one before, and no
vector instructions at all where data are asked for in advance. These functions need half the time: they read each row
once for two vectors, and ask for a row that is needed soon with every step.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from mercer.arrays import Array

ROWS = 4
_INDEX, _BYTE = ir.IntType(32), ir.IntType(8).as_pointer()
_ADD_TO_PRODUCT = ("contract",)  # a product and a sum may be one instruction


def _vector_bytes() -> int:
    """Return the size of the processor's vector registers."""
    known = binding.get_host_cpu_features()
    return 64 if known.get("avx512f") else 32 if known.get("avx") else 16


VECTOR_BYTES = _vector_bytes()


class _Vectors:
    """Writes instructions for vectors of numbers of the precision of the sums; a tile may have less."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> None:
        number = signature.return_type.dtype
        self._context, self._builder, self._arrays, self._args = context, builder, signature.args, args
        self.size = number.bitwidth // 8
        self.lanes = VECTOR_BYTES // self.size
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
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self._builder.insert_element(undefined, self._builder.load(entry), _INDEX(0))
        zeros = ir.Constant(ir.VectorType(_INDEX, self.lanes), [0] * self.lanes)
        return self._builder.shuffle_vector(first, undefined, zeros)

    def load(self, entry: Any, offset: Any) -> Any:
        """Return the vector that begins so many numbers after an entry."""
        given = ir.VectorType(entry.type.pointee, self.lanes)
        size = 4 if entry.type.pointee == ir.FloatType() else 8
        place = self._builder.bitcast(self._builder.gep(entry, [offset]), given.as_pointer())
        vector = self._builder.load(place, align=size)
        return vector if given == self.type else self._builder.fpext(vector, self.type)

    def store(self, vector: Any, entry: Any, offset: Any) -> None:
        """Write the vector that begins so many numbers after an entry."""
        place = self._builder.bitcast(self._builder.gep(entry, [offset]), self.type.as_pointer())
        self._builder.store(vector, place, align=self.size)

    def plus_product(self, a: Any, b: Any, c: Any) -> Any:
        """Return a + b c."""
        return self._builder.fadd(a, self._builder.fmul(b, c, flags=_ADD_TO_PRODUCT), flags=_ADD_TO_PRODUCT)

    def total(self, vector: Any) -> Any:
        """Return the sum of the numbers of a vector, added in pairs."""
        function = ir.FunctionType(self.scalar, [self.scalar, self.type])
        name = f"llvm.vector.reduce.fadd.v{self.lanes}f{8 * self.size}"
        add = cgutils.get_or_insert_function(self._builder.module, function, name)
        return self._builder.call(add, [self.scalar(-0.0), vector], fastmath=("reassoc",))

    def ask_for(self, entry: Any, offset: Any) -> None:
        """Ask the processor to bring a line into its second-level cache; any address is harmless."""
        function = ir.FunctionType(ir.VoidType(), [_BYTE, _INDEX, _INDEX, _INDEX])
        hint = cgutils.get_or_insert_function(self._builder.module, function, "llvm.prefetch.p0")
        place = self._builder.bitcast(self._builder.gep(entry, [offset]), _BYTE)
        self._builder.call(hint, [place, _INDEX(0), _INDEX(2), _INDEX(1)])


def _instructions(builder: Any, vectors: _Vectors, count: int, place: Sequence[Any]) -> list[Any]:
    """Write the loop over the columns; return the sums of the rows, those for the first vector first."""
    i, k, stop = place
    zero = ir.Constant(stop.type, 0)

    def after(index: Any, more: int) -> Any:
        return builder.add(index, ir.Constant(index.type, more))

    rows = [vectors.entry(0, after(i, a), zero) for a in range(ROWS)]
    factors = [
        [vectors.repeated(vectors.entry(1, after(k, m), after(i, a))) for a in range(ROWS)] for m in range(count)
    ]
    at_columns = [vectors.entry(2, after(k, m), zero) for m in range(count)]
    columns = [vectors.entry(3, after(k, m), zero) for m in range(count)]
    turn = builder.udiv(k, ir.Constant(k.type, count))
    ahead = vectors.entry(0, builder.add(after(i, ROWS), turn), zero)  # each call asks for another of the next rows
    sums = [[cgutils.alloca_once_value(builder, vectors.constant(0.0)) for _ in range(ROWS)] for _ in range(count)]
    with cgutils.for_range_slice(builder, zero, stop, ir.Constant(stop.type, vectors.lanes), stop.type) as (j, _):
        vectors.ask_for(ahead, j)
        given = [vectors.load(entry, j) for entry in at_columns]
        found = [vectors.constant(0.0)] * count
        for a, row in enumerate(rows):
            values = vectors.load(row, j)
            for m in range(count):
                builder.store(vectors.plus_product(builder.load(sums[m][a]), values, given[m]), sums[m][a])
                found[m] = vectors.plus_product(found[m], values, factors[m][a])
        for entry, more in zip(columns, found, strict=True):
            vectors.store(builder.fadd(vectors.load(entry, j), more), entry, j)
    return [vectors.total(builder.load(total)) for part in sums for total in part]


def in_python(count: int) -> Callable[..., tuple[float, ...]]:
    """Return the function for so many vectors at once where NUMBA_DISABLE_JIT is set."""

    def products(
        tile: Array, for_columns: Array, for_rows: Array, columns: Array, i: int, k: int, stop: int
    ) -> tuple[float, ...]:
        four, some = tile[i : i + ROWS, :stop], slice(k, k + count)
        columns[some, :stop] += for_columns[some, i : i + ROWS] @ four
        return tuple((for_rows[some, :stop] @ four.T).ravel())

    return products


def _in_instructions(count: int) -> Any:
    """Return the function for so many vectors at once, for compiled code."""

    def products(
        typingctx: Any, tile: Any, for_columns: Any, for_rows: Any, columns: Any, i: Any, k: Any, stop: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            sums = _instructions(builder, _Vectors(context, builder, signature, args), count, args[4:])
            return context.make_tuple(builder, signature.return_type, sums)

        sums, numbers = types.UniTuple(columns.dtype, ROWS * count), [types.intp] * 3
        return sums(tile, for_columns, for_rows, columns, *numbers), codegen

    return intrinsic(products)


_products = in_python if config.DISABLE_JIT else _in_instructions
with_one_vector = _products(1)
"""Add what four rows contribute to the columns, for one vector; return the sums of the rows.

The arguments are the tile, (p, q); the vectors for its columns and for its rows, and the sums for columns, all with one
vector per row and in one precision; the first of the four rows; the vector; and the number of columns, a multiple of
the lanes.
"""
with_two_vectors = _products(2)
"""The same for this vector and the next one; the sums for the first of them come first."""
