"""`LandmarkKernelPCA` and its moments against textbook twins, batch models, and streams that misbehave."""

import pickle
import tracemalloc
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelPCA, LandmarkKernelPCA
from mercer.engine.moments import Moments, fading_weights
from mercer.kernels.distance import RBF
from mercer.metrics import subspace_distance
from mercer.solvers.landmark.models import solve_moments
from mercer.solvers.landmark.recent_rows import RecentRows
from mercer.solvers.landmark.stream import LandmarkPlan, LandmarkStream
from textbook.kernel_pca import rbf_matrix as rbf
from textbook.landmark_moments import landmark_kpca, moments, weighted_kpca

GAMMA = 0.2


@pytest.fixture
def X(rng) -> np.ndarray:
    return rng.standard_normal((240, 4)) * [3, 2, 1, 1] + 1


@pytest.fixture
def new(rng) -> np.ndarray:
    return rng.standard_normal((13, 4)) + 1


@pytest.fixture
def points(X) -> np.ndarray:
    return X[::8].copy()


def on(points, **more) -> LandmarkKernelPCA:
    return LandmarkKernelPCA(**{"n_components": 4, "gamma": GAMMA, "landmarks": points, "random_state": 0, **more})


def fed(model, X, size: int) -> LandmarkKernelPCA:
    for first in range(0, len(X), size):
        model.partial_fit(X[first : first + size])
    return model


def same_model(a, b, new, tol: float) -> None:
    assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=tol, atol=tol * b.eigenvalues_[0])
    assert_allclose(a.transform(new), b.transform(new), atol=tol)
    assert_allclose(a.reconstruction_error(new), b.reconstruction_error(new), atol=tol)
    assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, atol=tol)
    assert_allclose(a.explained_variance_, b.explained_variance_, rtol=10 * tol)


def naive(model, rows, weights, points, new):
    ones, ones_new = np.ones(len(rows)), np.ones(len(new))
    K = [rbf(Z, points, GAMMA) for Z in (rows, points, new)]
    r = model.expansion_.n_components
    return landmark_kpca(K[0], K[1], ones, K[2], ones_new, weights, r, model.center)


def follows(model, expected, new, tol: float = 1e-8) -> None:
    assert_allclose(model.eigenvalues_, expected.eigenvalues, rtol=tol)
    assert_allclose(np.abs(model.transform(new)), np.abs(expected.scores), atol=tol)
    assert_allclose(model.reconstruction_error(new), expected.errors, atol=tol)
    assert model.expansion_.trace == pytest.approx(expected.trace, rel=tol)


# -- moments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_moments_equal_the_textbook_sums_whatever_the_mean(rng, shift):
    Z, w = rng.standard_normal((50, 6)) + shift, rng.uniform(0.1, 2, 50)
    found = Moments.empty(Z[0])
    for rows in np.split(np.arange(50), [1, 20, 33]):
        found.add_block(Z[rows].copy(), np.ones(len(rows)), w[rows])
    weight, mean, scatter = moments(Z, w)
    assert found.weight == found.own == pytest.approx(weight, rel=1e-12)
    assert_allclose(found.mean, mean, rtol=1e-12)
    assert_allclose(found.scatter(True), scatter, atol=1e-8)
    assert found.freedom == pytest.approx(weight - (w @ w) / weight, rel=1e-12)
    raw = found.scatter(False)
    assert_allclose(raw, (Z.T * w) @ Z, rtol=1e-11)


def test_moments_move_between_references_and_coordinates(rng):
    Z, T = rng.standard_normal((30, 5)) + 3, rng.standard_normal((7, 5))
    found, mapped = Moments.empty(Z[0]), Moments.empty(T @ Z[3])
    found.add_block(Z.copy(), np.ones(30))
    mapped.add_block(Z @ T.T, np.ones(30))
    moved = found.about(np.full(5, 100.0))
    assert_allclose(moved.scatter(True), found.scatter(True), atol=1e-9)
    assert_allclose(moved.mean, found.mean, rtol=1e-12)
    assert_allclose(found.mapped(T).scatter(True), mapped.scatter(True), atol=1e-10)
    assert_allclose(found.mapped(T).scatter(False), mapped.scatter(False), atol=1e-9)


def test_the_reference_follows_a_mean_that_jumps(rng):
    """About the first reference, centring would lose the digits of the second group's scatter."""
    found = Moments.empty(np.zeros(3))
    found.add_block(rng.standard_normal((20, 3)), np.ones(20))
    Z = rng.standard_normal((2000, 3)) + 1e7
    for rows in np.split(Z, 20):
        found = found.faded(0.01)
        found.add_block(rows.copy(), np.ones(100))
        found = found.settled()
    weights = 0.01 ** np.repeat(np.arange(19.0, -1, -1), 100)
    assert_allclose(found.scatter(True), moments(Z, weights)[2], atol=1e-5)


def test_weights_fade_by_row_and_end_at_zero():
    assert fading_weights(3, 1.0) is None
    assert_allclose(fading_weights(3, 0.5), [0.25, 0.5, 1.0])
    assert_allclose(fading_weights(2, 0.5, newer=3), [0.0625, 0.125])
    assert set(fading_weights(5000, 0.5)[:1000]) == {0.0}


def test_recent_rows_are_a_queue(rng):
    X, queue = rng.standard_normal((700, 2)), RecentRows()
    first = 0
    for i, size in enumerate([1, 300, 2, 5, 90, 1, 1, 300]):
        queue.append(X[first : first + size])
        first += size
        if i == 3:
            assert_allclose(np.vstack(queue.oldest(302)), X[:302])
            twin = queue.copy()
            queue.drop(302)
    assert_allclose(queue.stacked(), X[302:])
    assert len(queue) == 398
    assert_allclose(twin.stacked(), X[:308])
    assert len(queue.pieces) < 5


# -- batch -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.02, 0.2, 2.0])
def test_all_rows_as_landmarks_are_kernel_pca(X, new, gamma):
    exact = KernelPCA(4, kernel="rbf", gamma=gamma).fit(X)
    model = on(X, gamma=gamma).fit(X)
    assert subspace_distance(model, exact) <= 1e-6
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    assert_allclose(model.transform(new), exact.transform(new), atol=1e-8)  # signs too
    assert_allclose(model.reconstruction_error(new), exact.reconstruction_error(new), atol=1e-8)
    assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "poly", "cosine", "laplacian"])
def test_all_rows_as_landmarks_are_kernel_pca_for_other_kernels(X, new, kernel):
    exact = KernelPCA(3, kernel=kernel, gamma=0.1).fit(X)
    model = on(X, n_components=3, kernel=kernel, gamma=0.1).fit(X)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    assert_allclose(model.transform(new), exact.transform(new), rtol=1e-6, atol=1e-6 * np.abs(exact.transform(X)).max())


@pytest.mark.parametrize("center", [True, False])
def test_a_model_on_few_landmarks_is_pca_of_projected_rows(X, new, points, center):
    model = on(points, center=center).fit(X)
    follows(model, naive(model, X, np.ones(240), points, new), new)
    assert model.explained_variance_ratio_.sum() < 1
    errors = model.reconstruction_error(X).sum()  # what the components leave, the landmarks' loss included
    assert errors == pytest.approx(model.expansion_.trace - model.eigenvalues_.sum(), rel=1e-9)


def test_float32_rows_are_good_to_five_digits(X, new, points):
    double, single = on(points).fit(X), on(points).fit(X.astype(np.float32))
    assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=2e-5)
    assert_allclose(single.transform(new), double.transform(new), atol=2e-5)
    assert single.expansion_.points.dtype == np.float64


def test_float32_noise_is_not_whitened_into_components(rng):
    """Smooth kernels have landmarks that nearly depend on each other: there float32 products hold nothing but noise."""
    x = rng.uniform(-1, 1, 1000)
    X = np.column_stack([x, x**2 + 0.2 * rng.standard_normal(1000)])
    exact = KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
    for dtype, most in ((np.float64, 1e-3), (np.float32, 0.01)):
        model = fed(on(70, n_components=3, gamma=0.5), X.astype(dtype), 30)
        assert subspace_distance(model, exact) < most
        assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma", [1e-4, 0.02, GAMMA])
def test_scores_are_those_of_the_expansion(X, points, dtype, gamma):
    """With the smallest gamma coefficients are so large that float32 kernel values would not do."""
    model = on(points, gamma=gamma).fit(X)
    scores = model.transform(X.astype(dtype))
    assert scores.dtype == dtype
    scale = np.sqrt(model.expansion_.trace / 240)
    assert_allclose(scores, model.expansion_.project(X.astype(dtype).astype(np.float64)), atol=1e-12 + 1e-5 * scale)


def test_sparse_rows_and_sparse_landmarks(X, new, points):
    X = np.where(X > 1.5, X, 0.0)
    expected = on(X[::8]).fit(X).transform(new)
    assert_allclose(on(X[::8]).fit(sp.csr_matrix(X)).transform(sp.csr_matrix(new)), expected, atol=1e-8)
    model = on(sp.csr_matrix(X[::8]), window=50)
    for i in range(0, 240, 40):
        model.partial_fit(sp.csr_matrix(X[i : i + 40]))
    same_model(model, on(X[::8]).fit(X[-50:]), new, 1e-8)


@pytest.mark.parametrize("selection", ["auto", "kmeans", "rpcholesky", "uniform", "ald"])
def test_every_rule_keeps_its_budget(X, new, selection):
    exact = KernelPCA(3, kernel="rbf", gamma=GAMMA).fit(X)
    model = on(60, n_components=3, selection=selection)
    assert fed(model, X, 50).expansion_.n_points <= 60
    assert subspace_distance(model, exact) < 0.6
    whole = on(60, n_components=3, selection=selection).fit(X)
    assert whole.expansion_.n_points <= 60
    assert subspace_distance(whole, exact) < 0.5


# -- streams ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 30])
@pytest.mark.parametrize("forgetting", [1.0, 0.98])
def test_chunks_make_no_difference(X, new, points, size, forgetting):
    whole = on(points, forgetting=forgetting).fit(X)
    model = fed(on(points, forgetting=forgetting), X, size)
    same_model(model, whole, new, 1e-8)
    assert model.n_samples_seen_ == 240


@pytest.mark.parametrize("size", [1, 7, 50, 240])
@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_a_window_is_a_model_of_the_last_rows(X, new, points, size, forgetting):
    model = fed(on(points, window=45, forgetting=forgetting), X, size)
    same_model(model, on(points, forgetting=forgetting).fit(X[-45:]), new, 1e-8)
    assert model.n_samples_seen_ == 240


@pytest.mark.parametrize("center", [True, False])
def test_forgetting_is_a_weighted_batch(X, new, points, center):
    model = fed(on(points, forgetting=0.95, center=center), X, 17)
    weights = 0.95 ** np.arange(239, -1, -1)
    follows(model, naive(model, X, weights, points, new), new)
    freedom = weights.sum() - (weights @ weights) / weights.sum()
    assert_allclose(model.explained_variance_, model.eigenvalues_ / freedom, rtol=1e-9)
    assert model.expansion_.n_seen == 20


def test_before_the_landmarks_are_reached_the_model_is_exact(X, new):
    model = on(100)
    for stop in (1, 2, 3, 10, 60, 100):
        model.partial_fit(X[model.n_samples_seen_ if stop > 1 else 0 : stop])
        r = min(4, stop)
        exact = KernelPCA(r, kernel="rbf", gamma=GAMMA).fit(X[:stop])
        assert_allclose(model.transform(new), exact.transform(new), atol=1e-10)
        assert_allclose(model.eigenvalues_, exact.eigenvalues_, atol=1e-10)
    before = model.transform(new)
    model.partial_fit(X[100:101])  # now landmarks are chosen
    assert model.expansion_.n_points == 100
    assert np.abs(np.abs(model.transform(new)) - np.abs(before)).max() < 0.2
    assert fed(model, X[101:], 20).n_samples_seen_ == 240


def test_the_first_rows_fade_too(X, new):
    model = fed(on(100, forgetting=0.9), X[:60], 7)
    weights = 0.9 ** np.arange(59, -1, -1)
    lam, scores = weighted_kpca(rbf(X[:60], X[:60], GAMMA), rbf(new, X[:60], GAMMA), weights, 4)
    assert_allclose(model.eigenvalues_, lam, rtol=1e-8)
    assert_allclose(np.abs(model.transform(new)), np.abs(scores), atol=1e-8)
    freedom = weights.sum() - (weights @ weights) / weights.sum()
    assert_allclose(model.explained_variance_, lam / freedom, rtol=1e-8)


def test_a_window_below_the_landmarks_stays_exact(X, new):
    model = on(100, window=40)
    for start, stop in pairwise((0, 36, 72, 108, 144, 240)):
        fed(model, X[start:stop], 9)
        exact = KernelPCA(4, kernel="rbf", gamma=GAMMA).fit(X[max(0, stop - 40) : stop])
        assert_allclose(model.transform(new), exact.transform(new), atol=1e-10)
        assert model.expansion_.n_points <= 40


def test_a_buffer_may_be_reused_for_the_next_chunk(X, new, points):
    for landmarks, change in ((points, {"window": 100}), (200, {}), (200, {"window": 120})):
        buffer = np.empty((30, 4))
        model = on(landmarks, **change)
        for first in range(0, 240, 30):
            buffer[:] = X[first : first + 30]
            model.partial_fit(buffer)
        buffer[:] = 0
        same_model(model, fed(on(landmarks, **change), X, 30), new, 1e-12)


def test_no_number_of_landmarks_keeps_all_rows(X, new):
    model = fed(on(None), X, 100)
    assert_allclose(model.transform(new), KernelPCA(4, kernel="rbf", gamma=GAMMA).fit(X).transform(new), atol=1e-9)


def test_a_dictionary_grows_as_the_stream_does(rng):
    """The second half of the stream lies elsewhere: landmarks join there, and the model is nearly the batch one."""
    X = np.vstack([rng.standard_normal((200, 2)), rng.standard_normal((200, 2)) + 8])
    model = on(80, n_components=3, selection="ald", nu=1e-3)
    sizes = []
    for first in range(0, 400, 20):
        sizes.append(model.partial_fit(X[first : first + 20]).expansion_.n_points)
    chosen = sizes[5:]  # the landmarks are chosen when 80 rows have come
    assert chosen[0] < chosen[-1] <= 80
    assert (np.diff(chosen) >= 0).all()
    exact = KernelPCA(3, kernel="rbf", gamma=GAMMA).fit(X)
    assert subspace_distance(model, exact) < 0.02
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-3)
    assert model.expansion_.trace == pytest.approx(exact.expansion_.trace, rel=1e-3)
    full = fed(on(20, n_components=3, selection="ald", nu=1e-6), X, 20)
    assert full.expansion_.n_points == 20


def test_a_dictionary_with_a_window_looks_at_its_rows_again(rng, X, new):
    model = fed(on(100, selection="ald", nu=1e-3, window=120), X, 20)
    points = model.expansion_.points
    same_model(model, on(points).fit(X[-120:]), new, 1e-8)


def turning(rng, n: int, angle: float) -> np.ndarray:
    rows = rng.standard_normal((n, 2)) * [2.0, 0.2]
    c, s = np.cos(angle), np.sin(angle)
    return rows @ np.array([[c, s], [-s, c]])


@pytest.mark.parametrize("change", [{"window": 300}, {"forgetting": 0.99}])
def test_a_turning_distribution_is_followed(rng, change):
    grid = rng.uniform(-5, 5, (150, 2))
    model, still = on(grid, n_components=2, **change), on(grid, n_components=2)
    for angle in np.linspace(0, np.pi / 2, 40):
        rows = turning(rng, 50, angle)
        model.partial_fit(rows)
        still.partial_fit(rows)
    now = KernelPCA(2, kernel="rbf", gamma=GAMMA).fit(turning(rng, 1000, np.pi / 2))
    assert subspace_distance(model, now) < 0.5 * subspace_distance(still, now)
    assert subspace_distance(model, now) < 0.4


def test_a_jump_is_followed_where_no_landmark_was(rng):
    """The window brings new landmarks, a dictionary with room left too."""
    there = turning(rng, 1200, 0.3) + 20.0
    batch = KernelPCA(2, kernel="rbf", gamma=GAMMA).fit(there[-300:])
    for model in (
        on(40, n_components=2, window=300),
        on(100, n_components=2, selection="ald", nu=1e-3, forgetting=0.99),
    ):
        fed(model, turning(rng, 400, 0.0), 50)
        fed(model, there, 50)
        assert subspace_distance(model, batch) < 0.3
        assert model.explained_variance_ratio_.sum() > 0.4
    assert fed(on(40, n_components=2, window=300), there, 50).expansion_.n_points == 40


@pytest.mark.parametrize(
    ("narrowness", "change"), [(1, {"window": 1000}), (1 / 16, {"window": 600}), (1 / 16, {"forgetting": 0.995})]
)
def test_landmarks_follow_sorted_digits_also_while_the_window_fills(narrowness, change):
    """With landmarks of the first rows, components held 50 to 60 % (wide kernel: 87 %) of what they could."""
    X, y = load_digits(return_X_y=True)
    X, gamma = X[np.argsort(y, kind="stable")], 2e-4 * narrowness
    model = LandmarkKernelPCA(5, gamma=gamma, landmarks=50, random_state=0, **change)
    shares = []
    for first in range(0, 1700, 50):
        model.partial_fit(X[first : first + 50])
        if first >= 400:
            exact = LandmarkKernelPCA(5, gamma=gamma, landmarks=None, **change).fit(X[: first + 50])
            shares.append(model.eigenvalues_.sum() / exact.eigenvalues_.sum())
    assert min(shares) > (0.9 if narrowness < 1 else 0.75)
    assert np.mean(shares) > (0.96 if narrowness < 1 else 0.9)


def test_landmarks_that_miss_most_of_a_narrow_kernel_are_followed_too(rng):
    """They missed more than half when they were chosen. Twice as much cannot be missed, so they always stayed."""
    X = rng.standard_normal((6000, 20))
    X[2000:] += 6.0
    model = fed(LandmarkKernelPCA(5, gamma=0.1, landmarks=100, window=1500, random_state=0), X[:2000], 500)
    before = model.explained_variance_ratio_.sum()
    assert fed(model, X[2000:], 500).explained_variance_ratio_.sum() > 0.8 * before


def test_twenty_thousand_downdates_leave_no_error(rng):
    X = rng.standard_normal((20_300, 3))
    points = X[:40].copy()
    plan = LandmarkPlan(RBF(GAMMA), points, None, "auto", 0.0, 300, 1.0, 3, None)
    stream, last = LandmarkStream(plan), LandmarkStream(replace(plan, window=None))
    stream.learn(X[:50], rng)
    for first in range(50, len(X), 50):
        stream.take_in(X[first : first + 50])  # without the renewals of `learn`
    assert stream.gone >= 20_000
    last.learn(X[-300:], rng)
    scatter, expected = stream.moments.scatter(True), last.moments.scatter(True)
    assert np.linalg.norm(scatter - expected) <= 1e-12 * np.linalg.norm(expected)
    a, b = (solve_moments(seen.landmarks.whitening, seen.moments, 3, True) for seen in (stream, last))
    assert_allclose(a.eigenvalues, b.eigenvalues, rtol=1e-10)
    assert_allclose(a.project(X[:20]), b.project(X[:20]), atol=1e-10)


@pytest.mark.parametrize(("kernel", "size"), [("linear", 1e8), ("poly", 1e4)])
@pytest.mark.parametrize("change", [{}, {"forgetting": 0.99}])
@pytest.mark.parametrize("rows", [1, 10])
def test_a_huge_row_that_left_the_window_leaves_no_error(kernel, size, change, rows, X, new, points):
    """Its kernel values are subtracted from sums in which they had taken the place of the digits of all others."""
    X[100] *= size
    change = {"kernel": kernel, **change}
    model = fed(on(points, window=60, **change), X[:170], rows)
    same_model(model, on(points, **change).fit(X[110:170]), new, 1e-7)


def test_a_huge_row_that_leaves_the_window_by_a_merge_leaves_no_error(X, new, points):
    X[100] *= 1e8
    first, second = (on(points, kernel="linear", window=60).fit(rows) for rows in (X[:120], X[120:175]))
    same_model(first.merge(second), on(points, kernel="linear").fit(X[115:175]), new, 1e-9)


@pytest.mark.parametrize("gone", [False, True])
def test_a_saved_window_with_a_huge_row_goes_on_to_the_last_bit(gone, X, new, points, tmp_path):
    X[100] *= 1e3
    model = fed(on(points, kernel="linear", window=60), X[: 170 if gone else 150], 10)
    model.save(tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    for rows in (X[170:180], X[180:190]):
        assert np.array_equal(model.partial_fit(rows).transform(new), loaded.partial_fit(rows).transform(new))


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("change", [{"window": 3000}, {"forgetting": 0.99}])
def test_float32_rows_that_change_are_measured_with_enough_digits(kernel, change, rng):
    """Those far from the origin need more digits than float32 has, and the first ones do not."""
    X = (rng.standard_normal((9000, 4)) * [3, 2, 1, 1]).astype(np.float32)
    X[3000:] += 1e3
    points = np.vstack([X[:30], X[3000:3030]])
    short, wide = (
        fed(on(points, kernel=kernel, n_components=2, **change), rows, 3000) for rows in (X, X.astype(np.float64))
    )
    assert_allclose(short.eigenvalues_, wide.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("selection", ["ald", "rpcholesky", "greedy_kpca"])
@pytest.mark.parametrize(("kernel", "gamma", "most"), [("rbf", 0.5, 1e-3), ("poly", 0.1, 1e-5)])
def test_landmarks_are_added_where_those_before_are_nearly_dependent(selection, kernel, gamma, most):
    """Sorted rows leave the range of the first ones, whose kernel matrix is singular up to rounding."""
    X = np.sort(np.random.default_rng(6).standard_normal((1200, 1)), axis=0)
    options = {"kernel": kernel, "gamma": gamma}
    model = LandmarkKernelPCA(3, landmarks=200, nu=0.0, selection=selection, random_state=0, **options)
    exact = KernelPCA(3, **options).fit(X).eigenvalues_
    assert_allclose(fed(model, X, 200).eigenvalues_, exact, atol=most * exact[0])


def test_the_model_is_refreshed_when_asked_or_every_k_rows(X, new, points):
    lazy, every = on(points), on(points, refresh=100)
    for model in (lazy, every):
        model.partial_fit(X[:50])
    first = every.expansion_
    assert lazy.expansion_ is lazy.expansion_
    for model in (lazy, every):
        model.partial_fit(X[50:100])
    assert every.expansion_ is first
    assert lazy.expansion_.n_seen == every.n_samples_seen_ == 100
    every.partial_fit(X[100:160])
    assert every.expansion_.n_seen == 160
    assert_allclose(every.transform(new), on(points).fit(X[:160]).transform(new), atol=1e-9)


@pytest.mark.parametrize(
    "change", [{"window": 50}, {"forgetting": 0.5}, {"landmarks": 200}, {"landmarks": 2}, {"selection": "ald"}]
)
def test_a_file_goes_on_with_the_settings_of_the_first_rows(X, new, tmp_path, change):
    model = fed(on(20), X[:100], 25)
    plain = fed(pickle.loads(pickle.dumps(model)), X[100:], 25)
    model.set_params(**change).save(tmp_path / "model")
    assert_allclose(fed(mercer.load(tmp_path / "model"), X[100:], 25).transform(new), plain.transform(new), atol=1e-9)
    assert_allclose(fed(model, X[100:], 25).transform(new), plain.transform(new), atol=1e-9)


# -- merging ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{}, {"forgetting": 0.99}, {"window": 100}])
def test_eight_merged_parts_are_one_model(X, new, points, change):
    parts = [on(points, **change).fit(rows) for rows in np.array_split(X, 8)]
    before = [part.transform(new) for part in parts]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    same_model(merged, on(points, **change).fit(X), new, 1e-10)
    assert merged.n_samples_seen_ == 240
    for part, old in zip(parts, before, strict=True):
        assert part.n_samples_seen_ == 30
        part._solved.expansion = None
        assert np.array_equal(part.transform(new), old)
    merged.partial_fit(new)
    assert np.array_equal(parts[0].transform(new), before[0])


@pytest.mark.parametrize("forgetting", [1.0, 0.97])
def test_rows_that_wait_are_merged_exactly(X, new, forgetting):
    few, more, open_ = (on(50, forgetting=forgetting).fit(rows) for rows in (X[:20], X[20:45], X[45:]))
    waiting = few.merge(more)
    same_model(waiting, on(50, forgetting=forgetting).fit(X[:45]), new, 1e-10)
    assert fed(waiting, X[45:60], 5).expansion_.n_points == 50  # landmarks are chosen
    first = few.merge(more).merge(open_)
    same_model(first, on(open_.expansion_.points, forgetting=forgetting).fit(X), new, 1e-9)
    last = open_.merge(few)
    rows = np.vstack([X[45:], X[:20]])
    same_model(last, on(open_.expansion_.points, forgetting=forgetting).fit(rows), new, 1e-9)


def test_what_cannot_be_merged_says_so(X, points):
    model = on(points).fit(X)
    with pytest.raises(ValueError, match=r"different landmarks.*same array"):
        model.merge(on(X[::7]).fit(X))
    with pytest.raises(ValueError, match="kernels"):
        model.merge(on(points, gamma=0.3).fit(X))
    with pytest.raises(ValueError, match="windows"):
        model.merge(on(points, window=10).fit(X))
    with pytest.raises(ValueError, match="forgetting"):
        model.merge(on(points, forgetting=0.5).fit(X))
    with pytest.raises(TypeError, match="got a KernelPCA"):
        model.merge(KernelPCA().fit(X))


# -- bad streams -----------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["points", 20, 500])
@pytest.mark.parametrize("change", [{}, {"window": 90}, {"selection": "ald"}])
def test_bad_chunks_are_refused_whole(X, new, points, landmarks, change):
    model = on(points if landmarks == "points" else landmarks, **change).fit(X[:120])
    before = model.transform(new)
    holed, far = X[120:].copy(), X[120:].copy()
    holed[50, 2], far[50, 2] = np.nan, 1e200
    for chunk, text in (
        (X[:0], "0 sample"),
        (holed, "NaN"),
        (far, "overflow"),
        (X[:5, :3], "3 features"),
        ([["a"] * 4], "could not convert|numeric"),
    ):
        with pytest.raises(ValueError, match=text):
            model.partial_fit(chunk)
        model._solved.expansion = None
        assert np.array_equal(model.transform(new), before)
        assert model.n_samples_seen_ == 120
    other = on(points if landmarks == "points" else landmarks, **change).fit(X[:120])
    same_model(model.partial_fit(X[120:]), other.partial_fit(X[120:]), new, 1e-12)


def test_a_dictionary_does_not_keep_rows_of_a_refused_chunk(rng):
    """The far row stands behind others that would have joined."""
    X = rng.standard_normal((700, 2)) * 2
    model = on(100, n_components=2, selection="ald", nu=0.1).fit(X[:150])
    far = X[150:].copy()
    far[-1] = 1e200
    before = model.expansion_.n_points
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(far)
    twin = on(100, n_components=2, selection="ald", nu=0.1).fit(X[:150])
    rows = rng.standard_normal((20, 2))
    same_model(model.partial_fit(X[150:]), twin.partial_fit(X[150:]), rows, 1e-12)
    assert model.expansion_.n_points > before


def test_a_bad_first_chunk_leaves_no_model(X, new):
    model = on(20)
    for chunk in (X[:0], np.full((3, 4), np.nan)):
        with pytest.raises(ValueError):
            model.partial_fit(chunk)
    assert not hasattr(model, "expansion_")
    model.partial_fit(X[:, :3])
    assert model.transform(new[:, :3]).shape == (13, 4)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("value", [0.0, 1.7])
@pytest.mark.parametrize("change", [{}, {"window": 40}, {"forgetting": 0.9}, {"selection": "ald"}])
def test_equal_rows_have_no_components(X, kernel, value, change):
    model = on(20, n_components=2, kernel=kernel, **change)
    same = np.full((30, 4), value)
    for _ in range(4):
        model.partial_fit(same)
        assert_allclose(model.eigenvalues_, 0, atol=1e-9)
        assert_allclose(model.transform(same), 0, atol=1e-6)
        assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.explained_variance_ratio_).all()
    fed(model, X, 30)  # and then different rows
    assert model.expansion_.n_points <= 40
    assert model.explained_variance_ratio_[0] > 0.05


def test_one_row_at_a_time_from_the_start(X, new):
    model = on(30)
    for i in range(60):
        model.partial_fit(X[i : i + 1])
        assert np.isfinite(model.transform(new)).all()
    assert model.expansion_.n_seen == 60


def test_parameters_that_cannot_be_right_are_refused(X):
    for wrong in ({"window": 0}, {"forgetting": 0.0}, {"forgetting": 1.1}, {"landmarks": 0}, {"refresh": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LandmarkKernelPCA(**wrong).fit(X)
    with pytest.raises(ValueError, match="at least as many landmarks"):
        LandmarkKernelPCA(10, landmarks=5).fit(X)
    with pytest.raises(ValueError, match="landmarks have 3 features"):
        on(X[:20, :3]).fit(X)
    with pytest.raises(ValueError, match="precomputed"):
        LandmarkKernelPCA(kernel="precomputed").fit(X @ X.T)


# -- files, memory, checks -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"window": 50},
        {"window": 50, "forgetting": 0.9},
        {"landmarks": 30},
        {"landmarks": 300},
        {"landmarks": 60, "selection": "ald", "kernel": "poly"},
        {"refresh": 1000},
    ],
)
@pytest.mark.parametrize("way", ["pickle", "file"])
def test_a_saved_stream_goes_on_to_the_same_bits(X, new, points, change, way, tmp_path):
    change = dict(change)
    model = fed(on(change.pop("landmarks", points), **change), X[:130], 13)
    if way == "pickle":
        again = pickle.loads(pickle.dumps(model))
    else:
        model.save(tmp_path / "model")
        again = mercer.load(tmp_path / "model")
    assert np.array_equal(again.transform(new), model.transform(new))
    assert np.array_equal(again.explained_variance_, model.explained_variance_)
    fed(model, X[130:], 11)
    fed(again, X[130:], 11)
    assert np.array_equal(again.transform(new), model.transform(new))
    assert again.n_samples_seen_ == 240
    again.save(tmp_path / "a")
    model.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("change", [{}, {"window": 500}, {"selection": "ald", "nu": 0.1}])
def test_memory_does_not_grow_with_the_stream(rng, change):
    model = on(40, n_components=3, **change)
    chunk = rng.standard_normal((1000, 4))

    def feed(times: int) -> None:
        for i in range(times):
            model.partial_fit(chunk + 1e-3 * i).transform(chunk[:10])

    feed(3)
    tracemalloc.start()
    feed(3)
    before = tracemalloc.get_traced_memory()[0]
    feed(20)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 100_000
    assert peak < 6_000_000


def test_learning_is_told_to_observers(X, points):
    model = on(points)
    seen = []
    model.observers = (lambda event: seen.append(event.step),)
    fed(model, X, 100)
    assert seen == [100, 200, 240]


def test_an_ordinary_stream_does_not_warn(X, new):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recent = fed(on(50, window=100), X, 30)
        fading = fed(on(50, selection="ald", forgetting=0.99), X, 30)
        assert recent.transform(new).shape == fading.transform(new).shape == (13, 4)
    assert recent.expansion_.n_seen == 100
    assert fading.expansion_.n_seen == round((1 - 0.99**240) / 0.01)


@parametrize_with_checks([LandmarkKernelPCA(landmarks=3), LandmarkKernelPCA(2, landmarks=4, selection="ald", window=9)])
def test_scikit_learns_checks_with_few_landmarks(estimator, check):
    check(estimator)
