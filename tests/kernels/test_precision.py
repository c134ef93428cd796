"""float32 rows, and float32 tiles of float64 rows, give what float64 gives: to 1e-6 of the largest eigenvalue."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.base
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import mercer
from mercer.kernels import RBF
from mercer.kernels.precision import enough_precision, exponent_dtype
from mercer.kernels.tiles import PointBlocks, SymmetricTiles
from mercer.solvers.landmark.moments import Landmarks, enough_in_float32
from textbook.kernel_pca import rbf_matrix

KEPT = 1e-6


def clusters(distance: float, n: int = 400, d: int = 5, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[n // 2 :] += distance
    return X.astype(np.float32)


def large_column(size: float, n: int = 400, d: int = 5, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:, 0] *= size
    return X.astype(np.float32)


def far_group(distance: float, n: int = 400, d: int = 5, seed: int = 0) -> np.ndarray:
    """A few rows together, far from all others: too few for a sample of rows to meet them."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[7:13] = distance + 0.1 * X[7:13]
    return X.astype(np.float32)


NASTY = {
    "clusters 100": clusters(100.0),
    "clusters 1000": clusters(1000.0),
    "one column 1e4": large_column(1e4),
    "far group": far_group(3000.0),
    "offset": clusters(0.0) + np.float32(1000.0),
}


def eigenvalue_error(got: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(got - expected).max() / expected.max())


def exact(X: np.ndarray, r: int, **kernel) -> mercer.KernelPCA:
    return mercer.KernelPCA(r, **kernel, eigen_solver="dense", precision="float64").fit(X.astype(np.float64))


@pytest.mark.parametrize("gamma", [1e-6, 1e-3, 0.2, 1.0])
@pytest.mark.parametrize("X", NASTY.values(), ids=NASTY)
@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_float32_rows_and_mixed_precision_keep_six_digits(X, gamma, solver):
    expected = exact(X, 5, kernel="rbf", gamma=gamma)
    for rows, precision in ((X, "auto"), (X.astype(np.float64), "mixed")):
        model = mercer.KernelPCA(5, kernel="rbf", gamma=gamma, eigen_solver=solver, precision=precision).fit(rows)
        assert eigenvalue_error(model.eigenvalues_, expected.eigenvalues_) < KEPT
        spread = np.sqrt(expected.expansion_.trace / len(X))
        wide = model.transform(rows.astype(np.float64))
        assert_allclose(model.transform(rows), wide, rtol=0, atol=2e-6 * spread)
        assert_allclose(
            model.reconstruction_error(rows), model.reconstruction_error(rows.astype(np.float64)), atol=3e-6
        )


def _estimators() -> dict[str, Callable[[np.ndarray, dict], mercer.KernelPCA]]:
    def landmarks(X: np.ndarray) -> np.ndarray:
        return X[::4].astype(np.float64)

    return {
        "LandmarkKernelPCA": lambda X, k: mercer.LandmarkKernelPCA(3, landmarks=landmarks(X), **k),
        "LandmarkKernelPCA chosen": lambda X, k: mercer.LandmarkKernelPCA(3, landmarks=40, random_state=0, **k),
        "RobustKernelPCA": lambda X, k: mercer.RobustKernelPCA(3, psi="none", **k),
        "R1KernelPCA": lambda X, k: mercer.R1KernelPCA(3, max_iter=3, tol=0, **k),
        "HebbianKernelPCA": lambda X, k: mercer.HebbianKernelPCA(3, max_iter=2, shuffle=False, random_state=0, **k),
        "IncrementalKernelPCA": lambda X, k: mercer.IncrementalKernelPCA(3, rank=10, **k),
        "OnlineRobustKernelPCA": lambda X, k: mercer.OnlineRobustKernelPCA(3, landmarks=landmarks(X), **k),
    }


@pytest.mark.filterwarnings("ignore")  # some of these data leave components without variation, which is told
@pytest.mark.parametrize("gamma", [1e-5, 0.2])
@pytest.mark.parametrize("X", [NASTY["clusters 1000"], NASTY["one column 1e4"]], ids=["clusters", "column"])
@pytest.mark.parametrize("make", _estimators().values(), ids=_estimators())
def test_every_estimator_that_makes_tiles_keeps_six_digits(make, X, gamma):
    kernel = {"kernel": "rbf", "gamma": gamma}
    expected = make(X, kernel).fit(X.astype(np.float64)).eigenvalues_
    assert eigenvalue_error(make(X, kernel).fit(X).eigenvalues_, expected) < KEPT


@pytest.mark.parametrize("gamma", [1e-5, 0.2])
def test_the_objective_of_l1_components_keeps_what_the_kernel_matrix_keeps(gamma):
    X = NASTY["one column 1e4"]
    expected, model = (mercer.L1KernelPCA(1, kernel="rbf", gamma=gamma).fit(rows) for rows in (X.astype(float), X))
    # the objective is c^T K' c / |K' c| with c of squared length n: errors of K' count n times
    largest = exact(X, 1, kernel="rbf", gamma=gamma).eigenvalues_[0]
    assert abs(model.objective_[0] ** 2 - expected.objective_[0] ** 2) < KEPT * len(X) * largest


@given(
    shape=st.sampled_from([clusters, large_column, far_group]),
    size=st.floats(-2, 6),
    width=st.floats(-8, 2),
    seed=st.integers(0, 100),
)
def test_tiles_keep_six_digits_at_all_scales(shape, size, width, seed):
    X, kernel = shape(10.0**size, 60, 3, seed), RBF(10.0**width)
    exact64 = rbf_matrix(X.astype(np.float64), X.astype(np.float64), kernel.gamma)
    for rows in (X, X.astype(np.float64), sp.csr_array(X)):
        tiles = SymmetricTiles(kernel, rows, np.float32, 2**30).dense()
        error = _centred(tiles.astype(np.float64)) - _centred(exact64)
        assert np.linalg.norm(error, 2) <= KEPT * np.linalg.norm(_centred(exact64), 2) + 1e-14


@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid", "cosine", "laplacian"])
@pytest.mark.parametrize("offset", [0.0, 10.0, 1e4])
def test_mixed_precision_of_other_kernels_keeps_six_digits(kernel, offset):
    X = np.random.default_rng(3).standard_normal((200, 4)) + offset
    gamma = 0.2 / (1.0 + offset) ** 2 if kernel != "laplacian" else 0.2
    parameters = {"kernel": kernel, "gamma": gamma, "coef0": 0.1}
    model = mercer.KernelPCA(2, **parameters, precision="mixed").fit(X)
    expected = mercer.KernelPCA(2, **parameters, eigen_solver="dense").fit(X)
    assert eigenvalue_error(model.eigenvalues_, expected.eigenvalues_) < KEPT


def _centred(K: np.ndarray) -> np.ndarray:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def test_float32_is_used_where_it_is_enough_and_told_where_not():
    X = clusters(3.0)
    assert mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X).precision_ == "float32"
    assert mercer.KernelPCA(2, kernel="rbf", gamma=0.1, precision="mixed").fit(X.astype(float)).precision_ == "float32"
    assert mercer.KernelPCA(2, kernel="rbf", gamma=1e-7).fit(X).precision_ == "float64"
    assert mercer.KernelPCA(2, kernel="linear").fit(X + np.float32(1e4)).precision_ == "float64"
    assert mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X.astype(float)).precision_ == "float64"


def test_only_long_rows_cost_float64_products():
    short, long = np.full(3, 0.5), np.array([0.5, 1e5])
    assert exponent_dtype(short, short, np.float32) == np.float32
    assert exponent_dtype(short, long, np.float32) == np.float64
    X = far_group(1e4)
    blocks = PointBlocks(RBF(0.1), X, np.float32)
    assert blocks.dtype == np.float32
    assert blocks.rows.rows.dtype == np.float64
    assert PointBlocks(RBF(0.1), X[20:], np.float32).rows.rows.dtype == np.float32


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_or_equal_rows_need_no_special_care(n):
    X = np.ones((n, 2), np.float32)
    assert enough_precision(RBF(1.0), X, np.float32) in (np.float32, np.float64)
    assert mercer.KernelPCA(1, kernel="rbf").fit(X).eigenvalues_[0] == 0.0


def test_huge_float32_rows_do_not_overflow():
    X = clusters(0.0) * np.float32(1e25)
    model = mercer.KernelPCA(2, kernel="rbf", gamma=1e-50).fit(X)
    assert eigenvalue_error(model.eigenvalues_, exact(X, 2, kernel="rbf", gamma=1e-50).eigenvalues_) < KEPT


@pytest.mark.parametrize(("gamma", "enough"), [(0.2, True), (0.05, True), (0.01, False), (1e-6, False)])
def test_landmarks_use_float32_where_whitening_leaves_six_digits(gamma, enough):
    X = np.random.default_rng(4).standard_normal((4000, 10)).astype(np.float32)
    points = X[:60].astype(np.float64)
    assert not enough_in_float32(Landmarks(RBF(gamma), points), X[:100], 5)  # too few rows to save time
    expected, model = (
        mercer.LandmarkKernelPCA(5, kernel="rbf", gamma=gamma, landmarks=points).fit(rows)
        for rows in (X.astype(np.float64), X)
    )
    assert eigenvalue_error(model.eigenvalues_, expected.eigenvalues_) < KEPT
    assert (eigenvalue_error(model.eigenvalues_, expected.eigenvalues_) > 0) == enough


@pytest.mark.parametrize("psi", ["logistic", "exp", "huber", "tukey"])
@pytest.mark.parametrize("r", [1, 3, 6])
def test_weights_of_robust_components_do_not_depend_on_rounding(psi, r):
    """Six components leave residuals of 1e-9 of k(x, x): weights of such residuals need float64 kernel values."""
    X = np.random.default_rng(3).standard_normal((150, 1)).astype(np.float32)
    X[:10] += 3.0
    wide = mercer.RobustKernelPCA(r, gamma=0.3, psi=psi).fit(X.astype(np.float64))
    got = mercer.RobustKernelPCA(r, gamma=0.3, psi=psi).fit(X)
    assert eigenvalue_error(got.eigenvalues_, wide.eigenvalues_) <= KEPT
    assert_allclose(got.weights_, wide.weights_, atol=1e-4)


@pytest.mark.parametrize("standardize", ["soft", False])
@pytest.mark.parametrize("X", [clusters(1e5), clusters(1e5)[::4], np.ascontiguousarray(clusters(0.0)[:, :1])])
def test_alarms_do_not_depend_on_the_precision_of_the_rows(X, standardize):
    """Rows of two far clusters are nearly equal after scaling: their SPE is smaller than float32 can tell."""
    make = mercer.KernelOutlierDetector(mercer.KernelPCA(5, gamma=1.0), standardize=standardize, random_state=0)
    wide, got = sklearn.base.clone(make).fit(X.astype(np.float64)), sklearn.base.clone(make).fit(X)
    assert_allclose(got.p_values(X), wide.p_values(X), atol=1.5 / len(X))
    assert_allclose(got.statistics(X), wide.statistics(X), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", 0.1), ("poly", 1.0)])
def test_rows_that_are_all_equally_far_from_each_other(kernel, gamma, copies):
    X = np.tile(np.eye(1200 // copies), (copies, 1))  # float32 holds the kernel values, but loses their sums
    settings = {"kernel": kernel, "gamma": gamma, "eigen_solver": "krylov"}
    wide = mercer.KernelPCA(6, precision="float64", **settings).fit(X).eigenvalues_
    mixed = mercer.KernelPCA(6, precision="mixed", **settings).fit(X)
    assert_allclose(mixed.eigenvalues_, wide, atol=KEPT * wide[0])
    assert mixed.precision_ == "float64"


def test_one_row_that_float32_cannot_hold():
    model = mercer.KernelPCA(1, kernel="cosine", center=False, precision="mixed").fit([[1e-120, 2e-120]])
    assert_allclose(model.eigenvalues_, [1.0])
