"""Data sets that scikit-learn's OpenML loader fetches, converted to the arrays of the local archives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets as bundled

_TRAIN = {"usps": 7291, "mnist": 60_000}  # the first rows, for training; the others are for testing


@dataclass(frozen=True)
class OpenmlSource:
    """The number of a data set at OpenML, and the function that converts its table to the arrays of an archive."""

    data_id: int
    shape: Callable[[Any, Any], Mapping[str, Any]]


def fetch(source: OpenmlSource) -> Mapping[str, Any]:
    """Download a data set, or read it from scikit-learn's cache; raise OSError where neither is possible."""
    found = bundled.fetch_openml(data_id=source.data_id, as_frame=False, parser="liac-arff", n_retries=1)
    return source.shape(np.asarray(found.data, np.float64), np.asarray(found.target))


def _usps(X: Any, y: Any) -> Mapping[str, Any]:
    """Split into training and test rows, with digits from 0."""
    digits, n = y.astype(int) - 1, _TRAIN["usps"]  # OpenML counts the ten digits from 1
    return {"X": X[:n], "y": digits[:n], "X_test": X[n:], "y_test": digits[n:]}


def _mnist(X: Any, y: Any) -> Mapping[str, Any]:
    """Return the first 10,000 images."""
    images = X[:10_000].reshape(-1, 28, 28).astype(np.uint8)
    return {"X": images, "y": y[:10_000].astype(np.uint8)}


def _mnist3(X: Any, y: Any) -> Mapping[str, Any]:
    """Return the training and the test images of the digit 3."""
    images, three, n = X.reshape(-1, 28, 28).astype(np.uint8), y.astype(int) == 3, _TRAIN["mnist"]
    parts = {"": slice(None, n), "_test": slice(n, None)}
    kept = {f"X{end}": images[rows][three[rows]] for end, rows in parts.items()}
    return {**kept, **{f"y{end}": np.full(len(kept[f"X{end}"]), 3) for end in parts}}


def _ionosphere(X: Any, y: Any) -> Mapping[str, Any]:
    """Return the rows without the constant column; "bad" returns are the outliers."""
    return {"X": np.delete(X, 1, axis=1), "y": (y == "b").astype(int)}  # the second column is constant


def _breastw(X: Any, y: Any) -> Mapping[str, Any]:
    """Return the complete rows; malignant cases are the outliers."""
    complete = ~np.isnan(X).any(axis=1)
    return {"X": X[complete], "y": (y[complete] == "malignant").astype(int)}


SETS: dict[str, OpenmlSource] = {
    "usps": OpenmlSource(41082, _usps),
    "mnist": OpenmlSource(554, _mnist),
    "mnist3": OpenmlSource(554, _mnist3),
    "ionosphere": OpenmlSource(59, _ionosphere),
    "breastw": OpenmlSource(15, _breastw),
}
