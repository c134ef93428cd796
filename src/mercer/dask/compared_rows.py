"""Of which rows a checkpoint is: digests of a few partitions, which are compared before a fit continues from it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mercer.dask.checkpoints import digest, other_fit
from mercer.dask.cluster import Here, Workers
from mercer.dask.partitions import Partitions


def row_digests(runs: Here | Workers, given: Partitions, sizes: Sequence[int]) -> dict[str, str]:
    """Return digests of the first, the middle and the last partition that have rows, by their numbers as texts."""
    filled = [number for number, rows in enumerate(sizes) if rows]
    return _digests(runs, given, sorted({filled[0], filled[len(filled) // 2], filled[-1]}))


def check_same_rows(runs: Here | Workers, given: Partitions, kept: Mapping[str, str], checkpoint: Path) -> None:
    """Fail if the digests of a checkpoint are of other rows, or if it has none; only these partitions are read."""
    if not kept or _digests(runs, given, map(int, kept)) != kept:
        raise other_fit(checkpoint)


def _digests(runs: Here | Workers, given: Partitions, numbers: Iterable[int]) -> dict[str, str]:
    """Return digests of the values, the shape and the type of the rows of some partitions."""
    tasks = given.calls(digest, [()] * len(given.parts))
    chosen = list(numbers)
    found = runs.results([tasks[number] for number in chosen])
    return {str(number): text for number, text in zip(chosen, found, strict=True)}
