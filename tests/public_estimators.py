"""The public estimator classes, found by their names, and ordinary instances of them; for the laws."""

import inspect
from importlib import import_module

from sklearn.base import BaseEstimator

import mercer
from mercer.io.persist import CLASSES


def public_estimators() -> dict[str, type]:
    """All estimator classes among the package's public names and in the list of what a file may hold."""
    named = {name: getattr(mercer, name) for name in mercer.__all__}
    named |= {name: getattr(import_module(module), name) for name, module in CLASSES.items()}
    classes = {name: cls for name, cls in sorted(named.items()) if inspect.isclass(cls)}
    return {name: cls for name, cls in classes.items() if issubclass(cls, BaseEstimator)}


ESTIMATORS = public_estimators()
USUAL = {"n_components": 3, "kernel": "rbf", "gamma": 0.2, "random_state": 0}


def make(cls: type, **more) -> BaseEstimator:
    """An instance with ordinary values for those of the usual parameters that the class has."""
    known = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in {**USUAL, **more}.items() if name in known})
