"""T2 and SPE that are in units of all spreads: their twin, all numbers of components at once, slopes and limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.signal import lfilter

from mercer import KernelPCA, ProcessMonitor
from mercer.monitoring.candidates import Candidate
from mercer.monitoring.imputation import index_and_slope
from mercer.monitoring.split import SplitModel, main_of, path_of_scores
from textbook import monitoring as textbook

SEEDS = st.integers(0, 2**31)


def scaled(X: np.ndarray, new: np.ndarray) -> np.ndarray:
    return (new - X.mean(axis=0)) / X.std(axis=0)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(1, 6))
def test_t2_and_spe_are_those_of_the_textbook(seed, d, n_components):
    rng, k = np.random.default_rng(seed), min(d, n_components)
    X = rng.standard_normal((40, d)) @ rng.standard_normal((d, d))
    new = 2.0 * rng.standard_normal((9, d)) @ rng.standard_normal((d, d))
    model = SplitModel.of(Candidate(None).fitted(scaled(X, X), d), k)
    assert_allclose(model(scaled(X, new)), textbook.split_t2_and_spe(X, new, k), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("gamma", [None, 0.05])
def test_all_numbers_of_components_at_once_give_the_same(gamma, rng):
    X, new = rng.standard_normal((2, 60, 5)) @ rng.standard_normal((5, 5))
    expansion, counts = Candidate(gamma).fitted(X, 5), [1, 2, 4, 5]
    expected = np.stack([SplitModel.of(expansion, count)(new) for count in counts], axis=1)
    assert_allclose(path_of_scores(expansion, new, counts), expected, rtol=1e-8, atol=1e-10)


def test_main_components_hold_nine_tenths_and_leave_one_for_spe():
    assert main_of(np.array([5.0, 4.5, 0.5]), 10.0) == 2
    assert main_of(np.array([9.5, 0.3, 0.2]), 10.0) == 1
    assert main_of(np.array([5.0, 1.0]), 10.0) == 1
    assert main_of(np.array([1.0]), 1.0) == 1
    assert main_of(np.array([0.0]), 0.0) == 1


@pytest.mark.parametrize("value", [0.0, 3.0, -1e6])
def test_a_constant_column_that_changes_is_an_alarm(value, rng):
    X = np.column_stack([rng.standard_normal((300, 3)), np.full(300, value)])
    monitor = ProcessMonitor().fit(X)
    new = np.column_stack([rng.standard_normal((50, 3)), np.full(50, value)])
    assert monitor.verdicts(new).alarm.mean() <= 0.04
    new[:, 3] += 0.01 * max(abs(value), 1.0)
    verdicts = monitor.verdicts(new)
    assert verdicts.alarm[10:].all()  # smoothed
    assert monitor.contributions(new)[-1].argmax() == 3


@settings(deadline=None, max_examples=15)
@given(SEEDS)
def test_the_slope_is_that_of_the_index(seed):
    rng = np.random.default_rng(seed)
    model = SplitModel.of(Candidate(0.2).fitted(rng.standard_normal((30, 3)), 6), 6)
    Z = rng.standard_normal((4, 3))
    index, slope = index_and_slope(model, Z, 0.3)
    assert_allclose(index, model(Z) @ [1.0, 1.0 / 0.3], rtol=1e-9)
    for j in range(3):
        step = 1e-5 * np.eye(3)[j]
        rise = (model(Z + step) - model(Z - step)) @ [1.0, 1.0 / 0.3]
        assert_allclose(slope[:, j], rise / 2e-5, rtol=1e-4, atol=1e-5 * np.abs(slope).max())


def test_a_close_relation_that_breaks_is_found_among_loose_ones(rng):
    f = lfilter([1.0], [1.0, -0.5], rng.standard_normal((1000, 3)), axis=0)
    close = f[:, :2] @ [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]] + 0.05 * rng.standard_normal((1000, 3))
    loose = f[:, 2:] + 0.5 * rng.standard_normal((1000, 4))
    X = np.column_stack([close, loose])
    X[700:, 2] += 0.4
    estimators = (KernelPCA(0.9, kernel="linear"), None)
    plain, split = (ProcessMonitor(estimator, levels=False).fit(X[:500]) for estimator in estimators)
    assert "linear" in split.kernel_
    assert plain.verdicts(X[500:]).alarm[200:].mean() <= 0.2
    found = split.verdicts(X[500:]).alarm
    assert found[:200].mean() <= 0.02
    assert found[210:].mean() >= 0.9
