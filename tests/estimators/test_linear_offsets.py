"""Linear kernel PCA of rows far from the origin is that of the same rows near it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.decomposition import PCA

from mercer import KernelPCA


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8, 1e10])
def test_components_and_scores_are_those_of_linear_pca(offset, rng):
    X = rng.standard_normal((300, 4)) * [4, 3, 2, 1] + offset
    model, peer = KernelPCA(4).fit(X), PCA(4, svd_solver="full").fit(X)
    assert_allclose(model.explained_variance_, peer.explained_variance_, rtol=1e-9)
    assert_allclose(np.abs(model.transform(X)), np.abs(peer.transform(X)), atol=1e-14 * offset + 1e-9)


def test_a_column_of_unix_times_hides_no_other(rng):
    X = np.column_stack([1.7e9 + rng.random(1000), rng.standard_normal((1000, 3)) * [10, 5, 1]])
    model = KernelPCA(2).fit(X)
    peer = PCA(2, svd_solver="full").fit(X)
    lost = X - peer.inverse_transform(peer.transform(X))
    assert_allclose(model.explained_variance_, peer.explained_variance_, rtol=1e-9)
    assert_allclose(model.reconstruction_error(X), (lost**2).sum(axis=1), rtol=1e-5, atol=1e-5)


def test_equal_and_dependent_rows_far_away_have_no_further_components(rng):
    equal = np.repeat(1e8 * rng.standard_normal((1, 4)), 50, axis=0)
    assert (KernelPCA(3).fit(equal).eigenvalues_ == 0).all()
    flat = np.column_stack([rng.standard_normal((50, 2)), np.full(50, 1e9 / 3)])
    assert KernelPCA(3).fit(flat).eigenvalues_[2] == 0


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "krylov", "randomized"])
@pytest.mark.parametrize("shape", [(40, 60), (300, 200), (60, 4)])
@pytest.mark.parametrize("precision", ["float64", "mixed"])
def test_the_same_holds_for_many_features_and_every_solver(shape, solver, precision, rng):
    X = rng.standard_normal(shape)
    X[:, :3] *= [9, 7, 5]
    X += 1e8
    model, peer = KernelPCA(3, eigen_solver=solver, precision=precision).fit(X), PCA(3, svd_solver="full").fit(X)
    loss = ((X - peer.inverse_transform(peer.transform(X))) ** 2).sum(axis=1)
    assert_allclose(model.explained_variance_, peer.explained_variance_, rtol=1e-6)
    assert_allclose(model.transform(X), model.fit_transform(X), atol=1e-5)
    assert_allclose(model.reconstruction_error(X), loss, atol=1e-4)


def test_few_equal_rows_far_away_have_no_components(rng):
    equal = np.repeat(1e8 * rng.standard_normal((1, 40)), 20, axis=0)
    assert (KernelPCA(3).fit(equal).eigenvalues_ == 0).all()


def test_a_model_of_many_features_knows_its_mean(rng):
    X = rng.standard_normal((30, 50)) + 5.0
    dense, sparse = KernelPCA(3).fit(X), KernelPCA(3).fit(csr_matrix(X))
    assert_allclose(dense.expansion_.offset, sparse.expansion_.offset, rtol=1e-9)
    assert_allclose(dense.expansion_.mean_norm, sparse.expansion_.mean_norm, rtol=1e-12)
    assert_allclose(dense.transform(csr_matrix(X)), dense.transform(X), atol=1e-9)
