"""Several block Krylov iterations side by side find the eigenpairs of every operator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.engine.krylov_batch import batch_krylov

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
