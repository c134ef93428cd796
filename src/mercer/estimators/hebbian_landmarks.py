"""How `HebbianKernelPCA` learns on landmarks: passes over a set, and streams."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer.arrays import Array, Points, is_sparse, n_rows
from mercer.engine.gains import Gain
from mercer.estimators.hebbian_waiting import WaitingRows
from mercer.estimators.landmark_parameter import USUAL_COUNT, are_given, count_of, landmark_points
from mercer.estimators.learning_warnings import warn_of_fewer
from mercer.estimators.validation import MOST_COMPONENTS, component_count
from mercer.events import Channel, History
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.landmark_map import LandmarkMap, require_span
from mercer.solvers.hebbian.gain_choice import GainRule
from mercer.solvers.hebbian.guard import DivergedError
from mercer.solvers.hebbian.landmark_run import LandmarkRun, covariance_size, given_start, random_start, warm_start
from mercer.solvers.hebbian.linear_blocks import StepOptions, start_state
from mercer.solvers.hebbian.linear_passes import Outcome
from mercer.solvers.hebbian.linear_start import restored_state

_MOST_WAITING = 10  # rows for each row that is waited for, where many are equal
_SAMPLE = 2000  # rows from which the size of the covariance is estimated

Step = tuple[bool, int]  # whether learning diverged, and how often gains were halved


@dataclass(frozen=True, eq=False)
class LandmarkOptions:
    """How to learn: the estimator's parameters of the same names."""

    n_components: int | None
    landmarks: Any
    selection: str
    center: bool
    init: Any
    block_size: int
    gain: GainRule

    @property
    def rows_to_wait_for(self) -> int:
        """Return how many different rows it takes to choose landmarks, or to start on given ones."""
        if not are_given(self.landmarks):
            return count_of(self.landmarks)
        return 1 if self.init is not None else 2 * self.count(USUAL_COUNT)

    @property
    def merges_rows(self) -> bool:
        """Tell whether only different rows count; coefficients that are given learn from each row in its order."""
        return self.init is None

    def are_enough(self, waiting: WaitingRows) -> bool:
        """Tell whether learning can start; after very many rows it does with fewer different ones, but not too few."""
        wanted, found = self.rows_to_wait_for, n_rows(waiting.rows)
        return found >= wanted or (waiting.total >= _MOST_WAITING * wanted and found > self.count(wanted))

    def count(self, n: int) -> int:
        """Return how many of the wanted components n points allow."""
        return component_count(self.n_components, n)

    def space(self, kernel: Kernel, X: Points, rng: Any) -> LandmarkMap:
        """Return the span of the landmarks, given or chosen among the rows of X."""
        points = landmark_points(kernel, X, self.landmarks, self.selection, rng)
        return require_span(LandmarkMap.of(kernel, points))

    def given_coefficients(self, r: int, n: int) -> Array:
        """Return `init`, checked: coefficients of r components on n points."""
        A: Array = check_array(self.init, dtype=np.float64, input_name="init")
        if A.shape != (r, n):
            raise ValueError(f"init must be of shape ({r}, {n}): one row of coefficients per component; got {A.shape}.")
        return A

    def given_run(self, space: LandmarkMap, gain: Gain) -> LandmarkRun | None:
        """Return the start that `init` describes, if there is one."""
        if self.init is None:
            return None
        m = n_rows(space.points)
        return given_start(space, self.given_coefficients(self.count(m), m), gain)


@dataclass
class LandmarkLearning:
    """Where learning on landmarks stands; a method replaces what it changes, so that a copy stays as it was."""

    run: LandmarkRun | None = None  # once the landmarks are chosen
    pending: WaitingRows | None = None  # rows of a stream, until there are enough to choose from
    length: int = 0  # l of the gain
    size: float = 1.0  # norm of the covariance's eigenvalues, for "auto" gains

    def gain(self, options: LandmarkOptions) -> Gain:
        """Return the gain with "auto" values as they were found at the start."""
        return options.gain.gain(self.size, self.length)

    def _steps(self, options: LandmarkOptions) -> StepOptions:
        return StepOptions(block_size=options.block_size, length=self.length, center=options.center)

    def _first_gain(self, space: LandmarkMap, X: Points, length: int, options: LandmarkOptions) -> Gain:
        rows = X[:_SAMPLE] if n_rows(X) > MOST_COMPONENTS else space.points
        self.length = length
        self.size = covariance_size(space, rows, options.center) if options.gain.needs_size else 1.0
        return self.gain(options)

    # -- passes --------------------------------------------------------------------------------------------------

    def passes(
        self,
        kernel: Kernel,
        X: Points,
        options: LandmarkOptions,
        rng: Any,
        *,
        max_iter: int,
        tol: float,
        shuffle: bool,
        before: LandmarkRun | None,  # that of the last fit, to continue from
        channel: Channel,
    ) -> tuple[Outcome, dict[str, Array]]:
        """Learn in passes over the rows of X; return how they ended, and a record with one value per pass."""
        space = options.space(kernel, X, rng)
        gain = self._first_gain(space, X, n_rows(X), options)
        r = options.count(space.rank)
        self.run = (
            options.given_run(space, gain) or _carried(before, space, r, gain) or random_start(space, r, gain, rng)
        )
        record = History()
        outcome = self.run.passes(
            X,
            gain,
            self._steps(options),
            max_iter=max_iter,
            tol=tol,
            rng=rng if shuffle else None,
            channel=Channel((*channel.observers, record)),
        )
        residuals = np.array([np.nan if e.residual is None else e.residual for e in record.events])
        return outcome, {"residual": residuals, "seconds": np.array([e.seconds for e in record.events])}

    # -- streams -------------------------------------------------------------------------------------------------

    def open(self, kernel: Kernel, first: WaitingRows, options: LandmarkOptions, rng: Any) -> Step:
        """Choose landmarks among the first rows of a stream, and learn from all of these rows."""
        rows = first.rows
        space = options.space(kernel, rows, rng)
        gain = self._first_gain(space, rows, n_rows(space.points), options)
        self.pending = None
        self.run = options.given_run(space, gain)
        if self.run is not None:
            return self.learn(first.in_full(), options)
        r = options.count(space.rank)
        warn_of_fewer(options.n_components, r)
        if n_rows(rows) > r:
            self.run = warm_start(space, r, rows, gain, options.center, first.counts)
            return False, 0
        self.run = random_start(space, r, gain, rng)
        return self.learn(first.in_full(), options)

    def open_after(self, model: Expansion, X: Points, options: LandmarkOptions, rng: Any) -> Step:
        """Continue from a model on all of its rows, in the span of some of them."""
        space = options.space(model.kernel, model.points, rng)
        gain = self._first_gain(space, model.points, n_rows(space.points), options)
        self.run = warm_start(space, model.n_components, model.points, gain, options.center)
        self.run.state.W = np.ascontiguousarray(model.coef @ space.features(model.points))
        return self.learn(X, options)

    def learn(self, X: Points, options: LandmarkOptions) -> Step:
        """Learn from each row once, in order."""
        assert self.run is not None
        run, halvings, diverged = self.run.copy(), self.run.state.guard.halvings, False
        gain = self.gain(options)
        try:
            run.stream(X, gain, self._steps(options))
        except DivergedError:
            diverged = True
        self.run = run
        return diverged, run.state.guard.halvings - halvings

    # -- files ---------------------------------------------------------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """Return all but the landmarks, which are the model's points, as plain data."""
        run = None if self.run is None else self.run.saved()
        waiting = self.pending
        return {
            "run": run,
            "pending": None if waiting is None else waiting.rows,
            "repeats": None if waiting is None else waiting.counts,
            "length": self.length,
            "size": self.size,
        }

    @classmethod
    def restored(cls, model: Expansion, saved: dict[str, Any]) -> "LandmarkLearning":
        """Return what `saved` describes."""
        rows, run, waiting = saved["pending"], saved["run"], None
        if rows is not None:
            waiting = WaitingRows(rows, saved.get("repeats", np.ones(n_rows(rows))))  # earlier files lack the repeats
        learning = cls(None, waiting, saved["length"], saved["size"])
        if run is not None:
            space = LandmarkMap(model.kernel, model.points, run["root"])
            learning.run = LandmarkRun(space, restored_state(run["state"], run.get("missing", 0.0)))
        return learning


def _carried(last: LandmarkRun | None, space: LandmarkMap, r: int, gain: Gain) -> LandmarkRun | None:
    """Return the start that the components of the last fit give, if they are r and can be carried over."""
    if last is None or len(last.state.W) != r or last.space.kernel != space.kernel:
        return None
    if last.space.points.shape[1] != space.points.shape[1]:
        return None
    if not is_sparse(space.points) and np.array_equal(last.space.points, space.points):
        return LandmarkRun(space, last.state.copy())
    return LandmarkRun(space, start_state(space.carry_from(last.space, last.state.W), gain))
