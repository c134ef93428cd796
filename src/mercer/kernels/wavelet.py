"""The level-J wavelet kernel of [huang2011]: the inner product of approximation coefficients."""

from dataclasses import dataclass, replace
from math import prod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Array, Points, is_sparse
from mercer.errors import MissingExtraError
from mercer.kernels.base import Kernel

try:
    import pywt
except ImportError as missing:  # pragma: no cover - depends on the installation
    raise MissingExtraError("PyWavelets", "wavelet", "The wavelet kernel") from missing

_MODE = "periodization"  # keeps an orthogonal transform orthogonal, and halves every even length exactly


@dataclass(frozen=True)
class Wavelet(Kernel):
    """The wavelet kernel ``k(x, y) = <a_J(x), a_J(y)>`` with the approximation coefficients a_J of level J.

    It is one of the kernels of [huang2011]_. A row is a signal, or an image where `shape` is given. The map from a row
    to its coefficients is linear, so `features` returns them explicitly. `inverse_features` sets the details to zero:
    it returns the smooth part of the row. The kernel needs PyWavelets: `pip install 'mercer[wavelet]'`.

    Parameters
    ----------
    wavelet : str, default="haar"
        The name of an orthogonal or biorthogonal wavelet of PyWavelets, such as "haar" or "sym4".
    level : int, default=1
        The level J: each level halves the number of coefficients per axis.
    shape : tuple of int or None, default=None
        Height and width of the image that a row holds. None: a row is a signal.

    See Also
    --------
    Linear : The kernel of ordinary PCA.
    mercer.KernelPCA : Exact kernel PCA of rows in memory.

    References
    ----------
    .. [huang2011] H.-H. Huang and Y.-R. Yeh, An iterative algorithm for robust kernel principal component analysis,
       Neurocomputing 74, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Wavelet
    >>> X = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 2.0]])
    >>> Wavelet("haar").features(X).round(3)
    array([[1.414, 0.   ],
           [0.   , 2.828]])
    """

    name: ClassVar[str] = "wavelet"
    inner_product: ClassVar[bool] = True
    wavelet: str = "haar"
    level: int = 1
    shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        level: Any = self.level
        if not isinstance(level, Integral) or level < 0:
            raise ValueError(f"The level of a wavelet kernel must be a whole number of at least 0; got {level!r}.")

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Replace rows by their approximation coefficients; the origin is not used.

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
        ndarray of shape (n_samples, n_coefficients)
            The coefficients.
        """
        return np.ascontiguousarray(self.features(X).astype(dtype, copy=False))

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the inner products of the coefficients into `out`.

        Parameters
        ----------
        A : ndarray
            Rows that `prepare` returned.
        B : ndarray
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        np.dot(A, B.T, out=out)

    def diagonal(self, X: Points) -> Array:
        """Return the squared norms of the coefficients.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        F = self.features(X)
        squares: Array = np.einsum("ij,ij->i", F, F, dtype=np.float64)
        return squares

    def bind(self, n_features: int) -> "Wavelet":
        """Return the kernel with the shape of a row fixed: a signal of all features, unless an image shape was given.

        Parameters
        ----------
        n_features : int
            The number of features of the rows.

        Returns
        -------
        Wavelet
            The kernel for such rows.

        Raises
        ------
        ValueError
            If the image shape does not fit the number of features.
        """
        bound = self if self.shape is not None else replace(self, shape=(n_features,))
        if prod(bound.shape or ()) != n_features:
            raise ValueError(f"Wavelet shape {bound.shape} does not fit rows of {n_features} features.")
        return bound

    def features(self, X: Points) -> Array:
        """Return the approximation coefficients of every row, flattened.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_coefficients)
            The coefficients.
        """
        rows = np.asarray(X.toarray() if is_sparse(X) else X)
        coefficients = rows.reshape(len(rows), *self._lengths(rows.shape[1])[0])
        axes = tuple(range(1, coefficients.ndim))
        for _ in range(self.level):
            coefficients = pywt.dwtn(coefficients, self.wavelet, _MODE, axes)["a" * len(axes)]
        return coefficients.reshape(len(rows), -1)

    def inverse_features(self, F: Array) -> Array:
        """Return the rows that have these approximation coefficients and no details; the kernel must be bound.

        Parameters
        ----------
        F : ndarray of shape (n_samples, n_coefficients)
            The coefficients.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The rows.
        """
        lengths = self._lengths(F.shape[1])
        rows: Array = F.reshape(len(F), *lengths[-1])
        for shape in reversed(lengths[:-1]):
            for axis, length in enumerate(shape, 1):
                rows = self._lengthened(rows, axis, length)
        return rows.reshape(len(F), -1)

    def _lengthened(self, rows: Array, axis: int, length: int) -> Array:
        """Return signals along an axis with these approximation coefficients, and no details where that is possible.

        An odd length was padded by one, and the signal without the last entry has other coefficients: the shortest
        signal with the right ones is taken.
        """
        if length % 2 == 0:
            return np.asarray(pywt.idwt(rows, None, self.wavelet, _MODE, axis))
        analysis = pywt.dwt(np.eye(length), self.wavelet, _MODE, axis=0)[0]  # (coefficients, length)
        found = np.moveaxis(rows, axis, -1) @ np.linalg.pinv(analysis).T.astype(rows.dtype)
        return np.asarray(np.moveaxis(found, -1, axis))

    def _lengths(self, n_features: int) -> list[tuple[int, ...]]:
        """Return the shape of one row at every level, the data first."""
        lengths = [self.shape or (n_features,)]
        for _ in range(self.level):
            lengths.append(tuple(-(-n // 2) for n in lengths[-1]))
        return lengths
