"""Rows of a stream that wait until there are enough of them, each different row once; and what cannot be a chunk."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array, Points, n_rows, row_kinds, stack_rows
from mercer.engine.spectrum import clean_eigenvalues, inverse_roots, orient, rounding_noise, thresholds
from mercer.expansion.build import on_rows, unit_gram
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.operator import CentredOperator
from mercer.kernels.tiles import SymmetricTiles, available_threads, memory_budget
from mercer.solvers.exact.eigen import EigenOptions, solve
from mercer.solvers.exact.fit import fit_exact


def refuse_generator(X: Any) -> None:
    """Fail for an iterator, which is not a matrix, before anything is taken from it."""
    if isinstance(X, Iterator):
        raise ValueError(
            f"X is a {type(X).__name__}, not a matrix of rows. To learn from chunks, call partial_fit once for each "
            "chunk: for chunk in chunks: model.partial_fit(chunk)."
        )


@dataclass(frozen=True)
class WaitingRows:
    """Rows, and how often each of them has come."""

    rows: Points  # (n, d)
    counts: Array  # (n,)

    @property
    def total(self) -> int:
        """Return how many rows have come, with repetitions."""
        return int(self.counts.sum())

    def in_full(self) -> Points:
        """Return all rows that have come, equal ones together."""
        if self.total == len(self.counts):
            return self.rows
        return self.rows[np.repeat(np.arange(len(self.counts)), self.counts.astype(np.intp))]


def joined(before: WaitingRows | None, X: Points, *, merged: bool) -> WaitingRows:
    """Return the rows that waited and those of X; `merged`: each different row once, at its first place."""
    rows, counts = X, np.ones(n_rows(X))
    if before is not None:
        rows, counts = stack_rows(before.rows, X), np.concatenate([before.counts, counts])
    if not merged:
        return WaitingRows(rows, counts)
    kinds = row_kinds(rows)
    first = np.unique(kinds, return_index=True)[1]
    if len(first) == len(kinds):
        return WaitingRows(rows, counts)
    return WaitingRows(rows[first], np.bincount(kinds, weights=counts).astype(np.float64))


def exact_model(kernel: Kernel, waiting: WaitingRows, r: int, center: bool) -> Expansion:
    """Return exact kernel PCA of all rows that have come, on the different ones as points."""
    X, counts, n = waiting.rows, waiting.counts, waiting.total
    if n == len(counts):
        return fit_exact(kernel, X, r, dtype=np.float64, options=EigenOptions(), center=center).expansion
    scale = np.sqrt(counts)
    tiles = SymmetricTiles(kernel, X, np.float64, memory_budget(), available_threads())
    operator = CentredOperator(tiles, kernel.diagonal(X), weights=counts / n, scale=scale, center=center)
    spectrum = solve(operator, r, EigenOptions(positive=kernel.positive))
    noise = rounding_noise(len(counts), operator.largest_entry, np.float64)
    values = clean_eigenvalues(spectrum.values, spectrum.lowest, noise, thresholds(np.float64))
    coef = (orient(spectrum.vectors) * inverse_roots(values)).T * scale
    return on_rows(kernel, X, operator, coef, values, unit_gram(values), n)
