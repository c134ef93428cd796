"""`AppearanceTracker`: follow an object through frames by a model of its appearance that learns from each of them."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from mercer.arrays import Array
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.validation import generator
from mercer.images.appearance import default_model, own_copy
from mercer.images.confidence import RECENT
from mercer.images.frames import as_grey, check_box, check_same_size
from mercer.images.kernel_view import view_of
from mercer.images.memory import Memory
from mercer.images.motion import Field, MotionPrior
from mercer.images.search import Found
from mercer.images.tracked_box import TrackedBox
from mercer.images.tracker_checks import check_parameters, warn_if_blank
from mercer.images.tracker_files import TrackerFiles
from mercer.images.warp import corners
from mercer.kernels.threads import one_blas_thread


class AppearanceTracker(Memory, TrackerFiles, BaseEstimator):  # type: ignore[misc]
    """Tracker of one object in a video by incremental PCA, linear or with a kernel, of its recent appearance.

    Candidates for the next place of the object are drawn from a Gaussian around its last one: position, size and turn
    (sec. V-C3 of [chin2007]_). The candidate whose patch of the frame is nearest to the subspace of the model is the
    result. The model learns from these patches, every few frames. If the residual is too large to be one of the
    object, the object is lost: the model does not learn, and the search is wider, until the object is found again.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The model of appearance, a Mercer estimator with `partial_fit` and `reconstruction_error`; a copy of it is used.
        Its rows are patches, of unit length with `normalize`. None: `IncrementalKernelPCA` with the linear kernel, 16
        components, forgetting=0.99 and as many rows per update as frames. The page "Following an object" of the
        documentation says why it is linear.
    n_candidates : int, default=200
        Number of candidates in each frame.
    rounds : int, default=3
        Number of rounds in which the candidates are drawn. Those of a later round are drawn around the best so far,
        from a Gaussian that is 1.7 times narrower. 1: all at once, as in the paper.
    update_every : int, default=5
        Number of frames after which the model learns their patches.
    patch_shape : tuple of (rows, columns), default=(24, 24)
        Size in pixels to which every candidate is resampled.
    spread : tuple of (position, size, turn), default=(0.07, 0.015, 0.02)
        Standard deviations of the Gaussian before anything is known: of x and y relative to the size of the object, of
        the logarithm of its size, and of its angle in radians. They are then learned from the last steps, between 0.6
        and 2 times these values. 0 keeps that quantity as it is.
    criterion : {"likelihood", "residual"}, default="likelihood"
        The quantity that the best candidate has least of. "residual": its squared distance from the subspace, as in the
        paper. "likelihood": this distance, plus the mean of its squared scores in units of their variance times the
        usual residual of recent frames. A patch within the subspace but unlike anything seen then counts no better than
        one outside it [lim2004]_. Models without components and variances (`expansion_`, `explained_variance_`) are
        judged by the residual alone.
    restraint : float, default=0.05
        How much better a candidate must be for being farther from the last place: the criterion is multiplied by ``1 +
        restraint |z|^2``, where z is the distance in standard deviations.
    refine : bool, default=True
        Move the best candidate to the least criterion nearby, by Gauss-Newton steps in feature space. This needs a
        model with orthonormal components, such as `IncrementalKernelPCA` with any kernel; else it has no effect.
    keep_first : bool, default=False
        Include the patch of the first frame, the only one that is known to be right, in every update. This helps where
        the appearance of the object stays the same, and harms where it changes.
    memory : int or None, default=50
        Number of frames after which a second model of the same kind, which forgets nothing, learns what was seen. Every
        five frames it looks around the box. If it sees the object clearly beside the box and not in it, the box goes
        there: it has slid off the object. None: no such model. It needs the same kind of model as `refine`, and
        `normalize`; else it has no effect.
    focus : float or None, default=0.5
        How much the centre of a patch counts more than its border: the standard deviation of a Gaussian weight, of half
        the side. Boxes are never exact, and their borders show the background. None: all pixels count alike.
    normalize : bool, default=True
        Subtract the mean of each patch and scale it to unit length, so that changes of light do not count. Without it
        `focus` has no effect.
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
    p_value_ : float
        Probability of such a residual, or a larger one, among those of recent frames in which the object was seen.
    lost_ : bool
        Whether the object was not seen in the last frame: the patch was unlike the last one of the object (uniform
        patches are), or the p-value fell below 1e-5 and the patch did not stand out from its surroundings; and no patch
        like the last one with a p-value above 0.01 has been found since then.
    n_lost_ : int
        Number of frames since the object was seen.
    estimator_ : estimator
        The fitted model of appearance.
    memory_ : estimator or None
        The fitted model that forgets nothing; None without `memory`.
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

    _fitted_attributes = (
        "box_",
        "state_",
        "residual_",
        "p_value_",
        "lost_",
        "n_lost_",
        "n_frames_",
        "estimator_",
        "memory_",
    )
    box_: Array
    state_: Array
    residual_: float
    p_value_: float
    lost_: bool
    n_lost_: int
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
        spread: tuple[float, float, float] = (0.07, 0.015, 0.02),
        criterion: str = "likelihood",
        restraint: float = 0.05,
        refine: bool = True,
        keep_first: bool = False,
        memory: int | None = 50,
        focus: float | None = 0.5,
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
        self.refine = refine
        self.keep_first = keep_first
        self.memory = memory
        self.focus = focus
        self.normalize = normalize
        self.random_state = random_state

    # -- tracking ------------------------------------------------------------------------------------------------

    @all_or_nothing
    def start(self, frame: Any, box: npt.ArrayLike) -> Self:
        """Start with the object in a box of the first frame.

        Parameters
        ----------
        frame : array-like of shape (height, width) or (height, width, 1, 3 or 4)
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

        Warns
        -----
        UserWarning
            If the box shows nothing but one grey value, with `normalize`: there is nothing to follow.
        """
        check_parameters(self)
        grey = as_grey(frame)
        x, y, w, h = check_box(box, grey.shape)
        estimator = self._new_estimator()
        self._field = Field((w, h), (grey.shape[0], grey.shape[1]))
        self._random = generator(self.random_state)
        self._prior = MotionPrior.of(self.spread)
        self._set_state(np.array([x + 0.5 * w, y + 0.5 * h, 1.0, 0.0]))
        self._seen = self.state_  # where the object was seen last
        self._first = self._patches(grey, self.state_[None])
        warn_if_blank(self._first, self.normalize)
        self._last = self._first[0]  # the last patch in which the object was seen
        self._waiting = []
        self._residuals: list[float] = []  # of frames in which the object was seen, since the model first learned
        self.estimator_ = estimator
        self._learn(self._first)
        self._start_memory()
        self.residual_, self.n_frames_, self.n_lost_ = 0.0, 1, 0
        self.lost_, self.p_value_ = False, 1.0
        return self

    @all_or_nothing
    def update(self, frame: Any) -> TrackedBox:
        """Find the object in the next frame and return its box.

        A call that raises an error leaves the tracker as it was.

        Parameters
        ----------
        frame : array-like of shape (height, width) or (height, width, 1, 3 or 4)
            The next frame, as large as the first one.

        Returns
        -------
        TrackedBox
            The box x, y, w, h, an array of four numbers. Its attribute `lost` tells whether the object was not seen in
            this frame; the box is then a guess, and the model did not learn from it.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `start` was not called before.
        ValueError
            If the frame has another size than the first one, or contains NaN or infinity.
        """
        self._check_fitted()
        grey = as_grey(frame)
        check_same_size(grey.shape, self._field.shape)
        with one_blas_thread():  # the same sums, and so the same boxes, whatever the number of threads
            self._follow(grey)
        return TrackedBox.of(self.box_, self.lost_, self.p_value_)

    def track(self, frames: Iterable[Any], box: npt.ArrayLike) -> Array:
        """Start in the first frame, follow the object through all others, and return its boxes.

        Parameters
        ----------
        frames : iterable of array-like
            The frames, each of shape (height, width) or (height, width, 1, 3 or 4). They are read one at a time.
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
        self._check_fitted()
        return corners(self.state_, self._field.size)

    def _new_estimator(self) -> Any:
        if self.estimator is not None:
            return own_copy(self.estimator)
        return default_model(self.update_every + self.keep_first)

    def _set_state(self, state: Array) -> None:
        w, h = (state[2] * side for side in self._field.size)
        self.state_ = state
        self.box_ = np.array([state[0] - 0.5 * w, state[1] - 0.5 * h, w, h])

    def _follow(self, grey: Array) -> None:
        """Find the object in a frame, and learn from it where it is seen."""
        searching = self.lost_
        found, self.p_value_, self.lost_ = self._search(grey)
        self.n_frames_ += 1
        back = None if self.lost_ else self._way_back(grey, found)
        if back is not None:
            found, self.p_value_ = back, self._p_value(back)
        step = self._field.steps(self.state_, found.state[None])[0]
        self._set_state(found.state)
        self.residual_ = found.residual
        self.n_lost_ = self.n_lost_ + 1 if self.lost_ else 0
        self._seen = self._seen if self.lost_ else found.state
        if back is not None:  # what was seen lately was not the object
            self._last, self._waiting, self._later = found.patch, [], []
        elif not (self.lost_ or searching):  # in the frame in which it is found again, the box is not exact yet
            self._accept(found, step)

    def _accept(self, found: Found, step: Array) -> None:
        """Learn from a frame in which the object was seen."""
        self._prior, self._last = self._prior.after(step), found.patch
        if self.n_frames_ > self.update_every + 1:
            self._residuals = [*self._residuals, found.residual][-RECENT:]
        self._waiting = [*self._waiting, found.patch]
        if len(self._waiting) == self.update_every:
            rows = np.array([*self._first, *self._waiting] if self.keep_first else self._waiting)
            self._remember(rows)
            self._learn(rows)
            self._waiting = []

    def _learn(self, patches: Array) -> None:
        self.estimator_.partial_fit(patches)
        self._view = view_of(self.estimator_)
