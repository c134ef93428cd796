"""`mercer.dask.LandmarkKernelPCA`: kernel PCA on landmarks in one pass over partitions, equal to the local model."""

from dataclasses import replace
from itertools import chain
from typing import Any, Self

import numpy as np

from mercer.arrays import Array, n_rows
from mercer.dask.base import Transforming, keep_names
from mercer.dask.checkpoints import MomentsFile, fit_identity
from mercer.dask.cluster import Here, Workers
from mercer.dask.compared_rows import check_same_rows, row_digests
from mercer.dask.landmark_moments import (
    Measuring,
    group_tasks,
    plan_and_landmarks,
    stream_moments,
)
from mercer.dask.parameters import like
from mercer.dask.partitions import Chunks, Names, Partitions, is_stream
from mercer.dask.sample import first_look
from mercer.dask.seeds import seed_of
from mercer.dask.settings import WORK
from mercer.engine.moments import Moments
from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA as Local
from mercer.estimators.landmark_parameter import rows_to_choose_from
from mercer.solvers.landmark.moments import Landmarks
from mercer.solvers.landmark.stream import LandmarkPlan, LandmarkStream


@like(Local, "landmarks and sums over the partitions so far, in one file")
class LandmarkKernelPCA(Transforming):
    """Kernel PCA on landmarks of rows that are too many for one machine, in one pass.

    Landmarks are chosen from a sample in which every row of every partition is equally likely; then every partition
    gives sums, which are added in a tree. The result is that of `mercer.LandmarkKernelPCA` for all rows on the same
    landmarks, to rounding. If the sample holds all rows (3000, or 10 for each landmark), its landmarks are the same.
    An iterator of chunks is read once: its landmarks are chosen from the first rows. `window` must be None, because
    partitions have no order.

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model. All other attributes of `mercer.LandmarkKernelPCA` are there as well.

    Examples
    --------
    >>> import dask.array as da
    >>> from mercer.dask import LandmarkKernelPCA
    >>> X = da.random.default_rng(0).normal(size=(5000, 4), chunks=(1000, 4))
    >>> model = LandmarkKernelPCA(2, gamma=0.1, landmarks=50, random_state=0).fit(X)
    >>> scores = model.transform(X)  # lazy: nothing is computed yet
    >>> scores[:3].compute().shape
    (3, 2)
    >>> model.to_local().n_samples_seen_
    5000
    """

    _local_class = Local

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks and learn from all partitions.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Training rows. Chunk sizes may be unknown; partitions may be empty.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        LandmarkKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If a partition contains NaN or infinity or has other columns than the others (the message names it), if
            there are no rows, if `window` is set, or if the checkpoint belongs to another fit.
        ClusterError
            If the cluster has no workers, or workers with another version of Mercer.
        """
        local = self._unfitted()
        if local._precomputed or local.window is not None:
            what = "rows of data; a precomputed kernel has none" if local._precomputed else "window=None"
            raise ValueError(f"LandmarkKernelPCA on a cluster needs {what}.")
        runs = self._runs()
        if is_stream(X):
            self._fit_stream(local, runs, Chunks(X))
        else:
            self._fit_partitions(local, runs, self._given(runs, X))
        local._warn_of_result()
        self._local = local
        return self

    # -- partitions ----------------------------------------------------------------------------------------------

    def _fit_partitions(self, local: Local, runs: Here | Workers, given: Partitions) -> None:
        file = self._file(given)
        kept = None if file is None else file.read()
        if file is not None and kept is not None:
            numbers, moments, arrays = kept
            names = check_same_rows(runs, given, numbers.get("digests", {}), file.path)
            sizes, rows = arrays["sizes"].tolist(), arrays["rows"]
        else:
            look = first_look(
                runs, given, rows_to_choose_from(self.landmarks), seed_of(self.random_state), self._channel()
            )
            numbers, moments, sizes, rows = {"groups": 0, "seen": 0}, None, look.counts, look.rows
            names = look.names
        given = replace(given, names=names)
        if self._is_small(int(sum(sizes))):
            local.fit(rows)  # the sample is all there is
            keep_names(local, given.names)
            return
        if file is not None and kept is None:
            numbers["digests"] = row_digests(runs, given, sizes)
        plan, landmarks, dictionary = _begun(local, rows, given.names, None if kept is None else kept[2])
        measuring = Measuring.on(landmarks, rows, plan.n_components, plan.forgetting)
        tasks = group_tasks(given, measuring, sizes, numbers["groups"])
        seen, channel = numbers["seen"], self._channel()
        for number, (found, count) in enumerate(runs.results(tasks), start=numbers["groups"] + 1):
            moments, seen = _sum(moments, found), seen + count
            if file is not None:
                arrays = {"sizes": np.asarray(sizes), "rows": rows, "points": landmarks.points}
                file.write({**numbers, "groups": number, "seen": seen, "gamma": local.gamma_}, moments, arrays)
            channel.emit("partitions learned", min(number * WORK.group, len(given.parts)), len(given.parts))
        assert moments is not None
        local._adopt(LandmarkStream.of_moments(plan, landmarks, dictionary, moments, seen))
        if file is not None:
            file.remove()

    def _is_small(self, count: int) -> bool:
        wanted = self.landmarks
        return wanted is None or (isinstance(wanted, int | np.integer) and count <= int(wanted))

    def _file(self, given: Partitions) -> MomentsFile | None:
        if self.checkpoint is None:
            return None
        identity = fit_identity(self.get_params(deep=False), _NEUTRAL, len(given.parts), given.names, WORK.group)
        return MomentsFile(self.checkpoint, identity)

    # -- streams -------------------------------------------------------------------------------------------------

    def _fit_stream(self, local: Local, runs: Here | Workers, given: Chunks) -> None:
        """Learn from chunks that are read once: landmarks are chosen from the first of them."""
        chunks, most = iter(given), rows_to_choose_from(self.landmarks)
        first: list[Array] = []
        while sum(map(n_rows, first)) < most and (chunk := next(chunks, None)) is not None:
            first.append(chunk)
        if not first:
            raise ValueError("The iterator gave no rows to learn from.")
        rows = np.concatenate(first)
        if self._is_small(len(rows)):
            local.fit(rows)
            keep_names(local, given.names)
            return
        plan, landmarks, dictionary = _begun(local, rows, given.names, None)
        measuring = Measuring.on(landmarks, rows, plan.n_components, plan.forgetting)
        channel = self._channel()
        for found in stream_moments(runs, chain(first, chunks), measuring):
            channel.emit("rows learned", found[1])
        moments, seen = found
        local._adopt(LandmarkStream.of_moments(plan, landmarks, dictionary, moments, seen))


_NEUTRAL = ("client", "checkpoint", "verbose", "n_jobs", "preimage", "alpha", "refresh")  # do not change the sums


def _sum(moments: Moments | None, found: Moments) -> Moments:
    if moments is None:
        return found.copy()
    moments.add(found)
    return moments


def _begun(
    local: Local, rows: Array, names: Names, kept: dict[str, Array] | None
) -> tuple[LandmarkPlan, Landmarks, Any]:
    """Fix kernel and landmarks by some rows, or as a checkpoint has them."""
    local.n_features_in_ = rows.shape[1]
    keep_names(local, names)
    return plan_and_landmarks(local, rows, None if kept is None else kept["points"])
