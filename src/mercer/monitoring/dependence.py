"""What follows from the autocorrelations of a series: times of squares and of large values, and unknown levels."""

from math import factorial

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from mercer.arrays import Array, IntArray
from mercer.outliers.dependence import autocorrelation, correlation_times, cut_of, summed_time

_TERMS = 12  # of the tetrachoric series
_NO_VARIANCE = 1e-28  # of values whose largest one is 1: rounding errors
# independent values of a column, up to which its level is hardly known, and the Dickey-Fuller statistic with a constant
# from which it is known nevertheless: its points of 1 and 10 % [fuller1976, table 8.5.2]
_UNKNOWN = ((5.0, -3.43), (20.0, -2.57))


def time_of_squares(X: Array, n_components: int, scaled: bool = False) -> float:
    """Return the autocorrelation time that T2 and SPE of scaled rows have at least, for a linear normal process.

    The autocorrelations of a squared normal value are rho_k^2. T2 is the sum of squares of the components in units of
    their variances; SPE is that of the others, weighted by their variances unless they are scaled, too. These times
    come from as many series as there are components, so they are more precise than those of T2 and SPE themselves.
    """
    U, lengths, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    present = lengths > 1e-6 * max(float(lengths.max(initial=0.0)), np.finfo(float).tiny)
    times = np.array([_time_of_square(series) for series in U[:, present].T])
    inside, outside = times[:n_components], times[n_components:]
    weights = np.ones(len(outside)) if scaled else lengths[present][n_components:] ** 4
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


def time_of_smoothed(series: Array, weight: float, place: IntArray | None = None) -> float:
    """Return 1 + 2 sum_k (1 - w)^k rho_k: the variance of a smoothed series, in units of that of independent values.

    place, (n,), has the numbers of the values where some between them are left out. New rows come without such gaps or
    with them, so the larger of the times is taken, that of values one after the other and that of the given places.
    """
    time = _faded(autocorrelation(series), weight, len(series))
    if place is None or not len(place) or place[-1] - place[0] + 1 == len(place):
        return time
    rho = spaced_autocorrelation(series, place)
    return max(time, _faded(rho, weight, len(rho)))


def _faded(rho: Array, weight: float, n: int) -> float:
    rho = rho[1 : cut_of(rho)]
    return summed_time((1.0 - weight) ** np.arange(1, len(rho) + 1) * rho, n)


def spaced_autocorrelation(series: Array, place: IntArray) -> Array:
    """Return the autocorrelations of a series of which only the values at rising places are known, from lag 0 on.

    The mean product of the known pairs at each lag [parzen1963]. Where there are less than half as many pairs as gaps
    at random would leave, such as at odd lags of every second value, they are interpolated.
    """
    at, n = place - place[0], len(place)
    length = int(at[-1]) + 1
    scaled = series / (float(np.max(np.abs(series), initial=0.0)) or 1.0)  # so that squares are numbers
    centred, known = np.zeros(length), np.zeros(length)
    centred[at], known[at] = scaled - scaled.mean(), 1.0
    products, pairs = (np.fft.irfft(np.abs(np.fft.rfft(one, 2 * length)) ** 2)[:length] for one in (centred, known))
    if not products[0] > _NO_VARIANCE * n:
        return np.asarray(np.eye(1, length)[0])
    lags = np.arange(length)
    left = 1.0 - lags / length
    enough = pairs >= 0.5 * np.maximum(n * n / length * left, 1.0)
    rho = np.divide(products, pairs, out=np.zeros(length), where=enough) * left * (n / products[0])
    return np.asarray(np.interp(lags, lags[enough], rho[enough]))


def dickey_fuller(series: Array) -> float:
    """Return the augmented Dickey-Fuller statistic with a constant; -inf for a series that cannot be tested.

    x_t - x_{t-1} is regressed on x_{t-1}, a constant and earlier differences; the statistic is that of the coefficient
    of x_{t-1}. The number of differences is 4 (n / 100)^(1/4), rounded up [schwert1989].
    """
    x = np.asarray(series, np.float64) / (float(np.max(np.abs(series), initial=0.0)) or 1.0)
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

    These are columns with fewer than 20 independent values for which a unit root is not rejected at 10 %, and columns
    with fewer than 5 for which it is not rejected at 1 %: where their values will be in future is not known from these
    rows. The number of independent values alone does not tell it: of a column that varies around a level it is often
    far too small by chance, as its autocorrelations are not known precisely.
    """
    independent = len(X) / correlation_times(X)
    found = np.zeros(X.shape[1], bool)
    for j in np.flatnonzero(independent < _UNKNOWN[-1][0]).tolist():
        point = next(point for most, point in _UNKNOWN if independent[j] < most)
        found[j] = dickey_fuller(X[:, j]) > point
    return found
