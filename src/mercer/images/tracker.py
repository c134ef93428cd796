"""`AppearanceTracker`: follow an object through frames by a model of its appearance that learns from each of them."""

from collections import deque
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from mercer.arrays import Array
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.model_files import ModelFiles
from mercer.estimators.validation import generator
from mercer.images.appearance import default_model, own_copy, unit_contrast
from mercer.images.checks import check_counts
from mercer.images.drawing import generator_state, restored_generator
from mercer.images.frames import as_grey, check_box
from mercer.images.warp import corners, sample_boxes, smoothed_for

_FINER = 1.7  # by how much the Gaussian of one round of candidates is narrower than that of the round before
_SMALLEST = 4.0  # pixels that a side of the box keeps
_FLOOR = 0.1  # variance of a component, of the usual residual, that is taken for granted
_RECENT = 25  # frames from which the usual residual is taken
_CRITERIA = ("likelihood", "residual")


class AppearanceTracker(ModelFiles, BaseEstimator):  # type: ignore[misc]
    """Tracker of one object in a video by kernel PCA of its recent appearance.

    Candidates for the next place of the object are drawn from a Gaussian around its last one: position, size and turn
    (sec. V-C3 of [chin2007]_). The candidate whose patch of the frame is nearest to the subspace of the model is the
    result. The model learns from these patches, every few frames.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The model of appearance, a Mercer estimator with `partial_fit` and `reconstruction_error`; a copy of it is used.
        Its rows are patches, of unit length with `normalize`. None: `IncrementalKernelPCA` with 16 components, gamma=1,
        forgetting=0.99 and as many rows per update as frames.
    n_candidates : int, default=200
        Number of candidates in each frame.
    rounds : int, default=3
        Number of rounds in which the candidates are drawn. Those of a later round are drawn around the best so far,
        from a Gaussian that is 1.7 times narrower. 1: all at once, as in the paper.
    update_every : int, default=5
        Number of frames after which the model learns their patches.
    patch_shape : tuple of (rows, columns), default=(24, 24)
        Size in pixels to which every candidate is resampled.
    spread : tuple of (position, size, turn), default=(0.07, 0.03, 0.02)
        Standard deviations of the Gaussian: of x and y relative to the size of the object, of the logarithm of its
        size, and of its angle in radians. 0 keeps that quantity as it is.
    criterion : {"likelihood", "residual"}, default="likelihood"
        The quantity that the best candidate has least of. "residual": its squared distance from the subspace, as in the
        paper. "likelihood": this distance, plus the mean of its squared scores in units of their variance times the
        usual residual of recent frames. A patch within the subspace but unlike anything seen then counts no better than
        one outside it [lim2004]_. Models without components and variances (`expansion_`, `explained_variance_`) are
        judged by the residual alone.
    restraint : float, default=0.05
        How much better a candidate must be for being farther from the last place: the criterion is multiplied by ``1 +
        restraint |z|^2``, where z is the distance in standard deviations.
    keep_first : bool, default=False
        Include the patch of the first frame, the only one that is known to be right, in every update. This helps where
        the appearance of the object stays the same, and harms where it changes.
    normalize : bool, default=True
        Subtract the mean of each patch and scale it to unit length, so that changes of light do not count.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the candidates. The same seed gives the same boxes.

    Attributes
    ----------
    box_ : ndarray of shape (4,)
        The last box as x, y, w, h, upright. x and y are its upper left corner; pixel (0, 0) covers 0 to 1.
    state_ : ndarray of shape (4,)
        Centre x, centre y, size relative to the first box, and angle of the last box.
    corners_ : ndarray of shape (4, 2)
        Corners of the last box, with its turn.
    residual_ : float
        Squared distance of the last patch from the model, in feature space.
    estimator_ : estimator
        The fitted model of appearance.
    n_frames_ : int
        Number of frames so far.

    See Also
    --------
    KernelMutualSubspace : Recognition by sets of images.
    IncrementalKernelPCA : Kernel PCA of a stream, without landmarks in advance.
    mercer.plots.track_strip : Frames of a video with boxes.

    References
    ----------
    .. [chin2007] T.-J. Chin and D. Suter, Incremental kernel principal component analysis, IEEE Transactions on Image
       Processing 16, 2007.
    .. [lim2004] J. Lim, D. Ross, R.-S. Lin and M.-H. Yang, Incremental learning for visual tracking, Advances in Neural
       Information Processing Systems 17, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import AppearanceTracker
    >>> texture = np.random.default_rng(0).uniform(0, 255, (20, 20))
    >>> frames = np.zeros((8, 60, 80))
    >>> for i, frame in enumerate(frames):
    ...     frame[15 : 35, 10 + 2 * i : 30 + 2 * i] = texture
    >>> tracker = AppearanceTracker(random_state=0).start(frames[0], (10, 15, 20, 20))
    >>> for frame in frames[1:]:
    ...     box = tracker.update(frame)
    >>> bool(abs(box[0] - 24) < 1.5)
    True
    """

    _fitted_attributes = ("box_", "state_", "residual_", "n_frames_", "estimator_")
    box_: Array
    state_: Array
    residual_: float
    n_frames_: int
    estimator_: Any

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_candidates: int = 200,
        rounds: int = 3,
        update_every: int = 5,
        patch_shape: tuple[int, int] = (24, 24),
        spread: tuple[float, float, float] = (0.07, 0.03, 0.02),
        criterion: str = "likelihood",
        restraint: float = 0.05,
        keep_first: bool = False,
        normalize: bool = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_candidates = n_candidates
        self.rounds = rounds
        self.update_every = update_every
        self.patch_shape = patch_shape
        self.spread = spread
        self.criterion = criterion
        self.restraint = restraint
        self.keep_first = keep_first
        self.normalize = normalize
        self.random_state = random_state

    # -- tracking ------------------------------------------------------------------------------------------------

    @all_or_nothing
    def start(self, frame: Any, box: npt.ArrayLike) -> Self:
        """Start with the object in a box of the first frame.

        Parameters
        ----------
        frame : array-like of shape (height, width) or (height, width, 3 or 4)
            The first frame, grey or in colour.
        box : array-like of shape (4,)
            The box x, y, w, h of the object in pixels; x and y are its upper left corner.

        Returns
        -------
        AppearanceTracker
            The tracker itself.

        Raises
        ------
        TypeError
            If the frame does not hold numbers, or if `estimator` lacks `partial_fit` or `reconstruction_error`.
        ValueError
            If the frame has another shape or contains NaN or infinity, or if the box is too small or more than half
            outside the frame.
        """
        self._check_parameters()
        grey = as_grey(frame)
        x, y, w, h = check_box(box, grey.shape)
        estimator = self._new_estimator()
        self._size, self._shape = (w, h), grey.shape
        self._random = generator(self.random_state)
        self._set_state(np.array([x + 0.5 * w, y + 0.5 * h, 1.0, 0.0]))
        self._first = self._patches(grey, self.state_[None])
        self._waiting: list[Array] = []
        self._residuals: deque[float] = deque(maxlen=_RECENT)  # since the model first learned
        self.estimator_ = estimator.partial_fit(self._first)
        self.residual_, self.n_frames_ = 0.0, 1
        return self

    @all_or_nothing
    def update(self, frame: Any) -> Array:
        """Find the object in the next frame and return its box.

        A call that raises an error leaves the tracker as it was.

        Parameters
        ----------
        frame : array-like of shape (height, width) or (height, width, 3 or 4)
            The next frame, as large as the first one.

        Returns
        -------
        ndarray of shape (4,)
            The box x, y, w, h.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `start` was not called before.
        ValueError
            If the frame has another size than the first one, or contains NaN or infinity.
        """
        self._check_fitted()
        grey = as_grey(frame)
        if grey.shape != self._shape:
            raise ValueError(
                f"This frame has {grey.shape[0]} x {grey.shape[1]} pixels, the first one had {self._shape[0]} x "
                f"{self._shape[1]}. Frames of one video must be of one size; start again for another video."
            )
        state, patch, self.residual_ = self._search(grey)
        self._set_state(state)
        self.n_frames_ += 1
        if self.n_frames_ > self.update_every + 1:
            self._residuals = deque([*self._residuals, self.residual_], maxlen=_RECENT)
        self._learn(patch)
        return self.box_.copy()

    def track(self, frames: Iterable[Any], box: npt.ArrayLike) -> Array:
        """Start in the first frame, follow the object through all others, and return its boxes.

        Parameters
        ----------
        frames : iterable of array-like
            The frames, each of shape (height, width) or (height, width, 3 or 4). They are read one at a time.
        box : array-like of shape (4,)
            The box x, y, w, h of the object in the first frame.

        Returns
        -------
        ndarray of shape (n_frames, 4)
            One box per frame, the given one first.

        Raises
        ------
        ValueError
            If there are no frames, or if a frame or the box is not valid.
        """
        rest = iter(frames)
        first = next(rest, None)
        if first is None:
            raise ValueError("There are no frames to track an object in.")
        self.start(first, box)
        return np.array([self.box_.copy(), *(self.update(frame) for frame in rest)])

    @property
    def corners_(self) -> Array:
        """Corners of the last box with its turn, in order around it; an array of shape (4, 2)."""
        return corners(self.state_, self._size)

    def _check_parameters(self) -> None:
        check_counts(n_candidates=self.n_candidates, rounds=self.rounds, update_every=self.update_every)
        check_counts(**{f"patch_shape[{i}]": side for i, side in enumerate(self.patch_shape)})
        if len(self.patch_shape) != 2 or np.prod(self.patch_shape) < 2:
            raise ValueError(
                f"patch_shape must be (rows, columns), with two pixels at least; got {self.patch_shape!r}."
            )
        if len(self.spread) != 3 or not np.all(np.isfinite(self.spread)) or min(self.spread) < 0:
            raise ValueError(f"spread must be three numbers of at least 0: position, size, turn; got {self.spread!r}.")
        if self.rounds > self.n_candidates:
            raise ValueError(f"{self.n_candidates} candidates cannot come in {self.rounds} rounds; lower `rounds`.")
        if self.criterion not in _CRITERIA:
            raise ValueError(f"criterion must be one of {', '.join(_CRITERIA)}; got {self.criterion!r}.")
        if not self.restraint >= 0:
            raise ValueError(f"restraint must be at least 0; got {self.restraint!r}.")

    def _new_estimator(self) -> Any:
        if self.estimator is not None:
            return own_copy(self.estimator)
        return default_model(self.update_every + self.keep_first)

    def _set_state(self, state: Array) -> None:
        w, h = state[2] * self._size[0], state[2] * self._size[1]
        self.state_ = state
        self.box_ = np.array([state[0] - 0.5 * w, state[1] - 0.5 * h, w, h])

    # -- files ---------------------------------------------------------------------------------------------------

    def _check_fitted(self) -> None:
        if not hasattr(self, "estimator_"):
            raise NotFittedError("The tracker has no object yet; call start(frame, box) first.")

    def _saved_state(self) -> dict[str, Any]:
        return {
            **super()._saved_state(),
            "frames": [list(self._size), list(self._shape)],
            "patches": [self._first, *self._waiting],
            "residuals": list(self._residuals),
            "random": generator_state(self._random),
        }

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        self._size, self._shape = (tuple(sides) for sides in state["frames"])
        self._first, *self._waiting = state["patches"]
        self._residuals = deque(state["residuals"], maxlen=_RECENT)
        self._random = restored_generator(state["random"])

    # -- candidates ----------------------------------------------------------------------------------------------

    def _search(self, grey: Array) -> tuple[Array, Array, float]:
        """Return state, patch and residual of the best candidate; each round is one warp and one projection."""
        smooth = smoothed_for(grey, self._size, self.patch_shape)
        best, patch, residual, least = self.state_, self._first[0], 0.0, np.inf
        for number, count in enumerate(_shares(self.n_candidates, self.rounds)):
            states = self._drawn(best, count, _FINER**-number, with_centre=number == 0)
            patches = self._normalised(sample_boxes(smooth, states, self._size, self.patch_shape))
            residuals = self.estimator_.reconstruction_error(patches)
            costs = residuals + self._strangeness(patches)
            costs *= 1.0 + self.restraint * self._distances(states)
            i = int(np.argmin(costs))
            if costs[i] < least:
                best, patch, residual, least = states[i], patches[i], float(residuals[i]), float(costs[i])
        return best, patch, residual

    def _strangeness(self, patches: Array) -> Array | float:
        """Return the mean squared score in units of its variance, as large as residuals usually are where it is one.

        Up to scale this is the exponent of probabilistic PCA [J. Lim et al., Incremental learning for visual tracking,
        NIPS 2004]: scores y with variances lambda inside the subspace, the residual outside it.
        """
        model = self.estimator_
        if self.criterion == "residual" or not self._residuals or not hasattr(model, "explained_variance_"):
            return 0.0
        if model.expansion_.n_components == 0:
            return 0.0
        usual = float(np.median(self._residuals))
        variances = model.explained_variance_ + _FLOOR * usual
        if not variances.min() > 0:
            return 0.0
        return np.asarray(usual * np.mean(model.transform(patches) ** 2 / variances, axis=1))

    def _deviations(self) -> Array:
        """Return the standard deviations of x, y, log size and angle."""
        position, size, turn = self.spread
        extent = float(np.sqrt(self._size[0] * self._size[1]) * self.state_[2])
        return np.array([position * extent, position * extent, size, turn])

    def _drawn(self, centre: Array, count: int, shrink: float, with_centre: bool) -> Array:
        """Return candidates from a Gaussian around a state, (count, 4), the last state itself among the first ones."""
        steps = self._random.standard_normal((count, 4)) * (shrink * self._deviations())
        if with_centre:
            steps[0] = 0.0
        states = centre + steps
        states[:, 2] = centre[2] * np.exp(steps[:, 2])
        return self._within_frame(states)

    def _within_frame(self, states: Array) -> Array:
        """Keep centres inside the frame, and sizes between a few pixels and the whole of it."""
        height, width = self._shape
        most = min(width / self._size[0], height / self._size[1])
        least = min(_SMALLEST / min(self._size), 1.0)
        return np.clip(states, [0.0, 0.0, least, -np.inf], [width, height, max(most, 1.0), np.inf])

    def _distances(self, states: Array) -> Array:
        """Return squared distances from the last state in standard deviations."""
        steps = states - self.state_
        steps[:, 2] = np.log(states[:, 2] / self.state_[2])
        deviations = self._deviations()
        return np.asarray(np.sum((steps / np.where(deviations > 0, deviations, 1.0)) ** 2, axis=1))

    # -- patches -------------------------------------------------------------------------------------------------

    def _patches(self, grey: Array, states: Array) -> Array:
        smooth = smoothed_for(grey, self._size, self.patch_shape)
        return self._normalised(sample_boxes(smooth, states, self._size, self.patch_shape))

    def _normalised(self, patches: Array) -> Array:
        return unit_contrast(patches) if self.normalize else patches

    def _learn(self, patch: Array) -> None:
        self._waiting = [*self._waiting, patch]
        if len(self._waiting) == self.update_every:
            rows = [*self._first, *self._waiting] if self.keep_first else self._waiting
            self.estimator_.partial_fit(np.array(rows))
            self._waiting = []


def _shares(total: int, parts: int) -> list[int]:
    """Divide a number into nearly equal parts; the first ones are larger where the division leaves a remainder."""
    return [total // parts + (i < total % parts) for i in range(parts)]
