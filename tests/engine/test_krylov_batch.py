"""Several block Krylov iterations side by side find the eigenpairs of every operator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.engine.krylov_batch import _Space, batch_krylov

LIMITS = {"tol": 1e-9, "floor": 1e-14, "noise": 0.0, "max_iter": 400}


def operators(rng, spectrum, k=3):
    """Symmetric matrices of different eigenvectors, whose rows and columns are zero at different places."""
    n = len(spectrum) + 10
    allowed = np.ones((k, n))
    matrices = np.zeros((k, n, n))
    for i in range(k):
        allowed[i, 10 * i : 10 * i + 10] = 0.0
        kept = np.flatnonzero(allowed[i])
        Q = np.linalg.qr(rng.standard_normal((len(kept), len(kept))))[0]
        matrices[i][np.ix_(kept, kept)] = (Q * np.asarray(spectrum)) @ Q.T
    return matrices, allowed


SPECTRA = {
    "falling": 0.7 ** np.arange(60),
    "flat": 1.0 + 0.02 * np.arange(60)[::-1] / 60,
    "equal pairs": np.repeat(0.6 ** np.arange(30), 2),
    "all equal": np.ones(60),
    "rank two": np.r_[3.0, 2.0, np.zeros(58)],
    "zero": np.zeros(60),
    "indefinite": np.r_[2.0, 1.0, 0.5, np.zeros(50), -0.1 * np.arange(7)],
    "tiny": 1e-100 * 0.7 ** np.arange(60),
}


@pytest.mark.parametrize("name", sorted(SPECTRA))
@pytest.mark.parametrize("start", ["random", "dependent", "eigenvectors of other pairs"])
def test_pairs_equal_those_of_lapack(rng, name, start):
    matrices, allowed = operators(rng, SPECTRA[name])
    begin = rng.standard_normal((3, 4, allowed.shape[1]))
    if start == "dependent":
        begin[:, 2:] = begin[:, :2]
    if start == "eigenvectors of other pairs":
        begin = np.linalg.eigh(matrices)[1][:, :, -9:-5].transpose(0, 2, 1) + 0.01 * begin
    found = batch_krylov(lambda V: V @ matrices, begin * allowed[:, None], 3, allowed=allowed, **LIMITS)
    scale = np.abs(SPECTRA[name]).max() or 1.0
    expected = np.sort(SPECTRA[name])[::-1][:3]
    assert found.converged.all()
    assert_allclose(found.values / scale, np.tile(expected / scale, (3, 1)), atol=1e-12)
    assert_allclose(found.vectors @ found.vectors.transpose(0, 2, 1), np.tile(np.eye(3), (3, 1, 1)), atol=1e-10)
    assert not (found.vectors * (1 - allowed)[:, None]).any()
    residual = found.vectors @ matrices - found.values[:, :, None] * found.vectors
    assert np.linalg.norm(residual / scale, axis=2).max() <= 2e-9
    assert (found.lowest <= expected[-1] + 1e-9 * scale).all()


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5))
def test_pairs_of_random_matrices(seed, k, r):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((k, 72, rng.integers(1, 72)))
    matrices = A @ A.transpose(0, 2, 1)
    found = batch_krylov(
        lambda V: V @ matrices, rng.standard_normal((k, max(r, 4), 72)), r, allowed=np.ones((k, 72)), **LIMITS
    )
    expected = np.linalg.eigvalsh(matrices)[:, ::-1][:, :r]
    assert found.converged.all()
    assert_allclose(found.values, expected, atol=1e-10 * expected.max())


@pytest.mark.parametrize("apart", [1.0, 0.3, 0.03, 0.003, 1e-5, 0.0])
def test_rows_become_orthogonal_to_rounding_however_near_to_each_other(rng, apart):
    n, b = 200, 4
    space = _Space(np.zeros((2, 32, n)), np.zeros((2, 32, 32)), np.ones((2, n)))
    space.Q[:, :8] = np.linalg.qr(rng.standard_normal((2, n, 8)))[0].transpose(0, 2, 1)
    space.size = 8
    rows = rng.standard_normal((2, b, n))
    rows[:, 2:] = rows[:, :2] + apart * rows[:, 2:]
    rows -= (rows @ space.Q[:, :8].transpose(0, 2, 1)) @ space.Q[:, :8]
    basis, R = space.orthonormal(rows)
    assert_allclose(basis @ basis.transpose(0, 2, 1), np.tile(np.eye(b), (2, 1, 1)), atol=2e-15)
    assert_allclose(basis @ space.Q[:, :8].transpose(0, 2, 1), np.zeros((2, b, 8)), atol=2e-15)
    assert_allclose(R.transpose(0, 2, 1) @ basis, rows, atol=1e-12)


@pytest.mark.parametrize("name", ["falling", "equal pairs", "flat", "rank two"])
@pytest.mark.parametrize("b", [2, 4])
def test_blocks_may_be_narrower_than_the_number_of_pairs(rng, name, b):
    matrices, allowed = operators(rng, SPECTRA[name])
    start = rng.standard_normal((3, b, allowed.shape[1])) * allowed[:, None]
    found = batch_krylov(lambda V: V @ matrices, start, 9, allowed=allowed, **LIMITS)
    assert found.converged.all()
    assert_allclose(found.values, np.tile(np.sort(SPECTRA[name])[::-1][:9], (3, 1)), atol=1e-12)
    residual = found.vectors @ matrices - found.values[:, :, None] * found.vectors
    assert np.linalg.norm(residual, axis=2).max() <= 2e-9 * np.abs(SPECTRA[name]).max()


def test_it_stops_after_the_given_number_of_products(rng):
    matrices, allowed = operators(rng, SPECTRA["flat"])
    calls = []

    def products(V):
        calls.append(1)
        return V @ matrices

    start = rng.standard_normal((3, 4, allowed.shape[1])) * allowed[:, None]
    found = batch_krylov(products, start, 3, allowed=allowed, **{**LIMITS, "max_iter": 2})
    assert len(calls) == found.n_iter == 2
    assert not found.converged.any()


@pytest.mark.parametrize("name", ["falling", "equal pairs", "indefinite", "rank two"])
def test_known_products_of_the_start_save_the_first_call(rng, name):
    matrices, allowed = operators(rng, SPECTRA[name])
    start = rng.standard_normal((3, 4, allowed.shape[1])) * allowed[:, None]
    calls = []

    def products(V):
        calls.append(1)
        return V @ matrices

    plain = batch_krylov(products, start, 3, allowed=allowed, **LIMITS)
    assert len(calls) == plain.n_iter
    calls.clear()
    found = batch_krylov(products, start, 3, first=start @ matrices, allowed=allowed, **LIMITS)
    assert len(calls) == found.n_iter - 1
    assert_allclose(found.values, plain.values, atol=1e-12 * np.abs(SPECTRA[name]).max())


def test_known_products_of_dependent_vectors_are_not_used(rng):
    matrices, allowed = operators(rng, SPECTRA["falling"])
    start = rng.standard_normal((3, 4, allowed.shape[1])) * allowed[:, None]
    start[:, 3] = start[:, 0] + 1e-9 * start[:, 3]
    wrong = np.full(start.shape, np.nan)
    found = batch_krylov(lambda V: V @ matrices, start, 3, first=wrong, allowed=allowed, **LIMITS)
    assert_allclose(found.values, np.tile(SPECTRA["falling"][:3], (3, 1)), atol=1e-12)


@pytest.mark.parametrize("size", [1e-2, 1e-4])
def test_errors_of_later_products_are_multiplied_by_what_the_start_does_not_contain(rng, size):
    """The first products are exact, and the start is good, so pairs are far more exact than the later products."""
    matrices, allowed = operators(rng, SPECTRA["falling"])
    exact = np.linalg.eigh(matrices)[1][:, :, -4:].transpose(0, 2, 1)
    start = (exact + size * rng.standard_normal(exact.shape) / 8) * allowed[:, None]
    errors = 1e-6 * rng.standard_normal(matrices.shape) * allowed[:, None] * allowed[:, :, None]
    found = batch_krylov(
        lambda V: V @ (matrices + errors), start, 3, first=start @ matrices, allowed=allowed, **{**LIMITS, "tol": 1e-11}
    )
    residual = np.linalg.norm(found.vectors @ matrices - found.values[:, :, None] * found.vectors, axis=2)
    assert found.outside.max() < 3 * size
    assert residual.max() <= 2e-5 * found.outside.max()  # sixty errors of 1e-6, and their mirror images


def test_less_is_asked_for_where_the_space_of_the_vectors_is_known_well(rng):
    """Residuals may be as large as the gap below the last wanted eigenvalue allows."""
    matrices, allowed = operators(rng, SPECTRA["falling"])
    start = rng.standard_normal((3, 4, allowed.shape[1])) * allowed[:, None]
    limits = {"start": start, "n_pairs": 3, "allowed": allowed, **LIMITS}
    found = batch_krylov(lambda V: V @ matrices, **{**limits, "tol": 1e-13}, error=1e-4)
    assert_allclose(found.goal, 1e-4 * (0.7**2 - 0.7**3), rtol=1e-2)
    assert found.n_iter < batch_krylov(lambda V: V @ matrices, **limits).n_iter
    exact = np.linalg.eigh(matrices)[1][:, :, -3:]
    outside = found.vectors - (found.vectors @ exact) @ exact.transpose(0, 2, 1)
    assert 1e-9 < np.linalg.norm(outside, ord=2, axis=(1, 2)).max() < 1e-4


def test_a_gap_that_is_no_gap_asks_for_all_that_tol_asks_for(rng):
    matrices, allowed = operators(rng, SPECTRA["equal pairs"])
    start = rng.standard_normal((3, 4, allowed.shape[1])) * allowed[:, None]
    found = batch_krylov(lambda V: V @ matrices, start, 3, allowed=allowed, **LIMITS, error=1e-2)
    assert_allclose(found.goal, LIMITS["tol"])  # the third and the fourth eigenvalue are equal
    assert found.residuals.max() <= 2 * LIMITS["tol"]
