"""A warning for training rows that follow each other in time, whose limits hold only for rows in no order.

In a table without an order, the scores of neighbouring rows are not more alike than those of any two rows. The ranks of
the scores have autocorrelations rho_k, each with variance 1 / n if rows are exchangeable. In a table sorted by class,
two rows at a distance of k are of one class the less often, the larger k is: with classes of L rows rho_k is
proportional to 1 - k / L, a straight line up to the size of the smallest class. What is left of rho_1 above the line
through distant lags, in units of the spread that is left as well,

    r = (rho_1 - c) / (1 - c),    c = the value at lag 1, at least 0, of the least-squares line of rho_5, ..., rho_20,

is that of a time series, whose rho_k fall faster at first: its neighbours are more alike than distant rows suggest.
The warning needs r >= .2, a size that matters, and r above 2.58 standard errors, which fewer than 1 % of tables
without an order reach. Classes or groups of fewer than 20 rows look like a time series, too.
"""

import numpy as np
from scipy.stats import rankdata

from mercer.arrays import Array
from mercer.outliers.dependence import autocorrelation

_DISTANT = np.arange(5, 21)  # lags
_MATTERS = 0.2
_SIGNIFICANT = 2.58  # standard errors: 1/2 % on one side
_FEWEST = 30  # rows that are needed to tell


def _weights_of_line() -> Array:
    """Return the weights of the distant autocorrelations in the value of their least-squares line at lag 1."""
    away = _DISTANT - _DISTANT.mean()
    return np.asarray(1.0 / len(away) + (1.0 - _DISTANT.mean()) * away / (away @ away))


def neighbours_alike(scores: Array) -> tuple[float, float]:
    """Return the autocorrelation at lag 1 of the ranks of scores, and what is left of it beyond distant lags."""
    rho = autocorrelation(rankdata(scores))
    expected = max(float(_weights_of_line() @ rho[_DISTANT]), 0.0)
    return float(rho[1]), (float(rho[1]) - expected) / max(1.0 - expected, np.finfo(float).eps)


def looks_serial(scores: Array) -> str | None:
    """Return a warning where the scores of rows, in the order of the rows, are those of a time series."""
    n = len(scores)
    if n < _FEWEST:
        return None
    first, left = neighbours_alike(scores)
    spread = np.sqrt((1.0 + (_weights_of_line() ** 2).sum()) / n)  # of the difference of rho_1 and the line
    if left < max(_MATTERS, _SIGNIFICANT * spread):
        return None
    return (
        f"The rows look like a time series (lag-1 autocorrelation of the scores {first:.2f}): alarms will be more "
        "frequent than alpha. Use ProcessMonitor, which knows about time; or, if new rows will be like rows drawn from "
        "these at random, shuffle the rows."
    )
