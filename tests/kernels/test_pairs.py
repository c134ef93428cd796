"""The double product of a tile against plain matrix products."""

import numpy as np
import pytest
from numba import config
from numba.core.errors import TypingError

from mercer.kernels.pairs import ROWS, add_both_products, add_both_products_short, in_python

_SHAPES = [(1, 1), (3, 5), (4, 8), (7, 2), (16, 16), (64, 65), (130, 33)]


@pytest.mark.parametrize(("of_tile", "dtype"), [("f8", "f8"), ("f4", "f4"), ("f4", "f8")])
@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("vectors", [0, 1, 2, 3, 16])
def test_both_products_are_added(of_tile, dtype, shape, vectors):
    rng = np.random.default_rng(sum(shape) + vectors)
    tile = rng.standard_normal(shape).astype(of_tile)
    at_rows = rng.standard_normal((vectors, shape[0])).astype(dtype)
    at_columns = rng.standard_normal((vectors, shape[1])).astype(dtype)
    rows, columns = np.ones(at_rows.shape), np.full_like(at_columns, 2)
    add_both_products(tile, at_rows, at_columns, rows, columns)
    tolerance = 1e-12 if dtype == "f8" else 1e-4
    np.testing.assert_allclose(rows, 1 + at_columns @ tile.T, rtol=0, atol=tolerance)
    np.testing.assert_allclose(columns, 2 + at_rows @ tile, rtol=0, atol=tolerance)


@pytest.mark.parametrize("shape", _SHAPES)
def test_sums_within_a_tile_may_be_shorter_than_those_beyond_it(shape):
    rng = np.random.default_rng(sum(shape))
    tile, at_rows, at_columns = (rng.standard_normal(s).astype("f4") for s in (shape, (3, shape[0]), (3, shape[1])))
    rows, columns, sums = np.ones(at_rows.shape), np.full(at_columns.shape, 1e9), np.full_like(at_columns, 7.0)
    add_both_products_short(tile, at_rows, at_columns, rows, columns, sums)
    np.testing.assert_allclose(rows, 1 + at_columns @ tile.T, rtol=0, atol=1e-4)
    np.testing.assert_allclose(columns - 1e9, at_rows @ tile, rtol=0, atol=1e-4)  # float32 would lose all of it


@pytest.mark.parametrize("count", [1, 2])
def test_some_rows_in_python_are_those_in_instructions(count):
    """NUMBA_DISABLE_JIT takes the functions in Python, which have to add and return the same."""
    rng = np.random.default_rng(count)
    tile, at_rows, at_columns = (rng.standard_normal(shape) for shape in ((2 * ROWS, 19), (3, 2 * ROWS), (3, 19)))
    rows, columns, again = np.zeros((3, 2 * ROWS)), np.zeros((3, 19)), np.zeros((3, 19))
    last, some = slice(ROWS, 2 * ROWS), slice(1, 1 + count)
    add_both_products(tile[last].copy(), at_rows[:, last].copy(), at_columns, rows[:, last], columns)
    sums = in_python(count)(tile, at_rows, at_columns, again, ROWS, 1, 19)
    np.testing.assert_allclose(np.reshape(sums, (count, ROWS)), rows[some, last], atol=1e-13)
    np.testing.assert_allclose(again[some], columns[some], atol=1e-13)
    assert not again[0].any()


@pytest.mark.parametrize(("of_tile", "dtype"), [("f8", "f8"), ("f4", "f4"), ("f4", "f8")])
@pytest.mark.parametrize("width", [1, 5, 8, 17, 31])
def test_nothing_is_read_or_written_beyond_the_last_column(of_tile, dtype, width):
    """Vectors end in the middle of a register; what is behind them in memory belongs to others."""
    rng = np.random.default_rng(width)
    behind = np.full(2 * ROWS * width + 64, np.nan, of_tile)
    tile = behind[: 2 * ROWS * width].reshape(2 * ROWS, width)
    tile[...] = rng.standard_normal(tile.shape)
    spaces = [np.full(3 * width + 64, value, dtype) for value in (np.nan, 7.0)]
    at_columns, columns = (space[: 3 * width].reshape(3, width) for space in spaces)
    at_columns[...], columns[...] = rng.standard_normal(at_columns.shape), 0.0
    at_rows, rows = rng.standard_normal((3, 2 * ROWS)).astype(dtype), np.zeros((3, 2 * ROWS))
    add_both_products(tile, at_rows, at_columns, rows, columns)
    tolerance = 1e-12 if dtype == "f8" else 1e-4
    np.testing.assert_allclose(rows, at_columns @ tile.T, rtol=0, atol=tolerance)
    np.testing.assert_allclose(columns, at_rows @ tile, rtol=0, atol=tolerance)
    assert (spaces[1][3 * width :] == 7.0).all()


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="Python takes arrays in any order")
def test_arrays_in_another_order_and_mixed_precisions_are_refused():
    tile, at_rows, at_columns = np.ones((8, 16)), np.ones((2, 8)), np.ones((2, 16))
    rows, columns = np.zeros((2, 8)), np.zeros((2, 16))
    with pytest.raises(TypingError, match="C order"):
        add_both_products(np.asfortranarray(tile), at_rows, at_columns, rows, columns)
    with pytest.raises(TypingError, match="one precision"):
        add_both_products(tile, at_rows, at_columns.astype("f4"), rows, columns)
    with pytest.raises(TypingError, match="more precision"):
        add_both_products(tile, *(array.astype("f4") for array in (at_rows, at_columns, rows, columns)))


def test_values_that_are_no_numbers_stay_so():
    tile, at_rows, at_columns = np.ones((8, 17)), np.ones((2, 8)), np.ones((2, 17))
    tile[2, 3], at_rows[1, 5] = np.nan, np.inf
    rows, columns = np.zeros((2, 8)), np.zeros((2, 17))
    add_both_products(tile, at_rows, at_columns, rows, columns)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(rows, at_columns @ tile.T)
        np.testing.assert_array_equal(columns, at_rows @ tile)
