"""The start from a sample of rows: fewer passes where kernel values are computed in every pass, the same components."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn import config_context

from mercer import KernelPCA
from mercer.engine.krylov import block_krylov
from mercer.kernels import RBF, Linear
from mercer.solvers.exact.start import sampled_start


def centred(K: np.ndarray) -> np.ndarray:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def test_it_saves_passes(rng):
    X = rng.standard_normal((1500, 20))
    K = centred(RBF(0.05)(X, X))
    start = rng.standard_normal((1500, 32))
    better = sampled_start(start, RBF(0.05), X, 1)
    plain, helped = (
        block_krylov(K.__matmul__, first, 8, tol=1e-9, floor=1e-15, max_iter=50) for first in (start, better)
    )
    assert helped.n_iter < plain.n_iter
    assert_allclose(helped.values, plain.values, rtol=1e-12)


def test_some_columns_stay_random_and_the_argument_is_not_changed(rng):
    X, start = rng.standard_normal((700, 3)), rng.standard_normal((700, 20))
    before = start.copy()
    better = sampled_start(start, RBF(1.0), X, 2)
    assert np.array_equal(start, before)
    assert np.array_equal(better[:, 12:], start[:, 12:])
    assert not np.isclose(better[:, :12], start[:, :12]).any(axis=1).all()


@pytest.mark.parametrize("X", [np.ones((600, 2)), np.full((600, 2), 1e200), np.zeros((3, 2))])
def test_rows_from_which_nothing_follows_leave_finite_columns(X, rng):
    start = rng.standard_normal((len(X), 16))
    assert np.isfinite(sampled_start(start, Linear(), X, 1)).all()


def test_a_group_that_the_sample_misses_is_found(rng):
    X = rng.standard_normal((3000, 5))
    sample = np.random.default_rng(0).choice(3000, 512, replace=False)
    X[np.setdiff1d(np.arange(3000), sample)[:150]] += 100.0  # no kernel value with another row
    exact = KernelPCA(6, kernel="rbf", gamma=1.0, eigen_solver="dense").fit(X)
    with config_context(working_memory=1):
        model = KernelPCA(6, kernel="rbf", gamma=1.0, eigen_solver="krylov").fit(X)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-10)


def test_sparse_rows(rng):
    X = sp.random(1200, 40, density=0.1, format="csr", random_state=0)
    exact = KernelPCA(4, kernel="rbf", eigen_solver="dense").fit(X)
    with config_context(working_memory=1):
        model = KernelPCA(4, kernel="rbf").fit(X)
    assert model.solver_ == "krylov"
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-10)
