"""L1-norm kernel PCA, its rivals and R1: equal to their twins, monotone, finite, and near the global optimum."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import config_context

from mercer import L1KernelPCA, R1KernelPCA
from mercer.engine.signs import (
    PENDING,
    add_rows,
    add_upper_sums,
    best_flip,
    measure_step,
    new_signs,
    subtract_and_sum,
    subtract_waiting,
)
from mercer.errors import IndefiniteKernelWarning
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.l1.features import FeatureResidual
from mercer.solvers.l1.fit import SignOptions, extract
from mercer.solvers.l1.held import HeldResidual
from mercer.solvers.l1.residuals import TiledResidual, make_residual
from textbook import l1 as naive
from textbook.kernel_pca import centred

GAMMA = 0.2


def rbf(X: np.ndarray) -> np.ndarray:
    return np.exp(-GAMMA * ((X[:, None] - X) ** 2).sum(axis=-1))


def rows(seed: int, n: int, d: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(3, 1, d)


def quiet_fit(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)


# -- the compiled pieces -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 130, 2300])
def test_column_sums_of_the_upper_triangle_with_waiting_terms(rng, n, dtype):
    K = rng.standard_normal((n, n))
    K = (K + K.T).astype(dtype)
    U = rng.standard_normal((PENDING, n)).astype(dtype)
    expected = np.abs(K.astype(float) - U.T.astype(float) @ U).sum(axis=0)
    sums = np.zeros(n, dtype)
    for start in range(0, n, 50):
        add_upper_sums(K, U, start, min(start + 50, n), sums)
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    assert_allclose(sums, expected, rtol=rtol)
    again, deflated = np.zeros(n), K.copy()
    subtract_and_sum(deflated, U, 0, n, again)
    assert_allclose(again, expected, rtol=rtol)
    assert_allclose(deflated, K - U.T.astype(float) @ U, atol=50 * rtol)
    assert np.array_equal(deflated, deflated.T)  # to the last bit: rows stand for columns


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_rows_are_added_in_any_number_and_range(rng, count):
    K, v = rng.standard_normal((30, 30)), rng.standard_normal(30)
    some, factors = rng.permutation(30)[:count], rng.standard_normal(count)
    out = v.copy()
    add_rows(K, some, factors, 5, 21, out)
    assert_allclose(out[5:21], (v + factors @ K[some])[5:21], rtol=1e-13)
    assert np.array_equal(np.delete(out, range(5, 21)), np.delete(v, range(5, 21)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_waiting_terms_are_subtracted_in_float64(rng, dtype, count):
    U, v = rng.standard_normal((PENDING, 30)).astype(dtype), rng.standard_normal(30)
    some, factors = rng.permutation(30)[:count], rng.standard_normal(count)
    out = v.copy()
    subtract_waiting(U, some, factors, out)
    exact = U.astype(float)
    assert_allclose(out, v - exact.T @ (exact[:, some] @ factors), atol=1e-13)


def test_a_step_takes_the_signs_and_is_measured_by_them(rng):
    A = rng.standard_normal((25, 8))
    K, c, negligible = A @ A.T, np.sign(rng.standard_normal(25)), rng.random(25)
    v, old = K @ c, c.copy()
    rows, factors, before = np.empty(25, np.int64), np.empty(25), np.empty(25)
    count = new_signs(v, negligible, c, rows, factors, before)
    assert np.array_equal(c, np.where(v < -negligible, -1.0, 1.0))
    assert np.array_equal(rows[:count], np.flatnonzero(c != old))
    assert np.array_equal(factors[:count], (c - old)[rows[:count]])
    step, after = c - old, K @ c
    square, length, rounding = measure_step(after, c, negligible, rows[:count], factors[:count], before)
    assert square == pytest.approx(c @ K @ c)
    assert length == pytest.approx(step @ K @ step)
    assert rounding == pytest.approx(np.abs(step) @ negligible)


def test_the_best_flip_is_the_one_that_gains_most(rng):
    A = rng.standard_normal((20, 8))
    K, c = A @ A.T, np.sign(rng.standard_normal(20))
    gains = [np.where(np.arange(20) == i, -c, c) for i in range(20)]
    gains = [float(d @ K @ d - c @ K @ c) for d in gains]
    i, quarter = best_flip(K.diagonal().copy(), c, K @ c)
    assert i == int(np.argmax(gains))
    assert 4 * quarter == pytest.approx(gains[i])


# -- Algorithm 1 and its rivals equal their twins --------------------------------------------------------------------

TWINS = {
    "fixed_point": ({}, naive.start_objective),
    "eigen": ({"init": "eigen"}, naive.start_eigen),
    "projection_trick": ({"algorithm": "projection_trick"}, naive.start_norm),
    "linear_system": ({"algorithm": "linear_system"}, naive.start_eigen),
}


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_signs_scores_and_objectives_are_those_of_the_twin(name, center, kernel):
    params, start = TWINS[name]
    X = rows(3, 120)
    K = X @ X.T if kernel == "linear" else rbf(X)
    signs, scores, objective, _ = naive.l1(centred(K) if center else K, 6, start)
    model = L1KernelPCA(6, kernel=kernel, gamma=GAMMA, center=center, **params).fit(X)
    assert np.array_equal(model.signs_, signs)
    assert_allclose(model.transform(X), scores.T, atol=1e-10 * np.abs(scores).max())
    assert_allclose(model.objective_, objective, rtol=1e-12)
    assert_allclose(model.objective_, np.abs(model.transform(X)).sum(axis=0), rtol=1e-9)
    assert_allclose(model.eigenvalues_, (scores**2).sum(axis=1), rtol=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(1, 8), st.booleans())
def test_random_kernels(seed, n, rank, center):
    A = np.random.default_rng(seed).standard_normal((n, rank))
    K = A @ A.T
    signs, scores, _, _ = naive.l1(centred(K) if center else K, n)
    model = quiet_fit(L1KernelPCA(n, kernel="precomputed", center=center), K.copy())
    assert np.array_equal(model.signs_, signs)
    assert_allclose(model.transform(K).T, scores, atol=1e-8 * np.abs(K).max() ** 0.5)


@settings(max_examples=60)
@given(st.data(), st.integers(2, 12), st.integers(1, 4))
def test_kernels_full_of_ties(data, n, rank):
    """Whole numbers: equal columns, zero rows, zero sums. The first component is exact, later ones equal its twin."""
    A = np.array(
        data.draw(st.lists(st.lists(st.integers(-2, 2), min_size=rank, max_size=rank), min_size=n, max_size=n))
    )
    K = (A @ A.T).astype(float)
    signs, scores, objective, _ = naive.l1(K, n)
    model = quiet_fit(L1KernelPCA(n, kernel="precomputed", center=False), K.copy())
    assert model.signs_.shape == signs.shape
    assert np.array_equal(model.signs_, signs)
    assert_allclose(model.objective_, objective, rtol=1e-9)
    assert_allclose(model.transform(K).T, scores, atol=1e-7)


def test_the_linear_systems_solved_to_the_letter_give_the_same():
    X = rows(4, 40)
    scores = naive.l1_by_linear_systems(centred(rbf(X)), 4)
    model = L1KernelPCA(4, kernel="rbf", gamma=GAMMA, algorithm="linear_system").fit(X)
    assert_allclose(model.transform(X).T, scores, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_projection_trick_is_pca_l1_of_its_features(kernel):
    X = rows(5, 50)
    K = centred(X @ X.T if kernel == "linear" else rbf(X))
    scores = naive.l1_of_features(naive.projection_features(K), 4)
    model = L1KernelPCA(4, kernel=kernel, gamma=GAMMA, algorithm="projection_trick").fit(X)
    assert_allclose(model.transform(X).T, scores, atol=1e-8)


# -- what the paper proves -------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 10))
def test_the_objective_rises_to_a_fixed_point_in_finitely_many_steps(seed, n, rank):
    """Lemma 1 and Theorem 1; Theorem 2: |x^k| - |x*| shrinks at least by the factors rho(c^l) on the way."""
    A = np.random.default_rng(seed).standard_normal((n, rank))
    K = A @ A.T
    found = extract(HeldResidual(K.copy()), 1)
    values = np.array(found.histories[0])
    assert (np.diff(values) >= -1e-9 * values.max()).all()
    assert len(values) <= 2 * n + 5
    c = found.signs[0]
    assert np.array_equal(c, naive.signs(K @ c))
    assert_allclose(found.objective[0] ** 2, c @ K @ c, rtol=1e-10)
    assert_linear_rate(K, naive.start_objective(K, K.diagonal() > 0, 0.0))


def assert_linear_rate(K: np.ndarray, c: np.ndarray) -> None:
    path = [c]
    while not np.array_equal(naive.signs(K @ path[-1]), path[-1]):
        path.append(naive.signs(K @ path[-1]))
    # x^(k+1) = Phi c^k / sum |K c^k| [kim2019, eq. 17]
    lengths = [np.sqrt(c @ K @ c) / np.abs(K @ c).sum() for c in path]
    factors = [(c @ K @ c) / np.abs(K @ c).sum() for c in path]
    gaps = np.array(lengths) - lengths[-1]
    assert all(factor < 1 for factor in factors[:-1])
    assert factors[-1] == pytest.approx(1)
    bounds = gaps[0] * np.cumprod([1.0, *factors[1:]])
    assert (gaps <= bounds + 1e-12 * lengths[0]).all()


def test_the_framework_with_squares_is_power_iteration(rng):
    """x <- grad f(x) / |grad f(x)| with f(x) = sum_i (phi_i^T x)^2: the coefficients alpha <- K alpha, scaled."""
    Z = rng.standard_normal((30, 4))
    K, alpha = Z @ Z.T, rng.standard_normal(30)
    x = Z.T @ alpha / np.linalg.norm(Z.T @ alpha)
    for _ in range(7):
        gradient = 2 * Z.T @ (Z @ x)
        x = gradient / np.linalg.norm(gradient)
    assert_allclose(Z.T @ naive.power_iteration(K, alpha, 7), x, atol=1e-12)


def test_components_are_orthonormal_and_in_order_of_extraction():
    X = rows(6, 80)
    model = L1KernelPCA(8, kernel="rbf", gamma=GAMMA).fit(X)
    expansion = model.expansion_
    assert_allclose(expansion.coef @ rbf(X) @ expansion.coef.T, np.eye(8), atol=1e-9)
    fewer = L1KernelPCA(3, kernel="rbf", gamma=GAMMA).fit(X)
    assert np.array_equal(fewer.signs_, model.signs_[:3])
    new = rows(7, 9)
    assert_allclose(fewer.transform(new), model.transform(new)[:, :3], atol=1e-10)


# -- the global optimum ------------------------------------------------------------------------------------------------


def rate(cases: list[np.ndarray], options: SignOptions) -> float:
    hits = [
        extract(HeldResidual(K.copy()), 1, options).objective[0] ** 2 >= naive.best_signs(K) * (1 - 1e-9) for K in cases
    ]
    return float(np.mean(hits))


def test_the_best_start_with_flips_nearly_always_finds_the_global_optimum():
    rng = np.random.default_rng(11)
    cases = []
    for _ in range(100):
        A = rng.standard_normal((int(rng.integers(4, 12)), int(rng.integers(2, 8))))
        cases.append(A @ A.T)
    plain, best = rate(cases, SignOptions()), rate(cases, SignOptions("best", refine=True))
    assert best >= 0.9
    assert 0.3 <= plain < best


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 30))
def test_flips_end_where_no_single_sign_gains(seed, n):
    A = np.random.default_rng(seed).standard_normal((n, 5))
    K = A @ A.T
    c = extract(HeldResidual(K.copy()), 1, SignOptions(refine=True)).signs[0]
    assert (c * (K @ c) >= K.diagonal() * (1 - 1e-9)).all()
    assert c @ K @ c >= extract(HeldResidual(K.copy()), 1).objective[0] ** 2 * (1 - 1e-12)


def test_refined_models_have_larger_objectives_and_the_same_interface():
    X = rows(8, 90)
    plain = L1KernelPCA(1, kernel="rbf", gamma=GAMMA).fit(X)
    best = L1KernelPCA(1, kernel="rbf", gamma=GAMMA, init="best", refine="flip").fit(X)
    assert best.objective_[0] >= plain.objective_[0]
    assert_allclose(best.objective_, np.abs(best.transform(X)).sum(axis=0), rtol=1e-9)


# -- three forms of the same matrix ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [SignOptions(), SignOptions("best", refine=True), SignOptions("norm")])
def test_held_tiled_and_explicit_forms_agree(options):
    X = rows(9, 700, 5) + 2.0
    held = HeldResidual(centred(X @ X.T))
    tiled = TiledResidual(make_operator(Linear(), X, np.float64))
    explicit = FeatureResidual(X - X.mean(axis=0))
    found = [extract(residual, 5, options) for residual in (held, tiled, explicit)]
    for other in found[1:]:
        assert np.array_equal(other.signs, found[0].signs)
        assert_allclose(other.scores, found[0].scores, atol=1e-9)


def test_the_search_for_the_start_looks_at_every_column_that_can_win():
    """512 columns with larger bounds (one huge entry each) come before the 1200 equal ones that win."""
    Z = np.zeros((1712, 2))
    Z[:512, 0], Z[512:, 1] = 1.8, 1.0
    Z[0, 0] = 150.0
    values = np.abs(Z @ Z.T).sum(axis=0) / np.linalg.norm(Z, axis=1)
    assert FeatureResidual(Z).best_column(np.ones(1712, bool)) == naive.first_largest(list(values)) == 512


def test_more_deflations_than_can_wait():
    X = rows(10, 150, 20)
    K = centred(rbf(X))
    assert np.array_equal(extract(HeldResidual(K.copy(), threads=2), 30).signs, naive.l1(K, 30)[0])


def test_threads_change_nothing():
    X = rows(12, 1600)
    one, two = (L1KernelPCA(6, kernel="rbf", gamma=GAMMA, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert np.array_equal(one.signs_, two.signs_)
    assert_allclose(one.transform(X[:50]), two.transform(X[:50]), atol=1e-12)


@pytest.mark.parametrize("params", [{}, {"init": "best", "refine": "flip"}, {"algorithm": "linear_system"}])
def test_little_memory_gives_the_same(params):
    X = rows(13, 600)
    whole = L1KernelPCA(5, kernel="rbf", gamma=GAMMA, **params).fit(X)
    with config_context(working_memory=1):
        residual, _ = make_residual(RBF(GAMMA), X, np.float64, True, None)
        assert isinstance(residual, TiledResidual)
        tiled = L1KernelPCA(5, kernel="rbf", gamma=GAMMA, **params).fit(X)
    assert np.array_equal(tiled.signs_, whole.signs_)
    assert_allclose(tiled.transform(X), whole.transform(X), atol=1e-10)


def test_the_linear_kernel_takes_no_kernel_matrix():
    residual, centring = make_residual(Linear(), rows(14, 50), np.float64, True, None)
    assert isinstance(residual, FeatureResidual)
    assert centring.trace == pytest.approx(residual.diagonal.sum())
    wide = rows(15, 8, 50)
    assert isinstance(make_residual(Linear(), wide, np.float64, True, None)[0], HeldResidual)
    K = wide @ wide.T
    assert np.array_equal(L1KernelPCA(4, kernel="linear").fit(wide).signs_, naive.l1(centred(K), 4)[0])


def test_a_wide_kernel_is_held_in_float32_after_what_its_values_have_in_common_is_subtracted():
    """k(x, y) is 1 up to 1e-4: rounded to float32 before centring, K' would be wrong by 1e-3 of its largest entry."""
    X = rows(16, 700).astype(np.float32)
    gamma = 1e-6
    K = np.exp(-gamma * ((X[:, None].astype(float) - X) ** 2).sum(axis=-1))
    residual, centring = make_residual(RBF(gamma), X, np.float32, True, 2)
    assert isinstance(residual, HeldResidual)
    assert residual._K.dtype == np.float32
    assert_allclose(residual._K, centred(K), atol=1e-7 * centred(K).max())
    assert np.array_equal(residual._K, residual._K.T)
    assert_allclose(centring.row_means, K.mean(axis=0), rtol=1e-12)
    assert centring.mean_norm == pytest.approx(K.mean(), rel=1e-12)
    assert centring.trace == pytest.approx(np.trace(centred(K)), rel=1e-9)
    found = extract(residual, 5)
    assert_allclose(found.objective[0], np.sqrt(found.signs[0] @ centred(K) @ found.signs[0]), rtol=1e-7)
    assert len(found.signs) == 5


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_kernel_values_outside_of_the_range_of_float32_are_held_in_float64(scale):
    X = (scale * rows(18, 200)).astype(np.float32)
    short, wide = (L1KernelPCA(3, kernel="poly", degree=8, gamma=1, coef0=0).fit(Z) for Z in (X, X.astype(float)))
    assert_allclose(short.objective_, wide.objective_, rtol=1e-6)


def test_four_different_rows_under_a_wide_kernel_have_three_components_in_float32():
    X = np.repeat(rows(17, 4), [97, 60, 31, 112], axis=0).astype(np.float32)
    residual, _ = make_residual(RBF(1e-5), X, np.float32, True, None)
    assert isinstance(residual, HeldResidual)
    assert residual._K.dtype == np.float32
    assert len(extract(residual, 6).signs) == 3


# -- awkward data ------------------------------------------------------------------------------------------------------


def test_asking_for_more_than_the_rank_ends_early():
    X = rows(16, 30, 3)
    with pytest.warns(UserWarning, match="but the data allow only 3"):
        model = L1KernelPCA(10, kernel="linear").fit(X)
    assert model.transform(X).shape == (30, 3)
    assert model.signs_.shape == (3, 30)
    assert_allclose(model.reconstruction_error(X), 0, atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cls", [L1KernelPCA, R1KernelPCA])
def test_one_row_and_constant_rows(cls, kernel):
    for X in (np.ones((1, 3)), np.full((7, 3), 0.1)):
        model = quiet_fit(cls(2, kernel=kernel), X)
        assert_allclose(model.transform(X), 0, atol=1e-7)
        assert_allclose(model.reconstruction_error(X), 0, atol=1e-7)
    assert quiet_fit(L1KernelPCA(2, kernel=kernel, center=False), np.ones((7, 3))).expansion_.n_components == 1


def test_repeated_rows():
    X = np.repeat(rows(17, 12, 4), 3, axis=0)
    model = L1KernelPCA(4, kernel="rbf", gamma=GAMMA).fit(X)
    signs, scores, _, _ = naive.l1(centred(rbf(X)), 4)
    assert np.array_equal(model.signs_, signs)
    assert_allclose(model.transform(X), scores.T, atol=1e-9)


def test_a_row_at_the_mean_has_the_sign_of_zero():
    X = np.vstack([rows(18, 20, 3), np.zeros((1, 3))])
    X[:-1] -= X[:-1].mean(axis=0)
    assert (L1KernelPCA(3, kernel="linear").fit(X).signs_[:, -1] == 1).all()


def test_r1_takes_a_given_matrix_beyond_the_memory_budget():
    K = rbf(rows(19, 60))
    model = R1KernelPCA(3, kernel="precomputed").fit(K)
    with config_context(working_memory=0.001):
        assert_allclose(R1KernelPCA(3, kernel="precomputed").fit(K).transform(K), model.transform(K), atol=1e-9)


@pytest.mark.parametrize("cls", [L1KernelPCA, R1KernelPCA])
def test_precomputed_sparse_and_single_precision(cls):
    X = rows(19, 60)
    model = cls(3, kernel="rbf", gamma=GAMMA).fit(X)
    K = rbf(X)
    given_matrix = K.copy()
    by_matrix = cls(3, kernel="precomputed").fit(given_matrix)
    assert np.array_equal(given_matrix, K)
    assert_allclose(by_matrix.transform(K), model.transform(X), atol=1e-6)
    for kernel in ("rbf", "linear"):
        dense = cls(3, kernel=kernel, gamma=GAMMA).fit(X)
        sparse = cls(3, kernel=kernel, gamma=GAMMA).fit(sp.csr_matrix(X))
        assert_allclose(sparse.transform(sp.csr_matrix(X)), dense.transform(X), atol=1e-6)
    single = cls(3, kernel="rbf", gamma=GAMMA).fit(X.astype(np.float32))
    assert_allclose(np.abs(single.transform(X)), np.abs(model.transform(X)), atol=1e-2)


def test_components_of_an_indefinite_kernel_are_orthonormal():
    K = np.diag([1.0, 1.0, 1.0]) - 5 * (np.ones((3, 3)) - np.eye(3))  # eigenvalues 6, 6 and -9
    coef = quiet_fit(L1KernelPCA(3, kernel="precomputed", center=False), K).expansion_.coef
    assert len(coef) == 2
    assert_allclose(coef @ K @ coef.T, np.eye(2), atol=1e-12)


def test_an_indefinite_kernel_is_told():
    K = rows(5, 40, 40)
    with pytest.warns(IndefiniteKernelWarning, match="squared length -"):
        L1KernelPCA(5, kernel="precomputed", center=False).fit(K + K.T)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_positive_kernel_is_not_called_indefinite(kernel, dtype):
    X = np.repeat(rows(6, 60, 3), 3, axis=0).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IndefiniteKernelWarning)
        model = L1KernelPCA(3, kernel=kernel).fit(X)
    assert model.n_components_ == 3


# -- R1 ----------------------------------------------------------------------------------------------------------------


def test_r1_is_its_twin_on_explicit_rows():
    X = rows(20, 60, 5)
    X[:6] *= 8
    Z = X - X.mean(axis=0)
    U, objectives = naive.r1(Z, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = R1KernelPCA(2, kernel="linear", tol=0, max_iter=60).fit(X)
    assert_allclose(model.objective_[1:], objectives, rtol=1e-9)
    mine = model.expansion_.coef @ X  # (r, d)
    assert_allclose(mine.T @ mine, U @ U.T, atol=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(5, 40), st.integers(1, 4))
def test_r1_never_gets_worse_and_its_basis_is_orthonormal(seed, n, r):
    X = np.random.default_rng(seed).standard_t(2, (n, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = R1KernelPCA(r, kernel="linear", max_iter=50).fit(X)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0] + 1e-12).all()
    components = model.expansion_.coef @ X
    assert_allclose(components @ components.T, np.eye(len(components)), atol=1e-8)
    assert (model.weights_ <= 1).all()


def test_r1_and_l1_withstand_outliers_better_than_squares():
    from mercer import KernelPCA

    rng = np.random.default_rng(21)
    clean = rng.standard_normal((300, 10)) * ([5] * 2 + [0.5] * 8)
    dirty = clean.copy()
    dirty[:15, 5:] += 20 * rng.standard_normal((15, 5))

    def angle(model) -> float:
        components = model.fit(dirty).expansion_.coef @ dirty
        return float(np.linalg.svd((components / np.linalg.norm(components, axis=1)[:, None])[:, :2])[1][-1])

    squares = angle(KernelPCA(2, kernel="linear"))
    assert angle(L1KernelPCA(2, kernel="linear")) > squares + 0.1
    assert angle(R1KernelPCA(2, kernel="linear")) > squares + 0.1
