"""`KernelPCA` with little memory, on degenerate data and with indefinite kernels."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone

from mercer import KernelPCA
from mercer.errors import IndefiniteKernelWarning
from mercer.kernels import RBF

SOLVERS = ["auto", "dense", "arpack", "randomized", "krylov"]


# -- memory and threads ---------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "krylov", "arpack", "randomized"])
def test_the_result_does_not_depend_on_the_memory(solver, rng):
    X, new = rng.standard_normal((900, 5)), rng.standard_normal((20, 5))
    results = []
    for megabytes in (1, 1024):
        with config_context(working_memory=megabytes):
            model = KernelPCA(5, kernel="rbf", eigen_solver=solver).fit(X)
            results.append((model.eigenvalues_, model.transform(new), model.reconstruction_error(new)))
    for small, large in zip(*results, strict=True):
        assert_allclose(small, large, rtol=1e-9, atol=1e-10)


def test_little_working_memory_is_respected(rng):
    X = rng.standard_normal((3000, 5))
    KernelPCA(4, kernel="rbf", tol=1e-6).fit(X[:1600])  # compiles
    with config_context(working_memory=1):
        tracemalloc.start()
        try:
            KernelPCA(4, kernel="rbf", tol=1e-6).fit(X)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 0.25 * 3000 * 3000 * 8


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_the_result_does_not_depend_on_the_threads(n_jobs, rng):
    X = rng.standard_normal((1400, 5))
    expected = KernelPCA(4, kernel="rbf", n_jobs=1).fit(X)
    model = KernelPCA(4, kernel="rbf", n_jobs=n_jobs).fit(X)
    assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-12)
    assert_allclose(model.eigenvectors_, expected.eigenvectors_, atol=1e-9)


# Sums that follow the order in which threads happen to take their tiles make these differ in the last digits.
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_two_fits_are_equal_to_the_last_bit(solver, n_jobs, rng):
    X = rng.standard_normal((700 if solver == "dense" else 2200, 5))  # three tiles meet in every sum
    how = {"eigen_solver": solver, "n_jobs": n_jobs, "tol": 1e-4, "precision": "float64"}
    first = KernelPCA(3, kernel="rbf", **how).fit(X)
    for _ in range(2):
        again = clone(first).fit(X)
        assert np.array_equal(again.eigenvalues_, first.eigenvalues_)
        assert np.array_equal(again.eigenvectors_, first.eigenvectors_)
        assert np.array_equal(again.transform(X[:50]), first.transform(X[:50]))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_global_random_state_is_left_alone(solver, rng):
    X = rng.standard_normal((350, 5))
    np.random.seed(3)  # noqa: NPY002 - the legacy state is the point
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    KernelPCA(3, kernel="rbf", eigen_solver=solver, gamma="median").fit(X)
    KernelPCA(3, kernel="rbf", eigen_solver=solver, random_state=7).fit(X).transform(X)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# Kernel values below the normal numbers make every product with them many times slower.
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiles_of_narrow_kernels_hold_no_subnormal_numbers(dtype, rng):
    K = RBF(60.0)(rng.standard_normal((300, 8)).astype(dtype))
    smallest = np.finfo(dtype).tiny
    assert (K[K > 0] >= smallest).all()
    assert (K == 0).any()
    assert (1e5 * smallest > K).any()


# Rounding in float32 grows with the root of n, so a cut-off that grows with n removes real components.
@pytest.mark.parametrize("precision", ["auto", "mixed"])
@pytest.mark.parametrize("n", [320, 1500])
def test_wide_kernels_in_float32_keep_what_can_be_told_from_rounding(precision, n, rng):
    X = rng.standard_normal((n, 8))
    true = KernelPCA(10, kernel="rbf", gamma=1e-4, precision="float64").fit(X).eigenvalues_
    model = KernelPCA(10, kernel="rbf", gamma=1e-4, precision=precision)
    got = model.fit(X if precision == "mixed" else X.astype(np.float32)).eigenvalues_
    assert_allclose(got, true, rtol=0, atol=2e-4 * true[0])


# -- degenerate data ------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
@pytest.mark.parametrize(
    "X",
    [np.ones((1, 3)), np.ones((2, 3)), np.full((7, 3), 0.1), np.zeros((5, 2))],
    ids=["one", "two", "seven", "zeros"],
)
def test_data_without_variation(X, kernel, solver):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(1, kernel=kernel, eigen_solver=solver).fit(X)
    assert (model.eigenvalues_ == 0).all()
    assert (model.transform(X) == 0).all()
    assert model.fit_transform(X).shape == (len(X), 1)
    assert (model.explained_variance_ratio_ == 0).all()
    assert_allclose(model.reconstruction_error(X), 0, atol=1e-12)
    assert np.isfinite(model.transform(X + 1)).all()


def test_a_single_row_with_all_components():
    model = KernelPCA(kernel="rbf").fit(np.ones((1, 3)))
    assert model.transform(np.ones((4, 3))).shape == (4, 0)
    assert model.eigenvalues_.shape == (0,)


def test_two_different_rows_have_one_component():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    model = KernelPCA(kernel="linear").fit(X)
    assert_allclose(model.eigenvalues_, [1.0], rtol=1e-12)
    assert_allclose(np.sort(model.transform(X)[:, 0]), [-np.sqrt(0.5), np.sqrt(0.5)], rtol=1e-12)


def test_the_training_rows_are_kept_safe_from_changes(rng):
    X = rng.standard_normal((20, 3))
    new = X[:4].copy()
    model = KernelPCA(2, kernel="rbf").fit(X)
    before = model.transform(new)
    X *= 100
    assert np.array_equal(model.transform(new), before)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_without_copying_the_rows_are_still_not_changed(kernel, rng):
    X = rng.standard_normal((20, 3))
    kept = X.copy()
    model = KernelPCA(2, kernel=kernel, copy_X=False).fit(X)
    assert np.array_equal(X, kept)
    assert model.X_fit_ is X
    assert KernelPCA(2, kernel=kernel, copy_X=True).fit(X).X_fit_ is not X


# -- indefinite kernels ---------------------------------------------------------------------------


def indefinite(n: int, low: float, seed: int = 0) -> np.ndarray:
    """A centred symmetric matrix with eigenvalues from 1 to 0.01 and one negative."""
    G = np.random.default_rng(seed).standard_normal((n, n))
    Q = np.linalg.qr(G - G.mean(axis=0))[0][:, : n - 1]
    K = (Q * np.r_[np.linspace(1, 0.01, n - 2), low]) @ Q.T
    return 0.5 * (K + K.T)


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "krylov"])
@pytest.mark.parametrize("n", [50, 400])
@pytest.mark.parametrize("low", [-0.1, -0.6])
def test_negative_values_outside_the_selection_warn(low, n, solver):
    with pytest.warns(IndefiniteKernelWarning, match="indefinite"):
        model = KernelPCA(3, kernel="precomputed", eigen_solver=solver).fit(indefinite(n, low))
    assert_allclose(model.eigenvalues_, np.linspace(1, 0.01, n - 2)[:3], rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [50, 400])
def test_negative_values_that_dominate_are_an_error(n, solver):
    with pytest.raises(ValueError, match=r"significant negative eigenvalues.*other parameters of the kernel"):
        KernelPCA(3, kernel="precomputed", eigen_solver=solver).fit(indefinite(n, -1.5))


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "krylov"])
def test_negative_values_in_the_selection_are_an_error(solver):
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        KernelPCA(40, kernel="precomputed", eigen_solver=solver).fit(indefinite(40, -0.3))


def test_a_wild_sigmoid_kernel_is_not_accepted_in_silence(rng):
    X = rng.standard_normal((60, 3)) * 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            KernelPCA(2, kernel="sigmoid", gamma=1.0, coef0=-2.0).fit(X)
        except ValueError as refusal:
            assert "negative eigenvalues" in str(refusal)  # noqa: PT017
        else:
            assert any(issubclass(w.category, IndefiniteKernelWarning) for w in caught)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma", [1e-12, 1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("solver", ["dense", "krylov", "arpack"])
def test_a_definite_kernel_never_looks_indefinite(gamma, dtype, solver, rng):
    X = rng.standard_normal((320, 4)).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(6, kernel="rbf", gamma=gamma, eigen_solver=solver).fit(X)
    assert (model.eigenvalues_ >= 0).all()
