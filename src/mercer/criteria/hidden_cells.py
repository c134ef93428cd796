"""Prediction of hidden cells: how well a model knows rows, measured in the space of the rows.

Errors in feature space cannot be compared between kernels, and errors of pre-images become smaller with every further
component. Here some cells of rows that the model was not fitted to are hidden and predicted from the others. A model
with too few components predicts badly; one with too many follows the known cells and misses the hidden ones. Noise that
is independent from cell to cell cannot be predicted, so the best model by this criterion is the one that removes noise
best [Batson and Royer 2019, Noise2Self].

Linear kernels: the scores are the least-squares fit to the known cells. Gaussian kernels: squared distances over the
known cells, times d / (number of known cells), give first scores; then hidden cells are replaced by those of the
pre-image, and the row is projected again, a few times. Other kernels do the same from the mean row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.expansion.model import Expansion
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear
from mercer.kernels.threads import TILE_BYTES, available_threads, one_blas_thread, row_slices, run_in_threads
from mercer.preimage.methods import Anchors, find_preimages
from mercer.preimage.mika import LEAST

BoolArray = npt.NDArray[np.bool_]

_SHARE = 0.2  # of the cells are hidden
_ROUNDS = 3  # projections of a row whose hidden cells are filled, with one step of the fixed point each
_LARGEST_GAMMA = 1e30  # for rows of size 1; with any larger one all kernel values are 0 in float32, too
_LONGEST = 1e4  # gamma times a squared length, from which on float32 has too few digits for a difference
_ROUNDING = 1e-12  # share of the size of the rows; what varies less is constant
_ROWS, _ARRAYS = 256, 4  # rows that are predicted together, at most, and numbers for each of them and each point
_RIDGE = 1e-9  # beside the unit length of the axes: only so that as many components as known cells do not fail


def size_of(X: Array) -> float:
    """Return the power of two next below the largest number, so that squares in this unit do not overflow."""
    largest = float(np.abs(X).max(initial=0.0))
    return float(2.0 ** np.floor(np.log2(largest))) if largest > 0 else 1.0


def hide(shape: tuple[int, int], rng: np.random.RandomState) -> BoolArray:
    """Return which cells are hidden: a fifth of them at random, and at least one per row, but never all."""
    rows, columns = shape
    order = rng.rand(rows, columns).argsort(axis=1)
    count = np.clip(np.round(_SHARE * columns), 1, max(columns - 1, 1))
    return np.asarray(order < count)


def predictions(expansion: Expansion, X: Array, hidden: BoolArray, counts: Sequence[int]) -> Array:
    """Return the rows as the first so many components predict them from their known cells, (counts, n, d).

    The components must be orthonormal.
    """
    if isinstance(expansion.kernel, Linear):
        return _by_least_squares(expansion, X, hidden, counts)
    if isinstance(expansion.kernel, RBF):
        return _by_fixed_point(expansion, expansion.kernel, X, hidden, counts)
    return np.stack([_by_preimages(expansion.truncated(count), X, hidden) for count in counts])


def predicted_share(expansion: Expansion, X: Array, rng: np.random.RandomState) -> float:
    """Return the share of the variation of hidden cells that a model predicts, relative to the mean of its points."""
    hidden, unit = hide((len(X), X.shape[1]), rng), size_of(X)
    missed = np.empty(X.shape)

    def work(_: int, rows: slice) -> None:
        missed[rows] = predictions(expansion, X[rows], hidden[rows], [expansion.n_components])[0] - X[rows]

    per_row = max(_ARRAYS * expansion.n_points * X.itemsize, TILE_BYTES // _ROWS)
    with one_blas_thread():  # also for a single slice: its products are small
        run_in_threads(work, row_slices(len(X), per_row), available_threads())
    varied = X - np.asarray(expansion.points, np.float64).mean(axis=0)
    least = max(hidden.sum(), 1) * _ROUNDING**2  # where nothing varies, all that a model misses is rounding
    variation = max(((varied[hidden] / unit) ** 2).sum(), least)
    return float(1.0 - ((missed[hidden] / unit) ** 2).sum() / variation)


def _by_least_squares(expansion: Expansion, X: Array, hidden: BoolArray, counts: Sequence[int]) -> Array:
    axes = np.asarray(expansion.coef @ expansion.points, np.float64)  # (r, d), orthonormal
    mean = np.zeros(X.shape[1]) if expansion.nu is None else np.asarray(expansion.nu @ expansion.points)
    known = (~hidden).astype(np.float64)
    seen = (known * (X - mean)) @ axes.T
    products = np.einsum("qd,rd,sd->qrs", known, axes, axes, optimize=True)
    products += _RIDGE * np.eye(len(axes))
    found = np.empty((len(counts), *X.shape))
    for place, count in enumerate(counts):
        scores = np.linalg.solve(products[:, :count, :count], seen[:, :count, None])[..., 0]
        found[place] = scores @ axes[:count] + mean
    return found


def _by_fixed_point(expansion: Expansion, kernel: RBF, X: Array, hidden: BoolArray, counts: Sequence[int]) -> Array:
    """Fill hidden cells by pre-images of a Gaussian kernel, for all counts at once.

    The iteration is that of `preimage.mika` without its search for the best step: a model for which it fails predicts
    badly, and loses the comparison. Float32 is used where it has enough digits. It holds no squares of very large or
    small numbers, so rows are divided by the size of the points, which leaves kernel values and coefficients as they
    are.
    """
    origin = np.asarray(expansion.points, np.float64).mean(axis=0)
    unit = size_of(expansion.points - origin)
    gaussian = _Gaussian.of((expansion.points - origin) / unit, min(kernel.gamma * unit * unit, _LARGEST_GAMMA))
    inside = [_Subspace.of(expansion, count, gaussian.dtype) for count in counts]
    rows = np.tile(((X - origin) / unit).astype(gaussian.dtype), (len(counts), 1))
    every = np.tile(hidden, (len(counts), 1))
    scores = _scores_of_known_cells(expansion, kernel, X - origin, hidden, origin).astype(gaussian.dtype)
    known = _Subspace.of(expansion, max(counts), gaussian.dtype).scores(gaussian.values(gaussian.points))
    found = gaussian.points[_nearest_points(known, scores, counts)]
    found = gaussian.moved(found, np.concatenate([part.lifted(scores[:, : part.count]) for part in inside]))
    for _ in range(_ROUNDS - 1):
        values = np.split(gaussian.values(np.where(every, found, rows)), len(counts))
        weights = [part.lifted(part.scores(own)) for part, own in zip(inside, values, strict=True)]
        found = gaussian.moved(found, np.concatenate(weights))
    return np.asarray(found.reshape(len(counts), *X.shape).astype(np.float64) * unit + origin)


@dataclass(frozen=True, eq=False)
class _Gaussian:
    """Kernel values with the points of a model, and the steps of the fixed point; plain arrays, for small tables."""

    points: Array  # (m, d)
    gamma: float
    lengths: Array  # (m,), gamma times the squared lengths

    @classmethod
    def of(cls, points: Array, gamma: float) -> "_Gaussian":
        lengths = gamma * np.einsum("ij,ij->i", points, points)
        dtype = np.float32 if lengths.max() < _LONGEST or gamma == _LARGEST_GAMMA else np.float64
        return cls(points.astype(dtype), gamma, lengths.astype(dtype))

    @property
    def dtype(self) -> npt.DTypeLike:
        return self.points.dtype

    def values(self, Z: Array) -> Array:
        """Return the kernel values of rows, (n, m)."""
        values = (Z * self.points.dtype.type(2.0 * self.gamma)) @ self.points.T
        values -= self.points.dtype.type(self.gamma) * np.einsum("ij,ij->i", Z, Z)[:, None]
        values -= self.lengths
        np.minimum(values, 0.0, out=values)
        return np.asarray(np.exp(values, out=values))

    def moved(self, Z: Array, weights: Array) -> Array:
        """Return rows after one step of the fixed point for these coefficients of the points; see `mika.Hill.look`."""
        pull = self.values(Z)
        pull *= weights
        height, reach = pull.sum(axis=1), np.abs(pull).sum(axis=1)
        divisor = np.where(height > LEAST * reach, height, reach)[:, None]
        step = np.divide(pull @ self.points - height[:, None] * Z, divisor, out=np.zeros_like(Z), where=divisor > 0)
        return np.asarray(Z + step)


@dataclass(frozen=True, eq=False)
class _Subspace:
    """The first so many components: from kernel values to scores, and to coefficients of the projection."""

    count: int
    coef: Array  # (count, m)
    offset: Array  # (count,)
    mean: Array | float  # (m,), the coefficients of the mean; 0 in a model that is not centred

    @classmethod
    def of(cls, expansion: Expansion, count: int, dtype: npt.DTypeLike) -> "_Subspace":
        coef, offset = expansion.coef[:count], expansion.offset[:count]
        mean = 0.0 if expansion.nu is None else expansion.nu.astype(dtype)
        return cls(count, coef.astype(dtype), offset.astype(dtype), mean)

    def lifted(self, scores: Array) -> Array:
        """Return the coefficients of mean + projection, (n, m), of scores, (n, count)."""
        return np.asarray(scores @ self.coef + self.mean)

    def scores(self, values: Array) -> Array:
        """Return scores, (n, count), of kernel values with the points, (n, m)."""
        return np.asarray(values @ self.coef.T - self.offset)


def _scores_of_known_cells(expansion: Expansion, kernel: RBF, X: Array, hidden: BoolArray, origin: Array) -> Array:
    """Return scores of rows less `origin` by squared distances over the known cells."""
    points, known = expansion.points - origin, (~hidden).astype(np.float64)
    rows = known * X
    squared = (rows**2).sum(axis=1)[:, None] - 2.0 * rows @ points.T + known @ (points**2).T
    squared *= (X.shape[1] / known.sum(axis=1))[:, None]
    values = np.exp(-kernel.gamma * np.maximum(squared, 0.0))
    return np.asarray(values @ expansion.coef.T - expansion.offset)


def _nearest_points(known: Array, scores: Array, counts: Sequence[int]) -> IntArray:
    """Return for each row the point whose first so many scores are the nearest; rows of one count after the other."""
    found = []
    for count in counts:
        own = known[:, :count]
        found.append(((own**2).sum(axis=1) - 2.0 * scores[:, :count] @ own.T).argmin(axis=1))
    return np.concatenate(found)


def _by_preimages(model: Expansion, X: Array, hidden: BoolArray) -> Array:
    """Fill hidden cells by pre-images of any kernel, from the mean row."""
    anchors = Anchors(model.points, model.project(model.points))
    found = np.broadcast_to(np.asarray(model.points, np.float64).mean(axis=0), X.shape)
    for _ in range(_ROUNDS):
        scores = model.project(np.where(hidden, found, X))
        found = find_preimages("auto", model, scores, anchors)
    return np.asarray(found)
