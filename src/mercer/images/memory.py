"""The long memory of `AppearanceTracker`: a second model that forgets nothing and learns late.

A box can slide off its object while the object looks unlike itself, and the model of appearance then learns what is
under the box. Its long memory has not learned that yet. When the object looks as before again, the memory sees it
beside the box, and the box goes back.
"""

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.arrays import Array
from mercer.images.appearance import score_shares
from mercer.images.candidates import Candidates
from mercer.images.kernel_view import KernelView, view_of
from mercer.images.linear_view import LinearView
from mercer.images.refine import Valley, refined
from mercer.images.search import Found, Round, best_candidate

_EVERY = 5  # frames after which the memory looks around the box
_FIRST = 30  # frames before it looks at all
_COUNT = 300  # candidates of the first round; each of two closer rounds has a third of them
_REACH = 0.3  # standard deviation of their places, of the size of the object
_CERTAIN = 0.25  # criterion, of the squared length of the patch, up to which a patch is the remembered object
_CLEARER = 0.5  # the same, of the criterion under the present box
_APART = 0.1  # distance from the present box, of its size: places that are nearer are left to the usual search


class Memory(Candidates):
    """What `AppearanceTracker` remembers, and the way back to it."""

    memory: int | None
    update_every: int
    n_frames_: int
    memory_: Any
    _first: Array
    _later: list[Array]  # patches, update by update, that the memory will learn
    _recalled: LinearView | KernelView | None  # of the memory as it is now

    def _start_memory(self) -> None:
        """Let the memory learn the first patch; there is none where it is off, or where the model has no view."""
        self._later, self.memory_, self._recalled = [], None, None
        if self.memory is None or not self.normalize or self._view is None:
            return
        model = clone(self.estimator_)
        if "forgetting" in model.get_params(deep=False):
            model.set_params(forgetting=1.0)
        self.memory_ = model.partial_fit(self._first)
        self._recalled = view_of(self.memory_)

    def _remember(self, patches: Array) -> None:
        """Learn what was seen `memory` frames ago, in a copy: a call that fails later leaves the memory as it was."""
        if self.memory is None or self.memory_ is None:
            return
        self._later = [*self._later, patches]
        if len(self._later) > self.memory // self.update_every:
            self.memory_ = copy(self.memory_).partial_fit(self._later[0])
            self._later, self._recalled = self._later[1:], view_of(self.memory_)

    def _way_back(self, grey: Array, here: Found) -> Found | None:
        """Return the place beside the box where the memory sees the object, or None where it stays.

        The candidates have random numbers of their own: those of all frames stay the same where the box stays.
        """
        view = self._recalled
        if view is None or self.n_frames_ < _FIRST or self.n_frames_ % _EVERY > 0:
            return None
        shares, given = score_shares(view.variances, self._usual), self._prior.given

        def sample(states: Array) -> Array:
            return self._patches(grey, states)

        def judge(states: Array) -> tuple[Array, Array, Array]:
            patches = sample(states)
            residuals, scores = view.residuals_and_scores(patches)
            return patches, residuals, residuals + scores**2 @ shares

        random = np.random.RandomState(self.n_frames_)
        found = best_candidate(here.state, _rounds(given), self._field.moved, judge, random)
        valley = Valley(view, shares, 0.0, given)
        there = refined(found, valley, self._field.moved, lambda state: np.zeros(4), sample, judge)
        least = min(_CERTAIN * view.squared_length(there.patch), _CLEARER * float(judge(here.state[None])[2][0]))
        apart = np.linalg.norm(self._field.steps(here.state, there.state[None])[0, :2])
        if there.cost >= least or apart <= _APART:
            return None
        return there._replace(residual=float(self._judged(there.patch[None], self._usual)[0][0]))


def _rounds(given: Array) -> list[Round]:
    """Return a wide round of candidates, and two closer ones; what has no spread stays as it is."""
    reach = _REACH if given[0] > 0 else 0.0
    wide = np.array([reach, reach, 2 * given[2], 2 * given[3]])
    return [(_COUNT, wide), (_COUNT // 3, given), (_COUNT // 3, 0.5 * given)]
