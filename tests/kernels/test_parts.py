"""One kernel matrix for models without parts of the rows: equal to what is left of the whole matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.kernels.distance import RBF
from mercer.kernels.given import GivenKernel
from mercer.kernels.grouped import GroupedTiles, products_by_group
from mercer.kernels.operator import CentredOperator
from mercer.kernels.parts import PartProducts, WithoutPart, groups_of
from mercer.kernels.tiles import FEW_VECTORS, SymmetricTiles

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
    within, outside = products.within(blocks), products.outside(list(blocks))
    sums = products.without(products.by_group(np.ones((1, N))))[:, 0]
    K = source.dense().astype(np.float64)  # of the same tiles, which are held
    for k, part in enumerate(PARTS):
        expected = blocks[k] @ K
        assert_allclose(outside[k], expected[:, part], atol=tol)
        expected[:, part] = 0.0
        assert_allclose(within[k], expected, atol=tol)
        # tiles at the diagonal, whose rounding need not be symmetric, count half as they are and half transposed
        assert_allclose(sums[k], np.delete(0.5 * (K + K.T), part, axis=1).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("vectors", [1, 3, 50])
def test_sums_over_groups_are_products_of_vectors_that_are_zero_elsewhere(source, vectors, rng):
    rows, groups = rng.standard_normal((vectors, N)), groups_of(N, PARTS)
    assert [(g.start, g.stop) for g in groups] == [(0, 30), (30, 31), (31, 600), (600, 1140), (1140, N)]
    found = products_by_group(source, rows, groups)
    K = source.dense().astype(np.float64)
    K = 0.5 * (K + K.T)
    tol = 1e-6 if source.dtype == np.float32 and vectors > FEW_VECTORS else 1e-10  # rounding that is not symmetric
    for group, terms in zip(groups, found, strict=True):
        assert_allclose(terms, rows[:, group] @ K[group], atol=tol, rtol=1e-10)


@pytest.mark.parametrize("budget", [0, 2**30])
def test_tiles_keep_the_sums_of_the_last_product_with_weights(budget, rng):
    X, V, w = rng.standard_normal((N, 3)), rng.standard_normal((N, 2)), rng.random(N)
    tiles = GroupedTiles(RBF(0.3), X, np.float64, budget, threads=2)
    plain = tiles.product_with(V, w)
    assert tiles.last is None
    tiles.groups = groups_of(N, PARTS)
    product, weighted = tiles.product_with(V, w)
    assert_allclose(product, plain[0], atol=1e-11)
    assert_allclose(weighted, plain[1], rtol=1e-13)
    assert_allclose(tiles.last.vectors, V.T)
    expected = products_by_group(tiles, np.vstack([V.T, w]), tiles.groups)
    assert_allclose(tiles.last.terms, expected, atol=1e-11)


def test_products_of_blocks_at_all_rows(source, rng):
    blocks = rng.standard_normal((len(PARTS), 3, N))
    for block, part in zip(blocks, PARTS, strict=True):
        block[:, part] = 0.0
    K = source.dense().astype(np.float64)
    tol = 1e-4 if source.dtype == np.float32 else 1e-10
    assert_allclose(PartProducts(source, PARTS).everywhere(blocks), blocks @ K, atol=tol)
