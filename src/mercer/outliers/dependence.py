"""How long the values of a series depend on each other.

The integrated autocorrelation time of a stationary series with autocorrelations rho_k is

    tau = 1 + 2 sum_{k>0} rho_k;

the mean of n values varies as that of n / tau independent ones. The sum is cut at the smallest W >= 5 tau(W)
[sokal1997]. A sample mean has been subtracted from the series, which lowers the sum by the factor 1 - (2 W + 1) / n.
"""

import numpy as np

from mercer.arrays import Array

_WINDOW = 5.0  # in autocorrelation times [sokal1997]
_LEAST = 0.3  # smallest factor of the correction for the sample mean


def autocorrelation(series: Array) -> Array:
    """Return the sample autocorrelations rho_0 = 1, rho_1, ... of a series, (n,); a constant has none."""
    size = float(np.max(np.abs(series), initial=0.0)) or 1.0
    scaled = np.asarray(series, np.float64) / size  # so that squares of huge or tiny values are numbers
    centred, n = scaled - scaled.mean(), len(scaled)
    power = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    covariance = np.fft.irfft(power)[:n]
    if not covariance[0] > 1e-28 * n:
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
