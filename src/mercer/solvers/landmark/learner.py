"""Rows of a stream until there are enough to choose landmarks from, and moments on the landmarks from then on."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Points, n_rows
from mercer.engine.moments import Moments, fading_weights
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.landmarks import AldDictionary, select_landmarks
from mercer.solvers.landmark.moments import Whitening, check_kernel, exact_model, solve_moments
from mercer.solvers.landmark.recent_rows import RecentRows
from mercer.solvers.landmark.stream import LandmarkStream, same_points

# Landmarks are chosen again when they miss more than _WORSE times the share that they missed at first, plus _MUCH.
_WORSE, _MUCH = 2.0, 0.05


@dataclass(frozen=True, eq=False)
class LandmarkPlan:
    """Settings for learning from a stream."""

    kernel: Kernel
    given: Points | None  # the landmarks, if the user gives them
    wanted: int | None  # else their number; None: all rows are kept
    selection: str
    nu: float
    window: int | None
    forgetting: float
    n_components: int
    n_jobs: int | None


class LandmarkLearner:
    """A model of the rows so far: exact while there are few rows, on landmarks afterwards."""

    def __init__(self, plan: LandmarkPlan) -> None:
        self.plan = plan
        self.seen = 0
        self._waiting: RecentRows | None = None  # the rows so far, until landmarks are chosen
        self._stream: LandmarkStream | None = None  # from then on
        self._missed = 0.0  # share of the variation that the landmarks missed when they were chosen

    def learn(self, X: Points, rng: np.random.RandomState) -> None:
        """Learn from rows, replacing what changes: a copy of this learner stays as it was."""
        if self._stream is None:
            self._wait_or_open(X, rng)
        else:
            self._stream = self._stream.copy()
            self._stream.learn(X)
            self._renew_window(rng)
        self.seen += n_rows(X)

    def learn_parts(self, parts: Sequence[Points], examples: Points, rng: np.random.RandomState) -> list[Moments]:
        """Learn from all parts, on landmarks chosen among the examples; return the moments of each part."""
        points, dictionary = (self.plan.given, None) if self.plan.given is not None else self._choose(examples, rng)
        self._stream = LandmarkStream(self.plan.kernel, points.astype(np.float64, copy=False), n_jobs=self.plan.n_jobs)
        found = self._stream.take_in_parts(parts)
        self._stream.dictionary = dictionary
        self.seen += sum(n_rows(part) for part in parts)
        return found

    def _wait_or_open(self, X: Points, rng: np.random.RandomState) -> None:
        plan = self.plan
        rows = X if plan.window is None else X[-plan.window :]
        if plan.given is not None:
            self._stream = self._opened(plan.given, None, rows)
            return
        waiting = RecentRows() if self._waiting is None else self._waiting.copy()
        total = len(waiting) + n_rows(rows)
        if plan.window is not None and total > plan.window:
            waiting.drop(total - plan.window)
        if plan.wanted is None or len(waiting) + n_rows(rows) <= plan.wanted:
            waiting.append(rows)
            check_kernel(plan.kernel, waiting.stacked())
            self._waiting = waiting
            return
        if len(waiting):
            rows = RecentRows([*waiting.pieces, rows]).stacked()
        self._stream = self._chosen(rows, rng)
        self._waiting = None

    def _chosen(self, rows: Points, rng: np.random.RandomState) -> LandmarkStream:
        """Return a stream of the rows, on landmarks chosen among them."""
        points, dictionary = self._choose(rows, rng)
        stream = self._opened(points.astype(np.float64, copy=False), dictionary, rows)
        self._missed = stream.missing_share if self.plan.window is not None else 0.0
        return stream

    def _choose(self, rows: Points, rng: np.random.RandomState) -> tuple[Points, AldDictionary | None]:
        plan, wanted = self.plan, self.plan.wanted
        assert wanted is not None
        # if the other rule finds too few, take every row that is not an exact combination of others
        dictionary = AldDictionary(plan.kernel, plan.nu if plan.selection == "ald" else 0.0, wanted)
        if plan.selection == "ald":
            dictionary.extend(rows)
        else:
            points = select_landmarks(plan.kernel, rows, wanted, plan.selection, rng)
            if n_rows(points) == wanted:
                return points, None
            dictionary.extend(points)
        if len(dictionary) == 0:
            return rows[:1].copy(), dictionary
        return dictionary.points, dictionary if len(dictionary) < wanted else None

    def _opened(self, points: Points, dictionary: AldDictionary | None, rows: Points) -> LandmarkStream:
        plan = self.plan
        stream = LandmarkStream(
            plan.kernel,
            points,
            window=plan.window,
            forgetting=plan.forgetting,
            n_components=plan.n_components,
            n_jobs=plan.n_jobs,
        )
        stream.learn(rows)
        stream.dictionary = dictionary
        return stream

    def _renew_window(self, rng: np.random.RandomState) -> None:
        """Compute the window's moments again from time to time, on new landmarks if the old ones miss too much."""
        assert self._stream is not None
        if not self._stream.has_turned_over:
            return
        self._stream.renew()
        if self.plan.wanted is not None and self._stream.missing_share > _WORSE * self._missed + _MUCH:
            self._stream = self._chosen(self._stream.rows.stacked(), rng)

    def model(self, r: int, center: bool) -> tuple[Expansion, float]:
        """Return the model of r components, and n - 1 or its equivalent for weighted rows."""
        if self._stream is not None:
            moments = self._stream.moments
            assert moments is not None
            return solve_moments(self._stream.whitening(), moments, r, center), float(moments.freedom)
        assert self._waiting is not None
        rows = self._waiting.stacked().astype(np.float64, copy=False)
        expansion = exact_model(self.plan.kernel, rows, r, self.plan.forgetting, center)
        return expansion, _freedom(n_rows(rows), self.plan.forgetting)

    def whitening(self) -> Whitening:
        """Return the coordinates of the landmarks' span, once landmarks are chosen."""
        assert self._stream is not None
        return self._stream.whitening()

    def followed_by(self, other: "LandmarkLearner", rng: np.random.RandomState) -> "LandmarkLearner":
        """Return a learner that saw the rows of this one and then those of another; both stay as they are."""
        merged = LandmarkLearner(self.plan)
        merged._missed = self._missed
        if other._stream is None:
            assert other._waiting is not None
            merged._waiting, merged._stream = self._waiting, self._stream
            for piece in other._waiting.pieces:
                merged.learn(piece, rng)
        else:
            merged._stream = self._on_landmarks_of(other._stream).copy()
            _add_stream(merged._stream, other._stream, other.seen)
        merged.seen = self.seen + other.seen
        return merged

    def _on_landmarks_of(self, theirs: LandmarkStream) -> LandmarkStream:
        if self._stream is None:
            assert self._waiting is not None
            return self._opened(theirs.points, copy(theirs.dictionary), self._waiting.stacked())
        if not same_points(self._stream.points, theirs.points):
            raise ValueError(
                f"Models on different landmarks cannot be merged exactly (they have {n_rows(self._stream.points)} and "
                f"{n_rows(theirs.points)}). Give all of them the same array as `landmarks`, for example "
                "first.expansion_.points."
            )
        return self._stream

    def state(self) -> dict[str, Any]:
        """Return everything but the plan, as plain data."""
        return {
            "waiting": None if self._waiting is None else self._waiting.pieces,
            "stream": None if self._stream is None else self._stream.state(),
            "missed": self._missed,
            "seen": self.seen,
        }

    @classmethod
    def from_state(cls, plan: LandmarkPlan, state: dict[str, Any]) -> "LandmarkLearner":
        """Return the learner that `state` describes."""
        learner = cls(plan)
        learner.seen, learner._missed = state["seen"], state["missed"]
        learner._waiting = None if state["waiting"] is None else RecentRows(state["waiting"])
        if state["stream"] is not None:
            learner._stream = LandmarkStream.from_state(plan.kernel, state["stream"], plan.n_jobs)
        return learner


def _add_stream(stream: LandmarkStream, later: LandmarkStream, n: int) -> None:
    """Add the n rows that another stream on the same landmarks has seen after those of the first."""
    if stream.window is not None:
        for piece in later.rows.pieces:
            stream.take_in(piece)
    elif stream.moments is not None and later.moments is not None:
        moments = stream.moments.faded(stream.forgetting**n).copy()
        moments.add(later.moments)
        stream.moments = moments


def _freedom(n: int, forgetting: float) -> float:
    weights = fading_weights(n, forgetting)
    return n - 1.0 if weights is None else float(weights.sum() - (weights @ weights) / weights.sum())
