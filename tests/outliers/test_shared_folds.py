"""Models of folds from one kernel matrix: equal to models fitted apart, and their limits hold as well."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone

import mercer
from mercer import KernelOutlierDetector, KernelPCA, L1KernelPCA, LandmarkKernelPCA, RobustKernelPCA
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.scores import score_model, score_part
from mercer.outliers.together import reference_size
from mercer.solvers.exact import fit as exact_fit
from mercer.solvers.exact import parts as exact_parts
from mercer.solvers.exact import side_by_side
from mercer.solvers.exact.fit import ExactPlan, fit_exact
from mercer.solvers.exact.parts import fit_with_parts
from textbook import outlier as naive

KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": "median"},
    "narrow rbf": {"kernel": "rbf", "gamma": 0.5},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.1},
    "cosine": {"kernel": "cosine"},
    "laplacian": {"kernel": "laplacian", "gamma": "median"},
}
ROWS = {
    "plain": lambda rng, n: (
        rng.standard_normal((n, 3)) @ rng.standard_normal((3, 6)) + 0.4 * rng.standard_normal((n, 6))
    ),
    "duplicates": lambda rng, n: np.repeat(ROWS["plain"](rng, -(-n // 3)), 3, axis=0)[:n],
    "two dimensions": lambda rng, n: rng.standard_normal((n, 2)) @ rng.standard_normal((2, 6)),
    "far groups": lambda rng, n: rng.standard_normal((n, 6)) + 60.0 * (np.arange(n) % 4)[:, None] * np.eye(6)[0],
    "outliers": lambda rng, n: rng.standard_t(2, (n, 6)),
    "float32": lambda rng, n: ROWS["plain"](rng, n).astype(np.float32),
}


def division(detector, n):
    """The rows of each fold, as the detector drew them: those of the reference come first."""
    order = np.random.RandomState(detector.random_state).permutation(n)
    return np.array_split(order[n - detector.calibration_.n :], detector.n_folds)


def fitted_apart(detector, rows, fold):
    """The model of all rows but a fold, fitted by itself, with the scaling, gamma and landmarks of the detector."""
    model = clone(detector.estimator_)
    kept = detector._scaling(np.delete(rows, fold, axis=0))
    if isinstance(model, LandmarkKernelPCA):
        model.set_params(landmarks=detector.estimator_.expansion_.points)
    if model.gamma == "median":
        model.set_params(gamma=detector.estimator_.gamma_)
    return score_model(model.fit(kept).expansion_, detector.explained, kept)


def assert_equal_to_apart(detector, X, new, tol):
    together = detector._judges(new)
    for k, fold in enumerate(division(detector, len(X))):
        model = fitted_apart(detector, X, fold)
        for found, rows in ((detector.calibration_.folds[k], X[fold]), (together[k], new)):
            expected = model(detector._scaling(rows))
            rounding = 1e-12 * model.expansion.kernel.diagonal(detector._scaling(rows)).max()
            assert_allclose(found[:, :2], expected, atol=tol * np.abs(expected).max() + rounding, rtol=tol)
            assert_allclose(found[:, 2], Ellipsoid.of(np.delete(X, fold, axis=0))(rows), rtol=tol, atol=tol)


@settings(deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from(sorted(ROWS)),
    st.sampled_from([1, 3, 0.6, 30]),
    st.booleans(),
    st.integers(2, 6),
    st.sampled_from(["soft", False]),
)
def test_models_of_folds_equal_models_fitted_apart(seed, kernel, kind, n_components, center, n_folds, standardize):
    rng = np.random.default_rng(seed)
    X, new = ROWS[kind](rng, 300 + seed % 40), ROWS[kind](rng, 20) * 2
    model = KernelPCA(n_components, center=center, **KERNELS[kernel])
    detector = KernelOutlierDetector(
        model, n_folds=n_folds, random_state=seed, explained=1.0, standardize=standardize
    ).fit(X)
    assert detector._judges.points_are_shared
    assert_equal_to_apart(detector, X, new, 2e-4 if kind == "float32" else 1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [RBF(0.05), Linear()])
@pytest.mark.parametrize("center", [True, False])
def test_tiles_give_the_same_models(rng, kernel, center, dtype):
    """More rows than are kept as one matrix; parts of different sizes, within tiles and over several of them."""
    X = ROWS["plain"](rng, 1300)
    order = rng.permutation(1300)
    parts = np.split(order, [20, 600, 610, 1200])[1:4]
    plan = ExactPlan(3, dtype, center=center)
    full, models = fit_with_parts(kernel, X, parts, plan)
    assert_allclose(full.expansion.eigenvalues, fit_exact(kernel, X, plan).expansion.eigenvalues, rtol=1e-5)
    for part, found in zip(parts, models, strict=True):
        kept = np.delete(X, part, axis=0)
        expected = score_model(fit_exact(kernel, kept, plan).expansion, 1.0, kept)
        scores = score_part(found, 1.0)
        tol = 1e-6 if dtype == np.float64 else 2e-4
        for one, rows in ((scores[1], X[part]), (scores[0](X), X)):
            assert_allclose(one, expected(rows), atol=tol * np.abs(expected(rows)).max(), rtol=tol)


@pytest.fixture
def mostly_float32(monkeypatch):
    """Let tables of more than a thousand rows use float32 tiles for most products, as large ones do."""
    monkeypatch.setattr(exact_fit, "_MANY_ROWS", 1100)


LARGE = {
    "plane": (lambda rng: ROWS["plain"](rng, 1300), 3, True, 1),
    "not centred": (lambda rng: ROWS["plain"](rng, 1300), 3, False, 1),
    "groups": (lambda rng: 20.0 * (np.arange(1300) % 20)[:, None] + rng.standard_normal((1300, 2)), 4, True, 2),
    "many components": (lambda rng: rng.standard_normal((1300, 5)), 30, True, 2),
    "no gaps": (lambda rng: rng.standard_normal((1300, 30)), 4, True, 2),
}


@pytest.mark.parametrize("name", sorted(LARGE))
def test_float32_tiles_for_most_products_give_the_same_models(rng, monkeypatch, mostly_float32, name):
    rows, n_components, center, n_runs = LARGE[name]
    X, runs = rows(rng), []
    solve = side_by_side.batch_krylov

    def observed(*args, **kwargs):
        runs.append(solve(*args, **kwargs))
        return runs[-1]

    monkeypatch.setattr(side_by_side, "batch_krylov", observed)
    parts = np.split(rng.permutation(1300), [20, 400, 800, 1200])[1:4]
    kernel, plan = RBF(0.5 / np.median(X.var(axis=0).sum())), ExactPlan(n_components, center=center)
    full, models = fit_with_parts(kernel, X, parts, plan)
    assert len(runs) == n_runs  # a second one where the model of all rows is no good start
    assert_allclose(runs[-1].goal, runs[0].goal, rtol=1e-6)  # the gaps are those of the first, which has more steps
    monkeypatch.setattr(exact_fit, "_MANY_ROWS", 10**9)
    assert_allclose(full.expansion.eigenvalues, fit_exact(kernel, X, plan).expansion.eigenvalues, rtol=1e-9)
    for part, found in zip(parts, models, strict=True):
        kept = np.delete(X, part, axis=0)
        expected = score_model(fit_exact(kernel, kept, plan).expansion, 1.0, kept)
        model, scores = score_part(found, 1.0)
        for one, rows in ((scores, X[part]), (model(X), X)):
            assert_allclose(one, expected(rows), rtol=1e-6, atol=1e-6 * np.median(expected(rows), axis=0).min())


def test_float32_tiles_are_not_used_where_a_share_of_the_variance_is_wanted(rng, monkeypatch, mostly_float32):
    X, used, start = ROWS["plain"](rng, 1300), [], side_by_side.start
    monkeypatch.setattr(exact_parts, "start", lambda sources, *a: used.append(sources.differ) or start(sources, *a))
    for wanted in (0.5, 3):
        fit_with_parts(RBF(0.1), X, [np.arange(300)], ExactPlan(wanted))
    assert used == [False, True]


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([None, 0.1, 1.0]), st.integers(1, 30), st.integers(1, 4))
def test_scores_of_parts_equal_the_textbook(seed, gamma, n_components, n_parts):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((64, 4)) * [3.0, 2.0, 1.0, 0.5]
    parts = np.array_split(rng.permutation(64)[rng.integers(0, 20) :], n_parts + 1)[1:]
    kernel = Linear() if gamma is None else RBF(gamma)
    r = min(n_components, 4) if gamma is None else n_components
    _, models = fit_with_parts(kernel, X, parts, ExactPlan(r))
    expected = naive.scores_of_parts(X, parts, gamma, r, 0.8)
    for model, scores in zip(models, expected, strict=True):
        assert_allclose(score_part(model, 0.8)[1].T, scores, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("solver", ["dense", "arpack", "krylov", "randomized"])
def test_every_solver_is_the_one_asked_for(rng, solver):
    X = ROWS["plain"](rng, 320)
    model = KernelPCA(3, kernel="rbf", gamma=0.1, eigen_solver=solver, random_state=0)
    detector = KernelOutlierDetector(model, random_state=0).fit(X)
    assert_equal_to_apart(detector, X, 2 * X[:9], 1e-6)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kind", sorted(ROWS))
def test_models_on_landmarks_equal_models_fitted_apart(rng, kind, center):
    X = ROWS[kind](rng, 360)
    model = LandmarkKernelPCA(3, gamma="median", landmarks=40, center=center, random_state=0)
    detector = KernelOutlierDetector(model, random_state=3).fit(X)
    assert detector.calibration_.n == 360 - 120
    assert_equal_to_apart(detector, X, 2 * X[:9], 2e-4 if kind == "float32" else 1e-6)
    assert detector.estimator_.n_samples_seen_ == 360


def test_what_the_model_of_all_rows_does_not_contain_is_found(rng, monkeypatch):
    """Far groups of nearly equal weight: without some rows, other groups have the largest eigenvalues."""
    monkeypatch.setattr(side_by_side, "_LEAST_WIDTHS", 4)
    X = np.repeat(100.0 * np.arange(12), 8)[:, None] + 0.1 * rng.standard_normal((96, 1))
    parts = [np.arange(0, 32), np.arange(32, 64), np.arange(64, 96)]
    plan = ExactPlan(4, center=False)
    _, models = fit_with_parts(RBF(1.0), X, parts, plan)
    for part, model in zip(parts, models, strict=True):
        expected = fit_exact(RBF(1.0), np.delete(X, part, axis=0), plan).expansion
        assert_allclose(model.expansion.eigenvalues, expected.eigenvalues, rtol=1e-7)


def test_constant_rows_are_all_equally_normal():
    X = np.ones((300, 6))
    p = KernelOutlierDetector(random_state=0).fit(X).p_values(X)
    assert np.array_equal(p, np.ones(300))


@pytest.mark.parametrize("size", [1e-150, 1e100])
def test_rows_of_any_size_have_equal_models(rng, size):
    X = ROWS["plain"](rng, 300)
    usual = KernelOutlierDetector(KernelPCA(3), standardize=False, random_state=0).fit(X)
    scaled = KernelOutlierDetector(KernelPCA(3), standardize=False, random_state=0).fit(X * size)
    assert_allclose(scaled.p_values(X * size), usual.p_values(X))
    assert_allclose(scaled.statistics(X * size), usual.statistics(X) * [1.0, size**2, 1.0], rtol=1e-6)


# -- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["normal", "heavy tails"])
@pytest.mark.parametrize("model", [None, LandmarkKernelPCA(4, gamma="median", landmarks=40, random_state=0)])
def test_clean_rows_raise_alarms_at_the_nominal_rate(kind, model):
    """With a scaling of all rows, 12 % of the heavy-tailed rows raise an alarm."""
    shares = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((900, 100)) if kind == "normal" else rng.standard_t(2.5, (900, 100))
        detector = KernelOutlierDetector(model, random_state=seed).fit(X[:300])
        shares.append((detector.p_values(X[300:]) <= 0.05).mean())
    assert 0.03 <= np.mean(shares) <= 0.065


def test_when_models_share_a_kernel_matrix():
    exact, landmarks = KernelPCA(), LandmarkKernelPCA(landmarks=100)
    assert reference_size(exact, "soft", 299) is None
    assert reference_size(exact, "soft", 300) == 100
    assert reference_size(exact, "soft", 900) == reference_size(exact, "soft", 1800) == 300
    assert reference_size(exact, "soft", 2400) == 400
    assert reference_size(exact, "soft", 10**6) == 3000
    assert reference_size(exact, False, 300) == 0
    assert reference_size(KernelPCA(gamma="median"), False, 300) == 100
    assert reference_size(landmarks, False, 599) is None
    assert reference_size(landmarks, False, 600) == 200
    assert reference_size(landmarks, False, 1800) == 300
    assert reference_size(LandmarkKernelPCA(landmarks=np.eye(3), gamma=1.0), False, 300) == 0
    for model in (LandmarkKernelPCA(window=50), LandmarkKernelPCA(forgetting=0.9), LandmarkKernelPCA(landmarks=None)):
        assert reference_size(model, False, 10**4) is None
    for model in (L1KernelPCA(2), RobustKernelPCA(2)):
        assert reference_size(model, "soft", 10**4) is None


def test_all_rows_set_the_limits_where_alpha_needs_them(rng):
    X = ROWS["plain"](rng, 300)
    assert KernelOutlierDetector(alpha=0.01, random_state=0).fit(X).calibration_.n == 200
    assert KernelOutlierDetector(alpha=0.005, random_state=0).fit(X).calibration_.n == 300
    assert KernelOutlierDetector(contamination=0.005, random_state=0).fit(X).calibration_.n == 200
    fixed = KernelPCA(3, kernel="rbf", gamma=0.1)
    assert KernelOutlierDetector(fixed, standardize=False, random_state=0).fit(X).calibration_.n == 300


@pytest.mark.parametrize("model", [None, LandmarkKernelPCA(3, gamma=0.1, landmarks=30, random_state=0)])
def test_a_saved_detector_keeps_one_copy_of_the_points(rng, tmp_path, model):
    X = rng.standard_normal((400, 50))
    detector = KernelOutlierDetector(model, random_state=0).fit(X)
    detector.save(tmp_path / "detector")
    again = mercer.load(tmp_path / "detector")
    assert again._judges.points_are_shared
    assert np.array_equal(again.score_samples(X + 1), detector.score_samples(X + 1))
    # the rows of `estimator_` and of the models, six covariances, and less than the rows once more
    assert (tmp_path / "detector").stat().st_size < 3 * X.nbytes + 6 * 50 * 50 * 8


def test_progress_ends_with_all_models(rng):
    events = []
    detector = KernelOutlierDetector(random_state=0)
    detector.observers = (events.append,)
    detector.fit(ROWS["plain"](rng, 300))
    last = [event for event in events if event.stage == "models fitted"][-1]
    assert (last.step, last.total) == (6, 6)


@pytest.mark.parametrize("n_folds", [250, 10_000])
def test_more_folds_than_rows_that_set_the_limits_hold_out_one_row_each(n_folds):
    X = np.random.default_rng(0).normal(size=(300, 3))
    detector = KernelOutlierDetector(n_folds=n_folds, random_state=0).fit(X)
    assert 150 <= len(detector.calibration_.folds) == detector.calibration_.n < 250
    assert 0.01 < (detector.predict(X) == -1).mean() < 0.1


def test_models_of_many_components_equal_models_fitted_apart(rng, monkeypatch):
    """Blocks are narrower than the number of components, except where eigenvalues occur several times."""
    widths, run = [], side_by_side.batch_krylov
    monkeypatch.setattr(
        side_by_side,
        "batch_krylov",
        lambda products, block, *a, **m: widths.append(block.shape[1]) or run(products, block, *a, **m),
    )
    spread, equal = rng.standard_normal((400, 6)), np.eye(400)[:, :395] * 3.0
    equal[395:] = rng.standard_normal((5, 395)) * 0.2
    for X, gamma, expected in ((spread, 0.1, 4), (equal, 0.01, 14)):
        widths.clear()
        parts = np.array_split(rng.permutation(400), 5)
        _, models = fit_with_parts(RBF(gamma), X, parts, ExactPlan(14))
        assert widths == [expected]
        for part, found in zip(parts, models, strict=True):
            kept = np.delete(X, part, axis=0)
            values = fit_exact(RBF(gamma), kept, ExactPlan(14)).expansion.eigenvalues
            assert_allclose(found.expansion.eigenvalues, values, rtol=1e-9)
