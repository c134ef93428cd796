"""What all classes for a cluster share: parameters of a local class, lazy results, and the way back to that class."""

import os
from numbers import Integral
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from mercer.arrays import Array, is_sparse, n_rows
from mercer.dask.allocation import memory_used_again
from mercer.dask.cluster import Here, Workers, find
from mercer.dask.partitions import Names, Partitions, checked_rows, is_pieces, is_stream, partitions_of, whole_rows
from mercer.events import Channel, Observer
from mercer.progress import channel_to

_PIECES_EACH = 4  # pieces of an ordinary array, for each thread of the cluster


class ClusterModel(BaseEstimator):  # type: ignore[misc]
    """The base of all classes for a cluster: it holds a fitted local model, and applies it to partitions."""

    _local_class: ClassVar[type]
    _own: ClassVar[tuple[str, ...]]
    _local: Any = None
    observers: tuple[Observer, ...] = ()

    # -- parameters ----------------------------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Self:
        """Return a copy that is not fitted; it has the same client, which cannot be copied."""
        return type(self)(**self.get_params(deep=False))

    def _unfitted(self) -> Any:
        """Return the local class with these parameters, after a check of all of them."""
        params = {name: value for name, value in self.get_params(deep=False).items() if name not in self._own}
        local = self._local_class(**params)
        local._validate_params()
        return local

    def _channel(self) -> Channel:
        return channel_to(self.observers, self.verbose)

    def _runs(self) -> Here | Workers:
        return find(self.client)

    @staticmethod
    def _given(runs: Here | Workers, X: Any) -> Partitions:
        pieces = _PIECES_EACH * max(1, len(runs.slots()))
        return partitions_of(X, pieces)

    # -- the fitted model ----------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return self._local is not None

    def to_local(self) -> Any:
        """Return the fitted model as an object of the class of the same name in `mercer`.

        It needs no cluster, and it is the object that does the work on every partition.

        Returns
        -------
        estimator
            The fitted local estimator.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        """
        if self._local is None:
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet. Call fit first.")
        return self._local

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file; `mercer.load(path)` reads it back as a local estimator.

        Parameters
        ----------
        path : str or os.PathLike
            Name of the file.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        NotSaveableError
            If a part of the model cannot be stored without code, such as a kernel given as a function.
        """
        self.to_local().save(path)

    def __getattr__(self, name: str) -> Any:
        """Return what the local model has learned, such as `eigenvalues_`."""
        local = self.__dict__.get("_local")
        if name.endswith("_") and not name.startswith("_") and local is not None:
            return getattr(local, name)
        raise AttributeError(
            f"This {type(self).__name__} has no {name!r}" + ("." if local is not None else ", or not before fit.")
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy in another process, which has the clients of its own."""
        state = dict(super().__getstate__())
        return {**state, "client": None}

    # -- lazy results --------------------------------------------------------------------------------------------

    def _applied(self, method: str, X: Any, width: int | None, dtype: Any = np.float64) -> Any:
        """Return what a method of the local model gives for each row: lazy for Dask's collections, else at once."""
        local = self.to_local()
        self._check_columns(X, getattr(local, "n_features_in_", None))
        if isinstance(X, da.Array):
            return _on_blocks(local, method, whole_rows(X), width, dtype)
        if is_dask_collection(X) or is_pieces(X):
            return _on_pieces(local, method, partitions_of(X, 1).parts, width, dtype)
        if is_stream(X):
            tail = () if width is None else (width,)
            return (_result(chunk, local, method, tail, None, (number,)) for number, chunk in enumerate(X))
        return getattr(local, method)(X)

    def _check_columns(self, X: Any, needed: int | None) -> None:
        """Fail at once where a lazy X is known to have another number of columns than the training rows."""
        if not is_dask_collection(X) or needed is None:
            return
        shape: tuple[Any, ...] = getattr(X, "shape", ())
        found = shape[1] if len(shape) == 2 else None
        if isinstance(found, Integral) and found != needed:
            raise ValueError(f"X has {found} features; {type(self).__name__} was fitted to {needed}.")


def refuse_stream(X: Any) -> None:
    """Fail for an iterator where rows are read twice: it has none left after `fit`."""
    if is_stream(X):
        raise ValueError(
            f"X is a {type(X).__name__}, which can be read once only, but its rows are needed twice. Call fit with it, "
            "and then the other method with a new one, or pass a list of its chunks."
        )


class Transforming(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterModel):  # type: ignore[misc]
    """The base of decompositions for a cluster."""

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the model to the rows of X, and return their scores.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, or array-like
            Training rows.
        y : None
            Ignored; present for scikit-learn's conventions.
        **params : dict
            Further arguments of `fit`; there are none, so leave it empty.

        Returns
        -------
        dask Array or ndarray, of shape (n_samples, n_components)
            The scores. They are lazy where X is.

        Raises
        ------
        ValueError
            If X is an iterator, which can be read once only.
        """
        refuse_stream(X)
        return super().fit_transform(X, y, **params)

    def transform(self, X: Any) -> Any:
        """Return the scores of the rows of X on the components.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Rows to project, with the features of the training rows.

        Returns
        -------
        dask Array, iterator or ndarray, of shape (n_samples, n_components)
            The scores. They are lazy where X is; an iterator gives one array per chunk.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X has another number of features than the training rows. Where a lazy X does not tell their number, the
            error comes when the result is computed.
        """
        return self._applied("transform", X, self.to_local().n_components_)

    def reconstruction_error(self, X: Any) -> Any:
        """Return each row's squared distance, in feature space, from the subspace of the components.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Rows to judge, with the features of the training rows.

        Returns
        -------
        dask Array, iterator or ndarray, of shape (n_samples,)
            Squared distances, at least 0. They are lazy where X is.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X has another number of features than the training rows. Where a lazy X does not tell their number, the
            error comes when the result is computed.
        """
        return self._applied("reconstruction_error", X, None)

    @property
    def _n_features_out(self) -> int:
        return int(self.to_local().n_components_)


def keep_names(local: Any, names: Names) -> None:
    """Let a local model know the names of the columns, if there are some."""
    if names is not None:
        local.feature_names_in_ = np.array(names, dtype=object)


def _shared(local: Any) -> Any:
    """Return the model as one task, so that it is in the graph once."""
    return delayed(local, traverse=False, name=f"model-{id(local):x}-{os.urandom(4).hex()}")


def _on_blocks(local: Any, method: str, X: da.Array, width: int | None, dtype: Any) -> da.Array:
    tail = () if width is None else (width,)
    dtype = np.float32 if X.dtype == np.float32 and dtype == np.float64 and method == "transform" else dtype
    return X.map_blocks(
        _result,
        model=_shared(local),
        method=method,
        tail=tail,
        kind=np.dtype(dtype),
        dtype=dtype,
        chunks=(X.chunks[0], *((size,) for size in tail)),
        drop_axis=None if tail else 1,
        meta=np.empty((0,) * (1 + len(tail)), dtype),
    )


def _on_pieces(local: Any, method: str, parts: list[Delayed], width: int | None, dtype: Any) -> da.Array:
    tail = () if width is None else (width,)
    call, model = delayed(_result, pure=False), _shared(local)
    given = {"model": model, "method": method, "tail": tail, "kind": np.dtype(dtype)}
    found = [call(part, block_id=(number,), **given) for number, part in enumerate(parts)]
    arrays = [da.from_delayed(piece, (np.nan, *tail), dtype) for piece in found]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _result(
    piece: Any, model: Any, method: str, tail: tuple[int, ...], kind: Any, block_id: tuple[int, ...] = (0,)
) -> Array:
    """Return what the model gives for the rows of one piece; it may be empty."""
    if not n_rows(piece):
        return np.empty((0, *tail), kind)
    rows = piece if is_sparse(piece) else checked_rows(piece, block_id[0])
    if hasattr(piece, "columns"):
        rows = piece  # the model compares the names
    with memory_used_again():
        return np.asarray(getattr(model, method)(rows), kind)
