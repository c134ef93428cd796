"""Checks of parameters that classes for images share."""

from numbers import Integral
from typing import Any

import numpy as np


def check_counts(**counts: Any) -> None:
    """Refuse what is not a whole number of at least 1, by the name of the parameter."""
    for name, count in counts.items():
        if not isinstance(count, Integral) or int(count) < 1:
            raise ValueError(f"{name} must be a whole number of at least 1; got {count!r}.")


def check_learns_in_parts(model: Any) -> None:
    """Refuse a model without `partial_fit`."""
    if not hasattr(model, "partial_fit"):
        raise TypeError(
            f"{type(model).__name__} has no partial_fit; use fit, or an estimator for streams such as "
            "IncrementalKernelPCA(center=False)."
        )


def refuse_masked(values: Any, what: str) -> None:
    """Refuse a masked array with masked cells: what is below a mask is no measurement."""
    masked = np.count_nonzero(getattr(values, "mask", False)) if isinstance(values, np.ma.MaskedArray) else 0
    if masked:
        raise ValueError(
            f"{what} has {masked} masked values, and a mask cannot be used. Fill them first "
            "(values.filled(...)), for example with the median of their neighbours."
        )
