"""Kernels of the inner product of two rows: linear, polynomial, sigmoid, cosine."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.preprocessing import normalize

from mercer.arrays import Array, Points, is_sparse
from mercer.kernels.base import Kernel, dot_into, squared_norms


def _power_in_place(base: Array, degree: float) -> None:
    """Raise to the power in place; degrees 2 and 3 by products, which is several times faster."""
    if degree in (2.0, 3.0):
        original = base.copy() if degree == 3.0 else base
        np.multiply(base, original, out=base)
        if degree == 3.0:
            np.multiply(base, original, out=base)
    else:
        np.power(base, degree, out=base)


@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel ``k(x, y) = <x, y>``, the inner product. Kernel PCA with it is PCA.

    See Also
    --------
    Cosine : Compares directions, not lengths.
    Polynomial : Powers of inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Linear()(X)
    array([[1., 1.],
           [1., 2.]])
    """

    name: ClassVar[str] = "linear"
    inner_product: ClassVar[bool] = True

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the inner products of all rows of A with all rows of B into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        dot_into(A, B, out)

    def diagonal(self, X: Points) -> Array:
        """Return the squared norm of every row.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        return squared_norms(X)

    def features(self, X: Points) -> Points:
        """Return the rows in feature space, which for this kernel is the space of the rows.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or sparse matrix of shape (n_samples, n_features)
            The same rows.
        """
        return X

    def inverse_features(self, F: Array) -> Array:
        """Return the rows whose features are given.

        Parameters
        ----------
        F : ndarray of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The same values.
        """
        return F


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel ``k(x, y) = (gamma <x, y> + coef0) ** degree``.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the inner product.
    coef0 : float, default=1.0
        The constant term.
    degree : float, default=3.0
        The exponent.

    See Also
    --------
    Linear : The kernel of ordinary PCA.
    Sigmoid : The hyperbolic tangent of inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Polynomial(degree=2.0)(X)
    array([[4., 4.],
           [4., 9.]])
    """

    name: ClassVar[str] = "poly"
    gamma: float = 1.0
    coef0: float = 1.0
    degree: float = 3.0

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semi-definite: no coefficient of the polynomial is negative."""
        return self.gamma >= 0 and self.coef0 >= 0 and float(self.degree).is_integer()

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the powers of the shifted inner products into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        dot_into(A, B, out)
        out *= self.gamma
        out += self.coef0
        _power_in_place(out, self.degree)

    def diagonal(self, X: Points) -> Array:
        """Return the powers of the shifted squared norms.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        values: Array = (self.gamma * squared_norms(X) + self.coef0) ** self.degree
        return values


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """The sigmoid kernel ``k(x, y) = tanh(gamma <x, y> + coef0)``. It is indefinite for many parameters.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the inner product.
    coef0 : float, default=1.0
        The constant term.

    See Also
    --------
    Polynomial : Powers of inner products.
    RBF : The Gaussian kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Sigmoid(coef0=0.0)(X).round(2)
    array([[0.76, 0.76],
           [0.76, 0.96]])
    """

    name: ClassVar[str] = "sigmoid"
    gamma: float = 1.0
    coef0: float = 1.0

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the hyperbolic tangents of the shifted inner products into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        dot_into(A, B, out)
        out *= self.gamma
        out += self.coef0
        np.tanh(out, out=out)

    def diagonal(self, X: Points) -> Array:
        """Return the hyperbolic tangents of the shifted squared norms.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        values: Array = np.tanh(self.gamma * squared_norms(X) + self.coef0)
        return values


@dataclass(frozen=True)
class Cosine(Kernel):
    """The cosine kernel ``k(x, y) = <x, y> / (|x| |y|)``. It is 0 where a row is zero.

    See Also
    --------
    Linear : The kernel of ordinary PCA.
    Polynomial : Powers of inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Cosine()(X).round(2)
    array([[1.  , 0.71],
           [0.71, 1.  ]])
    """

    name: ClassVar[str] = "cosine"
    inner_product: ClassVar[bool] = True

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Scale every row to length one; the origin is not used.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.
        dtype : dtype
            The precision of the kernel values.
        origin : ndarray of shape (n_features,) or None, default=None
            A point of `origin`. None: nothing is subtracted.

        Returns
        -------
        ndarray or sparse matrix
            The scaled rows.
        """
        # first by the largest entry: the squares of huge or tiny entries would overflow or underflow
        X = X.astype(dtype, copy=False)
        if is_sparse(X):
            return normalize(normalize(X, norm="max"))
        largest = np.abs(X).max(axis=1, keepdims=True)  # first, so that no square overflows or vanishes
        scaled = X / np.where(largest > 0, largest, 1)
        lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
        return scaled / np.where(lengths > 0, lengths, 1)[:, None]

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the inner products of the scaled rows into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        dot_into(A, B, out)

    def diagonal(self, X: Points) -> Array:
        """Return 1 for every row that is not zero, and 0 for the others.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        largest = abs(X).max(axis=1).toarray().ravel() if is_sparse(X) else np.abs(X).max(axis=1)
        return np.asarray(largest > 0, np.float64)
