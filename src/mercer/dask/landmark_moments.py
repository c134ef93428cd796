"""Kernel PCA on landmarks from partitions: what is decided once, what every partition gives, and their sums."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array, n_rows
from mercer.dask.allocation import memory_used_again
from mercer.dask.cluster import Here, Workers
from mercer.dask.partitions import Partitions
from mercer.dask.settings import WORK
from mercer.dask.trees import grouped
from mercer.engine.moments import Moments, fading_weights, total
from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA
from mercer.estimators.validation import generator
from mercer.kernels.landmark_map import require_rows
from mercer.kernels.landmarks import AldDictionary
from mercer.solvers.landmark.moments import Landmarks, central_values, enough_in_float32, measure
from mercer.solvers.landmark.stream import LandmarkPlan


def plan_and_landmarks(
    local: LandmarkKernelPCA, rows: Array, kept: Array | None
) -> tuple[LandmarkPlan, Landmarks, AldDictionary | None]:
    """Return how to learn, and the landmarks: those of a checkpoint, those given, or some chosen by these rows.

    The last part is the dictionary that adds further landmarks, if there is one.
    """
    kernel = local._make_kernel(rows)
    require_rows(kernel)
    plan = local._plan(kernel, rows.shape[1])
    points, dictionary = plan.given if kept is None else kept, None
    if points is None:
        points, dictionary = plan.choose(rows, generator(local.random_state))
    return plan, Landmarks(kernel, points.astype(np.float64, copy=False)), dictionary


@dataclass(frozen=True, eq=False)
class Measuring:
    """What every partition needs: landmarks, the reference of all sums, and the precision of float32 rows."""

    landmarks: Landmarks
    reference: Array  # (m,)
    short: bool  # whether float32 rows get float32 kernel values
    forgetting: float = 1.0

    @classmethod
    def on(cls, landmarks: Landmarks, rows: Array, leading: int, forgetting: float) -> "Measuring":
        """Decide by some rows."""
        reference = central_values(landmarks.blocks(np.float64), rows)
        short = rows.dtype == np.float32 and enough_in_float32(landmarks, rows, leading)
        return cls(landmarks, reference, bool(short), forgetting)

    def __call__(self, rows: Array, newer: int = 0) -> tuple[Moments, int]:
        """Return the moments of the rows of a partition, when so many rows follow it, and the number of its rows."""
        if not n_rows(rows):
            return Moments.empty(self.reference), 0
        dtype = np.float32 if self.short and rows.dtype == np.float32 else np.float64
        weights = fading_weights(n_rows(rows), self.forgetting, newer)
        return measure(self.landmarks.blocks(dtype), rows, weights, self.reference, n_jobs=1), n_rows(rows)


def added(found: list[Any]) -> tuple[Moments, int]:
    """Return the moments of all rows of several partitions, and the number of the rows."""
    return total([moments for moments, _ in found]), sum(count for _, count in found)


def group_tasks(given: Partitions, measuring: Measuring, sizes: Sequence[int], first: int) -> list[Any]:
    """Return one task for each group of partitions, from the first group that is not done."""
    later = np.concatenate([np.cumsum(np.asarray(sizes)[::-1])[::-1][1:], [0]]).astype(int)
    tasks = given.calls(measuring, [(int(newer),) for newer in later])
    return grouped(tasks[first * WORK.group :], added, WORK.group)


def stream_moments(
    runs: Here | Workers, chunks: Iterable[Array], measuring: Measuring
) -> Iterator[tuple[Moments, int]]:
    """Yield the moments of all rows so far, chunk by chunk, and their number; older rows fade."""
    found, seen = Moments.empty(measuring.reference), 0
    for moments, count in runs.over(_of_chunk, chunks, measuring):
        moments = moments.copy()
        moments.add(found.faded(measuring.forgetting**count))
        found, seen = moments, seen + count
        yield found, seen


def _of_chunk(rows: Array, number: int, measuring: Measuring) -> tuple[Moments, int]:
    with memory_used_again():
        return measuring(rows)
