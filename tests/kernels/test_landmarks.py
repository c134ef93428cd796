"""Landmarks: that each rule chooses as it says, and that the map they give is a projection to the last digits."""

import warnings
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context

from mercer.kernels import RBF, Kernel, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from mercer.kernels import landmarks as rules
from mercer.kernels import tiles as tiling
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.landmarks import SELECTIONS, select_landmarks
from mercer.kernels.threads import one_blas_thread
from mercer.kernels.user_given import MatrixFunction, PairFunction
from textbook import kernel_pca as naive
from textbook import landmarks as naive_landmarks

STORAGES = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
}

ROW_RULES = ["uniform", "rpcholesky", "ald", "greedy_kpca"]  # their landmarks are rows of X


def dense(X) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


def choose(kernel: Kernel, X, count: int, selection: str, seed: int = 0):
    return select_landmarks(kernel, X, count, selection, np.random.RandomState(seed))


def places(points, X) -> list[int]:
    """Where the landmarks stand among the rows of X."""
    where = {row.tobytes(): i for i, row in enumerate(dense(X))}
    return [where[row.tobytes()] for row in np.ascontiguousarray(dense(points))]


def as_set(X) -> set[tuple[float, ...]]:
    return {tuple(row) for row in dense(X).tolist()}


# -- what all rules promise -----------------------------------------------------------------------


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(0.2, 1.0, 3)], ids=lambda k: k.name)
def test_landmarks_are_distinct_and_as_many_as_asked_for(kernel, selection, storage, rng):
    X = STORAGES[storage](rng.standard_normal((60, 6)))
    points = choose(kernel, X, 12, selection)
    assert points.shape == (12, 6)
    assert points.dtype == (X.dtype if as_set(points) <= as_set(X) else np.float64)  # centres keep all their digits
    assert len(as_set(points)) == 12
    assert sp.issparse(points) == (sp.issparse(X) and selection != "kmeans")
    if selection in ROW_RULES:
        assert as_set(points) <= as_set(X)
    assert_array_equal(dense(points), dense(choose(kernel, X, 12, selection)))
    if selection not in ("ald", "greedy_kpca"):
        assert as_set(points) != as_set(choose(kernel, X, 12, selection, seed=1))


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("storage", STORAGES)
def test_more_landmarks_than_rows_are_all_distinct_rows(storage, selection, rng):
    X = rng.integers(-1, 2, (40, 2)).astype(np.float64)
    X[X == 0] = np.where(rng.random((X == 0).sum()) < 0.5, -0.0, 0.0)
    stored = STORAGES[storage](X)
    points = choose(RBF(1.0), stored, 40, selection)
    assert sorted(dense(points).tolist()) == sorted(map(list, as_set(X)))
    assert sp.issparse(points) == sp.issparse(stored)


def test_stored_zeros_and_unsorted_columns_do_not_hide_a_repeated_row():
    data, columns = [1.0, 2.0, 0.0, 2.0, 1.0], [0, 2, 1, 2, 0]
    X = sp.csr_matrix((data, columns, [0, 2, 5]), shape=(2, 3))
    assert choose(RBF(1.0), X, 5, "uniform").shape == (1, 3)
    assert X.nnz == 5  # and X stays as it was


@pytest.mark.parametrize("selection", SELECTIONS)
def test_fewer_distinct_rows_than_landmarks(selection, rng):
    few = rng.standard_normal((5, 3))
    X = few[np.arange(200) % 5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points = choose(RBF(0.5), X, 20, selection)
    assert_allclose(sorted(points.tolist()), sorted(few.tolist()), rtol=1e-12)


def test_random_rows_are_topped_up_where_rows_repeat(rng):
    X = rng.standard_normal((30, 3))[np.arange(120) % 30]
    assert len(as_set(choose(RBF(0.5), X, 20, "uniform"))) == 20


def test_auto_takes_k_means_for_dense_gaussian_rows_only(rng):
    X = rng.standard_normal((80, 4))
    for kernel, rows, expected in [
        (RBF(0.2), X, "kmeans"),
        (RBF(0.2), sp.csr_matrix(X), "rpcholesky"),
        (Linear(), X, "rpcholesky"),
        (Laplacian(0.3), X, "rpcholesky"),
    ]:
        assert_array_equal(dense(choose(kernel, rows, 9, "auto")), dense(choose(kernel, rows, 9, expected)))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_rows_without_length_leave_one_landmark(selection):
    points = choose(Linear(), np.zeros((30, 4)), 5, selection)
    assert_array_equal(points, np.zeros((1, 4)))
    assert LandmarkMap.of(Linear(), points).features(np.ones((3, 4))).shape == (3, 0)


def test_a_precomputed_kernel_has_no_landmarks():
    for attempt in (
        lambda: choose(Precomputed(), np.eye(4), 2, "uniform"),
        lambda: LandmarkMap.of(Precomputed(), np.arange(3)),
    ):
        with pytest.raises(ValueError, match="need the data, not a precomputed"):
            attempt()


def test_k_means_looks_at_a_sample_only(monkeypatch, rng):
    monkeypatch.setattr(rules, "_KMEANS_ROWS", 50)
    monkeypatch.setattr(rules, "_KMEANS_ROWS_EACH", 2)
    X = rng.standard_normal((300, 2))
    asked = []
    monkeypatch.setattr("sklearn.cluster.KMeans.fit", lambda self, rows: asked.append(rows) or _Centres(rows[:7]))
    choose(RBF(1.0), X, 7, "kmeans")
    choose(RBF(1.0), X, 40, "kmeans")
    assert [len(rows) for rows in asked] == [50, 80]


class _Centres:
    def __init__(self, rows):
        self.cluster_centers_ = rows


# -- randomly pivoted Cholesky --------------------------------------------------------------------

INDEFINITE = MatrixFunction(lambda A, B: A @ np.diag([1.0, 1.0, 1.0, -0.7]) @ B.T)


# Drawing one at a time is the definition; blocks with rejection must not change the odds.
@pytest.mark.parametrize("drawn", [1, 2, 64])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), INDEFINITE], ids=lambda k: k.name)
def test_pivots_have_the_odds_of_the_definition(kernel, drawn, monkeypatch, rng):
    monkeypatch.setattr(rules, "_DRAWN", drawn)
    X = rng.standard_normal((6, 4)) * np.array([[0.6], [1.0], [1.0], [2.0], [0.5], [0.8]])
    X[4] = X[3] + 0.2
    expected = naive_landmarks.set_probabilities(kernel(X), 2)
    assert sum(expected.values()) == pytest.approx(1)
    state, trials = np.random.RandomState(7), 1000
    seen = Counter(frozenset(places(select_landmarks(kernel, X, 2, "rpcholesky", state), X)) for _ in range(trials))
    for chosen, chance in expected.items():
        deviation = np.sqrt(trials * chance * (1 - chance)) + 1
        assert abs(seen[chosen] - trials * chance) < 4.5 * deviation, (set(chosen), chance, seen[chosen] / trials)


@pytest.mark.parametrize("drawn", [3, 64])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_pivoting_stops_at_the_rank(scale, drawn, monkeypatch, rng):
    monkeypatch.setattr(rules, "_DRAWN", drawn)
    X = rng.standard_normal((200, 3)) * scale
    for rows in (X, sp.csr_matrix(X), X.astype(np.float32)):
        assert choose(Linear(), rows, 50, "rpcholesky").shape == (3, 3)
    assert choose(Polynomial(1 / scale**2, 1.0, 2), X, 50, "rpcholesky").shape == (10, 3)


@pytest.mark.parametrize("factor", [1e3, 1e8, 1e100])
def test_one_enormous_row_is_not_the_only_landmark(factor, rng):
    """It held nearly all of the trace, so that the other rows seemed to be explained."""
    X = rng.standard_normal((60, 4))
    X[5] *= factor
    assert len(choose(Linear(), X, 30, "rpcholesky", 0)) == 4


def test_pivoting_ends_where_lengths_are_hardly_above_zero(rng):
    points = choose(Linear(), rng.standard_normal((20, 3)) * 1e-162, 10, "rpcholesky")
    assert 1 <= len(points) <= 10


# Far from the origin the distance of a row from itself is not zero but rounding.
def test_no_row_is_taken_twice(rng):
    X = np.repeat([[0.0], [1e8], [2e8]], [30, 10, 10], axis=0) + rng.standard_normal((50, 7))
    for seed in range(20):
        chosen = places(choose(RBF(1.0), X, 40, "rpcholesky", seed), X)
        assert len(set(chosen)) == len(chosen)


def test_pivots_leave_nothing_where_there_are_enough(rng):
    X = rng.uniform(-1, 1, (300, 2))
    points = choose(RBF(0.5), X, 200, "rpcholesky")
    assert len(points) < 120  # the rest is explained by these
    made = LandmarkMap.of(RBF(0.5), points)
    assert made.missing(X, made.features(X)).max() < 1e-9


def test_pivoting_keeps_within_the_memory_budget(monkeypatch, rng):
    X = rng.standard_normal((4000, 3))
    made = []
    original = rules._Pivoting.__init__

    def noting(self, kernel, rows, count):
        made.append(len(rows))
        original(self, kernel, rows, count)

    monkeypatch.setattr(rules._Pivoting, "__init__", noting)
    with config_context(working_memory=0.125):
        assert choose(RBF(1.0), X, 20, "rpcholesky").shape == (20, 3)
        budget = tiling.memory_budget()
    assert made == [budget // (20 * 8)]
    assert made[0] < 2000


@pytest.mark.parametrize(
    "kernel",
    [Sigmoid(0.5, -1.0), Sigmoid(2.0, 0.3), PairFunction(lambda x, y: -abs(x - y).sum())],
    ids=lambda k: k.name,
)
@pytest.mark.parametrize("selection", ["rpcholesky", "ald", "greedy_kpca", "auto"])
def test_an_indefinite_kernel_has_landmarks_too(kernel, selection, rng):
    X = rng.standard_normal((50, 3))
    own = kernel.diagonal(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points = choose(kernel, X, 10, selection)
    assert 1 <= len(points) <= 10
    assert (kernel.diagonal(points) > 0).all() or own.max() <= 0
    assert as_set(points) <= as_set(X)
    assert np.isfinite(LandmarkMap.of(kernel, points).features(X)).all()


def test_a_function_as_kernel_gets_the_same_pivots(rng):
    X = rng.standard_normal((30, 3))
    as_pairs = PairFunction(lambda x, y: float(np.exp(-0.5 * ((x - y) ** 2).sum())))
    for selection in ("rpcholesky", "ald"):
        assert_array_equal(choose(as_pairs, X, 8, selection), choose(RBF(0.5), X, 8, selection))


# -- greedy kernel PCA ----------------------------------------------------------------------------


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(0.3, 1.0, 2), Laplacian(0.2)], ids=lambda k: k.name)
def test_greedy_rows_lower_the_reconstruction_error_most(kernel, storage, rng):
    X = STORAGES[storage](rng.standard_normal((50, 4)))
    K = kernel(dense(X).astype(np.float64))
    chosen = places(choose(kernel, X, 9, "greedy_kpca"), X)
    assert chosen == naive_landmarks.greedy_kpca(K, 9)


def test_greedy_rows_explain_more_than_pivots(usps_hundred):
    K = RBF(0.005)(usps_hundred)
    left = {}
    for rule in ("rpcholesky", "greedy_kpca"):
        chosen = places(choose(RBF(0.005), usps_hundred, 40, rule), usps_hundred)
        left[rule] = np.trace(naive_landmarks.schur_complement(K, chosen))
    assert left["greedy_kpca"] < 0.95 * left["rpcholesky"]


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_greedy_rows_stop_at_the_rank(scale, rng):
    X = rng.standard_normal((60, 3)) * scale
    X[30:] = X[:30]
    assert choose(Linear(), X, 50, "greedy_kpca").shape == (3, 3)
    assert choose(Polynomial(1 / scale**2, 1.0, 2), X, 50, "greedy_kpca").shape == (10, 3)


def test_greedy_rows_are_chosen_from_a_sample(monkeypatch, rng):
    monkeypatch.setattr(rules, "_GREEDY_ROWS", 30)
    asked = []
    monkeypatch.setattr(rules, "greedy_rows", lambda kernel, rows, count: asked.append(len(rows)) or [0])
    X = rng.standard_normal((200, 2))
    choose(RBF(1.0), X, 7, "greedy_kpca")
    choose(RBF(1.0), X, 40, "greedy_kpca")
    with config_context(working_memory=0.125):
        choose(RBF(1.0), np.vstack([X] * 20), 190, "greedy_kpca")
        budget = tiling.memory_budget()
    assert asked[:2] == [30, 40]
    assert asked[2] == min(190, int(np.sqrt(budget / 8)))


# -- which rule is better -------------------------------------------------------------------------


def shortfall(kernel: Kernel, X: np.ndarray, selection: str, count: int, seeds: int = 3, r: int = 16) -> float:
    """The mean share of the explainable variation that a model on landmarks misses."""
    explained = []
    with one_blas_thread():  # for small matrices more would only wait for each other
        best = np.linalg.eigvalsh(naive.centred(kernel(X)))[-r:].sum()
        for seed in range(seeds):
            F = LandmarkMap.of(kernel, choose(kernel, X, count, selection, seed)).features(X)
            explained.append(np.linalg.eigvalsh(np.cov(F.T, bias=True) * len(X))[-r:].sum())
    return 1 - float(np.mean(explained)) / best


def test_k_means_beats_random_rows_on_image_patches(data_set, rng):
    image = data_set("camera_512")["X"] / 255.0
    corners = rng.integers(0, 501, (500, 2))
    X = np.array([image[i : i + 11, j : j + 11].ravel() for i, j in corners])
    missed = {rule: shortfall(RBF(0.5), X, rule, 64) for rule in ("uniform", "kmeans", "rpcholesky")}
    assert missed["kmeans"] < 0.5 * missed["rpcholesky"]
    assert missed["rpcholesky"] < 1.1 * missed["uniform"]


def test_pivoting_finds_small_groups(rng):
    centres = rng.standard_normal((20, 5)) * 6
    X = np.vstack([c + 0.3 * rng.standard_normal((size, 5)) for c, size in zip(centres, [200] + [8] * 19, strict=True)])
    missed = {rule: shortfall(RBF(0.1), X, rule, 60) for rule in ("uniform", "rpcholesky", "kmeans", "ald")}
    for rule in ("rpcholesky", "kmeans", "ald"):
        assert missed[rule] < 0.2 * missed["uniform"], missed
