"""`mercer.dask.IncrementalKernelPCA`: one model per partition, merged two by two."""

from typing import Any, Self

from mercer.dask.merging import Merging
from mercer.dask.parameters import like
from mercer.estimators.incremental_kernel_pca import IncrementalKernelPCA as Local


@like(Local, "the models of the partitions so far, in a folder; nothing of an iterator")
class IncrementalKernelPCA(Merging):
    """Incremental kernel PCA of partitions: each is learned by itself, and the models are merged two by two.

    The result is exact except for what `rank` components cannot hold, and for the compression of the library. Each
    partition and each merge loses what is beyond `rank`, so that eigenvalues are smaller than those of one model of
    all rows where rows vary in many directions nearly equally; then use a larger `rank`. Gamma is set by a sample of
    all partitions, or by the first chunk of an iterator. `history_` is that of the first partition, with one record
    for each merge that it was in.

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model. All other attributes of `mercer.IncrementalKernelPCA` are there as well.

    Examples
    --------
    >>> import dask.array as da
    >>> from mercer.dask import IncrementalKernelPCA
    >>> X = da.random.default_rng(0).normal(size=(600, 3), chunks=(200, 3))
    >>> IncrementalKernelPCA(2, gamma=0.1).fit(X).n_samples_seen_
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
        IncrementalKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If a partition contains NaN or infinity or has other columns than the others (the message names it), if
            there are no rows, if the kernel is precomputed, or if the checkpoint belongs to another fit.
        ClusterError
            If the cluster has no workers, or workers with another version of Mercer.
        """
        self._local = self._learn(X)
        return self
