"""The models of a detector: one of all rows, and one without each part of them, whose scores set the limits."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.engine.scaling import Scaling
from mercer.events import Channel
from mercer.outliers.calibration import Calibration
from mercer.outliers.ellipsoid import Ellipsoid, distance_scale, distances_count
from mercer.outliers.given_estimator import expansion_of
from mercer.outliers.known_rows import KnownRows
from mercer.outliers.panel import Panel, PanelJudge, with_distance
from mercer.outliers.scores import score_model, score_part
from mercer.outliers.settings import Settings, fresh
from mercer.outliers.trimming import trimmed

_STAGE = "models fitted"
_MANY_COMPONENTS = 16
_ROWS_PER_COLUMN = 20


@dataclass(frozen=True, eq=False)
class FittedModels:
    """The model of all rows, and the models without a part of them."""

    scaling: Scaling
    estimator: Any
    ellipsoid: Ellipsoid | None  # of all rows, where distances count
    judges: Panel
    calibration: Calibration
    held: IntArray  # the rows of the scores in `calibration`
    known: KnownRows | None = None  # training rows with their scores by models that were not fitted to them


@dataclass(frozen=True, eq=False)
class Fitting:
    """Fits the models: with one kernel matrix for all of them, or one after the other."""

    settings: Settings
    usual: bool  # whether the estimator is the detector's own choice, which adapts to few rows
    statistic: str
    channel: Channel

    def together(self, X: Array, held: Sequence[IntArray], reference: IntArray) -> FittedModels:
        """Fit all models with one kernel matrix; scaling, gamma and landmarks come from the reference rows."""
        scaling = Scaling.of(X[reference], self.settings.standardize)
        rows = scaling(X)
        estimator = self._fresh(rows)
        more = [reference] if _learns_rows_by_heart(estimator, rows, len(reference)) else []
        left_out = [*held, *more]
        with _watched(estimator, self.channel):
            parts = estimator._fit_with_parts(rows, left_out, reference)
        judges: list[PanelJudge] = []
        scores: list[Array] = []
        unit = self._distance_unit(X)
        for part, own in zip(left_out, parts, strict=True):
            model, found = score_part(own, self.settings.explained)
            judges.append(PanelJudge(scaling, model, _ellipsoid(_without(X, part), unit)))
            scores.append(with_distance(found, judges[-1].ellipsoid, X[part]))
        self._tell(len(held) + 1, len(held) + 1)
        known = KnownRows.of(X, np.concatenate(left_out), np.vstack(scores))
        del judges[len(held) :], scores[len(held) :]
        calibration = Calibration(tuple(scores), self.statistic)
        around = _ellipsoid(X, unit)
        return FittedModels(scaling, estimator, around, Panel(judges), calibration, np.concatenate(held), known)

    def apart(
        self,
        X: Array,
        parts: Sequence[tuple[IntArray, IntArray]],
        inner: Sequence[tuple[IntArray, IntArray]] = (),
    ) -> FittedModels:
        """Fit the models one after the other; parts are the rows of each fold, and the rows that its model learns.

        Inner parts are the same for rows in no fold; how they score tells in which units statistics are compared.
        """
        kept, unit = trimmed(X, self.settings.trim), self._distance_unit(X)
        scaling = Scaling.of(kept, self.settings.standardize)
        estimator, around = self._fitted(scaling(kept)), _ellipsoid(kept, unit)
        judges: list[PanelJudge] = []
        scores: list[Array] = []
        total = 1 + len(parts) + len(inner)
        self._tell(1, total)
        for held, learned in parts:
            judges.append(self._judge(X[learned], unit))
            scores.append(judges[-1](X[held]))
            self._tell(len(judges) + 1, total)
        others = []
        for held, learned in inner:
            others.append(self._judge(X[learned], unit)(X[held]))
            self._tell(1 + len(parts) + len(others), total)
        held_rows = np.concatenate([held for held, _ in parts])
        known = KnownRows.of(X, held_rows, np.vstack(scores))
        calibration = Calibration(tuple(scores), self.statistic, np.vstack(others) if others else None)
        return FittedModels(scaling, estimator, around, Panel(judges), calibration, held_rows, known)

    def _judge(self, X: Array, unit: str | None) -> PanelJudge:
        """Return a model of T2 and SPE, and of distances in the given unit, fitted to these rows, scaling included."""
        kept = trimmed(X, self.settings.trim)
        scaling = Scaling.of(kept, self.settings.standardize)
        rows = scaling(kept)
        model = score_model(self._fitted(rows).expansion_, self.settings.explained, rows)
        return PanelJudge(scaling, model, _ellipsoid(kept, unit))

    def _distance_unit(self, X: Array) -> str | None:
        """Return how columns are scaled for distances, in all models alike; None where distances do not count."""
        return distance_scale(X) if distances_count(self.statistic, *X.shape) else None

    def _fresh(self, rows: Array) -> Any:
        return fresh(self.settings.estimator, len(rows), self.usual)

    def _fitted(self, rows: Array) -> Any:
        estimator = self._fresh(rows)
        with _watched(estimator, self.channel):
            estimator.fit(rows)
        expansion_of(estimator)  # fails where there is none
        return estimator

    def _tell(self, done: int, total: int) -> None:
        self.channel.emit(_STAGE, done, total)


def _ellipsoid(X: Array, unit: str | None) -> Ellipsoid | None:
    return None if unit is None else Ellipsoid.of(X, unit)


def _without(X: Array, part: IntArray) -> Array:
    """Return the rows that are not in the part; quicker than `np.delete` for few rows."""
    kept = np.ones(len(X), bool)
    kept[part] = False
    return X[kept]


def _learns_rows_by_heart(estimator: Any, rows: Array, n_reference: int) -> bool:
    """Tell whether scores of the reference rows, which all models learn, need a model without them.

    With few components and many more rows than columns a row hardly changes the model that has learned it.
    """
    (n, d), r = rows.shape, estimator.n_components
    return n_reference < n and (r is None or not 1 <= r < _MANY_COMPONENTS or d * _ROWS_PER_COLUMN > n)


@contextmanager
def _watched(estimator: Any, channel: Channel) -> Iterator[None]:
    """Show what an estimator does; afterwards it has no observers, as a display is no part of a model."""
    estimator.observers = channel.observers
    try:
        yield
    finally:
        del estimator.observers
