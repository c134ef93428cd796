"""The most recent rows of a stream, in pieces: cheap to append to and to take the oldest from."""

from collections.abc import Iterable
from functools import reduce

import numpy as np

from mercer.arrays import Points, is_sparse, n_rows, stack_rows

_SMALL = 256  # pieces with fewer rows are joined with the next rows


class RecentRows:
    """Rows in order of time; their dtype and sparse format are kept."""

    def __init__(self, pieces: Iterable[Points] = ()) -> None:
        self.pieces = list(pieces)

    def __len__(self) -> int:
        return sum(n_rows(piece) for piece in self.pieces)

    def append(self, X: Points) -> None:
        """Append copies of the rows."""
        last = self.pieces[-1] if self.pieces else None
        if last is not None and n_rows(last) < _SMALL and last.dtype == X.dtype and is_sparse(last) == is_sparse(X):
            self.pieces[-1] = stack_rows(last, X)
        else:
            self.pieces.append(X.copy())

    def oldest(self, count: int) -> list[Points]:
        """Return the first `count` rows, in pieces."""
        found = []
        for piece in self.pieces:
            if count <= 0:
                break
            found.append(piece[:count])
            count -= n_rows(piece)
        return found

    def drop(self, count: int) -> None:
        """Drop the first `count` rows; the memory of a piece is freed with its last row."""
        while count > 0 and self.pieces:
            first = self.pieces[0]
            if n_rows(first) > count:
                self.pieces[0] = first[count:]
            else:
                self.pieces.pop(0)
            count -= n_rows(first)

    def stacked(self) -> Points:
        """Return all rows, one below the other."""
        if len(self.pieces) == 1:
            return self.pieces[0]
        if not any(is_sparse(piece) for piece in self.pieces):
            return np.vstack(self.pieces)
        return reduce(stack_rows, self.pieces)

    def copy(self) -> "RecentRows":
        """Return rows that can be appended to without changing these."""
        return RecentRows(self.pieces)
