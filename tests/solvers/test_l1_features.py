"""L1-norm kernel PCA on explicit features: the start of eq. (19) is exact though it is screened in single precision."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.preprocessing import StandardScaler

from mercer import L1KernelPCA
from mercer.engine.sign_features import add_abs_sums, drop_dimension
from mercer.kernels.inner_product import Linear
from mercer.solvers.l1 import screening as l1_screening
from mercer.solvers.l1.features import FeatureResidual
from mercer.solvers.l1.fit import SignOptions, extract
from mercer.solvers.l1.held import HeldResidual
from mercer.solvers.l1.residuals import make_residual
from mercer.solvers.l1.screening import SumBounds
from textbook import l1 as naive
from textbook.kernel_pca import centred

small_tiles = patch.multiple(l1_screening, _STRIP=3, _WIDTH=5)  # so that few rows make many tiles


def rows(seed: int, n: int, d: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(3, 1, d)


def objectives(Z: np.ndarray) -> np.ndarray:
    return np.abs(Z @ Z.T).sum(axis=0) / np.linalg.norm(Z, axis=1)


# -- the compiled pieces -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (4, 5), (9, 130), (256, 1024)])
def test_absolute_sums_of_a_tile_along_both_sides(rng, shape):
    tile = rng.standard_normal(shape).astype(np.float32)
    at_rows, at_columns = np.ones(shape[0]), np.ones(shape[1])
    add_abs_sums(tile, np.empty(shape[1], np.float32), at_rows, at_columns)
    assert_allclose(at_rows, 1 + np.abs(tile).sum(axis=1, dtype=float), rtol=1e-5)
    assert_allclose(at_columns, 1 + np.abs(tile).sum(axis=0, dtype=float), rtol=1e-5)


@pytest.mark.parametrize("d", [1, 2, 7, 40])
@pytest.mark.parametrize("direction", ["random", "last axis", "its opposite", "across"])
def test_one_dimension_less_in_the_same_space(rng, d, direction):
    Z, w = rng.standard_normal((30, d)), rng.standard_normal(d)
    if direction != "random":
        w = np.zeros(d)
        w[0 if direction == "across" else -1] = -1.0 if direction == "its opposite" else 1.0
    w /= np.linalg.norm(w)
    u, squares = Z @ w, np.empty(30)
    expected = Z @ Z.T - np.outer(u, u)
    out = Z.reshape(-1)[: 30 * (d - 1)].reshape(30, d - 1)
    drop_dimension(Z, u, w, out, squares)
    assert_allclose(out @ out.T, expected, atol=1e-13 * d)
    assert_allclose(squares, expected.diagonal(), atol=1e-13 * d)


# -- equal to the twin -----------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 8), st.sampled_from([1e-30, 1.0, 1e30]))
def test_random_features(seed, n, d, size):
    Z = rows(seed, n, d)
    signs, scores, objective, _ = naive.l1(Z @ Z.T, n)
    with small_tiles:
        found = extract(FeatureResidual(size * Z), n)
    # all columns tie when one dimension is left, and rounding in the twin's K~ may then choose the opposite direction
    turn = np.ones((len(signs), 1))
    turn[d - 1 :] = np.sign(found.signs[-1] @ signs[-1])
    assert np.array_equal(found.signs, turn * signs)
    assert_allclose(found.scores / size, turn * scores, atol=1e-8 * np.abs(Z).max())
    assert_allclose(found.objective / size, objective, atol=1e-9 * objective[0])


@settings(max_examples=60)
@given(st.data(), st.integers(2, 14), st.integers(1, 5))
def test_features_full_of_ties(data, n, d):
    """Whole numbers: equal and opposite rows, rows and columns of zeros, dependent columns."""
    Z = data.draw(arrays(float, (n, d), elements=st.integers(-2, 2).map(float)))
    signs, scores, objective, _ = naive.l1(Z @ Z.T, n)
    with small_tiles:
        found = extract(FeatureResidual(Z.copy()), n)
    assert found.signs.shape == signs.shape
    assert np.array_equal(found.signs, signs)
    assert_allclose(found.objective, objective, rtol=1e-9)
    assert_allclose(found.scores, scores, atol=1e-7)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("make", ["dense", "sparse", "fortran"])
def test_the_estimator_in_all_forms_of_input(center, make):
    X = np.round(rows(1, 90, 7), 1)
    X[40:60] = X[:20]
    X[5], X[:, 3] = 0.0, 2.0
    K = X @ X.T
    expected = naive.l1(centred(K) if center else K, 6)[0]
    made = {"dense": X, "sparse": sp.csr_matrix(X), "fortran": np.asfortranarray(X)}[make]
    before = X.copy()
    assert np.array_equal(L1KernelPCA(6, kernel="linear", center=center).fit(made).signs_, expected)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("options", [SignOptions("best"), SignOptions("eigen", refine=True), SignOptions(refine=True)])
def test_other_starts_and_flips_are_those_of_a_matrix_in_memory(options):
    Z = rows(2, 500, 9)
    forms = (FeatureResidual(Z.copy()), HeldResidual(Z @ Z.T))
    found, expected = (extract(form, 8, options) for form in forms)  # the ninth has a tie that rounding of K~ breaks
    assert np.array_equal(found.signs, expected.signs)
    assert_allclose(found.scores, expected.scores, atol=1e-9)


def test_single_precision_input_is_solved_in_double_precision():
    X = rows(3, 200, 5).astype(np.float32)
    model = L1KernelPCA(5, kernel="linear").fit(X)
    assert np.array_equal(model.signs_, L1KernelPCA(5, kernel="linear").fit(X.astype(float)).signs_)
    assert model.transform(X).dtype == np.float32


def test_more_columns_than_rows():
    Z = rows(4, 60, 90)
    assert np.array_equal(extract(FeatureResidual(Z.copy()), 20).signs, naive.l1(Z @ Z.T, 20)[0])


@pytest.mark.parametrize("size", [1e-150, 1e-30, 1e30, 1e150])
def test_huge_and_tiny_scales_change_nothing(size):
    X = rows(5, 300, 6)
    expected, found = (L1KernelPCA(6, kernel="linear").fit(scale * X) for scale in (1.0, size))
    assert np.array_equal(found.signs_, expected.signs_)
    assert_allclose(found.objective_ / size, expected.objective_, rtol=1e-9)


def test_squares_beyond_all_numbers_are_an_error():
    with pytest.raises(ValueError, match="Rescale the features"), np.errstate(over="ignore"):
        L1KernelPCA(2, kernel="linear").fit(1e160 * rows(6, 20, 3))


def test_real_data_give_the_signs_of_their_kernel_matrix(data_set):
    X = StandardScaler().fit_transform(data_set("odds_musk")["X"][:900].astype(float))
    by_matrix = L1KernelPCA(40, kernel="precomputed").fit(X @ X.T)
    assert np.array_equal(L1KernelPCA(40, kernel="linear").fit(X).signs_, by_matrix.signs_)


# -- the search ------------------------------------------------------------------------------------------------------


def nearly_tied(seed: int) -> np.ndarray:
    """The best row of 200, and 60 rows that differ from it in the seventh digit."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((200, 30))
    best = Z[np.argmax(objectives(Z))]
    return np.vstack([Z, best * (1 + 3e-7 * rng.standard_normal((60, 30)))])


def test_columns_that_single_precision_confuses_are_told_apart():
    wrong = 0
    for seed in range(10):
        Z = nearly_tied(seed)
        values, short = objectives(Z), objectives(Z.astype(np.float32))
        right = naive.first_largest(list(values))
        wrong += int(values[np.argmax(short)] < values.max() * (1 - 1e-8))
        assert FeatureResidual(Z.copy()).best_column(np.ones(len(Z), bool)) == right
    assert wrong >= 3  # or the test shows nothing


def test_the_first_of_many_equal_columns_wins():
    corners = np.array(list(product((-1.0, 1.0), repeat=9)))  # 512 columns, all with the same objective
    assert FeatureResidual(corners).best_column(np.arange(512) >= 7) == 7


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(2, 6), st.floats(0, 6))
def test_bounds_hold_after_any_deflations(seed, n, d, decades):
    """Some sums are learnt on the way, the weights become stale and are renewed, and some rows are zero."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d)) * np.logspace(0, -decades, d)
    Z[1:][rng.random(n - 1) < 0.1] = 0.0
    bounds = SumBounds(Z, (Z**2).sum(axis=1))
    for _ in range(d - 1):
        sums = np.abs(Z @ Z.T).sum(axis=0)
        assert (bounds.sums() >= sums * (1 - 1e-9)).all()
        some = rng.permutation(n)[: n // 2]
        bounds.learn(some, sums[some])
        assert_allclose(bounds.sums()[some], sums[some], rtol=1e-9, atol=1e-300)
        w = rng.standard_normal(Z.shape[1])
        w /= np.linalg.norm(w)
        bounds.deflate(Z, (Z**2).sum(axis=1), Z @ w)
        Z = Z @ np.linalg.svd(w[None])[2][1:].T
    assert (bounds.sums() >= np.abs(Z @ Z.T).sum(axis=0) * (1 - 1e-9)).all()


def test_columns_that_cannot_win_are_not_summed(rng):
    Z = rng.standard_normal((3000, 12)) * np.array([20.0] + [1.0] * 11)
    add_strip = l1_screening.Screening._add_strip
    with patch.object(l1_screening.Screening, "_add_strip", autospec=True, side_effect=add_strip) as strips:
        j = FeatureResidual(Z.copy()).best_column(np.ones(3000, bool))
    assert j == naive.first_largest(list(objectives(Z)))
    assert strips.call_count <= 5  # of twelve


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_threads_change_nothing_and_are_as_many_as_asked(jobs):
    X = rows(8, 700, 8)
    with small_tiles, patch.object(l1_screening, "_WORTH_THREADS", 0):
        residual, _ = make_residual(Linear(), X, np.float64, True, jobs)
        with patch("mercer.solvers.l1.features.ThreadPoolExecutor", wraps=ThreadPoolExecutor) as pool:
            found = extract(residual, 4)
    assert [call.args for call in pool.call_args_list] == ([] if jobs == 1 else [(jobs,)])
    assert np.array_equal(found.signs, naive.l1(centred(X @ X.T), 4)[0])


def test_memory_grows_with_the_rows_not_with_their_square():
    n = 4000
    X = rows(9, n, 10)
    L1KernelPCA(2, kernel="linear").fit(X[:50])  # compiles
    tracemalloc.start()
    L1KernelPCA(10, kernel="linear", n_jobs=1).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n  # bytes: an eighth of a kernel matrix
