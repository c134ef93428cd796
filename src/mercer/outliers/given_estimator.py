"""Estimators that users pass to a detector or a monitor, which fits them to parts of the rows."""

from typing import Any

from mercer.expansion.model import Expansion


def check_takes_rows(owner: Any, estimator: Any) -> None:
    """Fail where the kernel of an estimator is precomputed; the owner is the detector or monitor that needs rows."""
    if getattr(estimator, "kernel", None) == "precomputed":
        raise ValueError(f"{type(owner).__name__} needs rows, not a precomputed kernel: it fits parts of them.")


def expansion_of(estimator: Any) -> Expansion:
    """Return the model of a fitted estimator, or fail where that is no decomposition of this package."""
    found = getattr(estimator, "expansion_", None)
    if not isinstance(found, Expansion):
        name = type(estimator).__name__
        raise TypeError(f"estimator must be a decomposition of this package, such as KernelPCA; got {name}.")
    return found
