"""Relations between columns: the part of each that the others do not explain, and its slow mean."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chi2

import mercer
from benchmarks.suite.processes import plant, stirred_tank, vector_autoregression
from mercer import ProcessMonitor
from mercer.monitoring.levels import Levels
from mercer.monitoring.relations import SHARE, Relations, _moderated
from mercer.monitoring.slow_means import SlowMeans
from mercer.monitoring.stream import in_blocks
from mercer.monitoring.thin_matrix import ThinMatrix
from mercer.outliers.folds import contiguous_folds
from textbook import monitoring as textbook

N = 400


def learned(X: np.ndarray) -> Relations:
    return Relations.of(X, contiguous_folds(len(X), 10, 5))


def run(relations: Relations, X: np.ndarray) -> np.ndarray:
    return relations.levels.followed(relations(X), np.zeros(X.shape[1]), 0.01)[0]


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_adjusted_columns_are_errors_of_ridge_regressions(seed, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, d)) @ rng.standard_normal((d, d)) + 5.0
    new = rng.standard_normal((7, d)) * 3.0
    assert_allclose(learned(X)(new), textbook.adjusted(X, new, 0.01), rtol=1e-6, atol=1e-8)


def test_slow_means_of_adjusted_columns_are_weighted_means(rng):
    X = rng.standard_normal((N + 50, 4)) @ rng.standard_normal((4, 4))
    relations = learned(X[:N])
    expected = textbook.smoothed(textbook.adjusted(X[:N], X[N:], 0.01), 0.1) / relations.levels.unit
    assert_allclose(run(relations, X[N:]), expected, rtol=1e-6, atol=1e-8)


def test_an_error_of_one_sensor_moves_its_own_adjusted_column_most(rng):
    X = rng.standard_normal((2000, 3)) @ rng.standard_normal((3, 8)) + 0.3 * rng.standard_normal((2000, 8))
    relations = learned(X)
    for j in range(8):
        moved = np.abs(relations(X[:1] + np.eye(8)[j]) - relations(X[:1]))[0]
        assert moved.argmax() == j


@pytest.mark.parametrize("process", [vector_autoregression, stirred_tank, plant])
def test_relations_keep_their_rate_on_later_rows(process):
    rates = []
    for seed in range(6):
        X = process(3500, 700 + seed)
        relations = Relations.of(X[:500], contiguous_folds(500, 10, 20))
        rates.append((relations.levels.p_values(run(relations, X[500:])) * SHARE <= 0.02).mean() / 0.02)
    assert np.mean(rates) <= 1.5


def test_spreads_come_from_rows_that_were_not_learned_from(rng):
    """With 60 rows and 40 columns the errors of learned rows are far too small."""
    X = rng.standard_normal((3060, 40))
    relations = learned(X[:60])
    spread = relations(X[60:]).std(axis=0)
    assert relations(X[:60]).std(axis=0).mean() < 0.6 * spread.mean()
    slow = run(relations, X[60:])[50:]
    assert 0.1 <= (slow**2).mean() <= 1.5


def test_variances_are_drawn_together_only_if_they_are_alike(rng):
    freedom = np.full(200, 8.0)
    equal = chi2.rvs(8, size=200, random_state=1) / 8.0
    found, f = _moderated(equal, freedom, 500)
    assert np.std(found) < 0.25 * np.std(equal)
    assert found.mean() == pytest.approx(1.0, abs=0.1)
    assert (f > 50.0).all()
    different = equal * np.exp(3.0 * rng.standard_normal(200))
    found, f = _moderated(different, freedom, 500)
    assert_allclose(found[different > 1.0], different[different > 1.0], rtol=0.5)
    assert (f < 10.0).all()
    assert_allclose(_moderated(equal[:1], freedom[:1], 500)[0], equal[:1])


def test_a_row_with_a_missing_value_leaves_relations_as_they_are(rng):
    X = rng.standard_normal((N + 40, 4)) @ rng.standard_normal((4, 4))
    relations, holed = learned(X[:N]), np.insert(X[N:], 20, [0.0, np.nan, 0.0, 0.0], axis=0)
    shown = run(relations, holed)
    assert_allclose(np.delete(shown, 20, axis=0), run(relations, X[N:]), atol=1e-12)
    assert (shown[20] == 0.0).all()


def test_equal_and_constant_columns_do_no_harm(rng):
    a = rng.standard_normal((N + 300, 3))
    X = np.column_stack([a, a[:, 0], np.full(N + 300, 7.0)])
    monitor = ProcessMonitor().fit(X[:N])
    assert monitor.verdicts(X[N:]).alarm.mean() <= 0.03
    X[N + 100 :, 3] += 0.3  # it no longer equals column 0
    found = monitor.verdicts(X[N:])
    assert found.alarm[120:].all()
    assert monitor.contributions(X[N:])[-1].argmax() in (0, 3)


def test_contributions_are_those_of_the_best_other_values_of_one_column(rng):
    """The sum of squares falls by that amount: least squares over a constant change of the column."""
    X = rng.standard_normal((N + 30, 4)) @ rng.standard_normal((4, 4))
    relations = learned(X[:N])
    limits = relations.levels.unit * relations.levels.limits(0.01)
    last = textbook.smoothed(textbook.adjusted(X[:N], X[N:], 0.01), 0.1)[-1] / limits
    found = relations.contributions(X[N:], 0.01)[-1]
    for j in range(4):
        column = relations.matrix[:, j] / limits
        left = np.linalg.lstsq(column[:, None], last, rcond=None)[1]
        assert found[j] == pytest.approx((last**2).sum() - left[0], rel=1e-6)


def wide_rows(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.3 * rng.standard_normal((n, d))
    X[:, 1] = X[:, 0]
    return X


def test_more_columns_than_rows_are_adjusted_by_a_matrix_of_the_rows_side(rng):
    X = wide_rows(rng, 40, 50)
    relations = learned(X[:30])
    assert isinstance(relations.matrix, ThinMatrix)
    assert relations.matrix.factor.shape == (50, 30)  # nothing of 50 x 50
    assert_allclose(relations(X[30:]), textbook.adjusted(X[:30], X[30:], 0.01), rtol=1e-9, atol=1e-11)
    missing = X[30:32].copy()
    missing[0, 5] = np.nan
    assert np.isnan(relations(missing)).all(axis=1).tolist() == [True, False]


def test_contributions_of_more_columns_than_rows_are_those_of_the_whole_matrix(rng):
    X = wide_rows(rng, 80, 150)
    X[:, 2] = 7.0
    relations = learned(X[:60])
    scaling = relations.scaling
    Z = scaling(X[:60])
    P = np.linalg.inv(Z.T @ Z / 60 + 0.01 * np.eye(150))
    whole = Relations(scaling, P / np.sqrt(np.diag(P))[:, None], relations.levels)
    expected = whole.contributions(X[60:], 0.01)
    assert_allclose(relations.contributions(X[60:], 0.01), expected, rtol=1e-8, atol=1e-10 * expected.max())
    assert np.isinf(relations.levels.unit).any()  # the column that does not vary is not judged


def test_a_monitor_of_more_columns_than_rows_is_saved_with_its_relations(rng, tmp_path):
    X = wide_rows(rng, 80, 90)
    monitor = ProcessMonitor().fit(X[:60])
    monitor.save(tmp_path / "wide.mercer")
    again = mercer.load(tmp_path / "wide.mercer")
    assert isinstance(again._slow.relations.matrix, ThinMatrix)
    assert_allclose(again.contributions(X[60:]), monitor.contributions(X[60:]), rtol=0, atol=0)


def test_an_error_contributes_most_at_its_sensor_whatever_the_limits_are():
    X = stirred_tank(700, 3)
    relations = Relations.of(X[:500], contiguous_folds(500, 10, 20))
    expected = np.tile(X[:500].mean(axis=0), (40, 1))
    for j in range(9):
        for size in (0.5, 50.0):
            moved = expected + size * X[:500].std(axis=0) * np.eye(9)[j]
            assert relations.contributions(moved, 0.01)[-1].argmax() == j


def test_slow_means_in_words(rng):
    X = rng.standard_normal((300, 3))
    kept = np.array([0, 2])
    relations = learned(X[:, kept])
    slow = SlowMeans(Levels.of(X, np.zeros(3, bool)), relations, kept)
    limits = np.concatenate([slow.levels.limits(0.01), relations.levels.limits(0.01)])
    factors = np.array([[1.5, 0, -2.0, 0, 0], [0, 0, 0, 0, -1.1], [0.1, 0.5, 0, 0.2, 0], [0, 3.0, 0, 1.0, 0]])
    texts = slow.in_words(factors * limits, 0.01, ["a", "b", "c"])
    assert texts == ["level: c, a", "relation: c", "level: b", "level: b; relation: a"]
    assert slow.share == pytest.approx(0.1 + SHARE)
    assert SlowMeans(slow.levels, None, kept).in_words(factors[:1, :3], 0.01, ["a", "b", "c"])[0].startswith("level: ")


def test_a_sensor_that_leaves_its_relation_is_named_and_explained(tmp_path):
    X = stirred_tank(1100, 31)
    X[800:, 4] += 0.7 * X[:500, 4].std()
    names = [f"v{i}" for i in range(9)]
    frame = pd.DataFrame(X, columns=names)
    monitor = ProcessMonitor().fit(frame[:500])
    found = monitor.judge(frame[500:])
    named = found.which[400:][np.char.find(found.which[400:], "relation") >= 0]
    assert len(named) >= 50
    assert (np.char.find(named, "relation: v4") >= 0).mean() >= 0.9
    assert monitor.contributions(frame[500:])[400:].argmax(axis=1).tolist().count(4) >= 180
    monitor.save(tmp_path / "m")
    again = mercer.load(tmp_path / "m")
    assert np.array_equal(again.judge(frame[500:]).which, monitor.judge(frame[500:]).which)


def test_the_summary_tells_of_slow_means_and_of_those_beyond_their_limits(rng):
    X = rng.standard_normal((N + 60, 3)) + rng.standard_normal((N + 60, 1))
    monitor = ProcessMonitor().fit(X[:N])
    text = monitor.summary()
    assert "Levels: a slow mean of each column raises an alarm, too (10% of the false alarms)." in text
    assert "Relations: so does a slow mean of what the other columns do not explain of it (30%)." in text
    assert "Beyond" not in text
    monitor.judge(X[N:] + np.array([0.0, 1.5, 0.0]))
    [line] = [line for line in monitor.summary().splitlines() if line.startswith("Beyond")]
    assert line.startswith("Beyond the limits of slow means: level: column 1; relation: column 1")
    assert "Levels" not in ProcessMonitor(levels=False).fit(X[:N]).summary()
    assert "Relations" not in ProcessMonitor(levels=False).fit(X[:N]).summary()


def test_a_monitor_of_one_column_has_no_relations(rng):
    monitor = ProcessMonitor().fit(rng.standard_normal((200, 1)))
    assert monitor._slow.relations is None
    assert monitor._slow.share == pytest.approx(0.1)
    assert monitor.judge(rng.standard_normal((50, 1))).alarm.mean() <= 0.1
    deviations, end = monitor._slow.followed(np.zeros((3, 1)), np.zeros(1), 0.01, in_blocks)
    assert np.array_equal(deviations[-1], end)
