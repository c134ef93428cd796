"""The Gaussian tile in one step: a small matrix product, then a polynomial exp while the block is in the cache.

exp(v) = p(f) 2^n with n = round(v / ln 2) and f = v - n ln 2. The power of two is computed by adding n to the exponent
bits, so that a loop over a block uses vector instructions. Below -708 (float32: -87) the result is computed 2^64 (2^32)
times too large and scaled down, which keeps subnormal results correct and ends in an exact zero. In tiles such values
are exact zeros, because arithmetic with subnormal numbers is a hundred times slower.
The exponent a . b - |a|^2 / 2 - |b|^2 / 2 loses digits where rows are long and near each other. Its rounding error
grows with the half norms, so float32 tiles of long rows compute it in float64, and only its exp in float32.
The functions are compiled on first use, serial and without the interpreter lock: threads run over tiles.
"""

import numpy as np

from mercer.arrays import Array
from mercer.kernels.compiled import compiled, prefer_wide_vectors
from mercer.kernels.inner_products import COLUMNS, arranged, compiled_pays, write_products
from mercer.kernels.precision import exponent_dtype
from mercer.kernels.vectors import ROWS

# 'reassoc' is left out: it would undo the split of ln 2 into a high and a low part.
_FAST = {"contract", "nnan", "ninf", "nsz"}
_LOG2E = 1.4426950408889634

# Chebyshev interpolants of exp on [-ln 2 / 2, ln 2 / 2]; relative error 4e-17 (degree 11) and 3e-9 (degree 6).
_P64 = tuple(
    float.fromhex(c)
    for c in (
        "0x1.0000000000000p+0", "0x1.0000000000000p+0", "0x1.0000000000011p-1", "0x1.555555555555dp-3",
        "0x1.555555554f09dp-5", "0x1.111111110ed4ep-7", "0x1.6c16c1880a263p-10", "0x1.a01a01b26d69ep-13",
        "0x1.a019917f54db0p-16", "0x1.71ddf352da30cp-19", "0x1.28b4339035c05p-22", "0x1.af661ddbdba55p-26",
    )
)  # fmt: skip
_P32 = tuple(np.float32(c) for c in (1.0, 1.0, 0.5, 0.16666415, 0.04166635, 0.008375168, 0.001394116))

_LOW64 = -708.0  # exp of less is subnormal, where processors are a hundred times slower
_MAGIC64 = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer held in the low mantissa bits
_HI64, _LO64 = 6.93145751953125e-1, 1.42860682030941723212e-6
_MAGIC32 = np.float32(12582912.0)  # 1.5 * 2^23
_LOG2E32 = np.float32(_LOG2E)
_HI32, _LO32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ZERO32, _ONE32 = np.float32(0.0), np.float32(1.0)
_LEAST32 = np.float32(-200.0)  # smaller exponents, which may be too large in size for float32, are replaced by it
_MIN32, _LOW32, _DOWN32 = np.float32(-110.0), np.float32(-87.0), np.float32(2.0**-32)

_SCRATCH_BYTES = 2**18  # of a block of exponents, which stays in the second-level cache


@compiled(fastmath=_FAST, inline="always")
def _exp64(v: float) -> float:
    """Return exp(v) for v <= 0 in float64."""
    v = max(v, -750.0)
    t = v * _LOG2E + _MAGIC64
    n = t - _MAGIC64
    f = v - n * _HI64
    f = f - n * _LO64
    p = _P64[11]
    p = p * f + _P64[10]
    p = p * f + _P64[9]
    p = p * f + _P64[8]
    p = p * f + _P64[7]
    p = p * f + _P64[6]
    p = p * f + _P64[5]
    p = p * f + _P64[4]
    p = p * f + _P64[3]
    p = p * f + _P64[2]
    p = p * f + _P64[1]
    p = p * f + _P64[0]
    low = v < _LOW64
    exponent = (np.float64(t).view(np.int64) + (64 if low else 0)) << 52
    scaled = np.int64(np.float64(p).view(np.int64) + exponent).view(np.float64)
    return scaled * (2.0**-64 if low else 1.0)


@compiled(fastmath=_FAST, inline="always")
def _exp32(v: np.float32) -> np.float32:
    """Return exp(v) for v <= 0 in float32."""
    v = max(v, _MIN32)
    t = v * _LOG2E32 + _MAGIC32
    n = t - _MAGIC32
    f = v - n * _HI32
    f = f - n * _LO32
    p = _P32[6]
    p = p * f + _P32[5]
    p = p * f + _P32[4]
    p = p * f + _P32[3]
    p = p * f + _P32[2]
    p = p * f + _P32[1]
    p = p * f + _P32[0]
    low = v < _LOW32
    exponent = (np.float32(t).view(np.int32) + np.int32(32 if low else 0)) << np.int32(23)
    scaled = np.int32(np.float32(p).view(np.int32) + exponent).view(np.float32)
    return scaled * (_DOWN32 if low else _ONE32)


@compiled(fastmath=_FAST)
def _finish64(dots: Array, rows: Array, columns: Array, out: Array, first: int) -> None:
    """Write the Gaussians of inner products and half norms in float64."""
    prefer_wide_vectors()
    for i in range(len(rows)):
        row, target = rows[i], out[i, first : first + len(columns)]  # an index first + j would be checked at every step
        for j in range(len(columns)):
            v = min(dots[i, j] - row - columns[j], 0.0)
            target[j] = _exp64(v) if v > _LOW64 else 0.0


@compiled(fastmath=_FAST)
def _finish32(dots: Array, rows: Array, columns: Array, out: Array, first: int) -> None:
    """Write the Gaussians in float32; the exponents are in the precision of the inner products."""
    prefer_wide_vectors()
    for i in range(len(rows)):
        row, target = rows[i], out[i, first : first + len(columns)]  # an index first + j would be checked at every step
        for j in range(len(columns)):
            v = np.float32(max(min(dots[i, j] - row - columns[j], _ZERO32), _LEAST32))
            target[j] = _exp32(v) if v > _LOW32 else _ZERO32


@compiled()
def _gaussians64(A: Array, half_a: Array, others: Array, half_b: Array, out: Array, dots: Array) -> None:
    """Write the Gaussians of all rows and `arranged` others, one block of inner products at a time, in float64."""
    height, width = dots.shape
    for j in range(0, len(half_b), width):
        for first in range(0, len(A), height):
            i, stop = min(first, len(A) - ROWS), first + height  # the last rows are enough for `write_products`
            write_products(A[i:stop], others, j // others.shape[2], dots)
            _finish64(dots, half_a[i:stop], half_b[j : j + width], out[i:stop], j)


@compiled()
def _gaussians32(A: Array, half_a: Array, others: Array, half_b: Array, out: Array, dots: Array) -> None:
    """Do the same with values in float32."""
    height, width = dots.shape
    for j in range(0, len(half_b), width):
        for first in range(0, len(A), height):
            i, stop = min(first, len(A) - ROWS), first + height
            write_products(A[i:stop], others, j // others.shape[2], dots)
            _finish32(dots, half_a[i:stop], half_b[j : j + width], out[i:stop], j)


def rbf_block(
    A: Array,  # (a, d), already scaled by sqrt(2 gamma)
    half_a: Array,  # (a,), float64, half the squared norms of A's rows
    B: Array,  # (b, d)
    half_b: Array,  # (b,), float64
    out: Array,  # (a, b), C order
) -> None:
    """Write exp(-|a - b|^2 / 2) for all pairs of rows into `out`, one cache-sized block at a time."""
    dtype = exponent_dtype(half_a, half_b, out.dtype)
    A, half_a, B, half_b = (part.astype(dtype, copy=False) for part in (A, half_a, B, half_b))
    height = _SCRATCH_BYTES // (COLUMNS * dtype.itemsize)
    dots = np.empty((min(height, len(A)), COLUMNS), dtype)
    if compiled_pays(A, B):
        gaussians = _gaussians64 if out.dtype == np.float64 else _gaussians32
        gaussians(A, half_a, arranged(B), half_b, out, dots)
        return
    finish = _finish64 if out.dtype == np.float64 else _finish32
    for j in range(0, len(B), COLUMNS):
        columns = B[j : j + COLUMNS].T
        for i in range(0, len(A), height):
            rows = A[i : i + height]
            products = dots.ravel()[: len(rows) * columns.shape[1]].reshape(len(rows), -1)
            np.dot(rows, columns, out=products)
            finish(products, half_a[i : i + height], half_b[j : j + COLUMNS], out[i : i + height], j)


def exponential(values: Array) -> Array:
    """Return exp of non-positive values by the tile's own polynomial, subnormal results included."""
    flat = np.ascontiguousarray(values).ravel()
    out = np.empty_like(flat)
    (_exp_all32 if flat.dtype == np.float32 else _exp_all64)(flat, out)
    return out.reshape(np.shape(values))


@compiled(fastmath=_FAST)
def _exp_all64(values: Array, out: Array) -> None:
    """Write exp of every value in float64."""
    for i in range(len(values)):
        out[i] = _exp64(min(values[i], 0.0))


@compiled(fastmath=_FAST)
def _exp_all32(values: Array, out: Array) -> None:
    """Write exp of every value in float32."""
    for i in range(len(values)):
        out[i] = _exp32(min(values[i], _ZERO32))
