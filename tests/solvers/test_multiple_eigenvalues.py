"""Eigenvalues that occur many times, as on regular designs, are all found."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA


@pytest.mark.parametrize("r", [16, 30])
@pytest.mark.parametrize(("levels", "factors"), [(5, 5), (3, 7)])
def test_a_full_factorial_design(levels, factors, r):
    X = np.array(list(itertools.product(range(levels), repeat=factors)), float)
    found = KernelPCA(r, kernel="rbf", gamma=0.1, eigen_solver="krylov").fit(X)
    expected = KernelPCA(r, kernel="rbf", gamma=0.1, eigen_solver="dense").fit(X)
    assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize(("kernel", "gamma"), [("laplacian", 10.0), ("rbf", 1000.0)])
@pytest.mark.parametrize("n", [260, 500, 1500])
def test_points_on_a_circle(kernel, gamma, n):
    angle = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    found = KernelPCA(2, kernel=kernel, gamma=gamma).fit(X)
    expected = KernelPCA(2, kernel=kernel, gamma=gamma, eigen_solver="dense").fit(X)
    assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-10)


def test_a_small_matrix_whose_first_row_is_zero():
    values = np.linspace(1, 3, 400)
    values[:5] = 0, 5, 5, 4, 3.5
    model = KernelPCA(2, kernel="precomputed", center=False).fit(1e-20 * np.diag(values))
    assert_allclose(model.eigenvalues_, [5e-20, 5e-20], rtol=1e-10)


@pytest.mark.parametrize("tol", [0, 1e-6, 1e-3])
def test_arpack_misses_no_group_of_rows(tol, rng):
    X = 30.0 * (np.arange(80) % 8)[:, None] + 0.3 * rng.standard_normal((80, 2))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    roots = np.sqrt(K.sum(axis=0))
    scaled = K / roots / roots[:, None]  # its largest eigenvalue is 1, once for each group
    model = KernelPCA(8, kernel="precomputed", center=False, eigen_solver="arpack", tol=tol).fit(scaled)
    assert_allclose(model.eigenvalues_, np.ones(8), rtol=max(tol, 1e-10))
