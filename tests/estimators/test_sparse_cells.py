"""Sparse rows whose cells are in any order, or listed twice: as dense rows, and the caller keeps its matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from mercer import HebbianPCA, IncrementalKernelPCA, KernelPCA
from mercer.kernels.resolve import median_gamma


def repeated(index: type) -> sp.csr_array:
    """Return rows of which each lists one cell twice, in the wrong order."""
    cells = np.array([1.0, 2, 3, 4, 5, 6, 1, 1, 2])
    columns, starts = np.array([1, 0, 1, 0, 2, 0, 2, 1, 2], index), np.array([0, 3, 6, 9], index)
    return sp.csr_array((cells, columns, starts), shape=(3, 3))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_the_callers_matrix_is_not_changed(index):
    X = repeated(index)
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    HebbianPCA(1).fit(X)
    KernelPCA(1, kernel="cosine").fit(X).reconstruction_error(X)
    for array, kept in zip((X.data, X.indices, X.indptr), before, strict=True):
        assert_array_equal(array, kept)


@pytest.mark.parametrize("kernel", ["laplacian", "rbf", "linear"])
def test_cells_that_are_listed_twice_are_added(kernel):
    X = repeated(np.int64)
    found, expected = (IncrementalKernelPCA(2, kernel=kernel, gamma=0.1).fit(rows) for rows in (X, X.toarray()))
    assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-9)


def test_the_median_width_of_float32_rows_does_not_depend_on_their_storage(rng):
    kinds = (rng.random((5, 300)) * rng.random((5, 1))).astype(np.float32)
    X = kinds[np.r_[np.zeros(300, int), rng.integers(1, 5, 30)]]
    assert_allclose(median_gamma(sp.csr_matrix(X)), median_gamma(X), rtol=1e-6)
