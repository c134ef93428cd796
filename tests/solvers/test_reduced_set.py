"""Reduced sets: that what is dropped is cheapest, what is made is best, and what is returned is the projection."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer.engine.preimage_climb import climb_gaussian, climb_power
from mercer.kernels import RBF, Cosine, Kernel, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from mercer.solvers.incremental.reduced_preimages import Frame, Variant
from mercer.solvers.incremental.reduced_set import ReducedSet, compress
from textbook import kernel_pca as naive
from textbook import reduced_set as twin

METHODS = ["preimage", "subset"]
KERNELS = [RBF(0.3), Polynomial(0.5, 1.0, 3.0), Polynomial(0.5, 0.5, 2.5), Linear(), Cosine(), Laplacian(0.3)]
SMOOTH = [(RBF(0.3), naive.rbf(0.3)), (Polynomial(0.5, 1.0, 3), naive.poly(0.5, 1.0, 3))]


def vectors(rng, kernel: Kernel, n: int = 40, d: int = 4, s: int = 4):
    """A library, its kernel matrix, some vectors on it, and weights that fall."""
    X = np.abs(rng.standard_normal((n, d)))
    return X, kernel(X), rng.standard_normal((s, n)), np.linspace(3.0, 0.5, s)


def error(K, coef, weights, made: ReducedSet) -> float:
    """The weighted sum of squared distances between vectors and what stands for them."""
    own = np.einsum("ij,jk,ik->i", coef, K, coef)
    cross = np.einsum("ij,jk,ik->i", made.coef, made.cross, coef)
    new = np.einsum("ij,jk,ik->i", made.coef, made.gram, made.coef)
    return float(np.square(weights) @ (own - 2 * cross + new))


def components(kernel: Kernel, X, r: int):
    """Kernel matrix, r principal components and the mean, and their weights."""
    K, n = kernel(X), len(X)
    values, V = np.linalg.eigh(naive.centred(K))
    scale = np.sqrt(values[::-1][:r])
    coef = (V[:, ::-1][:, :r] / scale).T
    coef -= coef.mean(axis=1, keepdims=True)
    return K, np.vstack([coef, np.full(n, 1 / n)]), np.append(scale, np.sqrt(n))


# -- what both methods promise ---------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_coefficients_are_those_of_the_projection(kernel, dtype, method, rng):
    X, _, coef, weights = vectors(rng, kernel)
    X = X.astype(dtype)
    K = kernel(X.astype(np.float64))
    made = compress(X, K, coef, weights, kernel, 14, method)
    m = len(made.points)
    assert 1 <= m <= 14
    assert made.points.dtype == dtype
    assert (made.coef.shape, made.gram.shape, made.cross.shape) == ((4, m), (m, m), (m, 40))
    rows = made.points.astype(np.float64)
    assert_allclose(made.gram, kernel(rows), rtol=1e-9, atol=1e-12)
    assert_allclose(made.cross, kernel(rows, X.astype(np.float64)), rtol=1e-9, atol=1e-12)
    assert_allclose(made.gram, made.gram.T, rtol=1e-12)
    lengths = np.sqrt(np.diag(made.gram)) * np.sqrt(np.einsum("ij,jk,ik->i", coef, K, coef))[:, None]
    assert np.max(np.abs((made.gram @ made.coef.T - made.cross @ coef.T).T) / lengths) < 1e-8  # normal equations
    again = compress(X, K, coef, weights, kernel, 14, method)
    assert_array_equal(again.points, made.points)


@pytest.mark.parametrize("method", METHODS)
def test_a_library_that_fits_stays_as_it_is(method, rng):
    X, K, coef, weights = vectors(rng, RBF(0.3), n=10)
    made = compress(X, K, coef, weights, RBF(0.3), 10, method)
    assert made.points is X
    assert_array_equal(made.coef, coef)
    assert_array_equal(made.cross, K)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 39])
def test_any_size_will_do(size, method, rng):
    X, K, coef, weights = vectors(rng, RBF(0.3))
    made = compress(X, K, coef, weights, RBF(0.3), size, method)
    assert len(made.points) == size
    assert 0 <= error(K, coef, weights, made) < np.square(weights) @ np.einsum("ij,jk,ik->i", coef, K, coef)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_few_points_are_enough_where_the_rank_is_small(scale, method, rng):
    kernel = Polynomial(1 / scale**2, 1.0, 2)  # six dimensions in feature space
    X = rng.standard_normal((80, 2)) * scale
    K, coef, weights = components(kernel, X, 5)
    made = compress(X, K, coef, weights, kernel, 60, method)
    assert len(made.points) == 6
    assert abs(error(K, coef, weights, made)) < 1e-9 * np.trace(K)
    linear = compress(X, Linear()(X), coef, weights, Linear(), 60, method)
    assert len(linear.points) == 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.5), Polynomial(0.5, 1.0, 3)], ids=repr)
def test_repeated_points_are_kept_once(kernel, method, rng):
    few = rng.standard_normal((8, 3))
    X = few[np.arange(40) % 8]
    coef = rng.standard_normal((3, 40))
    made = compress(X, kernel(X), coef, np.ones(3), kernel, 20, method)
    assert len(made.points) <= 8
    assert abs(error(kernel(X), coef, np.ones(3), made)) < 1e-8 * len(X) ** 2
    assert np.abs(made.coef).max() < 1e4


@pytest.mark.parametrize("method", METHODS)
def test_constant_rows_and_vectors_of_no_length(method, rng):
    X = np.ones((20, 3))
    made = compress(X, RBF(1.0)(X), np.full((2, 20), 0.05), np.ones(2), RBF(1.0), 6, method)
    assert len(made.points) == 1
    assert_allclose(made.coef, [[1.0], [1.0]])
    X, K, coef, weights = vectors(rng, RBF(0.3))
    for some_coef, some_weights in ((0 * coef, weights), (coef, 0 * weights)):
        made = compress(X, K, some_coef, some_weights, RBF(0.3), 12, method)
        assert len(made.points) <= 12
        assert np.isfinite(made.coef).all()
    zeros = np.zeros((20, 3))
    made = compress(zeros, Linear()(zeros), np.ones((2, 20)), np.ones(2), Linear(), 6, method)
    assert_array_equal(made.coef @ made.cross, np.zeros((2, 20)))


@pytest.mark.parametrize("method", METHODS)
def test_neither_the_unit_of_rows_nor_a_shift_matters_to_the_gaussian(method, rng):
    X, K, coef, weights = vectors(rng, RBF(0.3), s=3)
    made = compress(X, K, coef, weights, RBF(0.3), 9, method)
    for scale, shift in ((1e3, 0.0), (1e-3, 0.0), (1.0, 1e5)):
        kernel, moved = RBF(0.3 / scale**2), X * scale + shift
        other = compress(moved, K, coef, 5 * weights, kernel, 9, method)
        assert_allclose((other.points - shift) / scale, made.points, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_an_outlier_does_not_spoil_the_coordinates(method, rng):
    X, _, coef, weights = vectors(rng, RBF(0.3))
    X[7] = 1e7
    K = RBF(0.3)(X)
    made = compress(X, K, coef, weights, RBF(0.3), 20, method)
    exact = np.array([[naive.rbf(0.3)(x, y) for y in X] for x in made.points])
    assert_allclose(made.cross, exact, rtol=0, atol=1e-7)


# -- backward elimination --------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from(KERNELS), st.integers(1, 4), st.integers(5, 16))
def test_every_drop_is_the_cheapest(seed, kernel, s, size):
    rng = np.random.default_rng(seed)
    X, K, coef, weights = vectors(rng, kernel, n=18, d=20, s=s)
    if isinstance(kernel, (Polynomial, Linear, Cosine)):
        X = rng.standard_normal((18, 30))
        K = kernel(X)
    made = compress(X, K, coef, weights, kernel, size, "subset")
    kept = twin.backward(K, coef, weights, size)
    assert_array_equal(made.points, X[kept])
    assert_allclose(made.coef, twin.refitted(K[np.ix_(kept, kept)], K[kept], coef), rtol=1e-6, atol=1e-8)
    expected = twin.squared_error(K, coef, weights, kept)
    assert error(K, coef, weights, made) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_a_heavy_vector_decides_what_is_dropped(rng):
    X, K, coef, _ = vectors(rng, RBF(0.3), n=16, d=6, s=2)
    kept = []
    for weights in (np.array([100.0, 0.01]), np.array([0.01, 100.0])):
        made = compress(X, K, coef, weights, RBF(0.3), 6, "subset")
        assert_array_equal(made.points, X[twin.backward(K, coef, weights, 6)])
        kept.append(made.points.tolist())
    assert kept[0] != kept[1]


# In two dimensions a wide Gaussian leaves fewer than 40 directions above rounding.
def test_elimination_is_safe_where_the_gram_matrix_is_nearly_singular(rng):
    X = rng.uniform(-1, 1, (120, 2))
    K, coef, weights = components(RBF(0.1), X, 6)
    for size in (60, 20, 12):
        made = compress(X, K, coef, weights, RBF(0.1), size, "subset")
        assert len(made.points) <= size
        limit = {60: 1e-7, 20: 1e-5, 12: 1e-2}[size]
        assert abs(error(K, coef, weights, made)) < limit * np.trace(K)


def test_sparse_rows_and_given_kernels_are_subsets_whatever_the_method(rng):
    X, K, coef, weights = vectors(rng, RBF(0.3))
    dense = compress(X, K, coef, weights, RBF(0.3), 12, "subset")
    for method in METHODS:
        sparse = compress(sp.csr_matrix(X), K, coef, weights, RBF(0.3), 12, method)
        assert sp.issparse(sparse.points)
        assert_array_equal(sparse.points.toarray(), dense.points)
        given_kernel = compress(np.arange(40), K, coef, weights, Precomputed(), 12, method)
        assert_array_equal(X[given_kernel.points], dense.points)
        assert_array_equal(given_kernel.coef, dense.coef)


@pytest.mark.parametrize("kernel", [Laplacian(0.2), Sigmoid(0.05, 0.1), Polynomial(0.5, -1.0, 2), RBF(0.0)], ids=repr)
def test_kernels_without_pre_images_keep_points(kernel, rng):
    X, K, coef, weights = vectors(rng, kernel)
    made = compress(X, K, coef, weights, kernel, 12, "preimage")
    assert {tuple(row) for row in made.points} <= {tuple(row) for row in X}
    assert_array_equal(made.points, compress(X, K, coef, weights, kernel, 12, "subset").points)


# -- pre-images ------------------------------------------------------------------------------------


def climbed(kernel: Kernel, X, alpha, y, steps: int):
    """Where a climb from y ends, its height, and the kernel values there."""
    y, values = y.copy(), np.empty(len(X))
    coef = alpha[None].copy()
    if isinstance(kernel, RBF):
        scale = np.sqrt(2 * kernel.gamma)
        rows = X * scale
        y *= scale
        top = climb_gaussian(rows, 0.5 * (rows**2).sum(axis=1), coef, y, values, steps, 0.0)
    else:
        scale = np.sqrt(kernel.gamma)
        y *= scale
        top = climb_power(X * scale, kernel.coef0, float(kernel.degree), coef, y, values, steps, 0.0)
    return y / scale, top, values


@pytest.mark.parametrize(("kernel", "naive_kernel"), SMOOTH, ids=["rbf", "poly"])
@pytest.mark.parametrize("seed", range(5))
def test_a_climb_ends_where_27_is_stationary(kernel, naive_kernel, seed):
    rng = np.random.default_rng(seed)
    X, alpha = rng.standard_normal((12, 3)), rng.standard_normal(12)

    def height(y):
        return twin.height(naive_kernel, X, alpha, y)

    start = X[int(np.argmax([height(x) for x in X]))]
    tops = []
    for steps in (0, 1, 2, 5, 3000):
        y, top, values = climbed(kernel, X, alpha, start, steps)
        assert top == pytest.approx(height(y), rel=1e-9)
        assert_allclose(values, [naive_kernel(x, y) for x in X], rtol=1e-9)
        tops.append(top)
    assert tops == sorted(tops)
    assert tops[0] < tops[-1]
    assert np.linalg.norm(twin.slope(height, y, 1e-5)) < 1e-4 * height(y)


def test_a_climb_ends_where_the_plain_fixed_point_ends(rng):
    X, alpha = rng.standard_normal((15, 2)), rng.uniform(0.1, 1.0, 15)  # positive: the plain one is safe
    expected = twin.mika(X, 0.3, alpha, X[0], 3000)
    y, _, _ = climbed(RBF(0.3), X, alpha, X[0], 3000)
    assert_allclose(y, expected, atol=1e-5)


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(0.5, 1.0, 2)], ids=repr)
def test_without_a_step_the_best_points_of_the_library_are_taken(kernel, rng):
    X, K, coef, weights = vectors(rng, kernel, n=20, d=8, s=3)
    made = compress(X, K, coef, weights, kernel, 9, variant=Variant(steps=0))
    assert_allclose(made.points, X[twin.forward(K, coef, weights, 3)], atol=1e-9)


# Gram coordinates (more features than rows) and input coordinates are two ways to the same points.
@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(0.5, 1.0, 2), Cosine()], ids=repr)
def test_a_rotation_into_many_features_changes_nothing(kernel, rng):
    X, K, coef, weights = vectors(rng, kernel, n=20, d=5, s=2)
    Q = np.linalg.qr(rng.standard_normal((60, 5)))[0].T
    for options in ({"variant": Variant(library=False)}, {}):
        made = compress(X, K, coef, weights, kernel, 4, **options)
        wide = compress(X @ Q, K, coef, weights, kernel, 4, **options)
        assert_allclose(wide.points, made.points @ Q, atol=1e-6)


def test_coordinates_lead_back_to_the_points(rng):
    for X in (rng.standard_normal((10, 40)), rng.standard_normal((40, 10)), np.ones((5, 9))):
        for origin in (None, X.mean(axis=0)):
            frame = Frame.of(X, origin, 0.7)
            assert frame.rows.shape[1] <= min(X.shape)
            assert_allclose(frame.points(frame.rows), X, atol=1e-9)
            shifted = X if origin is None else X - origin
            assert_allclose(frame.rows @ frame.rows.T, 0.49 * shifted @ shifted.T, atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(0.5, 1.0, 2)], ids=repr)
def test_passes_fill_the_coefficients_as_the_paper_draws_them(kernel, rng):
    X = rng.standard_normal((60, 12))
    K, coef, weights = components(kernel, X, 3)
    made = {
        p: compress(X, K, coef, weights, kernel, 12, variant=Variant(passes=p))
        for p in ("own", "sequential", "second", "shared")
    }
    blocks = np.arange(12) // 3
    assert_array_equal(made["own"].coef != 0, blocks == np.arange(4)[:, None])  # Fig. 1 (a)
    assert_array_equal(made["sequential"].coef != 0, blocks <= np.arange(4)[:, None])  # (b)
    assert (made["second"].coef != 0).all()  # (c)
    errors = {p: error(K, coef, weights, each) for p, each in made.items()}
    assert errors["second"] < errors["sequential"]
    assert errors["second"] < errors["own"]
    assert 0 < errors["shared"] < errors["own"]
    first = made["sequential"]
    refitted = twin.refitted(first.gram, first.cross, coef)
    better = error(K, coef, weights, ReducedSet(first.points, refitted, first.gram, first.cross))
    assert better < errors["sequential"]  # (31)


def test_pre_images_beat_points_where_few_stand_for_many(usps):
    X = usps[:300]
    K, coef, weights = components(RBF(1 / 256), X, 8)
    errors = {
        "subset": error(K, coef, weights, compress(X, K, coef, weights, RBF(1 / 256), 18, "subset")),
        "library": error(K, coef, weights, compress(X, K, coef, weights, RBF(1 / 256), 18, variant=Variant(steps=0))),
        "preimage": error(K, coef, weights, compress(X, K, coef, weights, RBF(1 / 256), 18)),
        "pure": error(
            K, coef, weights, compress(X, K, coef, weights, RBF(1 / 256), 18, variant=Variant(library=False))
        ),
    }
    assert min(errors["preimage"], errors["pure"]) < errors["library"], errors
    many = {m: error(K, coef, weights, compress(X, K, coef, weights, RBF(1 / 256), 270, m)) for m in METHODS}
    assert many["subset"] < many["preimage"] < 0.01 * errors["subset"], many


# 200 random points instead of chosen ones: the mean over draws.
def test_elimination_beats_random_points(usps):
    X = usps[:300]
    K, coef, weights = components(RBF(1 / 256), X, 8)
    made = compress(X, K, coef, weights, RBF(1 / 256), 200, "subset")
    rng = np.random.default_rng(0)
    random = [twin.squared_error(K, coef, weights, rng.permutation(300)[:200]) for _ in range(5)]
    assert error(K, coef, weights, made) < 0.5 * np.mean(random)
