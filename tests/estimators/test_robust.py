"""Robust kernel PCA: its twin, its objective, its start, and what outliers can and cannot do to it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPCA, OnlineRobustKernelPCA, RobustKernelPCA, plots
from mercer.cli import methods
from mercer.engine.psi import PSI_NAMES, Psi, PsiRule, auto_scale
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear
from mercer.kernels.tiles import SymmetricTiles
from mercer.metrics import subspace_distance
from mercer.solvers.robust.batch import fit_robust
from mercer.solvers.robust.space import FeatureRows, KernelRows, weighted_subspace
from mercer.solvers.robust.start import (
    concentrated,
    fit_from_start,
    geometric_median,
    outlyingness,
    robust_residuals,
    spherical,
)
from textbook import kernel_pca as naive
from textbook import robust as naive_robust

ROBUST = tuple(name for name in PSI_NAMES if name != "none")
every_psi = pytest.mark.parametrize("psi", PSI_NAMES)
every_robust_psi = pytest.mark.parametrize("psi", ROBUST)


def kernel_rows(kernel, X, center=True) -> KernelRows:
    return KernelRows(kernel, X, SymmetricTiles(kernel, X, X.dtype, 10**9), kernel.diagonal(X), center)


def cosines(model, truth) -> np.ndarray:
    return np.abs(np.diag(model.expansion_.inner(truth.expansion_)))


def with_outliers(rng, share: float, n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clean rows near a plane, the same with some replaced by a far cloud off the plane, and which those are."""
    X = rng.standard_normal((n, 6)) * [4, 2, 0.5, 0.5, 0.5, 0.5]
    bad = rng.permutation(n)[: round(share * n)]
    C = X.copy()
    C[bad] = [0, 0, 25, 10, 0, 0] + 2 * rng.standard_normal((len(bad), 6))
    return X, C, bad


# -- the fixed point -------------------------------------------------------------------------------


@every_psi
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(("n", "rounds"), [(30, 7), (330, 3)])  # dense and block Krylov
def test_it_is_its_textbook_twin(rng, psi, center, n, rounds):
    X, new = rng.standard_normal((n, 4)) * [2, 1.5, 1, 0.5], rng.standard_normal((5, 4))
    init = rng.standard_normal((2, n)) / n
    K, K_new = naive.rbf_matrix(X, X, 0.1), naive.rbf_matrix(new, X, 0.1)
    model = RobustKernelPCA(
        2, kernel="rbf", gamma=0.1, psi=psi, beta=3.0, xi=0.45, init=init, center=center, max_iter=rounds, tol=0
    ).fit(X)
    values, A, w, objective = naive_robust.robust_kernel_pca(K, init, psi, 3.0, 0.45, rounds, center)
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert_allclose(model.weights_, w, atol=1e-9)
    assert_allclose(model.objective_[-1], objective[-1], rtol=1e-10)
    if psi != "none":
        assert_allclose(model.objective_, objective, rtol=1e-10)
        assert model.n_iter_ == rounds
    expected = naive_robust.scores(K_new, K, A, w if center else None)
    found = model.transform(new)
    assert_allclose(found * np.sign((found * expected).sum(axis=0)), expected, atol=1e-8)
    assert (model.beta_, model.xi_) == ((3.0, 0.45) if psi != "none" else (1.0, 1.0))


@every_robust_psi
@pytest.mark.parametrize("seed", range(4))
def test_the_objective_never_increases(psi, seed):
    rng = np.random.default_rng(seed)
    _, C, _ = with_outliers(rng, 0.2, 80)
    kernel = {"kernel": "rbf", "gamma": 0.02} if seed % 2 else {"kernel": "linear"}
    xi = 0.4 if seed % 2 else 20.0
    for given in ({}, {"beta": 2.0 / xi, "xi": xi, "init": rng.standard_normal((2, 80))}):
        model = RobustKernelPCA(2, psi=psi, max_iter=40, tol=0, **kernel, **given).fit(C)
        assert len(model.objective_) > 20
        assert (np.diff(model.objective_) <= 1e-11 * np.abs(model.objective_).max()).all()
        assert model.objective_[-1] < model.objective_[0]


@every_robust_psi
def test_at_the_end_weights_and_residuals_agree(rng, psi):
    _, C, _ = with_outliers(rng, 0.1)
    model = RobustKernelPCA(2, kernel="linear", psi=psi, tol=1e-10, max_iter=2000).fit(C)
    z = model.reconstruction_error(C) / 2
    assert_allclose(model.weights_, Psi(psi, model.beta_, model.xi_).weight(z), atol=1e-8)
    # eq. 21, and eq. 22 as an eigenvalue equation
    w = model.weights_ / model.weights_.sum()
    mean = w @ C
    covariance = (C - mean).T @ (w[:, None] * (C - mean))
    U = model.expansion_.coef @ C
    assert_allclose(model.expansion_.nu @ C, mean, atol=1e-10)
    assert_allclose(covariance @ U.T, U.T * (model.eigenvalues_ / 200), atol=1e-8 * model.eigenvalues_[0])
    assert_allclose(model.explained_variance_ratio_, model.eigenvalues_ / (200 * np.trace(covariance)), rtol=1e-9)


def test_rows_repeated_weigh_as_much_as_a_weight_of_two(rng):
    X = rng.standard_normal((40, 3)) * [3, 2, 1]
    twice = np.vstack([X, X[:10]])
    w = np.ones(40)
    w[:10] = 2
    single = weighted_subspace(kernel_rows(Linear(), X), w, 2)
    double = weighted_subspace(kernel_rows(Linear(), twice), np.ones(50), 2)
    assert_allclose(single.values / 40, double.values / 50, rtol=1e-11)
    assert_allclose(single.z, double.z[:40], atol=1e-11)


@pytest.mark.parametrize("n", [60, 350])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "precomputed"])
def test_without_a_loss_it_is_kernel_pca(rng, kernel, n):
    X = rng.standard_normal((n, 4))
    X = X @ X.T if kernel == "precomputed" else X
    robust, plain = RobustKernelPCA(3, kernel=kernel, psi="none").fit(X), KernelPCA(3, kernel=kernel).fit(X)
    if kernel in ("precomputed", "linear"):  # the eigenpairs are found in different ways
        assert_allclose(robust.transform(X[:9]), plain.transform(X[:9]), atol=1e-10)
        assert_allclose(robust.eigenvalues_, plain.eigenvalues_, rtol=1e-12)
    else:
        assert np.array_equal(robust.transform(X[:9]), plain.transform(X[:9]))
        assert np.array_equal(robust.eigenvalues_, plain.eigenvalues_)
    assert_allclose(robust.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-12)
    assert (robust.weights_ == 1).all()


@every_robust_psi
@pytest.mark.parametrize("center", [True, False])
def test_features_and_kernel_values_give_the_same(rng, psi, center):
    _, C, _ = with_outliers(rng, 0.1, 70)
    spaces = kernel_rows(Linear(), C, center), FeatureRows(C, center=center)
    z = [robust_residuals(space, 2) for space in spaces]
    assert_allclose(z[0], z[1], rtol=1e-6, atol=1e-8)
    first, second = (fit_robust(space, 2, z[0], PsiRule(psi), tol=0, max_iter=8) for space in spaces)
    assert_allclose(first.weights, second.weights, atol=1e-8)
    assert_allclose(first.subspace.values, second.subspace.values, rtol=1e-9)
    assert_allclose(np.abs(first.subspace.basis @ C), np.abs(second.subspace.basis), atol=1e-8)


def test_on_landmarks_that_are_all_rows_nothing_changes(rng):
    _, C, _ = with_outliers(rng, 0.1, 60)
    init = rng.standard_normal((2, 60))
    for given in ({}, {"init": init}):
        usual = {"kernel": "rbf", "gamma": 0.01, "tol": 1e-8, "max_iter": 500, **given}
        full, spanned = RobustKernelPCA(2, **usual).fit(C), RobustKernelPCA(2, landmarks=C, **usual).fit(C)
        assert_allclose(spanned.weights_, full.weights_, atol=1e-5)
        assert_allclose(spanned.eigenvalues_, full.eigenvalues_, rtol=1e-6)
        assert_allclose(np.abs(spanned.transform(C)), np.abs(full.transform(C)), atol=1e-5)


def test_few_landmarks_serve_many_rows(rng):
    X, C, bad = with_outliers(rng, 0.2, 1500)
    truth = KernelPCA(2, kernel="rbf", gamma=0.005).fit(X)
    model = RobustKernelPCA(2, kernel="rbf", gamma=0.005, landmarks=60, random_state=0).fit(C)
    assert model.expansion_.n_points == 60
    assert (np.diff(model.objective_) <= 1e-10 * abs(model.objective_[0])).all()
    assert model.weights_[bad].max() < 1e-3
    assert (cosines(model, truth) > 0.98).all()
    assert model.explained_variance_ratio_.sum() <= 1


# -- outliers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("psi", ["exp", "logistic", "tukey"])
def test_outliers_do_not_bend_it_where_they_bend_kernel_pca(psi, share):
    for seed in range(3):
        X, C, bad = with_outliers(np.random.default_rng(seed), share)
        truth = KernelPCA(2).fit(X)
        model = RobustKernelPCA(2, kernel="linear", psi=psi).fit(C)
        assert cosines(KernelPCA(2).fit(C), truth)[0] < 0.5
        assert (cosines(model, truth) > 0.98).all()
        assert model.weights_[bad].max() < 0.01 * np.median(model.weights_)


def test_with_more_than_half_contaminated_it_follows_these(rng):
    X, C, bad = with_outliers(rng, 0.7)
    model = RobustKernelPCA(2, kernel="linear").fit(C)
    assert np.median(model.weights_[bad]) > 0.9
    assert cosines(model, KernelPCA(2).fit(X)).min() < 0.5


@pytest.mark.parametrize("psi", ROBUST)
def test_the_scale_of_the_data_does_not_matter(rng, psi):
    _, C, _ = with_outliers(rng, 0.2, 100)
    quadratic = {"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 0}
    expected = RobustKernelPCA(2, psi=psi, **quadratic).fit(C)
    for scale in (0.01, 0.3, 3.0, 100.0):
        model = RobustKernelPCA(2, psi=psi, **quadratic).fit(scale * C)
        assert_allclose(model.weights_, expected.weights_, atol=1e-5)
        assert_allclose(model.transform(scale * C) / scale**2, expected.transform(C), rtol=1e-4, atol=1e-3)
        assert model.xi_ == pytest.approx(scale**4 * expected.xi_, rel=1e-5)


def test_on_clean_rows_little_is_lost(rng):
    X = rng.standard_normal((300, 6)) * [5, 3, 1, 1, 1, 1]
    model = RobustKernelPCA(2, kernel="linear").fit(X)
    assert (cosines(model, KernelPCA(2).fit(X)) > 0.99).all()
    assert np.mean(model.weights_ > 0.9) > 0.8


def test_phoneme_example(data_set):
    """[huang2011, example 2]: 20 of 400 curves shifted and noisy; the paper has .9726 .9648 .9588."""
    data = data_set("phoneme_nfda")
    X = data["X"][data["y"] == 1]
    rng = np.random.default_rng(0)
    bad = rng.choice(400, 20, replace=False)
    C = X.copy()
    C[bad] += 5 * np.cos(2 * np.pi * (np.arange(150) + 0.5) / 150) + 3 * rng.random((20, 150))
    truth = KernelPCA(3).fit(X)
    assert (cosines(RobustKernelPCA(3, kernel="linear").fit(C), truth) > 0.99).all()
    assert cosines(KernelPCA(3).fit(C), truth).min() < 0.8


# -- the start -------------------------------------------------------------------------------------


def test_the_geometric_median_is_one(rng):
    F = rng.standard_normal((50, 3))
    F[:15] += 30
    expected = naive_robust.geometric_median(F)
    for space in (FeatureRows(F), kernel_rows(Linear(), F)):
        weights = geometric_median(space)
        assert weights.sum() == pytest.approx(1)
        assert_allclose(weights @ F, expected, atol=1e-3)
    away = F - expected
    assert np.linalg.norm((away / np.linalg.norm(away, axis=1)[:, None]).sum(axis=0)) < 1e-6  # the twin is right


def test_a_median_at_a_row_is_no_division_by_zero():
    F = np.array([[0.0, 0], [0, 0], [0, 0], [1, 0], [0, 1]])
    assert_allclose(geometric_median(FeatureRows(F)) @ F, [0, 0], atol=1e-5)


def test_spherical_components_are_those_of_rows_of_length_one(rng):
    F = rng.standard_normal((80, 4)) * [3, 1, 0.5, 0.2]
    m = naive_robust.geometric_median(F)
    unit = (F - m) / np.linalg.norm(F - m, axis=1)[:, None]
    U = np.linalg.eigh(unit.T @ unit)[1][:, -2:]
    expected = 0.5 * (((F - m) ** 2).sum(axis=1) - (((F - m) @ U) ** 2).sum(axis=1))
    for space in (FeatureRows(F), kernel_rows(Linear(), F)):
        assert_allclose(spherical(space, 2, geometric_median(space)), expected, atol=0.02)


def test_rows_far_out_stand_out_and_concentration_leaves_them(rng):
    _, C, bad = with_outliers(rng, 0.3)
    space = FeatureRows(C)
    lengths = np.sqrt(space.distances(np.full(space.n, 1 / space.n)))
    far = outlyingness(space, lengths, np.random.default_rng(0))
    assert set(np.argsort(far)[-60:]) == set(bad)
    z = concentrated(space, far, 2)[0].z
    assert set(np.argsort(z)[-60:]) == set(bad)
    again = concentrated(space, z, 2)[0].z
    assert np.sort(again)[:101].sum() <= np.sort(z)[:101].sum() * (1 + 1e-12)


def test_equal_bad_rows_get_no_component_of_their_own(rng):
    """Their residuals would be zero, which a sum of the smallest residuals rewards."""
    X = rng.standard_normal((90, 30)) * np.r_[8.0, 6.0, 4.0, 3.0, 1.0, np.full(25, 0.2)]
    X[9::10] = 8 * rng.standard_normal(30)
    clean = np.delete(X, np.arange(9, 90, 10), axis=0)
    model = RobustKernelPCA(5, kernel="linear").fit(X)
    assert model.weights_[9::10].max() < 0.01
    assert subspace_distance(model, KernelPCA(5).fit(clean)) < 0.3


def test_scale_from_residuals():
    z = np.abs(np.random.default_rng(0).standard_normal(1001)) + 5
    beta, xi = auto_scale(z)
    for scale in (1e-8, 1e6):
        assert_allclose(auto_scale(scale * z), (beta / scale, xi * scale), rtol=1e-9)
    assert np.median(z) < xi < z.max()
    with_bad = np.concatenate([z, np.full(400, 100.0)])
    assert auto_scale(with_bad)[1] == pytest.approx(xi, rel=0.1)
    assert auto_scale(z, "exp")[0] == pytest.approx(beta / 8)
    assert auto_scale(z, "tukey")[1] > xi


def test_scale_where_most_residuals_are_equal():
    z = np.zeros(10)
    assert auto_scale(z) == (4.0, 3.0)
    assert auto_scale(z, floor=0.5) == (8.0, 1.5)
    z[7:] = 1.0
    assert np.isfinite(auto_scale(z)).all()
    beta, xi = auto_scale(z, floor=1e-9)
    weights = Psi("logistic", beta, xi).weight(z)
    assert_allclose(weights, [1] * 7 + [0] * 3, atol=1e-4)


@every_psi
def test_explicit_rows_give_what_the_kernel_matrix_gives(rng, psi):
    _, C, bad = with_outliers(rng, 0.2, 60)
    found = fit_from_start(FeatureRows(C), 2, PsiRule(psi))
    W = found.subspace.basis
    assert_allclose(W @ W.T, np.eye(2), atol=1e-12)
    assert found.z.shape == found.weights.shape == (60,)
    model = RobustKernelPCA(2, kernel="linear", psi=psi, max_iter=100).fit(C)
    assert_allclose(found.weights, model.weights_, atol=1e-6)
    assert_allclose(np.abs(W), np.abs(model.expansion_.coef @ C), atol=1e-6)
    assert_allclose(found.subspace.mean, model.expansion_.nu @ C, atol=1e-6)
    assert (found.psi.beta, found.psi.xi) == (pytest.approx(model.beta_), pytest.approx(model.xi_))
    if psi in ("exp", "logistic", "tukey"):
        assert found.weights[bad].max() < 0.01


def test_components_of_explicit_rows_beyond_the_rank_are_zero(rng):
    F = np.outer(rng.standard_normal(20), [1.0, 2, 3, 4, 5])
    found = fit_from_start(FeatureRows(F), 3, PsiRule("logistic")).subspace
    assert_allclose(found.values[1:], 0)
    assert_allclose(found.basis @ found.basis.T, np.diag([1.0, 0.0, 0.0]), atol=1e-12)


def test_what_landmarks_miss_counts_as_residual(rng):
    F, missing = rng.standard_normal((30, 4)), np.zeros(30)
    missing[3] = 50.0
    found = fit_from_start(FeatureRows(F, missing), 2, PsiRule("logistic"))
    assert found.z[3] >= 25
    assert found.weights[3] < 1e-6


# -- rows of all kinds -----------------------------------------------------------------------------


@every_psi
@pytest.mark.parametrize(
    "X",
    [
        np.ones((12, 3)),
        np.zeros((12, 3)),
        np.array([[1.0, 2, 3]]),
        np.repeat(np.arange(4.0)[:, None], 5, axis=0),
        np.vstack([np.zeros((20, 2)), [[5.0, 5.0]]]),
    ],
    ids=["constant", "zero", "one", "repeated", "all but one"],
)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("landmarks", [None, 3])
def test_degenerate_rows(psi, X, kernel, landmarks):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RobustKernelPCA(3, psi=psi, kernel=kernel, gamma=0.5, landmarks=landmarks, random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.reconstruction_error(X)).all()
    assert (model.weights_ >= 0).all()
    assert model.weights_.max() <= 1
    assert np.isfinite(model.explained_variance_ratio_).all()


def test_rows_on_a_plane_and_one_that_is_not(rng):
    """Where most rows fit exactly, the residuals' scale is rounding: whatever does not fit is an outlier."""
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5))
    X[7] += 0.1 * rng.standard_normal(5)
    model = RobustKernelPCA(2, kernel="linear").fit(X)
    assert model.weights_[7] < 1e-6
    assert np.delete(model.weights_, 7).min() > 0.5
    assert np.delete(model.reconstruction_error(X), 7).max() < 1e-12


def test_more_components_than_rows_or_rank(rng):
    X = rng.standard_normal((8, 3))
    with pytest.warns(UserWarning, match="n_components=20, but the data allow only 8"):
        model = RobustKernelPCA(20, kernel="linear").fit(X)
    assert model.eigenvalues_.shape == (8,)
    assert_allclose(model.eigenvalues_[3:], 0)
    assert_allclose(model.transform(X)[:, 3:], 0)
    assert RobustKernelPCA().fit(rng.standard_normal((30, 3))).eigenvalues_.shape == (10,)


def test_sparse_float32_and_precomputed_rows(rng):
    _, C, _ = with_outliers(rng, 0.2, 90)
    C[np.abs(C) < 0.5] = 0
    expected = RobustKernelPCA(2, kernel="rbf", gamma=0.01).fit(C)
    sparse = RobustKernelPCA(2, kernel="rbf", gamma=0.01).fit(sp.csr_matrix(C))
    assert_allclose(sparse.weights_, expected.weights_, atol=1e-4)
    assert_allclose(sparse.transform(sp.csr_matrix(C)), expected.transform(C), atol=1e-4)
    single = RobustKernelPCA(2, kernel="rbf", gamma=0.01).fit(C.astype(np.float32))
    assert_allclose(single.weights_, expected.weights_, atol=0.02)
    K = RBF(0.01)(C)
    kept = K.copy()
    given = RobustKernelPCA(2, kernel="precomputed").fit(K)
    assert np.array_equal(K, kept)
    assert_allclose(given.weights_, expected.weights_, atol=1e-4)
    assert_allclose(given.transform(K), expected.transform(C), atol=1e-4)


# -- parameters ------------------------------------------------------------------------------------


def test_one_parameter_given_the_other_found(rng):
    _, C, _ = with_outliers(rng, 0.1, 60)
    assert RobustKernelPCA(2, kernel="linear", xi=7.0).fit(C).xi_ == 7.0
    model = RobustKernelPCA(2, kernel="linear", beta=2.0).fit(C)
    assert model.beta_ == 2.0
    assert model.xi_ != 1.0


@pytest.mark.parametrize("psi", ["exp", "logistic"])
def test_weights_that_all_underflow_still_count(rng, psi):
    X = rng.standard_normal((40, 3)) * [1e3, 1e3, 1e2]
    model = RobustKernelPCA(1, kernel="linear", psi=psi, beta=1.0, xi=1.0, max_iter=5, tol=0).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert model.weights_.sum() > 0


def test_a_biweight_that_leaves_no_row_says_so(rng):
    X = rng.standard_normal((20, 3))
    with pytest.raises(ValueError, match="Raise xi"):
        RobustKernelPCA(1, kernel="linear", psi="tukey", xi=1e-9).fit(X)


def test_wrong_shapes_are_named(rng):
    X = rng.standard_normal((20, 3))
    with pytest.raises(ValueError, match=r"init must be of shape \(2, 20\)"):
        RobustKernelPCA(2, init=np.ones((2, 3))).fit(X)
    with pytest.raises(ValueError, match="landmarks have 2 features"):
        RobustKernelPCA(2, landmarks=np.ones((4, 2))).fit(X)
    with pytest.raises(ValueError, match="Landmarks need the data"):
        RobustKernelPCA(2, kernel="precomputed", landmarks=3).fit(X @ X.T)


def test_stopping_early_is_told(rng):
    _, C, _ = with_outliers(rng, 0.1, 60)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        RobustKernelPCA(2, kernel="linear", max_iter=1, tol=1e-12).fit(C)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RobustKernelPCA(2, kernel="linear", max_iter=3, tol=0).fit(C).n_iter_ == 3


def test_observers_hear_of_every_round(rng):
    _, C, _ = with_outliers(rng, 0.1, 60)
    heard = []
    model = RobustKernelPCA(2, kernel="linear", max_iter=9, tol=0, beta=1.0, xi=3.0)
    model.observers = (heard.append,)
    model.fit(C)
    assert [event.step for event in heard if event.stage == "robust"] == list(range(1, 10))


def test_the_command_line_offers_it():
    assert isinstance(methods.find("robust-kernel-pca").make({"psi": "tukey"}), RobustKernelPCA)


# -- figure ----------------------------------------------------------------------------------------


def test_weights_are_drawn_row_by_row(rng):
    _, C, bad = with_outliers(rng, 0.1, 60)
    model = RobustKernelPCA(2, kernel="linear").fit(C)
    marks = np.zeros(60, bool)
    marks[bad] = True
    for given in (bad, marks):
        axes = plots.sample_weights(model, given).axes[0]
        clean, marked = axes.lines
        assert_allclose(clean.get_ydata(), model.weights_[~marks])
        assert_allclose(marked.get_xdata(), np.flatnonzero(marks))
        assert "6 of 6 contaminated" in axes.get_title(loc="left")
    assert len(plots.sample_weights(model.weights_).axes[0].lines) == 1
    with pytest.raises(ValueError, match="60 rows"):
        plots.sample_weights(model, marks[:5])


@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("size", [1e5, 1e9, 1e12, 1e20, 1e36])
def test_one_cell_of_any_size_is_ignored(kernel, size):
    X = np.random.default_rng(0).normal(size=(300, 4)) * [3, 2, 1, 1]
    expected = RobustKernelPCA(2, kernel=kernel).fit(np.delete(X, 7, axis=0))
    X[7, 2] = size  # such as a value that stands for a missing one
    model = RobustKernelPCA(2, kernel=kernel).fit(X)
    assert model.weights_[7] < 1e-3
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=0.02)


def test_a_fifth_of_the_rows_with_enormous_cells_is_ignored():
    X = np.random.default_rng(0).normal(size=(300, 4)) * [3, 2, 1, 1]
    expected = RobustKernelPCA(2, kernel="linear").fit(X[60:])
    X[:60, 2] = 1e9
    model = RobustKernelPCA(2, kernel="linear").fit(X)
    assert model.weights_[:60].max() < 1e-3
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=0.02)


@pytest.mark.parametrize("psi", ["exp", "logistic", "tukey"])  # not "huber", whose loss grows with the distance
@pytest.mark.parametrize("value", [1e12, 1e35, 1e80, 1e100, 1e150])
def test_one_enormous_row_changes_nothing_wherever_it_is(value, psi, rng):
    """The mean of all rows is so far away that all others lie at one distance from it, to the last digit."""
    X = rng.standard_normal((120, 4)) * [5, 3, 1, 0.5]
    expected = RobustKernelPCA(2, kernel="linear", psi=psi).fit(X)
    for row in (0, 2, 30):
        Y = X.copy()
        Y[row, 3] = value
        model = RobustKernelPCA(2, kernel="linear", psi=psi).fit(Y)
        assert model.weights_[row] == 0
        assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=0.1)


def test_the_geometric_median_is_found_however_far_one_row_is(rng):
    X = rng.standard_normal((120, 4))
    X[7] = 1e60
    weights = geometric_median(FeatureRows(X))
    assert np.linalg.norm(weights @ X) < 1.0


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_kernel_values_beyond_the_range_of_numbers_are_an_error_on_landmarks_too(kernel, rng):
    """Eigenvalues and scores were NaN."""
    X = rng.standard_normal((120, 4))
    X[60, 1] = 1e200
    with pytest.raises(ValueError, match=r"Kernel values of the .* are not finite"):
        RobustKernelPCA(2, kernel=kernel, landmarks=20, random_state=0).fit(X)


def test_equal_residuals_of_any_size_give_a_scale(rng):
    """The cube of a cube root can be less than the number, so that no residual was left."""
    for size in 10.0 ** rng.uniform(-100, 200, 50):
        beta, xi = auto_scale(np.full(9, size))
        assert np.isfinite([beta, xi]).all()
        assert xi >= size


@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("value", [1e3, 1e12])
def test_one_enormous_row_does_not_take_the_landmarks_of_all_others(value, kernel, rng):
    X = rng.standard_normal((300, 4))
    options = {"kernel": kernel, "landmarks": 30, "random_state": 0}
    expected = RobustKernelPCA(2, **options).fit(X).explained_variance_
    X[5, 3] = value
    for model in (RobustKernelPCA(2, **options).fit(X), OnlineRobustKernelPCA(2, **options).partial_fit(X)):
        assert model.expansion_.n_points >= 4
        assert_allclose(model.explained_variance_, expected, rtol=0.3)
