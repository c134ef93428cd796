"""The public estimator classes, found by their names, and ordinary instances of them; for the laws."""

import inspect
from copy import deepcopy

import numpy as np
from sklearn.base import BaseEstimator

import mercer


def public_estimators() -> dict[str, type]:
    """All estimator classes among the package's public names."""
    named = {name: getattr(mercer, name) for name in mercer.__all__}
    classes = {name: cls for name, cls in sorted(named.items()) if inspect.isclass(cls)}
    return {name: cls for name, cls in classes.items() if issubclass(cls, BaseEstimator)}


ESTIMATORS = public_estimators()
USUAL = {"n_components": 3, "kernel": "rbf", "gamma": 0.2, "random_state": 0}


def make(cls: type, **more) -> BaseEstimator:
    """An instance with ordinary values for those of the usual parameters that the class has."""
    known = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in {**USUAL, **more}.items() if name in known})


# -- classes that learn from something else than rows: how they learn from X, and what they answer about new rows ------


def _frame(X: np.ndarray) -> np.ndarray:
    return np.resize(X, (24, 20))


def _denoised(model: BaseEstimator, X: np.ndarray) -> BaseEstimator:
    model.denoise(_frame(X))
    return model


LEARN = {
    "AppearanceTracker": lambda model, X: model.start(_frame(X), (3, 4, 8, 8)),
    "KernelMutualSubspace": lambda model, X: model.fit([X[::2], X[1::2]], ["even", "odd"]),
    "PatchDenoiser": _denoised,
}
ANSWERS = {
    "AppearanceTracker": lambda model, new: {"update": deepcopy(model).update(_frame(new))},
    "KernelMutualSubspace": lambda model, new: {"similarity": model.similarity([new])},
    "PatchDenoiser": lambda model, new: {"models_": model.models_[0].transform(np.resize(new, (5, 81)))},
}
METHODS = ("transform", "reconstruction_error", "predict", "score_samples")


def learned(model: BaseEstimator, X: np.ndarray) -> BaseEstimator:
    """The model, fitted to rows, or to what its class takes instead of them."""
    return LEARN.get(type(model).__name__, lambda model, X: model.fit(X))(model, X)


def answers(model: BaseEstimator, new: np.ndarray) -> dict[str, np.ndarray]:
    """What a fitted model says about new rows, by the name of the method."""
    if type(model).__name__ in ANSWERS:
        return ANSWERS[type(model).__name__](model, new)
    return {name: getattr(model, name)(new) for name in METHODS if hasattr(model, name)}
