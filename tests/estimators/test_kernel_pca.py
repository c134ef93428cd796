"""`KernelPCA`: the laws of kernel PCA, scikit-learn's class as its peer, and everything around a fit."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelPCA
from mercer.errors import IndefiniteKernelWarning, NotSaveableError, PreImageWarning
from mercer.events import History
from mercer.kernels import RBF, Polynomial
from textbook import kernel_pca as naive

SOLVERS = ["auto", "dense", "arpack", "randomized", "krylov"]
TWINS = {
    "linear": ({"kernel": "linear"}, naive.linear()),
    "poly": ({"kernel": "poly", "gamma": 0.4, "coef0": 0.7, "degree": 2}, naive.poly(0.4, 0.7, 2)),
    "rbf": ({"kernel": "rbf", "gamma": 0.4}, naive.rbf(0.4)),
    "sigmoid": ({"kernel": "sigmoid", "gamma": 1e-2, "coef0": 0.0}, naive.sigmoid(1e-2, 0.0)),
    "cosine": ({"kernel": "cosine"}, naive.cosine()),
    "laplacian": ({"kernel": "laplacian", "gamma": 0.4}, naive.laplacian(0.4)),
    "chi2": ({"kernel": "chi2", "gamma": 0.4}, naive.chi2(0.4)),
}
PEER_KERNELS = ["linear", "poly", "rbf", "sigmoid", "cosine"]
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.IndefiniteKernelWarning")


def up_to_sign(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """The columns of `got`, each with the sign that suits the expected one."""
    signs = np.sign(np.einsum("ij,ij->j", got.astype(np.float64), expected))
    return got * np.where(signs == 0, 1, signs)


def rows(rng: np.random.Generator, n: int = 30, d: int = 5) -> np.ndarray:
    return rng.uniform(0.1, 3, (n, d))


# -- the laws --------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", TWINS)
def test_equals_the_textbook(kernel, solver, rng):
    parameters, twin = TWINS[kernel]
    X, new, r = rows(rng, 24, 4), rows(rng, 7, 4), 3
    K, K_new = naive.matrix(twin, X), naive.matrix(twin, new, X)
    model = KernelPCA(r, eigen_solver=solver, **parameters).fit(X)
    values, alphas = naive.kernel_pca(K, r)
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    expected = naive.project(K_new, K, r)
    assert_allclose(up_to_sign(model.transform(new), expected), expected, atol=1e-9 * np.abs(expected).max())
    assert_allclose(up_to_sign(model.expansion_.coef.T, alphas), alphas, atol=1e-8 * np.abs(alphas).max())
    if kernel != "sigmoid":  # of an indefinite kernel, distances may be negative
        error = naive.residual(K_new, naive.diagonal(twin, new), K, r)
        assert_allclose(model.reconstruction_error(new), error, atol=1e-9 * max(1, np.abs(error).max()))


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", TWINS)
def test_without_centring_components_are_eigenvectors_of_the_kernel_matrix_itself(kernel, solver, rng):
    parameters, twin = TWINS[kernel]
    X, new, r = rows(rng, 24, 4), rows(rng, 7, 4), 3
    K, K_new = naive.matrix(twin, X), naive.matrix(twin, new, X)
    model = KernelPCA(r, center=False, eigen_solver=solver, **parameters).fit(X)
    values, alphas = naive.normalised(*naive.eigenpairs(K, r))
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert_allclose(model.explained_variance_ratio_, values / np.trace(K), rtol=1e-9)
    expected = K_new @ alphas
    assert_allclose(up_to_sign(model.transform(new), expected), expected, atol=1e-9 * np.abs(expected).max())
    assert_allclose(up_to_sign(model.fit_transform(X), K @ alphas), K @ alphas, atol=1e-8 * np.abs(K).max())
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
    assert_allclose(up_to_sign(ours.transform(new), expected), expected, atol=1e-8)
    distances = ((new - pca.inverse_transform(expected)) ** 2).sum(axis=1)
    assert_allclose(ours.reconstruction_error(new), distances, rtol=1e-7)


def test_the_order_of_the_rows_does_not_matter(rng):
    X, new = rng.standard_normal((50, 4)), rng.standard_normal((6, 4))
    one, other = (KernelPCA(4, kernel="rbf").fit(Z) for Z in (X, X[rng.permutation(50)]))
    assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-12)
    assert_allclose(up_to_sign(other.transform(new), one.transform(new)), one.transform(new), atol=1e-10)


def test_moving_and_turning_the_data_changes_nothing_of_a_gaussian_model(rng):
    X, new = rng.standard_normal((50, 4)), rng.standard_normal((6, 4))
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    one = KernelPCA(4, kernel="rbf", gamma=0.3).fit(X)
    other = KernelPCA(4, kernel="rbf", gamma=0.3).fit(X @ turn + 1e4)
    assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-8)
    moved = other.transform(new @ turn + 1e4)
    assert_allclose(up_to_sign(moved, one.transform(new)), one.transform(new), atol=1e-7)


def test_repeating_all_rows_multiplies_the_eigenvalues(rng):
    X, new = rng.standard_normal((20, 3)), rng.standard_normal((5, 3))
    one, thrice = KernelPCA(4, kernel="rbf").fit(X), KernelPCA(4, kernel="rbf").fit(np.tile(X, (3, 1)))
    assert_allclose(thrice.eigenvalues_, 3 * one.eigenvalues_, rtol=1e-10)
    expected = one.transform(new)
    assert_allclose(up_to_sign(thrice.transform(new), expected), expected, atol=1e-10)


def test_parts_of_the_distance_add_up(rng):
    X, new = rng.standard_normal((30, 4)), rng.standard_normal((8, 4))
    K, K_new = naive.rbf_matrix(X, X, 0.25), naive.rbf_matrix(new, X, 0.25)
    model = KernelPCA(6, kernel="rbf").fit(X)
    total = naive.centred_norms(K_new, np.ones(8), K)
    explained = (model.transform(new) ** 2).sum(axis=1)
    assert_allclose(explained + model.reconstruction_error(new), total, rtol=1e-10)


# -- scikit-learn as the peer ----------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_matrix])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", PEER_KERNELS)
def test_agrees_with_scikit_learn(kernel, solver, storage, rng):
    X, new = rows(rng), rows(rng, 6)
    X[X < 1], new[new < 1] = 0, 0
    parameters = {"n_components": 3, **TWINS[kernel][0]}
    peer = PeerKernelPCA(eigen_solver="dense", **parameters).fit(X)
    model = KernelPCA(eigen_solver=solver, **parameters)
    scores = model.fit_transform(storage(X))
    assert_allclose(model.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
    expected, expected_new = peer.transform(X), peer.transform(new)
    size = np.abs(expected).max()
    assert_allclose(up_to_sign(scores, expected), expected, atol=1e-8 * size)
    got = model.transform(storage(new)) * np.sign(np.einsum("ij,ij->j", scores, expected))
    assert_allclose(got, expected_new, atol=1e-8 * size)
    assert_allclose(np.abs(model.eigenvectors_), np.abs(peer.eigenvectors_), atol=1e-8)
    assert model.gamma_ == peer.gamma_


@quiet
@pytest.mark.parametrize("fitted_sparse", [True, False])
@pytest.mark.parametrize("kernel", PEER_KERNELS)
def test_rows_may_come_in_the_other_storage(kernel, fitted_sparse, rng):
    X, new = rows(rng), rows(rng, 6)
    fit_rows, new_rows = (sp.csr_matrix(X), new) if fitted_sparse else (X, sp.csr_matrix(new))
    parameters = {"n_components": 3, **TWINS[kernel][0]}
    expected = PeerKernelPCA(eigen_solver="dense", **parameters).fit(X).transform(new)
    model = KernelPCA(**parameters).fit(fit_rows)
    scores = up_to_sign(model.transform(new_rows), expected)
    assert_allclose(scores, expected, atol=1e-8 * np.abs(expected).max())
    assert_allclose(
        model.reconstruction_error(new_rows),
        KernelPCA(**parameters).fit(X).reconstruction_error(new),
        atol=1e-8,
    )


@quiet
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kernel", PEER_KERNELS)
def test_float32_stays_float32_and_agrees(kernel, storage, rng):
    X, new = rows(rng, 60), rows(rng, 6)
    parameters = {"n_components": 2, **TWINS[kernel][0]}
    peer = PeerKernelPCA(eigen_solver="dense", **parameters).fit(X)
    model = KernelPCA(**parameters)
    scores = model.fit_transform(storage(X.astype(np.float32)))
    transformed = model.transform(storage(new.astype(np.float32)))
    assert scores.dtype == np.float32
    assert transformed.dtype == np.float32
    assert_allclose(model.eigenvalues_, peer.eigenvalues_, rtol=1e-3)
    expected = peer.transform(new)
    assert_allclose(up_to_sign(transformed, expected), expected, atol=2e-3 * np.abs(expected).max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_precomputed_agrees_with_the_kernel_itself(solver, dtype, storage, rng):
    X, new = rows(rng, 40), rows(rng, 6)
    K, K_new = naive.rbf_matrix(X, X, 0.3), naive.rbf_matrix(new, X, 0.3)
    known = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    given_matrix = KernelPCA(3, kernel="precomputed", eigen_solver=solver)
    scores = given_matrix.fit_transform(storage(K.astype(dtype)))
    atol = 1e-9 if dtype == np.float64 else 1e-4
    assert scores.dtype == dtype
    assert_allclose(given_matrix.eigenvalues_, known.eigenvalues_, rtol=1e3 * atol)
    assert_allclose(up_to_sign(scores, known.transform(X)), known.transform(X), atol=atol)
    got = given_matrix.transform(storage(K_new.astype(dtype)))
    assert_allclose(up_to_sign(got, known.transform(new)), known.transform(new), atol=atol)
    got = given_matrix.reconstruction_error(storage(K_new.astype(dtype)), np.ones(6))
    assert_allclose(got, known.reconstruction_error(new), atol=atol)


def test_a_precomputed_matrix_is_copied_unless_allowed_otherwise(rng):
    K = naive.rbf_matrix(*[rows(rng)] * 2, 0.3)
    kept = K.copy()
    expected = KernelPCA(3, kernel="precomputed").fit(K).eigenvalues_
    assert np.array_equal(K, kept)
    got = KernelPCA(3, kernel="precomputed", copy_X=False).fit(K).eigenvalues_
    assert_allclose(got, expected, rtol=1e-12)


def test_an_asymmetric_precomputed_matrix_warns(rng):
    K = naive.rbf_matrix(*[rows(rng)] * 2, 0.3)
    K[2, 5] += 0.1
    with pytest.warns(UserWarning, match="not symmetric"):
        KernelPCA(3, kernel="precomputed").fit(K)


def test_ridge_inverse_agrees_with_scikit_learn(rng):
    X, new = rows(rng), rows(rng, 6)
    for parameters in (
        {"kernel": "rbf", "gamma": 0.1},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2},
    ):
        asked = {"n_components": 3, "fit_inverse_transform": True, "alpha": 0.05, **parameters}
        ours, peer = KernelPCA(**asked).fit(X), PeerKernelPCA(**asked).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PreImageWarning)
            got = ours.inverse_transform(ours.transform(new))
        assert_allclose(got, peer.inverse_transform(peer.transform(new)), rtol=1e-6)
        assert_allclose(np.abs(ours.X_transformed_fit_), np.abs(peer.X_transformed_fit_), atol=1e-8)
        assert_allclose(ours.dual_coef_, peer.dual_coef_, rtol=1e-5, atol=1e-8)


def test_every_parameter_of_scikit_learn_is_there_with_its_default():
    ours, theirs = KernelPCA().get_params(), PeerKernelPCA().get_params()
    assert {name: ours.get(name, "missing") for name in theirs} == theirs


def test_zero_eigenvalues_are_kept_or_dropped_as_scikit_learn_does(rng):
    X = rng.standard_normal((12, 3))  # the linear kernel has rank three
    for parameters in (
        {},
        {"n_components": 8},
        {"n_components": 8, "remove_zero_eig": True},
        {"remove_zero_eig": True},
    ):
        ours, peer = KernelPCA(**parameters).fit(X), PeerKernelPCA(**parameters).fit(X)
        assert ours.eigenvalues_.shape == peer.eigenvalues_.shape
        assert ours.transform(X).shape == peer.transform(X).shape
        assert_allclose(ours.eigenvalues_, peer.eigenvalues_, atol=1e-10)
        assert (ours.eigenvalues_[3:] == 0).all()
        assert np.isfinite(ours.transform(X)).all()


def test_more_components_than_rows_are_clipped_with_a_warning(rng):
    X = rng.standard_normal((6, 3))
    with pytest.warns(UserWarning, match="n_components=9, but the data allow only 6"):
        scores = KernelPCA(9, kernel="rbf").fit_transform(X)
    assert scores.shape == PeerKernelPCA(9, kernel="rbf").fit_transform(X).shape == (6, 6)


# -- how many components ---------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("share", [1e-9, 0.3, 0.6, 0.9, 0.999])
def test_a_share_is_reached_by_the_fewest_components(share, solver, rng):
    X = rng.standard_normal((90, 4))
    ratios = np.cumsum(KernelPCA(kernel="rbf").fit(X).explained_variance_ratio_)
    expected = int(np.argmax(ratios >= share)) + 1
    model = KernelPCA(share, kernel="rbf", eigen_solver=solver).fit(X)
    assert len(model.eigenvalues_) == expected
    assert model.explained_variance_ratio_.sum() >= share - 1e-9
    assert model.transform(X).shape == (90, expected)


def test_a_share_of_a_large_problem(rng):
    X = rng.standard_normal((700, 3))
    everything = np.cumsum(KernelPCA(kernel="rbf").fit(X).explained_variance_ratio_)
    for share in (0.5, 0.95):
        model = KernelPCA(share, kernel="rbf").fit(X)
        assert len(model.eigenvalues_) == int(np.argmax(everything >= share)) + 1


@quiet
@pytest.mark.parametrize("kernel", TWINS)
def test_ratios_sum_to_one_with_all_components(kernel, rng):
    if kernel == "sigmoid":
        pytest.skip("negative eigenvalues take part in the trace")
    model = KernelPCA(**TWINS[kernel][0]).fit(rows(rng))
    assert model.explained_variance_ratio_.sum() == pytest.approx(1, abs=1e-9)
    assert_allclose(model.explained_variance_, model.eigenvalues_ / 29, rtol=1e-14)


def test_ratios_are_against_the_true_total_not_the_computed_part(rng):
    X = rng.standard_normal((80, 5))
    few, all_of_them = KernelPCA(3, kernel="rbf").fit(X), KernelPCA(kernel="rbf").fit(X)
    assert_allclose(few.explained_variance_ratio_, all_of_them.explained_variance_ratio_[:3], rtol=1e-9)
    assert few.explained_variance_ratio_.sum() < 0.9


# -- reconstruction error --------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", sorted(TWINS.keys() - {"sigmoid"}))
def test_no_error_on_training_rows_with_all_components(kernel, rng):
    X = rows(rng)
    model = KernelPCA(**TWINS[kernel][0]).fit(X)
    size = np.abs(model.expansion_.kernel.diagonal(X)).max()
    assert_allclose(model.reconstruction_error(X), 0, atol=1e-9 * size)


def test_the_error_falls_with_every_component_and_sums_to_what_is_left(rng):
    X = rng.standard_normal((30, 4))
    values = KernelPCA(kernel="rbf").fit(X).eigenvalues_
    before = np.full(30, np.inf)
    for r in (1, 2, 5, 12):
        error = KernelPCA(r, kernel="rbf").fit(X).reconstruction_error(X)
        assert error.shape == (30,)
        assert (error <= before + 1e-12).all()
        assert error.sum() == pytest.approx(values[r:].sum(), rel=1e-9)
        before = error


# -- memory and threads ----------------------------------------------------------------------------


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


# -- degenerate data -------------------------------------------------------------------------------


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


# -- indefinite kernels ----------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match=r"significant negative eigenvalues.*fewer components"):
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


# -- conventions -----------------------------------------------------------------------------------


def test_frames_in_and_out(rng):
    X = pd.DataFrame(rng.standard_normal((20, 3)), columns=["a", "b", "c"], index=np.arange(100, 120))
    model = KernelPCA(2, kernel="rbf").set_output(transform="pandas")
    scores = model.fit_transform(X)
    assert list(scores.columns) == ["kernelpca0", "kernelpca1"]
    assert list(scores.index) == list(X.index)
    assert list(model.transform(X).columns) == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    plain = KernelPCA(2, kernel="rbf").fit_transform(X.to_numpy())
    assert_array_equal(scores.to_numpy(), plain)


def test_the_target_is_ignored(rng):
    X = rng.standard_normal((20, 3))
    plain = KernelPCA(2, kernel="rbf").fit_transform(X)
    for y in (np.arange(20), ["a"] * 20, "nonsense"):
        assert_array_equal(KernelPCA(2, kernel="rbf").fit(X, y).fit_transform(X, y), plain)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", RBF(0.7), Polynomial(0.1, 1.0, 2), naive.dot])
def test_clones_and_pickles(kernel, rng):
    X = rng.standard_normal((15, 4))
    X = X @ X.T if kernel == "precomputed" else X
    model = KernelPCA(2, kernel=kernel, gamma=0.3, precision="float64", tol=1e-9)
    twin = clone(model)
    assert twin.get_params().keys() == model.get_params().keys()
    if not callable(kernel) or isinstance(kernel, RBF | Polynomial):
        assert twin.get_params() == model.get_params()
    scores = model.fit_transform(X)
    assert_array_equal(twin.fit_transform(X), scores)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(X), model.transform(X))
    assert not hasattr(clone(model), "expansion_")


def test_repr_shows_what_was_chosen():
    text = repr(KernelPCA(3, kernel="rbf", gamma="median"))
    assert text == "KernelPCA(gamma='median', kernel='rbf', n_components=3)"
    assert "RBF(gamma=0.5)" in repr(KernelPCA(kernel=RBF(0.5)))


def test_in_a_pipeline_with_a_grid_search(rng):
    X = rng.standard_normal((90, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)  # a ring: no straight line separates it
    pipeline = make_pipeline(StandardScaler(), KernelPCA(4, kernel="linear"), LogisticRegression())
    grid = {"kernelpca__kernel": ["linear", "rbf"], "kernelpca__gamma": [0.5, "median"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["kernelpca__kernel"] == "rbf"
    assert search.best_score_ > 0.85
    assert list(search.best_estimator_[:-1].get_feature_names_out()) == [f"kernelpca{i}" for i in range(4)]


def test_cross_validation_cuts_a_precomputed_matrix_both_ways(rng):
    X = rng.standard_normal((60, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)
    K = naive.rbf_matrix(X, X, 0.5)
    pipeline = make_pipeline(KernelPCA(4, kernel="precomputed"), LogisticRegression())
    search = GridSearchCV(pipeline, {"kernelpca__n_components": [2, 4]}, cv=3, error_score="raise").fit(K, y)
    assert search.best_score_ > 0.8


def test_refitting_forgets_the_first_fit(rng):
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((30, 5))
    model = KernelPCA(2, kernel="rbf").fit(X)
    scores = model.fit(Y).transform(Y)
    assert_array_equal(scores, KernelPCA(2, kernel="rbf").fit(Y).transform(Y))
    assert model.n_features_in_ == 5
    assert model.n_samples_seen_ == 30
    assert model.gamma_ == pytest.approx(0.2)


@pytest.mark.parametrize("verbose", [True, 1, 2])
def test_verbose_shows_progress_and_changes_nothing(verbose, rng, capfd):
    X = rng.standard_normal((400, 5))
    quiet_model = KernelPCA(3, kernel="rbf").fit(X)
    assert capfd.readouterr() == ("", "")
    loud = KernelPCA(3, kernel="rbf", verbose=verbose).fit(X)
    assert np.array_equal(loud.eigenvalues_, quiet_model.eigenvalues_)


def test_observers_hear_of_a_fit(rng):
    model = KernelPCA(3, kernel="rbf", eigen_solver="krylov")
    history = History()
    model.observers = (history,)
    model.fit(rng.standard_normal((400, 5)))
    assert len(history.events) == model.n_iter_ > 1


@pytest.mark.parametrize(
    ("asked", "n", "used"),
    [("auto", 50, "dense"), ("auto", 500, "arpack"), ("auto", 1500, "krylov"), ("arpack", 50, "arpack")],
)
def test_the_solver_that_ran_is_told(asked, n, used, rng):
    model = KernelPCA(3, kernel="rbf", eigen_solver=asked).fit(rng.standard_normal((n, 4)))
    assert model.solver_ == used
    assert model.n_iter_ >= 1


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_components", [2, 9, 0.9, None])  # there are six features: three of nine have no variation
def test_few_features_are_solved_without_a_kernel_matrix(kernel, center, n_components, rng):
    X = rng.standard_normal((80, 6)) * np.arange(1, 7) + 3.0
    quick, dense = (
        KernelPCA(n_components, kernel=kernel, center=center, eigen_solver=solver).fit(X)
        for solver in ("auto", "dense")
    )
    assert (quick.solver_, dense.solver_) == ("svd", "dense")
    assert_allclose(quick.eigenvalues_, dense.eigenvalues_, rtol=1e-10, atol=1e-12 * dense.eigenvalues_[0])
    kept = int((dense.eigenvalues_ > 0).sum())
    assert kept == min(6, quick.n_components_)
    assert_allclose(quick.eigenvectors_[:, :kept], dense.eigenvectors_[:, :kept], atol=1e-9)
    unit = np.eye(quick.n_components_)
    assert_allclose(quick.eigenvectors_.T @ quick.eigenvectors_, unit, atol=1e-12)
    assert_allclose(quick.expansion_.trace, dense.expansion_.trace, rtol=1e-12)
    Y = rng.standard_normal((20, 6))
    assert_allclose(quick.transform(Y), dense.transform(Y), atol=1e-9)
    assert_allclose(quick.reconstruction_error(Y), dense.reconstruction_error(Y), atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_components", [2, None])
@pytest.mark.parametrize("n", [50, 300, 1200])
def test_kernel_values_that_overflow_are_refused_by_every_solver(n, n_components, center, rng):
    X = 1e120 * rng.standard_normal((n, 4))
    with pytest.raises(ValueError, match="not finite"):
        KernelPCA(n_components, kernel="poly", center=center).fit(X)


@pytest.mark.filterwarnings("ignore:The Krylov solver stopped")
@pytest.mark.parametrize(
    "few", [{"eigen_solver": "krylov", "max_iter": 1}, {"eigen_solver": "randomized", "iterated_power": 0}]
)
def test_few_steps_still_give_all_components(few, rng):
    X = rng.standard_normal((300, 30))
    model = KernelPCA(20, kernel="rbf", **few).fit(X)
    assert model.n_components_ == 20
    assert model.n_iter_ == 1
    exact = KernelPCA(20, kernel="rbf", eigen_solver="dense").fit(X)
    assert 0.2 * exact.eigenvalues_.sum() < model.eigenvalues_.sum() <= exact.eigenvalues_.sum()


def test_rows_whose_squares_overflow_are_refused_by_name():
    X = np.full((10, 2), 1e200)
    X[0] = 0
    with pytest.raises(ValueError, match="not finite"):
        KernelPCA(1).fit(X)


# -- pre-images through the estimator --------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "method"),
    [
        ("rbf", "ridge"), ("rbf", "mika"), ("rbf", "kwok"), ("rbf", "gradient"), ("rbf", "auto"),
        ("linear", "exact"), ("linear", "auto"), ("poly", "gradient"), ("poly", "auto"), ("cosine", "auto"),
        ("laplacian", "auto"),
    ],
)  # fmt: skip
def test_every_preimage_method_runs_and_reports(kernel, method, rng):
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 4)) + 0.01 * rng.standard_normal((60, 4))
    X += 3.0
    model = KernelPCA(
        10, kernel=kernel, gamma=0.05, degree=2, preimage=method, fit_inverse_transform=True, alpha=1e-3,
        remove_zero_eig=True,
    ).fit(X)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PreImageWarning)
        found, residual = model.inverse_transform(model.transform(X[:7]), return_residual=True)
        assert np.array_equal(model.inverse_transform(model.transform(X[:7])), found)
    assert found.shape == (7, 4)
    assert residual.shape == (7,)
    assert (residual >= 0).all()
    # what is reported is the squared distance in feature space between phi(z) and the projection of phi(x)
    kernel_object = model.expansion_.kernel
    K, K_z = kernel_object(X), kernel_object(found, X)
    c = model.transform(X[:7])
    to_components = model.transform(found)
    norms = naive.centred_norms(K_z, kernel_object.diagonal(found), K)
    expected = norms - 2 * (c * to_components).sum(axis=1) + (c**2).sum(axis=1)
    assert_allclose(residual, expected, atol=1e-9 * max(1.0, np.abs(K).max()))


def test_linear_preimages_are_exact(rng):
    X = rng.standard_normal((30, 4)) + 2
    model = KernelPCA(4, preimage="exact").fit(X)
    found, residual = model.inverse_transform(model.transform(X), return_residual=True)
    assert_allclose(found, X, atol=1e-10)
    assert_allclose(residual, 0, atol=1e-9)
    rough = KernelPCA(2, preimage="exact").fit(X)
    pca = PCA(2).fit(X)
    got = rough.inverse_transform(rough.transform(X))
    assert_allclose(got, pca.inverse_transform(pca.transform(X)), atol=1e-9)


def test_good_preimages_do_not_warn(rng):
    X = rng.standard_normal((80, 3))
    model = KernelPCA(20, kernel="rbf", gamma=0.1, preimage="auto").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.inverse_transform(model.transform(X))
    assert np.abs(found - X).max() < 0.5


def test_bad_preimages_warn_with_advice(rng):
    X = rng.standard_normal((60, 5)) * 4
    model = KernelPCA(3, kernel="rbf", gamma=20.0, fit_inverse_transform=True, alpha=100.0).fit(X)
    with pytest.warns(PreImageWarning, match=r"another `preimage` method.*return_residual=True"):
        model.inverse_transform(model.transform(X))


# -- files -----------------------------------------------------------------------------------------


SAVED = [
    *({**parameters, "n_components": 3} for parameters, _ in TWINS.values()),
    {"kernel": RBF(0.4)},
    {"kernel": "rbf", "gamma": "median", "n_components": 0.8},
    {"kernel": "rbf", "fit_inverse_transform": True, "n_components": 2},
    {"kernel": "precomputed", "n_components": 2},
    {"kernel": "wavelet", "kernel_params": {"level": 1, "shape": (2, 2)}},
]


@quiet
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("parameters", SAVED, ids=str)
def test_saved_models_give_the_same_bits(parameters, dtype, rng, tmp_path):
    if parameters["kernel"] == "wavelet":
        pytest.importorskip("pywt")
    X = rows(rng, 20, 4).astype(dtype)
    X = X @ X.T if parameters["kernel"] == "precomputed" else X
    new = X[:6] if parameters["kernel"] == "precomputed" else rows(rng, 6, 4).astype(dtype)
    model = KernelPCA(**parameters).fit(X)
    model.save(tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert type(again) is KernelPCA
    assert repr(again) == repr(model)
    assert np.array_equal(again.transform(new), model.transform(new))
    assert again.transform(new).dtype == dtype
    if parameters["kernel"] != "precomputed":
        assert np.array_equal(again.reconstruction_error(new), model.reconstruction_error(new))
    for name in ("eigenvalues_", "eigenvectors_", "explained_variance_ratio_", "X_fit_"):
        assert np.array_equal(getattr(again, name), getattr(model, name)), name
    assert again.gamma_ == model.gamma_
    if parameters.get("fit_inverse_transform"):
        scores = model.transform(new)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PreImageWarning)
            assert_allclose(again.inverse_transform(scores), model.inverse_transform(scores), rtol=1e-6)


def test_sparse_models_are_saved_sparse(rng, tmp_path):
    X = sp.random(20, 30, 0.2, format="csr", random_state=0)
    model = KernelPCA(3, kernel="rbf").fit(X)
    model.save(tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert sp.issparse(again.X_fit_)
    assert np.array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize("kernel", [naive.dot, lambda x, y: float(x @ y), np.dot])
def test_functions_cannot_be_saved(kernel, rng, tmp_path):
    model = KernelPCA(2, kernel=kernel).fit(rng.standard_normal((8, 4)))
    with pytest.raises(NotSaveableError, match="kernel"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


# -- scikit-learn's checks -------------------------------------------------------------------------


@parametrize_with_checks(
    [
        KernelPCA(),
        KernelPCA(2, kernel="rbf"),
        KernelPCA(0.9, kernel="rbf", gamma="median"),
        KernelPCA(2, kernel="poly", eigen_solver="krylov", precision="mixed"),
        KernelPCA(2, kernel="cosine", eigen_solver="arpack"),
        KernelPCA(2, kernel="laplacian", eigen_solver="randomized", random_state=0),
        KernelPCA(2, kernel="chi2"),
        KernelPCA(2, kernel="precomputed"),
        KernelPCA(2, kernel="rbf", preimage="auto"),
    ]
)
@pytest.mark.filterwarnings("ignore:n_components=.*exceeds:UserWarning")
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("n", "features", "components"), [(40, 3, 40), (40, 3, 5), (30, 14, 30)])
def test_components_beyond_the_number_of_features_are_zero_and_orthonormal(rng, n, features, components):
    model = KernelPCA(components).fit(rng.standard_normal((n, features)))
    assert model.solver_ == "svd"
    assert np.count_nonzero(model.eigenvalues_) == features
    np.testing.assert_allclose(model.eigenvectors_.T @ model.eigenvectors_, np.eye(components), atol=1e-13)
