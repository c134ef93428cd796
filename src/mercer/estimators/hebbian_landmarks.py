"""The part of `HebbianKernelPCA` that learns on landmarks: passes over a set, and streams."""

from dataclasses import asdict
from numbers import Integral
from typing import Any, Self

import numpy as np

from mercer.arrays import Array, Points, is_sparse, n_rows, stack_rows
from mercer.engine.gains import Gain
from mercer.estimators.advice import warn_of_fewer
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.validation import (
    MOST_COMPONENTS,
    check_landmarks,
    check_rows,
    component_count,
    generator,
    validated,
)
from mercer.events import Channel, History
from mercer.kernels.functions import Kernel
from mercer.kernels.landmark_map import LandmarkMap, require_span
from mercer.kernels.landmarks import select_landmarks
from mercer.solvers.exact.eigen import EigenOptions
from mercer.solvers.exact.fit import fit_exact
from mercer.solvers.hebbian.blocks import DivergedError, Guard, KhaState
from mercer.solvers.hebbian.landmark_run import LandmarkRun, covariance_size, given_start, random_start, warm_start
from mercer.solvers.hebbian.linear_blocks import LinearState, start_state

_STREAM_LANDMARKS = 256
_SAMPLE = 2000  # rows from which the size of the covariance is estimated


class LandmarkLearning(KernelDecomposition):
    """Learning on landmarks for an estimator with the parameters of `HebbianKernelPCA`."""

    _run: LandmarkRun | None = None  # learning on landmarks, once they are chosen
    _before: LandmarkRun | None = None  # that of the fit before this one
    _pending: Points | None = None  # rows of a stream, until there are enough to choose from
    _last: KhaState | None = None  # where passes over all rows stopped, with warm_start
    _kernel: Kernel
    _length: int = 0  # l of the gain
    _size: float = 1.0  # norm of the covariance's eigenvalues, for "auto" gains
    history_: dict[str, Array]

    # -- passes --------------------------------------------------------------------------------------------------

    def _fit_landmarks(self, kernel: Kernel, X: Points, rng: Any) -> None:
        space = self._space(kernel, X, rng)
        gain = self._landmark_gain(space, X, n_rows(X))
        run = self._landmark_start(space, gain) or self._carried(space, gain)
        run = run or random_start(space, self._count(space.rank), gain, rng)
        record = History()
        outcome = run.passes(
            X,
            gain,
            max_iter=self.max_iter,
            tol=float(self.tol),
            rng=rng if self.shuffle else None,
            center=self.center,
            block_size=self.block_size,
            channel=Channel((*self._channel().observers, record)),
        )
        self.n_iter_ = outcome.passes
        self.history_ = {
            "residual": np.array([np.nan if e.residual is None else e.residual for e in record.events]),
            "seconds": np.array([e.seconds for e in record.events]),
        }
        self._run = run
        self._freeze(outcome.diverged, run.state.guard.halvings, outcome.residual if self.tol > 0 else 0.0)

    def _carried(self, space: LandmarkMap, gain: Gain) -> LandmarkRun | None:
        """Return the start that the last fit's components give, with warm_start."""
        last = self._before if self.warm_start else None
        if last is None or last.space.kernel != space.kernel or last.space.points.shape[1] != space.points.shape[1]:
            return None
        if not is_sparse(space.points) and np.array_equal(last.space.points, space.points):
            return LandmarkRun(space, last.state)
        return LandmarkRun(space, start_state(space.carry_from(last.space, last.state.W), gain))

    def _space(self, kernel: Kernel, X: Points, rng: Any) -> LandmarkMap:
        if self.landmarks is None or isinstance(self.landmarks, Integral):
            chosen = select_landmarks(kernel, X, self._wanted, self.selection, rng)
        else:
            chosen = check_landmarks(self.landmarks, X.shape[1])
        return require_span(LandmarkMap.of(kernel, chosen.astype(np.float64, copy=False)))

    @property
    def _wanted(self) -> int:
        return _STREAM_LANDMARKS if self.landmarks is None else int(self.landmarks)

    def _landmark_gain(self, space: LandmarkMap, X: Points, length: int) -> Gain:
        self._length = length
        rows = X[:_SAMPLE] if n_rows(X) > MOST_COMPONENTS else space.points
        gain: Gain = self._freeze_gain(covariance_size(space, rows, self.center) if self._needs_size else 1.0, length)
        return gain

    def _landmark_start(self, space: LandmarkMap, gain: Gain) -> LandmarkRun | None:
        if self.init is None:
            return None
        m = n_rows(space.points)
        return given_start(space, self._given(self._count(m), m), gain)

    # -- streams -------------------------------------------------------------------------------------------------

    @all_or_nothing
    @validated
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from each row of X once, in order, and continue from the present state of the model.

        Landmarks are chosen as soon as there are as many rows. Until then the model is exact kernel PCA of all rows so
        far, with fewer components where there are fewer rows. After a `fit` without landmarks, learning continues in
        the span of up to 256 of its rows. A call that raises an error leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Further rows, dense or CSR. Later calls need the same features as the first one.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        HebbianKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If the kernel is precomputed, if X contains NaN or infinity or has other features than the first rows, or if
            `init` or `landmarks` has the wrong shape.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If learning diverged, if gains had to be lowered, or if a few rows hold nearly all variation.
        """
        if self._precomputed:
            raise ValueError("partial_fit needs rows of data; a precomputed kernel has none. Pass kernel='rbf' or so.")
        first = not hasattr(self, "expansion_")
        X = check_rows(self, X, reset=first)
        if first:
            self._run, self._pending, self.n_iter_, self.history_ = None, None, 1, {}
        if self._run is None:
            self._open_stream(X)
        else:
            self._learn(X)
        return self

    def _open_stream(self, X: Points) -> None:
        rng = generator(self.random_state)
        if self._pending is None and hasattr(self, "expansion_"):  # after fit on all rows
            self._continue_fit(X, rng)
            return
        rows = X if self._pending is None else stack_rows(self._pending, X)
        self._kernel = self._make_kernel(rows)  # gamma="median" of all rows so far
        if n_rows(rows) < self._rows_to_wait_for:
            self._wait(X.copy() if self._pending is None else rows)
            return
        space = self._space(self._kernel, rows, rng)
        gain = self._landmark_gain(space, rows, n_rows(space.points))
        self._pending = None
        self._run = self._landmark_start(space, gain)
        if self._run is not None:
            self._learn(rows)
            return
        r = self._count(space.rank)
        warn_of_fewer(self.n_components, r)
        if n_rows(rows) > r:
            self._run = warm_start(space, r, rows, gain, self.center)
            self._freeze(False)
        else:
            self._run = random_start(space, r, gain, rng)
            self._learn(rows)

    @property
    def _rows_to_wait_for(self) -> int:
        """Return how many rows it takes to choose landmarks, or to start on given ones."""
        if self.landmarks is None or isinstance(self.landmarks, Integral):
            return self._wanted
        return 1 if self.init is not None else 2 * self._count(_STREAM_LANDMARKS)

    def _wait(self, rows: Points) -> None:
        """Keep the rows, and be exact meanwhile."""
        self._pending = rows
        r = self._count(n_rows(rows))
        self.expansion_ = fit_exact(
            self._kernel, rows, r, dtype=np.float64, options=EigenOptions(), center=self.center
        ).expansion
        self.eta0_, self.smd_rate_ = 0.0, 0.0

    def _count(self, n: int) -> int:
        return component_count(self.n_components, n)

    def _continue_fit(self, X: Points, rng: Any) -> None:
        """Go on from a fit on all rows, in the span of some of them."""
        model = self.expansion_
        self._kernel = model.kernel
        space = self._space(model.kernel, model.points, rng)
        gain = self._landmark_gain(space, model.points, n_rows(space.points))
        self._run = warm_start(space, model.n_components, model.points, gain, self.center)
        own = space.features(model.points)
        self._run.state.W = np.ascontiguousarray(model.coef @ own)
        self._learn(X)

    def _learn(self, X: Points) -> None:
        assert self._run is not None
        gain: Gain = self._kept_gain(self._length)
        run, halvings, diverged = self._run.copy(), self._run.state.guard.halvings, False
        try:
            run.stream(X, gain, length=self._length, center=self.center, block_size=self.block_size)
        except DivergedError:
            diverged = True
        self._run = run
        self._freeze(diverged, run.state.guard.halvings - halvings)

    def _freeze(self, diverged: bool, halvings: int = 0, unsettled: float = 0.0) -> None:
        assert self._run is not None
        self.expansion_ = self._run.expansion(center=self.center, orthonormal=self.orthonormalize)
        self._warn(diverged, halvings, unsettled, self._run.state.rows_that_count)

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        run, last = self._run, self._last
        learning = {
            "run": None if run is None else run.saved(),
            "last": None if last is None else asdict(last),
            "pending": self._pending,
            "length": self._length,
            "size": self._size,
        }
        return {**super()._saved_state(), "learning": learning}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        learning, self._kernel = state["learning"], self.expansion_.kernel
        run, last = learning["run"], learning["last"]
        self._pending, self._length, self._size = learning["pending"], learning["length"], learning["size"]
        self._last = None if last is None else KhaState(**{**last, "guard": Guard(**last["guard"])})
        if run is not None:
            space = LandmarkMap(self._kernel, self.expansion_.points, run["root"])
            linear = LinearState(**{**run["state"], "guard": Guard(**run["state"]["guard"])})
            self._run = LandmarkRun(space, linear, run["missing"])
