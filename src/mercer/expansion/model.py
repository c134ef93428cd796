"""The form in which every fitted model is stored: components as linear combinations of mapped points.

Component k is u_k = sum_i coef[k, i] phi(points[i]), the mean is sum_i nu[i] phi(points[i]), and

    project(x) = coef @ k(points, x) - offset        with offset = coef @ K @ nu.

Everything after a fit (projection, residual, pre-image, distance between models, file) is written for this form.

A model in the empirical kernel map, `empirical=True`, measures lengths there: with h = k(points, x), rows of coef are
vectors like h, nu is the mean of h, gram = coef coef^T, and |h - nu|^2 replaces k'(x, x).
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from mercer.arrays import Array, Points, check_kernel_values, is_sparse, n_rows
from mercer.kernels.base import Kernel
from mercer.kernels.threads import available_threads, rows_times
from mercer.kernels.tiles import PointBlocks
from mercer.kernels.user_given import Precomputed

_HALF_UNIT32 = float(np.finfo(np.float32).eps) / 2.0  # largest relative error of one rounding in float32
_SCORE_ERROR = 1e-6  # of scores, relative to the root mean square distance from the mean
_ROWS = "these rows"
_SMALL = 1e-12  # relative size below which a direction of the metric counts as absent


@dataclass(frozen=True, eq=False)
class Expansion:
    """A linear subspace of feature space with its mean, expressed by stored points.

    Every fitted estimator has one as `expansion_`. Component k is u_k = sum_i coef[k, i] phi(points[i]), and the mean
    is sum_i nu[i] phi(points[i]).

    Parameters
    ----------
    points : ndarray or sparse matrix of shape (n_points, n_features)
        The stored points; for a precomputed kernel the column numbers, (n_points,).
    coef : ndarray of shape (n_components, n_points)
        The coefficients of the components on the points.
    offset : ndarray of shape (n_components,)
        The inner products of the components with the mean.
    eigenvalues : ndarray of shape (n_components,)
        The eigenvalue of each component: its sum of squared scores over the training rows.
    kernel : Kernel
        The kernel.
    n_seen : int
        The number of rows that the model was fitted on.
    gram : ndarray of shape (n_components, n_components)
        The inner products of the components: the identity where they are orthonormal.
    nu : ndarray of shape (n_points,) or None, default=None
        The coefficients of the mean on the points. None: the model is not centred.
    mean_norm : float, default=0.0
        The squared norm of the mean.
    trace : float or None, default=None
        The total variation of the training rows, where it is known.
    empirical : bool, default=False
        Whether lengths are those of the vectors h = k(points, x) instead of those in feature space. Then `nu` is the
        mean of h.

    Attributes
    ----------
    n_components : int
        The number of components.
    n_points : int
        The number of stored points.
    gram_inverse : ndarray of shape (n_components, n_components)
        The pseudo-inverse of `gram`.

    See Also
    --------
    KernelPCA : Exact kernel PCA of rows in memory.
    mercer.metrics.subspace_distance : How far two models are apart.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> expansion = mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X).expansion_
    >>> expansion
    Expansion(2 components on 50 points, kernel=RBF(gamma=0.1), n_seen=50)
    >>> expansion.project(X).shape, expansion.residual(X).shape
    ((50, 2), (50,))
    """

    points: Points  # (m, d) dense or CSR; (m,) column numbers for a precomputed kernel
    coef: Array  # (r, m)
    offset: Array  # (r,)
    eigenvalues: Array  # (r,)
    kernel: Kernel
    n_seen: int
    gram: Array  # (r, r), coef K coef^T: the identity where components are orthonormal
    nu: Array | None = None  # (m,), coefficients of the mean; None: not centred
    mean_norm: float = 0.0  # nu^T K nu
    trace: float | None = None  # total variation of what was seen
    empirical: bool = False  # metric of vectors h = k(points, x), not of feature space: nu is then the mean of h

    def __repr__(self) -> str:
        shape = f"{self.n_components} components on {self.n_points} points"
        return f"Expansion({shape}, kernel={self.kernel!r}, n_seen={self.n_seen})"

    def __getstate__(self) -> dict[str, object]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # without what is cached

    @property
    def n_components(self) -> int:
        """The number of components."""
        return int(self.coef.shape[0])

    @property
    def n_points(self) -> int:
        """The number of stored points."""
        return n_rows(self.points)

    @cached_property
    def _blocks(self) -> PointBlocks:
        """The points, prepared for kernel values in float64."""
        return PointBlocks(self.kernel, self.points, np.float64)

    @cached_property
    def _single_blocks(self) -> PointBlocks:
        """The points, prepared for kernel values in float32."""
        return PointBlocks(self.kernel, self.points, np.float32)

    def kernel_blocks(self, X: Points) -> PointBlocks:
        """Return the points, prepared for kernel values with the rows of X in a precision that is sufficient.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        PointBlocks
            The points in float32 where X is in float32 and the scores stay accurate to about six digits, otherwise in
            float64.
        """
        if isinstance(self.kernel, Precomputed):
            return PointBlocks(self.kernel, self.points, X.dtype)
        single = np.result_type(X.dtype, np.float32) == np.float32
        return self._single_blocks if single and self._single_is_enough else self._blocks

    @cached_property
    def _single_is_enough(self) -> bool:
        """Whether kernel values in float32 give scores to 1e-6 of the rows' root mean square distance from the mean.

        The coefficients multiply errors of kernel values. Where they are large, as between points that are nearly
        linearly dependent, float64 is needed for all rows.
        """
        own = np.maximum(self.kernel.diagonal(self.points), 0.0)
        largest = float(np.abs(self.coef * np.sqrt(own)).sum(axis=1).max(initial=0.0))
        error = _HALF_UNIT32 * largest * np.sqrt(own.mean())
        return bool(error <= _SCORE_ERROR * np.sqrt((self.trace or 0.0) / self.n_seen))

    def combine(self, weights: Array, X: Points) -> Array:
        """Return k(X, points) @ weights.T, computed in chunks of rows: peak memory is one tile.

        Parameters
        ----------
        weights : ndarray of shape (n_vectors, n_points)
            Coefficients on the points, one vector per row.
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_vectors)
            The inner products of phi(x) with the vectors.

        Raises
        ------
        ValueError
            If kernel values are not finite, as those of a polynomial of enormous numbers.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # the check tells it in words
            return check_kernel_values(self._combined(weights, X), _ROWS)

    def _combined(self, weights: Array, X: Points) -> Array:
        """Return k(X, points) @ weights.T, whatever the kernel values are."""
        if self.kernel.inner_product and not (is_sparse(X) or is_sparse(self.points)):
            vectors = weights @ self.kernel.prepare(self.points, np.float64)
            return rows_times(self.kernel.prepare(X, np.float64), vectors.T)
        blocks = self.kernel_blocks(X)
        out = np.empty((n_rows(X), len(weights)))
        transposed = np.ascontiguousarray(weights.T, blocks.dtype)

        def work(rows: slice, block: Array) -> None:
            if block.dtype == out.dtype:
                np.matmul(block, transposed, out=out[rows])
            else:
                out[rows] = block @ transposed

        blocks.for_each_chunk(X, work, available_threads(), len(weights))
        return out

    def project(self, X: Points) -> Array:
        """Return the scores of X: the inner products of phi(x) - mean with the components.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The scores, in float32 where X is, otherwise in float64.
        """
        scores = rows_times(self._from_mean(X), self._mean_and_axes[1].T) if self._has_axes(X) else self._scores(X)
        typed: Array = scores.astype(np.result_type(X.dtype, np.float32), copy=False)
        return typed

    def project_with_norm(self, X: Points, diagonal: Array | None = None) -> tuple[Array, Array]:
        """Return scores and ``k'(x, x) = |phi(x) - mean|^2``, computed together.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.
        diagonal : ndarray of shape (n_samples,) or None, default=None
            The values k(x, x). None: they are computed.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            The scores, in float64.
        norms : ndarray of shape (n_samples,)
            The squared distances from the mean.
        """
        if self.empirical:
            return self._project_with_distance(X)
        if self._has_axes(X):
            rows = self._from_mean(X)
            return rows_times(rows, self._mean_and_axes[1].T), np.einsum("ij,ij->i", rows, rows)
        own = self.kernel.diagonal(X) if diagonal is None else diagonal
        if self.nu is None:
            return self._scores(X), own
        both = self.combine(np.vstack([self.coef, self.nu]), X)
        norms = np.maximum(own - 2.0 * both[:, -1] + self.mean_norm, 0.0)
        return both[:, :-1] - self.offset, norms

    def _scores(self, X: Points) -> Array:
        return np.asarray(self.combine(self.coef, X) - self.offset)

    def _has_axes(self, X: Points) -> bool:
        """Tell whether scores follow from rows less their mean; kernel values lose digits far from the origin."""
        centred = self.kernel.inner_product and self.nu is not None and not self.empirical
        return centred and not (is_sparse(X) or is_sparse(self.points))

    @cached_property
    def _mean_and_axes(self) -> tuple[Array, Array]:
        """The mean and the components as vectors, (d,) and (r, d), of kernels that are inner products of rows."""
        assert self.nu is not None
        points = self.kernel.prepare(self.points, np.float64)
        mean = self.nu @ points
        centred, sums, sizes = points - mean, self.coef.sum(axis=1), np.abs(self.coef)
        # of the two forms, the one with the smaller terms has the smaller rounding errors
        near_origin = sizes @ _lengths(points) <= sizes @ _lengths(centred) + np.abs(sums) * np.linalg.norm(mean)
        axes = np.where(near_origin[:, None], self.coef @ points, self.coef @ centred + np.outer(sums, mean))
        return mean, axes

    def _from_mean(self, X: Points) -> Array:
        return np.asarray(self.kernel.prepare(X, np.float64) - self._mean_and_axes[0])

    def _project_with_distance(self, X: Points) -> tuple[Array, Array]:
        """Return scores and |h - mean|^2."""
        blocks, mean = self.kernel_blocks(X), 0.0 if self.nu is None else self.nu
        scores, norms = np.empty((n_rows(X), self.n_components)), np.empty(n_rows(X))

        def work(rows: slice, block: Array) -> None:
            scores[rows] = block @ self.coef.T - self.offset
            norms[rows] = ((block - mean) ** 2).sum(axis=1)

        blocks.for_each_chunk(X, work, available_threads())
        return scores, norms

    @cached_property
    def gram_inverse(self) -> Array:
        """The pseudo-inverse of the gram matrix, (r, r)."""
        own = np.diagonal(self.gram)
        if np.count_nonzero(self.gram) == np.count_nonzero(own):  # orthogonal components
            usable = np.abs(own) > _SMALL * np.abs(own).max(initial=0.0)
            return np.diag(np.divide(1.0, own, out=np.zeros_like(own), where=usable))
        return np.asarray(np.linalg.pinv(self.gram, rcond=_SMALL, hermitian=True))

    def residual(self, X: Points, diagonal: Array | None = None) -> Array:
        """Return the squared distance of phi(x) from the subspace: k'(x, x) - y^T gram^+ y, never negative.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.
        diagonal : ndarray of shape (n_samples,) or None, default=None
            The values k(x, x). None: they are computed.

        Returns
        -------
        ndarray of shape (n_samples,)
            The squared distances.
        """
        scores, norms = self.project_with_norm(X, diagonal)
        explained: Array = np.einsum("ij,ij->i", scores @ self.gram_inverse, scores)
        return np.maximum(norms - explained, 0.0)

    def reconstruct(self, scores: Array) -> Array:
        """Return the coefficients on the points of mean + projection for given scores.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_components)
            Scores, such as those of `project`.

        Returns
        -------
        ndarray of shape (n_samples, n_points)
            The coefficients.
        """
        coefficients: Array = scores @ self.gram_inverse @ self.coef
        return coefficients if self.nu is None else coefficients + self.nu

    def inner(self, other: "Expansion") -> Array:
        """Return the inner products of these components with those of another model.

        Parameters
        ----------
        other : Expansion
            A model with an equal kernel.

        Returns
        -------
        ndarray of shape (n_components, n_components_of_other)
            The inner products.

        Raises
        ------
        ValueError
            If the kernels differ, a kernel is precomputed, or empirical kernel maps have different landmarks.
        """
        if self.empirical or other.empirical:
            return self._empirical_inner(other)
        against = other.combine(other.coef, self._rows_for(other))  # k(points, other points) other.coef^T
        return np.asarray(self.coef @ against)

    def _empirical_inner(self, other: "Expansion") -> Array:
        """Return the inner products where lengths are those of an empirical kernel map."""
        points, others = self._rows_for(other), other.points
        same = points is others or (points.shape == others.shape and not (points != others).sum())
        if not (self.empirical and other.empirical and same):
            raise ValueError(
                "Models of the empirical kernel map can only be compared with each other, and on the same landmarks. "
                "Fit both with feature_map='empirical' and the same array of landmarks, or with 'whitened'."
            )
        return np.asarray(self.coef @ other.coef.T)

    def _rows_for(self, other: "Expansion") -> Points:
        """Return the points, or fail where the other model cannot be compared with this one."""
        if isinstance(self.kernel, Precomputed) or isinstance(other.kernel, Precomputed):
            raise ValueError("Models of a precomputed kernel hold no points, so they cannot be compared or merged.")
        if self.kernel != other.kernel:
            raise ValueError(f"The models have different kernels: {self.kernel!r} and {other.kernel!r}.")
        return self.points

    def with_gram(self) -> "Expansion":
        """Return the same model with its gram matrix computed again from the points.

        Returns
        -------
        Expansion
            The model.
        """
        return replace(self, gram=_symmetric(self.inner(self)))

    def transformed(self, matrix: Array) -> "Expansion":
        """Return the model with the components matrix @ components.

        Parameters
        ----------
        matrix : ndarray of shape (n_new, n_components)
            The coefficients of the new components on the old ones.

        Returns
        -------
        Expansion
            The model with the new components.
        """
        return replace(
            self,
            coef=matrix @ self.coef,
            offset=matrix @ self.offset,
            gram=_symmetric(matrix @ self.gram @ matrix.T),
            eigenvalues=_diagonal_in(matrix, self.eigenvalues),
        )

    def orthonormalised(self) -> "Expansion":
        """Return the model with the orthonormal basis of the same subspace that is nearest to its components.

        Where components are linearly dependent there is no such basis. Then the result is as near to one as the
        subspace allows, and its gram matrix is a projector instead of the identity.

        Returns
        -------
        Expansion
            The model with the new components.
        """
        values, vectors = np.linalg.eigh(self.gram)
        keep = values > _SMALL * max(values[-1], 0.0)
        root = (vectors[:, keep] / np.sqrt(values[keep])) @ vectors[:, keep].T
        return replace(self.transformed(root), eigenvalues=self.eigenvalues)

    def truncated(self, n_components: int) -> "Expansion":
        """Return the model with only its first components.

        Parameters
        ----------
        n_components : int
            The number of components to keep.

        Returns
        -------
        Expansion
            The smaller model.
        """
        r = n_components
        return replace(
            self,
            coef=self.coef[:r],
            offset=self.offset[:r],
            eigenvalues=self.eigenvalues[:r],
            gram=self.gram[:r, :r],
        )


def _lengths(rows: Array) -> Array:
    """Return the length of every row."""
    return np.asarray(np.linalg.norm(rows, axis=1))


def _symmetric(matrix: Array) -> Array:
    """Return the mean of a matrix and its transpose."""
    return np.asarray(0.5 * (matrix + matrix.T))


def _diagonal_in(matrix: Array, eigenvalues: Array) -> Array:
    """Return the variances along new directions when the old ones are uncorrelated."""
    return np.asarray((matrix**2) @ eigenvalues)
