"""A default gamma that is too large for the rows is told: each row would be a component of its own."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from mercer import (
    HebbianKernelPCA,
    IncrementalKernelPCA,
    KernelPCA,
    L1KernelPCA,
    LandmarkKernelPCA,
    OnlineRobustKernelPCA,
    R1KernelPCA,
    RobustKernelPCA,
)

ESTIMATORS = [
    KernelPCA(3, kernel="rbf"),
    KernelPCA(3, kernel="laplacian"),
    LandmarkKernelPCA(3, landmarks=60, random_state=0),
    LandmarkKernelPCA(3, landmarks=None),
    IncrementalKernelPCA(3),
    RobustKernelPCA(3),
    L1KernelPCA(3, kernel="rbf"),
    R1KernelPCA(3, kernel="rbf"),
    HebbianKernelPCA(3, max_iter=2),
    OnlineRobustKernelPCA(3),
]


def told(estimator: Any, X: np.ndarray) -> list[str]:
    """Return the warnings about a narrow kernel that a fit gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X)
    return [str(warning.message) for warning in caught if "too narrow" in str(warning.message)]


def name(estimator: Any) -> str:
    return f"{type(estimator).__name__} {estimator.kernel} {getattr(estimator, 'landmarks', '')}"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
def test_raw_columns_are_told_once_and_scaled_ones_are_not(estimator: Any) -> None:
    digits = load_digits().data[:300]
    (text,) = told(estimator, digits * 10.0)
    assert "gamma='median'" in text
    assert not told(estimator, digits / 16.0)


def test_the_sum_in_the_text_is_that_of_the_kernel_matrix() -> None:
    X = load_wine().data
    (text,) = told(KernelPCA(2, kernel="rbf"), X)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    others = np.exp(-distances / X.shape[1]).sum(axis=1) - 1.0
    assert f"add up to {others.mean():.1g} in the mean" in text


@pytest.mark.parametrize("gamma", [5.0, "median"])
def test_a_gamma_that_was_asked_for_is_not_questioned(gamma: Any) -> None:
    assert not told(KernelPCA(2, kernel="rbf", gamma=gamma), load_wine().data)


@pytest.mark.parametrize("kernel", ["linear", "poly", "cosine"])
def test_kernels_without_a_width_are_not_questioned(kernel: str) -> None:
    assert not told(KernelPCA(2, kernel=kernel), load_wine().data)


def test_neither_few_rows_nor_tight_groups_far_apart_are_told() -> None:
    rng = np.random.default_rng(0)
    assert not told(KernelPCA(2, kernel="rbf"), 100.0 * rng.standard_normal((19, 3)))
    groups = 1000.0 * rng.standard_normal((30, 3))
    assert not told(KernelPCA(2, kernel="rbf"), np.repeat(groups, 5, axis=0) + 0.01 * rng.standard_normal((150, 3)))
