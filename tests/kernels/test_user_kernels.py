"""Functions and objects as kernels, and wavelets."""

import sys
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import KernelPCA as PeerKernelPCA

from mercer import KernelPCA
from mercer.errors import MissingExtraError
from mercer.kernels import RBF, Kernel, Precomputed
from mercer.kernels.resolve import KernelSpec, resolve_kernel
from textbook import kernel_pca as naive

GAMMA_FREE = {"linear", "cosine"}


# -- functions and objects as kernels -------------------------------------------------------------


def pair_rbf(x, y, gamma=0.5):
    return float(np.exp(-gamma * np.sum((x - y) ** 2)))


def matrix_rbf(A, B, gamma=0.5):
    return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=-1))


class Both:
    """A callable object that accepts rows and matrices alike."""

    def __call__(self, x, y, gamma=0.5):
        return pair_rbf(x, y, gamma) if np.ndim(x) == 1 else matrix_rbf(x, y, gamma)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 30])
@pytest.mark.parametrize("kernel", [pair_rbf, matrix_rbf, Both(), RBF(0.5), lambda x, y: pair_rbf(x, y)])
def test_a_kernel_is_the_same_however_it_is_given(kernel, n, rng):
    X, new = rng.standard_normal((n, 4)), rng.standard_normal((6, 4))
    r = min(n, 2)
    expected = KernelPCA(r, kernel="rbf", gamma=0.5).fit(X)
    model = KernelPCA(r, kernel=kernel).fit(X)
    assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10, atol=1e-14)
    assert_allclose(np.abs(model.transform(new)), np.abs(expected.transform(new)), rtol=1e-8, atol=1e-10)
    errors = [m.reconstruction_error(new) for m in (model, expected)]
    assert_allclose(*errors, rtol=1e-8, atol=1e-10)


# The first rows can form a symmetric 3 x 3 matrix: then x @ y of the rows has the shape, and the values, of a
# matrix of kernel values, although the function takes only two rows.
@pytest.mark.parametrize(
    "X",
    [
        np.vstack([np.zeros((3, 3)), np.arange(21.0).reshape(7, 3) % 5]),
        np.vstack([np.full((3, 3), 255.0), np.arange(21.0).reshape(7, 3) % 5]),
        np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]),
        np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]),
        np.eye(3),
        np.arange(12.0).reshape(4, 3) ** 1.5,
    ],
)
def test_the_plain_dot_product_on_three_columns(X):
    model = KernelPCA(1, kernel=lambda x, y: x @ y).fit(X)
    assert_allclose(model.eigenvalues_, KernelPCA(1).fit(X).eigenvalues_, rtol=1e-10)


def test_kernel_params_reach_the_function(rng):
    X = rng.standard_normal((15, 3))
    expected = KernelPCA(2, kernel="rbf", gamma=1.7).fit_transform(X)
    for function in (pair_rbf, matrix_rbf):
        got = KernelPCA(2, kernel=function, kernel_params={"gamma": 1.7}).fit_transform(X)
        assert_allclose(np.abs(got), np.abs(expected), rtol=1e-8)
        assert not np.allclose(np.abs(KernelPCA(2, kernel=function).fit_transform(X)), np.abs(expected))


def test_a_function_gets_sparse_rows_as_scikit_learn_gives_them(rng):
    X = sp.random(12, 5, 0.5, format="csr", random_state=0)

    def product(x, y):
        return (x @ y.T).toarray()[0, 0] if sp.issparse(x) else x @ y

    expected = PeerKernelPCA(2, kernel=product).fit(X).eigenvalues_
    assert_allclose(KernelPCA(2, kernel=product).fit(X).eigenvalues_, expected, rtol=1e-10)


def test_an_error_in_the_users_function_is_not_hidden(rng):
    def broken(x, y):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        KernelPCA(2, kernel=broken).fit(rng.standard_normal((5, 2)))


def test_precomputed_holds_columns_and_knows_no_diagonal(rng):
    K = rng.standard_normal((4, 6))
    out = np.empty((4, 3))
    Precomputed().block(K, np.array([5, 0, 0]), out)
    assert_array_equal(out, K[:, [5, 0, 0]])
    with pytest.raises(ValueError, match="Pass the kernel itself"):
        Precomputed().diagonal(K)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "chi2"])
def test_names_resolve_to_their_formulas(name, rng):
    X = rng.uniform(0.1, 1, (8, 3))
    kernel = resolve_kernel(KernelSpec(name, 0.4, 2, 0.3, {}), X)
    arguments = {"poly": (0.4, 0.3, 2), "sigmoid": (0.4, 0.3)}.get(name, () if name in GAMMA_FREE else (0.4,))
    assert_allclose(kernel(X), naive.matrix(getattr(naive, name)(*arguments), X), rtol=1e-12)


# -- wavelets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_haar_signals(level, dtype, rng):
    pytest.importorskip("pywt")
    X, Y = rng.standard_normal((5, 16)).astype(dtype), rng.standard_normal((4, 16)).astype(dtype)
    kernel = import_module("mercer.kernels").Wavelet("haar", level).bind(16)
    K = kernel(X, Y)
    assert K.dtype == dtype
    atol = 1e-12 if dtype == np.float64 else 2e-5
    assert_allclose(K, naive.matrix(naive.haar(level), X, Y), rtol=0, atol=atol)
    assert_allclose(kernel.diagonal(X), naive.diagonal(naive.haar(level), X), atol=atol)


@pytest.mark.parametrize("level", [-1, 1.5, "2"])
def test_a_level_that_is_none_is_refused(level, rng):
    pytest.importorskip("pywt")
    with pytest.raises(ValueError, match=f"level.*got {level!r}"):
        KernelPCA(2, kernel="wavelet", kernel_params={"level": level}).fit(rng.standard_normal((5, 8)))


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("shape", [(8, 4), (4, 8), (4, 4)])
def test_haar_images(level, shape, rng):
    pytest.importorskip("pywt")
    X = rng.standard_normal((5, shape[0] * shape[1]))
    params = {"wavelet": "haar", "level": level, "shape": shape}
    model = KernelPCA(3, kernel="wavelet", kernel_params=params).fit(X)
    K = naive.matrix(naive.haar(level, shape), X)
    assert_allclose(model.expansion_.kernel(X), K, rtol=0, atol=1e-12)
    assert_allclose(model.eigenvalues_, np.maximum(naive.kernel_pca(K, 3)[0], 0), atol=1e-11)


@pytest.mark.parametrize("wavelet", ["sym4", "db2", "haar", "coif1", "bior2.2"])
def test_any_wavelet_gives_the_inner_products_of_its_approximation(wavelet, rng):
    pywt = pytest.importorskip("pywt")
    signals, images = rng.standard_normal((4, 32)), rng.standard_normal((4, 16, 16))
    Wavelet = import_module("mercer.kernels").Wavelet
    for level in (1, 2):
        options = {"wavelet": wavelet, "mode": "periodization", "level": level}
        F = np.array([pywt.wavedec(x, **options)[0] for x in signals])
        assert_allclose(Wavelet(wavelet, level).bind(32)(signals), F @ F.T, atol=1e-11)
        F = np.array([pywt.wavedec2(x, **options)[0].ravel() for x in images])
        kernel = Wavelet(wavelet, level, (16, 16)).bind(256)
        assert_allclose(kernel(images.reshape(4, -1)), F @ F.T, atol=1e-11)


@pytest.mark.parametrize(
    ("wavelet", "shape"),
    [
        *[("haar", (16,)), ("sym4", (32,)), ("sym4", (16, 8)), ("haar", (7,)), ("haar", (5, 6)), ("haar", (1,))],
        *[("sym4", (37,)), ("sym4", (28, 18)), ("db2", (9, 15)), ("bior2.2", (21,)), ("coif1", (30, 7))],
    ],
)
def test_wavelet_features_and_their_inverse(wavelet, shape, rng):
    pytest.importorskip("pywt")
    d = int(np.prod(shape))
    kernel = import_module("mercer.kernels").Wavelet(wavelet, 2, shape).bind(d)
    X = rng.standard_normal((6, d))
    F = kernel.features(X)
    assert_allclose(kernel(X), F @ F.T, atol=1e-12)
    smooth = kernel.inverse_features(F)
    assert smooth.shape == X.shape
    assert_allclose(kernel.features(smooth), F, atol=1e-10)
    model = KernelPCA(2, kernel=kernel, preimage="exact").fit(X)
    scores = model.transform(X)
    assert_allclose(model.transform(model.inverse_transform(scores)), scores, atol=1e-10)


def test_wavelet_rows_that_do_not_fit_the_shape(rng):
    pytest.importorskip("pywt")
    with pytest.raises(ValueError, match=r"\(4, 5\).*21 features"):
        KernelPCA(2, kernel="wavelet", kernel_params={"shape": (4, 5)}).fit(rng.standard_normal((6, 21)))


def test_sparse_rows_have_wavelets_too(rng):
    pytest.importorskip("pywt")
    X = sp.random(9, 16, 0.4, format="csr", random_state=1)
    params = {"kernel": "wavelet", "kernel_params": {"level": 2}}
    assert_allclose(
        KernelPCA(3, **params).fit(X).eigenvalues_,
        KernelPCA(3, **params).fit(X.toarray()).eigenvalues_,
        rtol=1e-12,
    )


def test_without_pywavelets_the_error_says_how_to_get_it(monkeypatch, rng):
    monkeypatch.setitem(sys.modules, "pywt", None)
    monkeypatch.delitem(sys.modules, "mercer.kernels.wavelet", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'mercer\[wavelet\]'"):
        KernelPCA(2, kernel="wavelet").fit(rng.standard_normal((6, 8)))


def test_a_kernel_class_that_lacks_a_method_is_told_which():
    class Half(Kernel):
        """A kernel without `block` and `diagonal`."""

    with pytest.raises(NotImplementedError, match=r"The kernel Half needs a method block\(A, B, out\)"):
        Half()(np.ones((2, 1)))
    with pytest.raises(NotImplementedError, match=r"The kernel Half needs a method diagonal\(X\)"):
        Half().diagonal(np.ones((2, 1)))
