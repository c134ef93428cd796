"""Copies of rows and columns in any order."""

import numpy as np
import pytest

from mercer.engine.submatrix import copy_submatrix


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (4, 0), (1, 1), (9, 20), (30, 7)])
def test_rows_and_columns_may_repeat_and_come_in_any_order(rng, rows, columns):
    K = rng.standard_normal((12, 17))
    i, j = rng.integers(0, 12, rows), rng.integers(0, 17, columns)
    out = np.full((rows, columns), np.nan)
    copy_submatrix(K, i, j, out)
    assert np.array_equal(out, K[np.ix_(i, j)])


def test_single_precision_is_copied_to_double(rng):
    K, places = rng.standard_normal((5, 5)).astype(np.float32), np.array([3, 0, 4])
    out = np.empty((3, 3))
    copy_submatrix(K, places, places, out)
    assert np.array_equal(out, K[np.ix_(places, places)])
