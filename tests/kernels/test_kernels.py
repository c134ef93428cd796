"""Kernel functions against their textbook twins, on ordinary and nasty rows, and all ways to name one."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA
from mercer.kernels import RBF, Chi2, Cosine, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from mercer.kernels.resolve import median_gamma, resolve_gamma
from textbook import kernel_pca as naive

TOLERANCE = {np.float64: 1e-13, np.float32: 2e-6}


@dataclass(frozen=True)
class Case:
    """A kernel object, its twin, and how large the terms are that its rounding errors are a fraction of."""

    kernel: Kernel
    twin: naive.Pair
    rounding: str  # "dot", "length", "power" or "none"

    def scale(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        X, Y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
        products = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
        gamma = getattr(self.kernel, "gamma", 1.0)
        if self.rounding == "power":
            degree = self.kernel.degree
            return (1 + degree) * (gamma * products + abs(self.kernel.coef0)) ** degree
        if self.rounding == "length":  # the exponent is made of squared lengths, measured from the mean
            reach = [np.linalg.norm(Z - Y.mean(axis=0), axis=1) for Z in (X, Y)]
            return 1 + gamma * np.add.outer(*reach) ** 2
        return {"dot": products, "tanh": 1 + gamma * products, "none": np.ones(products.shape)}[self.rounding]


CASES = {
    "linear": Case(Linear(), naive.linear(), "dot"),
    "poly3": Case(Polynomial(0.3, 1.0, 3), naive.poly(0.3, 1.0, 3), "power"),
    "poly2": Case(Polynomial(0.5, 0.0, 2), naive.poly(0.5, 0.0, 2), "power"),
    "poly5": Case(Polynomial(0.1, -0.7, 5), naive.poly(0.1, -0.7, 5), "power"),
    "poly1": Case(Polynomial(2.0, 1.0, 1), naive.poly(2.0, 1.0, 1), "power"),
    "poly0": Case(Polynomial(2.0, 1.0, 0), naive.poly(2.0, 1.0, 0), "power"),
    "rbf": Case(RBF(0.3), naive.rbf(0.3), "length"),
    "rbf_narrow": Case(RBF(40.0), naive.rbf(40.0), "length"),
    "rbf_flat": Case(RBF(0.0), naive.rbf(0.0), "length"),
    "sigmoid": Case(Sigmoid(0.2, -0.5), naive.sigmoid(0.2, -0.5), "tanh"),
    "cosine": Case(Cosine(), naive.cosine(), "none"),
    "laplacian": Case(Laplacian(0.4), naive.laplacian(0.4), "length"),
    "chi2": Case(Chi2(0.7), naive.chi2(0.7), "length"),
}


def assert_twin(case: Case, got: np.ndarray, X: np.ndarray, Y: np.ndarray, dtype: type) -> None:
    assert got.dtype == dtype
    expected = naive.matrix(case.twin, X, Y)
    error = np.abs(got.astype(np.float64) - expected)
    allowed = TOLERANCE[dtype] * np.maximum(case.scale(X, Y), 1e-290)
    worst = (error / allowed).argmax()
    assert (error <= allowed).all(), f"off by {error.flat[worst]:.3g}; {allowed.flat[worst]:.3g} is allowed"


@st.composite
def nasty_rows(draw, dtype=np.float64, columns=None, lowest=-10.0):
    """Rows with zeros, whole numbers, repeats, constant columns and a zero row, as often as ordinary ones."""
    width = np.dtype(dtype).itemsize * 8
    floats = st.floats(lowest, 10, width=width, allow_subnormal=False)
    plain = floats.map(lambda v: 0.0 if abs(v) < 1e-3 else v)
    whole = st.sampled_from([0.0, 1.0, 2.0, max(lowest, -1.0)])
    shape = (draw(st.integers(1, 7)), columns or draw(st.integers(1, 6)))
    X = draw(arrays(dtype, shape, elements=st.one_of(plain, whole)))
    if draw(st.booleans()):
        X[-1] = X[0]
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    if draw(st.booleans()):
        X[0] = 0.0
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
def test_equals_the_twin(name, dtype, data):
    case = CASES[name]
    lowest = 0.0 if name == "chi2" else -10.0
    X = data.draw(nasty_rows(dtype, lowest=lowest))
    Y = data.draw(nasty_rows(dtype, columns=X.shape[1], lowest=lowest))
    assert_twin(case, case.kernel(X, Y), X, Y, dtype)
    assert_twin(case, case.kernel(X), X, X, dtype)


@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
def test_diagonal_equals_the_twin(name, data):
    case = CASES[name]
    X = data.draw(nasty_rows(lowest=0.0 if name == "chi2" else -10.0))
    got = case.kernel.diagonal(X)
    assert got.dtype == np.float64
    assert (np.abs(got - naive.diagonal(case.twin, X)) <= 1e-13 * np.diag(case.scale(X, X))).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(CASES.keys() - {"chi2"}))
@given(data=st.data())
def test_sparse_equals_dense(name, dtype, data):
    case = CASES[name]
    X = data.draw(nasty_rows(dtype))
    Y = data.draw(nasty_rows(dtype, columns=X.shape[1]))
    for made in (sp.csr_matrix, sp.csr_array):
        assert_twin(case, case.kernel(made(X), made(Y)), X, Y, dtype)
    assert_allclose(case.kernel.diagonal(sp.csr_matrix(X)), case.kernel.diagonal(X), rtol=1e-12, atol=0)


# A shift of the origin that reaches only one of the two operands makes these disagree.
@pytest.mark.parametrize("name", sorted(CASES.keys() - {"chi2"}))
@pytest.mark.parametrize("sparse_side", ["left", "right"])
def test_one_sparse_and_one_dense_operand(name, sparse_side, rng):
    case = CASES[name]
    X, Y = rng.standard_normal((6, 4)) + 1.0, rng.standard_normal((5, 4)) + 1.0
    left, right = (sp.csr_matrix(X), Y) if sparse_side == "left" else (X, sp.csr_matrix(Y))
    assert_twin(case, case.kernel(left, right), X, Y, np.float64)


@pytest.mark.parametrize("name", CASES)
def test_a_block_goes_where_it_is_told(name, rng):
    kernel = CASES[name].kernel
    X, Y = rng.uniform(0, 1, (7, 3)), rng.uniform(0, 1, (5, 3))
    expected = kernel(X, Y)
    A, B = (kernel.prepare(Z, np.float64, kernel.origin(Y)) for Z in (X, Y))
    frame = np.full((9, 5), -7.0)
    kernel.block(A, B, frame[1:8])
    assert_allclose(frame[1:8], expected, rtol=1e-14)
    assert (frame[[0, 8]] == -7.0).all()


def test_an_rbf_block_may_be_a_view(rng):
    X = rng.standard_normal((5, 3))
    rows = RBF(0.5).prepare(X, np.float64)
    frame = np.full((8, 9), -7.0)
    RBF(0.5).block(rows, rows, frame[2:7, 3:8])
    assert_allclose(frame[2:7, 3:8], naive.matrix(naive.rbf(0.5), X), rtol=0, atol=1e-15)
    frame[2:7, 3:8] = -7.0
    assert (frame == -7.0).all()


@pytest.mark.parametrize("name", CASES)
def test_prepared_rows_can_be_sliced(name, rng):
    kernel = CASES[name].kernel
    X = rng.uniform(0, 1, (9, 3))
    rows = kernel.prepare(X, np.float64, kernel.origin(X))
    for key in (slice(2, 6), np.array([5, 0, 0, 8])):
        out = np.empty((len(X[key]), 9))
        kernel.block(rows[key], rows, out)
        assert_allclose(out, kernel(X)[key], rtol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_the_matrix_is_symmetric_and_repeats_give_repeats(name, rng):
    case = CASES[name]
    X = rng.uniform(0, 2, (8, 4))
    X[5] = X[2]
    K = case.kernel(X)
    assert_allclose(K, K.T, rtol=1e-12)
    assert_allclose(K[5], K[2], rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_the_arguments_are_left_alone(name, rng):
    X, Y = rng.uniform(0, 2, (8, 4)), rng.uniform(0, 2, (3, 4))
    kept = X.copy(), Y.copy()
    CASES[name].kernel(X, Y)
    assert np.array_equal(X, kept[0])
    assert np.array_equal(Y, kept[1])


def test_whole_numbers_are_taken_as_real_ones():
    X = np.arange(12).reshape(4, 3)
    for name in CASES:
        assert_allclose(CASES[name].kernel(X), CASES[name].kernel(X.astype(float)), rtol=1e-15)


def test_cosine_of_zero_rows_is_zero():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [-1.0, 0.0], [0.0, 0.0]])
    expected = [[0, 0, 0, 0], [0, 1, -0.6, 0], [0, -0.6, 1, 0], [0, 0, 0, 0]]
    for rows in (X, sp.csr_matrix(X)):
        assert_allclose(Cosine()(rows), expected, atol=1e-15)
        assert_array_equal(Cosine().diagonal(rows), [0, 1, 1, 0])


def test_chi2_of_empty_histograms_is_one_and_negative_numbers_are_refused():
    X = np.array([[0.0, 0.0], [0.0, 3.0]])
    assert_allclose(Chi2(0.5)(X), [[1, np.exp(-1.5)], [np.exp(-1.5), 1]], rtol=1e-15)
    with pytest.raises(ValueError, match=r"(?i)negative values.*smallest is -1"):
        Chi2(0.5)(X - 1)
    with pytest.raises(TypeError, match=r"toarray\(\)"):
        Chi2(0.5)(sp.csr_matrix(X))


# -- the Gaussian kernel where subtraction cancels ------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "offset", "rtol"), [(np.float64, 1e6, 1e-10), (np.float64, 1e9, 1e-8), (np.float32, 1e5, 1e-5)]
)
def test_rbf_far_from_the_origin(dtype, offset, rtol, rng):
    X = (rng.standard_normal((40, 6)) + offset).astype(dtype)
    Y = (rng.standard_normal((30, 6)) + offset).astype(dtype)
    assert_allclose(RBF(0.2)(X, Y), naive.rbf_matrix(X, Y, 0.2), rtol=rtol)


# One far row must not cost the others their digits, whatever the origin is moved to.
@pytest.mark.parametrize(
    ("dtype", "outlier", "atol"), [(np.float64, 1e6, 1e-9), (np.float64, 1e9, 1e-9), (np.float32, 1e4, 1e-5)]
)
def test_rbf_beside_an_outlier(dtype, outlier, atol, rng):
    X = rng.standard_normal((40, 4)).astype(dtype)
    X[17] = outlier
    expected = naive.rbf_matrix(X, X, 0.3)
    assert_allclose(RBF(0.3)(X), expected, rtol=0, atol=atol)
    model = KernelPCA(5, kernel="rbf", gamma=0.3).fit(X)
    values = naive.kernel_pca(expected, 5)[0]
    assert_allclose(model.eigenvalues_, values, rtol=100 * atol)


@pytest.mark.parametrize("gamma", [1e-300, 1e-12, 1e3, 1e12])
def test_rbf_of_any_width(gamma, rng):
    X = rng.standard_normal((12, 3))
    X[4] = X[9]
    K = RBF(gamma)(X)
    expected = naive.matrix(naive.rbf(gamma), X)
    off = ~np.eye(12, dtype=bool) & (expected < 1)  # of identical rows only rounding times gamma can be asked
    assert_allclose(K[off], expected[off], rtol=0, atol=1e-11)
    assert ((K >= 0) & (K <= 1)).all()


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2"])
def test_gamma_zero_gives_a_model_without_variation(kernel, rng):
    X = rng.uniform(0, 1, (20, 3))
    model = KernelPCA(2, kernel=kernel, gamma=0).fit(X)
    assert (model.expansion_.kernel(X) == 1).all()
    assert (model.eigenvalues_ == 0).all()
    assert (model.transform(X) == 0).all()


# -- too large for the number format --------------------------------------------------------------


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("kernel", "size"), [("linear", 1e170), ("poly", 1e60), ("rbf", 1e170)])
@pytest.mark.filterwarnings("ignore:.*(overflow|invalid):RuntimeWarning")
def test_overflow_is_an_error_that_says_what_to_do(kernel, size, storage, rng):
    X = storage(rng.standard_normal((30, 4)) * size)
    with pytest.raises(ValueError, match=r"(?i)rescale the features.*StandardScaler"):
        KernelPCA(2, kernel=kernel, gamma=1.0).fit(X)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("kernel", "size"), [("linear", 1e25), ("poly", 1e15), ("rbf", 1e25)])
def test_what_overflows_in_float32_only_is_computed_in_float64(kernel, size, storage, rng):
    X = (rng.standard_normal((30, 4)) * size).astype(np.float32)
    parameters = {"kernel": kernel, "gamma": size**-2.0, "coef0": 1.0}
    got = KernelPCA(2, **parameters).fit(storage(X)).eigenvalues_
    assert_allclose(got, KernelPCA(2, **parameters).fit(X.astype(np.float64)).eigenvalues_, rtol=1e-6)


# Cosines do not depend on the scale: the right answer or a refusal, but not silent zeros.
@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e170), (np.float32, 1e25)])
def test_cosine_of_huge_rows(dtype, size, rng):
    X = rng.standard_normal((30, 4)).astype(dtype)
    try:
        got = KernelPCA(3, kernel="cosine").fit(X * dtype(size)).eigenvalues_
    except ValueError as refusal:
        assert "escale" in str(refusal)  # noqa: PT017
    else:
        assert_allclose(got, KernelPCA(3, kernel="cosine").fit(X).eigenvalues_, rtol=1e-4)


@pytest.mark.parametrize("size", [1e19, 1e25, 1e38])
@pytest.mark.filterwarnings("ignore:.*(overflow|invalid):RuntimeWarning")
def test_far_new_rows_in_float32_are_infinitely_far_or_refused(size, rng):
    model = KernelPCA(3, kernel="rbf").fit(rng.standard_normal((30, 4)).astype(np.float32))
    nowhere = -model.expansion_.offset  # the scores where k(x, .) = 0
    try:
        got = model.transform(np.full((2, 4), size, np.float32))
    except ValueError as refusal:
        assert "escale" in str(refusal)  # noqa: PT017
    else:
        assert_allclose(got, np.tile(nowhere, (2, 1)), rtol=1e-5)


# -- gamma ----------------------------------------------------------------------------------------


@given(X=nasty_rows(columns=3))
def test_median_gamma_is_its_definition(X):
    if len(np.unique(X, axis=0)) < 2:
        assert median_gamma(X) == pytest.approx(1 / 3)
    else:
        assert median_gamma(X) == pytest.approx(naive.median_gamma(X), rel=1e-9)
        assert median_gamma(sp.csr_matrix(X)) == pytest.approx(naive.median_gamma(X), rel=1e-9)


# What a median is for: one far row must not move it. A cut-off for repeats that grows with the far row does.
@pytest.mark.parametrize("outlier", [1e4, 1e6, 1e8, 1e12])
def test_median_gamma_beside_an_outlier(outlier, rng):
    X = rng.standard_normal((40, 4))
    X[3] = outlier
    assert median_gamma(X) == pytest.approx(naive.median_gamma(X), rel=1e-6)


def test_median_gamma_far_from_the_origin(rng):
    X = rng.standard_normal((30, 3)) + 1e7
    assert median_gamma(X) == pytest.approx(naive.median_gamma(X), rel=1e-6)


def test_median_gamma_of_many_rows_is_nearly_that_of_all(rng):
    X = rng.standard_normal((3000, 4))
    everything = naive.median_gamma(X[:400])
    assert median_gamma(X) == pytest.approx(everything, rel=0.1)
    assert median_gamma(X, 1) == median_gamma(X, 1)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("kernel", ["laplacian", "chi2"])
def test_median_gamma_of_distances_that_are_not_squared(kernel, unit, rng):
    """Kernel values have the same median in every unit: e^(-1/2)."""
    X = rng.gamma(1.0, size=(60, 5)) * unit
    found = KernelPCA(2, kernel=kernel, gamma="median").fit(X)
    pairs = [
        np.sum(np.abs(a - b)) if kernel == "laplacian" else np.sum((a - b) ** 2 / (a + b))
        for i, a in enumerate(X)
        for b in X[:i]
    ]
    assert found.gamma_ == pytest.approx(0.5 / np.median(pairs))
    repeated = np.repeat(X, 3, axis=0)
    assert resolve_gamma("median", repeated, kernel=kernel) == pytest.approx(found.gamma_)
    assert resolve_gamma("median", X[:1], kernel=kernel) == pytest.approx(1 / 5)
    if kernel == "laplacian":
        assert resolve_gamma("median", sp.csr_matrix(X), kernel=kernel) == pytest.approx(found.gamma_)


def test_median_gamma_of_distances_out_of_range(rng):
    X = rng.uniform(size=(10, 3)) * 1e308
    with pytest.raises(ValueError, match="Rescale the features"):
        resolve_gamma("median", X, kernel="laplacian")


def test_gamma_is_frozen_at_fit(rng):
    X = rng.standard_normal((30, 5))
    assert KernelPCA(2, kernel="rbf").fit(X).gamma_ == pytest.approx(1 / 5)
    assert KernelPCA(2, kernel="rbf", gamma=0.7).fit(X).gamma_ == 0.7
    model = KernelPCA(2, kernel="rbf", gamma="median").fit(X)
    assert model.gamma_ == pytest.approx(naive.median_gamma(X), rel=1e-9)
    before = model.transform(X[:3])
    model.gamma = 55.0
    assert np.array_equal(model.transform(X[:3]), before)
    assert resolve_gamma(None, X) == pytest.approx(0.2)
