"""`OnlineRobustKernelPCA`: kernel PCA of a stream with outliers in it."""

import warnings
from dataclasses import asdict, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from mercer.arrays import Array, Points, n_rows, stack_rows
from mercer.engine.psi import PSI_NAMES
from mercer.estimators.advice import user_level
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_landmarks,
    check_rows,
    generator,
    validated,
)
from mercer.expansion.model import Expansion
from mercer.kernels.functions import Kernel
from mercer.kernels.landmark_map import LandmarkMap, require_rows, require_span
from mercer.kernels.landmarks import SELECTIONS, select_landmarks
from mercer.preimage.methods import Anchors, feature_residual, find_preimages
from mercer.solvers.robust.online import FEATURE_MAPS, UPDATES, OnlineOptions, OnlineState, given_start
from mercer.solvers.robust.online_run import EmpiricalMap, OnlineRun, Space, start_run

_MOST_COMPONENTS = 10
_LANDMARKS = 256
_GROWTH = 1.25  # of the rows of an unfinished warm-up, after which they are looked at together again
_WARM_ROWS_EACH = 3  # rows of the warm-up for each component, at least


class OnlineRobustKernelPCA(KernelDecomposition):
    """Kernel PCA of a stream in which some rows are outliers, learned one row at a time [huang2011].

    Each row gets a weight psi'(z) that falls with its distance from the components so far, and moves mean and
    components by as much. The first rows, up to `warm_up`, are learned together by the robust start of
    `RobustKernelPCA`, so that outliers among them do not hide; then every row is read once. Memory does not grow.

    Parameters
    ----------
    n_components : int or None
        r. None: 10, or what the landmarks allow if that is less.
    kernel, gamma, degree, coef0, kernel_params : as in `KernelPCA`
    psi : {"logistic", "exp", "huber", "tukey", "none"}
        The loss, as in `RobustKernelPCA`; "none" gives all rows the weight one.
    beta, xi : float or "auto"
        Its parameters, in units of z, half a squared distance. "auto" follows the last 100 residuals; with `init` the
        first 20 rows have the weight one. The values in use are `beta_` and `xi_`.
    update : {"svd", "ccipca", "hebbian"}
        "svd" carries the 2 r leading directions of the weighted covariance and merges `block_size` rows at a time,
        weighed by the model before them. "ccipca" moves each component by the weighted rule of candid covariance-free
        PCA, row by row. "hebbian" is Algorithm 1 of the paper.
    feature_map : {"whitened", "empirical"}
        "whitened" works in feature space, projected on the landmarks, and adds to z what they miss of a row.
        "empirical" works with the vectors h = k(landmarks, x) and their own metric, as the paper does.
    landmarks : int, array or None
        The points that span the components; an int chooses so many, in `partial_fit` from the first rows. None:
        256, or all rows where there are fewer.
    selection : {"auto", "kmeans", "rpcholesky", "uniform", "ald", "greedy_kpca"}
        How landmarks are chosen.
    init : (mu, Gamma) or None
        Mean, (m,), and components, (m, r), at the start: vectors like h with feature_map="empirical", coefficients on
        the landmarks with "whitened". No warm-up then, and t counts from 1. With "svd" and "ccipca" they only weigh the
        first rows.
    safeguard : bool
        Of "hebbian": z is a true distance, never negative, and gains suit the scale of the data and are bounded. False
        is the paper to the letter: gain 1/t, transform(x) = Gamma^T (h - mu), neither sorted nor orthonormal; it
        diverges where kernel values are large, which is noticed: a warning comes and the last good state stays.
    block_size : int
        Rows computed together. Only for "svd" the result depends on it.
    warm_up : int
        Rows of the robust start; 3 r if that is more, and as many as landmarks are chosen from.
    preimage, alpha, random_state, n_jobs, verbose : as in `KernelPCA`

    Attributes
    ----------
    expansion_ : Expansion
        The model so far. Its `eigenvalues_` are those of the weighted covariance times the number of rows.
    n_components_ : int
        How many components there are: at most as many as were asked for, and as the rows allow.
    weights_ : ndarray
        The weights of the rows of the last call.
    beta_, xi_, gamma_ : float
    n_samples_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OnlineRobustKernelPCA
    >>> X = np.random.default_rng(0).normal(size=(500, 5)) * [3, 2, 1, 1, 1]
    >>> X[::20] += 30
    >>> model = OnlineRobustKernelPCA(2, kernel="linear", landmarks=50)
    >>> for rows in np.split(X, 5):
    ...     _ = model.partial_fit(rows)
    >>> bool(model.weights_[::20].max() < 0.01)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "psi": [StrOptions(set(PSI_NAMES))],
        "beta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "xi": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "update": [StrOptions(set(UPDATES))],
        "feature_map": [StrOptions(set(FEATURE_MAPS))],
        "landmarks": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "selection": [StrOptions(set(SELECTIONS))],
        "init": [tuple, list, None],
        "safeguard": ["boolean"],
        "block_size": [Interval(Integral, 1, None, closed="left")],
        "warm_up": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }
    _fitted_attributes = (*KernelDecomposition._fitted_attributes, "weights_", "beta_", "xi_")

    _run: OnlineRun | None = None  # during the warm-up a preliminary one
    _pending: Points | None = None  # rows of the warm-up, until it is over
    _started: int = 0  # rows of the warm-up from which the preliminary run started
    _kernel: Kernel

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        psi: str = "logistic",
        beta: float | str = "auto",
        xi: float | str = "auto",
        update: str = "svd",
        feature_map: str = "whitened",
        landmarks: Any = None,
        selection: str = "auto",
        init: Any = None,
        safeguard: bool = True,
        block_size: int = 32,
        warm_up: int = 60,
        preimage: str = "auto",
        alpha: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.psi = psi
        self.beta = beta
        self.xi = xi
        self.update = update
        self.feature_map = feature_map
        self.landmarks = landmarks
        self.selection = selection
        self.init = init
        self.safeguard = safeguard
        self.block_size = block_size
        self.warm_up = warm_up
        self.preimage = preimage
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- learning ------------------------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and read the rows of X once, in order; landmarks are chosen among all of them."""
        X = check_rows(self, X, reset=True)
        self._run, self._pending, self._started = None, None, 0
        self._kernel = self._row_kernel(X)
        self._go_on(X, self._space(self._kernel, X))
        return self

    @all_or_nothing
    @validated
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Read the rows of X once, in order, going on from where the model stands.

        Until there are rows enough for landmarks and warm-up, the model is preliminary: the robust start of the rows so
        far, repeated each time that they have grown by a quarter, with fewer components where there are fewer rows.
        From then on it does not matter how the stream was cut into calls.
        """
        first = not hasattr(self, "expansion_")
        X = check_rows(self, X, reset=first)
        self._go_on(X, None)
        return self

    def _row_kernel(self, X: Points) -> Kernel:
        kernel = self._make_kernel(X)
        require_rows(kernel)
        return kernel

    def _go_on(self, X: Points, space: Space | None) -> None:
        """Learn rows; `space` is known where the landmarks were chosen before the warm-up."""
        count, learned = n_rows(X), True
        weights: Array = np.zeros(0)
        run = self._run
        if run is None or self._pending is not None:
            rows = X if self._pending is None else stack_rows(self._pending, X)
            needed = self._needed(space is not None)
            if n_rows(rows) >= needed:
                run, weights = self._open(rows[:needed], rows, space)
                self._pending, X = None, rows[len(weights) :]
            else:
                self._pending = rows = X.copy() if self._pending is None else rows
                if run is None or n_rows(rows) >= _GROWTH * self._started:
                    run, weights = self._wait(rows, space)
                    self._started, X = n_rows(rows), X[:0]
        if n_rows(X):
            run = run.copy()
            more, learned = run.learn(X, self._channel())
            weights = np.concatenate([weights, more])
        self._run = run
        self._freeze(run)
        self.weights_ = weights[-count:]
        if not learned:
            self._warn_diverged()

    def _needed(self, chosen: bool) -> int:
        """Return how many rows are looked at together before learning starts."""
        warm = 0 if self.init is not None else max(self.warm_up, _WARM_ROWS_EACH * self._most)
        given = self.landmarks is not None and not isinstance(self.landmarks, Integral)
        if chosen or given:
            return warm
        return max(warm, _LANDMARKS if self.landmarks is None else int(self.landmarks))

    @property
    def _most(self) -> int:
        return _MOST_COMPONENTS if self.n_components is None else int(self.n_components)

    def _wait(self, rows: Points, space: Space | None) -> tuple[OnlineRun, Array]:
        """Return a run that stands for the rows of the warm-up so far, and their weights."""
        if space is None:
            self._kernel = self._row_kernel(rows)
            space = self._space(self._kernel, rows)
        return start_run(space, rows, self._options(space.rank))

    def _open(self, first: Points, rows: Points, space: Space | None) -> tuple[OnlineRun, Array]:
        """Return the run after the warm-up, and the weights of its rows; with `init` there is none."""
        if space is None:
            seen = first if n_rows(first) else rows
            self._kernel = self._row_kernel(seen)
            space = self._space(self._kernel, seen)
        if self.init is None:
            return start_run(space, first, self._options(space.rank))
        mean, V = self._given(space)
        options = self._options(len(V))
        return OnlineRun(space, given_start(mean, V, options), options), np.zeros(0)

    def _options(self, most: int) -> OnlineOptions:
        r = min(self._most, most) if self.init is None else most
        beta = self.beta if isinstance(self.beta, str) else float(self.beta)
        xi = self.xi if isinstance(self.xi, str) else float(self.xi)
        return OnlineOptions(r, self.update, self.psi, beta, xi, bool(self.safeguard), int(self.block_size))

    def _space(self, kernel: Kernel, X: Points) -> Space:
        points = self._points(kernel, X).astype(np.float64, copy=False)  # float32 points would lose digits
        if self.feature_map == "empirical":
            return EmpiricalMap(kernel, points)
        return require_span(LandmarkMap.of(kernel, points))

    def _points(self, kernel: Kernel, X: Points) -> Points:
        if self.landmarks is None and n_rows(X) <= _LANDMARKS:
            return X.astype(np.float64)
        if self.landmarks is None or isinstance(self.landmarks, Integral):
            count = _LANDMARKS if self.landmarks is None else int(self.landmarks)
            return select_landmarks(kernel, X, count, self.selection, generator(self.random_state))
        return check_landmarks(self.landmarks, X.shape[1])

    def _given(self, space: Space) -> tuple[Array, Array]:
        """Return `init` in the coordinates of the space: mean (q,) and components (r, q)."""
        m, r = n_rows(space.points), self.n_components
        shapes = [np.shape(part) for part in self.init]
        good = len(shapes) == 2 and shapes[0] == (m,) and len(shapes[1]) == 2 and shapes[1][0] == m
        if not good or r not in (None, shapes[1][1]):
            raise ValueError(
                f"init must be (mu, Gamma) of shapes ({m},) and ({m}, {'n_components' if r is None else r}) for "
                f"{m} landmarks; {', '.join(map(str, shapes))} came."
            )
        mean = check_array(self.init[0], dtype=np.float64, ensure_2d=False, input_name="init")
        V = check_array(self.init[1], dtype=np.float64, input_name="init").T
        if isinstance(space, LandmarkMap):
            own = space.features(space.points)
            return np.asarray(mean @ own), np.asarray(V @ own)
        return mean, V

    def _freeze(self, run: OnlineRun) -> None:
        self.expansion_ = run.expansion()
        self.beta_, self.xi_ = run.state.beta, run.state.xi

    def _warn_diverged(self) -> None:
        advice = "Use safeguard=True" if self.update == "hebbian" and not self.safeguard else "Rescale the data"
        warnings.warn(
            "Learning diverged: numbers left their range. The last good state is kept, and the rows from there on were "
            f"not learned (weight 0). {advice}, or update='svd'.",
            ConvergenceWarning,
            stacklevel=user_level(),
        )

    # -- pre-images ----------------------------------------------------------------------------------------------

    def _in_feature_space(self, scores: Array) -> tuple[Expansion, Array]:
        """Return model and scores in the metric of feature space, where pre-images are looked for.

        Scores of an empirical model stand for g = mu + Gamma (Gamma^T Gamma)^+ y, a vector like h. The shortest element
        of feature space with these inner products with the landmarks has the coefficients K_mm^+ g.
        """
        model = self.expansion_
        if not model.empirical:
            return model, scores
        root = LandmarkMap.of(model.kernel, model.points).root
        W, mean = model.coef @ root, np.zeros(root.shape[1]) if model.nu is None else model.nu @ root
        mapped = replace(
            model,
            coef=W @ root.T,
            offset=W @ mean,
            gram=W @ W.T,
            nu=root @ mean,
            mean_norm=float(mean @ mean),
            empirical=False,
        )
        return mapped, np.asarray(scores @ model.gram_inverse @ mapped.gram)

    def _find_preimages(self, scores: Array) -> Array:
        model, mapped = self._in_feature_space(scores)
        options = {"alpha": self.alpha} if self.preimage == "ridge" else {}
        anchors = Anchors(model.points, model.project(model.points))
        return find_preimages(self.preimage, model, mapped, anchors, **options).astype(scores.dtype, copy=False)

    def _preimage_residual(self, scores: Array, found: Array) -> Array:
        if self.expansion_.empirical:
            return feature_residual(*self._in_feature_space(scores), found)
        return super()._preimage_residual(scores, found)

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        run = self._run
        learning = {
            "state": None if run is None else asdict(run.state),
            "root": None if run is None or isinstance(run.space, EmpiricalMap) else run.space.root,
            "r": 0 if run is None else run.options.r,
            "pending": self._pending,
            "started": self._started,
        }
        return {**super()._saved_state(), "learning": learning}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        learning, model = state["learning"], self.expansion_
        self._pending, self._started, self._kernel = learning["pending"], learning["started"], model.kernel
        if learning["state"] is not None:
            empirical = self.feature_map == "empirical"
            space: Space = (
                EmpiricalMap(model.kernel, model.points)
                if empirical
                else LandmarkMap(model.kernel, model.points, learning["root"])
            )
            options = replace(self._options(1), r=learning["r"])
            values: Any = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in learning["state"].items()}
            self._run = OnlineRun(space, OnlineState(**values), options)  # copies: what is read need not be writable
