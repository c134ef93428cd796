"""Products with a symmetric tile that is read once: T v for its rows and T^T v for its columns.

BLAS would pack the tile twice, which for a few vectors takes longer than the arithmetic. Some rows at a time stay in
the first-level cache while they are multiplied by all vectors, two at a time. Serial, without the interpreter lock:
threads run over tiles.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from mercer.arrays import Array
from mercer.kernels.compiled import compiled, prefer_wide_vectors
from mercer.kernels.vectors import ROWS, Vectors

_FAST = {"contract", "reassoc", "nsz"}
_TILE, _FOR_COLUMNS, _FOR_ROWS, _COLUMNS = range(4)  # the arrays among the arguments of `_products`


def _instructions(builder: Any, vectors: Vectors, number: Any, count: int, i: Any, k: Any, n_columns: Any) -> list[Any]:
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
            values = vectors.load_short(row, j, number, mask)
            for m in range(count):
                builder.store(vectors.plus_product(builder.load(sums[m][a]), values, given[m]), sums[m][a])
                found[m] = vectors.plus_product(found[m], values, factors[m][a])
        for entry, more in zip(columns, found, strict=True):
            vectors.store(vectors.sum(vectors.load(entry, j, mask), more), entry, j, mask)

    if count == 1:
        ahead = [vectors.entry(_TILE, after(i, ROWS + a), zero) for a in range(ROWS)]
    else:  # every call asks for half of the next rows: of what is asked for at once, processors drop what is too much
        call = builder.udiv(k, ir.Constant(k.type, count))
        first = builder.mul(builder.and_(call, ir.Constant(k.type, 1)), ir.Constant(k.type, ROWS // 2))
        ahead = [vectors.entry(_TILE, builder.add(after(i, ROWS + a), first), zero) for a in range(ROWS // 2)]
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
            vectors = Vectors(context, builder, signature.args, args, signature.return_type.dtype)
            sums = _instructions(builder, vectors, tile.dtype, count, *args[4:])
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
