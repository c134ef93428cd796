"""The centred operator against centring by definition: products, columns, diagonal, trace and norm."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mercer.kernels import RBF, Linear, Polynomial, Sigmoid
from mercer.kernels.given import GivenKernel, GivenOperator
from mercer.kernels.operator import CentredOperator, OperatorAroundMean
from mercer.kernels.tiles import SymmetricTiles
from textbook import kernel_pca as naive

PLENTY = 2**33
SMALL = {"linear": (Linear(), naive.linear()), "poly": (Polynomial(0.3, 1.0, 3), naive.poly(0.3, 1.0, 3)),
         "rbf": (RBF(0.5), naive.rbf(0.5))}  # fmt: skip


def unequal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Weights that sum to one, some of them zero."""
    weights = rng.uniform(0, 1, n)
    weights[: n // 3] = 0.0
    return weights / weights.sum()


def make(kernel, X, *, budget=PLENTY, threads=1, dtype=np.float64, **options) -> CentredOperator:
    return CentredOperator(SymmetricTiles(kernel, X, dtype, budget, threads), kernel.diagonal(X), **options)


def by_definition(K, weights=None, scale=None, center=True):
    expected = naive.centred(K, weights) if center else K.copy()
    return expected if scale is None else scale[:, None] * expected * scale


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", SMALL)
def test_everything_equals_centring_by_definition(kernel, center, scaled, weighted, rng):
    n = 13
    X, V = rng.standard_normal((n, 3)), rng.standard_normal((n, 4))
    X[4] = X[5]
    kernel, twin = SMALL[kernel]
    weights = unequal(n, rng) if weighted else None
    scale = rng.uniform(0.1, 2, n) if scaled else None
    expected = by_definition(naive.matrix(twin, X), weights, scale, center)
    size = np.abs(expected).max()

    def operator():
        return make(kernel, X, weights=weights, scale=scale, center=center)

    one = operator()
    for _ in range(2):  # the first product brings the means along, the second has them
        assert_allclose(one.matmul(V), expected @ V, rtol=0, atol=1e-12 * n * size)
    assert one.shape == (n, n)
    assert operator().trace == pytest.approx(naive.trace(expected), rel=1e-11)
    assert operator().frobenius == pytest.approx(naive.frobenius(expected), rel=1e-11)
    assert_allclose(operator().diagonal(), np.diag(expected), rtol=0, atol=1e-12 * size)
    assert_allclose(operator().dense(), expected, rtol=0, atol=1e-12 * size)
    chosen = np.array([12, 0, 0, 5])
    assert_allclose(operator().columns(chosen), expected[:, chosen], rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_are_those_of_the_weighted_rows(weighted, rng):
    n = 11
    X = rng.standard_normal((n, 2))
    weights = unequal(n, rng) if weighted else naive.equal_weights(n)
    K = naive.matrix(naive.rbf(0.5), X)
    operator = make(RBF(0.5), X, weights=weights if weighted else None)
    assert_allclose(operator.row_means, K @ weights, rtol=1e-13)
    assert operator.mean_norm == pytest.approx(weights @ K @ weights, rel=1e-13)
    assert_allclose(operator.weights, weights, rtol=1e-15)
    # the weighted mean of the centred rows is the origin
    assert_allclose(operator.dense() @ weights, 0, atol=1e-14)
    plain = make(RBF(0.5), X, center=False)
    assert (plain.row_means == 0).all()
    assert plain.mean_norm == 0


def test_the_largest_entry_is_the_scale_of_rounding(rng):
    X = rng.standard_normal((9, 2))
    X[3] = [7.0, 0.0]
    assert make(Linear(), X).largest_entry == pytest.approx(49.0)
    assert make(RBF(0.1), X).largest_entry == pytest.approx(1.0)


@pytest.mark.parametrize("budget", [0, PLENTY])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_tiles_held_or_not_in_any_number_of_threads(budget, threads, weighted, rng):
    n = 1300
    X, V = rng.standard_normal((n, 4)), rng.standard_normal((n, 3))
    weights = unequal(n, rng) if weighted else naive.equal_weights(n)
    scale = rng.uniform(0.5, 2, n)
    flatten = np.eye(n) - np.outer(np.ones(n), weights)
    expected = scale[:, None] * (flatten @ naive.rbf_matrix(X, X, 0.5) @ flatten.T) * scale
    operator = make(RBF(0.5), X, budget=budget, threads=threads, weights=weights, scale=scale)
    assert_allclose(operator.matmul(V), expected @ V, rtol=0, atol=1e-10)
    assert operator.frobenius == pytest.approx(np.linalg.norm(expected), rel=1e-12)
    assert operator.trace == pytest.approx(np.trace(expected), rel=1e-12)
    assert_allclose(operator.diagonal(), np.diag(expected), atol=1e-12)
    chosen = np.array([0, 1299, 641])
    assert_allclose(operator.columns(chosen), expected[:, chosen], atol=1e-12)
    assert_allclose(operator.dense(), expected, atol=1e-12)


def test_float32_tiles_are_centred_in_float64(rng):
    X = rng.standard_normal((700, 3)).astype(np.float32)
    V = rng.standard_normal((700, 2))
    flatten = np.eye(700) - 1 / 700
    expected = flatten @ naive.rbf_matrix(X, X, 1e-3) @ flatten  # nearly all of K is its mean
    operator = make(RBF(1e-3), X, dtype=np.float32)
    size = np.abs(expected).max() * np.sqrt(700)
    for got in (operator.matmul(V), operator.dense() @ V):
        assert got.dtype == np.float64
        assert_allclose(got, expected @ V, rtol=0, atol=1e-5 * size + 700 * 6e-8)


def test_the_norm_does_not_cancel(rng):
    X = 1.0 + 1e-4 * rng.standard_normal((60, 3))  # K is about (3 + 1)^3, K' about 1e-7
    K = naive.matrix(naive.poly(1.0, 1.0, 3), X)
    expected = naive.centred(K)
    operator = make(Polynomial(1.0, 1.0, 3), X)
    assert operator.frobenius == pytest.approx(naive.frobenius(expected), rel=1e-5)
    assert operator.trace == pytest.approx(naive.trace(expected), rel=1e-5)
    assert (operator.diagonal() >= 0).all()


def test_a_constant_column_changes_nothing_of_the_linear_kernel(rng):
    X = rng.standard_normal((20, 3))
    shifted = np.column_stack([X + 5.0, np.full(20, 3.0)])
    assert_allclose(make(Linear(), shifted).dense(), make(Linear(), X).dense(), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2])
def test_one_row_and_two_equal_rows_have_no_variation(n):
    operator = make(RBF(0.5), np.ones((n, 3)))
    assert_allclose(operator.dense(), 0, atol=1e-15)
    assert_allclose(operator.matmul(np.ones((n, 2))), 0, atol=1e-15)
    assert abs(operator.trace) < 1e-15
    assert operator.frobenius < 1e-15


def test_sparse_rows(rng):
    X = sp.random(90, 6, 0.4, format="csr", random_state=0)
    assert_allclose(make(RBF(0.5), X).dense(), make(RBF(0.5), X.toarray()).dense(), atol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("ask", ["matmul", "dense", "row_means", "trace", "frobenius"])
def test_values_that_are_not_finite_are_refused_with_advice(ask, rng):
    operator = make(Polynomial(1.0, 1.0, 3), rng.standard_normal((8, 2)) * 1e60)
    with pytest.raises(ValueError, match="Rescale the features"):
        operator.matmul(np.ones((8, 1))) if ask == "matmul" else getattr(operator, ask)()


def test_of_an_indefinite_kernel_the_trace_keeps_its_sign(rng):
    X = rng.standard_normal((12, 3))
    K = naive.matrix(naive.sigmoid(2.0, -3.0), X)
    assert make(Sigmoid(2.0, -3.0), X).trace == pytest.approx(naive.trace(naive.centred(K)), rel=1e-11)


# -- a matrix that the user computed ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_given_matrix_is_centred(dtype, rng):
    K = naive.matrix(naive.rbf(0.5), rng.standard_normal((14, 3))).astype(dtype)
    V = rng.standard_normal((14, 2))
    expected, means = naive.centred(K.astype(np.float64)), K.astype(np.float64).mean(axis=0)
    atol = 1e-14 if dtype == np.float64 else 1e-6
    operator = GivenOperator(K.copy())
    assert_allclose(operator.dense(), expected, atol=atol)
    assert operator.dense().dtype == np.float64
    assert_allclose(operator.matmul(V), expected @ V, atol=14 * atol)
    assert_allclose(operator.row_means, means, rtol=1e-6)
    assert operator.mean_norm == pytest.approx(means.mean(), rel=1e-6)
    assert operator.trace == pytest.approx(naive.trace(expected), rel=1e-5)
    assert operator.asymmetry < 1e-5


def test_a_given_matrix_that_is_symmetric_only_after_centring(rng):
    symmetric = naive.matrix(naive.rbf(0.5), rng.standard_normal((10, 3)))
    lopsided = symmetric + rng.standard_normal(10)  # a constant on each column vanishes
    operator = GivenOperator(lopsided)
    assert_allclose(operator.dense(), naive.centred(symmetric), atol=1e-13)
    assert operator.asymmetry < 1e-12


def test_what_is_left_of_asymmetry_is_averaged(rng):
    K = rng.standard_normal((10, 10))
    operator = GivenOperator(K.copy())
    assert_allclose(operator.dense(), naive.centred(0.5 * (K + K.T)), atol=1e-13)
    assert operator.asymmetry > 0.1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_given_matrix_as_a_source(dtype, rng, monkeypatch):
    monkeypatch.setattr("mercer.kernels.given.row_slices", lambda n, bytes_per_row: [slice(0, 4), slice(4, n)])
    K, V = rng.standard_normal((11, 11)).astype(dtype), rng.standard_normal((11, 2))
    source, tol = GivenKernel(K), 1e-12 if dtype == np.float64 else 1e-5
    product, means = source.product_with(V, V[:, 0])
    assert_allclose(product, K.astype(np.float64) @ V, atol=tol)
    assert_allclose(means, product[:, 0], atol=tol)
    assert product.dtype == means.dtype == source.dense().dtype == np.float64
    assert_allclose(source.columns(np.array([3, 3, 0])), K[:, [3, 3, 0]])
    seen = np.zeros((11, 11))

    def work(worker, rows, columns, tile):
        assert worker == 0
        seen[rows, columns] += tile

    source.for_each_tile(work)
    assert_allclose(seen, K)
    averaged = GivenKernel.averaged(K)
    assert_allclose(averaged.dense(), 0.5 * (K.astype(np.float64) + K.T), atol=tol)
    assert averaged.dtype == dtype


# -- any mean --------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_operator_around_a_mean_of_other_rows(given, threads, rng):
    X, others, w = rng.standard_normal((600, 3)), rng.standard_normal((9, 3)), unequal(9, rng)
    V, Y, kernel = rng.standard_normal((600, 2)), rng.standard_normal((600, 3)), RBF(0.5)
    K, means, norm = kernel(X), kernel(X, others) @ w, float(w @ kernel(others) @ w)
    expected = K - means[:, None] - means + norm
    source = GivenKernel(K) if given else SymmetricTiles(kernel, X, np.float64, 0, threads)
    operator = OperatorAroundMean(source, means, norm)
    assert_allclose(operator.matmul(V), expected @ V, atol=1e-11)
    assert_allclose(operator.dense(), expected, atol=1e-13)
    assert_allclose(operator.columns(np.array([7, 599])), expected[:, [7, 599]], atol=1e-13)
    assert operator.distance(Y) == pytest.approx(np.linalg.norm(expected - Y @ Y.T), rel=1e-12)
    assert operator.frobenius == pytest.approx(np.linalg.norm(expected), rel=1e-12)


def test_many_rows_are_centred_in_strips_with_the_same_bits_on_any_number_of_threads(rng):
    X = rng.standard_normal((1030, 3))
    one, two = (make(RBF(0.5), X, threads=threads).dense() for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert_allclose(one, by_definition(RBF(0.5)(X)), atol=1e-13)
