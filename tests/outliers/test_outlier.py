"""Outlier detection: scores and p-values equal their textbook twins, alarms come at the promised rate."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import roc_auc_score

import mercer
from mercer import HebbianPCA, KernelOutlierDetector, KernelPCA, L1KernelPCA, LandmarkKernelPCA, plots
from mercer.engine.scaling import Scaling
from mercer.outliers.calibration import Calibration, alarm_level
from mercer.outliers.contributions import contributions, score_gradients
from mercer.outliers.scores import leading_components, score_model
from textbook import outlier as naive

STATISTICS = ("t2", "spe", "both", "all")


def correlated(rng, n, d=6, rank=2):
    """Rows near a plane in d dimensions."""
    plane = np.random.default_rng(7).standard_normal((rank, d))
    return rng.standard_normal((n, rank)) @ plane + 0.2 * rng.standard_normal((n, d))


# -- scores --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [None, 0.05, 2.0])
@pytest.mark.parametrize("explained", [0.5, 0.8, 1.0])
def test_t2_and_spe_equal_the_textbook(rng, gamma, explained):
    X, new = correlated(rng, 40), correlated(rng, 9) + 0.5
    model = KernelPCA(5, kernel="linear") if gamma is None else KernelPCA(5, kernel="rbf", gamma=gamma)
    found = score_model(model.fit(X).expansion_, explained)(new)
    assert_allclose(found.T, naive.t2_and_spe(X, new, gamma, 5, explained), rtol=1e-7, atol=1e-9)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 5.0]), min_size=1, max_size=8), st.floats(0.01, 1.0))
def test_components_reach_the_share_and_ties_stay_together(variances, explained):
    found = leading_components(np.array(variances), explained).tolist()
    assert found == naive.chosen_components(variances, explained)


def test_components_of_the_l1_norm_are_chosen_by_variance_and_centred_by_their_mean(rng):
    X = correlated(rng, 50) + 3.0
    model = L1KernelPCA(4, kernel="linear", center=False).fit(X)
    Y = model.transform(X)
    kept = naive.chosen_components(Y.var(axis=0, ddof=1).tolist(), 0.9)
    expected = (((Y - Y.mean(axis=0)) ** 2 / Y.var(axis=0, ddof=1))[:, kept]).sum(axis=1)
    assert_allclose(score_model(model.expansion_, 0.9, X)(X)[:, 0], expected, rtol=1e-8)


# -- p-values ------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from(STATISTICS))
def test_p_values_equal_the_textbook(seed, n_folds, statistic):
    rng = np.random.default_rng(seed)
    folds = tuple(rng.exponential(size=(rng.integers(3, 9), 3)) for _ in range(n_folds))
    new = rng.exponential(size=(n_folds, 7, 3)) * rng.choice([0.1, 1, 5])
    if statistic != "all":
        folds, new = tuple(fold[:, :2] for fold in folds), new[..., :2]
    pooled = np.vstack(folds)

    def value(scores):
        if statistic == "all":
            return naive.with_distance(pooled, scores)
        return naive.combined_index(pooled, scores) if statistic == "both" else scores[:, int(statistic == "spe")]

    expected = naive.cv_plus_p_values([value(f) for f in folds], [value(s) for s in new])
    found = Calibration(folds, statistic)
    assert_allclose(found.p_values(new), expected, rtol=1e-12)
    # the interpolated p lies in the step of the counted one, so that both say the same about an alarm
    smooth = 10 ** -found.surprise(new)
    assert (smooth <= expected * (1 + 1e-9)).all()
    assert (smooth > expected - 1 / (found.n + 1) - 1e-12).all()
    for alpha in (0.05, 0.2, 0.5):
        assert np.array_equal(found.surprise(new) > alarm_level(alpha, found.n), expected <= alpha)


def test_more_unusual_is_more_surprising_also_beyond_all_training_rows():
    folds = tuple(np.random.default_rng(i).exponential(size=(20, 2)) for i in range(3))
    grid = np.tile(np.linspace(0, 60, 500)[None, :, None], (3, 1, 2))
    for statistic in STATISTICS:
        surprise = Calibration(folds, statistic).surprise(grid)
        assert (np.diff(surprise) >= 0).all()
        assert (np.diff(surprise[-100:]) > 0).all()


def test_limits_are_where_p_values_of_one_statistic_cross_alpha(rng):
    scores = rng.exponential(size=(199, 2))
    for j, statistic in enumerate(("t2", "spe")):
        calibration = Calibration((scores,), statistic)
        limit = calibration.limits(0.05)[j]
        near = limit + np.array([-1e-6, 1e-6])
        p = calibration.p_values(np.repeat(near[None, :, None], 2, axis=2))
        assert p[0] > 0.05 >= p[1]
    assert np.isinf(Calibration((scores[:10],), "t2").limits(0.05)).all()


@pytest.mark.parametrize("calibration", ["cv+", "split"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_clean_rows_raise_alarms_at_the_nominal_rate(rng, statistic, calibration):
    """200 rows, a narrow and a wide kernel, mean of splits; CV+ is on the quiet side for T2 of narrow kernels."""
    shares = []
    for seed in range(12 if calibration == "cv+" else 40):
        for gamma in (0.02, 0.5):
            X, new = correlated(rng, 200), correlated(rng, 400)
            detector = KernelOutlierDetector(
                KernelPCA(8, kernel="rbf", gamma=gamma),
                statistic=statistic,
                alpha=0.05,
                calibration=calibration,
                random_state=seed,
            )
            shares.append((detector.fit(X).predict(new) == -1).mean())
    assert (0.02 if statistic == "t2" else 0.03) <= np.mean(shares) <= 0.065


@pytest.mark.parametrize("n", [40, 900])
@pytest.mark.parametrize("statistic", ["both", "all"])
def test_with_split_the_units_of_statistics_do_not_depend_on_the_rows_that_set_the_limit(rng, tmp_path, statistic, n):
    """Otherwise a new row is not exchangeable with these: 20 of them gave 11 % of alarms at a level of 10 %."""
    X, shown = correlated(rng, n), rng.exponential(size=(1, 50, 2 + (statistic == "all")))
    held = np.random.RandomState(3).permutation(n)[: n // 2]
    changed = X.copy()
    changed[held] *= rng.exponential(3.0, (len(held), 1))
    detector = KernelOutlierDetector(
        statistic=statistic, calibration="split", standardize="variance", random_state=3, alpha=0.1
    )
    before = detector.fit(X).calibration_
    detector.save(tmp_path / "detector.mercer")
    after = detector.fit(changed).calibration_
    assert not np.array_equal(before.folds[0], after.folds[0])
    assert np.array_equal(before.combined(shown), after.combined(shown))
    loaded = mercer.load(tmp_path / "detector.mercer").calibration_
    assert np.array_equal(loaded.combined(shown), before.combined(shown))


def test_units_of_other_rows_keep_the_rate_for_few_rows():
    """p <= 0.1 has the probability 2 / 21 with 20 rows that set the limit, and more if they set the units, too."""
    rng = np.random.default_rng(0)
    draws = np.exp(1.5 * rng.standard_normal((1500, 240, 2)))
    rates = []
    for held, new, others in ((one[:20], one[None, 20:220], one[220:]) for one in draws):
        found = [Calibration((held,), "both", units).p_values(new) <= 0.1 for units in (None, others)]
        rates.append(np.mean(found, axis=1))
    (own, apart), error = np.mean(rates, axis=0), np.std(rates, axis=0)[1] / np.sqrt(len(rates))
    assert own > 2 / 21 + 5 * error
    assert abs(apart - 2 / 21) < 2.5 * error


# -- the detector --------------------------------------------------------------------------------------------------


def test_the_parts_agree(rng):
    X, new = correlated(rng, 150), np.vstack([correlated(rng, 30), 4 * rng.standard_normal((10, 6))])
    detector = KernelOutlierDetector(alpha=0.05, random_state=0).fit(X)
    alarm = detector.p_values(new) <= 0.05
    assert np.array_equal(detector.predict(new) == -1, alarm)
    assert_allclose(detector.decision_function(new), detector.score_samples(new) - detector.offset_)
    assert 10 <= alarm.sum() < 20
    assert (np.argsort(detector.p_values(new), kind="stable")[:10] >= 30).all()
    assert detector.statistics(new).shape == (40, 3)
    assert detector.get_params()["statistic"] == "all"
    assert not hasattr(detector, "score")  # as IsolationForest: p-values of one model say nothing about another


def test_contamination_flags_that_share_of_the_training_rows(rng):
    X = np.vstack([correlated(rng, 190), 5 * rng.standard_normal((10, 6))])
    labels = KernelOutlierDetector(contamination=0.05, random_state=0).fit_predict(X)
    assert np.flatnonzero(labels == -1).tolist() == list(range(190, 200))


def test_what_cannot_be_is_refused(rng):
    X = correlated(rng, 30)
    with pytest.raises(ValueError, match="give one of them"):
        KernelOutlierDetector(alpha=0.1, contamination=0.1).fit(X)
    with pytest.raises(ValueError, match="precomputed"):
        KernelOutlierDetector(KernelPCA(kernel="precomputed")).fit(X @ X.T)
    with pytest.raises(ValueError, match="NaN"):
        KernelOutlierDetector().fit(np.where(X > 1, np.nan, X))
    with pytest.raises(ValueError, match="at least 2"):
        KernelOutlierDetector().fit(X[:1])
    detector = KernelOutlierDetector().fit(X)
    for call in (KernelOutlierDetector().fit, detector.predict, detector.p_values):
        with pytest.raises(TypeError, match=r"Pass X.toarray\(\) \(0.00144 MB\)"):
            call(sparse.csr_array(X))
    with pytest.raises(ValueError, match="derivatives"):
        KernelOutlierDetector(KernelPCA(3, kernel="laplacian")).fit(X).contributions(X)


@pytest.mark.parametrize("method", ["predict", "p_values", "decision_function", "statistics", "fit"])
def test_missing_values_are_refused_with_the_name_of_who_takes_them(rng, method):
    X = rng.standard_normal((40, 3))
    detector, projection = KernelOutlierDetector(random_state=0).fit(X), KernelPCA(2).fit(X)
    X[3, 1] = np.nan
    for call in (getattr(detector, method), projection.transform):
        with pytest.raises(ValueError, match=r"contains NaN[\s\S]*ProcessMonitor"):
            call(X)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: np.ones_like(X),
        lambda X: X * [0, 1, 1, 1, 1, 1],
        lambda X: np.repeat(X[:8], 5, axis=0),
        lambda X: X * 1e150,
        lambda X: X * 1e-150,
        lambda X: X[:3],
        lambda X: X.astype(np.float32),
    ],
    ids=["constant", "constant feature", "duplicates", "huge", "tiny", "three rows", "float32"],
)
def test_nasty_rows_give_finite_scores(rng, spoil):
    X = spoil(correlated(rng, 40))
    detector = KernelOutlierDetector(random_state=0).fit(X)
    assert np.isfinite(detector.score_samples(X)).all()
    p = detector.p_values(X)
    assert ((p > 0) & (p <= 1)).all()


@pytest.mark.parametrize(
    "estimator", [L1KernelPCA(5), LandmarkKernelPCA(4, landmarks=30, random_state=0), HebbianPCA(3)]
)
def test_any_estimator_can_be_inside_and_saved(rng, tmp_path, estimator):
    X = correlated(rng, 80)
    detector = KernelOutlierDetector(estimator, alpha=0.1, random_state=0).fit(X)
    detector.save(tmp_path / "detector")
    again = mercer.load(tmp_path / "detector")
    new = 2 * correlated(rng, 20)
    assert np.array_equal(again.score_samples(new), detector.score_samples(new))
    assert np.array_equal(again.predict(new), detector.predict(new))
    assert repr(again.estimator) == repr(estimator)
    assert not hasattr(again.estimator, "n_features_in_")
    assert_allclose(again.estimator_.transform(again._scaling(new)), detector.estimator_.transform(again._scaling(new)))


def test_soft_scaling_does_not_depend_on_units(rng):
    X = rng.standard_normal((50, 4)) * [1, 10, 1e-3, 1e5] + [0, 5, 1, 1e6]
    plain = Scaling.of(X, "soft")(X)
    assert_allclose(Scaling.of(X * [3, 1e-4, 7, 2], "soft")(X * [3, 1e-4, 7, 2]), plain, rtol=1e-6, atol=1e-9)
    assert_allclose(Scaling.of(X, "variance")(X).std(axis=0), 1.0)


# -- real data -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "least"), [("odds_wbc", 0.92), ("odds_breastw", 0.96), ("odds_ionosphere", 0.8)])
def test_outliers_of_real_data_stand_out(data_set, name, least):
    data = data_set(name)
    detector = KernelOutlierDetector(random_state=0).fit(data["X"])
    assert roc_auc_score(data["y"], -detector.score_samples(data["X"])) > least


def test_table_2_of_the_paper_for_algorithm_1(data_set):
    """[kim2019, Table 2] with standardised features and centring; the published number is .5208."""
    from sklearn.metrics import auc, precision_recall_curve
    from sklearn.preprocessing import StandardScaler

    data = data_set("odds_wbc")
    X = StandardScaler().fit_transform(data["X"])
    model = L1KernelPCA(30, kernel="linear").fit(X)
    precision, recall, _ = precision_recall_curve(data["y"], score_model(model.expansion_, 0.8, X)(X)[:, 0])
    assert auc(recall, precision) == pytest.approx(0.530, abs=0.01)


# -- contributions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine"])
@pytest.mark.parametrize("which", ["t2", "spe"])
def test_gradients_equal_differences(rng, kernel, which):
    X, new = correlated(rng, 40), correlated(rng, 3) + 0.3
    model = score_model(KernelPCA(4, kernel=kernel, gamma=0.05, degree=2).fit(X).expansion_, 0.95)
    found, column, step = score_gradients(model, new, which), int(which == "spe"), 1e-5
    for f in range(6):
        shift = step * np.eye(6)[f]
        difference = (model(new + shift)[:, column] - model(new - shift)[:, column]) / (2 * step)
        assert_allclose(found[:, f], difference, rtol=1e-4, atol=1e-5 * np.abs(found).max())


@pytest.mark.parametrize("which", ["t2", "spe"])
def test_contributions_sum_to_the_score(rng, which):
    X, new = correlated(rng, 60), correlated(rng, 5) + 1.0
    model = score_model(KernelPCA(4, kernel="rbf", gamma=0.05).fit(X).expansion_, 1.0)
    reference = X.mean(axis=0)
    gap = model(new) - model(reference[None])
    found = contributions(model, new, reference, which)
    assert_allclose(found.sum(axis=1), gap[:, int(which == "spe")], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("estimator", [None, KernelPCA(3, kernel="linear"), KernelPCA(5, kernel="rbf", gamma=0.02)])
def test_the_variable_that_moved_ranks_first(rng, estimator):
    X = correlated(rng, 300)
    detector = KernelOutlierDetector(estimator, random_state=0).fit(X)
    for feature in range(6):
        faulty = correlated(rng, 20)
        faulty[:, feature] += 6 * X[:, feature].std()
        first = detector.contributions(faulty).argmax(axis=1)
        assert (first == feature).mean() >= 0.9


# -- figures -------------------------------------------------------------------------------------------------------


def test_figures_show_rows_limits_and_areas(rng):
    X = correlated(rng, 120)
    detector = KernelOutlierDetector(alpha=0.05, random_state=0).fit(X)
    new = np.vstack([correlated(rng, 20), 5 * np.eye(6)])
    chart = plots.control_chart(detector, new, alpha=0.05)
    assert len(chart.axes) == 3
    assert [axes.lines[-1].get_ydata()[0] for axes in chart.axes] == pytest.approx(detector.limits(0.05).tolist())
    assert chart.axes[0].lines[2].get_xdata().tolist() == np.flatnonzero(detector.predict(new) == -1).tolist()
    kinds = np.repeat([0, 1, 2], [110, 5, 5])
    models = {"L2": KernelPCA(2, kernel="linear").fit(X), "L1": L1KernelPCA(2, kernel="linear").fit(X)}
    assert len(plots.principal_spaces(models, X, kinds).axes) == 2
    curve = plots.precision_recall({"ours": -np.arange(10.0)}, np.arange(10) > 6)
    assert curve.axes[0].get_legend().get_texts()[0].get_text() == "ours: 1.000"
    chart.savefig(io.BytesIO(), format="png", dpi=40)


# -- the command line ----------------------------------------------------------------------------------------------


def test_the_command_finds_rows_and_names_the_column_that_moved(rng, tmp_path):
    from typer.testing import CliRunner

    from mercer.cli.root import app

    X = correlated(rng, 200)
    X[17, 3] += 15
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b,c,d,e,f", comments="")
    args = ["outliers", str(tmp_path / "rows.csv"), "--alpha", "0.01", "--top", "1", "--save", str(tmp_path / "model")]
    result = CliRunner().invoke(app, [*args, "-o", str(tmp_path / "p.npy")])
    assert result.exit_code == 0, result.output
    assert "17" in result.output
    assert " d " in result.output
    assert np.argmin(np.load(tmp_path / "p.npy")[:, 3]) == 17
    assert mercer.load(tmp_path / "model").predict(X[17:18]).tolist() == [-1]


def test_a_saved_detector_is_shown_and_judges_new_rows_by_their_names(rng, tmp_path):
    from typer.testing import CliRunner

    from mercer.cli.root import app

    X = correlated(rng, 200)
    new = X[:20].copy()
    new[7, 3] += 15
    names = np.array(list("abcdef"))
    for name, rows, order in (("old", X, range(6)), ("new", new, [5, 3, 1, 0, 2, 4])):
        header = ",".join(names[list(order)])
        np.savetxt(tmp_path / f"{name}.csv", rows[:, list(order)], delimiter=",", header=header, comments="")
    old, model, out = str(tmp_path / "old.csv"), str(tmp_path / "model"), str(tmp_path / "p.npy")
    run = CliRunner().invoke
    assert run(app, ["outliers", old, "--alpha", "0.01", "--save", model]).exit_code == 0
    result = run(app, ["outliers", str(tmp_path / "new.csv"), "--detector", model, "--top", "1", "-o", out])
    assert result.exit_code == 0, result.output
    assert " d " in result.output
    expected = mercer.load(model).p_values(new)
    np.testing.assert_allclose(np.load(out)[:, 3], expected)
    assert np.argmin(expected) == 7
    shown = run(app, ["info", model])
    assert shown.exit_code == 0, shown.output
    assert "KernelOutlierDetector" in shown.output
    assert "alpha=0.01" in shown.output
    assert "variance held" in shown.output
    refused = run(app, ["score", model, old])
    assert refused.exit_code == 2
    assert "mercer outliers" in refused.output
    assert run(app, ["fit", old, "-o", str(tmp_path / "plain")]).exit_code == 0
    refused = run(app, ["outliers", old, "--detector", str(tmp_path / "plain")])
    assert refused.exit_code == 2
    assert "not a detector" in refused.output
