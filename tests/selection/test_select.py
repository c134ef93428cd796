"""`select`: its result as an object, what it refuses, and what it says."""

import datetime
import logging
import pickle
import sys
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import mercer
from selection_data import curve, low_rank

X = curve(90)
SMALL = {"kernel": ["linear", "rbf"], "width": [1.0, 4.0], "n_components": [2, 8]}
KINDS = {"reconstruction": "KernelPCA", "denoising": "KernelPCA", "outliers": "KernelOutlierDetector"}
COLUMNS = ["kernel", "gamma", "width", "n_components", "standardize", "score", "standard_error", "chosen"]


@pytest.mark.parametrize("purpose", ["reconstruction", "denoising", "features", "outliers"])
def test_a_selection_holds_an_estimator_a_table_and_a_reason(purpose):
    found = mercer.select(X, purpose, candidates=SMALL, random_state=0)
    assert isinstance(found, mercer.Selection)
    assert isinstance(found.estimator, Pipeline) or type(found.estimator).__name__ == KINDS.get(purpose, "KernelPCA")
    assert list(found.table.columns) == COLUMNS
    assert found.table["chosen"].sum() == 1
    assert found.table["score"].is_monotonic_decreasing
    assert (found.table["standard_error"] >= 0).all()
    assert found.why.count(".") >= 2
    assert found.why in repr(found)
    fitted = clone(found.estimator).fit(X)
    assert not hasattr(found.estimator, "estimator_")
    assert len(fitted.transform(X) if hasattr(fitted, "transform") else fitted.predict(X)) == 90


@pytest.mark.parametrize("purpose", ["reconstruction", "features", "outliers"])
def test_the_estimator_has_the_settings_of_the_table(purpose):
    known = {"contaminated": False} if purpose == "outliers" else {}
    found = mercer.select(X, purpose, random_state=0, **known)
    row = found.table[found.table["chosen"]].iloc[0]
    params = found.estimator.get_params()
    prefix = {"outliers": "estimator__", "features": "kernelpca__"}.get(purpose, "")
    prefix = prefix if any(key.startswith(prefix) for key in params) else ""
    assert params[f"{prefix}n_components"] == row["n_components"]
    assert params[f"{prefix}kernel"] == row["kernel"]
    assert row["kernel"] == "linear" or params[f"{prefix}gamma"] == row["gamma"]
    if purpose == "features":
        assert ("standardscaler" in params) == (row["standardize"] == "variance")
    if purpose == "outliers":
        assert (params["standardize"], params["explained"]) == (row["standardize"], 1.0)


def test_features_take_all_components_of_the_best_kernel():
    found = mercer.select(X, "features", random_state=0)
    row = found.table[found.table["chosen"]].iloc[0]
    own = found.table[(found.table["width"] == row["width"]) & (found.table["standardize"] == row["standardize"])]
    assert row["n_components"] == own["n_components"].max()
    assert own["score"].max() == found.table["score"].max()


def test_for_features_the_reason_names_the_number_of_components_that_predicts_best():
    found = mercer.select(low_rank(), "features", random_state=0, candidates={"kernel": ["linear"]})
    assert found.estimator[-1].n_components == 12 if isinstance(found.estimator, Pipeline) else True
    assert ": with 4 components it predicts" in found.why or ": with 2 components it predicts" in found.why


def test_a_selection_is_frozen_cloned_and_pickled():
    found = mercer.select(X, candidates=SMALL, random_state=0)
    with pytest.raises(FrozenInstanceError):
        found.why = "because"
    for other in (clone(found), pickle.loads(pickle.dumps(found))):
        assert other.estimator is not found.estimator
        assert other.estimator.get_params() == found.estimator.get_params()
        assert other.table.equals(found.table)
        assert other.why == found.why


def test_without_pandas_the_table_is_a_list(monkeypatch):
    whole = mercer.select(X, candidates=SMALL, random_state=0)
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = mercer.select(X, candidates=SMALL, random_state=0)
    assert isinstance(found.table, list)
    assert list(found.table[0]) == COLUMNS
    assert [row["score"] for row in found.table] == whole.table["score"].tolist()
    assert found.plot().axes[0].get_title(loc="left").startswith("Settings for reconstruction: linear, ")


def test_data_frames_and_lists_are_rows_too():
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    first = mercer.select(X, candidates=SMALL, random_state=0)
    for rows in (frame, X.tolist()):
        assert mercer.select(rows, candidates=SMALL, random_state=0).table.equals(first.table)
    assert list(first.estimator.fit(frame).feature_names_in_) == list(frame.columns)


def test_output_can_be_set_on_the_estimators():
    found = mercer.select(X, "features", candidates=SMALL, random_state=0)
    assert isinstance(found.estimator.set_output(transform="pandas").fit_transform(X), pd.DataFrame)


@pytest.mark.parametrize("purpose", ["reconstruction", "features", "outliers"])
@pytest.mark.parametrize("seconds", [0, 1e-9])
def test_without_time_the_linear_and_a_gaussian_kernel_are_compared(purpose, seconds):
    found = mercer.select(X, purpose, random_state=0, seconds=seconds)
    assert set(found.table["kernel"]) == {"linear", "rbf"}
    assert set(found.table["width"].dropna()) == {1.0}
    assert "kernels were not tried, because the time was over." in found.why


def test_with_time_all_are_compared():
    found = mercer.select(X, random_state=0, seconds=600)
    assert found.table["width"].nunique() == 7
    assert "not tried" not in found.why


@pytest.mark.parametrize("purpose", ["reconstruction", "outliers"])
def test_of_many_rows_500_are_looked_at(purpose):
    found = mercer.select(curve(700), purpose, random_state=0, candidates=SMALL)
    assert found.n_rows == 500
    assert "500 of 700 rows were looked at." in found.why
    assert "looked at" not in mercer.select(curve(500), purpose, random_state=0, candidates=SMALL).why


def test_candidates_restrict_what_is_compared():
    found = mercer.select(X, candidates={"gamma": [0.1, 0.3], "n_components": (3,)}, random_state=0)
    assert set(found.table["gamma"].dropna()) == {0.1, 0.3}
    assert found.table["width"].isna().all()
    assert set(found.table["n_components"]) == {3}
    found = mercer.select(X, "outliers", candidates={"standardize": ["soft"], "kernel": ["poly"]}, random_state=0)
    assert set(found.table["standardize"]) == {"soft"}
    assert set(found.table["kernel"]) == {"poly"}
    assert "linear" not in found.why


def test_where_only_linear_models_are_compared_nothing_is_said_about_kernels():
    found = mercer.select(X, candidates={"kernel": ["linear"]}, random_state=0)
    assert "kernel does not help" not in found.why


def test_repeated_candidates_count_once():
    found = mercer.select(X, candidates={"width": np.array([1.0, 1.0]), "n_components": [4, 4]}, random_state=0)
    assert len(found.table) == 2
    assert "not tried" not in found.why


def test_more_components_than_a_third_of_the_rows_are_not_tried():
    found = mercer.select(X, candidates={"n_components": [1000]}, random_state=0)
    assert found.table["n_components"].max() == 22  # of the 68 rows that are learned from


def test_noise_is_told_to_be_noise():
    found = mercer.select(np.random.default_rng(0).normal(size=(25, 300)), random_state=0)
    assert "No candidate predicts them better than the means of the columns do." in found.why


@pytest.mark.parametrize(
    ("candidates", "error", "message"),
    [
        ({"foo": [1]}, ValueError, "may have the keys kernel, width, gamma, n_components; got foo"),
        ({"standardize": ["soft"]}, ValueError, "may have the keys"),
        ({"kernel": "rbf"}, ValueError, r"candidates\['kernel'\] must be a list"),
        ({"gamma": 0.1}, ValueError, r"candidates\['gamma'\] must be a list"),
        ({"width": []}, ValueError, r"candidates\['width'\] must be a list with one value or more"),
        ({"kernel": ["poly"]}, ValueError, "'linear' or 'rbf' in 'kernel' for purpose='reconstruction'; got 'poly'"),
        ({"width": ["a"]}, ValueError, "numbers above 0 in 'width'; got 'a'"),
        ({"width": [np.inf]}, ValueError, "numbers above 0 in 'width'; got inf"),
        ({"gamma": [np.nan]}, ValueError, "numbers above 0 in 'gamma'; got nan"),
        ({"gamma": [-1.0, 1.0]}, ValueError, "numbers above 0 in 'gamma'; got -1.0"),
        ({"n_components": [2.5]}, ValueError, "whole numbers above 0 in 'n_components'; got 2.5"),
        ({"n_components": [0]}, ValueError, "whole numbers above 0"),
        ({"n_components": [True]}, ValueError, "whole numbers above 0 in 'n_components'; got True"),
        ({"gamma": [1.0], "width": [1.0]}, ValueError, "not both"),
        (["rbf"], TypeError, "must be a mapping"),
    ],
)
def test_wrong_candidates_are_refused(candidates, error, message):
    with pytest.raises(error, match=message):
        mercer.select(X, candidates=candidates)


def test_wrong_scalings_are_refused():
    with pytest.raises(ValueError, match="'soft' or 'variance' or False in 'standardize' for purpose='outliers'"):
        mercer.select(X, "outliers", candidates={"standardize": [0]})


@pytest.mark.parametrize("purpose", ["reconstruction", "features", "outliers"])
def test_rows_that_cannot_be_compared_are_refused(purpose):
    for rows, error, message in (
        (X[:19], ValueError, "at least 20 rows to compare settings; got n_samples = 19"),
        (np.ones((30, 3)), ValueError, "All rows are equal"),
        (np.where(X > 1, np.nan, X), ValueError, "NaN"),
        (np.where(X > 1, np.inf, X), ValueError, "infinity"),
        (sparse.csr_array(X), TypeError, "needs dense rows"),
        (X[:, 0], ValueError, "1D array"),
    ):
        with pytest.raises(error, match=message):
            mercer.select(rows, purpose)


def test_one_column_has_nothing_to_predict_from():
    with pytest.raises(ValueError, match="With one column there is nothing"):
        mercer.select(X[:, :1])


def test_other_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="purpose must be one of 'reconstruction', 'denoising'"):
        mercer.select(X, "clustering")
    for seconds in (-1, np.nan, "x"):
        with pytest.raises(ValueError, match="seconds must be a number"):
            mercer.select(X, seconds=seconds)
    with pytest.raises(ValueError, match="seed"):
        mercer.select(X, random_state="x")


def test_progress_is_shown_per_kernel(caplog):
    with caplog.at_level(logging.INFO, "mercer"):
        mercer.select(X, candidates=SMALL, random_state=0, verbose=2)
    assert "kernels compared: step 3 of 3" in caplog.text


@pytest.mark.parametrize("purpose", ["reconstruction", "denoising", "features", "outliers"])
def test_values_whose_squares_overflow_are_named_and_nothing_else_is_said(purpose):
    enormous = 1e200 * np.random.default_rng(0).standard_normal((40, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"Rescale the features"):
            mercer.select(enormous, purpose, random_state=0)


@pytest.mark.parametrize(
    ("purpose", "more"),
    [("denoising", {}), ("features", {}), ("outliers", {}), ("outliers", {"contaminated": True})],
)
def test_models_of_many_rows_have_landmarks_and_the_same_settings(monkeypatch, purpose, more):
    given = {"candidates": {"kernel": ["rbf"], "width": [1.0], "n_components": [4]}, "random_state": 0, **more}
    exact = mercer.select(X, purpose, **given)
    for module in ("select", "reasons"):
        monkeypatch.setattr(f"mercer.selection.{module}.MANY_ROWS", 89)
    many = mercer.select(X, purpose, **given)
    models = [part_with_a_kernel(found.estimator) for found in (exact, many)]
    assert [type(model) for model in models] == [mercer.KernelPCA, mercer.LandmarkKernelPCA]
    assert all(getattr(models[0], name) == getattr(models[1], name) for name in ("n_components", "kernel", "gamma"))
    assert "has landmarks" in many.why
    assert "has landmarks" not in exact.why
    unfitted = [clone(found.estimator) for found in (exact, many)]
    if purpose == "outliers":
        unfitted = [one.set_params(random_state=0) for one in unfitted]  # the same folds
    fitted = [one.fit(X) for one in unfitted]  # all 90 rows are landmarks, so both are exact
    results = [one.score_samples(X) if purpose == "outliers" else np.abs(one.transform(X)) for one in fitted]
    np.testing.assert_allclose(*results, atol=1e-6)


def part_with_a_kernel(estimator):
    """Return the decomposition in a pipeline or a detector."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    return getattr(last, "estimator", last)


def test_the_linear_model_of_many_rows_is_exact(monkeypatch):
    monkeypatch.setattr("mercer.selection.select.MANY_ROWS", 89)
    found = mercer.select(X, candidates={"kernel": ["linear"]}, random_state=0)
    assert type(found.estimator) is mercer.KernelPCA


@pytest.mark.parametrize(
    ("cell", "advice"),
    [(np.nan, "SimpleImputer"), (np.inf, "np.isfinite"), ("x", "Every feature must be a number")],
)
def test_wrong_cells_are_refused_with_advice(cell, advice):
    X = np.random.default_rng(0).standard_normal((30, 3)).astype(object)
    X[4, 1] = cell
    with pytest.raises(ValueError, match=advice):
        mercer.select(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("columns", [["a", "when"], ["when"], ["since"], ["a", "when", "since"]])
def test_columns_of_dates_are_refused_with_advice(library, columns):
    frames = pytest.importorskip(library)
    when = np.datetime64("2024-01-01", "us") + np.arange(30) * np.timedelta64(1, "D").astype("timedelta64[us]")
    frame = frames.DataFrame({"a": np.arange(30.0), "when": when, "since": when - when[0]})[columns]
    for refuse in (mercer.select, mercer.KernelPCA().fit, mercer.KernelOutlierDetector().fit):
        with pytest.raises(TypeError, match=r"X holds dates or times \(.*numbers first"):
            refuse(frame)


def test_dates_beside_numbers_in_lists_are_refused_with_advice():
    rows = [[float(day), datetime.date(2024, 1, day)] for day in range(1, 31)]
    for refuse in (mercer.select, mercer.KernelPCA().fit):
        with pytest.raises(TypeError, match="turn dates into numbers first"):
            refuse(rows)


def test_a_purpose_that_is_no_text_is_refused_by_name():
    with pytest.raises(ValueError, match="purpose must be one of"):
        mercer.select(np.eye(30), ["outliers"])


def test_candidates_may_be_columns_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).standard_normal((30, 3))
    found = mercer.select(X, candidates={"gamma": pandas.Series([0.1, 1.0])}, random_state=0)
    assert set(found.table.gamma.dropna()) == {0.1, 1.0}
