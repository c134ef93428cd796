"""The normal rows that limits rest on, each with the scores of a model that did not learn from it.

Every row has an owner: the number of the model that judged it. For training rows these are the models of the other
parts of the rows; for rows of a stream, the model that was in use when the row arrived. Limits for rows with missing
columns come from the same rows and models, with these columns left out.

A model of fewer rows has larger scores for rows that it did not learn from. With the mean score of such rows s_out and
that of learned rows s_in, the excess s_out - s_in falls as 1 / n. So the scores of the models of parts, which learn
from m of n rows, are brought to the level of the model of all rows by the factor

    (s_in(n) + (s_out(m) - s_in(m)) m / n) / s_out(m).
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.events import Channel
from mercer.monitoring.calibration import Fitter, Plan, judge_from
from mercer.monitoring.imputation import Imputer, Normal
from mercer.outliers.folds import contiguous_folds
from mercer.outliers.panel import Judge

_STAGE = "parts held out"  # what progress displays show


@dataclass(frozen=True, eq=False)
class PartialJudge(Judge):
    """A judge that learned from fewer rows than the one it stands for, whose level its statistics have."""

    factors: Array  # (2,), of T2 and SPE

    def __call__(self, X: Array) -> Array:
        """Return T2 and SPE of every row, (n, 2)."""
        return super().__call__(X) * self.factors


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a stream that are known to be normal, in the order of time."""

    lagged: Array  # (n, D), columns of the model, with lags
    others: Array  # (n, c), columns that drift
    segment: IntArray  # (n,), the number of the stretch of time that a row belongs to
    learned: npt.NDArray[np.bool_]  # (n,), whether models learn from it; other rows count only for limits
    place: IntArray  # (n,), rising: its number among all rows, also those that are left out

    @classmethod
    def of(cls, lagged: Array, others: Array, place: IntArray, segment: int = 0) -> "Rows":
        """Return rows of one stretch of time, all of which are learned from."""
        n = len(lagged)
        return cls(lagged, others, np.full(n, segment), np.ones(n, bool), place - place[0])

    def __len__(self) -> int:
        return len(self.lagged)

    def __getitem__(self, at: slice | IntArray | npt.NDArray[np.bool_]) -> "Rows":
        return Rows(self.lagged[at], self.others[at], self.segment[at], self.learned[at], self.place[at])

    def followed_by(self, more: "Rows") -> "Rows":
        """Return these rows and further ones, whose places are counted on from the last of these."""
        shifted = replace(more, place=more.place + (self.place[-1] + 1 if len(self) else 0))
        pairs = ((getattr(self, field.name), getattr(shifted, field.name)) for field in fields(self))
        return Rows(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True, eq=False)
class Reference:
    """Normal rows, the models that judged them, and what they found."""

    rows: Rows
    scores: Array  # (n, 2), T2 and SPE
    owner: IntArray  # (n,)
    judges: tuple[Judge, ...]
    gap: int  # rows between what a model judges and what it learns from

    @classmethod
    def held_out(cls, rows: Rows, whole: Judge, fit: Fitter, plan: Plan, channel: Channel) -> "Reference":
        """Return the reference of rows judged by models of rows that are not near them in time; whole knows all."""
        scores, owner, judges = np.empty((len(rows), 2)), np.zeros(len(rows), np.int64), []
        n_folds, inside, sizes = min(plan.n_folds, len(rows)), [], []
        for number, (held, learned) in enumerate(folds_of(rows.segment, n_folds, plan.gap)):
            judge = judge_from(rows.lagged[learned], fit, plan.standardize)
            scores[held], owner[held] = judge(rows.lagged[held]), number
            inside.append(judge(rows.lagged[learned]).mean(axis=0))
            sizes.append(len(learned))
            judges.append(judge)
            channel.emit(_STAGE, number + 1, n_folds)
        share = float(np.mean(sizes)) / len(rows)
        factors = _factors(scores.mean(axis=0), np.mean(inside, axis=0), whole(rows.lagged).mean(axis=0), share)
        partial = tuple(PartialJudge(judge.scaling, judge.model, factors) for judge in judges)
        return cls(rows, scores * factors, owner, partial, plan.gap)

    @property
    def noise(self) -> float:
        """The unit g of SPE as g times a chi-square variable: half of its variance divided by its mean."""
        spe = self.scores[:, 1]
        mean, variance = float(spe.mean()), float(spe.var())
        return 0.5 * variance / mean if variance > 0 and mean > 0 else 1.0

    @cached_property
    def normals(self) -> list[Normal]:
        """The distributions of the rows that each model may know: not its own ones, nor those near them in time."""
        return [Normal.of(self.rows.lagged[self._far_from(number)]) for number in range(len(self.judges))]

    def _far_from(self, number: int) -> npt.NDArray[np.bool_]:
        own = np.flatnonzero(self.owner == number)
        far = self.rows.learned.copy()
        for step in range(-self.gap, self.gap + 1):
            far[np.clip(own + step, 0, len(far) - 1)] = False
        return far if far.sum() >= len(far) // 2 else self.rows.learned & (self.owner != number)

    def imputed(self, missing: npt.NDArray[np.bool_]) -> Iterator[tuple[IntArray, Imputer]]:
        """Yield for each model its own rows, as numbers, and how it fills missing columns."""
        for number, (judge, normal) in enumerate(zip(self.judges, self.normals, strict=True)):
            own = np.flatnonzero(self.owner == number)
            if len(own):
                yield own, Imputer.of(judge, normal, missing, self.noise)

    def extended(self, rows: Rows, scores: Array, judge: Judge, most: int) -> "Reference":
        """Return the reference with further rows that a model judged; of all rows the last ones are kept."""
        owner = np.concatenate([self.owner, np.full(len(rows), len(self.judges))])[-most:]
        used, owner = np.unique(owner, return_inverse=True)
        judges = (*self.judges, judge)
        return replace(
            self,
            rows=self.rows.followed_by(rows)[-most:],
            scores=np.vstack([self.scores, scores])[-most:],
            owner=owner,
            judges=tuple(judges[number] for number in used.tolist()),
        )


def _factors(outside: Array, inside: Array, inside_all: Array, share: float) -> Array:
    """Return the factors for T2 and SPE, (2,), from mean scores; share is that of the rows that models of parts know.

    They are at most 1, and 1 where nothing is larger outside.
    """
    expected = inside_all + np.maximum(outside - inside, 0.0) * share
    return np.asarray(np.minimum(np.divide(expected, outside, out=np.ones(2), where=outside > expected), 1.0))


def folds_of(segment: IntArray, n_folds: int, gap: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield held-out rows and rows to learn from: a part of every segment is held out at a time."""
    numbers = [np.flatnonzero(segment == one) for one in np.unique(segment)]
    for parts in zip(*(contiguous_folds(len(rows), n_folds, gap) for rows in numbers), strict=True):
        held = np.concatenate([rows[part[0]] for rows, part in zip(numbers, parts, strict=True)])
        learned = np.concatenate([rows[part[1]] for rows, part in zip(numbers, parts, strict=True)])
        yield held, learned
