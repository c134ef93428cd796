"""Products of a kernel matrix with vectors whose rows fall into groups, with the sum over each group apart.

One visit of the tiles then serves all vectors that are zero at some of the groups and otherwise equal to the given
ones. A tile takes part in two sums: over the group of its columns, and, mirrored, over that of its rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from mercer.arrays import Array
from mercer.kernels.given import GivenKernel
from mercer.kernels.tiles import SymmetricTiles, add_both, add_symmetric, aligned_copy

Source = SymmetricTiles | GivenKernel
_Share = tuple[int, Array]  # the number of a group, and vectors on one strip of the rows, zero outside of the group


def products_by_group(source: Source, rows: Array, groups: Sequence[slice]) -> Array:
    """Return rows[:, group] @ K[group] for each group, (groups, b, n), in float64; every row of K is in one group."""
    everything = slice(0, rows.shape[1])
    if isinstance(source, GivenKernel):
        apart = np.stack([_only(rows, everything, group) for group in groups])
        return np.asarray(apart.reshape(-1, everything.stop) @ source.K, np.float64).reshape(apart.shape)
    shares = {strip.start: _shares(rows, strip, groups) for strip in source.strips}
    sums = [[_zeros(len(groups) + 1, len(rows), strip) for strip in source.strips] for _ in range(source.threads)]
    place = {strip.start: i for i, strip in enumerate(source.strips)}

    def work(worker: int, I: slice, J: slice, tile: Array) -> None:
        at_rows, at_columns = sums[worker][place[I.start]], sums[worker][place[J.start]]
        if I == J:
            for group, share in shares[I.start]:
                add_symmetric(tile, share, at_rows[group], {})
            return
        nothing = [(len(groups), np.zeros((len(rows), strip.stop - strip.start))) for strip in (I, J)]
        for of_rows, of_columns in zip_longest(shares[I.start], shares[J.start]):
            g, share = of_rows or nothing[0]
            h, other = of_columns or nothing[1]
            add_both(tile, share, other, at_rows[h], at_columns[g], {})

    source.for_each_tile(work)
    return np.stack([_joined(sums, group) for group in range(len(groups))])


def _shares(rows: Array, strip: slice, groups: Sequence[slice]) -> list[_Share]:
    """Return what the vectors have on a strip of the rows, for each group that has any of these rows."""
    meeting = [g for g, group in enumerate(groups) if group.start < strip.stop and strip.start < group.stop]
    return [(g, aligned_copy(_only(rows, strip, groups[g]))) for g in meeting]


def _only(rows: Array, strip: slice, group: slice) -> Array:
    """Return the entries of vectors on a strip of the rows, zero outside of the group."""
    part = np.zeros((len(rows), strip.stop - strip.start))
    first, after = max(strip.start, group.start), min(strip.stop, group.stop)
    part[:, first - strip.start : after - strip.start] = rows[:, first:after]
    return part


def _zeros(count: int, width: int, strip: slice) -> list[Array]:
    return [aligned_copy(np.zeros((width, strip.stop - strip.start))) for _ in range(count)]


def _joined(sums: list[list[list[Array]]], group: int) -> Array:
    """Add the sums of all workers, in their order, and put the strips together, (b, n)."""
    return np.concatenate([sum(own[group] for own in of_workers) for of_workers in zip(*sums, strict=True)], axis=1)


@dataclass(frozen=True)
class Recorded:
    """Vectors, weights and their products with a kernel matrix, with the sum over each group apart."""

    vectors: Array  # (b, n)
    weights: Array  # (n,)
    terms: Array  # (groups, b + 1, n), those of the weights in the last row


class GroupedTiles(SymmetricTiles):
    """Tiles that keep the sums over groups of rows of the last product with vectors and weights, if there are groups.

    That is the first exact product of a fit; models without some of the groups then need none of their own.
    """

    groups: Sequence[slice] = ()
    last: Recorded | None = None

    def product_with(self, V: Array, w: Array) -> tuple[Array, Array]:
        """Return K V and K w."""
        if not self.groups:
            return super().product_with(V, w)
        terms = products_by_group(self, np.vstack([V.T, w]), self.groups)
        self.last = Recorded(V.T, w, terms)
        total = terms.sum(axis=0).T
        return total[:, :-1], total[:, -1]
