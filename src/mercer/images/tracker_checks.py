"""Checks of the parameters of `AppearanceTracker`."""

from numbers import Integral
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import warn_user
from mercer.images.checks import check_counts

_CRITERIA = ("likelihood", "residual")


def check_parameters(tracker: Any) -> None:
    """Refuse what cannot be meant, by the name of the parameter."""
    check_counts(n_candidates=tracker.n_candidates, rounds=tracker.rounds, update_every=tracker.update_every)
    shape, spread = tracker.patch_shape, tracker.spread
    if np.shape(shape) != (2,):
        raise ValueError(f"patch_shape must be (rows, columns), two whole numbers; got {shape!r}.")
    check_counts(**{f"patch_shape[{i}]": side for i, side in enumerate(shape)})
    if np.prod(shape) < 2:
        raise ValueError(f"patch_shape must be (rows, columns), with two pixels at least; got {shape!r}.")
    if np.shape(spread) != (3,) or not np.all(np.isfinite(spread)) or min(spread) < 0:
        raise ValueError(f"spread must be three numbers of at least 0: position, size, turn; got {spread!r}.")
    if tracker.rounds > tracker.n_candidates:
        raise ValueError(f"{tracker.n_candidates} candidates cannot come in {tracker.rounds} rounds; lower `rounds`.")
    if tracker.memory is not None and (not isinstance(tracker.memory, Integral) or tracker.memory < 0):
        raise ValueError(f"memory must be None or a whole number of at least 0; got {tracker.memory!r}.")
    if tracker.criterion not in _CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(_CRITERIA)}; got {tracker.criterion!r}.")
    if not tracker.restraint >= 0:
        raise ValueError(f"restraint must be at least 0; got {tracker.restraint!r}.")
    if tracker.focus is not None and not tracker.focus > 0:
        raise ValueError(f"focus must be None or a number above 0; got {tracker.focus!r}.")


def warn_if_blank(patch: Array, normalize: bool) -> None:
    """Warn where the first patch shows nothing, so that no frame can show the same."""
    if normalize and not patch.any():
        warn_user(
            "The box shows nothing but one grey value, so there is nothing to follow: the object will count as lost, "
            "and the box stays where it is. Is the box x, y, w, h in pixels, with x to the right?"
        )
