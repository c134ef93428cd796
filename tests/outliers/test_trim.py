"""`trim`: rows that look like outliers are left out of the models, and alarms keep their rate."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import mercer
from mercer import KernelOutlierDetector, KernelPCA, RobustKernelPCA
from mercer.outliers.trimming import trimmed

RNG = np.random.default_rng(0)
NORMAL = RNG.uniform(-2, 2, size=(190, 3))
GROUP = 0.2 * RNG.normal(size=(10, 3)) + [6.0, 0.0, 0.0]
ROWS = np.vstack([NORMAL, GROUP])


def test_the_most_unusual_rows_are_left_out_and_the_others_keep_their_order():
    mixed = ROWS[np.random.default_rng(1).permutation(200)]
    kept = trimmed(mixed, 0.05)
    assert_array_equal(kept, mixed[mixed[:, 0] < 4.5])


@pytest.mark.parametrize(("share", "left"), [(0.0, 200), (0.004, 200), (0.1, 180), (0.49, 102)])
def test_the_share_is_rounded_down(share, left):
    assert len(trimmed(ROWS, share)) == left


def test_of_many_rows_some_make_the_first_model():
    many = np.random.default_rng(2).normal(size=(2500, 2))
    many[:20] += 9.0
    assert_array_equal(trimmed(many, 0.008), many[20:])


def detector(**more):
    model = KernelPCA(20, kernel="rbf", gamma="median")
    return KernelOutlierDetector(model, statistic="both", explained=1.0, random_state=0, **more)


def test_a_group_of_outliers_among_the_rows_is_found():
    plain, careful = detector().fit(ROWS), detector(trim=0.1).fit(ROWS)
    assert (careful.score_samples(GROUP)[:, None] < careful.score_samples(NORMAL)).mean() > 0.99
    assert (plain.score_samples(GROUP)[:, None] < plain.score_samples(NORMAL)).mean() < 0.9


def test_models_equal_those_of_the_rows_that_are_left():
    fitted = detector(trim=0.1).fit(ROWS)
    left = trimmed(ROWS, 0.1)
    again = detector().fit(left)
    assert fitted.estimator_.n_features_in_ == 3
    assert len(fitted.estimator_.expansion_.points) == len(left) == len(again.estimator_.expansion_.points)
    assert_array_equal(fitted.estimator_.eigenvalues_, again.estimator_.eigenvalues_)


@pytest.mark.parametrize("n", [150, 400])  # with 300 rows and more, models share a kernel matrix, but not here
def test_clean_rows_raise_alarms_at_the_promised_rate(n):
    rates = []
    for seed in range(4):
        rows = np.random.default_rng(seed).standard_t(4, size=(n + 3000, 4))
        fitted = KernelOutlierDetector(alpha=0.05, trim=0.2, random_state=seed).fit(rows[:n])
        rates.append((fitted.predict(rows[n:]) == -1).mean())
    assert 0.03 < np.mean(rates) < 0.07


def test_it_is_a_parameter_like_the_others(tmp_path):
    fitted = detector(trim=0.1).fit(ROWS)
    assert clone(fitted).trim == 0.1
    fitted.save(tmp_path / "detector")
    assert_array_equal(mercer.load(tmp_path / "detector").score_samples(ROWS), fitted.score_samples(ROWS))
    for wrong in (-0.1, 0.5, "a tenth"):
        with pytest.raises(ValueError, match="'trim' parameter"):
            detector(trim=wrong).fit(ROWS)


def test_it_holds_for_selected_settings_too():
    mixed = np.tile(ROWS, (1, 8))[np.random.default_rng(1).permutation(200)]
    fitted = KernelOutlierDetector("select", trim=0.05, random_state=0).fit(mixed)
    found = mercer.select(mixed, "outliers", random_state=0)
    assert fitted.estimator_.get_params() == found.estimator.estimator.get_params()
    assert found.estimator.trim == 0.05
    again = found.estimator.set_params(random_state=0).fit(mixed)
    assert len(again.estimator_.expansion_.points) == len(fitted.estimator_.expansion_.points) == 190


@pytest.mark.parametrize("cell", [1e6, 1e12, 1e20])
@pytest.mark.parametrize("model", [None, KernelPCA(2), RobustKernelPCA(2)])
def test_an_enormous_cell_among_the_rows_does_not_hide_other_outliers(model, cell):
    rng = np.random.default_rng(4)
    rows, clean = rng.normal(size=(400, 4)), rng.normal(size=(500, 4))
    rows[7, 1] = cell
    fitted = KernelOutlierDetector(model, trim=0.05, random_state=0).fit(rows)
    assert (fitted.predict(clean + np.array([0.0, 0.0, 9.0, 0.0])) == -1).all()
    assert 0.01 < (fitted.predict(clean) == -1).mean() < 0.1
    assert fitted.predict(rows[7:8]) == -1
