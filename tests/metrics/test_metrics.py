"""Metrics: each against a plain twin, at its bounds, and on what could fool it."""

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mercer import KernelPCA, OnlineRobustKernelPCA, metrics
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear, Polynomial, Sigmoid
from mercer.kernels.tiles import PointBlocks
from mercer.kernels.user_given import Precomputed
from mercer.metrics import centred_kernel
from textbook import metrics as naive
from textbook.preimage import kernel_pca

QUADRATIC = Polynomial(1.0, 1.0, 2.0)  # its features are known explicitly
DATA = Path(os.environ.get("MERCER_DATA", Path(__file__).parents[3] / "shared" / "data"))
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25, deadline=None)


def cloud(seed, n=20, d=3):
    return np.random.default_rng(seed).standard_normal((n, d))


def fitted(X, kernel, r, *, center=True):
    coef, offset, values, nu, norm = kernel_pca(kernel(X).astype(float), r, center=center)
    mean = {"nu": nu, "mean_norm": norm} if center else {}
    return Expansion(X, coef, offset, values, kernel, X.shape[0], np.eye(len(values)), **mean)


def random_model(X, kernel, r, seed):
    """Return a model with any components at all, its gram matrix wrongly claimed to be the identity."""
    coef = np.random.default_rng(seed).standard_normal((r, len(X)))
    K = kernel(X)
    nu = np.full(len(X), 1.0 / len(X))
    return Expansion(X, coef, coef @ K @ nu, np.ones(r), kernel, len(X), np.eye(r), nu, float(nu @ K @ nu))


def rotated(model, angle):
    """Return the model's first component turned towards its last one, which is then left out."""
    matrix = np.eye(model.n_components - 1, model.n_components)
    matrix[0, 0], matrix[0, -1] = np.cos(angle), np.sin(angle)
    return model.transformed(matrix)


# --- subspace_distance


@quick
@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_distance_equals_that_of_explicit_features(seed, r, s):
    X, Y = cloud(seed, 9), cloud(seed + 1, 7)
    a, b = random_model(X, QUADRATIC, r, seed), random_model(Y, QUADRATIC, s, seed + 2)
    p = min(r, s)
    A, B = a.coef[:p] @ naive.quadratic_features(X), b.coef[:p] @ naive.quadratic_features(Y)
    want = naive.subspace_distance(A, B)
    assert metrics.subspace_distance(a, b) == pytest.approx(want, abs=1e-6)
    assert metrics.subspace_distance(b, a) == pytest.approx(want, abs=1e-6)
    assert want <= np.sqrt(p) * np.pi / 2 + 1e-12


@quick
@given(seeds, st.sampled_from([RBF(0.3), QUADRATIC, Linear()]))
def test_distance_of_a_subspace_from_itself_is_zero(seed, kernel):
    model = fitted(cloud(seed), kernel, 3)
    mixed = model.transformed(np.random.default_rng(seed).standard_normal((3, 3)) + 3.0 * np.eye(3))
    assert metrics.subspace_distance(model, model) <= 1e-12
    assert metrics.subspace_distance(model, mixed) <= 1e-9


def test_zero_across_different_points_is_zero_to_the_root_of_rounding():
    model = fitted(cloud(0, 40), RBF(0.3), 4)
    order = np.random.default_rng(1).permutation(40)
    moved = replace(model, points=model.points[order], coef=model.coef[:, order], nu=model.nu[order])
    assert metrics.subspace_distance(model, moved) <= 2e-7


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-6, 1e-3, 0.3, 0.8, 1.5, np.pi / 2 - 1e-9, np.pi / 2])
def test_known_angles_are_found_however_small(angle):
    model = fitted(cloud(2, 40), RBF(0.3), 5)
    turned = rotated(model, angle)
    got = metrics.subspace_distance(model.truncated(4), turned)
    assert got == pytest.approx(angle, rel=1e-7 if angle < 0.1 else 1e-11, abs=1e-13)
    assert metrics.subspace_distance(turned, model.truncated(4)) == pytest.approx(angle, rel=1e-7, abs=1e-13)


@pytest.mark.parametrize("angle", [1e-4, 0.3, 1.5])
def test_known_angles_across_different_points(angle):
    model = fitted(cloud(3, 40), RBF(0.3), 5)
    turned = rotated(model, angle)
    order = np.random.default_rng(4).permutation(40)
    moved = replace(turned, points=turned.points[order], coef=turned.coef[:, order], nu=turned.nu[order])
    assert metrics.subspace_distance(model.truncated(4), moved) == pytest.approx(angle, rel=1e-6)


def test_orthogonal_subspaces_reach_the_bound():
    model = fitted(cloud(5, 30), RBF(0.3), 6)
    first, last = model.truncated(3), model.transformed(np.eye(6)[3:])
    assert metrics.subspace_distance(first, last) == pytest.approx(np.sqrt(3) * np.pi / 2)


def test_leading_components_are_compared_and_a_lost_dimension_counts():
    model = fitted(cloud(6, 30), RBF(0.3), 6)
    assert metrics.subspace_distance(model, model.truncated(2)) <= 1e-9
    assert metrics.subspace_distance(model, model.truncated(4), n_components=3) <= 1e-9
    twice = model.transformed(np.eye(6)[[0, 1, 1]])
    assert metrics.subspace_distance(model.truncated(3), twice) == pytest.approx(np.pi / 2)
    with pytest.raises(ValueError, match=r"n_components=5.*6 and 4"):
        metrics.subspace_distance(model, model.truncated(4), n_components=5)


def test_single_precision_points_are_compared_in_double():
    X = cloud(7, 40).astype(np.float32)
    model = fitted(X.astype(float), RBF(0.3), 4)
    single = replace(model, points=X)
    assert metrics.subspace_distance(model, single) <= 1e-9


def test_empty_and_constant_models_have_no_distance():
    model = fitted(cloud(8), RBF(0.3), 3)
    nothing = model.truncated(0)
    assert metrics.subspace_distance(nothing, nothing) == 0.0
    zero = replace(model, coef=np.zeros_like(model.coef))
    assert metrics.subspace_distance(zero, zero) == 0.0
    assert metrics.subspace_distance(model, zero) == pytest.approx(np.sqrt(3) * np.pi / 2)


def test_sparse_points_and_fitted_estimators_will_do():
    X = np.maximum(cloud(9, 30, 5), 0.0)
    model = fitted(X, RBF(0.3), 4)
    thin = replace(model, points=sp.csr_matrix(X))
    assert metrics.subspace_distance(SimpleNamespace(expansion_=model), thin) <= 2e-7
    assert metrics.subspace_distance(rotated(thin, 1e-10), thin.truncated(3)) == pytest.approx(1e-10, rel=1e-3)


def test_unfitted_and_incomparable_models_are_refused():
    model = fitted(cloud(10), RBF(0.3), 2)
    with pytest.raises(TypeError, match=r"SimpleNamespace.*fit"):
        metrics.subspace_distance(model, SimpleNamespace())
    with pytest.raises(ValueError, match=r"different kernels"):
        metrics.subspace_distance(model, replace(model, kernel=RBF(0.4)))


# --- reconstruction errors


@quick
@given(seeds, st.sampled_from([RBF(0.3), QUADRATIC, Linear()]), st.booleans(), st.booleans())
def test_error_equals_the_formula_entry_by_entry(seed, kernel, center, training):
    X = cloud(seed, 12)
    model = fitted(X, kernel, 3, center=center)
    new = X if training else cloud(seed + 1, 9)
    means = kernel(new, X) @ model.nu if center else np.zeros(len(new))
    K = naive.centred(kernel(new), means, model.mean_norm)
    Y = model.project(new)
    want = naive.reconstruction_error(K, Y)
    got = metrics.kernel_reconstruction_error(model, new)
    assert got == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert metrics.kernel_reconstruction_error(model, new, scores=Y) == pytest.approx(got)
    least = naive.minimal_error(K, 3)
    assume(least > 1e-5 * np.linalg.norm(K))
    assert metrics.excess_reconstruction_error(model, new) == pytest.approx(want / least - 1.0, rel=1e-5, abs=1e-6)


def test_long_components_count_as_error():
    X = cloud(11, 15)
    model = fitted(X, RBF(0.3), 3)
    assert metrics.kernel_reconstruction_error(model.transformed(2.0 * np.eye(3)), X) > 2.0 * (
        metrics.kernel_reconstruction_error(model, X)
    )


def test_many_tiles_and_threads_give_the_same_sum(monkeypatch):
    monkeypatch.setattr(centred_kernel, "available_threads", lambda: 2)
    X = cloud(12, 1500, 2)
    model = fitted(X[:50], RBF(0.3), 3)
    K = RBF(0.3)(X)
    means = RBF(0.3)(X, X[:50]) @ model.nu
    Y = model.project(X)
    want = np.linalg.norm(K - means[:, None] - means + model.mean_norm - Y @ Y.T)
    assert metrics.kernel_reconstruction_error(model, X) == pytest.approx(want, rel=1e-10)


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear(), Sigmoid(0.5, -1.0)])
@pytest.mark.parametrize("center", [True, False])
def test_minimal_error_is_what_the_eigenvalues_leave(kernel, center):
    X = cloud(13, 60, 8)
    K = kernel(X)
    means = K.mean(axis=1) if center else np.zeros(60)
    want = naive.minimal_error(naive.centred(K, means, means.mean()), 4)
    got = metrics.minimal_reconstruction_error(X, kernel, 4, center=center)
    assert got == pytest.approx(want, rel=1e-9)


def test_large_problems_agree_with_the_dense_answer(monkeypatch):
    X = cloud(14, 700, 3)
    want = metrics.minimal_reconstruction_error(X, RBF(0.5), 10)
    monkeypatch.setattr(centred_kernel, "_DENSE_ROWS", 100)
    assert metrics.minimal_reconstruction_error(X, RBF(0.5), 10) == pytest.approx(want, rel=1e-12)


def test_exact_models_have_no_excess_and_others_have_theirs():
    X = cloud(15, 50)
    model = fitted(X, RBF(0.5), 5)
    least = metrics.minimal_reconstruction_error(X, RBF(0.5), 5)
    assert metrics.excess_reconstruction_error(model, X) == pytest.approx(0.0, abs=1e-10)
    assert metrics.excess_reconstruction_error(model, X, minimal=least) == pytest.approx(0.0, abs=1e-10)
    assert metrics.excess_reconstruction_error(rotated(fitted(X, RBF(0.5), 6), 0.3), X, minimal=least) > 1e-3


def test_excess_is_defined_where_nothing_is_left_over():
    X = cloud(16, 20, 2)
    model = fitted(X, Linear(), 2)
    assert metrics.excess_reconstruction_error(model, X) == 0.0
    assert metrics.excess_reconstruction_error(model.transformed(0.9 * np.eye(2)), X) == np.inf


def test_precomputed_kernels_are_measured_on_their_matrix():
    X = cloud(17, 30)
    K = RBF(0.4)(X)
    model = fitted(X, RBF(0.4), 3)
    blind = replace(model, kernel=Precomputed(), points=np.arange(30))
    for measure in (metrics.kernel_reconstruction_error, metrics.total_explained_variation):
        assert measure(blind, K) == pytest.approx(measure(model, X))
    least = metrics.minimal_reconstruction_error(X, RBF(0.4), 3)
    assert metrics.minimal_reconstruction_error(K, Precomputed(), 3) == pytest.approx(least)
    assert metrics.excess_reconstruction_error(blind, K) == pytest.approx(0.0, abs=1e-10)
    with pytest.raises(ValueError, match=r"square.*\(5, 30\)"):
        metrics.kernel_reconstruction_error(blind, K[:5])


def test_sparse_rows_give_the_dense_errors():
    X = np.maximum(cloud(18, 30, 5), 0.0)
    model = fitted(X, RBF(0.3), 4)
    thin = replace(model, points=sp.csr_matrix(X))
    for measure in (
        metrics.kernel_reconstruction_error,
        metrics.excess_reconstruction_error,
        metrics.total_explained_variation,
    ):
        assert measure(thin, sp.csr_matrix(X)) == pytest.approx(measure(model, X), abs=1e-9)


def test_memory_stays_at_tiles(monkeypatch):
    """The error is summed without ever asking for a block as large as the matrix."""
    largest = 0
    between = PointBlocks.between

    def watched(self, rows, columns, out):
        nonlocal largest
        largest = max(largest, out.size)
        between(self, rows, columns, out)

    monkeypatch.setattr(PointBlocks, "between", watched)
    X = cloud(19, 2000, 2)
    metrics.kernel_reconstruction_error(fitted(X[:20], RBF(0.3), 2), X)
    assert 0 < largest <= 800 * 800


def test_gaps_and_other_columns_are_told(rng):
    X = rng.standard_normal((20, 3))
    model = KernelPCA(2).fit(X)
    with pytest.raises(ValueError, match="3 and 2 features cannot be compared"):
        metrics.subspace_distance(model, KernelPCA(2).fit(X[:, :2]))
    for bad in (np.nan, np.inf):
        X[3, 1] = bad
        for rows in (X, X.tolist(), sp.csr_matrix(X)):
            for measure in (
                metrics.kernel_reconstruction_error,
                metrics.excess_reconstruction_error,
                metrics.total_explained_variation,
            ):
                with pytest.raises(ValueError, match="X contains NaN or infinity"):
                    measure(model, rows)


def test_wrong_inputs_are_explained():
    X = cloud(20)
    model = fitted(X, RBF(0.3), 2)
    for measure in (
        metrics.kernel_reconstruction_error,
        metrics.excess_reconstruction_error,
        metrics.total_explained_variation,
    ):
        with pytest.raises(ValueError, match=r"5 features.*3"):
            measure(model, np.zeros((4, 5)))
        with pytest.raises(ValueError, match=r"at least one row.*\(0, 3\)"):
            measure(model, np.zeros((0, 3)))
        with pytest.raises(TypeError, match=r"fit first"):
            measure(object(), X)
    with pytest.raises(ValueError, match=r"20 rows"):
        metrics.kernel_reconstruction_error(model, X, scores=np.zeros((3, 2)))
    with pytest.raises(TypeError, match=r"kernel object.*'rbf'"):
        metrics.minimal_reconstruction_error(X, "rbf", 2)
    with pytest.raises(ValueError, match=r"at least 1"):
        metrics.minimal_reconstruction_error(X, RBF(1.0), 0)
    assert isinstance(model.kernel, Kernel)


# --- total_explained_variation


@quick
@given(seeds, st.integers(1, 4), st.booleans())
def test_variation_equals_that_of_explicit_features(seed, r, dependent):
    X, new = cloud(seed, 9), 0.5 + 2.0 * cloud(seed + 1, 12)
    model = random_model(X, QUADRATIC, r, seed)
    if dependent:
        model = replace(model, coef=np.vstack([model.coef[:-1], model.coef[:1]]))
        model = replace(model, offset=model.coef @ QUADRATIC(X) @ model.nu)
    want = naive.explained_variation(model.coef @ naive.quadratic_features(X), naive.quadratic_features(new))
    assert metrics.total_explained_variation(model, new) == pytest.approx(want, rel=1e-6)


def test_the_best_components_explain_everything_and_no_others_more():
    X = cloud(21, 60)
    model = fitted(X, RBF(0.3), 5)
    assert metrics.total_explained_variation(model, X) == pytest.approx(100.0)
    for cheat in (10.0 * np.eye(5), np.eye(5)[[0, 0, 0, 0, 0]], np.ones((5, 5))):
        long = replace(model.transformed(cheat), gram=np.eye(5))
        assert metrics.total_explained_variation(long, X) <= 100.0 + 1e-9


def test_the_reference_may_be_a_model_or_a_number():
    X, noisy = cloud(22, 50), cloud(22, 50) + 0.5 * cloud(23, 50)
    model, best = fitted(noisy, RBF(0.3), 4), fitted(X, RBF(0.3), 6)
    want = metrics.total_explained_variation(model, X)
    assert 50.0 < want < 100.0
    assert metrics.total_explained_variation(model, X, best) == pytest.approx(want)
    assert metrics.total_explained_variation(model, X, best.eigenvalues[:4].sum()) == pytest.approx(want)
    with pytest.raises(ValueError, match=r"2 components.*4"):
        metrics.total_explained_variation(model, X, best.truncated(2))


def test_rows_without_variation_are_refused():
    model = fitted(cloud(24), RBF(0.3), 2)
    with pytest.raises(ValueError, match=r"nothing to explain"):
        metrics.total_explained_variation(model, np.ones((1, 3)))


# --- variation_of_information

labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40)


@quick
@given(labels)
def test_information_equals_its_twin_and_is_a_metric(pairs):
    a, b = zip(*pairs, strict=True)
    got = metrics.variation_of_information(a, b)
    assert got == pytest.approx(naive.variation_of_information(a, b), abs=1e-12)
    assert got == pytest.approx(metrics.variation_of_information(b, a), abs=1e-12)
    assert -1e-15 <= got <= np.log(len(a)) + 1e-12
    third = [x % 2 for x in a]
    through = metrics.variation_of_information(a, third) + metrics.variation_of_information(third, b)
    assert got <= through + 1e-12


def test_names_of_labels_do_not_matter():
    assert metrics.variation_of_information([0, 0, 1, 2], ["b", "b", "c", "a"]) == 0.0
    assert metrics.variation_of_information(np.array([1.5, 2.5]), ["x", "x"]) == pytest.approx(np.log(2))


def test_bad_labels_are_explained():
    with pytest.raises(ValueError, match=r"one length.*\(2,\) and \(3,\)"):
        metrics.variation_of_information([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match=r"empty"):
        metrics.variation_of_information([], [])
    with pytest.raises(ValueError, match=r"one length"):
        metrics.variation_of_information([[0, 1]], [[0, 1]])


def test_random_clustering_of_usps_has_the_published_value():
    """[guenter2006, sec. 5.3]: 4.54 is random performance: twice the entropy of the classes, in nats."""
    if not (DATA / "usps.npz").is_file():
        pytest.skip("the USPS digits are not here; MERCER_DATA names their folder")
    y = np.load(DATA / "usps.npz")["y"]
    entropy = metrics.variation_of_information(y, np.zeros(len(y)))
    assert entropy == pytest.approx(2.27, abs=0.005)
    shuffled = np.random.default_rng(0).permutation(y)
    assert metrics.variation_of_information(y, shuffled) == pytest.approx(4.54, abs=0.02)


# --- snr


@quick
@given(seeds, st.integers(2, 30))
def test_snr_equals_its_twin(seed, n):
    rng = np.random.default_rng(seed)
    s, e = rng.standard_normal(n) + 5.0, rng.standard_normal(n)
    assert metrics.snr(s, e) == pytest.approx(naive.snr(s, e))
    assert metrics.snr(s.reshape(1, -1), e.reshape(1, -1)) == pytest.approx(naive.snr(s, e))


def test_snr_at_its_ends():
    signal = np.arange(12, dtype=np.uint8)
    assert metrics.snr(signal, signal) == np.inf
    assert metrics.snr(np.ones(3), np.ones(3)) == np.inf
    assert metrics.snr(np.ones(3), np.zeros(3)) == -np.inf
    assert np.isnan(metrics.snr([1.0, np.nan], [1.0, 2.0]))
    assert np.isnan(metrics.snr([1.0, 2.0], [1.0, np.nan]))
    assert metrics.snr(signal, np.full(12, signal.mean())) == pytest.approx(0.0)
    assert metrics.snr(signal, signal[::-1]) == pytest.approx(metrics.snr(1e150 * signal, 1e150 * signal[::-1]))
    with pytest.raises(ValueError, match=r"\(3,\) and \(4,\)"):
        metrics.snr(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match=r"empty"):
        metrics.snr([], [])


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e200, 1e307])
def test_snr_does_not_depend_on_the_unit(scale):
    signal, estimate = np.arange(5.0), np.array([0.1, 1.0, 1.9, 3.0, 4.2])
    assert metrics.snr(signal * scale, estimate * scale) == pytest.approx(metrics.snr(signal, estimate), rel=1e-9)


def test_models_of_an_empirical_map_have_no_errors_of_the_kernel_matrix(rng):
    X = rng.standard_normal((60, 3))
    model = OnlineRobustKernelPCA(2, gamma=0.1, landmarks=X[:20], feature_map="empirical").fit(X)
    exact = KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    for measure in (
        metrics.kernel_reconstruction_error,
        metrics.excess_reconstruction_error,
        metrics.total_explained_variation,
    ):
        with pytest.raises(ValueError, match="feature_map='whitened'"):
            measure(model, X)
    with pytest.raises(ValueError, match="feature_map='whitened'"):
        metrics.total_explained_variation(exact, X, reference=model)


def test_measures_of_inner_products_keep_their_digits_far_from_the_origin():
    X = cloud(0, 60, 5) * [5.0, 3.0, 2.0, 1.0, 0.5]
    near, far = (KernelPCA(2).fit(rows) for rows in (X, X + 1e8))
    expected = metrics.kernel_reconstruction_error(near, X)
    np.testing.assert_allclose(metrics.kernel_reconstruction_error(far, X + 1e8), expected, rtol=1e-6)
    np.testing.assert_allclose(metrics.minimal_reconstruction_error(X + 1e8, Linear(), 2), expected, rtol=1e-6)
    np.testing.assert_allclose(metrics.total_explained_variation(far, X + 1e8), 100.0, rtol=1e-6)
