"""The double product of a tile against plain matrix products."""

import numpy as np
import pytest

from mercer.kernels.pairs import add_both_products


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 8), (7, 2), (64, 65), (130, 33)])
@pytest.mark.parametrize("vectors", [1, 2, 16])
def test_both_products_are_added(dtype, shape, vectors):
    rng = np.random.default_rng(sum(shape) + vectors)
    tile = rng.standard_normal(shape).astype(dtype)
    at_rows = rng.standard_normal((vectors, shape[0])).astype(dtype)
    at_columns = rng.standard_normal((vectors, shape[1])).astype(dtype)
    rows, columns = np.ones(at_rows.shape), np.full_like(at_columns, 2)
    add_both_products(tile, at_rows, at_columns, rows, columns)
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(rows, 1 + at_columns @ tile.T, rtol=0, atol=tolerance)
    np.testing.assert_allclose(columns, 2 + at_rows @ tile, rtol=0, atol=tolerance)
