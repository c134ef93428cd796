"""The five methods that the paper compares, by the names it gives them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from mercer import KernelPCA, L1KernelPCA, R1KernelPCA

METHODS: dict[str, Callable[..., Any]] = {
    "Algorithm 1": L1KernelPCA,
    "KPCA-L1": partial(L1KernelPCA, algorithm="projection_trick"),
    "L1-KPCA": partial(L1KernelPCA, algorithm="linear_system"),
    "R1-KPCA": R1KernelPCA,
    "L2-KPCA": KernelPCA,
}
ROBUST = ("Algorithm 1", "KPCA-L1", "L1-KPCA", "R1-KPCA")


def gaussian(sigma: float) -> dict[str, Any]:
    """Return the Gaussian kernel exp(-|x - y|^2 / (2 sigma^2))."""
    return {"kernel": "rbf", "gamma": 1 / (2 * sigma * sigma)}
