"""Landmarks by approximate linear dependence."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mercer.kernels import RBF, Kernel, Linear, Polynomial
from mercer.kernels import landmarks as rules
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.landmarks import AldDictionary, select_landmarks
from textbook import kernel_pca as naive
from textbook import landmarks as naive_landmarks

STORAGES = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
}


def dense(X) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


def choose(kernel: Kernel, X, count: int, selection: str, seed: int = 0):
    return select_landmarks(kernel, X, count, selection, np.random.RandomState(seed))


# -- approximate linear dependence ----------------------------------------------------------------

ALD_KERNELS = {
    "rbf": (RBF(0.5), naive.rbf(0.5)),
    "linear": (Linear(), naive.linear()),
    "poly": (Polynomial(0.3, 1.0, 2), naive.poly(0.3, 1.0, 2)),
}


@pytest.mark.parametrize("name", ALD_KERNELS)
@given(
    seed=st.integers(0, 2**20),
    nu=st.sampled_from([0.0, 1e-6, 1e-3, 0.05, 0.3, 0.9]),
    limit=st.integers(1, 60),
    cuts=st.lists(st.integers(0, 50), max_size=6),
    block=st.sampled_from([1, 7, 256]),
    storage=st.sampled_from(list(STORAGES)),
)
def test_a_dictionary_is_the_textbooks_however_the_stream_is_cut(name, seed, nu, limit, cuts, block, storage):
    kernel, twin = ALD_KERNELS[name]
    X = np.random.default_rng(seed).standard_normal((50, 3)).round(2)
    X[10:14] = X[3:7]
    X[20] = 0.0
    X = X.astype(np.float32).astype(np.float64)  # so that storage does not change the values
    expected = naive_landmarks.ald(naive.matrix(twin, X), nu, limit)
    stored, dictionary = STORAGES[storage](X), AldDictionary(kernel, nu, limit)
    edges = [0, *sorted(cuts), 50]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "_STREAM_ROWS", block)
        for first, last in pairwise(edges):
            grew = dictionary.extend(stored[first:last])
            assert grew == any(first <= i < last for i in expected)
            assert len(dictionary) == sum(i < last for i in expected)
    assert_array_equal(dense(dictionary.points), X[expected])
    assert sp.issparse(dictionary.points) == sp.issparse(stored)


def test_a_dictionary_of_dependent_rows_ends_at_their_rank(rng):
    for scale in (1e-3, 1.0, 1e6):
        dictionary = AldDictionary(Linear(), 0.0, 100)
        X = rng.standard_normal((2000, 5)) * scale
        X[::7] *= 1e3  # large rows have large rounding errors
        assert dictionary.extend(X)
        assert len(dictionary) == 5
        assert not dictionary.extend(X)


def test_a_dictionary_explains_every_row_up_to_nu(rng):
    X = rng.uniform(-2, 2, (800, 2))
    dictionary = AldDictionary(RBF(0.5), 1e-4, 500)
    dictionary.extend(X)
    made = LandmarkMap.of(RBF(0.5), dictionary.points)
    assert len(dictionary) < 100
    assert made.missing(X, made.features(X)).max() < 1.001e-4


def test_a_row_outside_the_span_is_new_where_the_points_are_nearly_dependent():
    """Their kernel matrix is singular up to rounding, and its inverse made the part of a row in the span too long."""
    X = np.linspace(-3.0, -0.5, 400)[:, None]
    dictionary = AldDictionary(RBF(0.5), 0.0, 300)
    dictionary.extend(X)
    for row in np.linspace(0.0, 2.0, 9):
        assert dictionary.extend(np.array([[row]]))


def test_a_dictionary_goes_on_after_a_pickle(rng):
    X = rng.standard_normal((120, 4))
    whole, halves = (AldDictionary(Polynomial(0.5, 1.0, 3), 0.02, 100) for _ in range(2))
    whole.extend(X)
    halves.extend(X[:6])
    halves.extend(X[6:9])
    halves = pickle.loads(pickle.dumps(halves))
    assert halves.extend(X[9:])
    assert_array_equal(halves.points, whole.points)


def test_an_empty_dictionary(rng):
    dictionary = AldDictionary(Linear(), 0.1, 3)
    assert dictionary.points is None
    assert not dictionary.extend(np.zeros((4, 2)))
    assert not dictionary.extend(np.zeros((0, 2)))
    assert len(dictionary) == 0
    assert dictionary.extend(np.ones((1, 2)))
    assert_array_equal(dictionary.points, np.ones((1, 2)))


def test_selection_by_dependence_uses_the_room_it_has(rng):
    X = rng.uniform(-1, 1, (300, 2))
    assert len(choose(RBF(0.5), X, 25, "ald")) == 25  # a fixed nu would stop at five
