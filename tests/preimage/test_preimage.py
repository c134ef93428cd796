"""Pre-images: every method against its formula, on rows it must return, and on inputs meant to break it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from threadpoolctl import threadpool_info, threadpool_limits

from mercer import KernelPCA
from mercer.errors import PreImageWarning
from mercer.expansion.model import Expansion
from mercer.kernels.distance import RBF, Chi2, Laplacian
from mercer.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels.resolve import median_gamma
from mercer.kernels.user_given import PairFunction, Precomputed
from mercer.preimage import gradient, kernel_gradients, kwok, mika
from mercer.preimage.anchors import best_start, nearest
from mercer.preimage.methods import (
    METHODS,
    Anchors,
    RidgeMap,
    automatic_method,
    feature_residual,
    find_preimages,
)
from textbook import preimage as naive

SMOOTH = [
    RBF(0.4),
    Polynomial(0.3, 1.0, 3.0),
    Polynomial(0.5, 2.0, 2.0),
    Sigmoid(0.2, 0.1),
    Cosine(),
    Linear(),
]
ITERATIVE = ["mika", "gradient"]
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=20, deadline=None)


def fitted(X, kernel, r, *, center=True):
    """Return a kernel PCA model and its training rows as anchors."""
    coef, offset, values, nu, norm = naive.kernel_pca(kernel(X).astype(float), r, center=center)
    mean = {"nu": nu, "mean_norm": norm} if center else {}
    model = Expansion(X, coef, offset, values, kernel, X.shape[0], np.eye(len(values)), **mean)
    return model, Anchors(X, model.project(X).astype(float))


def cloud(seed, n=30, d=4):
    return np.random.default_rng(seed).standard_normal((n, d))


def skewed(model, seed):
    """Return the same subspace with components that are not orthonormal, and depend on one another."""
    r = model.n_components
    matrix = np.random.default_rng(seed).standard_normal((r + 1, r))
    matrix[-1] = matrix[0]
    return model.transformed(matrix)


# --- the distance in feature space


@quick
@given(seeds, st.sampled_from(SMOOTH), st.booleans(), st.booleans())
def test_residual_equals_the_formula_with_the_whole_matrix(seed, kernel, center, skew):
    X = cloud(seed, 12, 3)
    model, _ = fitted(X, kernel, 4, center=center)
    model = skewed(model, seed) if skew else model
    Z = cloud(seed + 1, 3, 3)
    scores = model.project(cloud(seed + 2, 3, 3))
    nu = model.nu if center else np.zeros(len(X))

    def k(a, b):
        return float(kernel(a[None], b[None])[0, 0])

    want = [naive.residual(k, X, model.coef, model.gram, nu, y, z) for y, z in zip(scores, Z, strict=True)]
    got = feature_residual(model, scores, Z)
    scale = max(1.0, float(np.abs(kernel.diagonal(np.vstack([X, Z]))).max()))
    np.testing.assert_allclose(got, np.maximum(want, 0.0), atol=1e-7 * scale)


def test_residual_of_own_projection_is_the_distance_from_the_subspace():
    model, _ = fitted(cloud(0), RBF(0.3), 6)
    Z = cloud(1)
    np.testing.assert_allclose(feature_residual(model, model.project(Z), Z), model.residual(Z), atol=1e-12)


# --- neighbours


def test_nearest_anchors_are_those_of_brute_force():
    X = cloud(3, 40, 3)
    model, anchors = fitted(X, RBF(0.5), 5)
    scores = model.project(cloud(4, 7, 3))
    near, squared = nearest(model, scores, anchors, 4, len(X))
    all_squared = np.array([feature_residual(model, np.tile(y, (len(X), 1)), X) for y in scores])
    np.testing.assert_array_equal(near, np.argsort(all_squared, axis=1)[:, :4])
    np.testing.assert_allclose(squared, np.sort(all_squared, axis=1)[:, :4], atol=1e-12)


def test_neighbours_do_not_depend_on_the_basis_of_the_subspace():
    model, anchors = fitted(cloud(5, 40, 3), RBF(0.5), 5)
    other = skewed(model, 6)
    Z = cloud(7, 6, 3)
    near, _ = nearest(model, model.project(Z), anchors, 3, 6)
    again, _ = nearest(other, other.project(Z), Anchors(anchors.points, other.project(anchors.points)), 3, 6)
    np.testing.assert_array_equal(near, again)


# --- a training row is its own pre-image


@pytest.mark.parametrize(
    ("method", "options", "tolerance"),
    [
        ("mika", {}, 1e-6),
        ("gradient", {}, 1e-6),
        ("kwok", {"n_neighbors": 12}, 1e-6),
        ("ridge", {"alpha": 1e-9}, 1e-5),
        ("auto", {}, 1e-6),
    ],
)
@pytest.mark.parametrize("skew", [False, True])
def test_all_components_give_the_training_row_back(method, options, tolerance, skew):
    X = cloud(8, 25, 3)
    model, _ = fitted(X, RBF(0.7), len(X))
    model = skewed(model, 9) if skew else model
    scores = model.project(X)
    Z = find_preimages(method, model, scores, Anchors(X, scores), **options)
    np.testing.assert_allclose(Z, X, atol=tolerance)


@pytest.mark.parametrize("method", ["gradient", "kwok", "auto"])
@pytest.mark.parametrize("kernel", [Polynomial(0.3, 1.0, 3.0), Linear()])
def test_other_kernels_give_the_training_row_back(method, kernel):
    X = cloud(10, 60, 3)
    model, anchors = fitted(X, kernel, len(X))
    Z = find_preimages(method, model, anchors.scores, anchors)
    np.testing.assert_allclose(Z, X, atol=2e-5)


# --- ridge


@pytest.mark.parametrize("alpha", [1.0, 1e-3])
@pytest.mark.parametrize(
    ("name", "kernel"), [("rbf", RBF(0.3)), ("poly", Polynomial(0.3, 1.0, 3)), ("linear", Linear())]
)
def test_ridge_is_that_of_scikit_learn(name, kernel, alpha):
    X = cloud(11, 40, 3)
    peer = SklearnKernelPCA(5, kernel=name, gamma=0.3, fit_inverse_transform=True, alpha=alpha).fit(X)
    fit = RidgeMap.fit(peer.X_transformed_fit_, X, kernel, alpha)
    np.testing.assert_allclose(fit.dual_coef, peer.dual_coef_, rtol=1e-7, atol=1e-9)
    scores = peer.transform(cloud(12, 9, 3))
    np.testing.assert_allclose(fit(scores), peer.inverse_transform(scores), rtol=1e-7, atol=1e-9)


def test_ridge_equals_its_twin():
    S, X, new = cloud(13, 8, 2), cloud(14, 8, 3), cloud(15, 4, 2)
    want = [naive.ridge(lambda a, b: naive.rbf(a, b, 0.5), S, X, 0.1, s) for s in new]
    np.testing.assert_allclose(RidgeMap.fit(S, X, RBF(0.5), 0.1)(new), want, atol=1e-12)


def test_singular_ridge_warns_and_takes_least_squares():
    S = np.repeat(cloud(16, 5, 2), 2, axis=0)
    X = np.repeat(cloud(17, 5, 3), 2, axis=0)
    with pytest.warns(PreImageWarning, match=r"alpha"):
        fit = RidgeMap.fit(S, X, RBF(0.5), alpha=0.0)
    np.testing.assert_allclose(fit(S), X, atol=1e-8)


def test_ridge_says_that_kernel_values_of_scores_overflow():
    S = 1e4 * cloud(16, 9, 2)
    with pytest.raises(ValueError, match="Kernel values of the scores are not finite"):
        RidgeMap.fit(S, cloud(17, 9, 3), Polynomial(1.0, 1.0, 50))


def test_ridge_with_an_indefinite_kernel_solves_its_equations():
    S, X = cloud(18, 12, 3), cloud(19, 12, 2)
    kernel = Sigmoid(1.0, -1.0)
    with pytest.warns(PreImageWarning):
        fit = RidgeMap.fit(S, X, kernel, alpha=0.05)
    np.testing.assert_allclose((kernel(S) + 0.05 * np.eye(12)) @ fit.dual_coef, X, atol=1e-8)


# --- mika


def test_one_unguarded_step_equals_the_twin():
    X = cloud(20, 20, 3)
    model, anchors = fitted(X, RBF(0.2), 3)
    scores = model.project(X[:5] + 0.1)
    start = best_start(model, scores, anchors, 10)
    got = find_preimages("mika", model, scores, anchors, max_iter=1)
    g = model.reconstruct(scores)
    want = [naive.mika_step(X, g[i], start[i], 0.2) for i in range(5)]
    np.testing.assert_allclose(got, want, atol=1e-12)


def test_the_end_is_a_fixed_point():
    X = cloud(21, 50, 3)
    model, anchors = fitted(X, RBF(0.2), 5)
    scores = model.project(X + 0.3 * cloud(22, 50, 3))
    Z = find_preimages("mika", model, scores, anchors, max_iter=2000, tol=1e-9)
    g = model.reconstruct(scores)
    again = [naive.mika_step(X, g[i], Z[i], 0.2) for i in range(len(Z))]
    np.testing.assert_allclose(Z, again, atol=1e-6)


def test_the_distance_never_grows_from_step_to_step():
    X = cloud(23, 40, 2)
    model, anchors = fitted(X, RBF(3.0), 10)
    scores = 3.0 * model.project(cloud(24, 20, 2))  # exaggerated: signs of the weights differ strongly
    last = feature_residual(model, scores, best_start(model, scores, anchors, 10))
    for looks in range(1, 25):
        new = feature_residual(model, scores, find_preimages("mika", model, scores, anchors, max_iter=looks))
        assert (new <= last + 1e-12).all()
        last = new


def combination(X, gamma, weights):
    """Return a model and scores for which P is any given combination of the points, far from every image."""
    inner = weights @ RBF(gamma)(X) @ weights
    model = Expansion(X, weights[None], np.zeros(1), np.ones(1), RBF(gamma), len(X), np.array([[inner]]))
    return model, np.array([[inner]]), Anchors(X, model.project(X))


@quick
@given(seeds, st.sampled_from([0.1, 1.0, 5.0]))
def test_weights_of_any_sign_lead_uphill_only(seed, gamma):
    rng = np.random.default_rng(seed)
    model, scores, anchors = combination(rng.standard_normal((8, 2)), gamma, rng.standard_normal(8))
    last = feature_residual(model, scores, best_start(model, scores, anchors, 10))
    for looks in (1, 2, 3, 5, 10, 50):
        Z = find_preimages("mika", model, scores, anchors, max_iter=looks)
        new = feature_residual(model, scores, Z)
        assert np.isfinite(Z).all()
        assert new[0] <= last[0] + 1e-10 * (1.0 + scores[0, 0])
        last = new


def test_a_negative_denominator_still_leads_uphill():
    """Here f < 0 at both anchors, and the plain fixed point would go the wrong way."""
    X = np.array([[0.0], [0.3]])
    weights = np.array([1.0, -3.0])
    assert (RBF(1.0)(X) @ weights < 0).all()
    model, scores, anchors = combination(X, 1.0, weights)
    start = best_start(model, scores, anchors, 10)
    Z = find_preimages("mika", model, scores, anchors)
    assert Z[0, 0] < 0.0
    assert feature_residual(model, scores, Z)[0] < feature_residual(model, scores, start)[0] - 1.0


NASTY = {
    "far outliers": np.vstack([cloud(30), 1e6 * cloud(31, 3), -1e8 * np.ones((1, 4))]),
    "duplicates": np.repeat(cloud(32, 3), 8, axis=0),
    "one row": cloud(33, 1),
    "two rows": cloud(33, 2),
    "constant columns": np.hstack([cloud(34, 20, 1), np.full((20, 3), 7.0)]),
    "all rows equal": np.full((10, 4), 2.5),
    "far from the origin": 1e6 + cloud(35),
    "tiny": 1e-8 * cloud(36),
    "on a line": np.outer(np.arange(30.0), [1.0, 2.0, 3.0, 4.0]),
}


@pytest.mark.parametrize("gamma", [1e-8, 0.3, 1e3, 1e9])
@pytest.mark.parametrize("name", NASTY)
def test_guarded_fixed_point_survives_nasty_data(name, gamma):
    X = NASTY[name]
    model, anchors = fitted(X, RBF(gamma), 5)
    queries = np.vstack([X, X + 0.5, 100.0 * cloud(37, 3)])
    scores = model.project(queries)
    scores = np.vstack([scores, 10.0 * scores[:5], -scores[:5]])
    start = feature_residual(model, scores, best_start(model, scores, anchors, 10))
    for method in ITERATIVE:
        Z = find_preimages(method, model, scores, anchors)
        assert np.isfinite(Z).all(), method
        assert (feature_residual(model, scores, Z) <= start + 1e-9).all(), method


@pytest.mark.parametrize("gamma", [1e-8, 0.3, 1e3])
@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("method", ["kwok", "ridge"])
def test_direct_methods_stay_finite_on_nasty_data(name, gamma, method):
    X = NASTY[name]
    model, anchors = fitted(X, RBF(gamma), 5)
    scores = model.project(np.vstack([X, X + 0.5]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PreImageWarning)
        Z = find_preimages(method, model, 10.0 * scores, anchors)
    assert np.isfinite(Z).all()
    assert np.abs(Z).max() <= 1e3 * (1.0 + np.abs(X).max())


def test_gamma_zero_and_no_components_are_answered():
    X = cloud(38)
    model, anchors = fitted(X, RBF(0.0), 3)
    assert model.n_components == 0
    for method in ITERATIVE:
        assert np.isfinite(find_preimages(method, model, anchors.scores, anchors)).all()


def test_weights_without_reach_leave_the_row_where_it_is():
    """Far from every point all kernel values are zero: there is no direction, and no division by zero."""
    points = cloud(39, 5, 2)
    hill = mika.hill_of(fitted(points, RBF(1.0), 2)[0], points.mean(axis=0))
    height, step = hill.look(np.full((1, 2), 1e4), np.ones((1, 5)))
    assert height[0] == 0.0
    np.testing.assert_array_equal(step, 0.0)


# --- kwok


@quick
@given(seeds, st.integers(1, 8), st.integers(1, 6))
def test_a_point_is_located_by_true_distances(seed, k, d):
    rng = np.random.default_rng(seed)
    neighbours = rng.standard_normal((3, k, d))
    inside = np.einsum("qk,qkd->qd", rng.dirichlet(np.ones(k), 3), neighbours)
    squared = ((neighbours - inside[:, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(kwok.locate(neighbours, squared, 1e-9), inside, atol=1e-5)


@quick
@given(seeds)
def test_location_equals_its_twin(seed):
    rng = np.random.default_rng(seed)
    neighbours = rng.standard_normal((4, 6, 3))
    squared = ((neighbours - rng.standard_normal((4, 1, 3))) ** 2).sum(axis=2) * rng.uniform(0.9, 1.1, (4, 6))
    want = [naive.kwok(v, s) for v, s in zip(neighbours, squared, strict=True)]
    got = kwok.locate(neighbours, squared)
    bound = (np.linalg.norm(neighbours - neighbours.mean(1, keepdims=True), axis=2) + np.sqrt(squared)).min(axis=1)
    for value, row, reach, v in zip(got, want, bound, neighbours, strict=True):
        if np.linalg.norm(row - v.mean(axis=0)) <= reach:
            np.testing.assert_allclose(value, row, atol=1e-9)
        else:  # inconsistent distances: pulled back to where the distances allow a point at all
            assert np.linalg.norm(value - v.mean(axis=0)) <= reach * (1 + 1e-9)


def test_coinciding_neighbours_give_their_common_place():
    same = np.full((2, 5, 3), 1.5)
    np.testing.assert_allclose(kwok.locate(same, np.ones((2, 5))), 1.5)


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear(), Polynomial(0.5, 1.0, 3), Polynomial(0.5, 1.0, 2)])
def test_kernels_are_inverted_to_distances(kernel):
    X = np.abs(cloud(40, 6, 3))
    squared = ((X[:1] - X) ** 2).sum(axis=1)[None]
    K = kernel(X)
    own = np.diag(K)[None]
    feature = K[0, 0] + own - 2 * K[:1]
    got = kwok.input_distances(kernel, feature, own, K[:1, :1])
    np.testing.assert_allclose(got, squared, atol=1e-10)


def test_even_degrees_with_signs_are_refused():
    model, anchors = fitted(cloud(41), Polynomial(0.5, 1.0, 2.0), 4)
    with pytest.raises(ValueError, match=r"even degree.*gradient"):
        find_preimages("kwok", model, anchors.scores, anchors)


# --- gradient


@quick
@given(seeds, st.sampled_from(SMOOTH))
def test_derivatives_equal_finite_differences(seed, kernel):
    rng = np.random.default_rng(seed)
    points, Z, weights = rng.standard_normal((6, 3)), rng.standard_normal((2, 3)), rng.standard_normal((2, 6))
    Z += 0.3 * np.sign(Z)  # the cosine has no derivative at zero
    values, slopes = kernel_gradients.weighted_sum(kernel, Z, points, weights)
    own, own_slopes = kernel_gradients.self_value(kernel, Z)
    np.testing.assert_allclose(values, (weights * kernel(Z, points)).sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(own, kernel.diagonal(Z), atol=1e-10)
    for q in range(2):
        numeric = naive.finite_difference(lambda z, w=weights[q]: float(w @ kernel(z[None], points)[0]), Z[q])
        np.testing.assert_allclose(slopes[q], numeric, rtol=1e-5, atol=1e-6)
        numeric = naive.finite_difference(lambda z: float(kernel.diagonal(z[None])[0]), Z[q])
        np.testing.assert_allclose(own_slopes[q], numeric, rtol=1e-5, atol=1e-6)


@quick
@given(seeds, st.sampled_from(SMOOTH))
def test_the_objective_and_its_gradient_belong_together(seed, kernel):
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((6, 3)), rng.standard_normal((2, 3))
    Z += 0.3 * np.sign(Z)
    distances = gradient._Distances(kernel, X, rng.standard_normal((2, 6)), np.full(2, 50.0), np.array([3.0, 0.2]))
    values, slopes = distances(Z)
    assert (values >= 0).all()
    for q in range(2):

        def value(z, q=q):
            return distances(np.where(np.arange(2)[:, None] == q, z, Z))[0][q]

        numeric = naive.finite_difference(value, Z[q])
        np.testing.assert_allclose(slopes[q], numeric, rtol=1e-4, atol=1e-5 * (1.0 + np.abs(slopes[q]).max()))


def test_negative_squares_of_an_indefinite_kernel_count_as_zero():
    X = cloud(60, 5, 3)
    distances = gradient._Distances(Sigmoid(0.5, -1.0), X, np.ones((2, 5)), np.full(2, -100.0), np.ones(2))
    values, slopes = distances(X[:2])
    np.testing.assert_array_equal(values, 0.0)
    np.testing.assert_array_equal(slopes, 0.0)


def test_overflow_counts_as_far_away():
    X = cloud(61, 5, 3)
    distances = gradient._Distances(Polynomial(1.0, 1.0, 3.0), X, np.ones((2, 5)), np.ones(2), np.ones(2))
    values, slopes = distances(np.vstack([X[:1], np.full((1, 3), 1e120)]))
    assert np.isfinite(values).all()
    assert values[1] > 1e50
    np.testing.assert_array_equal(slopes[1], 0.0)


def test_no_row_pays_for_the_progress_of_others():
    """After very few steps the sum has fallen, but some rows have overshot: those keep their start."""
    X = cloud(62, 60, 3)
    model, anchors = fitted(X, RBF(10.0), 8)
    scores = model.project(X + 0.3 * cloud(63, 60, 3))
    start = feature_residual(model, scores, best_start(model, scores, anchors, 10))
    for steps in (1, 2, 3):
        Z = find_preimages("gradient", model, scores, anchors, max_iter=steps)
        assert (feature_residual(model, scores, Z) <= start + 1e-12).all()


@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(0.3, 1.0, 3.0), Cosine()])
def test_the_gradient_vanishes_at_the_end(kernel):
    X = cloud(42, 50, 3)
    model, anchors = fitted(X, kernel, 4)
    scores = model.project(X[:10] + 0.2)
    Z = find_preimages("gradient", model, scores, anchors, max_iter=500)
    _, slope = kernel_gradients.weighted_sum(kernel, Z, X, model.reconstruct(scores))
    _, own = kernel_gradients.self_value(kernel, Z)
    scale = kernel.diagonal(Z).mean()
    assert np.abs(own - 2 * slope).max() <= 1e-5 * scale


def test_rows_do_not_depend_on_their_company():
    X = cloud(43, 60, 3)
    model, anchors = fitted(X, Polynomial(0.3, 1.0, 3.0), 4)
    scores = model.project(X * np.linspace(0.1, 3.0, 60)[:, None])  # rows of very different size
    together = find_preimages("gradient", model, scores, anchors)
    alone = np.vstack([find_preimages("gradient", model, y[None], anchors) for y in scores])
    residuals = [feature_residual(model, scores, Z) for Z in (together, alone)]
    np.testing.assert_allclose(*residuals, rtol=1e-4, atol=1e-7 * np.median(residuals[1]))


def test_mika_and_gradient_find_the_same_distance():
    X = cloud(44, 60, 3)
    model, anchors = fitted(X, RBF(0.1), 6)
    scores = model.project(X[:20] + 0.3)
    ends = [find_preimages(m, model, scores, anchors, max_iter=3000) for m in ITERATIVE]
    np.testing.assert_allclose(*[feature_residual(model, scores, Z) for Z in ends], atol=1e-6)


def test_indefinite_kernel_stays_finite():
    X = cloud(45, 40, 3)
    model, anchors = fitted(X, Sigmoid(0.5, -1.0), 5)
    Z = find_preimages("auto", model, model.project(X + 0.2), anchors)
    assert np.abs(Z).max() < 100.0


# --- exact


@pytest.mark.parametrize("method", ["exact", "auto"])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_linear_kernel_is_pca(method, shift):
    X, new = cloud(46, 40, 6) + shift, cloud(47, 9, 6) + shift
    model, anchors = fitted(X, Linear(), 3)
    pca = PCA(3).fit(X)
    want = pca.inverse_transform(pca.transform(new))
    np.testing.assert_allclose(find_preimages(method, model, model.project(new), anchors), want, atol=1e-10)


def test_exact_does_not_depend_on_the_basis():
    X = cloud(48, 40, 6)
    model, anchors = fitted(X, Linear(), 3)
    other = skewed(model, 49)
    Z = [find_preimages("exact", m, m.project(X), anchors) for m in (model, other)]
    np.testing.assert_allclose(*Z, atol=1e-10)


def test_wavelet_kernel_reconstructs_smooth_rows():
    pytest.importorskip("pywt")
    from mercer.kernels.wavelet import Wavelet

    kernel = Wavelet("haar", 1).bind(16)
    smooth = np.repeat(cloud(50, 12, 8), 2, axis=1)  # no details: the inverse loses nothing
    model, anchors = fitted(smooth, kernel, 12)
    assert automatic_method(kernel) == "exact"
    np.testing.assert_allclose(find_preimages("auto", model, anchors.scores, anchors), smooth, atol=1e-9)


# --- choice, refusals, formats


@pytest.mark.parametrize(
    ("kernel", "want"),
    [
        (Linear(), "exact"),
        (RBF(1.0), "mika"),
        (Polynomial(), "gradient"),
        (Sigmoid(), "gradient"),
        (Cosine(), "gradient"),
        (Laplacian(1.0), "ridge"),
        (Chi2(1.0), "ridge"),
        (PairFunction(np.dot), "ridge"),
    ],
)
def test_auto_takes(kernel, want):
    assert automatic_method(kernel) == want


@pytest.mark.parametrize("kernel", [Laplacian(0.3), Chi2(0.3), PairFunction(lambda a, b: float(a[:4] @ b[:4]) ** 2)])
def test_auto_answers_for_kernels_without_derivatives(kernel):
    X = np.abs(cloud(51, 60, 4))
    model, anchors = fitted(X, kernel, 8)
    Z = find_preimages("auto", model, anchors.scores, anchors)
    assert ((Z - X) ** 2).mean() < 0.5 * X.var(axis=0).mean()


@pytest.mark.parametrize("method", ["auto", "ridge"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_for_a_kernel_without_negative_numbers_have_none(method, dtype):
    X = np.random.default_rng(64).dirichlet(np.full(5, 0.3), size=60).astype(dtype)
    model, anchors = fitted(X, Chi2(0.5), 4)
    Z = find_preimages(method, model, anchors.scores, anchors)
    assert Z.dtype == dtype
    assert Z.min() == 0.0
    assert np.isfinite(feature_residual(model, anchors.scores, Z)).all()


def test_rows_for_other_kernels_may_be_negative():
    X = cloud(65, 60, 4)
    model, anchors = fitted(X, Laplacian(0.3), 8)
    assert find_preimages("auto", model, anchors.scores, anchors).min() < 0.0


@pytest.mark.parametrize(
    ("method", "kernel"),
    [
        ("mika", Polynomial()),
        ("mika", Linear()),
        ("kwok", Cosine()),
        ("kwok", Laplacian(1.0)),
        ("gradient", Laplacian(1.0)),
        ("gradient", Chi2(1.0)),
        ("exact", RBF(1.0)),
    ],
)
def test_refusals_name_what_works(method, kernel):
    X = np.abs(cloud(52))
    model, anchors = fitted(X, kernel, 3)
    with pytest.raises(ValueError, match=f"{kernel.name}.*auto"):
        find_preimages(method, model, anchors.scores, anchors)


def test_unknown_methods_and_precomputed_kernels_are_refused():
    model, anchors = fitted(cloud(53), RBF(1.0), 3)
    with pytest.raises(ValueError, match=r"'magic'.*'auto'.*'ridge'"):
        find_preimages("magic", model, anchors.scores, anchors)
    blind = replace(model, kernel=Precomputed(), points=np.arange(model.n_points))
    for method in METHODS:
        with pytest.raises(ValueError, match=r"precomputed.*Pass the data"):
            find_preimages(method, blind, anchors.scores, anchors)


@pytest.mark.parametrize("method", ["mika", "kwok", "gradient"])
@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(0.3, 1.0, 3.0), Linear()])
def test_sparse_rows_give_the_dense_answer(method, kernel):
    if method == "mika" and not isinstance(kernel, RBF):
        pytest.skip("refused, see above")
    X = np.maximum(cloud(54, 40, 5), 0.0)
    model, anchors = fitted(X, kernel, 4)
    thin = replace(model, points=sp.csr_matrix(X))
    scores = model.project(X[:10] + 0.1)
    dense = find_preimages(method, model, scores, anchors)
    sparse = find_preimages(method, thin, scores, Anchors(sp.csr_matrix(X), anchors.scores))
    assert isinstance(sparse, np.ndarray)
    residuals = [feature_residual(model, scores, Z) for Z in (dense, sparse)]
    np.testing.assert_allclose(*residuals, rtol=1e-4, atol=1e-6)


def test_sparse_linear_is_exact_and_sparse_ridge_is_refused():
    X = np.maximum(cloud(55, 20, 5), 0.0)
    model, anchors = fitted(X, Linear(), 3)
    thin, rows = replace(model, points=sp.csr_matrix(X)), Anchors(sp.csr_matrix(X), anchors.scores)
    want = find_preimages("exact", model, anchors.scores, anchors)
    np.testing.assert_allclose(find_preimages("auto", thin, anchors.scores, rows), want, atol=1e-12)
    with pytest.raises(ValueError, match=r"dense.*toarray"):
        find_preimages("ridge", thin, anchors.scores, rows)


@pytest.mark.parametrize("method", ["mika", "kwok", "gradient", "ridge"])
def test_single_precision_stays_usable(method):
    X = cloud(56, 80, 4)
    model, anchors = fitted(X, RBF(0.2), 10)
    small = replace(model, points=X.astype(np.float32))
    scores = model.project(X)
    want = find_preimages(method, model, scores, anchors)
    few = Anchors(X.astype(np.float32), anchors.scores.astype(np.float32))
    got = find_preimages(method, small, scores.astype(np.float32), few)
    assert got.dtype == np.float32
    assert np.median(np.abs(got - want)) < 1e-2
    assert (
        feature_residual(model, scores, got.astype(float)).mean() < feature_residual(model, scores, want).mean() + 1e-4
    )


@pytest.mark.parametrize("method", ["mika", "kwok", "gradient", "ridge"])
def test_no_rows_in_no_rows_out(method):
    model, anchors = fitted(cloud(57), RBF(0.2), 3)
    assert find_preimages(method, model, np.empty((0, 3)), anchors).shape == (0, 4)


def test_small_chunks_change_nothing(monkeypatch):
    X = cloud(58, 50, 3)
    model, anchors = fitted(X, RBF(0.3), 5)
    scores = model.project(X + 0.2)
    want = {m: find_preimages(m, model, scores, anchors) for m in ("mika", "kwok")}
    for module in (mika, kwok):
        monkeypatch.setattr(module, "TILE_BYTES", 5000)
    for method, Z in want.items():
        np.testing.assert_allclose(find_preimages(method, model, scores, anchors), Z, atol=1e-6)


# --- what it is for


@pytest.fixture(scope="module")
def digits():
    """Return clean test digits, the same with noise, a model of clean training digits and its anchors."""
    rng = np.random.default_rng(0)
    X = rng.permutation(load_digits().data)
    train, clean = X[:1000], X[1000:1200]
    model, anchors = fitted(train, RBF(median_gamma(train)), 32)
    return clean, clean + 4.0 * rng.standard_normal(clean.shape), model, anchors


@pytest.mark.parametrize(
    ("method", "options", "most"),
    [
        ("mika", {}, 0.4),
        ("kwok", {}, 0.4),
        ("gradient", {}, 0.4),
        ("ridge", {"alpha": 1e-4}, 0.5),  # the default of scikit-learn, 1.0, is far too large here
    ],
)
def test_digits_lose_most_of_their_noise(digits, method, options, most):
    clean, noisy, model, anchors = digits
    Z = find_preimages(method, model, model.project(noisy), anchors, **options)
    assert ((Z - clean) ** 2).mean() <= most * ((noisy - clean) ** 2).mean()


@pytest.mark.parametrize("offset", [300.0, 1e5])
@pytest.mark.parametrize(("method", "options"), [("auto", {}), ("ridge", {"alpha": 0.01})])
def test_regressed_preimages_of_a_distance_kernel_move_with_the_rows(method, options, offset):
    X = cloud(66, 60, 3)
    (near, own), (far, moved) = (fitted(rows, Laplacian(0.1), 4) for rows in (X, X + offset))
    back = find_preimages(method, near, own.scores, own, **options)
    np.testing.assert_allclose(find_preimages(method, far, own.scores, moved, **options) - offset, back, atol=1e-6)
    assert ((back - X) ** 2).mean() < 0.5 * X.var(axis=0).mean()


@pytest.mark.parametrize(("kernel", "module"), [("rbf", mika), ("poly", gradient)])
def test_steps_of_few_rows_use_one_thread_of_blas(kernel, module, monkeypatch):
    """They are many small products: threads would wait for each other at each of them."""
    seen, steps = set(), "_climb" if kernel == "rbf" else "_descend"
    plain = getattr(module, steps)

    def watched(*args):
        seen.update(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return plain(*args)

    monkeypatch.setattr(module, steps, watched)
    X = np.random.default_rng(0).standard_normal((800, 5))
    with threadpool_limits(2):
        model = KernelPCA(3, kernel=kernel, gamma=0.1, preimage="auto").fit(X)
        model.inverse_transform(model.transform(X[:10]))
    assert seen == {1}
