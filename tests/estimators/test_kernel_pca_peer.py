"""`KernelPCA` beside scikit-learn's class: the same numbers, the same conventions, and shares of the variation."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import KernelPCA
from mercer.errors import PreImageWarning
from textbook import kernel_pca as naive

SOLVERS = ["auto", "dense", "arpack", "randomized", "krylov"]

PEER_KERNELS = ["linear", "poly", "rbf", "sigmoid", "cosine"]

quiet = pytest.mark.filterwarnings("ignore::mercer.errors.IndefiniteKernelWarning")


def rows(rng: np.random.Generator, n: int = 30, d: int = 5) -> np.ndarray:
    return rng.uniform(0.1, 3, (n, d))


# -- scikit-learn as the peer ---------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_matrix])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", PEER_KERNELS)
def test_agrees_with_scikit_learn(kernel, solver, storage, rng):
    X, new = rows(rng), rows(rng, 6)
    X[X < 1], new[new < 1] = 0, 0
    parameters = {"n_components": 3, **naive.TWINS[kernel][0]}
    peer = PeerKernelPCA(eigen_solver="dense", **parameters).fit(X)
    model = KernelPCA(eigen_solver=solver, **parameters)
    scores = model.fit_transform(storage(X))
    assert_allclose(model.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
    expected, expected_new = peer.transform(X), peer.transform(new)
    size = np.abs(expected).max()
    assert_allclose(naive.up_to_sign(scores, expected), expected, atol=1e-8 * size)
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
    parameters = {"n_components": 3, **naive.TWINS[kernel][0]}
    expected = PeerKernelPCA(eigen_solver="dense", **parameters).fit(X).transform(new)
    model = KernelPCA(**parameters).fit(fit_rows)
    scores = naive.up_to_sign(model.transform(new_rows), expected)
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
    parameters = {"n_components": 2, **naive.TWINS[kernel][0]}
    peer = PeerKernelPCA(eigen_solver="dense", **parameters).fit(X)
    model = KernelPCA(**parameters)
    scores = model.fit_transform(storage(X.astype(np.float32)))
    transformed = model.transform(storage(new.astype(np.float32)))
    assert scores.dtype == np.float32
    assert transformed.dtype == np.float32
    assert_allclose(model.eigenvalues_, peer.eigenvalues_, rtol=1e-3)
    expected = peer.transform(new)
    assert_allclose(naive.up_to_sign(transformed, expected), expected, atol=2e-3 * np.abs(expected).max())


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
    assert_allclose(naive.up_to_sign(scores, known.transform(X)), known.transform(X), atol=atol)
    got = given_matrix.transform(storage(K_new.astype(dtype)))
    assert_allclose(naive.up_to_sign(got, known.transform(new)), known.transform(new), atol=atol)
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


# -- how many components --------------------------------------------------------------------------


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
@pytest.mark.parametrize("kernel", naive.TWINS)
def test_ratios_sum_to_one_with_all_components(kernel, rng):
    if kernel == "sigmoid":
        pytest.skip("negative eigenvalues take part in the trace")
    model = KernelPCA(**naive.TWINS[kernel][0]).fit(rows(rng))
    assert model.explained_variance_ratio_.sum() == pytest.approx(1, abs=1e-9)
    assert_allclose(model.explained_variance_, model.eigenvalues_ / 29, rtol=1e-14)


def test_ratios_are_against_the_true_total_not_the_computed_part(rng):
    X = rng.standard_normal((80, 5))
    few, all_of_them = KernelPCA(3, kernel="rbf").fit(X), KernelPCA(kernel="rbf").fit(X)
    assert_allclose(few.explained_variance_ratio_, all_of_them.explained_variance_ratio_[:3], rtol=1e-9)
    assert few.explained_variance_ratio_.sum() < 0.9


# -- reconstruction error -------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", sorted(naive.TWINS.keys() - {"sigmoid"}))
def test_no_error_on_training_rows_with_all_components(kernel, rng):
    X = rows(rng)
    model = KernelPCA(**naive.TWINS[kernel][0]).fit(X)
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


# -- scikit-learn's checks ------------------------------------------------------------------------


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
