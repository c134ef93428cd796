"""A shrunk covariance where there are more columns than rows, by a factor with as many columns as rows.

The covariance of n rows Z with mean zero, shrunk by the share s [ledoit2004], is S = F F^T + a I with
F = ((1 - s) / n)^(1/2) Z^T. Regressions of some columns M on the others O need only the rows' side,

    S_OO^-1 S_OM = F_O (F_O^T F_O + a I)^-1 F_M^T,

and so does s: the sum of all squares of Z^T Z is that of Z Z^T.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from mercer.arrays import Array


@dataclass(frozen=True, eq=False)
class ThinCovariance:
    """The matrix factor @ factor.T + ridge * I."""

    factor: Array  # (D, n)
    ridge: float

    @classmethod
    def of(cls, Z: Array, least: float) -> "ThinCovariance":
        """Return the shrunk covariance of rows with mean zero, (n, D), plus the share `least` of its mean variance."""
        n, share = len(Z), shrinkage(Z)
        mean = float(np.einsum("ij,ij->", Z, Z)) / Z.size
        ridge = (share + least) * mean + np.sqrt(np.finfo(float).tiny)
        return cls(np.sqrt((1.0 - share) / n) * Z.T, float(ridge))

    def weights(self, missing: npt.NDArray[np.bool_]) -> Array:
        """Return the coefficients of the missing columns on the observed ones, (observed, missing)."""
        seen = self.factor[~missing]
        inner = cho_factor(seen.T @ seen + self.ridge * np.eye(self.factor.shape[1]))
        return np.asarray(seen @ cho_solve(inner, self.factor[missing].T))

    def spread(self, missing: npt.NDArray[np.bool_], weights: Array) -> Array:
        """Return the conditional covariance of the missing columns, (missing, missing)."""
        gone, seen = self.factor[missing], self.factor[~missing]
        return np.asarray(gone @ (gone.T - seen.T @ weights) + self.ridge * np.eye(len(gone)))


def shrinkage(Z: Array) -> float:
    """Return the share of [ledoit2004] by which the covariance of rows with mean zero, (n, D), is shrunk."""
    n, d = Z.shape
    lengths, inner = np.einsum("ij,ij->i", Z, Z), Z @ Z.T
    squares, mean = float((inner**2).sum()) / n**2, float(lengths.sum()) / (n * d)
    off = (squares - d * mean**2) / d
    noise = min((float(lengths @ lengths) / n - squares) / (d * n), off)
    return noise / off if noise != 0 else 0.0
