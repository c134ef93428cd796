"""Folds of partitions for the detector: which rows are in which fold, and what each partition gives for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.dask.landmark_moments import Measuring
from mercer.dask.sample import row_keys
from mercer.engine.moments import Moments, total
from mercer.engine.scaling import Scaling
from mercer.outliers.panel import PanelJudge

REFERENCE = -1  # the fold of rows that set scaling, gamma and landmarks: they are in every model


@dataclass(frozen=True)
class Folds:
    """The fold of each row. Partitions are held out as a whole where there are enough of them, or else single rows."""

    seed: int
    count: int
    reference: float  # rows with a key up to this are the reference
    whole: dict[int, int] | None  # number of the partition -> its fold; None: single rows

    @classmethod
    def of(cls, sizes: Sequence[int], n_folds: int, seed: int, reference: float) -> "Folds":
        """Divide the partitions that have rows at random."""
        filled = [number for number, rows in enumerate(sizes) if rows]
        if len(filled) < n_folds:
            return cls(seed, min(n_folds, max(sum(sizes), 1)), reference, None)
        order = np.random.default_rng([seed, len(filled)]).permutation(len(filled))
        return cls(seed, n_folds, reference, {filled[place]: k % n_folds for k, place in enumerate(order)})

    def numbers(self, number: int, keys: Array) -> IntArray:
        """Return the fold of each row of a partition."""
        if self.whole is not None:
            folds = np.full(len(keys), self.whole.get(number, 0))
        else:
            folds = np.random.default_rng([self.seed, number, 1]).integers(self.count, size=len(keys))
        return np.where(keys <= self.reference, REFERENCE, folds)


@dataclass(frozen=True, eq=False)
class FoldMoments:
    """What every partition gives in the first pass: moments of its rows, one for each fold, and for the reference."""

    folds: Folds
    scaling: Scaling
    measuring: Measuring

    def __call__(self, rows: Array, number: int) -> list[Moments]:
        """Return the moments of one partition."""
        if len(rows):  # an empty partition may have other columns
            rows = self.scaling(rows.astype(np.float64, copy=False))
        folds = self.folds.numbers(number, row_keys(self.folds.seed, number, len(rows)))
        return [self.measuring(rows[folds == k])[0] for k in (*range(self.folds.count), REFERENCE)]


def added_folds(found: list[Any]) -> list[Moments]:
    """Add the moments of several partitions, fold by fold."""
    return [total(list(parts)) for parts in zip(*found, strict=True)]


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """What every partition gives in the second pass: statistics of its rows, by the model without their fold."""

    folds: Folds
    judges: Sequence[PanelJudge]
    share: float  # of the rows; others are left out, where there are more than limits need

    def __call__(self, rows: Array, number: int) -> list[Array]:
        """Return the scores of one partition, (n_k, 2 or 3) for each fold."""
        keys = row_keys(self.folds.seed, number, len(rows))
        folds = self.folds.numbers(number, keys)
        left = 1.0 - (1.0 - keys) / max(1.0 - self.folds.reference, 1e-300)  # uniform among the rows in folds
        rows = rows.astype(np.float64, copy=False)
        return [self._scores(judge, rows[(folds == k) & (left <= self.share)]) for k, judge in enumerate(self.judges)]

    @staticmethod
    def _scores(judge: PanelJudge, rows: Array) -> Array:
        return judge(rows) if len(rows) else np.empty((0, 2 if judge.ellipsoid is None else 3))


def joined_scores(found: list[Any]) -> list[Array]:
    """Put the scores of several partitions together, fold by fold."""
    return [np.vstack(parts) for parts in zip(*found, strict=True)]
