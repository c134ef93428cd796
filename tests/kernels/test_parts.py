"""One kernel matrix for models without parts of the rows: equal to what is left of the whole matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.kernels.distance import RBF
from mercer.kernels.given import GivenKernel
from mercer.kernels.operator import CentredOperator
from mercer.kernels.parts import PartProducts, WithoutPart
from mercer.kernels.tiles import SymmetricTiles

N = 1150  # three strips of tiles
PARTS = [slice(30, 31), slice(31, 600), slice(600, 1140), slice(1140, N)]


@pytest.fixture(params=["kept", "made again", "float32", "whole"])
def source(request, rng):
    X = rng.standard_normal((N, 3))
    dtype = np.float32 if request.param == "float32" else np.float64
    tiles = SymmetricTiles(RBF(0.3), X, dtype, 0 if request.param == "made again" else 2**30, threads=2)
    return GivenKernel(tiles.dense()) if request.param == "whole" else tiles


@pytest.mark.parametrize("part", [*PARTS, slice(0, 512)])
def test_a_source_without_a_part_is_the_matrix_without_it(source, part, rng):
    K = source.dense().astype(np.float64)
    left = np.delete(np.delete(K, part, axis=0), part, axis=1)
    without = WithoutPart(source, part)
    tol = 1e-5 if source.dtype == np.float32 else 1e-11
    V = rng.standard_normal((len(left), 3))
    assert np.array_equal(without.dense(), left)
    assert_allclose(without.product(V), left @ V, atol=tol * len(left))
    assert_allclose(without.product_with(V, V[:, 0])[1], left @ V[:, 0], atol=tol * len(left))
    assert_allclose(without.columns(np.array([2, 5])), left[:, [2, 5]], atol=tol)
    operator = CentredOperator(without, np.ones(len(left)))
    J = np.eye(len(left)) - 1.0 / len(left)
    assert operator.frobenius == pytest.approx(np.linalg.norm(J @ left @ J), rel=1e-6)


def test_products_of_all_parts_at_once(source, rng):
    products = PartProducts(source, PARTS)
    tol = 1e-4 if source.dtype == np.float32 else 1e-10
    blocks = rng.standard_normal((len(PARTS), 3, N))
    for block, part in zip(blocks, PARTS, strict=True):
        block[:, part] = 0.0
    within, outside, sums = products.within(blocks), products.outside(list(blocks)), products.sums()
    K = source.dense().astype(np.float64)  # of the same tiles, which are held
    for k, part in enumerate(PARTS):
        expected = blocks[k] @ K
        assert_allclose(outside[k], expected[:, part], atol=tol)
        expected[:, part] = 0.0
        assert_allclose(within[k], expected, atol=tol)
        assert_allclose(sums[k], np.delete(K, part, axis=1).sum(axis=1), rtol=1e-12)
