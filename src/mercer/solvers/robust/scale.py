"""Parameters of Psi from the residuals, and the weights of the rows."""

import numpy as np

from mercer.arrays import Array
from mercer.engine.psi import Psi

_LIMITS = {"tukey": 4.0}  # xi in deviations above the median; the biweight is zero from there on
_LIMIT = 3.0
_SLOPES = {"exp": 0.5}  # beta times the deviation; e^(-beta z) falls everywhere, and a larger beta would favour small z
_SLOPE = 4.0


def auto_scale(z: Array, psi: str = "logistic", floor: float = 0.0) -> tuple[float, float]:
    """Return beta and xi for residuals z: xi = median + c MAD, beta = 4 / MAD ("exp": 0.5 / MAD).

    Median and MAD, the median deviation from it, are taken twice: of all z, and of those up to the first median + 3
    MAD; otherwise one third of outliers would make the MAD so large that they count as normal. c is 3, for "tukey" 4.
    Where more than half of the residuals are the same, `floor`, the size of rounding, stands for the MAD.
    """
    middle, spread = _median_and_deviation(z)
    middle, spread = _median_and_deviation(z[z <= middle + _LIMIT * max(spread, floor)])
    spread = max(spread, floor) or float(np.mean(np.abs(z - middle))) or 1.0
    return _SLOPES.get(psi, _SLOPE) / spread, middle + _LIMITS.get(psi, _LIMIT) * spread


def _median_and_deviation(z: Array) -> tuple[float, float]:
    middle = float(np.median(z))
    return middle, float(np.median(np.abs(z - middle)))


def choose_psi(name: str, beta: float | str, xi: float | str, z: Array, floor: float) -> Psi:
    """Return Psi with "auto" replaced by values from the residuals."""
    if name == "none":
        return Psi()
    found = auto_scale(z, name, floor)
    chosen = (a if isinstance(b, str) else float(b) for a, b in zip(found, (beta, xi), strict=True))
    return Psi(name, *chosen)


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
    return np.asarray(np.exp(-psi.beta * (z - z.min())))  # the limit of both "exp" and "logistic"
