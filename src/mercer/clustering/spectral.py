"""`KernelSpectralClustering`: clusters of any shape, and labels for new rows."""

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
from mercer.errors import warn_user
from mercer.estimators.kernel_parameters import KernelParameters
from mercer.estimators.learning_warnings import check_memory, slow_fit, slow_pairs
from mercer.estimators.model_files import ModelFiles
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    Interval,
    StrOptions,
    check_rows,
    check_square,
    generator,
    validated,
)
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.solvers.exact.eigen import EigenOptions
from mercer.solvers.hebbian.gain_choice import GAINS

_PASSES, _PASS_TOL = 30, 1e-3
_MANY_STEPS = 50  # KernelPCA usually takes about 10
_TOO_NARROW = "Its eigenvalues hardly differ, as those of too narrow a kernel: try gamma='median', or a larger tol."
_ASYMMETRY = 1e-6  # of the largest affinity: less is rounding, also that of float32
_BLOCK = 256  # rows of a precomputed matrix that are looked at together
_EIGEN_TOL = 1e-6  # of residuals: labels do not change any more


class KernelSpectralClustering(KernelParameters, ModelFiles, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Spectral clustering that labels new rows too, in bounded memory.

    Rows become coordinates on the leading eigenvectors of the kernel matrix, which is scaled by the degrees and not
    centred. Each row of coordinates is scaled to unit length, and k-means finds the clusters ([ng2002]_; sec. 5.3 of
    [guenter2006]_). New rows get their coordinates by extending the eigenvectors (the Nyström method), and the label of
    the nearest cluster; scikit-learn's `SpectralClustering` has no `predict`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most the number of rows. 1 puts all rows together.
    n_components : int or None, default=None
        Number of eigenvectors that are used. None: as many as clusters.
    kernel : str, callable or kernel object, default="rbf"
        The kernel. Names are "linear", "poly" (or "polynomial"), "rbf" (Gaussian), "sigmoid", "cosine", "laplacian",
        "chi2", "wavelet" and "precomputed". With "precomputed", `fit` takes the square matrix of affinities between all
        training rows, and `predict` takes those of new rows with all training rows. A callable takes two rows and
        returns a number, or takes two matrices and returns the matrix of their kernel values. Kernel objects are in
        `mercer.kernels`.
    gamma : float, "median" or None, default=None
        Coefficient of the kernels "rbf", "poly", "sigmoid", "laplacian" and "chi2"; other kernels ignore it. None: 1 /
        n_features. "median": 1 / (2 m^2), where m is the median distance between rows (of at most 1000 random rows).
        For "laplacian" and "chi2" it is 1 / (2 m), where m is the median of the distance in their exponent.
        The value in use is `gamma_`.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid"; other kernels ignore it.
    kernel_params : dict or None, default=None
        Further parameters of a callable kernel or of "wavelet", passed to it by keyword.
    eigen_solver : {"krylov", "dense", "arpack", "hebbian"}, default="krylov"
        How eigenvectors are computed. "krylov" multiplies by the kernel matrix in tiles and never holds it whole.
        "dense" is LAPACK on the whole matrix. "arpack" is the Lanczos method of ARPACK. "hebbian" learns the
        eigenvectors in passes over the rows, as [guenter2006]_ does, and holds the matrix: 8 n^2 bytes must fit the
        memory budget. Where the eigenvalue after the last one wanted is nearly as large, "hebbian" needs many passes to
        separate the two; "krylov" does not.
    gain : {"smd", "et", "t", "constant"}, default="smd"
        The gain rule of "hebbian"; `HebbianKernelPCA` explains the rules.
    eta0 : float or "auto", default="auto"
        The gain of "hebbian" at the start. "auto" fits it to the data.
    max_iter : int or None, default=None
        Largest number of passes of "hebbian" (None: 30) or of steps of another solver (None: 200 for "krylov").
    tol : float or None, default=None
        "hebbian" stops when a pass changes the components by no more than this (None: 1e-3; 0: never stop early). For
        "krylov" it is the largest residual of an eigenvector (None: 1e-6).
    n_init : int, default=10
        Number of starts of k-means, of which the best is kept.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for the start of the eigensolver and of k-means. Pass an int to get the same result in each
        call.
    n_jobs : int or None, default=None
        Number of threads. None and -1: as many as BLAS uses; -2: one fewer, and so on.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row, from 0 to n_clusters - 1.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, each row of unit length.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Mean of the coordinates of each cluster.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the scaled kernel matrix, descending; at most 1.
    expansion_ : Expansion
        The eigenvectors as functions of a row.
    solver_ : str
        The eigensolver that ran.
    n_iter_ : int
        Number of passes or steps that it took.
    history_ : dict of ndarray
        What "hebbian" recorded, one value per pass; empty for other solvers.
    gamma_ : float
        The value of `gamma` in use.
    n_features_in_ : int
        Number of features of the rows in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Present only where the rows were given as a table whose column names are all strings.

    See Also
    --------
    KernelPCA : Exact kernel PCA of rows in memory.
    mercer.metrics.variation_of_information : How far two clusterings are apart.

    References
    ----------
    .. [ng2002] A. Y. Ng, M. I. Jordan and Y. Weiss, On spectral clustering: analysis and an algorithm, Advances in
       Neural Information Processing Systems 14, 2002.
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.

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
        verbose: bool | int = False,
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
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR. With kernel="precomputed": the affinities between all training rows, a square
            matrix.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        KernelSpectralClustering
            The model itself, fitted.

        Raises
        ------
        ValueError
            If there are fewer rows than clusters, if X contains NaN or infinity, if a precomputed matrix is not square,
            or if the matrix that "hebbian" holds exceeds the memory budget.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If "hebbian" diverged, or if "krylov" did not reach `tol`.
        SlowFitWarning
            Before the work, if 200,000 rows or more are compared with each other. After it, if "krylov" took many
            steps.
        UserWarning
            If a precomputed matrix is not symmetric: its mean with its transpose is used. If more rows than there are
            clusters are far from all others, so that their labels are arbitrary: the kernel is too narrow.
        """
        X = check_rows(self, X, reset=True, copy=not self._precomputed)
        if self._precomputed:
            X = _symmetric(check_square(X))
        self._check_count(n_rows(X))
        slow_pairs(n_rows(X), "Fit a random sample of some 10,000 rows, and label all rows with predict.")
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

        A row so far from all training rows that every kernel value is zero gets the label of the nearest training row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows, with the features of the training rows. With kernel="precomputed": their affinities with all
            training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of each row, from 0 to n_clusters - 1.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X has another number of features than the training rows, or contains NaN or infinity.
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
        """Eigenvalues of the scaled kernel matrix, descending; an array of shape (n_components,)."""
        return self.expansion_.eigenvalues

    # -- how coordinates are found -------------------------------------------------------------------------------

    def _embed(self, kernel: Kernel, X: Points, rng: np.random.RandomState) -> Embedding:
        r = min(self.n_components or self.n_clusters, n_rows(X))
        channel = self._channel()
        hebbian = self.eigen_solver == "hebbian"
        affinity = make_affinity(kernel, X, self.n_jobs, hold=not hebbian)
        self._warn_of_loneliness(int(np.count_nonzero(affinity.alone)), n_rows(X))
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
            warn_user(
                f"Learning diverges even with tiny gains (eta0={self.eta0!r}); the components before that are kept. "
                "Use eta0='auto', or eigen_solver='krylov', which is exact.",
                ConvergenceWarning,
            )

    def _warn_of_loneliness(self, alone: int, n: int) -> None:
        if alone > self.n_clusters > 1:
            narrow = self.kernel in ("rbf", "laplacian", "chi2")
            advice = " The kernel is too narrow: try gamma='median', or a smaller number." if narrow else ""
            warn_user(
                f"{alone} of the {n} rows are far from all others: their kernel values with them are nearly 0. Each of "
                f"these rows is a cluster of its own, and with n_clusters={self.n_clusters} their labels are "
                f"arbitrary.{advice}"
            )

    def _check_count(self, n: int) -> None:
        if n < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} needs at least as many rows; n_samples={n}. Ask for fewer clusters."
            )
        if self.eigen_solver == "hebbian" and not self._precomputed:
            advice = "Use 'krylov', which holds less or none of it"
            check_memory("eigen_solver='hebbian'", n, held_bytes(n), advice)


def _symmetric(affinities: Array) -> Array:
    """Return a symmetric matrix of affinities: as it is, or its mean with its transpose, as scikit-learn does."""
    blocks = [slice(first, first + _BLOCK) for first in range(0, len(affinities), _BLOCK)]
    apart = max(float(np.abs(affinities[rows] - affinities[:, rows].T).max()) for rows in blocks)
    if not apart > _ASYMMETRY * max(float(np.abs(affinities[rows]).max()) for rows in blocks):
        return affinities
    warn_user(
        f"The precomputed affinities are not symmetric: some differ by {apart:.3g} from those of the transpose. "
        "The mean of both is used."
    )
    return np.asarray(0.5 * affinities + 0.5 * affinities.T)
