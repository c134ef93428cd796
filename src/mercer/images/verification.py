"""From similarities of claimed identities to a decision: the threshold of acceptance and the ROC curve.

A claim is accepted where its similarity is at least the threshold. The threshold follows from impostors alone: m
similarities of sets with references of another label. To accept at most a share f of them, k = floor(f m) may lie at
or above the threshold, so it lies just above the (k + 1)-th largest, and that is the lowest possible one. Similarities
of sets with references of their own label do not move it: a set that was learned is its own reference, with a
similarity of 1, and says nothing about other sets of its label.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.metrics import auc, roc_curve

from mercer.arrays import Array
from mercer.errors import warn_user

_ROUNDING = 1e-9  # similarities that differ by less count as equal
_COMPLETE = 1.0 - 1e-6  # of a subspace with itself: the rounding of a cosine of 1 is large as an angle


@dataclass(frozen=True)
class Roc:
    """How often pairs of equal and of different labels are accepted, threshold by threshold."""

    false_accepts: Array  # shares of the pairs with different labels, ascending
    true_accepts: Array  # shares of the pairs with equal labels
    thresholds: Array  # similarities from which on a pair is accepted, descending
    area: float  # under the curve: the chance that a pair of equal labels is the more similar one


def threshold_for(impostors: Array, false_accepts: float) -> float:
    """Return the lowest threshold, up to 1e-9, that accepts at most this share of the impostors' similarities."""
    m = len(impostors)
    accepted = min(int(np.floor(false_accepts * m * (1.0 + 1e-12))), m - 1)
    return float(np.sort(impostors)[m - 1 - accepted]) + _ROUNDING


def curve(similarity: Array, genuine: npt.NDArray[np.bool_]) -> Roc:
    """Return the ROC curve of similarities, of which some are of pairs with equal labels."""
    false, true, thresholds = roc_curve(genuine.ravel(), similarity.ravel(), drop_intermediate=False)
    return Roc(false, true, thresholds, float(auc(false, true)))


def is_complete(similarity: Array | float) -> npt.NDArray[np.bool_]:
    """Tell which similarities are 1, up to rounding: those of a subspace with itself."""
    return np.asarray(np.asarray(similarity) >= _COMPLETE)


def warn_if_none_pass(threshold: float) -> None:
    """Warn where a threshold is so high that no new set can reach it."""
    if is_complete(threshold):
        warn_user(
            "The threshold is as high as a similarity can be, so verify accepts no new set: too many pairs with "
            "different labels span the same subspace. Does a picture stand under two labels, or is n_components "
            "as large as the number of pixels?"
        )


def warn_of_themselves(genuine: Array) -> None:
    """Warn where sets are compared with themselves, from the similarities of pairs with equal labels."""
    themselves = int(is_complete(genuine).sum())
    if themselves:
        warn_user(
            f"{themselves} of the {len(genuine)} pairs with equal labels have a similarity of 1, as sets compared "
            "with themselves have: the ROC curve is too good. Pass sets that were not learned."
        )
