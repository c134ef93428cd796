"""A stream on landmarks: rows are added to its moments, removed or faded out, and landmarks may be added."""

from collections.abc import Sequence
from copy import copy
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer.arrays import Array, Points, is_sparse, n_rows
from mercer.engine.moments import Moments, fading_weights, total
from mercer.kernels.base import Kernel
from mercer.kernels.landmarks import AldDictionary
from mercer.kernels.tiles import PointBlocks, one_blas_thread
from mercer.solvers.landmark.moments import Whitening, enough_in_float32, measure
from mercer.solvers.landmark.recent_rows import RecentRows


class LandmarkStream:
    """State of a stream: moments of k_m(x), and the rows in the window if there is one."""

    def __init__(
        self,
        kernel: Kernel,
        points: Points,
        *,
        window: int | None = None,
        forgetting: float = 1.0,
        dictionary: AldDictionary | None = None,  # landmarks to which others may still be added
        n_components: int | None = None,  # the leading eigenvalues that must be exact to 1e-6; None: all
        n_jobs: int | None = None,
    ) -> None:
        self.kernel, self.points = kernel, points
        self.window, self.forgetting, self.n_jobs = window, forgetting, n_jobs
        self.n_components = n_rows(points) if n_components is None else n_components
        self.dictionary = dictionary
        self.rows = RecentRows()  # those in the window
        self.left = 0  # rows that left the window since the moments were last computed from its rows
        self.moments: Moments | None = None
        self._prepared: dict[str, PointBlocks] = {}  # the landmarks, prepared for each precision of rows
        self._space: Whitening | None = None
        self._short: bool | None = None  # whether float32 rows get float32 kernel values; None: not decided

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}, "_space": None}

    def learn(self, X: Points) -> None:
        """Learn from rows in order of time."""
        if self.window is not None and n_rows(X) > self.window:
            X = X[-self.window :]
        dictionary = copy(self.dictionary)  # adding landmarks replaces its arrays
        grown = self._grown(dictionary) if dictionary is not None and dictionary.extend(X) else None
        (grown or self).take_in(X)
        if grown is not None:
            self.__dict__.update(grown.__dict__)
        else:
            self.dictionary = dictionary  # the dictionary has counted the rows

    def _grown(self, dictionary: AldDictionary) -> "LandmarkStream":
        """Return this stream on the landmarks of a dictionary that has grown."""
        grown = copy(self)
        grown.points = dictionary.points.astype(np.float64, copy=False)
        grown.rows, grown._prepared, grown._space, grown._short = self.rows.copy(), {}, None, None
        grown.dictionary = dictionary if len(dictionary) < dictionary.limit else None
        if self.moments is not None:  # kept rows are evaluated again
            grown.moments = (
                self._mapped(grown.points, self.moments)
                if self.window is None
                else grown._of_oldest(len(self.rows), 0, None)
            )
        return grown

    def _mapped(self, points: Points, moments: Moments) -> Moments:
        """Return the moments on more landmarks, of which the first are the current ones.

        Only the projections of the rows on the current span are known. The kernel value between such a projection and
        a new landmark is linear in k_m(x).
        """
        m = n_rows(self.points)
        if not len(self.dictionary or ()):  # no row so far had a length
            return moments.mapped(np.zeros((n_rows(points), m)))
        K = PointBlocks(self.kernel, self.points, np.float64).against(points)  # (m', m)
        with one_blas_thread():
            T = cho_solve(cho_factor(K[:m], lower=True), K.T).T
        T[:m] = np.eye(m)
        return moments.mapped(T)

    def take_in(self, X: Points) -> None:
        """Add rows to the moments, on the landmarks of now; what leaves the window is subtracted."""
        n = n_rows(X)
        before = None if self.moments is None else self.moments.reference
        fresh = measure(self._blocks(X), X, fading_weights(n, self.forgetting), before, self.n_jobs)
        leaving = 0 if self.window is None else max(0, len(self.rows) + n - self.window)
        if self.moments is None or (leaving and leaving >= len(self.rows)):
            self.moments, self.left = fresh, 0
        else:
            gone = self._of_oldest(leaving, n, before)
            fresh.add(self.moments.faded(self.forgetting**n))  # not into the sums of a copied stream
            if gone is not None:
                fresh.add(gone, -1.0)
            self.moments = fresh.settled()
            self.left += leaving
        if self.window is not None:
            self.rows.drop(leaving)
            self.rows.append(X)

    def take_in_parts(self, parts: Sequence[Points]) -> list[Moments]:
        """Add rows without a window or forgetting to the moments, and return the moments of each part of them."""
        found: list[Moments] = []
        for rows in parts:
            found.append(measure(self._blocks(rows), rows, None, found[0].reference if found else None, self.n_jobs))
        self.moments = total(found).settled()
        return found

    def _of_oldest(self, count: int, newer: int, reference: Array | None) -> Moments | None:
        """Return the moments of the oldest rows, with their weights after `newer` more rows."""
        found: Moments | None = None
        newer += len(self.rows)
        for piece in self.rows.oldest(count):
            newer -= n_rows(piece)
            weights = fading_weights(n_rows(piece), self.forgetting, newer)
            part = measure(self._blocks(piece), piece, weights, reference, self.n_jobs)
            if found is None:
                found = part
            else:
                found.add(part)
        return found

    def _blocks(self, X: Points) -> PointBlocks:
        """Return the landmarks prepared for rows like these, in the precision that they need."""
        if X.dtype != np.float32:
            return self._prepared_for(np.float64)
        if self._short is None:
            self._short = enough_in_float32(self.whitening(), X, self.n_components)
        return self._prepared_for(np.float32 if self._short else np.float64)

    def _prepared_for(self, dtype: Any) -> PointBlocks:
        name = np.dtype(dtype).name
        if name not in self._prepared:
            self._prepared[name] = PointBlocks(self.kernel, self.points, dtype)
        return self._prepared[name]

    @property
    def has_turned_over(self) -> bool:
        """Whether as many rows have left the window as it holds, since the moments were computed from its rows."""
        return self.window is not None and self.left >= self.window

    def renew(self) -> None:
        """Compute the moments of the window from its rows, which ends the growth of rounding errors."""
        self.moments, self.left = self._of_oldest(len(self.rows), 0, None), 0

    def whitening(self) -> Whitening:
        """Return the coordinates of the landmarks' span; computed once for each set of landmarks."""
        if self._space is None:
            self._space = Whitening.of(self.kernel, self.points)
        return self._space

    @property
    def missing_share(self) -> float:
        """The share of sum w k(x, x) outside the span of the landmarks."""
        if self.moments is None or self.moments.own <= 0:
            return 0.0
        return max(0.0, 1.0 - self.whitening().captured(self.moments) / self.moments.own)

    def copy(self) -> "LandmarkStream":
        """Return a copy that can learn without changing this stream."""
        twin = copy(self)  # moments and dictionary are replaced where they change
        twin.rows = self.rows.copy()
        return twin

    # -- files -------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything but the kernel, as plain values."""
        growing, moments = self.dictionary, self.moments
        return {
            "points": self.points,
            "n_components": self.n_components,
            "window": self.window,
            "forgetting": self.forgetting,
            "rows": self.rows.pieces,
            "left": self.left,
            "short": self._short,
            "moments": None if moments is None else asdict(moments),
            "dictionary": None if growing is None else {**growing.__getstate__(), "kernel": None},
        }

    @classmethod
    def from_state(cls, kernel: Kernel, state: dict[str, Any], n_jobs: int | None) -> "LandmarkStream":
        """Return the stream that `state` described."""
        settings = {name: state[name] for name in ("window", "forgetting", "n_components")}
        stream = cls(kernel, state["points"], **settings, n_jobs=n_jobs)
        stream.rows, stream.left, stream._short = RecentRows(state["rows"]), state["left"], state["short"]
        if state["moments"] is not None:
            stream.moments = Moments(**state["moments"])
        if state["dictionary"] is not None:
            stream.dictionary = AldDictionary(kernel, state["dictionary"]["nu"], state["dictionary"]["limit"])
            vars(stream.dictionary).update({**state["dictionary"], "kernel": kernel})
        return stream


def same_points(a: Points, b: Points) -> bool:
    """Tell whether two sets of landmarks are the same, in the same order."""
    if a.shape != b.shape or is_sparse(a) != is_sparse(b):
        return False
    return bool((a != b).nnz == 0) if is_sparse(a) else bool(np.array_equal(a, b))
