"""`mercer.dask.KernelPCA`: exact kernel PCA whose kernel matrix lives on the workers of a cluster."""

from dataclasses import asdict
from typing import Any, Self

import numpy as np

from mercer.arrays import Array
from mercer.dask.base import Transforming, keep_names
from mercer.dask.cluster import Here, Workers
from mercer.dask.cluster_tiles import Costs
from mercer.dask.exact import solver_on
from mercer.dask.parameters import like
from mercer.dask.partitions import Names, Partitions
from mercer.dask.sample import Shape, check_columns
from mercer.estimators.kernel_pca import KernelPCA as Local


@like(Local, "the result of every pass over the kernel matrix, in a folder with one file per pass")
class KernelPCA(Transforming):
    """Exact kernel PCA whose kernel matrix is spread over the workers of a cluster.

    Every worker has some tiles of the upper triangle of the kernel matrix. They stay in its memory where they fit,
    which is computed before the fit, and are computed again in every pass otherwise. The driver, which is the process
    that calls `fit`, runs the eigensolver of `mercer.KernelPCA`. In each pass it sends one block of vectors to the
    workers, and they send sums back. The model is that of
    `mercer.KernelPCA`, to rounding, for any number of workers and partitions. The rows themselves (not the kernel
    matrix) must fit in the memory of the driver and of every worker.

    Attributes
    ----------
    costs_ : dict
        What the passes over the kernel matrix took: "workers", "shares", "kept" (whether the tiles that most passes
        visit stay in memory), "tile_bytes" (of all these tiles), "passes", "replayed" (passes that a checkpoint
        answered), "sent" and "received" (bytes for each worker, over all passes), and "seconds".
    expansion_ : Expansion
        The fitted model. All other attributes of `mercer.KernelPCA` are there as well.

    Examples
    --------
    >>> import dask.array as da
    >>> from mercer.dask import KernelPCA
    >>> X = da.random.default_rng(0).normal(size=(1500, 4), chunks=(500, 4))
    >>> model = KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    >>> model.transform(X).compute().shape
    (1500, 2)
    """

    _local_class = Local

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to the rows of all partitions.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Training rows. Chunk sizes may be unknown; partitions may be empty.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        KernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If a partition contains NaN or infinity or has other columns than the others (the message names it), if
            there are no rows, if the kernel is precomputed, or if the checkpoint belongs to another fit.
        ClusterError
            If the cluster has no workers, or workers with another version of Mercer, or if all workers are lost.
        """
        local = self._unfitted()
        if local._precomputed:
            raise ValueError("KernelPCA on a cluster needs rows of data; a precomputed kernel has none.")
        runs = self._runs()
        given = self._given(runs, X)
        (rows, names), costs = self._gathered(runs, given), Costs()
        local.observers = self.observers
        local._fit(rows, solve=solver_on(runs, costs, self.checkpoint))
        del local.observers
        keep_names(local, names)
        self._local, self.costs_ = local, asdict(costs)
        return self

    def _gathered(self, runs: Here | Workers, given: Partitions) -> tuple[Array, Names]:
        """Return all rows, and the names of their columns."""
        found, channel = [], self._channel()
        results = given.checked_here() if given.here is not None else runs.results(given.checked())
        for number, result in enumerate(results, start=1):
            found.append(result)
            channel.emit("partitions read", number, len(given.parts))
        check_columns({number: Shape(len(rows), rows.shape[1], names) for number, (rows, names) in enumerate(found)})
        filled = [result for result in found if len(result[0])]
        if not filled:
            raise ValueError("All partitions are empty: there are no rows to learn from.")
        return np.concatenate([rows for rows, _ in filled]), filled[0][1]
