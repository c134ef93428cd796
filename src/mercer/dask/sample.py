"""A first look at all partitions: their sizes and columns, and a sample of rows in which each row is equally likely."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.dask.cluster import Here, Workers
from mercer.dask.partitions import SAME_COLUMNS, Names, Partitions, check_names
from mercer.dask.settings import WORK
from mercer.dask.trees import grouped
from mercer.events import Channel


class Shape(NamedTuple):
    """How large a partition is, and what its columns are called."""

    rows: int
    columns: int
    names: Names = None


@dataclass(frozen=True, eq=False)
class Look:
    """What is known of some partitions: those rows of them that have the smallest random keys, and their sizes."""

    rows: Array  # (s, d), in the order of the partitions
    keys: Array  # (s,), random and different for each row
    places: IntArray  # (s, 2), number of the partition, and of the row in it
    sizes: dict[int, Shape]  # by the number of the partition

    @property
    def counts(self) -> list[int]:
        """The rows of each partition, where all partitions are known."""
        return [self.sizes[number].rows for number in range(len(self.sizes))]

    @property
    def names(self) -> Names:
        """The names of the columns."""
        return next((shape.names for shape in self.sizes.values() if shape.rows), None)


def row_keys(seed: int, number: int, count: int) -> Array:
    """Return the random keys of the rows of a partition; they depend on nothing but the seed and the number."""
    return np.random.default_rng([seed, number]).random(count)


def look_at(rows: Array, names: Names, number: int, most: int, seed: int) -> Look:
    """Look at one partition."""
    keys = row_keys(seed, number, len(rows))
    places = np.column_stack([np.full(len(rows), number), np.arange(len(rows))])
    return _smallest(Look(rows, keys, places, {number: Shape(len(rows), rows.shape[1], names)}), most)


def _smallest(look: Look, most: int) -> Look:
    if len(look.keys) <= most:
        return look
    kept = np.sort(np.argpartition(look.keys, most)[:most])
    return Look(look.rows[kept], look.keys[kept], look.places[kept], look.sizes)


def joined(looks: Sequence[Look], most: int) -> Look:
    """Return what is known of all these partitions; fail if their columns differ."""
    sizes = {number: size for look in looks for number, size in look.sizes.items()}
    check_columns(sizes)
    filled = [look for look in looks if len(look.rows)] or list(looks[:1])
    return _smallest(
        Look(
            np.concatenate([look.rows for look in filled]),
            np.concatenate([look.keys for look in filled]),
            np.concatenate([look.places for look in filled]),
            sizes,
        ),
        most,
    )


def check_columns(sizes: dict[int, Shape]) -> None:
    """Fail if partitions with rows have different numbers or names of columns."""
    filled = [number for number in sorted(sizes) if sizes[number].rows]
    for number in filled[1:]:
        first, other = sizes[filled[0]], sizes[number]
        if other.columns != first.columns:
            raise ValueError(
                f"Partition {number} (counted from 0) has {other.columns} columns; partition {filled[0]} has "
                f"{first.columns}. {SAME_COLUMNS}"
            )
        check_names(number, other.names, first.names)


def first_look(runs: Here | Workers, given: Partitions, most: int, seed: int, channel: Channel) -> Look:
    """Look at all partitions, and return at most so many of their rows."""
    tasks = given.calls(look_at, [(number, most, seed) for number in range(len(given.parts))], tell_names=True)
    groups = grouped(tasks, Joining(most), WORK.group)
    found: list[Look] = []
    for number, group in enumerate(runs.results(groups), start=1):
        found = [joined([*found, group], most)]
        channel.emit("partitions looked at", min(number * WORK.group, len(tasks)), len(tasks))
    if not found or not any(found[0].counts):
        raise ValueError("All partitions are empty: there are no rows to learn from.")
    return found[0]


@dataclass(frozen=True)
class Joining:
    """`joined` with its limit, as a function that can be sent to workers."""

    most: int

    def __call__(self, looks: list[Any]) -> Look:
        """Join some looks."""
        return joined(looks, self.most)
