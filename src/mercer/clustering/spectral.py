"""`KernelSpectralClustering`: clusters of any shape, and labels for rows that come later."""

import os
import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, IntArray, Points, n_rows
from mercer.clustering.embedding import (
    Embedding,
    HebbianEmbedding,
    PassSettings,
    held_bytes,
    make_affinity,
    solve_embedding,
    unit_rows,
)
from mercer.estimators.advice import slow_fit, user_level
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    Interval,
    StrOptions,
    check_rows,
    check_square,
    generator,
    validated,
)
from mercer.events import Channel, Observer
from mercer.expansion.model import Expansion
from mercer.io import persist
from mercer.kernels.functions import Kernel, Precomputed
from mercer.kernels.resolve import KernelSpec, resolve_gamma, resolve_kernel
from mercer.kernels.tiles import memory_budget
from mercer.progress import observers as progress_observers
from mercer.solvers.exact.eigen import EigenOptions
from mercer.solvers.hebbian.gain_choice import GAINS

_PASSES, _PASS_TOL = 30, 1e-3
_MANY_STEPS = 50  # KernelPCA usually takes about 10
_TOO_NARROW = "Its eigenvalues hardly differ, as those of too narrow a kernel: try gamma='median', or a larger tol."
_EIGEN_TOL = 1e-6  # of residuals: labels do not change any more


class KernelSpectralClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Spectral clustering that labels new rows too, in bounded memory [Ng, Jordan, Weiss 2002; guenter2006, sec. 5.3].

    Rows become coordinates on the leading eigenvectors of the kernel matrix, scaled by the degrees and not centred;
    each is scaled to unit length, and k-means finds the clusters. New rows get their coordinates by extending the
    eigenvectors (Nystroem), and the label of the nearest cluster; scikit-learn's `SpectralClustering` has no `predict`.

    Parameters
    ----------
    n_clusters : int
        At most the number of rows; one puts all rows together, as scikit-learn expects.
    n_components : int or None
        Eigenvectors that are used. None: as many as clusters.
    kernel, gamma, degree, coef0, kernel_params : as in `KernelPCA`
        "precomputed": `fit` takes the affinities between all rows, `predict` those of new rows with all training rows.
    eigen_solver : {"krylov", "dense", "arpack", "hebbian"}
        "krylov" multiplies by the kernel matrix in tiles and never forms it whole. "hebbian" learns the eigenvectors in
        passes over the rows, as the paper does, and holds the matrix: 8 n^2 bytes must fit the memory budget. Where the
        eigenvalue after the last one wanted is nearly as large, passes part the two slowly; "krylov" does not mind.
    gain : {"smd", "et", "t", "constant"}
        The gain rule of "hebbian"; see `HebbianKernelPCA`.
    eta0 : float or "auto"
        The gain itself.
    max_iter : int or None
        Most passes of "hebbian" (None: 30) or steps of another solver (None: 200).
    tol : float or None
        "hebbian" stops when a pass changes the components by no more (None: 1e-3; 0: never); for "krylov" it is the
        largest residual of an eigenvector (None: 1e-6).
    n_init : int
        Starts of k-means, of which the best counts.
    random_state, n_jobs, verbose : as in `KernelPCA`

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates, rows of unit length.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Means of the clusters' coordinates.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the scaled kernel matrix, descending; at most one.
    expansion_ : Expansion
        The eigenvectors as functions of a row.
    solver_, n_iter_, gamma_ : str, int, float
    history_ : dict of arrays, one value a pass
        What "hebbian" recorded; empty for other solvers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from mercer import KernelSpectralClustering
    >>> X, ring = make_circles(300, factor=0.3, noise=0.05, random_state=0)
    >>> model = KernelSpectralClustering(2, gamma=20, random_state=0).fit(X)
    >>> bool(np.all(model.labels_ == ring) or np.all(model.labels_ != ring))
    True
    >>> model.predict([[0.0, 0.3], [0.0, -0.3]]).tolist() == [model.labels_[ring == 1][0]] * 2
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "eigen_solver": [StrOptions({"krylov", "dense", "arpack", "hebbian"})],
        "gain": [StrOptions(set(GAINS))],
        "eta0": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }
    _fitted_attributes = (
        *("expansion_", "gamma_", "n_features_in_", "feature_names_in_", "labels_", "embedding_"),
        *("cluster_centers_", "solver_", "n_iter_", "history_"),
    )
    expansion_: Expansion
    observers: tuple[Observer, ...] = ()

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        eigen_solver: str = "krylov",
        gain: str = "smd",
        eta0: float | str = "auto",
        max_iter: int | None = None,
        tol: float | None = None,
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.eigen_solver = eigen_solver
        self.gain = gain
        self.eta0 = eta0
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the rows of X, dense or CSR."""
        X = check_rows(self, X, reset=True, copy=not self._precomputed)
        if self._precomputed:
            X = check_square(X)
        self._check_count(n_rows(X))
        rng = generator(self.random_state)
        starts = int(rng.randint(2**31 - 1))  # before all else, so that k-means does not depend on the passes made
        found = self._embed(self._make_kernel(X), X, rng)
        self.expansion_, self.embedding_ = found.expansion, found.coordinates
        self.solver_, self.n_iter_ = found.solver, found.n_iter
        if self.solver_ == "krylov" and self.max_iter is None and self.n_iter_ >= _MANY_STEPS:
            slow_fit(f"The eigensolver took {self.n_iter_} steps with", n_rows(X), _TOO_NARROW)
        means = KMeans(self.n_clusters, n_init=self.n_init, random_state=starts).fit(self.embedding_)
        self.cluster_centers_: Array = means.cluster_centers_
        self.labels_: IntArray = pairwise_distances_argmin(self.embedding_, self.cluster_centers_)
        return self

    if TYPE_CHECKING:  # scikit-learn's has no types

        def fit_predict(self, X: Any, y: Any = None, **params: Any) -> IntArray:
            """Fit the model and return the clusters of the training rows."""

    def predict(self, X: Any) -> IntArray:
        """Return the cluster of every row of X, by extending the eigenvectors to it.

        A row so far from all training rows that every kernel value is zero gets the label of the nearest of them.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        coordinates = unit_rows(self.expansion_.project(X))
        labels: IntArray = pairwise_distances_argmin(coordinates, self.cluster_centers_)
        lost = ~coordinates.any(axis=1)
        if lost.any() and not self._precomputed:
            labels[lost] = self.labels_[pairwise_distances_argmin(X[lost], self.expansion_.points)]
        return labels

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the scaled kernel matrix, descending."""
        return self.expansion_.eigenvalues

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, atomically; `mercer.load(path)` reads it back. No code is stored."""
        check_is_fitted(self)
        persist.save(self, path)

    # -- how coordinates are found -------------------------------------------------------------------------------

    def _embed(self, kernel: Kernel, X: Points, rng: np.random.RandomState) -> Embedding:
        r = min(self.n_components or self.n_clusters, n_rows(X))
        channel = Channel((*self.observers, *progress_observers(self.verbose)))
        hebbian = self.eigen_solver == "hebbian"
        affinity = make_affinity(kernel, X, self.n_jobs, hold=not hebbian)
        if hebbian:
            settings = PassSettings(self.gain, self.eta0, _PASS_TOL if self.tol is None else float(self.tol))
            passes = HebbianEmbedding(affinity, r, settings, rng).run(self.max_iter or _PASSES, channel)
            self.history_ = passes.history
            self._warn_of_divergence(passes.diverged)
            return passes.embedding()
        self.history_ = {}
        tol = _EIGEN_TOL if self.tol is None else float(self.tol)
        return solve_embedding(affinity, r, EigenOptions(self.eigen_solver, tol, self.max_iter, rng=rng), channel)

    def _warn_of_divergence(self, diverged: bool) -> None:
        if diverged:
            warnings.warn(
                f"Learning diverges even with tiny gains (eta0={self.eta0!r}); the components before that are kept. "
                "Use eta0='auto', or eigen_solver='krylov', which is exact.",
                ConvergenceWarning,
                stacklevel=user_level(),
            )

    def _check_count(self, n: int) -> None:
        if n < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} needs at least as many rows; n_samples={n}. Ask for fewer clusters."
            )
        if self.eigen_solver == "hebbian" and held_bytes(n) > memory_budget() and not self._precomputed:
            raise ValueError(
                f"eigen_solver='hebbian' holds the kernel matrix of {n} rows, {held_bytes(n) / 2**30:.1f} GiB; the "
                f"budget is {memory_budget() / 2**30:.2f} GiB. Use 'krylov', which holds less or none of it, or raise "
                "the budget with sklearn.set_config(working_memory=...)."
            )

    def _make_kernel(self, X: Points) -> Kernel:
        self.gamma_ = resolve_gamma(self.gamma, X)
        return resolve_kernel(
            KernelSpec(self.kernel, self.gamma_, self.degree, self.coef0, self.kernel_params or {}), X
        )

    @property
    def _precomputed(self) -> bool:
        return self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)

    # -- files and tags ------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fitted_attributes if hasattr(self, name)}

    def _restore_state(self, state: dict[str, Any]) -> None:
        for name in self._fitted_attributes:
            if name in state:
                setattr(self, name, state[name])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "chi2"
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.positive_only = self.kernel == "chi2"
        return tags
