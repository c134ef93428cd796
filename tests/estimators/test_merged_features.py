"""Merged models need the same features in the same order."""

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
