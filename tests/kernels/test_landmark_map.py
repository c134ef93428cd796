"""Coordinates in the span of the images of landmarks."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA
from mercer.expansion.model import Expansion
from mercer.kernels import RBF, Cosine, Laplacian, Linear, Polynomial, Sigmoid
from mercer.kernels import tiles as tiling
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.user_given import MatrixFunction
from textbook import kernel_pca as naive
from textbook import landmarks as naive_landmarks

STORAGES = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
}


# -- the map --------------------------------------------------------------------------------------


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
