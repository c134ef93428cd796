"""Landmarks: that each rule chooses as it says, and that the map they give is a projection to the last digits."""

import pickle
import warnings
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context

from mercer import KernelPCA
from mercer.expansion.model import Expansion
from mercer.kernels import RBF, Cosine, Kernel, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from mercer.kernels import landmarks as rules
from mercer.kernels import tiles as tiling
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.landmarks import SELECTIONS, AldDictionary, select_landmarks
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


# -- what all rules promise ------------------------------------------------------------------------


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


# -- randomly pivoted Cholesky ---------------------------------------------------------------------


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


# -- greedy kernel PCA -----------------------------------------------------------------------------


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


# -- which rule is better --------------------------------------------------------------------------


def shortfall(kernel: Kernel, X: np.ndarray, selection: str, count: int, seeds: int = 3, r: int = 16) -> float:
    """The mean share of the explainable variation that a model on landmarks misses."""
    explained = []
    with tiling.one_blas_thread():  # for small matrices more would only wait for each other
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


# -- the map ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    ("kernel", "twin"),
    [
        (RBF(0.4), naive.rbf(0.4)),
        (Laplacian(0.3), naive.laplacian(0.3)),
        (Polynomial(0.5, 1.0, 3), naive.poly(0.5, 1.0, 3)),
    ],
    ids=lambda k: getattr(k, "name", ""),
)
def test_features_are_coordinates_of_the_projection(kernel, twin, storage, rng):
    points, X = (STORAGES[storage](rng.standard_normal((n, 4))) for n in (8, 15))
    made = LandmarkMap.of(kernel, points)
    F = made.features(X)
    assert F.shape == (15, 8)
    assert F.dtype == np.float64
    K_xm, K_mm = naive.matrix(twin, X, points), naive.matrix(twin, points)
    products = naive_landmarks.projected_products(K_xm, K_mm, K_xm)
    own = naive.diagonal(twin, X)
    assert_allclose(F @ F.T, products, rtol=0, atol=1e-10 * own.max())
    assert_allclose(made.missing(X, F), own - np.diag(products), rtol=0, atol=1e-10 * own.max())


CONDITIONED = {
    "rbf": (RBF(1.0), 1.0),
    "rbf_wide": (RBF(1e-3), 1.0),
    "rbf_flat": (RBF(1e-9), 1.0),
    "rbf_narrow": (RBF(50.0), 1.0),
    "linear": (Linear(), 1.0),
    "linear_large": (Linear(), 1e6),
    "linear_small": (Linear(), 1e-3),
    "cosine": (Cosine(), 1.0),
    "poly3": (Polynomial(1.0, 1.0, 3), 1.0),
    "poly7_huge": (Polynomial(1.0, 1.0, 7), 1e6),
    "laplacian": (Laplacian(1e-3), 1.0),
}


@pytest.mark.parametrize("form", ["ordinary", "repeated", "near", "graded"])
@pytest.mark.parametrize("name", CONDITIONED)
def test_landmarks_keep_their_inner_products(name, form, rng):
    kernel, scale = CONDITIONED[name]
    points = rng.standard_normal((40, 5)) * scale
    if form == "repeated":
        points[20:] = points[:20]
    if form == "near":
        points[20:] = points[:20] * (1 + 1e-9)
    if form == "graded":
        points *= 10.0 ** -np.linspace(0, 6, 40)[:, None]
    made = LandmarkMap.of(kernel, points)
    F, K = made.features(points), kernel(points)
    lengths = np.sqrt(np.diag(K))
    assert made.rank <= 40
    assert (np.abs(F @ F.T - K) <= 1e-10 * np.outer(lengths, lengths)).all()
    assert (made.missing(points, F) <= 1e-10 * np.diag(K)).all()


@st.composite
def nasty_landmarks(draw):
    """Landmarks and rows of one scale, with repeats, near repeats, constant columns and rows of all lengths."""
    seed = draw(st.integers(0, 2**20))
    rng = np.random.default_rng(seed)
    m, d = draw(st.integers(1, 40)), draw(st.integers(1, 8))
    scale = 10.0 ** draw(st.integers(-3, 6))
    points = rng.standard_normal((m, d))
    gap = 10.0 ** -draw(st.integers(3, 11))
    form = draw(st.sampled_from(["ordinary", "repeated", "near", "constant", "graded", "thin", "shifted"]))
    half = m // 2
    if form in ("repeated", "near"):
        points[m - half :] = points[:half] + (gap if form == "near" else 0.0) * rng.standard_normal((half, d))
    elif form == "constant":
        points[:, 0] = 3.0
    elif form == "graded":
        points *= 10.0 ** rng.uniform(-5, 1, (m, 1))
    elif form == "thin":
        points *= 10.0 ** rng.uniform(-8, 0, d)
    elif form == "shifted":
        points = 100.0 + gap * points
    near = points[rng.integers(0, m, 10)]
    X = np.vstack([points, near + gap * rng.standard_normal(near.shape), near + rng.standard_normal(near.shape)])
    X = np.vstack([X, rng.standard_normal((10, d)), 50.0 * rng.standard_normal((5, d)), 1e-4 * near, np.zeros((1, d))])
    return points * scale, X * scale


OVERSHOOT = {
    "linear": lambda size: Linear(),
    "cosine": lambda size: Cosine(),
    "poly2": lambda size: Polynomial(1.0, 0.0, 2),
    "poly3": lambda size: Polynomial(1.0 / size**2, 1.0, 3),
    "poly5": lambda size: Polynomial(1.0, 1.0, 5),
    "laplacian": lambda size: Laplacian(0.1 / size),
    "rbf": lambda size: RBF(0.1 / size**2),
    "rbf_wide": lambda size: RBF(1e-5 / size**2),
    "rbf_far": lambda size: RBF(1.0),
    "function": lambda size: MatrixFunction(lambda A, B: (A @ B.T / size**2 + 1.0) ** 2),
}


# A cut-off alone lets this fail by several percent, see _inverse_root.
@pytest.mark.parametrize("name", OVERSHOOT)
@given(data=nasty_landmarks())
def test_no_mapped_row_is_longer_than_its_original(name, data):
    points, X = data
    kernel = OVERSHOOT[name](max(np.abs(points).max(), 1e-12))
    F = LandmarkMap.of(kernel, points).features(X)
    own = kernel.diagonal(X)
    assert ((F**2).sum(axis=1) <= own * (1 + 1e-8)).all()


# Two landmarks so close that hardly a digit of their difference is left, and rows that lie in its direction. Gaussians
# of rows far from the others lose digits earlier: their distances are made of large squared norms.
@pytest.mark.parametrize(
    ("kernel", "gap", "far"),
    [
        (Linear(), 1e-7, 0.0),
        (Polynomial(1.0, 1.0, 2), 1e-7, 0.0),
        (RBF(0.5), 1e-7, 0.0),
        (RBF(0.5), 1e-5, 1e3),
        (RBF(0.5), 1e-2, 1e6),
    ],
    ids=lambda value: getattr(value, "name", f"{value}"),
)
def test_rows_in_the_direction_of_a_tiny_difference(kernel, gap, far, rng):
    up = np.array([0.0, 0.0, 1.0])
    for factor in np.logspace(-0.5, 0.5, 60):
        first = rng.standard_normal(3) + np.array([far, 0.0, 0.0])
        others = rng.standard_normal((2 if far else 0, 3))
        made = LandmarkMap.of(kernel, np.vstack([first, first + factor * gap * up, others]))
        X = np.vstack([first + up, first - 0.5 * up, 2 * first + up, up])
        assert ((made.features(X) ** 2).sum(axis=1) <= kernel.diagonal(X) * (1 + 1e-8)).all(), factor


def test_rounding_of_a_single_precision_function_is_seen(rng):
    def coarse(A, B):
        return np.exp(-0.01 * ((A[:, None] - B[None]) ** 2).sum(axis=-1)).astype(np.float32)

    kernel, points, X = MatrixFunction(coarse), rng.standard_normal((60, 3)), 3 * rng.standard_normal((200, 3))
    made = LandmarkMap.of(kernel, points)
    assert made.rank < 40
    F = made.features(X)
    assert (F**2).sum(axis=1).max() <= 1 + 1e-5
    K = kernel(points).astype(np.float64)
    assert_allclose(made.features(points) @ made.features(points).T, K, rtol=0, atol=1e-4)


def test_an_indefinite_kernel_keeps_its_positive_part(rng):
    points = rng.standard_normal((20, 4))
    kernel = Sigmoid(0.8, -1.0)
    values, vectors = np.linalg.eigh(kernel(points))
    assert values[0] < -0.1
    positive = (vectors * np.maximum(values, 0)) @ vectors.T
    F = LandmarkMap.of(kernel, points).features(points)
    assert_allclose(F @ F.T, positive, rtol=0, atol=1e-10)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_kernel_values_that_are_not_finite_are_an_error_that_says_what_to_do(rng):
    with pytest.raises(ValueError, match=r"Rescale the features.*StandardScaler"):
        LandmarkMap.of(Polynomial(1.0, 1.0, 3), rng.standard_normal((5, 2)) * 1e60)


def test_single_precision_rows_lose_nothing_in_the_map(rng):
    points, X = rng.standard_normal((40, 3)).astype(np.float32), rng.standard_normal((30, 3)).astype(np.float32)
    made, wide = (LandmarkMap.of(RBF(0.05), P) for P in (points, points.astype(np.float64)))
    assert made.rank == wide.rank
    assert_array_equal(made.features(X), wide.features(X.astype(np.float64)))


def test_features_do_not_depend_on_how_rows_are_cut(monkeypatch, rng):
    X = rng.standard_normal((500, 4))
    made = LandmarkMap.of(RBF(0.2), X[:30])
    whole = made.features(X)
    monkeypatch.setattr(tiling, "TILE_BYTES", 4000)
    assert_allclose(made.features(X), whole, rtol=0, atol=1e-7)  # rounding, times 1 / sqrt(smallest eigenvalue)
    assert_allclose(made.features(X[:0]), whole[:0])


def test_coefficients_are_those_of_the_expansion_on_the_points(rng):
    points, X, W = rng.standard_normal((12, 4)), rng.standard_normal((9, 4)), rng.standard_normal((3, 12))
    made = LandmarkMap.of(RBF(0.5), points)
    coefficients = made.coefficients(W)
    assert coefficients.shape == (3, 12)
    assert_allclose(coefficients @ naive.rbf_matrix(points, X, 0.5), W @ made.features(X).T, rtol=1e-9, atol=1e-11)
    K = naive.rbf_matrix(points, points, 0.5)
    assert_allclose(coefficients @ K @ coefficients.T, W @ W.T, rtol=1e-9)  # an orthonormal basis


def test_vectors_are_carried_to_more_points_unchanged(rng):
    X = rng.standard_normal((30, 4))
    old, new = LandmarkMap.of(RBF(0.5), X[:10]), LandmarkMap.of(RBF(0.5), X[::-1])
    W = rng.standard_normal((3, 10))
    carried = new.carry_from(old, W)
    assert carried.shape == (3, new.rank)
    fresh = rng.standard_normal((40, 4))
    assert_allclose(carried @ new.features(fresh).T, W @ old.features(fresh).T, rtol=0, atol=1e-9)
    assert_allclose(carried @ carried.T, W @ W.T, rtol=1e-9)


def test_vectors_are_carried_to_other_points_by_projection(rng):
    X = rng.standard_normal((24, 4))
    old, new = LandmarkMap.of(RBF(0.2), X[:12]), LandmarkMap.of(RBF(0.2), X[8:])
    W = rng.standard_normal((2, 12))
    carried = new.carry_from(old, W)
    # what the projection takes away is orthogonal to every new point
    assert_allclose(carried @ new.features(X[8:]).T, W @ old.features(X[8:]).T, rtol=0, atol=1e-9)
    assert (np.diag(carried @ carried.T) < np.diag(W @ W.T)).all()


def test_a_map_is_pickled_without_what_it_cached(rng):
    made = LandmarkMap.of(RBF(0.2), rng.standard_normal((9, 3)))
    before = len(pickle.dumps(made))
    F = made.features(rng.standard_normal((4, 3)))
    again = pickle.loads(pickle.dumps(made))
    assert len(pickle.dumps(made)) == before
    assert vars(again).keys() == {"kernel", "points", "root"}
    assert_array_equal(again.features(made.points), made.features(made.points))
    assert F.shape == (4, made.rank)
    assert "9 points, rank 9" in repr(made)


# Principal components in the landmarks' coordinates are those of kernel PCA where all rows are landmarks.
@pytest.mark.parametrize("kernel", [RBF(0.1), Polynomial(0.5, 1.0, 2), Linear()], ids=lambda k: k.name)
def test_all_rows_as_landmarks_give_exact_kernel_pca(kernel, rng):
    X, new = rng.standard_normal((40, 5)), rng.standard_normal((10, 5))
    made = LandmarkMap.of(kernel, X)
    F = made.features(X)
    mean = F.mean(axis=0)
    values, vectors = np.linalg.eigh((F - mean).T @ (F - mean))
    values, W = values[::-1][:4], vectors[:, ::-1][:, :4].T
    exact = KernelPCA(4, kernel=kernel).fit(X)
    assert_allclose(values, exact.eigenvalues_, rtol=1e-9)
    model = Expansion(X, made.coefficients(W), W @ mean, values, kernel, 40, np.eye(4))
    assert_allclose(np.abs(model.project(new)), np.abs(exact.transform(new)), rtol=1e-7, atol=1e-9)


# -- approximate linear dependence -----------------------------------------------------------------


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
