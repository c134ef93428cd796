"""Lanczos steps on a matrix in memory against LAPACK, on spectra of all kinds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from mercer.engine.dense import columnwise, leading_pairs_by_lanczos
from mercer.engine.lanczos import lanczos


def with_eigenvalues(values, seed=0):
    """Return a matrix with these eigenvalues, symmetric to the last digit, and its eigenvectors."""
    values = np.asarray(values, float)
    Q = ortho_group.rvs(len(values), random_state=seed)
    K = (Q * values) @ Q.T
    return (K + K.T) / 2, Q


def start(n, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, n)


SPECTRA = {
    "geometric": 0.8 ** np.arange(120.0),
    "flat": np.linspace(1.0, 1.5, 120),
    "rank 3": np.r_[3.0, 2.0, 1.0, np.zeros(117)],
    "indefinite": np.r_[5.0, 4.0, 3.0, np.linspace(1.0, -4.5, 117)],
    "negative": -(np.linspace(1.0, 2.0, 120) ** 2),
    "huge": 1e150 * 0.7 ** np.arange(120.0),
    "tiny": 1e-150 * 0.7 ** np.arange(120.0),
}


@pytest.mark.parametrize("n_pairs", [1, 2, 7])
@pytest.mark.parametrize("name", SPECTRA)
def test_leading_pairs_are_those_of_lapack(name, n_pairs):
    K, _ = with_eigenvalues(SPECTRA[name])
    exact = np.linalg.eigvalsh(K)[::-1]
    found = leading_pairs_by_lanczos(K, n_pairs, start(len(K)))
    scale = np.abs(found.values).max()
    np.testing.assert_allclose(found.values, exact[:n_pairs], atol=1e-13 * np.abs(exact).max(), rtol=0)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(n_pairs), atol=1e-13)
    residual = np.linalg.norm(K @ found.vectors - found.vectors * found.values, axis=0)
    assert residual.max() <= 1e-11 * scale
    assert found.lowest >= exact[-1] - 1e-13 * np.abs(exact).max()


@given(seed=st.integers(0, 10**6), n=st.integers(20, 80), n_pairs=st.integers(1, 5), decay=st.floats(0.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_random_matrices(seed, n, n_pairs, decay):
    values = np.random.default_rng(seed).uniform(-0.2, 1.0, n) * np.exp(-decay * np.arange(n))
    K, _ = with_eigenvalues(values, seed)
    exact = np.linalg.eigvalsh(K)[::-1][:n_pairs]
    found = leading_pairs_by_lanczos(K, n_pairs, start(n, seed))
    if found is not None:
        np.testing.assert_allclose(found.values, exact, atol=1e-12 * np.abs(values).max(), rtol=0)


def test_a_missed_copy_of_an_eigenvalue_is_noticed():
    K, _ = with_eigenvalues(np.r_[4.0, 4.0, 4.0, 0.9 ** np.arange(97)])
    assert leading_pairs_by_lanczos(K, 3, start(100)) is None
    alone = leading_pairs_by_lanczos(K, 1, start(100))
    np.testing.assert_allclose(alone.values, [4.0], rtol=1e-13)  # any of the three vectors is right
    np.testing.assert_allclose(K @ alone.vectors, 4.0 * alone.vectors, atol=1e-10)


def test_a_negative_eigenvalue_is_seen_also_where_one_pair_converges_at_once():
    K, _ = with_eigenvalues(np.r_[1000.0, np.linspace(0.0, 1.0, 198), -5.0])
    found = leading_pairs_by_lanczos(K, 1, start(200), lowest=True)
    assert found.lowest == pytest.approx(-5.0, rel=1e-3)
    assert leading_pairs_by_lanczos(K, 1, start(200), lowest=False).n_steps < found.n_steps


def test_a_zero_matrix_has_zero_eigenvalues_or_is_left_to_another_method():
    K = np.zeros((30, 30))
    assert leading_pairs_by_lanczos(K, 1, start(30)).values == [0.0]
    assert leading_pairs_by_lanczos(K, 2, start(30)) is None


def test_it_gives_up_where_eigenvalues_are_too_close():
    n = 2000
    K = np.diag(1.0 + 1e-9 * np.arange(n))
    assert lanczos(columnwise(K), 3, start(n)) is None
