"""Inner products of all pairs of rows, for tiles of kernel values: A B^T.

BLAS arranges both factors anew for every product, which for rows of few features takes a large part of its time, and
some of its versions do not use the widest vector instructions of the processor. Here the rows of B are arranged once
for all blocks of A. Every inner product is added up from the first feature to the last, whatever the shape of the
block, so a value is the same bit by bit in every block, and A A^T is symmetric bit by bit. Serial, without the
interpreter lock: threads run over tiles.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from mercer.arrays import Array
from mercer.kernels.compiled import compiled, prefer_wide_vectors
from mercer.kernels.vectors import ROWS, VECTOR_BYTES, Vectors

_VECTORS = 3  # of columns at a time: with ROWS rows, they leave registers for the factors
_ROWS, _OTHERS, _OUT = range(3)  # the arrays among the arguments of `_panel`
COLUMNS = 288  # of a block of inner products: a whole number of panels for any vectors
_MOST_FEATURES = 2048  # of more, arranged rows do not stay in the second-level cache, and BLAS is as fast
_FEWEST_ROWS = 32  # below which arranging the others takes too long
_LEAST_PRODUCTS = 2**20  # of numbers, twenty microseconds: for less, nothing needs to be compiled


def compiled_pays(A: Array, B: Array) -> bool:
    """Tell whether compiled code is quicker than BLAS for A B^T, and takes these arrays."""
    in_order = all(part.flags.c_contiguous and part.flags.writeable for part in (A, B))
    enough = len(A) >= _FEWEST_ROWS and A.size * len(B) >= _LEAST_PRODUCTS and A.shape[1] <= _MOST_FEATURES
    return VECTOR_BYTES > 16 and not config.DISABLE_JIT and in_order and enough


def arranged(B: Array) -> Array:
    """Return rows in the order in which `write_products` needs their numbers: (panels, features, rows of a panel)."""
    width = _VECTORS * VECTOR_BYTES // int(B.dtype.itemsize)
    out = np.empty((-(-len(B) // width), B.shape[1], width), B.dtype)
    _arrange(B, out)
    return out


def _instructions(builder: Any, vectors: Vectors, i: Any, p: Any, q: Any) -> None:
    """Write the loop over the features, and what stores its sums."""
    zero, one = ir.Constant(i.type, 0), ir.Constant(i.type, 1)
    width = ir.Constant(i.type, _VECTORS * vectors.lanes)

    def after(index: Any, more: int) -> Any:
        return builder.add(index, ir.Constant(index.type, more))

    rows = [vectors.entry(_ROWS, after(i, a), zero) for a in range(ROWS)]
    columns = vectors.entry(_OTHERS, p, zero, zero)
    sums = [[cgutils.alloca_once_value(builder, vectors.constant(0.0)) for _ in range(_VECTORS)] for _ in range(ROWS)]
    features = vectors.length(_ROWS, 1)
    with cgutils.for_range_slice(builder, zero, features, one, features.type) as (k, _):
        first = builder.mul(k, width)
        given = [vectors.load(columns, after(first, c * vectors.lanes)) for c in range(_VECTORS)]
        for row, of_row in zip(rows, sums, strict=True):
            factor = vectors.repeated(builder.gep(row, [k]))
            for total, vector in zip(of_row, given, strict=True):
                builder.store(vectors.plus_product(builder.load(total), factor, vector), total)

    for a, of_row in enumerate(sums):
        target = vectors.entry(_OUT, after(i, a), builder.mul(q, width))
        for c, total in enumerate(of_row):
            vectors.store(builder.load(total), target, ir.Constant(i.type, c * vectors.lanes))


@intrinsic  # type: ignore[untyped-decorator]
def _panel(typingctx: Any, rows: Any, others: Any, out: Any, i: Any, p: Any, q: Any) -> Any:
    """Write the inner products of ROWS rows, from the one with number i on, with panel p, as columns of panel q."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _instructions(builder, Vectors(context, builder, signature.args, args, rows.dtype), *args[3:])
        return context.get_dummy_value()

    if len({array.dtype for array in (rows, others, out)}) > 1:
        raise TypingError("Rows and inner products must be of one precision.")
    if any(array.layout != "C" for array in (rows, others, out)):
        raise TypingError("Rows and inner products must be in C order.")
    return types.void(rows, others, out, *[types.intp] * 3), codegen


@compiled(inner=True, fastmath={"contract"})
def write_products(
    rows: Array,  # (a, d), a >= ROWS
    others: Array,  # `arranged` rows
    first: int,  # the first of the panels
    out: Array,  # (a or more, a whole number of panels): what is right of the last of the others becomes zero
) -> None:
    """Write the inner products of all rows with as many of the others as there is room for."""
    prefer_wide_vectors()
    last = len(rows) - ROWS
    panels = min(out.shape[1] // others.shape[2], len(others) - first)
    for q in range(panels):
        for i in range(0, len(rows), ROWS):
            _panel(rows, others, out, min(i, last), first + q, q)


@compiled()
def _arrange(
    rows: Array,  # (b, d)
    out: Array,  # (panels, d, width)
) -> None:
    """Write the rows panel by panel, feature by feature, with zeros for those that the last panel lacks."""
    d, width = out.shape[1:]
    for p in range(len(out)):
        panel = out[p]
        for c in range(width):
            if p * width + c < len(rows):
                row = rows[p * width + c]
                for k in range(d):
                    panel[k, c] = row[k]
            else:
                for k in range(d):
                    panel[k, c] = 0.0
