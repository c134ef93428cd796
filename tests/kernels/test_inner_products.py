"""Inner products in vector instructions against a plain matrix product."""

import numpy as np
import pytest
from numba import config, njit
from numba.core.errors import TypingError

from mercer.kernels import inner_products
from mercer.kernels.inner_products import COLUMNS, arranged, compiled_pays, write_products
from mercer.kernels.rbf import rbf_block
from mercer.kernels.vectors import ROWS, VECTOR_BYTES

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there are no vector instructions in Python")

_SHAPES = [(ROWS, 1, 1), (ROWS + 1, 2, 3), (2 * ROWS - 1, 47, 10), (31, 48, 16), (50, 49, 7), (113, COLUMNS, 65)]
_TOLERANCE = {"f4": 2e-5, "f8": 1e-13}


@njit(nogil=True)
def written(A: np.ndarray, others: np.ndarray, first: int, out: np.ndarray) -> None:
    """Call a function that has no entry from Python."""
    write_products(A, others, first, out)


def products(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A B^T of compiled code, for any number of columns."""
    others = arranged(B)
    out = np.full((len(A), len(others) * others.shape[2]), np.nan, A.dtype)
    written(A, others, 0, out)
    return out[:, : len(B)]


def two(shape: tuple[int, int, int], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows and others, (a, b, d)."""
    rng = np.random.default_rng(sum(shape))
    a, b, d = shape
    return rng.standard_normal((a, d)).astype(dtype), rng.standard_normal((b, d)).astype(dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", _SHAPES)
def test_they_are_those_of_a_matrix_product(shape, dtype):
    A, B = two(shape, dtype)
    np.testing.assert_allclose(products(A, B), A @ B.T, rtol=0, atol=_TOLERANCE[dtype] * shape[2])


def test_columns_that_the_last_panel_lacks_are_zeros():
    A, B = two((ROWS, 5, 3), "f8")
    others = arranged(B)
    out = np.full((ROWS, others.shape[2]), np.nan)
    written(A, others, 0, out)
    assert out[:, 5:].size
    assert (out[:, 5:] == 0).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_value_is_the_same_in_every_block(dtype):
    A, B = two((60, 130, 37), dtype)
    whole = products(A, B)
    np.testing.assert_array_equal(products(A[13:31], B[5:120]), whole[13:31, 5:120])
    np.testing.assert_array_equal(products(B, A), whole.T)
    itself = products(B, B)
    np.testing.assert_array_equal(itself, itself.T)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_some_panels_are_written_where_there_is_room_and_no_more(dtype):
    A, B = two((ROWS + 3, 200, 9), dtype)
    others = arranged(B)
    panels, _, width = others.shape
    space = np.full(len(A) * 2 * width + 64, 7.0, dtype)
    out = space[: len(A) * 2 * width].reshape(len(A), 2 * width)
    for first in range(0, panels, 2):
        written(A, others, first, out)
        part = B[first * width : (first + 2) * width]
        np.testing.assert_allclose(out[:, : len(part)], A @ part.T, rtol=0, atol=9 * _TOLERANCE[dtype])
    assert (space[out.size :] == 7.0).all()


def test_nothing_is_read_beyond_the_last_row_or_feature():
    space = np.full(2 * ROWS * 5 + 64, np.nan)
    A = space[: 2 * ROWS * 5].reshape(2 * ROWS, 5)
    A[...] = np.random.default_rng(0).standard_normal(A.shape)
    np.testing.assert_allclose(products(A, A), A @ A.T, rtol=0, atol=1e-13)


def test_values_that_are_no_numbers_stay_in_their_rows():
    A, B = two((ROWS, 60, 4), "f8")
    A[1, 2], B[50, 3] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(products(A, B), A @ B.T, rtol=0, atol=1e-13)


def test_arrays_in_another_order_and_mixed_precisions_are_refused():
    A, out = np.ones((ROWS, 4)), np.empty((ROWS, COLUMNS))
    with pytest.raises(TypingError, match="C order"):
        written(np.asfortranarray(A), arranged(A), 0, out)
    with pytest.raises(TypingError, match="one precision"):
        written(A.astype("f4"), arranged(A), 0, out)


@pytest.mark.skipif(VECTOR_BYTES == 16, reason="BLAS is quicker without long vectors")
def test_compiled_code_is_taken_for_large_blocks_in_order_only():
    A, few = np.zeros((512, 16)), np.zeros((8, 16))
    assert compiled_pays(A, A)
    assert not compiled_pays(few, np.zeros((100_000, 16)))  # arranging the others would cost more than the products
    assert not compiled_pays(A[:40], A[:40])
    assert not compiled_pays(np.zeros((64, 5000)), np.zeros((64, 5000)))
    assert not compiled_pays(np.asfortranarray(A), A)
    A.flags.writeable = False
    assert not compiled_pays(A, np.zeros((512, 16)))


@pytest.mark.skipif(VECTOR_BYTES == 16, reason="BLAS is quicker without long vectors")
@pytest.mark.parametrize(
    ("dtype", "length"),
    [("f8", 1.0), ("f4", 0.1), ("f4", 3.0)],
    ids=["float64", "float32", "float32 with exponents in float64"],
)
@pytest.mark.parametrize("shape", [(32, 33, 3), (113, 288, 5), (115, 289, 70), (230, 700, 16)])
def test_gaussians_of_compiled_products_are_those_of_a_matrix_product(shape, dtype, length, monkeypatch):
    A, B = two(shape, dtype)
    A, B = (length * rows for rows in (A, B))
    halves = [0.5 * (rows**2).sum(axis=1) for rows in (A, B)]
    compiled, plain = (np.empty((len(A), len(B)), dtype) for _ in range(2))
    monkeypatch.setattr(inner_products, "_LEAST_PRODUCTS", 0)
    rbf_block(A, halves[0], B, halves[1], compiled)
    monkeypatch.setattr(inner_products, "_LEAST_PRODUCTS", 10**12)
    rbf_block(A, halves[0], B, halves[1], plain)
    np.testing.assert_allclose(compiled, plain, rtol=0, atol={"f4": 1e-6, "f8": 1e-14}[dtype] * shape[2])
