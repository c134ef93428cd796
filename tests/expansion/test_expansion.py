"""The model form and its algebra, checked in a feature space that is written out."""

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from mercer import Expansion, KernelPCA
from mercer.kernels import RBF, Linear, Polynomial, Precomputed
from mercer.kernels.threads import TILE_BYTES
from textbook import kernel_pca as naive

M, R = 12, 4


def make(kernel, points, coef, nu=None, **more) -> Expansion:
    """An expansion whose derived parts are computed here, from the kernel matrix of the points."""
    K = kernel(points)
    K = np.asarray(K, np.float64)
    return Expansion(
        points=points,
        coef=coef,
        offset=np.zeros(len(coef)) if nu is None else coef @ K @ nu,
        eigenvalues=np.arange(len(coef), 0, -1.0),
        kernel=kernel,
        n_seen=len(coef[0]),
        gram=coef @ K @ coef.T,
        nu=nu,
        mean_norm=0.0 if nu is None else float(nu @ K @ nu),
        trace=7.0,
        **more,
    )


class Quadratic:
    """A model of the kernel (x . y + 1)^2, with its points, components and mean as explicit vectors."""

    def __init__(self, rng: np.random.Generator, centred: bool = True) -> None:
        self.points, self.new = rng.standard_normal((M, 3)), rng.standard_normal((9, 3))
        self.coef = rng.standard_normal((R, M))
        nu = rng.uniform(0, 1, M)
        self.nu = nu / nu.sum() if centred else None
        self.model = make(Polynomial(1.0, 1.0, 2), self.points, self.coef, self.nu)
        phi = naive.quadratic_features(self.points)
        self.components = self.coef @ phi
        self.mean = self.nu @ phi if centred else np.zeros(phi.shape[1])
        self.images = naive.quadratic_features(self.new) - self.mean


@pytest.fixture(params=[True, False], ids=["centred", "plain"])
def case(request, rng) -> Quadratic:
    return Quadratic(rng, request.param)


def test_projection_is_the_inner_product_with_the_components(case):
    assert_allclose(case.model.project(case.new), case.images @ case.components.T, rtol=1e-10, atol=1e-10)


def test_norm_is_the_squared_distance_from_the_mean(case):
    scores, norms = case.model.project_with_norm(case.new)
    assert_allclose(scores, case.images @ case.components.T, rtol=1e-10, atol=1e-10)
    assert_allclose(norms, (case.images**2).sum(axis=1), rtol=1e-10)


def test_residual_is_the_squared_distance_from_the_span(case):
    """The rows of `coef` are random, so the components are far from orthonormal."""
    expected = naive.distance_from_span(case.images, case.components)
    assert_allclose(case.model.residual(case.new), expected, rtol=1e-8, atol=1e-9)


def test_mixing_the_components_leaves_the_residual(case, rng):
    mixed = case.model.transformed(rng.standard_normal((R, R)) + 3 * np.eye(R))
    assert_allclose(mixed.residual(case.new), case.model.residual(case.new), rtol=1e-7, atol=1e-8)


def test_a_repeated_component_leaves_the_residual(case):
    doubled = case.model.transformed(np.vstack([np.eye(R), np.ones((1, R))]))
    assert doubled.n_components == R + 1
    assert_allclose(doubled.residual(case.new), case.model.residual(case.new), rtol=1e-6, atol=1e-7)


def test_gram_and_inner_products(case, rng):
    other = make(case.model.kernel, rng.standard_normal((7, 3)), rng.standard_normal((2, 7)))
    components = other.coef @ naive.quadratic_features(other.points)
    assert_allclose(case.model.inner(other), case.components @ components.T, rtol=1e-9, atol=1e-9)
    assert_allclose(other.inner(case.model), components @ case.components.T, rtol=1e-9, atol=1e-9)
    wrong = replace(case.model, gram=np.eye(R))
    assert_allclose(wrong.with_gram().gram, case.components @ case.components.T, rtol=1e-9)


def test_gram_inverse(case):
    assert_allclose(case.model.gram_inverse @ case.model.gram, np.eye(R), atol=1e-8)


def test_orthonormalised_spans_the_same_and_has_unit_gram(case):
    model = case.model.orthonormalised()
    assert_allclose(model.gram, np.eye(R), atol=1e-9)
    assert_allclose(model.with_gram().gram, np.eye(R), atol=1e-8)
    components = model.coef @ naive.quadratic_features(case.points)
    assert_allclose(naive.distance_from_span(case.components, components), 0, atol=1e-8)
    assert_allclose(model.project(case.new), case.images @ components.T, atol=1e-8)
    assert_allclose(model.residual(case.new), case.model.residual(case.new), rtol=1e-7, atol=1e-8)


def test_orthonormalised_is_the_nearest_basis(case, rng):
    """The symmetric basis is nearer to the components than any rotation of it [Loewdin 1950]."""
    phi = naive.quadratic_features(case.points)
    nearest = case.model.orthonormalised().coef @ phi
    best = ((nearest - case.components) ** 2).sum()
    for _ in range(20):
        Q = np.linalg.qr(rng.standard_normal((R, R)))[0]
        assert ((Q @ nearest - case.components) ** 2).sum() >= best - 1e-9


def test_orthonormalised_with_dependent_components(case):
    doubled = case.model.transformed(np.vstack([np.eye(R), np.eye(R)[:1]])).orthonormalised()
    values = np.linalg.eigvalsh(doubled.gram)
    assert_allclose(values, [0, *np.ones(R)], atol=1e-8)
    assert_allclose(doubled.residual(case.new), case.model.residual(case.new), rtol=1e-6, atol=1e-7)


def test_truncated_keeps_the_first_components(case):
    short = case.model.truncated(2)
    assert short.n_components == 2
    assert len(short.eigenvalues) == 2
    assert_allclose(short.project(case.new), case.model.project(case.new)[:, :2], rtol=1e-12)
    expected = naive.distance_from_span(case.images, case.components[:2])
    assert_allclose(short.residual(case.new), expected, rtol=1e-8, atol=1e-9)
    assert (short.residual(case.new) >= case.model.residual(case.new) - 1e-8).all()


def test_transformed_turns_the_variances_with_the_axes(rng):
    X = rng.standard_normal((60, 3)) * [3, 2, 1]
    model = KernelPCA(3).fit(X).expansion_
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    turned = model.transformed(turn)
    assert_allclose(turned.project(X), model.project(X) @ turn.T, atol=1e-11)
    assert_allclose(turned.eigenvalues, (turned.project(X) ** 2).sum(axis=0), rtol=1e-9)


def test_reconstruct_gives_the_coefficients_of_the_projection(case):
    images = case.model.reconstruct(case.model.project(case.new)) @ naive.quadratic_features(case.points)
    weights = np.linalg.lstsq(case.components.T, case.images.T, rcond=None)[0]
    assert_allclose(images, case.mean + weights.T @ case.components, rtol=1e-7, atol=1e-7)


def test_the_combination_of_kernel_values(case, rng):
    weights = rng.standard_normal((3, M))
    K = naive.matrix(naive.poly(1.0, 1.0, 2), case.new, case.points)
    assert_allclose(case.model.combine(weights, case.new), K @ weights.T, rtol=1e-10, atol=1e-10)


def test_the_operations_leave_the_model_alone(case):
    names = ("points", "coef", "offset", "gram", "eigenvalues")
    before = {name: np.copy(getattr(case.model, name)) for name in names}
    case.model.orthonormalised()
    case.model.truncated(1)
    case.model.transformed(2 * np.eye(R))
    case.model.residual(case.new)
    for name, value in before.items():
        assert_array_equal(getattr(case.model, name), value)


def test_models_of_different_kernels_are_not_compared(rng):
    X, coef = rng.standard_normal((5, 2)), rng.standard_normal((2, 5))
    with pytest.raises(ValueError, match=r"different kernels.*gamma=0\.5.*gamma=0\.6"):
        make(RBF(0.5), X, coef).inner(make(RBF(0.6), X, coef))


# -- storage and precision -------------------------------------------------------------------------


def test_sparse_points_stay_sparse_and_give_the_same(rng):
    points = sp.random(15, 6, 0.4, format="csr", random_state=0)
    coef = rng.standard_normal((3, 15))
    sparse, dense = make(RBF(0.5), points, coef), make(RBF(0.5), points.toarray(), coef)
    new = sp.random(5, 6, 0.5, format="csr", random_state=1)
    assert sp.issparse(sparse.orthonormalised().points)
    for rows in (new, new.toarray()):
        assert_allclose(sparse.project(rows), dense.project(new.toarray()), atol=1e-12)
        assert_allclose(sparse.residual(rows), dense.residual(new.toarray()), atol=1e-12)


def test_dense_points_and_sparse_rows(rng):
    points, new = rng.standard_normal((15, 6)) + 1, sp.random(5, 6, 0.5, format="csr", random_state=1)
    model = make(RBF(0.5), points, rng.standard_normal((3, 15)))
    assert_allclose(model.project(new), model.project(new.toarray()), atol=1e-12)


@pytest.mark.parametrize("points_dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows_dtype", [np.float64, np.float32])
def test_scores_have_the_precision_of_the_rows(points_dtype, rows_dtype, rng):
    points, new = rng.standard_normal((15, 4)), rng.standard_normal((6, 4))
    coef = rng.standard_normal((3, 15))
    expected = make(RBF(0.5), points, coef).project(new)
    got = make(RBF(0.5), points.astype(points_dtype), coef).project(new.astype(rows_dtype))
    assert got.dtype == rows_dtype
    assert_allclose(got, expected, atol=1e-12 if points_dtype == rows_dtype == np.float64 else 1e-5)


def test_whole_numbers_as_points(rng):
    points, new = rng.integers(0, 9, (15, 4)), rng.integers(0, 9, (6, 4))
    coef = rng.standard_normal((3, 15))
    real = make(RBF(0.05), points.astype(float), coef)
    assert_allclose(make(RBF(0.05), points, coef).project(new), real.project(new.astype(float)), rtol=1e-12)


def test_precomputed_points_are_columns(rng):
    X, new = rng.standard_normal((M, 3)), rng.standard_normal((5, 3))
    known = make(RBF(0.5), X, rng.standard_normal((R, M)), naive.equal_weights(M))
    model = replace(known, points=np.arange(M), kernel=Precomputed())
    K = naive.rbf_matrix(new, X, 0.5)
    assert_allclose(model.project(K), known.project(new), atol=1e-12)
    assert_allclose(model.residual(K, np.ones(5)), known.residual(new), atol=1e-11)
    with pytest.raises(ValueError, match="Pass the kernel itself"):
        model.residual(K)
    with pytest.raises(ValueError, match="precomputed"):
        model.inner(model)


def test_pickling_drops_what_can_be_made_again(case):
    before = pickle.dumps(case.model)
    scores = case.model.project(case.new)
    _ = case.model.gram_inverse
    assert len(pickle.dumps(case.model)) == len(before)
    again = pickle.loads(pickle.dumps(case.model))
    assert np.array_equal(again.project(case.new), scores)
    assert np.array_equal(again.residual(case.new), case.model.residual(case.new))
    assert again.kernel == case.model.kernel


def test_it_is_frozen_and_says_what_it_is(case):
    with pytest.raises(AttributeError):
        case.model.coef = None
    text = repr(case.model)
    assert f"{R} components on {M} points" in text
    assert "Polynomial" in text
    assert (case.model.n_components, case.model.n_points) == (R, M)


def test_projection_needs_one_tile_of_memory(rng):
    points, X = rng.standard_normal((1000, 3)), rng.standard_normal((16000, 3))
    model = make(Linear(), points, rng.standard_normal((2, 1000)), naive.equal_weights(1000))
    model = replace(model, kernel=RBF(0.5))
    model.project(X[:2])  # compiles, and prepares the points
    tracemalloc.start()
    try:
        model.project(X)
        projecting = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        model.residual(X)
        residual = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(X) * len(points) * 8 > 3 * TILE_BYTES
    assert projecting < 1.3 * TILE_BYTES
    assert residual < 1.3 * TILE_BYTES


@pytest.mark.parametrize("r", [1, 3, 11])
def test_a_fitted_expansion_is_the_textbook_one(r, rng):
    X, new = rng.standard_normal((12, 4)), rng.standard_normal((5, 4))
    K, K_new = (naive.matrix(naive.rbf(0.3), Z, X) for Z in (X, new))
    model = KernelPCA(r, kernel="rbf", gamma=0.3).fit(X).expansion_
    assert_allclose(np.abs(model.project(new)), np.abs(naive.project(K_new, K, r)), atol=1e-9)
    assert_allclose(model.residual(new), naive.residual(K_new, np.ones(5), K, r), atol=1e-10)
    assert_allclose(model.coef @ K @ model.coef.T, np.eye(r), atol=1e-10)
    assert_allclose(model.gram, np.eye(r), atol=1e-12)
    assert_allclose(model.offset, model.coef @ K @ model.nu, atol=1e-12)
    assert_allclose(model.coef.sum(axis=1), 0, atol=1e-12)  # centred coefficients
    assert model.mean_norm == pytest.approx(K.mean(), rel=1e-12)
    assert model.trace == pytest.approx(naive.trace(naive.centred(K)), rel=1e-12)
    assert model.n_seen == 12
