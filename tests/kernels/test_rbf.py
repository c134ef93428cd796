"""The fused Gaussian tile: its exponential to the last place, and its blocks at every awkward shape."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.kernels.rbf import exponential, rbf_block
from textbook import kernel_pca as naive

LN2 = float(np.log(2.0))
ROUNDING = {np.float64: 1e-14, np.float32: 2e-6}


def ulps(values: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Errors in units of the last place of the true result, which decimal arithmetic gives to 40 digits."""
    smallest = float(np.finfo(values.dtype).smallest_subnormal)
    errors = []
    with localcontext() as context:
        context.prec = 40
        for v, g in zip(values.tolist(), got.tolist(), strict=True):
            true = Decimal(v).exp()
            nearest = values.dtype.type(max(float(true), smallest))
            errors.append(float(abs(Decimal(g) - true) / Decimal(float(np.spacing(nearest)))))
    return np.array(errors)


def spread(lowest: float, dtype: type) -> np.ndarray:
    """Arguments over the whole range, and on both sides of every place where the algorithm changes course."""
    rng = np.random.default_rng(0)
    halves = -np.arange(0.0, -lowest / LN2, 0.5) * LN2  # whole: a power of two; half: the exponent steps
    small = -np.logspace(-30, np.log10(-lowest), 1500)
    values = np.concatenate([small, rng.uniform(lowest, 0, 1500), halves]).astype(dtype)
    beyond = np.nextafter(halves.astype(dtype), dtype(lowest))
    return np.concatenate([values, beyond, np.nextafter(values, dtype(0))])


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float64, -744.4), (np.float32, -103.2)])
def test_exp_is_right_to_one_place_over_the_whole_range(dtype, lowest):
    values = spread(lowest, dtype)
    errors = ulps(values, exponential(values))
    worst = errors.argmax()
    assert errors[worst] < 1.05, f"{errors[worst]:.2f} places off at {values[worst]!r}"


@pytest.mark.parametrize(
    ("dtype", "normal", "zero"),
    [(np.float64, -708.0, -745.2), (np.float32, -87.0, -104.0)],
)
def test_exp_goes_through_the_subnormals_to_an_exact_zero(dtype, normal, zero):
    values = np.linspace(normal + 2, zero, 4001).astype(dtype)
    got = exponential(values)
    assert ulps(values, got).max() < 1.05
    assert 0 < got[got > 0].min() <= 4 * np.finfo(dtype).smallest_subnormal
    assert (np.diff(got) <= 0).all()
    deep = np.array([zero * 1.01, 2 * zero, -1e4, -1e9, np.finfo(dtype).min], dtype)
    assert (exponential(deep) == 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exp_of_zero_is_exactly_one(dtype):
    limits = np.finfo(dtype)
    got = exponential(np.array([0.0, -0.0, -limits.smallest_subnormal, -limits.tiny], dtype))
    assert (got == 1).all()
    assert got.dtype == dtype


@pytest.mark.parametrize(
    ("dtype", "lowest", "step"),
    [(np.float64, -744.0, 1e-14), (np.float32, -103.0, 1e-6)],
)
def test_exp_is_monotone_beyond_rounding(dtype, lowest, step):
    values = np.sort(spread(lowest, dtype))
    got = exponential(values)
    assert (np.diff(got.astype(np.float64)) >= -1.05 * np.spacing(got[1:]).astype(np.float64)).all()
    apart = np.sort(np.unique(values))
    apart = apart[np.concatenate([[True], np.diff(apart) > step * np.maximum(1, np.abs(apart[1:]))])]
    assert (np.diff(exponential(apart)) >= 0).all()


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 5), (2, 0), (2, 3, 4)])
def test_exp_keeps_the_shape(shape):
    values = -np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    got = exponential(values)
    assert got.shape == shape
    assert_allclose(got, np.exp(values), rtol=1e-15)


def test_exp_of_a_strided_view():
    values = -np.linspace(0, 5, 24).reshape(4, 6)
    assert_allclose(exponential(values[::2, ::3]), np.exp(values[::2, ::3]), rtol=1e-15)
    assert_allclose(exponential(values.T), np.exp(values.T), rtol=1e-15)


def fused(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    out = np.full((len(A), len(B)), np.nan, A.dtype)
    rbf_block(A, 0.5 * (A**2).sum(axis=1), B, 0.5 * (B**2).sum(axis=1), out)
    return out


AWKWARD = [1, 2, 255, 256, 257, 511, 512, 513, 700]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("a", AWKWARD)
def test_blocks_of_any_height(a, dtype, rng):
    A, B = rng.standard_normal((a, 3)).astype(dtype), rng.standard_normal((5, 3)).astype(dtype)
    assert_allclose(fused(A, B), naive.rbf_matrix(A, B, 0.5), rtol=0, atol=ROUNDING[dtype])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("b", [*AWKWARD, 1023, 1024, 1025])
def test_blocks_of_any_width(b, dtype, rng):
    A, B = rng.standard_normal((4, 2)).astype(dtype), rng.standard_normal((b, 2)).astype(dtype)
    assert_allclose(fused(A, B), naive.rbf_matrix(A, B, 0.5), rtol=0, atol=ROUNDING[dtype])


def test_a_block_over_both_inner_edges(rng):
    A, B = rng.standard_normal((601, 4)), rng.standard_normal((1100, 4))
    assert_allclose(fused(A, B), naive.rbf_matrix(A, B, 0.5), rtol=0, atol=1e-14)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 5), (5, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_empty_and_single_blocks(a, b, dtype):
    got = fused(np.ones((a, 3), dtype), np.ones((b, 3), dtype))
    assert got.shape == (a, b)
    assert (got == 1).all()


def test_one_column_and_no_column(rng):
    A = rng.standard_normal((9, 1))
    assert_allclose(fused(A, A), naive.rbf_matrix(A, A, 0.5), rtol=0, atol=1e-15)
    assert (fused(np.empty((3, 0)), np.empty((2, 0))) == 1).all()


@given(distance=st.floats(0, 60), offset=st.floats(-3, 3))
def test_never_above_one_and_never_nan(distance, offset):
    A = np.array([[offset, 0.1], [offset + distance, 0.1], [offset, 0.1]])
    got = fused(A, A)
    assert (got <= 1).all()
    assert (got >= 0).all()
    assert got[0, 2] == got[0, 0]
