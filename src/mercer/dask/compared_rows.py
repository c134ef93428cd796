"""Of which rows a checkpoint is: digests of a few partitions, which are compared before a fit continues from it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mercer.arrays import Array
from mercer.dask.checkpoints import digest, other_fit
from mercer.dask.cluster import Here, Workers
from mercer.dask.partitions import Names, Partitions


def row_digests(runs: Here | Workers, given: Partitions, sizes: Sequence[int]) -> dict[str, str]:
    """Return digests of the first, the middle and the last partition that have rows, by their numbers as texts."""
    filled = [number for number, rows in enumerate(sizes) if rows]
    return _digests(runs, given, sorted({filled[0], filled[len(filled) // 2], filled[-1]}))[0]


def check_same_rows(runs: Here | Workers, given: Partitions, kept: Mapping[str, str], checkpoint: Path) -> Names:
    """Fail if the digests of a checkpoint are of other rows, or if it has none; only these partitions are read.

    Return the names of their columns.
    """
    found, names = _digests(runs, given, map(int, kept))
    if not kept or found != kept:
        raise other_fit(checkpoint)
    return names


def _digests(runs: Here | Workers, given: Partitions, numbers: Iterable[int]) -> tuple[dict[str, str], Names]:
    """Return digests of the rows of some partitions (values, shape, type and names of the columns), and these names."""
    tasks = given.calls(_digest, [()] * len(given.parts), tell_names=True)
    chosen = list(numbers)
    found = list(runs.results([tasks[number] for number in chosen]))
    texts = {str(number): text for number, (text, _) in zip(chosen, found, strict=True)}
    return texts, next((names for _, names in found), None)


def _digest(rows: Array, names: Names) -> tuple[str, Names]:
    return digest(rows, names), names
