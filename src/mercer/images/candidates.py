"""How `AppearanceTracker` looks for its object in a frame: nearby, then farther away where it is not seen."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.images.appearance import central_weights, likeness, score_shares, strangeness, unit_contrast
from mercer.images.confidence import can_judge, residual_p_value
from mercer.images.kernel_view import KernelView
from mercer.images.linear_view import LinearView
from mercer.images.motion import Field, MotionPrior
from mercer.images.refine import Valley, refined
from mercer.images.search import Found, Round, best_candidate, near_rounds, wide_rounds
from mercer.images.warp import sample_boxes

_LOST = 1e-5  # p-value of the residual below which an object is lost that was seen before
_FOUND = 1e-2  # p-value above which a lost one is found again
_CLEAR = 0.3  # residual, of those in the surroundings, up to which a patch stands out as the object
_OUTSTANDING = 0.1  # the same for a patch that ends the search for a lost object
_LIKE = 0.7  # cosine with the last patch of the object that a patch elsewhere has at least
_UNLIKE = 0.3  # the same cosine below which a patch is something else, whatever its residual
_EARLY = 0.75  # the cosine that the object has at least while too few frames are known for p-values
_SUDDEN = 5  # frames after which a lost object may be elsewhere: blur and quick turns are over sooner
_WIDE = 0.5  # standard deviation of the search for a lost object, of its size, and its growth with each frame
_WIDENS = 0.05
_WIDEST = 1.5
_USUAL = 25  # frames from which the usual residual is taken


class Candidates:
    """The search of `AppearanceTracker` in one frame."""

    n_candidates: int
    rounds: int
    patch_shape: tuple[int, int]
    spread: tuple[float, float, float]
    criterion: str
    restraint: float
    refine: bool
    focus: float | None
    normalize: bool
    state_: Array
    lost_: bool
    n_lost_: int
    estimator_: Any
    _field: Field
    _prior: MotionPrior
    _random: np.random.RandomState
    _seen: Array
    _last: Array
    _residuals: list[float]
    _view: LinearView | KernelView | None  # of the model as it is now

    def _search(self, grey: Array) -> tuple[Found, float, bool]:
        """Return the best candidate, the p-value of its residual, and whether the object is lost.

        It is lost if the patch is unlike the last one, or if the residual is very unusual and not much smaller than
        those of its surroundings. These are searched.
        """
        plan = near_rounds(self.n_candidates, self.rounds, self._prior.deviations)
        near = self._best(grey, self.state_, plan)
        p_value = self._p_value(near)
        if self._is_seen(near, p_value):
            return near, p_value, False
        reach = min(_WIDE + _WIDENS * self.n_lost_, _WIDEST) if self.spread[0] > 0 else 0.0
        plan = wide_rounds(self.n_candidates, reach, self._prior.given, self.n_lost_)
        far = self._best(grey, self._seen, plan, restraint=0.0)
        there = self._p_value(far)
        clear = there >= _FOUND or far.residual < _OUTSTANDING * far.around
        if clear and self._is_like(far) and far.residual < near.residual and self.n_lost_ >= _SUDDEN:
            return far, there, False
        share = _OUTSTANDING if self.lost_ else _CLEAR
        return near, p_value, near.residual > share * far.around or not self._is_like(near)

    def _is_seen(self, near: Found, p_value: float) -> bool:
        """Whether a patch near the last place is the object, so that nothing else has to be searched."""
        if self.lost_:
            return p_value >= _FOUND and self._is_like(near)
        return p_value >= _LOST and self._likeness(near) >= (_UNLIKE if can_judge(self._residuals) else _EARLY)

    def _is_like(self, found: Found) -> bool:
        return self._likeness(found) > (_LIKE if can_judge(self._residuals) else _EARLY)

    def _likeness(self, found: Found) -> float:
        """Return the cosine with the last patch of the object, both without their means; 0 for a uniform patch."""
        pair = np.array([found.patch, self._last])
        if not self.normalize:
            pair = unit_contrast(pair, central_weights(self.patch_shape, self.focus))
        return likeness(pair[0], pair[1])

    def _p_value(self, found: Found) -> float:
        return residual_p_value(found.residual, self._residuals)

    def _best(self, grey: Array, start: Array, plan: list[Round], restraint: float | None = None) -> Found:
        """Return the best candidate around a state; each round is one warp and one projection."""
        hold = self.restraint if restraint is None else restraint
        view, usual = self._view, self._usual

        def sample(states: Array) -> Array:
            return self._patches(grey, states)

        def from_start(state: Array) -> Array:
            return np.asarray(self._field.steps(start, state[None])[0])

        def judge(states: Array) -> tuple[Array, Array, Array]:
            patches = sample(states)
            residuals, costs = self._judged(patches, usual)
            if hold > 0:
                costs = costs * (1.0 + hold * self._prior.distances(self._field.steps(start, states)))
            return patches, residuals, costs

        best = best_candidate(start, plan, self._field.moved, judge, self._random)
        if view is None or not self.refine:
            return best
        valley = Valley(view, score_shares(view.variances, usual), hold, self._prior.deviations)
        return refined(best, valley, self._field.moved, from_start, sample, judge)

    def _judged(self, patches: Array, usual: float) -> tuple[Array, Array]:
        """Return residuals of patches, and what counts: residuals and unusual scores together."""
        if self._view is None:
            residuals = self.estimator_.reconstruction_error(patches)
            return residuals, residuals + strangeness(self.estimator_, patches, usual)
        residuals, scores = self._view.residuals_and_scores(patches)
        return residuals, residuals + scores**2 @ score_shares(self._view.variances, usual)

    @property
    def _usual(self) -> float:
        """The usual residual; 0 where scores do not count, or residuals are not known yet."""
        if self.criterion == "residual" or not self._residuals:
            return 0.0
        return float(np.median(self._residuals[-_USUAL:]))

    def _patches(self, grey: Array, states: Array) -> Array:
        patches = sample_boxes(grey, states, self._field.size, self.patch_shape)
        if not self.normalize:
            return patches
        return unit_contrast(patches, central_weights(self.patch_shape, self.focus))
