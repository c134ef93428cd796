"""A warning for training rows that follow each other in time, whose limits hold only for rows in no order.

In a table without an order, the scores of neighbouring rows are not more alike than those of any two rows. The ranks of
the scores have autocorrelations rho_k, each with variance 1 / n if rows are exchangeable. In a table sorted by class,
all rho_k are equally large up to the size of a class. What is left of rho_1 beyond distant lags, in units of the spread
that is left as well,

    r = (rho_1 - c) / (1 - c),    c = mean of rho_10, ..., rho_20, at least 0,

is that of a time series: its neighbours are more alike than rows 10 to 20 apart. The warning needs r >= .2, a size that
matters, and r above 2.58 standard errors, which fewer than 1 % of tables without an order reach.
"""

import numpy as np
from scipy.stats import rankdata

from mercer.arrays import Array
from mercer.outliers.dependence import autocorrelation

_DISTANT = slice(10, 21)  # lags
_MATTERS = 0.2
_SIGNIFICANT = 2.58  # standard errors: 1/2 % on one side
_FEWEST = 30  # rows that are needed to tell


def neighbours_alike(scores: Array) -> tuple[float, float]:
    """Return the autocorrelation at lag 1 of the ranks of scores, and what is left of it beyond distant lags."""
    rho = autocorrelation(rankdata(scores))
    far = max(float(rho[_DISTANT].mean()), 0.0)
    return float(rho[1]), (float(rho[1]) - far) / max(1.0 - far, np.finfo(float).eps)


def looks_serial(scores: Array) -> str | None:
    """Return a warning where the scores of rows, in the order of the rows, are those of a time series."""
    n = len(scores)
    if n < _FEWEST:
        return None
    first, left = neighbours_alike(scores)
    spread = np.sqrt((1.0 + 1.0 / len(range(*_DISTANT.indices(n)))) / n)  # of the difference of rho_1 and a mean
    if left < max(_MATTERS, _SIGNIFICANT * spread):
        return None
    return (
        f"The rows look like a time series (lag-1 autocorrelation of the scores {first:.2f}): alarms will be more "
        "frequent than alpha. Use ProcessMonitor, which knows about time; or, if new rows will be like rows drawn from "
        "these at random, shuffle the rows."
    )
