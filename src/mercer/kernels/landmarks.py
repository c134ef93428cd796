"""Rules that choose landmarks: points that represent all others.

For the Gaussian kernel k-means centres were best in all measurements: a 16-component model on 64 of them exceeds the
smallest error on image patches by 6 %, on as many random rows by 32 %. Randomly pivoted Cholesky works for any kernel,
and finds small groups that random rows miss.
"""

import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Array, IntArray, Points, distinct_rows, is_sparse, n_rows
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.greedy_kpca import greedy_rows
from mercer.kernels.landmark_map import require_rows
from mercer.kernels.threads import available_threads, one_blas_thread
from mercer.kernels.tiles import PointBlocks, memory_budget

SELECTIONS = ("auto", "uniform", "kmeans", "rpcholesky", "ald", "greedy_kpca")

_KMEANS_ROWS, _KMEANS_ROWS_EACH = 3000, 10
_KMEANS_ITERATIONS = 10
_GREEDY_ROWS = 3000  # among which greedy kernel PCA chooses: their kernel matrix is kept in memory
_DRAWS_EACH = 4  # rows drawn for each one wanted, so that repeated rows can be left out
_DRAWN = 64  # pivots drawn at once
_STREAM_ROWS = 256  # rows of a stream that are examined together
_EXHAUSTED = 1e-12  # share of the first trace below which the chosen rows explain all others
_FAR = 1e4  # times the median of k(x, x): rows with more do not tell when all others are explained
_ROUNDING = 1e-13  # share of k(x, x) below which a residual is rounding
# Added to K_mm as a share of its diagonal: rounding errors of kernel values. Where points are nearly dependent the
# inverse multiplies these, k_m^T K_mm^-1 k_m exceeds k(x, x), and rows far outside of the span would count as known.
_SLACK = 16.0 * float(np.finfo(np.float64).eps)
_LEAST_NU = 1e-10  # share of k(x, x) below which a residual is rounding, in a dictionary that grows for a long time
_FIRST_NU = 0.2  # so large that the first rows of sorted data do not fill the dictionary at once


def select_landmarks(
    kernel: Kernel, X: Points, count: int, selection: str, rng: np.random.RandomState
) -> Points:  # (m, d)
    """Return at most `count` landmarks for the rows of X, chosen by one of `SELECTIONS`.

    They are fewer where rows repeat or are linearly dependent in feature space.
    """
    require_rows(kernel)
    if n_rows(X) <= count:
        return X[distinct_rows(X)]
    if selection == "auto":
        selection = "kmeans" if isinstance(kernel, RBF) and not is_sparse(X) else "rpcholesky"
    return _RULES[selection](kernel, X, count, rng)


def _uniform(kernel: Kernel, X: Points, count: int, rng: np.random.RandomState) -> Points:
    """Return different rows drawn at random."""
    drawn = rng.permutation(n_rows(X))[: _DRAWS_EACH * count]
    return X[drawn[distinct_rows(X[drawn])[:count]]]


def _sample(X: Points, most: int, rng: np.random.RandomState) -> Points:
    """Return at most `most` rows drawn at random, in their order."""
    return X if n_rows(X) <= most else X[np.sort(rng.permutation(n_rows(X))[:most])]


# -- k-means ---------------------------------------------------------------------------------------


def _kmeans(kernel: Kernel, X: Points, count: int, rng: np.random.RandomState) -> Points:
    """Return the centres of clusters of a sample, in float64; they are dense even where the rows are sparse."""
    from sklearn.cluster import KMeans  # its import is slow

    sample = _sample(X, max(_KMEANS_ROWS, _KMEANS_ROWS_EACH * count), rng)
    distinct = distinct_rows(sample)
    if len(distinct) <= count:
        return sample[distinct]
    model = KMeans(count, n_init=1, max_iter=_KMEANS_ITERATIONS, random_state=rng)
    with one_blas_thread(), warnings.catch_warnings():  # its many small products are 8 times slower in threads
        warnings.simplefilter("ignore", ConvergenceWarning)  # where centres coincide; repeats are dropped
        centres = model.fit(sample.astype(np.float64)).cluster_centers_  # in float32 its distances lose digits
    return centres[distinct_rows(centres)]


# -- randomly pivoted Cholesky ---------------------------------------------------------------------


def _rpcholesky(kernel: Kernel, X: Points, count: int, rng: np.random.RandomState) -> Points:
    """Return rows of a sample, chosen by randomly pivoted Cholesky."""
    sample = _sample(X, max(count, memory_budget() // (count * 8)), rng)
    pivots = _Pivoting(kernel, sample, count).run(rng)
    return sample[pivots] if len(pivots) else _uniform(kernel, X, 1, rng)  # k(x, x) = 0 for all rows


class _Pivoting:
    """Partial Cholesky of K with pivots drawn in proportion to the residual diagonal (Chen et al., 2022).

    Several are drawn at once and rejected with the probability that gives the same distribution as one after the other
    (Epperly, Tropp and Webber, 2024, alg. 2). For an indefinite kernel negative residuals count as zero.
    """

    def __init__(self, kernel: Kernel, X: Points, count: int) -> None:
        self.kernel, self.X = kernel, X
        self.residual = np.maximum(kernel.diagonal(X), 0.0)  # (n,)
        self.floor = _ROUNDING * self.residual  # (n,)
        self.factor = np.empty((n_rows(X), count))  # the first len(pivots) columns are filled
        self.pivots: list[int] = []

    def run(self, rng: np.random.RandomState) -> list[int]:
        """Return the rows chosen, in order; fewer than `count` where these explain all others."""
        threads, enough = available_threads(), _EXHAUSTED * _usual_sum(self.residual)
        with one_blas_thread():
            while len(self.pivots) < self.factor.shape[1] and self.residual.sum() > enough:
                self._eliminate(*self._accept(self._draw(rng), rng), threads)
        return self.pivots

    def _draw(self, rng: np.random.RandomState) -> IntArray:
        """Draw rows in proportion to their residuals."""
        sums = np.cumsum(self.residual)
        values = rng.random_sample(_DRAWN) * sums[-1]
        last = np.searchsorted(sums, sums[-1])
        drawn = np.minimum(np.searchsorted(sums, values, side="right"), last)  # a product may be rounded up
        return np.asarray(drawn)

    def _accept(self, drawn: IntArray, rng: np.random.RandomState) -> tuple[IntArray, Array]:
        """Return the drawn rows that are accepted, and the Cholesky factor of their residual kernel matrix."""
        rows, done = self.X[drawn], self.factor[drawn, : len(self.pivots)]
        S = PointBlocks(self.kernel, rows, np.float64).against(rows) - done @ done.T
        S = np.where(drawn == drawn[:, None], self.residual[drawn], S)  # exact, so that no row is taken twice
        thresholds = np.maximum(rng.random_sample(len(drawn)) * self.residual[drawn], self.floor[drawn])
        thresholds[0] = 0.0  # the first is always taken
        places, lower = _take_in_order(S, thresholds, self.factor.shape[1] - len(self.pivots))
        return drawn[places], lower

    def _eliminate(self, chosen: IntArray, lower: Array, threads: int) -> None:
        """Append the columns of the chosen pivots to the factor, and subtract their part from the residual."""
        first, after = len(self.pivots), len(self.pivots) + len(chosen)
        done = self.factor[chosen, :first].T.copy()

        def work(rows: slice, block: Array) -> None:
            block -= self.factor[rows, :first] @ done
            columns = solve_triangular(lower, block.T, lower=True, check_finite=False).T
            self.factor[rows, first:after] = columns
            self.residual[rows] -= np.einsum("ij,ij->i", columns, columns)

        PointBlocks(self.kernel, self.X[chosen], np.float64).for_each_chunk(self.X, work, threads)
        self.residual[chosen] = 0.0
        self.residual[~(self.residual > self.floor)] = 0.0
        self.pivots.extend(chosen.tolist())


def _usual_sum(diagonal: Array) -> float:
    """Return the sum of k(x, x), but not much more than that of the median row: one enormous row is not all rows."""
    total, typical = float(diagonal.sum()), float(np.median(diagonal))
    return min(total, _FAR * typical * len(diagonal)) if typical > 0 else total


def _take_in_order(S: Array, thresholds: Array, most: int) -> tuple[IntArray, Array]:
    """Go down the diagonal of S and take a row if its residual after the rows taken before exceeds its threshold.

    S is (b, b), symmetric, and overwritten. Return the positions taken, (a,), and the Cholesky factor of S there, (a,
    a).
    """
    taken: list[int] = []
    columns = np.zeros((len(S), min(most, len(S))))
    for i in range(len(S)):
        if len(taken) == most:
            break
        if S[i, i] > thresholds[i]:
            column = S[i:, i] / np.sqrt(S[i, i])
            S[i:, i:] -= np.outer(column, column)
            columns[i:, len(taken)] = column
            taken.append(i)
    return np.array(taken, np.intp), columns[taken, : len(taken)]


# -- approximate linear dependence -----------------------------------------------------------------


class AldDictionary:
    """Points of a stream that are not nearly linear combinations of earlier ones in feature space.

    A row is added if its squared distance from the span of the dictionary, k(x, x) - k_m^T K_mm^-1 k_m, exceeds nu
    times the mean of k(x, x) over the rows up to it (Engel, Mannor and Meir, 2004). The result does not depend on how
    the stream is split into chunks. Where nu is so small that rounding would decide, the threshold is 1e-10 k(x, x).
    """

    def __init__(self, kernel: Kernel, nu: float, limit: int) -> None:
        self.kernel, self.nu, self.limit = kernel, nu, limit
        self.points: Points = None  # (m, d), None before the first
        self._factor = np.empty((0, 0))  # (m, m), lower: L L^T = K_mm and the slack
        self._sum, self._seen = 0.0, 0  # of k(x, x)
        self._blocks: PointBlocks | None = None

    def __len__(self) -> int:
        return len(self._factor)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_blocks": None}

    def extend(self, X: Points) -> bool:
        """Examine rows in order and add those that are new; return whether the dictionary grew."""
        before = len(self)
        if before >= self.limit:
            return False
        with one_blas_thread():
            for first in range(0, n_rows(X), _STREAM_ROWS):
                self._offer(X[first : first + _STREAM_ROWS])
        return len(self) > before

    def _offer(self, X: Points) -> None:
        """Examine some rows together and add those that exceed their thresholds."""
        own = self.kernel.diagonal(X)
        thresholds = self._thresholds(own)
        B = self._coordinates(X)  # (m, n)
        residual = own - np.einsum("ij,ij->j", B, B)
        novel = np.flatnonzero(residual > thresholds)  # a residual never grows, so the others need no further check
        if len(novel) == 0:
            return
        rows, B = X[novel], B[:, novel]
        S = PointBlocks(self.kernel, rows, np.float64).against(rows) - B.T @ B
        np.fill_diagonal(S, residual[novel] + _SLACK * own[novel])
        places, lower = _take_in_order(S, thresholds[novel], self.limit - len(self))
        self._append(rows[places], B[:, places], lower)

    def _thresholds(self, own: Array) -> Array:
        """Return the threshold of each row, and include the rows in the mean of k(x, x)."""
        sums = np.cumsum(np.concatenate([[self._sum], own]))[1:]
        means = sums / (self._seen + 1 + np.arange(len(own)))
        self._sum, self._seen = float(sums[-1]), self._seen + len(own)
        thresholds: Array = np.maximum(self.nu * means, _LEAST_NU * own)
        return np.maximum(thresholds, 0.0)

    def _coordinates(self, X: Points) -> Array:
        """Return L^-1 k(points, X), (m, n): the squared length of a column is the part of the row in the dictionary's
        span.
        """
        if self.points is None:
            return np.empty((0, n_rows(X)))
        if self._blocks is None:
            self._blocks = PointBlocks(self.kernel, self.points, np.float64)
        against = self._blocks.against(X).T
        return np.asarray(solve_triangular(self._factor, against, lower=True, check_finite=False))

    def _append(self, rows: Points, B: Array, lower: Array) -> None:
        """Add rows to the dictionary and to its Cholesky factor."""
        above = np.zeros((len(self), len(lower)))
        self._factor = np.block([[self._factor, above], [B.T, lower]])
        if self.points is not None:
            rows = sp.vstack([self.points, rows], "csr") if is_sparse(rows) else np.vstack([self.points, rows])
        self.points = rows
        self._blocks = None


def _ald(kernel: Kernel, X: Points, count: int, rng: np.random.RandomState) -> Points:
    """Return the dictionary after one pass, and after further passes with smaller nu while there is room."""
    dictionary = AldDictionary(kernel, _FIRST_NU, count)
    dictionary.extend(X)
    while len(dictionary) < count and dictionary.nu > _LEAST_NU:
        dictionary.nu *= 0.1
        dictionary.extend(X)
    return dictionary.points if len(dictionary) else _uniform(kernel, X, 1, rng)


# -- greedy kernel PCA -----------------------------------------------------------------------------


def _greedy_kpca(kernel: Kernel, X: Points, count: int, rng: np.random.RandomState) -> Points:
    """Return the rows of a sample that, one by one, lower its mean squared reconstruction error most."""
    sample = _sample(X, min(max(_GREEDY_ROWS, count), int(np.sqrt(memory_budget() / 8))), rng)
    chosen = greedy_rows(kernel, sample, min(count, n_rows(sample)))
    return sample[chosen] if chosen else _uniform(kernel, X, 1, rng)  # k(x, x) = 0 for all rows


_RULES: dict[str, Callable[[Kernel, Points, int, np.random.RandomState], Points]] = {
    "uniform": _uniform,
    "kmeans": _kmeans,
    "rpcholesky": _rpcholesky,
    "ald": _ald,
    "greedy_kpca": _greedy_kpca,
}
