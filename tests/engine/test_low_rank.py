"""All eigenpairs of matrices of low rank, from pivoted Cholesky factors: the same as LAPACK's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA as Peer

from mercer import KernelPCA
from mercer.engine import dense
from mercer.engine.dense import pairs_of_low_rank

EPS = np.finfo(float).eps


def rounding(K):
    return 16 * EPS * np.abs(K.diagonal()).max(initial=0.0)


@given(
    st.integers(0, 10**6),
    st.integers(1, 20),
    st.sampled_from(["plain", "falling", "rows equal", "zero rows", "tiny", "huge", "one row far away"]),
)
def test_pairs_equal_those_of_lapack(seed, rank, kind):
    rng = np.random.default_rng(seed)
    n = 80
    features = rng.standard_normal((n, rank))
    if kind == "falling":
        features *= 0.2 ** np.arange(rank)
    if kind == "rows equal":
        features = features[rng.integers(0, max(rank, 2), n)]
    if kind == "zero rows":
        features[rng.permutation(n)[:30]] = 0.0
    if kind == "one row far away":
        features[7] *= 1e4
    features *= {"tiny": 1e-120, "huge": 1e120}.get(kind, 1.0)
    K = features @ features.T
    values = np.linalg.eigvalsh(K)
    found = pairs_of_low_rank(K.copy(), rounding(K))
    assert found is not None
    largest = values[-1]
    r = len(found[0])
    assert r <= rank
    assert_allclose(found[0] / largest, values[::-1][:r] / largest, atol=1e-14)
    assert_allclose(values[::-1][r:] / largest, np.zeros(n - r), atol=1e-13)  # what was left out
    assert_allclose(found[1].T @ found[1], np.eye(r), atol=1e-13)
    assert_allclose(K / largest @ found[1], found[1] * (found[0] / largest), atol=1e-13)


def test_rounding_errors_of_entries_average_out_as_in_lapack(rng):
    """As with a wide kernel, whose values are large beside what is left of them after centring."""
    features, errors = rng.standard_normal((80, 5)), rng.standard_normal((80, 80))
    K = features @ features.T + 1e-9 * (errors + errors.T)
    values, vectors = pairs_of_low_rank(K.copy(), 5e-8)
    assert len(values) == 5
    assert_allclose(values, np.linalg.eigvalsh(K)[::-1][:5], rtol=1e-14)
    assert_allclose(K @ vectors, vectors * values, atol=1e-6)


@pytest.mark.parametrize("rank", [24, 40, 60])
def test_matrices_of_more_rank_are_left_to_lapack_as_they_were(rng, rank):
    features = rng.standard_normal((60, rank))
    K = features @ features.T
    before = K.copy()
    assert pairs_of_low_rank(K, rounding(K)) is None
    assert_array_equal(K, before)


def test_a_zero_matrix_is_left_to_lapack():
    assert pairs_of_low_rank(np.zeros((50, 50)), 0.0) is None


CASES = {
    "poly, rank 20": (lambda rng: rng.standard_normal((400, 3)), {"kernel": "poly"}),
    "poly, far from the origin": (lambda rng: rng.standard_normal((400, 3)) + 100.0, {"kernel": "poly"}),
    "wide Gaussian": (lambda rng: rng.standard_normal((400, 2)), {"kernel": "rbf", "gamma": 0.02}),
    "rows several times": (lambda rng: np.tile(load_iris().data, (3, 1)), {"kernel": "rbf"}),
    "cosine": (lambda rng: rng.standard_normal((400, 3)), {"kernel": "cosine", "eigen_solver": "dense"}),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_all_components_of_few_features_equal_those_of_scikit_learn(rng, name):
    make, settings = CASES[name]
    X = make(rng)
    model = KernelPCA(None, **settings).fit(X)
    peer = Peer(None, **settings).fit(X)
    r = min(len(model.eigenvalues_), len(peer.eigenvalues_))  # the last one may be at the limit of what counts as zero
    assert r >= max(len(model.eigenvalues_), len(peer.eigenvalues_)) - 1
    scale = peer.eigenvalues_[0]
    assert_allclose(model.eigenvalues_[:r] / scale, peer.eigenvalues_[:r] / scale, atol=1e-12)
    usual = peer.eigenvalues_[:r] > 1e-6 * scale
    Y = rng.standard_normal((20, X.shape[1])) + X.mean(axis=0)
    ours, theirs = model.transform(Y)[:, :r][:, usual], peer.transform(Y)[:, :r][:, usual]
    assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8 * np.abs(theirs).max() ** 2)


def test_zero_components_are_there_where_they_are_asked_for(rng, monkeypatch):
    called = []
    monkeypatch.setattr(dense, "dpstrf", lambda *args, **more: called.append(1))
    model = KernelPCA(250, kernel="poly").fit(rng.standard_normal((400, 3)))
    assert model.transform(rng.standard_normal((5, 3))).shape == (5, 250)
    assert np.count_nonzero(model.eigenvalues_) == 19
    assert not called


def test_a_share_of_the_variation_that_needs_all_components_is_found(rng):
    X = rng.standard_normal((400, 3))
    share = KernelPCA(0.999999999, kernel="poly").fit(X)
    everything = KernelPCA(None, kernel="poly").fit(X)
    count = share.expansion_.n_components
    assert 10 < count <= 19
    assert_allclose(share.eigenvalues_, everything.eigenvalues_[:count], rtol=1e-9)
