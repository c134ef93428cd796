"""Kernel tiles: the right numbers, each computed once, in bounded memory, whatever budget and threads."""

import threading
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context

from mercer.kernels import RBF, Kernel, Laplacian, Linear, Polynomial, Precomputed
from mercer.kernels.threads import TILE_BYTES
from mercer.kernels.tiles import PointBlocks, SymmetricTiles, memory_budget
from textbook import kernel_pca as naive

PLENTY = 2**33
SIZES = [1, 2, 3, 511, 513, 1024, 1025, 2100]


class Counting(Kernel):
    """The product of two numbers, and a count of how many entries were asked for."""

    name = "counting"

    def __init__(self) -> None:
        self.entries = 0
        self.lock = threading.Lock()

    def block(self, A, B, out):
        with self.lock:
            self.entries += out.size
        np.dot(A, B.T, out=out)


def peak_bytes(work) -> int:
    """The most memory that arrays took during the call, beyond what was there."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_budget_follows_scikit_learns_setting():
    budgets = []
    for megabytes in (8, 16):
        with config_context(working_memory=megabytes):
            budgets.append(memory_budget())
    assert budgets[1] == 2 * budgets[0]
    assert 8 * 2**20 <= budgets[0] < 16 * 2**20


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("budget", [0, PLENTY])
@pytest.mark.parametrize("n", SIZES)
def test_products_columns_and_the_whole_matrix(n, budget, threads, rng):
    X, V = rng.standard_normal((n, 3)), rng.standard_normal((n, 4))
    K = naive.rbf_matrix(X, X, 0.5)
    tiles = SymmetricTiles(RBF(0.5), X, np.float64, budget, threads)
    assert tiles.shape == (n, n)
    assert tiles.held == (budget == PLENTY)
    for _ in range(2):  # the second time held tiles are reused
        assert_allclose(tiles.product(V), K @ V, rtol=0, atol=1e-13 * n)
    chosen = rng.integers(0, n, 5)
    assert_allclose(tiles.columns(chosen), K[:, chosen], rtol=0, atol=1e-14)
    assert_allclose(tiles.dense(), K, rtol=0, atol=1e-14)
    assert_allclose(tiles.product(V), K @ V, rtol=0, atol=1e-13 * n)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [1, 2, 7, 17, 18, 19, 33, 100])
def test_products_with_few_and_many_vectors(width, dtype, rng):
    X, V = rng.standard_normal((2061, 3)), np.asfortranarray(rng.standard_normal((2061, width)))
    tiles = SymmetricTiles(RBF(0.5), X, dtype, PLENTY, 2)
    chosen = [0, 1, 510, 513, 1023, 1024, 1025, 2047, 2048, 2060]
    expected = naive.rbf_matrix(X[chosen], X, 0.5) @ V
    atol = 1e-11 if dtype == np.float64 else 1e-3
    assert_allclose(tiles.product(V)[chosen], expected, rtol=0, atol=atol)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(0.5, 1.0, 3), RBF(0.7), Laplacian(0.3)])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_every_kernel_and_storage_in_tiles(kernel, storage, rng):
    X, V = rng.standard_normal((650, 3)), rng.standard_normal((650, 2))
    K = kernel(X)
    for budget in (0, PLENTY):
        tiles = SymmetricTiles(kernel, storage(X), np.float64, budget, 2)
        assert_allclose(tiles.product(V), K @ V, rtol=1e-10, atol=1e-9)
        assert_allclose(tiles.dense(), K, rtol=1e-10, atol=1e-11)
        assert_allclose(tiles.columns(np.array([649, 0])), K[:, [649, 0]], rtol=1e-10, atol=1e-11)


def test_float32_tiles_are_summed_in_float64(rng):
    X = rng.standard_normal((1300, 3)).astype(np.float32)
    ones = np.ones((1300, 1))
    K = naive.rbf_matrix(X, X, 0.5)
    product = SymmetricTiles(RBF(0.5), X, np.float32, PLENTY).product(ones)
    assert product.dtype == np.float64
    assert_allclose(product, K @ ones, rtol=5e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_diagonal_is_exactly_one(dtype, rng):
    X = (rng.standard_normal((700, 5)) * 30).astype(dtype)
    K = SymmetricTiles(RBF(0.9), X, dtype, PLENTY).dense()
    assert (np.diag(K) == 1).all()
    chosen = np.array([3, 699, 3])
    assert (SymmetricTiles(RBF(0.9), X, dtype, 0).columns(chosen)[chosen, np.arange(3)] == 1).all()


def test_each_pair_is_computed_once_and_held_tiles_never_again(rng):
    X, n = rng.standard_normal((5000, 1)), 5000
    kernel = Counting()
    tiles = SymmetricTiles(kernel, X, np.float64, PLENTY)
    tiles.product(np.ones((n, 1)))
    first = kernel.entries
    assert n * (n + 1) / 2 <= first <= 0.72 * n * n
    tiles.product(np.ones((n, 1)))
    tiles.dense()
    assert kernel.entries == first


def test_tiles_cover_the_upper_triangle(rng):
    X = rng.standard_normal((2100, 2))
    visits = np.zeros((2100, 2100), np.int8)

    def work(worker, I, J, tile):
        assert tile.shape == visits[I, J].shape
        visits[I, J] += 1

    SymmetricTiles(RBF(1.0), X, np.float64, 0).for_each_tile(work)
    assert (visits[np.triu_indices(2100)] == 1).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_remade_tiles_never_add_up_to_the_matrix(threads, rng):
    n = 5000
    X, V = rng.standard_normal((n, 4)), rng.standard_normal((n, 4))
    tiles = SymmetricTiles(RBF(0.5), X, np.float64, 0, threads)
    tiles.product(V[:, :1])  # compiles and warms up
    whole = n * n * 8
    assert peak_bytes(lambda: tiles.product(V)) < 0.2 * whole
    assert peak_bytes(lambda: tiles.columns(np.arange(10))) < 0.02 * whole


def test_held_tiles_take_little_more_than_half_the_matrix(rng):
    n = 5000
    X = rng.standard_normal((n, 4))
    tiles = SymmetricTiles(RBF(0.5), X, np.float32, PLENTY)
    assert peak_bytes(lambda: tiles.product(np.ones((n, 1)))) < 0.7 * n * n * 4


def test_the_budget_decides_what_is_held(rng):
    X, whole = rng.standard_normal((5000, 2)), 8 * 5000 * 5000
    assert SymmetricTiles(RBF(1.0), X, np.float64, whole).held
    assert not SymmetricTiles(RBF(1.0), X, np.float64, whole // 3).held
    assert SymmetricTiles(RBF(1.0), X, np.float32, whole // 2).held


# -- blocks against new rows -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_against_new_rows(dtype, rng):
    points, X = rng.standard_normal((30, 4)).astype(dtype), (rng.standard_normal((20, 4)) + 2).astype(dtype)
    got = PointBlocks(RBF(0.4), points, dtype).against(X)
    assert got.dtype == dtype
    assert_allclose(got, naive.rbf_matrix(X, points, 0.4), atol=1e-14 if dtype == np.float64 else 2e-6)


@pytest.mark.parametrize("sparse_points", [False, True])
def test_points_and_new_rows_of_different_storage(sparse_points, rng):
    points, X = rng.standard_normal((30, 4)) + 1, rng.standard_normal((20, 4))
    stored, new = (sp.csr_matrix(points), X) if sparse_points else (points, sp.csr_matrix(X))
    got = PointBlocks(RBF(0.4), stored, np.float64).against(new)
    assert_allclose(got, naive.rbf_matrix(X, points, 0.4), rtol=0, atol=1e-13)


def test_blocks_between_points(rng):
    points = rng.standard_normal((30, 4))
    blocks = PointBlocks(RBF(0.4), points, np.float64)
    K = naive.rbf_matrix(points, points, 0.4)
    for I, J in (
        (slice(2, 9), slice(20, 30)),
        (np.array([4, 4, 1]), slice(None)),
        (slice(0, 1), np.array([29])),
    ):
        out = np.empty(K[I][:, J].shape)
        blocks.between(I, J, out)
        assert_allclose(out, K[I][:, J], rtol=0, atol=1e-14)


@pytest.mark.parametrize("threads", [1, 3])
def test_chunks_cover_the_new_rows(threads, rng):
    points, X = rng.standard_normal((100, 2)), rng.standard_normal((60000, 2))
    blocks = PointBlocks(RBF(0.4), points, np.float64)
    sums, chunks = np.zeros(len(X)), []

    def work(rows, block):
        chunks.append(rows)
        sums[rows] += block.sum(axis=1)

    blocks.for_each_chunk(X, work, threads)
    assert len(chunks) > 1
    probe = rng.integers(0, len(X), 50)
    assert_allclose(sums[probe], naive.rbf_matrix(X[probe], points, 0.4).sum(axis=1), rtol=1e-13)
    assert (sums >= 0).all()
    assert sum(rows.stop - rows.start for rows in chunks) == len(X)


@pytest.mark.parametrize(
    ("kernel", "tiles"),
    [(RBF(0.1), 1.5), (Polynomial(0.1, 1.0, 3), 3.5), (Laplacian(0.1), 4.5)],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_chunks_stay_within_a_few_tiles(kernel, tiles, threads, rng):
    points, X = rng.standard_normal((1000, 3)), rng.standard_normal((12000, 3))
    blocks = PointBlocks(kernel, points, np.float64)
    blocks.against(X[:2])  # compiles
    assert len(X) * len(points) * 8 > 2.5 * TILE_BYTES
    peak = peak_bytes(lambda: blocks.for_each_chunk(X, lambda rows, block: None, threads))
    assert peak < tiles * TILE_BYTES


def test_precomputed_rows_are_cut_like_any_others(rng):
    K = rng.standard_normal((20, 8))
    blocks = PointBlocks(Precomputed(), np.arange(8), np.float64)
    assert_array_equal(blocks.against(K), K)
    assert_array_equal(blocks.against(sp.csr_matrix(K)), K)
