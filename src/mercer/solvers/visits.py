"""Kernel rows for algorithms that visit samples one after another, at half the cost.

In a pass, what a visited sample contributes to samples visited later is needed when they come, and what they contribute
to it is needed only at the end. So each tile of K' between two blocks of visits is made once and used for both.
"""

from functools import cached_property

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.kernels.operator import CentredOperator, GivenOperator, Operator
from mercer.kernels.tiles import SymmetricTiles, memory_budget, run_in_threads

_COLUMNS = 2048  # a thread's share of a strip of kernel values


class VisitTiles:
    """K'[order[i:j], order[:j]] for consecutive blocks of an order of samples; K' is held if it fits the budget.

    It is an operator itself, so that what else a solver needs of K' comes from the matrix that is held.
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.shape, self.weights, self.center = operator.shape, operator.weights, operator.center
        n = operator.shape[0]
        fits = n * n * 8 <= memory_budget() or isinstance(operator, GivenOperator)
        self._held = operator.dense() if fits else None
        self.row_means, self.mean_norm = operator.row_means, operator.mean_norm
        self.trace, self.largest_entry = operator.trace, operator.largest_entry

    @cached_property
    def frobenius(self) -> float:
        """Return the Frobenius norm of K'."""
        return self.operator.frobenius if self._held is None else float(np.linalg.norm(self._held))

    def matmul(self, V: Array) -> Array:
        """Return K' V, (n, b)."""
        return self.operator.matmul(V) if self._held is None else np.asarray(self._held @ V)

    def dense(self) -> Array:
        """Return a copy of K'."""
        return self.operator.dense() if self._held is None else self._held.copy()

    def begin(self, order: IntArray) -> None:
        """Fix the order of a pass: every sample that is visited, then those that are not."""
        self._order = order
        if self._held is None:
            source = self._source()
            self._rows = source.blocks.rows[order]
            self._means = self.row_means[order]

    def tile(self, start: int, stop: int) -> Array:
        """Return K'[order[start:stop], order[:stop]], (stop - start, stop), float64."""
        if self._held is not None:
            held: Array = self._held[np.ix_(self._order[start:stop], self._order[:stop])]
            return held
        source = self._source()
        out = np.empty((stop - start, stop))

        def work(_: int, first: int) -> None:
            columns = slice(first, min(first + _COLUMNS, stop))
            block = np.empty((stop - start, columns.stop - first), source.dtype)
            source.blocks.kernel.block(self._rows[start:stop], self._rows[columns], block)
            out[:, columns] = block
            out[:, columns] -= self._means[columns] - self.mean_norm

        run_in_threads(work, range(0, stop, _COLUMNS), source.threads)
        if source.blocks.kernel.unit_diagonal:
            rows = np.arange(stop - start)
            out[rows, start + rows] = 1.0 - self._means[start:stop] + self.mean_norm
        out -= self._means[start:stop, None]
        return out

    def _source(self) -> SymmetricTiles:
        assert isinstance(self.operator, CentredOperator)
        assert isinstance(self.operator.source, SymmetricTiles)
        return self.operator.source
