"""Loss functions Psi of robust kernel PCA, and their derivatives: the weight of a row with residual z.

z is half the squared distance of a row from the subspace [huang2011, eq. 2], so Psi(z) = z is kernel PCA. Every Psi is
increasing and concave where z >= 0: its derivative is a weight that falls from at most 1 towards 0, and minimising a
sum of Psi by weighted least squares never increases it. In terms of the residual r, z = r^2 / 2:

    none      z                                            1                            Psi_0 of [huang2011]
    exp       (1 - e^(-beta z)) / beta                     e^(-beta z)                  Psi_1; Welsch's function of r
    logistic  -log((1 + e^(-beta (z - xi))) / 2) / beta    1 / (1 + e^(beta (z - xi)))  Psi_2
    huber     z up to xi, then 2 sqrt(xi z) - xi           min(1, sqrt(xi / z))         linear in r from sqrt(2 xi)
    tukey     xi/3 (1 - (1 - z/xi)^3), then xi/3           (1 - z/xi)^2, then 0         constant from r = sqrt(2 xi)

For negative z, which occur in the online rule, the formulas of [huang2011] are used as they are ("exp" then exceeds 1);
the last two continue as z itself. Nothing overflows: values are limited to the largest numbers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.kernels.compiled import compiled

PSI_NAMES = ("none", "exp", "logistic", "huber", "tukey")

_LARGEST = 709.0  # exp of this does not overflow
_LOG2 = 0.6931471805599453
_LIMITS = {"tukey": 4.0}  # xi in deviations above the median: the biweight has fallen to zero there
_LIMIT = 3.0
# beta times a deviation, (xi - median) / c; e^(-beta z) is steep everywhere, and must not favour the small z
_SLOPES = {"exp": 0.5}
_SLOPE = 4.0

Scale = Callable[[Array, str, float], tuple[float, float]]  # residuals, name and size of rounding -> beta and xi


@compiled()
def psi_value(kind: int, z: float, beta: float, xi: float) -> float:
    """Return Psi(z); `kind` counts `PSI_NAMES` from 0."""
    if kind == 1:
        if beta == 0.0:
            return z
        return -math.expm1(min(-beta * z, _LARGEST)) / beta
    if kind == 2:
        if beta == 0.0:
            return 0.5 * (z - xi)
        u = beta * (z - xi)
        return (_LOG2 - max(-u, 0.0) - math.log1p(math.exp(-abs(u)))) / beta
    if kind == 3 and z > xi:
        return 2.0 * math.sqrt(xi) * math.sqrt(z) - xi
    if kind == 4:
        if z >= xi:
            return xi / 3.0
        if z <= 0.0:
            return z
        share = z / xi
        return z * (1.0 - share + share * share / 3.0)
    return z


@compiled()
def psi_weight(kind: int, z: float, beta: float, xi: float) -> float:
    """Return the derivative of Psi at z."""
    if kind == 1:
        return math.exp(min(-beta * z, _LARGEST))
    if kind == 2:
        u = beta * (z - xi)
        e = math.exp(-abs(u))
        return (e if u > 0.0 else 1.0) / (1.0 + e)
    if kind == 3 and z > xi:
        return math.sqrt(xi / z)
    if kind == 4:
        left = 0.0 if z >= xi else 1.0 - max(z, 0.0) / xi
        return left * left  # a power would take long to compile
    return 1.0


@compiled()
def _values(kind: int, z: Array, beta: float, xi: float, out: Array) -> None:
    """Write Psi of every entry."""
    for i in range(len(z)):
        out[i] = psi_value(kind, z[i], beta, xi)


@compiled()
def _weights(kind: int, z: Array, beta: float, xi: float, out: Array) -> None:
    """Write the derivative of Psi at every entry."""
    for i in range(len(z)):
        out[i] = psi_weight(kind, z[i], beta, xi)


@dataclass(frozen=True)
class Psi:
    """One of `PSI_NAMES` with its parameters: beta for "exp" and "logistic", xi for all but "none" and "exp"."""

    name: str = "none"
    beta: float = 1.0
    xi: float = 1.0

    @property
    def kind(self) -> int:
        """The position in `PSI_NAMES`, which compiled functions need."""
        return PSI_NAMES.index(self.name)

    @property
    def steepest(self) -> float:
        """The largest change of a weight per unit of z."""
        slopes = {"exp": self.beta, "logistic": self.beta / 4.0, "huber": 0.5 / self.xi, "tukey": 2.0 / self.xi}
        return 0.0 if self.name == "none" else slopes[self.name]

    def value(self, z: npt.ArrayLike) -> Array:
        """Return Psi of every entry."""
        return self._apply(_values, z)

    def weight(self, z: npt.ArrayLike) -> Array:
        """Return the derivative at every entry: the weights of rows with these residuals."""
        return self._apply(_weights, z)

    def _apply(self, function: Any, z: npt.ArrayLike) -> Array:
        """Apply a compiled function to every entry of an array of any shape."""
        given = np.ascontiguousarray(z, np.float64)
        out = np.empty_like(given)
        function(self.kind, given.reshape(-1), float(self.beta), float(self.xi), out.reshape(-1))
        return out.reshape(np.shape(z))


def auto_scale(z: Array, psi: str = "logistic", floor: float = 0.0) -> tuple[float, float]:
    """Return beta and xi for residuals z: xi = (median + c MAD)^3 of their cube roots, beta = 4 c / (xi - median of z).

    Squared residuals are skewed, their cube roots nearly normal (Wilson and Hilferty, 1931); median + c MAD of the
    squares themselves would leave out many ordinary rows. Median and MAD, the median deviation from it, are taken
    twice: of all, and of those up to the first median + 3 MAD; else a third of outliers widens the MAD so much that
    they come within reach. c is 3, for "tukey" 4; "exp" has an eighth of that beta. Where more than half of the
    residuals are the same, xi is c times `floor`, the size of rounding, above them.
    """
    limit, roots = _LIMITS.get(psi, _LIMIT), np.cbrt(z)
    middle, spread = _median_and_deviation(roots)
    reach = max(middle + _LIMIT * spread, float(np.cbrt(middle**3 + _LIMIT * floor)))  # not below the median
    middle, spread = _median_and_deviation(roots[roots <= reach])
    typical = middle**3
    unit = max(((middle + limit * spread) ** 3 - typical) / limit, floor) or float(np.mean(np.abs(z - typical))) or 1.0
    return _SLOPES.get(psi, _SLOPE) / unit, typical + limit * unit


def strict_scale(z: Array, psi: str = "logistic", floor: float = 0.0) -> tuple[float, float]:
    """Return beta and xi from median and MAD of the residuals themselves: xi = median + c MAD, beta = 4 / MAD.

    This leaves out more ordinary rows than `auto_scale`, and more outliers that are not far away. It is for the first
    rows of a stream: an outlier that was learned there stays. Later rows are judged as `auto_scale` says, by which
    components of streams were more accurate.
    """
    middle, spread = _median_and_deviation(z)
    middle, spread = _median_and_deviation(z[z <= middle + _LIMIT * max(spread, floor)])
    spread = max(spread, floor) or float(np.mean(np.abs(z - middle))) or 1.0
    return _SLOPES.get(psi, _SLOPE) / spread, middle + _LIMITS.get(psi, _LIMIT) * spread


def _median_and_deviation(values: Array) -> tuple[float, float]:
    middle = float(np.median(values))
    return middle, float(np.median(np.abs(values - middle)))


@dataclass(frozen=True)
class PsiRule:
    """One of `PSI_NAMES` whose "auto" parameters are still to be taken from residuals."""

    name: str
    beta: float | str = "auto"
    xi: float | str = "auto"

    def psi(self, z: Array, floor: float, scale: Scale = auto_scale) -> Psi:
        """Return Psi with "auto" replaced by what the residuals say; floor is the size of rounding."""
        if self.name == "none":
            return Psi()
        found = scale(z, self.name, floor)
        chosen = (a if isinstance(b, str) else float(b) for a, b in zip(found, (self.beta, self.xi), strict=True))
        return Psi(self.name, *chosen)


def row_weights(psi: Psi, z: Array) -> Array:
    """Return psi'(z), (n,); relative to the largest where all of them would underflow."""
    weights = psi.weight(z)
    if weights.max(initial=0.0) > 1e-100:
        return weights
    if psi.name == "tukey":
        raise ValueError(
            f"xi={psi.xi:.3g} is below the residuals of all rows (the least is {z.min():.3g}), so that psi='tukey' "
            "gives every row the weight 0. Raise xi, or leave it at 'auto'."
        )
    return np.asarray(np.exp(-psi.beta * (z - z.min())))  # what both "exp" and "logistic" tend to
