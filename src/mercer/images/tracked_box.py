"""A box with the flag whether the object was seen in it."""

from typing import Any

import numpy as np
import numpy.typing as npt


class TrackedBox(np.ndarray):
    """A box x, y, w, h that also tells whether the object was seen in it.

    Attributes
    ----------
    lost : bool
        Whether the object is lost: the box then is only a guess.
    p_value : float
        Probability of such a residual, or a larger one, where the object is seen.

    Examples
    --------
    >>> from mercer.images.tracked_box import TrackedBox
    >>> box = TrackedBox.of([10, 15, 20, 20], lost=False, p_value=0.4)
    >>> float(box[0]), box.lost
    (10.0, False)
    """

    lost: bool
    p_value: float

    @classmethod
    def of(cls, box: npt.ArrayLike, lost: bool, p_value: float) -> "TrackedBox":
        """Return a box with its flag.

        Parameters
        ----------
        box : array-like of shape (4,)
            The box x, y, w, h.
        lost : bool
            Whether the object is lost.
        p_value : float
            The p-value of its residual.

        Returns
        -------
        TrackedBox
            An array of four numbers with the attributes `lost` and `p_value`.
        """
        found = np.array(box, np.float64).view(cls)
        found.lost, found.p_value = lost, p_value
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.lost, self.p_value = getattr(other, "lost", False), getattr(other, "p_value", 1.0)

    def __reduce__(self) -> tuple[Any, ...]:
        return TrackedBox.of, (np.asarray(self), self.lost, self.p_value)
