"""Landmark models: when float32 is enough, how rows are added up in it, and how many components there certainly are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer import LandmarkKernelPCA
from mercer.engine.moments import Moments, rows_per_sum
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear, Polynomial
from mercer.solvers.landmark.models import solve_moments, surely_has
from mercer.solvers.landmark.moments import Landmarks, _is_kept, measure


def rows_of_rank(n: int, rank: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 3.0 * rng.standard_normal(d)


@settings(max_examples=60, deadline=None)
@given(
    kernel=st.sampled_from([RBF(0.1), RBF(1e-4), RBF(10.0), Linear(), Polynomial(degree=2, gamma=0.3, coef0=1.0)]),
    rank=st.integers(1, 8),
    r=st.integers(1, 12),
    copies=st.sampled_from([1, 10]),
    center=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_components_that_are_called_certain_are_found(kernel, rank, r, copies, center, seed):
    X = np.repeat(rows_of_rank(200 // copies, rank, 8, seed), copies, axis=0)
    landmarks = Landmarks(kernel, X[::4])
    moments = measure(landmarks.blocks(np.float64), X, None)
    if surely_has(landmarks, moments, r, center):
        model = solve_moments(landmarks.whitening, moments, r, center)
        assert np.count_nonzero(model.eigenvalues) == r


@pytest.mark.parametrize(("rank", "certain"), [(8, True), (5, True), (4, False)])
def test_as_many_components_as_the_rank_are_certain_and_no_more(rank, certain):
    X = rows_of_rank(300, rank, 20, 1)
    landmarks = Landmarks(Linear(), X[::5])
    assert surely_has(landmarks, measure(landmarks.blocks(np.float64), X, None), 5, True) == certain


def test_fit_does_not_solve_where_the_number_of_components_is_certain(rng):
    X = rng.standard_normal((500, 6))
    model = LandmarkKernelPCA(4, gamma=0.1, landmarks=50).fit(X)
    assert model._solved.expansion is None
    with pytest.warns(UserWarning, match="n_components=20, but the data allow only 6"):
        LandmarkKernelPCA(20, kernel="linear", landmarks=50).fit(X)


@settings(max_examples=100, deadline=None)
@given(
    r=st.integers(1, 10),
    decay=st.floats(0.3, 1.0),
    size=st.floats(-9.0, -3.0),
    spread=st.floats(0.0, 4.0),
    seed=st.integers(0, 1000),
)
def test_errors_that_are_called_small_change_no_eigenvalue_by_a_millionth(r, decay, size, spread, seed):
    """Errors of all sizes, larger by up to `spread` powers of ten in the directions of small eigenvalues."""
    q, rng = 30, np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((q, q)))[0]
    C = (basis * decay ** np.arange(q)) @ basis.T
    weights = 10.0 ** (size + spread * np.arange(q) / q)
    E = basis @ (np.sqrt(np.outer(weights, weights)) * rng.standard_normal((q, q))) @ basis.T
    E = 0.5 * (E + E.T)
    if _is_kept(C.copy(), np.eye(q), E, r):
        before, after = (np.linalg.eigvalsh(A)[::-1][:r] for A in (C, C + E))
        assert np.abs(before - after).max() <= 1e-6 * before[0]


def test_tiny_errors_are_called_small_and_large_ones_are_not(rng):
    basis = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    C = (basis * 0.7 ** np.arange(30)) @ basis.T
    E = rng.standard_normal((30, 30))
    E = (E + E.T) / np.linalg.norm(E + E.T, 2)
    assert _is_kept(C.copy(), np.eye(30), 1e-7 * E, 3)
    assert not _is_kept(C.copy(), np.eye(30), 1e-4 * E, 3)
    assert _is_kept(C.copy(), np.eye(30), 1e-7 * E, 30)  # all vectors, so that none is outside
    assert not _is_kept(C.copy(), np.eye(30), 1e-5 * E, 30)


@pytest.mark.parametrize("n", [1, 100, 1024, 5000, 40_000])
def test_sums_in_float32_keep_six_digits(n, rng):
    Z = (rng.standard_normal((n, 12)) + 0.3).astype(np.float32)
    moments = Moments.empty(np.zeros(12))
    for first in range(0, n, 2000):
        part = Z[first : first + 2000].copy()
        moments.add_block(part, np.ones(len(part)), None, rows_per_sum(n))
    wide = Z.astype(np.float64)
    assert_allclose(moments.product, wide.T @ wide, rtol=0, atol=5e-7 * (wide**2).sum(axis=0).max())
    assert_allclose(moments.total, wide.sum(axis=0), rtol=0, atol=5e-7 * np.abs(wide).sum(axis=0).max())
    assert moments.product.dtype == moments.total.dtype == np.float64


def test_more_rows_allow_longer_sums():
    assert [rows_per_sum(n) for n in (1, 1024, 10_000, 1_000_000)] == [128, 128, 400, 4000]


@pytest.mark.parametrize("selection", ["uniform", "kmeans"])
def test_a_narrow_kernel_keeps_six_digits_in_float32(selection, rng):
    """Nearly all kernel values are near zero; a reference far from them gives all products the same rounding error."""
    X = rng.standard_normal((8000, 8)).astype(np.float32)
    settings = {"gamma": 4.0, "random_state": 0, "selection": selection}
    short = LandmarkKernelPCA(3, landmarks=30, **settings).fit(X)
    assert short._stream._short
    wide = LandmarkKernelPCA(3, landmarks=short.expansion_.points, gamma=4.0).fit(X.astype(np.float64))
    error = np.abs(short.eigenvalues_ - wide.eigenvalues_).max() / wide.eigenvalues_[0]
    assert 0.0 < error < 5e-7


def test_a_kernel_that_is_too_narrow_for_float32_uses_float64(rng):
    X = rng.standard_normal((8000, 8)).astype(np.float32)
    short = LandmarkKernelPCA(3, landmarks=30, gamma=100.0, random_state=0, selection="kmeans").fit(X)
    assert not short._stream._short
    wide = LandmarkKernelPCA(3, landmarks=short.expansion_.points, gamma=100.0).fit(X.astype(np.float64))
    assert_allclose(short.eigenvalues_, wide.eigenvalues_, rtol=1e-12)
