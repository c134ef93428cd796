"""Checks of parameters are remembered, and a parameter that was never accepted is checked whatever was before."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError

from mercer import KernelPCA
from mercer.estimators import parameter_checks

X = np.random.default_rng(0).standard_normal((20, 3))


@pytest.fixture
def counted(monkeypatch):
    """Count scikit-learn's checks, beginning with no memory of any."""
    calls = []
    original = BaseEstimator._validate_params
    monkeypatch.setattr(parameter_checks, "_accepted", set())
    monkeypatch.setattr(BaseEstimator, "_validate_params", lambda self: calls.append(1) or original(self))
    return calls


def test_accepted_parameters_are_not_checked_again(counted):
    for _ in range(3):
        KernelPCA(2, kernel="rbf").fit(X)
    assert len(counted) == 1
    KernelPCA(3, kernel="rbf").fit(X)
    assert len(counted) == 2


@pytest.mark.parametrize(("name", "value"), [("copy_X", 1), ("copy_X", 1.0), ("n_jobs", 2.0), ("n_components", 2.0)])
def test_a_value_that_equals_an_accepted_one_but_has_another_type_is_refused(counted, name, value):
    KernelPCA(2, copy_X=True, n_jobs=2).fit(X)
    with pytest.raises(InvalidParameterError, match=name):
        KernelPCA(2).set_params(**{name: value}).fit(X)


def test_refused_parameters_are_refused_again(counted):
    for _ in range(2):
        with pytest.raises(InvalidParameterError, match="gamma"):
            KernelPCA(2, gamma=-1.0).fit(X)
    model = KernelPCA(2).fit(X)
    with pytest.raises(InvalidParameterError, match="tol"):
        model.set_params(tol=float("nan")).fit(X)


def test_values_that_can_change_are_checked_every_time(counted):
    model = KernelPCA(2, kernel=lambda a, b: float(a @ b), kernel_params={})
    for _ in range(2):
        model.fit(X)
    assert len(counted) == 2


def test_names_of_parameters_are_those_of_the_constructor():
    class Other(KernelPCA):
        def __init__(self, n_components=None, *, more=1):
            super().__init__(n_components)
            self.more = more

    assert Other._get_param_names() == ["more", "n_components"]
    assert set(KernelPCA().get_params()) == set(BaseEstimator._get_param_names.__func__(KernelPCA))


def test_the_memory_is_bounded(counted, monkeypatch):
    monkeypatch.setattr(parameter_checks, "_MOST_ACCEPTED", 30)
    for k in range(1, 20):
        KernelPCA(1, gamma=float(k)).fit(X)
    assert len(parameter_checks._accepted) <= 60
