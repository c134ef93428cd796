"""Scaling of columns: computed once, applied to every later row."""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array


@dataclass(frozen=True, eq=False)
class Scaling:
    """Subtracts the mean of each column and divides by its unit."""

    mean: Array  # (d,)
    unit: Array  # (d,)

    @classmethod
    def of(cls, X: Array, kind: str | bool) -> "Scaling":
        """Return the scaling of these rows: "variance" (or True), "soft", or False for none."""
        if kind is False:
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        X = X.astype(np.float64, copy=False)
        size = np.abs(X).max(axis=0)
        size[size == 0] = 1.0
        mean = (X / size).mean(axis=0) * size  # scaled first, so that huge values do not overflow
        unit = ((X - mean) / size).std(axis=0) * size
        if kind == "soft":
            unit = np.sqrt(unit / size) * np.sqrt(0.5 * (X.max(axis=0) / size - X.min(axis=0) / size)) * size
        rounding = 10 * np.finfo(np.float64).eps * np.abs(mean)
        return cls(mean, np.where(unit > rounding, unit, 1.0))

    def __call__(self, X: Array) -> Array:
        """Return scaled rows, in the precision of the rows."""
        return np.asarray((X - self.mean) / self.unit, X.dtype)
