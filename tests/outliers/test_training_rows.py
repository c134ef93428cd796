"""Training rows are judged by the model that was not fitted to them."""

import warnings

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import KernelOutlierDetector, KernelPCA
from mercer.outliers.dominance import dominating_rows

pytestmark = pytest.mark.filterwarnings("ignore")


def with_outliers(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, far = rng.normal(size=(n, d)), np.zeros(n, bool)
    far[rng.permutation(n)[: n // 50]] = True
    X[far] = 20.0 + 8.0 * rng.normal(size=(far.sum(), d))
    return X, far


@pytest.mark.parametrize(("n", "d"), [(100, 4), (200, 6), (500, 4)])
def test_a_model_with_many_components_finds_outliers_that_it_has_learned(n, d):
    X, far = with_outliers(n, d, 0)
    detector = KernelOutlierDetector(KernelPCA(n // 3, kernel="rbf", gamma="median"), random_state=0)
    assert (detector.fit_predict(X)[far] == -1).all()
    assert (detector.predict(X)[far] == -1).all()


@pytest.mark.parametrize(("n", "d"), [(100, 200), (300, 300)])
def test_clean_tables_with_many_columns_raise_few_alarms(n, d):
    shares = [
        (KernelOutlierDetector(random_state=0).fit_predict(np.random.default_rng(s).normal(size=(n, d))) < 0).mean()
        for s in range(3)
    ]
    assert np.mean(shares) < 0.08


def test_scores_of_held_rows_are_those_of_the_calibration(rng):
    X = rng.normal(size=(120, 3))
    detector = KernelOutlierDetector(KernelPCA(5, kernel="rbf", gamma=0.1), standardize=False, random_state=0).fit(X)
    known = np.sort(np.vstack(detector.calibration_.folds), axis=0)
    np.testing.assert_allclose(np.sort(detector.statistics(X), axis=0), known, rtol=1e-12)


def test_some_rows_in_any_order_get_the_scores_of_all(rng):
    X = rng.normal(size=(400, 3))
    detector = KernelOutlierDetector(random_state=0).fit(X)
    some = rng.permutation(400)[:50]
    np.testing.assert_array_equal(detector.p_values(X[some]), detector.p_values(X)[some])


def test_repeated_and_new_rows_are_judged_by_all_models(rng):
    X = rng.normal(size=(150, 3))
    X[1] = X[0]
    detector = KernelOutlierDetector(random_state=0).fit(X)
    for rows in (X[:2], X[:20] + 1e-12):
        np.testing.assert_allclose(detector.statistics(rows), detector._judges(rows).mean(axis=0))


def test_zero_has_one_sign(rng):
    X = rng.normal(size=(150, 3))
    X[0, 0] = 0.0
    detector = KernelOutlierDetector(random_state=0).fit(X)
    negative = X[:1] * [-1.0, 1.0, 1.0]
    np.testing.assert_array_equal(detector.p_values(negative), detector.p_values(X[:1]))


def test_a_loaded_detector_knows_its_training_rows(rng, tmp_path):
    X = rng.normal(size=(200, 4))
    detector = KernelOutlierDetector(random_state=0).fit(X)
    detector.save(tmp_path / "d.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "d.mercer").p_values(X), detector.p_values(X))


# -- rows that decide how a column is scaled ------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [KernelOutlierDetector, mercer.ProcessMonitor])
def test_a_row_that_holds_nearly_all_variation_of_a_column_is_named(cls, rng):
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["flow", "level", "heat"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        cls(random_state=0).fit(X)
    X.loc[17, "level"] = -9999.0
    with pytest.warns(UserWarning, match="row 17 in column 'level'"):
        cls(random_state=0).fit(X)


def test_a_rare_flag_is_no_such_row(rng):
    X = np.column_stack([rng.normal(size=100), np.eye(100)[3]])
    assert dominating_rows(X) == []
    X[:50, 0] = np.nan
    X[60, 0] = 1e300
    assert dominating_rows(X) == [(0, 60)]


# -- linear models that hold every row ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [100, 400])
def test_rounding_errors_of_spe_do_not_decide(n, rng):
    X, new = rng.normal(size=(n, 2)), rng.normal(size=(300, 2))
    both, t2 = (
        KernelOutlierDetector(KernelPCA(2), explained=1.0, statistic=statistic, random_state=0).fit(X)
        for statistic in ("both", "t2")
    )
    assert (both.statistics(new)[:, 1] == 0.0).all()
    unusual = t2.p_values(new) < 0.4  # "both" does not tell rows with a small T2 apart
    np.testing.assert_array_equal(both.p_values(new)[unusual], t2.p_values(new)[unusual])
