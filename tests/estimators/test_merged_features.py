"""Merged models need the same features in the same order, and are models of their own."""

import numpy as np
import pandas as pd
import pytest

from mercer import IncrementalKernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA

X = np.random.default_rng(0).normal(size=(400, 3)) * [1, 10, 100]
NAMED = pd.DataFrame(X, columns=list("abc"))

MODELS = {
    "incremental": lambda: IncrementalKernelPCA(2, kernel="linear"),
    "landmark": lambda: LandmarkKernelPCA(2, kernel="linear", landmarks=X[:20]),
    "online robust": lambda: OnlineRobustKernelPCA(2, kernel="linear", landmarks=X[:20]),
}
models = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@models
def test_other_names_or_another_order_are_refused(make):
    model = make().fit(NAMED[:200])
    reversed_order = make().fit(NAMED[200:][list("cba")])
    with pytest.raises(ValueError, match=r"feature names should match.*same order.*'a'.*'c'"):
        model.merge(reversed_order)
    renamed = make().fit(NAMED[200:].rename(columns={"b": "speed"}))
    with pytest.raises(ValueError, match=r"feature names should match.*'b'.*'speed'"):
        model.merge(renamed)


@models
def test_the_same_names_or_none_are_merged(make):
    model = make().fit(NAMED[:200])
    for rest in (NAMED[200:], X[200:]):
        joint = model.merge(make().fit(rest))
        assert joint.n_samples_seen_ == 400
        assert list(joint.feature_names_in_) == list("abc")
    assert make().fit(X[:200]).merge(make().fit(NAMED[200:])).n_samples_seen_ == 400


@models
def test_other_numbers_of_features_are_refused(make):
    few = make().set_params(**({"landmarks": X[:20, :2]} if "landmarks" in make().get_params() else {}))
    with pytest.raises(ValueError, match="different numbers of features cannot be merged: 3 and 2"):
        make().fit(NAMED).merge(few.fit(NAMED[["a", "b"]]))


@models
def test_the_output_of_a_merged_model_is_its_own(make):
    model = make().set_output(transform="pandas").fit(X[:200])
    joint = model.merge(make().fit(X[200:]))
    assert isinstance(joint.transform(X), pd.DataFrame)
    joint.set_output(transform="default")
    assert isinstance(model.transform(X), pd.DataFrame)


def test_few_rows_on_other_landmarks_are_told_as_such():
    options = {"gamma": 0.1, "random_state": 0}
    few = OnlineRobustKernelPCA(2, **options).partial_fit(X[:1])
    with pytest.raises(ValueError, match="the same array as `landmarks`"):
        OnlineRobustKernelPCA(2, **options).fit(X).merge(few)
    options["landmarks"] = X[:20]
    with pytest.raises(ValueError, match="of 2 and 3 components"):
        OnlineRobustKernelPCA(2, **options).fit(X).merge(OnlineRobustKernelPCA(3, **options).fit(X))
