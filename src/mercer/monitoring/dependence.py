"""How long the values of a series depend on each other, and whether its level is known at all.

The integrated autocorrelation time of a stationary series with autocorrelations rho_k is

    tau = 1 + 2 sum_{k>0} rho_k;

the mean of n values varies as that of n / tau independent ones. The sum is cut at the smallest W >= 5 tau(W)
[sokal1997]. A sample mean has been subtracted from the series, which lowers the sum by the factor 1 - (2 W + 1) / n.
"""

from math import factorial

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from mercer.arrays import Array

_WINDOW = 5.0  # in autocorrelation times [sokal1997]
_LEAST = 0.3  # smallest factor of the correction for the sample mean
_TERMS = 12  # of the tetrachoric series
_TOO_FEW, _FEW = 5.0, 20.0  # independent values of a column, from which its level is not or hardly known
_UNIT_ROOT = -2.86  # 5 % point of the Dickey-Fuller statistic with a constant [fuller1976, table 8.5.2]


def autocorrelation(series: Array) -> Array:
    """Return the sample autocorrelations rho_0 = 1, rho_1, ... of a series, (n,); a constant has none."""
    centred = np.asarray(series, np.float64) - np.mean(series)
    n = len(centred)
    power = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    covariance = np.fft.irfft(power)[:n]
    if not covariance[0] > 1e-28 * n * float(np.max(np.abs(series), initial=0.0)) ** 2:
        return np.asarray(np.eye(1, n)[0])
    return np.asarray(covariance / covariance[0], np.float64)


def cut_of(rho: Array) -> int:
    """Return the first lag that does not count any more, W + 1 by the rule W >= 5 tau(W)."""
    times = 1.0 + 2.0 * np.cumsum(rho[1:])
    enough = np.flatnonzero(np.arange(1, len(rho)) >= _WINDOW * np.maximum(times, 1.0))
    return int(enough[0]) + 2 if len(enough) else max(len(rho) // 2, 1)


def summed_time(rho: Array, n: int) -> float:
    """Return 1 + 2 sum rho_k for k = 1, ... of n values, corrected for the sample mean, and at least 1."""
    time = 1.0 + 2.0 * float(rho.sum())
    return max(time / max(1.0 - (2 * len(rho) + 1) / n, _LEAST), 1.0)


def correlation_time(series: Array) -> float:
    """Return the integrated autocorrelation time of a series in rows, at least 1."""
    if len(series) < 4:
        return 1.0
    rho = autocorrelation(series)
    return summed_time(rho[1 : cut_of(rho)], len(series)) if rho[1:].any() else 1.0


def correlation_times(X: Array) -> Array:
    """Return the integrated autocorrelation time of every column, (d,)."""
    return np.array([correlation_time(column) for column in X.T])


def time_of_squares(X: Array, n_components: int) -> float:
    """Return the autocorrelation time that T2 and SPE of scaled rows have at least, for a linear normal process.

    The autocorrelations of a squared normal value are rho_k^2. T2 is the sum of squares of the components in units of
    their variances; SPE is that of the others, which are weighted by their variances. These times come from as many
    series as there are components, so they are more precise than those of T2 and SPE themselves.
    """
    U, lengths, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    present = lengths > 1e-6 * max(float(lengths.max(initial=0.0)), np.finfo(float).tiny)
    times = np.array([_time_of_square(series) for series in U[:, present].T])
    inside, outside = times[:n_components], times[n_components:]
    weights = lengths[present][n_components:] ** 4
    of_t2 = float(inside.mean()) if len(inside) else 1.0
    of_spe = float(weights @ outside / weights.sum()) if len(outside) else 1.0
    return max(of_t2, of_spe)


def _time_of_square(series: Array) -> float:
    rho = autocorrelation(series)
    return summed_time(rho[1 : cut_of(rho)] ** 2, len(series))


def exceedance_correlation(rho: Array, share: float) -> Array:
    """Return the correlations of "above the limit" where values are normal with correlations rho.

    The limit is exceeded by a share of the values. By the tetrachoric series, with Hermite polynomials H,

        P(both above) - share^2 = sum_{k>=1} rho^k / k! (phi(u) H_{k-1}(u))^2.
    """
    u = -float(ndtri(share))
    hermite = [1.0, u]
    for k in range(2, _TERMS):
        hermite.append(u * hermite[-1] - (k - 1) * hermite[-2])
    rho = np.clip(rho, -1.0, 1.0)
    density = float(np.exp(-0.5 * u * u) / np.sqrt(2.0 * np.pi))
    total = sum(rho**k / factorial(k) * (density * hermite[k - 1]) ** 2 for k in range(1, _TERMS + 1))
    return np.asarray(total / (share * (1.0 - share)))


def dickey_fuller(series: Array) -> float:
    """Return the augmented Dickey-Fuller statistic with a constant; -inf for a series that cannot be tested.

    x_t - x_{t-1} is regressed on x_{t-1}, a constant and earlier differences; the statistic is that of the coefficient
    of x_{t-1}. The number of differences is 4 (n / 100)^(1/4), rounded up [schwert1989].
    """
    x = np.asarray(series, np.float64)
    steps = np.diff(x)
    p = int(np.ceil(4.0 * (len(x) / 100.0) ** 0.25))
    n = len(steps) - p
    if n < 2 * (p + 2) or not np.ptp(x) > 0 or not np.ptp(steps) > 0:
        return -np.inf
    x, steps = (x - x.mean()) / x.std(), steps / x.std()
    before = [steps[p - i : len(steps) - i] for i in range(1, p + 1)]
    design = np.column_stack([x[p:-1], np.ones(n), *before])
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ (design.T @ steps[p:])
    left = steps[p:] - design @ coefficients
    variance = float(left @ left) / (n - design.shape[1]) * inverse[0, 0]
    return float(coefficients[0] / np.sqrt(variance)) if variance > 0 else -np.inf


def wandering(X: Array) -> npt.NDArray[np.bool_]:
    """Return which columns may have no fixed level, (d,).

    These are columns with fewer than 5 independent values, and columns with fewer than 20 for which a unit root is not
    rejected at 5 %: where their values will be in future is not known from these rows.
    """
    independent = len(X) / correlation_times(X)
    unsure = np.flatnonzero((independent >= _TOO_FEW) & (independent < _FEW))
    found = independent < _TOO_FEW
    found[unsure] = [dickey_fuller(X[:, j]) > _UNIT_ROOT for j in unsure]
    return np.asarray(found)
