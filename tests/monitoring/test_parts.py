"""The parts of monitoring: each formula equals its twin, and limits hold for processes whose rates are known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.signal import lfilter
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student

from mercer import KernelPCA
from mercer.expansion.model import Expansion
from mercer.monitoring.candidates import Candidate
from mercer.monitoring.charts import Chart, weight_for
from mercer.monitoring.contributions import model_reductions, reductions
from mercer.monitoring.dependence import dickey_fuller, exceedance_correlation, spaced_autocorrelation, wandering
from mercer.monitoring.lags import lags_left, with_lags
from mercer.monitoring.levels import SHARE, Levels
from mercer.monitoring.limits import Dependence, Limits, UpperLimit, reach_of
from mercer.monitoring.persistence import kth_largest
from mercer.monitoring.split import SplitModel
from mercer.monitoring.times import seconds_of
from mercer.outliers.dependence import autocorrelation, correlation_time
from mercer.outliers.folds import contiguous_folds, gap_of
from mercer.outliers.scores import ScoreModel, score_model
from textbook import monitoring as textbook

SEEDS = st.integers(0, 2**31)


def autoregression(n: int, decay: float, rng: np.random.Generator) -> np.ndarray:
    x, out = rng.standard_normal(), []
    for e in rng.standard_normal(n):
        x = decay * x + np.sqrt(1 - decay**2) * e
        out.append(x)
    return np.array(out)


@given(SEEDS, st.integers(4, 60), st.floats(0.0, 0.99), st.sampled_from([1e-150, 1.0, 1e150]))
def test_autocorrelations_and_their_time_are_those_of_the_textbook(seed, n, decay, scale):
    x = scale * (3.0 + autoregression(n, decay, np.random.default_rng(seed)))
    if scale == 1.0:
        assert_allclose(autocorrelation(x), textbook.autocorrelations(x), atol=1e-9)
        assert correlation_time(x) == pytest.approx(textbook.correlation_time(x), rel=1e-6)
    assert np.isfinite(correlation_time(x))


@given(SEEDS, st.integers(40, 300), st.floats(0.0, 1.0), st.floats(-5, 5))
def test_the_unit_root_statistic_is_that_of_the_textbook(seed, n, decay, level):
    e = np.random.default_rng(seed).standard_normal(n)
    x = np.zeros(n)
    for t in range(1, n):
        x[t] = decay * x[t - 1] + e[t]
    assert dickey_fuller(level + x) == pytest.approx(textbook.dickey_fuller(level + x), rel=1e-6, abs=1e-8)


def test_a_time_of_an_autoregression_is_known(rng):
    for decay in (0.0, 0.5, 0.9):
        times = [correlation_time(autoregression(3000, decay, rng)) for _ in range(20)]
        assert np.mean(times) == pytest.approx((1 + decay) / (1 - decay), rel=0.15)


def test_constants_and_trends(rng):
    assert correlation_time(np.full(50, 1e6)) == 1.0
    assert correlation_time(np.array([1.0, 2.0])) == 1.0
    trend = np.linspace(0, 1, 400) + 0.05 * rng.standard_normal(400)
    walk = np.cumsum(rng.standard_normal(400))
    X = np.column_stack([np.ones(400), rng.standard_normal(400), trend, walk, autoregression(400, 0.5, rng)])
    assert wandering(X).tolist() == [False, False, True, True, False]


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_the_series_for_exceedances_is_the_probability_of_two(share):
    u = norm.isf(share)
    for rho in (-0.3, 0.2, 0.6, 0.8):
        both = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([-u, -u])
        exact = (both - share**2) / (share * (1 - share))
        assert exceedance_correlation(np.array([rho]), share)[0] == pytest.approx(exact, abs=0.01)


@given(SEEDS, st.integers(1, 30), st.integers(0, 4))
def test_lags_stop_at_the_start_of_a_segment(seed, n, lags):
    rng = np.random.default_rng(seed)
    X, starts = rng.standard_normal((n, 2)), rng.random(n) < 0.2
    starts[0] = True
    assert np.array_equal(with_lags(X, lags, starts), textbook.with_lags(X, lags, starts), equal_nan=True)


def test_as_many_lags_are_taken_as_the_process_has(rng):
    x = np.zeros((1000, 2))
    for t in range(2, 1000):
        x[t] = 0.2 * x[t - 1] + 0.6 * x[t - 2] + rng.standard_normal(2)
    starts = np.arange(1000) == 0
    assert lags_left(x, starts) == 2
    assert lags_left(rng.standard_normal((1000, 2)), starts) == 0


@given(SEEDS, st.integers(1, 30), st.integers(1, 5), st.integers(0, 4), st.integers(0, 10))
def test_the_kth_largest_goes_on_over_calls(seed, n, k, more, cut):
    values, m = np.random.default_rng(seed).standard_normal(n), k + more
    expected = textbook.kth_largest(values, k, m)
    assert np.array_equal(kth_largest(values, k, m, np.empty(0)), expected)
    cut = min(cut, n - 1)
    assert np.array_equal(kth_largest(values[cut:], k, m, values[:cut]), expected[cut:])


@given(SEEDS, st.integers(1, 40), st.floats(0.01, 1.0))
def test_smoothing_is_that_of_the_textbook(seed, n, weight):
    z = np.random.default_rng(seed).standard_normal((n, 2))
    assert_allclose(Chart.run(z, weight, np.zeros(2)), textbook.smoothed(z, weight), atol=1e-12)


def test_a_smoothed_value_can_be_held_and_rows_without_scores_do_not_count():
    z = np.array([[10.0, 1.0], [np.nan, np.nan], [0.0, 0.0]])
    assert Chart.run(z, 0.5, np.zeros(2), np.array([2.0, 9.0])).tolist() == [[2.0, 0.5], [2.0, 0.5], [1.0, 0.25]]


def test_the_weight_leaves_twenty_independent_values():
    for n, time in ((400, 1.0), (500, 3.0), (5000, 1.0)):
        w = weight_for(n, time)
        assert w == 0.05 or n * w / ((2 - w) * time) == pytest.approx(20.0)
    assert weight_for(50, 30.0) == 1.0


@given(st.integers(10, 300), st.integers(2, 10), st.integers(0, 100))
def test_folds_are_whole_and_keep_their_distance(n, n_folds, gap):
    seen = []
    for held, learned in contiguous_folds(n, n_folds, gap):
        seen += list(range(held.start, held.stop))
        assert len(learned) >= min(n // 2, n - (held.stop - held.start))
        distance = np.minimum(np.abs(learned - held.start), np.abs(learned - held.stop + 1)).min()
        margin = n - (held.stop - held.start) - len(learned)
        assert distance >= min(gap, margin // 2) + 1 or margin == 0
    assert seen == list(range(n))


def test_the_gap_follows_the_dependence(rng):
    slow = np.column_stack([autoregression(2000, 0.9, rng) for _ in range(5)])
    assert 25 <= gap_of(slow) <= 60
    assert gap_of(rng.standard_normal((2000, 5))) <= 4


@pytest.mark.parametrize("decay", [0.0, 0.8])
def test_limits_keep_their_rate_with_the_confidence_asked_for(decay):
    rates = []
    for seed in range(60):
        series = autoregression(500, decay, np.random.default_rng(seed))
        limit = UpperLimit(series, 0.9, Dependence.of(series))(0.01)
        rates.append(norm.sf(limit))
    assert np.mean(np.array(rates) <= 0.01) >= 0.85
    assert 0.2 <= np.mean(rates) / 0.01 <= 1.0


def test_a_future_value_is_further_from_the_mean_than_the_values_are(rng):
    records = [autoregression(700, 0.9, rng) for _ in range(600)]
    within = np.mean([record[:150].var() for record in records])
    future = np.mean([((record[400::100] - record[:150].mean()) ** 2).mean() for record in records])
    known = Dependence(150, np.empty(0), (1 + 0.9) / (1 - 0.9))
    assert known.widening == pytest.approx(np.sqrt(future / within), rel=0.03)


def test_the_precision_of_an_autocorrelation_time_is_that_of_a_variance(rng):
    series = [autoregression(3000, 0.6, rng) for _ in range(300)]
    times = np.array([correlation_time(one) for one in series])
    freedom = np.mean([Dependence.of(one).freedom for one in series])
    assert (times / times.mean()).var() == pytest.approx(2.0 / freedom, rel=0.35)
    assert Dependence(20, np.zeros(15), 1.0).freedom == 1.0


def test_more_confidence_and_fewer_rows_make_limits_wider(rng):
    series = autoregression(4000, 0.5, rng)
    loose, strict = (Limits.of(series, confidence).at(0.01) for confidence in (0.5, 0.99))
    assert loose < strict
    gaps = [Limits.of(part, 0.9).at(0.01) - Limits.of(part, 0.5).at(0.01) for part in (series, series[:200])]
    assert gaps[0] < gaps[1]


@given(SEEDS, st.integers(10, 200), st.sampled_from(["normal", "constant", "heavy", "two values"]))
def test_p_values_agree_with_limits(seed, n, kind):
    rng = np.random.default_rng(seed)
    series = {
        "normal": rng.standard_normal(n),
        "constant": np.zeros(n),
        "heavy": rng.standard_cauchy(n),
        "two values": rng.integers(0, 2, n).astype(float),
    }[kind]
    limits = Limits.of(series, 0.9)
    assert (np.diff(limits.values) < 0).all()
    for alpha in (0.2, 0.05, 0.01, 1e-4):
        at = limits.at(alpha)
        step = 1e-6 * max(1.0, abs(at))
        below, above = limits.p_values(np.array([at - step, at + step]))
        assert above <= alpha * (1 + 1e-9)
        assert below >= alpha * (1 - 1e-9)


def test_periods():
    assert seconds_of("1D") == 86400
    assert seconds_of("30 min") == 1800
    assert seconds_of("h") == 3600
    for wrong in ("1 year", "", 5, "0D"):
        with pytest.raises(ValueError, match="A period is a number"):
            seconds_of(wrong)


@given(SEEDS, st.integers(1, 5), st.integers(1, 8))
def test_contributions_to_a_square_are_those_of_the_textbook(seed, d, n):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((d + 2, d))
    M, X = A.T @ A, 3.0 * rng.standard_normal((n, d))
    found = reductions(lambda rows: np.einsum("ij,jk,ik->i", rows, M, rows), X, d)
    expected = [[textbook.reduction_of_square(M, x, j) for j in range(d)] for x in X]
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(X).max() ** 2 * np.abs(M).max())


def test_all_lags_of_a_variable_move_together():
    X = np.array([[5.0, 1.0, 5.0, 1.0]])  # two variables, one lag
    found = reductions(lambda rows: (rows**2).sum(axis=1), X, 2)
    assert_allclose(found, [[50.0, 2.0]], rtol=1e-9)


def linear_models(X: np.ndarray) -> list[ScoreModel]:
    split = SplitModel.of(Candidate(None).fitted(X, 6), 6)
    return [split, score_model(KernelPCA(6, kernel="linear").fit(X).expansion_, 1.0)]


@pytest.mark.parametrize(("rows", "variables", "lags"), [(60, 4, 1), (60, 5, 2), (30, 70, 1)])
def test_contributions_to_a_linear_model_are_those_of_rows_with_other_values(rng, rows, variables, lags):
    X = rng.standard_normal((rows, 3)) @ rng.standard_normal((3, variables * lags))
    X += 0.3 * rng.standard_normal(X.shape) + 2.0
    new, weights = 3.0 * X[:7] + rng.standard_normal((7, X.shape[1])), np.array([0.1, 0.02])
    for model in linear_models(X):
        expected = reductions(lambda some, model=model: model(some) @ weights, new, variables)
        found = model_reductions(model, weights, new, variables)
        assert_allclose(found, expected, rtol=1e-7, atol=1e-9 * expected.max())


def test_no_row_is_copied_for_each_of_its_variables_of_a_linear_model(rng, monkeypatch):
    model, new = linear_models(rng.standard_normal((40, 30)))[0], rng.standard_normal((9, 30))
    project, seen = Expansion.project_with_norm, list[int]()

    def counted(self: Expansion, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(len(X))
        return project(self, X)

    monkeypatch.setattr(Expansion, "project_with_norm", counted)
    model_reductions(model, np.ones(2), new, 30)
    assert sum(seen) == 9


def test_levels_of_drifting_columns_are_judged_by_students_distribution(rng):
    X = autoregression(400, 0.8, rng)[:, None]
    levels, drifts = Levels.of(X, np.array([True])), np.array([True, True])
    independent = float(levels.freedom[0]) + 1.0
    assert independent == pytest.approx(400 / (2 * correlation_time(X[:, 0])))
    new = X.mean() + X.std() * np.array([[0.0], [2.0], [-5.0]])
    expected = np.array([textbook.level_p_value(x, X.mean(), X.std(), independent, student.pdf) for x in new[:, 0]])
    assert_allclose(_p_of_levels(levels, new), np.where(expected > 0.1, 1.0, expected / SHARE), atol=1e-6)
    assert 0.0 < expected[2] < 0.5 * SHARE
    less = replace(levels, share=0.01)
    assert_allclose(_p_of_levels(less, new)[2], min(100.0 * expected[2], 1.0), atol=1e-6)
    both = Levels.of(np.repeat(X, 2, axis=1), drifts)
    assert_allclose(_p_of_levels(both, np.repeat(new, 2, axis=1))[2], 2.0 * expected[2] / SHARE, atol=1e-6)
    none = Levels.of(X[:, :0], drifts[:0])
    assert _p_of_levels(none, new[:, :0]).tolist() == [1.0, 1.0, 1.0]


def test_no_slow_mean_of_a_training_row_is_beyond_its_limit(rng):
    X = rng.standard_normal((3000, 3))
    X[240:280, 1] += 3.0  # an excursion that belongs to normal operation
    levels = Levels.of(X, np.zeros(3, bool))
    sizes = np.abs(levels.followed(X, np.zeros(3), 0.01)[0]) / levels.limits(0.01)
    assert sizes.max() == pytest.approx(1.0)
    plain = Levels.of(np.delete(X, np.s_[240:280], axis=0), np.zeros(3, bool))
    assert (levels.unit[[0, 2]] > 1.1 * plain.unit[[0, 2]]).all()  # other columns may have such excursions, too


def test_usual_rows_leave_the_limits_as_they_are(rng):
    X = rng.standard_normal((500, 3))
    levels, drifts = Levels.of(X, np.zeros(3, bool)), np.array([False, False, True])
    sizes = np.abs(levels.followed(X, np.zeros(3), 0.01)[0]) / levels.limits(0.01)
    assert sizes.max() < 1.0
    assert_allclose(levels.covering(X).unit, levels.unit)
    one = Levels.of(X, drifts)
    assert one.covering(10.0 * X).unit[2] == one.unit[2]  # rows of a drifting column are judged one by one


def _p_of_levels(levels: Levels, new: np.ndarray) -> np.ndarray:
    return levels.p_values(levels.followed(new, np.zeros(new.shape[1]), 0.01)[0])


def test_a_followed_level_is_the_weighted_mean_of_the_textbook_and_can_be_held(rng):
    X, drifts = rng.standard_normal((300, 3)), np.array([False, False, True])
    levels, new = Levels.of(X, drifts), 0.3 * rng.standard_normal((50, 3))
    found, end = levels.followed(new, np.zeros(3), 0.01)
    deviations = (new - X.mean(axis=0)) / levels.unit
    assert_allclose(found[:, :2], textbook.smoothed(deviations[:, :2], 0.05), atol=1e-12)
    assert_allclose(found[:, 2], deviations[:, 2], atol=1e-12)
    first, between = levels.followed(new[:20], np.zeros(3), 0.01)
    assert np.array_equal(np.vstack([first, levels.followed(new[20:], between, 0.01)[0]]), found)
    assert np.array_equal(levels.followed(new[20:], between, 0.01)[1], end)
    _, far = levels.followed(np.vstack([new, new]) + 1e6, np.zeros(3), 0.01)
    assert_allclose(far, 2.0 * levels.limits(0.01))
    wild, _ = levels.followed(new[:1] + 1e6, np.zeros(3), 0.01)
    assert_allclose(wild[0, :2], 0.05 * 4.0 * X.std(axis=0)[:2] / levels.unit[:2])
    assert (np.abs(wild[0, :2]) < levels.limits(0.01)[:2]).all()
    assert wild[0, 2] > levels.limits(0.01)[2]
    holed = np.vstack([new[:1], np.full((1, 3), np.nan), new[1:]])
    shown, _ = levels.followed(holed, np.zeros(3), 0.01)
    assert np.array_equal(np.delete(shown, 1, axis=0), found)
    assert (shown[1] == 0).all()


@pytest.mark.parametrize("decay", [0.0, 0.7, 0.95])
def test_the_spread_of_a_followed_level_is_that_of_later_rows(decay):
    sizes = []
    for seed in range(60):
        x = autoregression(3000, decay, np.random.default_rng(seed))[:, None]
        levels = Levels.of(x[:500], np.array([False]))
        sizes.append((levels.followed(x[1000:], np.zeros(1), 0.01)[0][200:] ** 2).mean())
    assert 0.6 <= np.median(sizes) <= 1.2


@given(SEEDS, st.integers(2, 30), st.sampled_from([0.2, 0.5, 0.9]))
def test_autocorrelations_of_rows_with_gaps_are_those_of_the_textbook(seed, n, share):
    rng = np.random.default_rng(seed)
    x, place = rng.standard_normal(n), np.cumsum(rng.geometric(share, n))
    found = spaced_autocorrelation(x, place)
    assert_allclose(found, textbook.spaced_autocorrelations(x, place), atol=1e-9)
    assert_allclose(spaced_autocorrelation(1e300 * x, place), found, atol=1e-9)
    assert_allclose(spaced_autocorrelation(x, np.arange(n)), autocorrelation(x), atol=1e-9)
    assert spaced_autocorrelation(np.ones(n), place)[1:].tolist() == [0.0] * (len(found) - 1)


@pytest.mark.parametrize("gaps", ["every fourth", "at random"])
def test_levels_of_rows_with_gaps_have_the_spread_that_rows_without_gaps_have(gaps):
    sizes = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = autoregression(5000, 0.8, rng)[:, None]
        place = np.arange(0, 2000, 4) if gaps == "every fourth" else np.flatnonzero(rng.random(2000) < 0.25)
        levels = Levels.of(x[place], np.array([False]), place=place)
        sizes.append((levels.followed(x[2000:], np.zeros(1), 0.01)[0][200:] ** 2).mean())
    assert 0.6 <= np.median(sizes) <= 1.2


def test_levels_keep_their_rate_on_later_rows():
    rates = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = np.column_stack([autoregression(4000, decay, rng) for decay in (0.0, 0.0, 0.5, 0.8, 0.9, 0.9)])
        levels = Levels.of(X[:400], np.zeros(6, bool))
        rates.append((_p_of_levels(levels, X[400:]) <= 0.5).mean() / (0.5 * SHARE))
    assert 0.02 <= np.mean(rates) <= 1.0
    assert np.mean(np.array(rates) > 2.0) <= 0.15


def test_constant_columns_and_columns_that_are_not_followed_have_no_level(rng):
    X = np.column_stack([np.full(100, 3.0), rng.standard_normal(100), np.cumsum(rng.standard_normal(100))])
    drifts = np.array([False, False, True])
    assert np.isfinite(Levels.of(X, drifts).unit).tolist() == [False, True, True]
    assert np.isfinite(Levels.of(X, drifts, followed=False).unit).tolist() == [False, False, True]
    assert Levels.of(X, drifts, followed=False).count == 1
    assert Levels.of(X * 1e300, drifts).unit[1] == pytest.approx(1e300 * Levels.of(X, drifts).unit[1])


def test_the_reference_distribution_is_normal_up_to_five_percent_and_has_an_exponential_tail():
    for alpha in (0.5, 0.2, 0.1, 0.05):
        assert reach_of(alpha) == pytest.approx(norm.isf(alpha), abs=1e-12)
    steps = np.diff([reach_of(10.0**-k) for k in range(1, 7)])
    assert_allclose(steps, steps[0])
    assert reach_of(0.01) > norm.isf(0.01)


@pytest.mark.parametrize("decay", [0.9, 0.98])
def test_large_values_are_as_dependent_as_they_are_counted(decay):
    """Cube roots of T2 of a slow and three fast components: the slow one keeps large values together for longer than a
    normal process with the same autocorrelations would."""
    noise = np.random.default_rng(0).standard_normal((400_200, 4))
    slow = lfilter([np.sqrt(1 - decay**2)], [1.0, -decay], noise[:, 0])
    values = np.cbrt(slow**2 + (noise[:, 1:] ** 2).sum(axis=1))[200:]
    above, upper = values > np.quantile(values, 0.9), np.maximum(values - np.median(values), 0.0) ** 2
    found = Dependence.of(values)
    true = len(values) / (2000 * above.reshape(-1, 2000).mean(axis=1).var() / above.var())
    assert 0.7 * true <= found.of_tail(0.1) / 0.1 <= 1.1 * true
    assert found.effective <= 1.1 * len(values) / (2000 * upper.reshape(-1, 2000).mean(axis=1).var() / upper.var())
