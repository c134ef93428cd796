"""`KernelPCA`: the laws of kernel PCA, scikit-learn's class as its peer, and everything around a fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA

import mercer
from mercer import KernelPCA
from textbook import kernel_pca as naive

SOLVERS = ["auto", "dense", "arpack", "randomized", "krylov"]

quiet = pytest.mark.filterwarnings("ignore::mercer.errors.IndefiniteKernelWarning")


def rows(rng: np.random.Generator, n: int = 30, d: int = 5) -> np.ndarray:
    return rng.uniform(0.1, 3, (n, d))


# -- the laws -------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", naive.TWINS)
def test_equals_the_textbook(kernel, solver, rng):
    parameters, twin = naive.TWINS[kernel]
    X, new, r = rows(rng, 24, 4), rows(rng, 7, 4), 3
    K, K_new = naive.matrix(twin, X), naive.matrix(twin, new, X)
    model = KernelPCA(r, eigen_solver=solver, **parameters).fit(X)
    values, alphas = naive.kernel_pca(K, r)
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    expected = naive.project(K_new, K, r)
    assert_allclose(naive.up_to_sign(model.transform(new), expected), expected, atol=1e-9 * np.abs(expected).max())
    assert_allclose(naive.up_to_sign(model.expansion_.coef.T, alphas), alphas, atol=1e-8 * np.abs(alphas).max())
    if kernel != "sigmoid":  # of an indefinite kernel, distances may be negative
        error = naive.residual(K_new, naive.diagonal(twin, new), K, r)
        assert_allclose(model.reconstruction_error(new), error, atol=1e-9 * max(1, np.abs(error).max()))


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", naive.TWINS)
def test_without_centring_components_are_eigenvectors_of_the_kernel_matrix_itself(kernel, solver, rng):
    parameters, twin = naive.TWINS[kernel]
    X, new, r = rows(rng, 24, 4), rows(rng, 7, 4), 3
    K, K_new = naive.matrix(twin, X), naive.matrix(twin, new, X)
    model = KernelPCA(r, center=False, eigen_solver=solver, **parameters).fit(X)
    values, alphas = naive.normalised(*naive.eigenpairs(K, r))
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert_allclose(model.explained_variance_ratio_, values / np.trace(K), rtol=1e-9)
    expected = K_new @ alphas
    assert_allclose(naive.up_to_sign(model.transform(new), expected), expected, atol=1e-9 * np.abs(expected).max())
    assert_allclose(naive.up_to_sign(model.fit_transform(X), K @ alphas), K @ alphas, atol=1e-8 * np.abs(K).max())
    if kernel != "sigmoid":  # of an indefinite kernel, distances may be negative
        error = naive.diagonal(twin, new) - (expected**2).sum(axis=1)
        assert_allclose(model.reconstruction_error(new), error, atol=1e-9 * max(1, np.abs(error).max()))


def test_without_centring_a_linear_model_is_a_truncated_svd_there_and_back(rng, tmp_path):
    X, new = rng.standard_normal((40, 6)) + 3, rng.standard_normal((5, 6))
    right = np.linalg.svd(X, full_matrices=False)[2][:2]
    model = KernelPCA(2, center=False, preimage="exact").fit(X)
    assert_allclose(model.inverse_transform(model.transform(new)), new @ right.T @ right, atol=1e-9)
    model.save(tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    assert_array_equal(again.reconstruction_error(new), model.reconstruction_error(new))
    ridge = KernelPCA(2, center=False, fit_inverse_transform=True, alpha=1e-5).fit(X)
    assert_allclose(ridge.inverse_transform(ridge.transform(X)), X @ right.T @ right, atol=1e-5)


@pytest.mark.parametrize("preimage", ["mika", "kwok", "gradient"])
def test_without_centring_scores_lead_back_to_rows(preimage, rng):
    X = rng.standard_normal((60, 2))
    model = KernelPCA(25, kernel="rbf", gamma=0.3, center=False, preimage=preimage).fit(X)
    found, residual = model.inverse_transform(model.transform(X[:9]), return_residual=True)
    assert_allclose(found, X[:9], atol=0.05)
    assert (residual < 1e-3).all()


def test_a_precomputed_matrix_is_not_centred_either(rng):
    X = rng.standard_normal((30, 4)) + 2
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    K_new = K[:7].copy()
    model = KernelPCA(3, kernel="precomputed", center=False).fit(K)
    rows_given = KernelPCA(3, kernel="rbf", gamma=0.1, center=False).fit(X)
    assert_allclose(model.eigenvalues_, rows_given.eigenvalues_, rtol=1e-10)
    assert_allclose(model.transform(K_new), rows_given.transform(X[:7]), atol=1e-9)
    errors = model.reconstruction_error(K_new, np.ones(7))
    assert_allclose(errors, rows_given.reconstruction_error(X[:7]), atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_coefficients_have_squared_length_one_over_lambda(solver, rng):
    """alpha^T alpha = 1 / lambda [lecture_notes]."""
    X = rng.standard_normal((40, 6))
    model = KernelPCA(7, kernel="rbf", eigen_solver=solver).fit(X)
    coef = model.expansion_.coef
    assert_allclose((coef**2).sum(axis=1), 1 / model.eigenvalues_, rtol=1e-9)
    assert_allclose(coef @ coef.T, np.diag(1 / model.eigenvalues_), atol=1e-8 / model.eigenvalues_.min())


@given(
    n=st.integers(1, 25),
    d=st.integers(1, 5),
    r=st.integers(1, 8),
    copies=st.integers(1, 3),
    seed=st.integers(0, 50),
)
def test_fit_transform_is_transform_of_the_training_rows(n, d, r, copies, seed):
    X = np.repeat(np.random.default_rng(seed).standard_normal((n, d)), copies, axis=0)
    model = KernelPCA(min(r, len(X)), kernel="rbf", gamma=0.5)
    scores = model.fit_transform(X)
    assert_allclose(model.transform(X), scores, atol=1e-7)
    assert_allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-9 * len(X))
    assert_allclose(scores.sum(axis=0), 0, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_linear_kernel_is_pca(solver, rng):
    X, new = rng.standard_normal((60, 8)) @ rng.standard_normal((8, 8)) + 5, rng.standard_normal((9, 8))
    ours, pca = KernelPCA(4, eigen_solver=solver).fit(X), PCA(4, svd_solver="full").fit(X)
    assert_allclose(ours.explained_variance_, pca.explained_variance_, rtol=1e-9)
    assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-9)
    expected = pca.transform(new)
    assert_allclose(naive.up_to_sign(ours.transform(new), expected), expected, atol=1e-8)
    distances = ((new - pca.inverse_transform(expected)) ** 2).sum(axis=1)
    assert_allclose(ours.reconstruction_error(new), distances, rtol=1e-7)


def test_the_order_of_the_rows_does_not_matter(rng):
    X, new = rng.standard_normal((50, 4)), rng.standard_normal((6, 4))
    one, other = (KernelPCA(4, kernel="rbf").fit(Z) for Z in (X, X[rng.permutation(50)]))
    assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-12)
    assert_allclose(naive.up_to_sign(other.transform(new), one.transform(new)), one.transform(new), atol=1e-10)


def test_moving_and_turning_the_data_changes_nothing_of_a_gaussian_model(rng):
    X, new = rng.standard_normal((50, 4)), rng.standard_normal((6, 4))
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    one = KernelPCA(4, kernel="rbf", gamma=0.3).fit(X)
    other = KernelPCA(4, kernel="rbf", gamma=0.3).fit(X @ turn + 1e4)
    assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-8)
    moved = other.transform(new @ turn + 1e4)
    assert_allclose(naive.up_to_sign(moved, one.transform(new)), one.transform(new), atol=1e-7)


def test_repeating_all_rows_multiplies_the_eigenvalues(rng):
    X, new = rng.standard_normal((20, 3)), rng.standard_normal((5, 3))
    one, thrice = KernelPCA(4, kernel="rbf").fit(X), KernelPCA(4, kernel="rbf").fit(np.tile(X, (3, 1)))
    assert_allclose(thrice.eigenvalues_, 3 * one.eigenvalues_, rtol=1e-10)
    expected = one.transform(new)
    assert_allclose(naive.up_to_sign(thrice.transform(new), expected), expected, atol=1e-10)


def test_parts_of_the_distance_add_up(rng):
    X, new = rng.standard_normal((30, 4)), rng.standard_normal((8, 4))
    K, K_new = naive.rbf_matrix(X, X, 0.25), naive.rbf_matrix(new, X, 0.25)
    model = KernelPCA(6, kernel="rbf").fit(X)
    total = naive.centred_norms(K_new, np.ones(8), K)
    explained = (model.transform(new) ** 2).sum(axis=1)
    assert_allclose(explained + model.reconstruction_error(new), total, rtol=1e-10)
