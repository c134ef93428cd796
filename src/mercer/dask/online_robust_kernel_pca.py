"""`mercer.dask.OnlineRobustKernelPCA`: one robust model per partition, merged two by two."""

from typing import Any, Self

from mercer.arrays import Array
from mercer.dask.merging import Merging
from mercer.dask.parameters import like
from mercer.estimators.online_robust_kernel_pca import OnlineRobustKernelPCA as Local


@like(Local, "the models of the partitions so far, in a folder; nothing of an iterator")
class OnlineRobustKernelPCA(Merging):
    """Robust kernel PCA of partitions: each is learned by itself, and the models are merged two by two.

    Landmarks are chosen from a sample of all partitions, or from the first chunk of an iterator. A row is weighted by
    the model of its own partition, so every partition needs enough rows to tell outliers, at least the warm-up. Sums of
    weighted rows add up exactly, except for what twice as many directions as components cannot hold; the weights are
    not those of one model of all rows. `weights_` is empty: weights of new rows follow from `reconstruction_error`.

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model. All other attributes of `mercer.OnlineRobustKernelPCA` are there as well.

    Examples
    --------
    >>> import dask.array as da
    >>> from mercer.dask import OnlineRobustKernelPCA
    >>> X = da.random.default_rng(0).normal(size=(600, 3), chunks=(200, 3))
    >>> model = OnlineRobustKernelPCA(2, gamma=0.1, landmarks=30, random_state=0).fit(X)
    >>> model.n_samples_seen_
    600
    """

    _local_class = Local

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all partitions.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Training rows. Chunk sizes may be unknown; partitions may be empty.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        OnlineRobustKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If a partition contains NaN or infinity or has other columns than the others (the message names it), if
            there are no rows, if the kernel is precomputed, if `update` is not "svd", if `init` is given, or if the
            checkpoint belongs to another fit.
        ClusterError
            If the cluster has no workers, or workers with another version of Mercer.
        """
        if self.update != "svd" or self.init is not None:
            raise ValueError(
                f"Models of partitions can be merged with update='svd' and init=None only; got update={self.update!r}."
            )
        self._local = self._learn(X)
        return self

    def _common(self, local: Any, rows: Array) -> dict[str, Any]:
        points = local._space(rows).points
        return {**super()._common(local, rows), "landmarks": points}
