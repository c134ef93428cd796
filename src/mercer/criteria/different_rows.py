"""Rows that are looked at: equal ones count once, or a model would be judged by copies of the rows that it learned."""

import numpy as np

from mercer.arrays import Array, IntArray, distinct_rows


def different_rows(X: Array, order: IntArray, most: int) -> IntArray:
    """Return the first so many places in the order whose rows are different; of equal rows the first is taken.

    Only as many rows are compared as are needed: of a large table without equal rows, `most` rows.
    """
    count = most
    while True:
        drawn = order[:count]
        found = drawn[distinct_rows(X[drawn])]
        if len(found) >= most or count >= len(order):
            return np.asarray(found[:most])
        count *= 2
