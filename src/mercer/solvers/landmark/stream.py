"""Rows of a stream until there are enough to choose landmarks from, and moments on the landmarks from then on."""

from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array, Points, check_kernel_values, n_rows, same_rows, stack_rows
from mercer.engine.moments import Moments, fading_weights, total
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.landmarks import AldDictionary, select_landmarks
from mercer.kernels.tiles import PointBlocks
from mercer.solvers.landmark.models import exact_model, solve_moments, surely_has
from mercer.solvers.landmark.moments import Landmarks, enough_in_float32, measure
from mercer.solvers.landmark.recent_rows import RecentRows

# Landmarks are chosen again when they miss more than _WORSE times the share that they missed at first, plus _MUCH.
_WORSE, _MUCH = 2.0, 0.05
_LOST = 0.5  # also when they miss this share of what they held at first
_RECENT_EACH, _LEAST_RECENT = 2, 32  # recent rows that are kept with forgetting, for each of at least 32 landmarks
_MEMORY_SHARE = 0.1  # of the window, or of the 1 / (1 - forgetting) rows that count; so often landmarks are examined
_EXAMINED = 128  # recent rows by which the share that landmarks miss is measured
_PLANNED = ("wanted", "selection", "nu", "window", "forgetting", "n_components")  # what a file holds of the plan
_LEAST_LEFT = 1e-2  # share of the largest sums of a window; below, what left it has taken more than two digits along
_LEAST_OLD = 1e-9  # share of the weight below which rows from before count as forgotten


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

    def choose(self, rows: Points, rng: np.random.RandomState) -> tuple[Points, AldDictionary | None]:
        """Return landmarks among the rows, and the dictionary that adds others to them if there are too few."""
        assert self.wanted is not None
        # if the other rule finds too few, take every row that is not an exact combination of others
        dictionary = AldDictionary(self.kernel, self.nu if self.selection == "ald" else 0.0, self.wanted)
        if self.selection == "ald":
            dictionary.extend(rows)
        else:
            points = select_landmarks(self.kernel, rows, self.wanted, self.selection, rng)
            if n_rows(points) == self.wanted:
                return points, None
            dictionary.extend(points)
        if len(dictionary) == 0:
            return rows[:1].copy(), dictionary
        return dictionary.points, dictionary if len(dictionary) < self.wanted else None


class LandmarkStream:
    """State of a stream. Its model is exact while there are few rows, and on landmarks afterwards."""

    def __init__(self, plan: LandmarkPlan) -> None:
        self.plan = plan
        self.seen = 0
        # all rows until landmarks are chosen; then those in the window, or with forgetting some recent ones
        self.rows = RecentRows()
        self.landmarks: Landmarks | None = None
        self.dictionary: AldDictionary | None = None  # adds further landmarks
        self.moments: Moments | None = None  # of k_m(x)
        self.gone = 0  # rows that left the window since its moments were last computed from its rows
        self.largest: Array = np.zeros(2)  # sizes of its moments since then, faded: their rounding errors stay
        self.unexamined = 0  # with a window or forgetting: rows that came since the landmarks were last examined
        self.measuring = False  # whether gamma='median' is measured again with the next rows
        self._leading = plan.n_components  # eigenvalues that must be exact to 1e-6
        self._short: bool | None = None  # whether float32 rows get float32 kernel values; None: not decided
        self._missed = 0.0  # share of the variation that the landmarks missed when they were chosen; 0: unknown

    @classmethod
    def of_moments(
        cls, plan: LandmarkPlan, landmarks: Landmarks, dictionary: AldDictionary | None, moments: Moments, seen: int
    ) -> "LandmarkStream":
        """Return the stream whose rows were measured elsewhere; `seen` is their number."""
        stream = cls(plan)
        stream.landmarks, stream.dictionary = landmarks, dictionary
        stream.moments, stream.seen = moments.settled(), seen
        return stream

    def open_on(self, points: Points, dictionary: AldDictionary | None) -> None:
        """Set the landmarks before the first row."""
        self.landmarks, self.dictionary = Landmarks(self.plan.kernel, _float64(points)), dictionary

    def learn(self, X: Points, rng: np.random.RandomState) -> None:
        """Learn from rows in order of time, replacing what changes: a copy of this stream stays as it was."""
        self.rows = self.rows.copy()
        recent = X if self.plan.window is None else X[-self.plan.window :]
        if self.landmarks is not None:
            self._add_landmarks(recent)
            self.take_in(recent)
            self._renew_window(rng)
            self._renew_faded(recent, rng)
        elif self.plan.given is not None:
            self._open(self.plan.given, None, recent)
        else:
            self._wait_or_choose(recent, rng)
        self.seen += n_rows(X)

    def learn_parts(self, parts: Sequence[Points], examples: Points, rng: np.random.RandomState) -> list[Moments]:
        """Learn from all parts, on landmarks chosen among the examples; return the moments of each part.

        It is for a stream without rows, window and forgetting.
        """
        given = self.plan.given
        points, self.dictionary = (given, None) if given is not None else self.plan.choose(examples, rng)
        self.landmarks, self._leading = Landmarks(self.plan.kernel, _float64(points)), n_rows(points)
        found: list[Moments] = []
        for rows in parts:
            found.append(self._measured(rows, None, found[0].reference if found else None))
        self.moments = total(found).settled()
        self.seen += sum(n_rows(rows) for rows in parts)
        return found

    # -- landmarks ---------------------------------------------------------------------------------

    def _wait_or_choose(self, X: Points, rng: np.random.RandomState) -> None:
        plan = self.plan
        if plan.window is not None:
            self.rows.drop(len(self.rows) + n_rows(X) - plan.window)
        if plan.wanted is None or len(self.rows) + n_rows(X) <= plan.wanted:
            self.rows.append(X)
            _check_kernel(plan.kernel, self.rows.stacked())
        else:
            self._choose(RecentRows([*self.rows.pieces, X]).stacked(), rng)

    def _choose(self, rows: Points, rng: np.random.RandomState) -> None:
        """Begin with these rows on landmarks chosen among them."""
        self._open(*self.plan.choose(rows, rng), rows)
        if self.plan.window is not None:
            self._missed = self._missing_share()
        elif self._follows:
            self._missed = self._share_of_others(rows, rng)

    def _open(self, points: Points, dictionary: AldDictionary | None, rows: Points) -> None:
        """Begin with these rows on these landmarks."""
        self.landmarks, self.dictionary = Landmarks(self.plan.kernel, _float64(points)), dictionary
        self.rows, self.moments, self.gone, self._short = RecentRows(), None, 0, None
        self.take_in(rows)
        self.unexamined = 0

    def _add_landmarks(self, X: Points) -> None:
        """Add landmarks among new rows, where the dictionary finds any, and bring the moments to them."""
        before, known = self.landmarks, self.dictionary
        if before is None or known is None:
            return
        dictionary = copy(known)  # adding landmarks replaces its arrays
        if dictionary.extend(X):
            self.landmarks, self._short = Landmarks(self.plan.kernel, _float64(dictionary.points)), None
            self.moments = self._on_more_landmarks(before, len(known))
        self.dictionary = dictionary if len(dictionary) < dictionary.limit else None

    def _on_more_landmarks(self, before: Landmarks, known: int) -> Moments | None:
        """Return the moments on the landmarks of now, of which `known` were in the dictionary before."""
        assert self.landmarks is not None
        if self.plan.window is not None:
            return self._of_oldest(len(self.rows), 0, None)
        if self.moments is None:
            return None
        if known == 0:  # no row so far had a length
            return self.moments.mapped(np.zeros((n_rows(self.landmarks.points), n_rows(before.points))))
        return before.mapped(self.moments, self.landmarks.points)

    def _missing_share(self) -> float:
        assert self.landmarks is not None
        return 0.0 if self.moments is None else self.landmarks.missing_share(self.moments)

    # -- moments -----------------------------------------------------------------------------------

    def take_in(self, X: Points) -> None:
        """Add rows to the moments, on the landmarks of now; what leaves the window is subtracted."""
        n, window, forgetting = n_rows(X), self.plan.window, self.plan.forgetting
        before = None if self.moments is None else self.moments.reference
        fresh = self._measured(X, fading_weights(n, forgetting), before)
        leaving = 0 if window is None else max(0, len(self.rows) + n - window)
        if self.moments is None or (leaving and leaving >= len(self.rows)):
            self.moments, self.gone, self.largest = fresh, 0, fresh.sizes
        else:
            gone = self._of_oldest(leaving, n, before)
            fresh.add(self.moments.faded(forgetting**n))  # not into the sums of a copied stream
            self.largest = np.maximum(self.largest * forgetting**n, fresh.sizes)
            if gone is not None:
                fresh.add(gone, -1.0)
            self.moments = fresh.settled()
            self.gone += leaving
        if window is not None:
            self.rows.drop(leaving)
            self.rows.append(X)
            self.unexamined += n
            if (self.moments.sizes < _LEAST_LEFT * self.largest).any():
                self._measure_window()

    def _measure_window(self) -> None:
        """Compute the moments of the window from its rows, which ends what rounding errors they have."""
        moments = self._of_oldest(len(self.rows), 0, None)
        assert moments is not None
        self.moments, self.gone, self.largest = moments, 0, moments.sizes

    def _of_oldest(self, count: int, newer: int, reference: Array | None) -> Moments | None:
        """Return the moments of the oldest rows, with their weights after `newer` more rows."""
        found: Moments | None = None
        newer += len(self.rows)
        for piece in self.rows.oldest(count):
            newer -= n_rows(piece)
            part = self._measured(piece, fading_weights(n_rows(piece), self.plan.forgetting, newer), reference)
            if found is None:
                found = part
            else:
                found.add(part)
        return found

    def _measured(self, X: Points, weights: Array | None, reference: Array | None) -> Moments:
        """Return the moments of rows, from kernel values in the precision that they need."""
        assert self.landmarks is not None
        # where rows are forgotten, others that need more digits than the rows of the test may become all that counts
        may_be_short = X.dtype == np.float32 and self.plan.window is None and self.plan.forgetting == 1.0
        if may_be_short and self._short is None:
            self._short = enough_in_float32(self.landmarks, X, self._leading)
        dtype = np.float32 if may_be_short and self._short else np.float64
        return measure(self.landmarks.blocks(dtype), X, weights, reference, self.plan.n_jobs)

    def _renew_window(self, rng: np.random.RandomState) -> None:
        """Compute the window's moments again from time to time, and choose new landmarks if the old ones miss too much.

        Computing the moments from the rows ends the growth of rounding errors. Landmarks are examined more often, also
        while the window fills: they are from the first rows, and later ones may be elsewhere.
        """
        plan = self.plan
        if plan.window is None:
            return
        if self.gone >= plan.window:
            self._measure_window()
        elif self.unexamined < max(plan.wanted or 0, _MEMORY_SHARE * plan.window):
            return
        self.unexamined = 0
        if plan.wanted is not None and self._missing_share() > _most_missed(self._missed):
            self._choose(self.rows.stacked(), rng)

    # -- forgetting --------------------------------------------------------------------------------

    @property
    def _follows(self) -> bool:
        """Whether landmarks are chosen again where rows fade, and new ones are elsewhere."""
        return self.plan.forgetting < 1.0 and self.plan.window is None and self.plan.wanted is not None

    def _renew_faded(self, X: Points, rng: np.random.RandomState) -> None:
        """Examine from time to time whether the landmarks miss much of recent rows, and choose others then."""
        if not self._follows:
            return
        if self.dictionary is not None:  # it adds landmarks by itself
            self.rows, self.unexamined = RecentRows(), 0
            return
        least = max(self.plan.wanted or 0, _LEAST_RECENT)
        self.rows.append(X[-_RECENT_EACH * least :])
        self.rows.drop(len(self.rows) - _RECENT_EACH * least)
        self.unexamined += n_rows(X)
        if self.unexamined < max(least, _MEMORY_SHARE / (1.0 - self.plan.forgetting)):
            return
        self.unexamined = 0
        recent = self.rows.stacked()
        share = self._share_missed(_some(recent))
        if share > self._most_missed:
            self._choose_among_recent(recent, rng)
        else:
            self._missed = share if self._missed == 0.0 else min(self._missed, share)

    @property
    def _most_missed(self) -> float:
        """The share of recent rows that the landmarks may miss."""
        return _LOST if self._missed == 0.0 else _most_missed(self._missed)

    def _share_missed(self, rows: Points) -> float:
        assert self.landmarks is not None
        return self.landmarks.missing_share_of(rows)

    def _share_of_others(self, rows: Points, rng: np.random.RandomState) -> float:
        """Return the share that landmarks chosen among every second row miss of the other rows."""
        points, _ = self.plan.choose(rows[::2], rng)
        return Landmarks(self.plan.kernel, _float64(points)).missing_share_of(_some(rows[1::2]))

    def _choose_among_recent(self, recent: Points, rng: np.random.RandomState) -> None:
        """Choose landmarks among recent rows and the landmarks before, and bring the moments to them.

        Recent rows are measured again. Of rows before them, their projections on the landmarks before count. For every
        second recent row so many landmarks are offered as the weight of older rows asks for; by the other recent rows
        it is measured what the new landmarks miss.
        """
        before, faded = self.landmarks, self.moments
        assert before is not None
        assert faded is not None
        weights = fading_weights(n_rows(recent), self.plan.forgetting)
        older = faded.copy()
        older.add(self._measured(recent, weights, faded.reference), -1.0)
        offered, others = recent[::2], recent[1::2]
        if older.weight > _LEAST_OLD * faded.weight:
            ratio = older.weight / (faded.weight - older.weight)
            count = min(n_rows(before.points), round(ratio * n_rows(offered)))
            kept = np.sort(rng.permutation(n_rows(before.points))[:count])
            offered = stack_rows(offered, before.points[kept])
        points, self.dictionary = self.plan.choose(offered, rng)
        self.landmarks, self._short = Landmarks(self.plan.kernel, _float64(points)), None
        moments = self._measured(recent, weights, None)
        if older.weight > _LEAST_OLD * faded.weight:
            moments.add(before.carried(older, self.landmarks.points))
        self.moments, self._missed = moments.settled(), self._share_missed(_some(others))

    # -- models ------------------------------------------------------------------------------------

    def model(self, r: int, center: bool) -> tuple[Expansion, float]:
        """Return the model of r components, and n - 1 or its equivalent for weighted rows."""
        if self.landmarks is not None:
            assert self.moments is not None
            return solve_moments(self.landmarks.whitening, self.moments, r, center), float(self.moments.freedom)
        rows = _float64(self.rows.stacked())
        expansion = exact_model(self.plan.kernel, rows, r, self.plan.forgetting, center)
        return expansion, _freedom(n_rows(rows), self.plan.forgetting)

    def surely_has(self, r: int, center: bool) -> bool:
        """Tell without solving whether the model certainly has r components; False where only a solution can tell."""
        if self.landmarks is None or self.moments is None:
            return False
        return surely_has(self.landmarks, self.moments, r, center)

    def near_landmarks(self) -> float | None:
        """Return what the kernel values of a row with landmarks other than itself add up to; None without landmarks."""
        if self.landmarks is None or self.moments is None:
            return None
        itself = n_rows(self.landmarks.points) / self.moments.weight
        return float(self.moments.mean.sum()) - itself

    def followed_by(self, other: "LandmarkStream", rng: np.random.RandomState) -> "LandmarkStream":
        """Return a stream that saw the rows of this one and then those of another; both stay as they are."""
        merged = copy(self)
        merged.measuring = False
        if other.landmarks is None:
            for piece in other.rows.pieces:
                merged.learn(piece, rng)
        else:
            merged.rows = self.rows.copy()
            merged._bring_to(other.landmarks, other.dictionary)
            merged._append(other)
        merged.seen = self.seen + other.seen
        return merged

    def _bring_to(self, theirs: Landmarks, dictionary: AldDictionary | None) -> None:
        """Begin on the landmarks of another stream, or check that they are those of this one."""
        if self.landmarks is None:
            self._open(theirs.points, copy(dictionary), self.rows.stacked())
        elif not same_rows(self.landmarks.points, theirs.points):
            raise ValueError(
                f"Models on different landmarks cannot be merged exactly (they have {n_rows(self.landmarks.points)} "
                f"and {n_rows(theirs.points)}). Give all of them the same array as `landmarks`, for example "
                "first.expansion_.points."
            )

    def _append(self, later: "LandmarkStream") -> None:
        """Add the rows that another stream on the same landmarks has seen after those of this one."""
        if self.plan.window is not None:
            for piece in later.rows.pieces:
                self.take_in(piece)
        elif self.moments is not None and later.moments is not None:
            self.moments = self.moments.faded(self.plan.forgetting**later.seen).copy()
            self.moments.add(later.moments)
            self.rows = later.rows.copy()

    # -- files -------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything but the kernel and given landmarks, as plain values."""
        growing, moments = self.dictionary, self.moments
        plan = {name: getattr(self.plan, name) for name in _PLANNED}
        return {
            "plan": plan,
            "seen": self.seen,
            "rows": self.rows.pieces,
            "points": None if self.landmarks is None else self.landmarks.points,
            "dictionary": None if growing is None else {**growing.__getstate__(), "kernel": None},
            "moments": None if moments is None else asdict(moments),
            "left": self.unexamined if self._follows else self.gone,  # one entry of a file for both
            "unexamined": 0 if self._follows else self.unexamined,
            "largest": self.largest,
            "leading": self._leading,
            "short": self._short,
            "missed": self._missed,
            "measuring": self.measuring,
        }

    @classmethod
    def from_state(cls, plan: LandmarkPlan, state: dict[str, Any]) -> "LandmarkStream":
        """Return the stream that `state` described."""
        stream, kernel = cls(plan), plan.kernel
        stream.seen, stream._leading = state["seen"], state["leading"]
        stream._short, stream._missed = state["short"], state["missed"]
        stream.measuring = state.get("measuring", False)  # older files do not have it, nor "unexamined" and "largest"
        if stream._follows:
            stream.unexamined = state["left"]
        else:
            stream.gone, stream.unexamined = state["left"], state.get("unexamined", 0)
        stream.rows = RecentRows(state["rows"])
        if state["points"] is not None:
            stream.landmarks = Landmarks(kernel, state["points"])
        if state["moments"] is not None:
            stream.moments = Moments(**state["moments"])
            stream.largest = state.get("largest", stream.moments.sizes)
        if state["dictionary"] is not None:
            stream.dictionary = AldDictionary(kernel, state["dictionary"]["nu"], state["dictionary"]["limit"])
            vars(stream.dictionary).update({**state["dictionary"], "kernel": kernel})
        return stream


def _most_missed(at_first: float) -> float:
    """Return the share that landmarks may miss where they missed this share when they were chosen."""
    return min(_WORSE * at_first + _MUCH, at_first + _LOST * (1.0 - at_first))


def _float64(points: Points) -> Points:
    return points.astype(np.float64, copy=False)


def _some(rows: Points) -> Points:
    """Return rows at equal steps, enough to measure a share."""
    return rows[:: max(1, -(-n_rows(rows) // _EXAMINED))]


def _freedom(n: int, forgetting: float) -> float:
    weights = fading_weights(n, forgetting)
    return n - 1.0 if weights is None else float(weights.sum() - (weights @ weights) / weights.sum())


def _check_kernel(kernel: Kernel, rows: Points) -> None:
    """Fail if kernel values of these rows are not finite."""
    PointBlocks(kernel, rows, np.float64)  # fails if distances overflow
    check_kernel_values(kernel.diagonal(rows), "these rows")
