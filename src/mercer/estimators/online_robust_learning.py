"""How `OnlineRobustKernelPCA` learns: rows of the warm-up are looked at together, later ones in order."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer.arrays import Array, Points, distinct_rows, n_rows, same_rows, stack_rows
from mercer.errors import warn_user
from mercer.estimators.landmark_parameter import USUAL_COUNT, are_given, count_of, landmark_points
from mercer.estimators.learning_warnings import warn_of_fewer
from mercer.events import Channel
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.landmark_map import LandmarkMap, require_span
from mercer.solvers.robust.online import OnlineOptions, OnlineState, given_start
from mercer.solvers.robust.online_merge import merged_states
from mercer.solvers.robust.online_run import EmpiricalMap, OnlineRun, Space, start_run

_GROWTH = 1.25  # of the rows of an unfinished warm-up, after which they are looked at together again
_MOST_WAITING = 10  # rows for each one that is waited for, where many are the same
_WARM_ROWS_EACH = 3  # rows of the warm-up for each component, at least


def rows_needed(rows: Points, wanted: int) -> int:
    """Return how many of the first rows are so many different ones; more rows than there are where these are fewer.

    A stream may begin with one row repeated, which says nothing about others. After ten times as many rows the number
    of different ones does not matter.
    """
    most = _MOST_WAITING * wanted
    if wanted == 0 or n_rows(rows) < wanted:
        return wanted
    first = distinct_rows(rows[:most])
    return int(first[wanted - 1]) + 1 if len(first) >= wanted else most


@dataclass(frozen=True, eq=False)
class OnlinePlan:
    """How to learn: the estimator's parameters of the same names."""

    n_components: int | None
    landmarks: Any
    selection: str
    feature_map: str
    init: Any
    warm_up: int
    options: OnlineOptions  # with as many components as are wanted

    def rows_to_wait_for(self, chosen: bool) -> int:
        """Return how many rows are looked at together before learning starts; `chosen` tells if there are landmarks."""
        warm = 0 if self.init is not None else max(self.warm_up, _WARM_ROWS_EACH * self.options.r)
        if chosen or are_given(self.landmarks):
            return warm
        return max(warm, count_of(self.landmarks))

    def space(self, kernel: Kernel, X: Points, rng: Any) -> Space:
        """Return the coordinates of rows on landmarks, which are given or chosen among the rows of X."""
        if self.landmarks is None and n_rows(X) <= USUAL_COUNT:
            points = X.astype(np.float64)  # float32 points would lose digits
        else:
            points = landmark_points(kernel, X, self.landmarks, self.selection, rng)
        if self.feature_map == "empirical":
            return EmpiricalMap(kernel, points)
        return require_span(LandmarkMap.of(kernel, points))

    def given_run(self, space: Space) -> OnlineRun:
        """Return the run that starts from `init`."""
        mean, V = self._given(space)
        options = replace(self.options, r=len(V))
        return OnlineRun(space, given_start(mean, V, options), options)

    def _given(self, space: Space) -> tuple[Array, Array]:
        """Return `init` in the coordinates of the space: mean (q,) and components (r, q)."""
        m, r = n_rows(space.points), self.n_components
        shapes = [np.shape(part) for part in self.init]
        good = len(shapes) == 2 and shapes[0] == (m,) and len(shapes[1]) == 2 and shapes[1][0] == m
        if not good or r not in (None, shapes[1][1]):
            raise ValueError(
                f"init must be (mu, Gamma) of shapes ({m},) and ({m}, {'n_components' if r is None else r}) for "
                f"{m} landmarks; got {', '.join(map(str, shapes))}."
            )
        mean = check_array(self.init[0], dtype=np.float64, ensure_2d=False, input_name="init")
        V = check_array(self.init[1], dtype=np.float64, input_name="init").T
        if isinstance(space, LandmarkMap):
            own = space.features(space.points)
            return np.asarray(mean @ own), np.asarray(V @ own)
        return mean, V


def _warn_of_fewer(plan: OnlinePlan, r: int, repeats: int) -> None:
    """Warn where a stream starts with fewer components than are wanted; `repeats`: rows that were too alike, or 0."""
    if repeats and r < plan.options.r:
        warn_user(
            f"The first {repeats} rows are so alike that they allow only {r} components, and later rows add none. Pass "
            "rows that differ in the first calls, or give typical rows as `landmarks`."
        )
    else:
        warn_of_fewer(plan.n_components, r)


@dataclass
class OnlineLearning:
    """Where learning stands; `learn` replaces what it changes, so that a copy stays as it was."""

    run: OnlineRun | None = None  # during the warm-up a preliminary one
    pending: Points | None = None  # rows of the warm-up, until it is over
    started: int = 0  # rows of the warm-up from which the preliminary run started

    def learn(
        self,
        X: Points,
        plan: OnlinePlan,
        make_space: Callable[[Points], Space],
        channel: Channel,
        space: Space | None = None,  # where the landmarks were chosen before the warm-up
    ) -> tuple[Array, bool]:
        """Learn rows in order; return their weights, and whether learning did not diverge."""
        count, learned = n_rows(X), True
        weights: Array = np.zeros(0)
        if self.run is None or self.pending is not None:
            X, weights = self._warm_up(X, plan, make_space, space)
        if n_rows(X):
            assert self.run is not None
            self.run = self.run.copy()
            more, learned = self.run.learn(X, channel)
            weights = np.concatenate([weights, more])
        return weights[-count:], learned

    def _warm_up(
        self, X: Points, plan: OnlinePlan, make_space: Callable[[Points], Space], space: Space | None
    ) -> tuple[Points, Array]:
        """Begin with the rows so far, for now or for good; return the rows to learn after them, and their weights."""
        rows = X if self.pending is None else stack_rows(self.pending, X)
        wanted = plan.rows_to_wait_for(space is not None)
        needed = rows_needed(rows, wanted)
        ready = n_rows(rows) >= needed
        first = rows[:needed] if ready else X.copy() if self.pending is None else rows
        self.pending = None if ready else first
        weights: Array = np.zeros(0)
        if not ready and self.run is not None and n_rows(first) < _GROWTH * self.started:
            return X, weights
        streamed = space is None  # `fit`, which chooses landmarks before, tells of fewer components itself
        space = make_space(first if n_rows(first) else rows) if space is None else space
        if ready and plan.init is not None:
            self.run = plan.given_run(space)
        else:
            r = min(plan.options.r, space.rank) if plan.init is None else space.rank
            if ready and streamed:
                _warn_of_fewer(plan, r, repeats=needed if needed == _MOST_WAITING * wanted else 0)
            self.run, weights = start_run(space, first, replace(plan.options, r=r))
        self.started = self.started if ready else n_rows(first)
        return (rows[len(weights) :] if ready else X[:0]), weights

    def merged(self, other: "OnlineLearning", plan: OnlinePlan, channel: Channel) -> "OnlineLearning":
        """Return what both have learned; both stay as they are."""
        assert self.run is not None
        assert other.run is not None
        one, two = self.run.space, other.run.space
        options = self.run.options
        if replace(options, r=other.run.options.r) != other.run.options or options.update != "svd":
            raise ValueError("Only models with the same options and update='svd' can be merged.")
        if type(one) is not type(two) or one.kernel != two.kernel or not same_rows(one.points, two.points):
            raise ValueError(
                "Models with different kernels or landmarks cannot be merged. Give both the same `gamma` and the same "
                "array as `landmarks`."
            )
        if options.r != other.run.options.r:  # last: on other landmarks, few rows have fewer components too
            raise ValueError(f"Models of {options.r} and {other.run.options.r} components cannot be merged.")
        if other.pending is not None or self.pending is not None:
            ready, rows = (self, other.pending) if other.pending is not None else (other, self.pending)
            learning = replace(ready)
            learning.learn(rows, plan, lambda _: one, channel, one)
            return learning
        return OnlineLearning(replace(self.run, state=merged_states(self.run.state, other.run.state, options)))

    # -- files ---------------------------------------------------------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """Return all but the landmarks, which are the model's points, as plain data."""
        run = self.run
        return {
            "state": None if run is None else asdict(run.state),
            "root": None if run is None or isinstance(run.space, EmpiricalMap) else run.space.root,
            "options": {} if run is None else asdict(run.options),
            "pending": self.pending,
            "started": self.started,
        }

    @classmethod
    def restored(cls, model: Expansion, plan: OnlinePlan, saved: dict[str, Any]) -> "OnlineLearning":
        """Return what `saved` describes."""
        learning = cls(None, saved["pending"], saved["started"])
        if saved["state"] is not None:
            space: Space = (
                EmpiricalMap(model.kernel, model.points)
                if saved["root"] is None
                else LandmarkMap(model.kernel, model.points, saved["root"])
            )
            # learning goes on as it started; earlier files have the number of components only
            options = replace(plan.options, **saved.get("options", {"r": saved.get("r", 0)}))
            # copies: what is read need not be writable
            values: Any = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in saved["state"].items()}
            learning.run = OnlineRun(space, OnlineState(**values), options)
        return learning
