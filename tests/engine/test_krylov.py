"""Eigensolvers against LAPACK: every solver, kind of spectrum and size; and what they tell and warn."""

import warnings

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPCA
from mercer.engine.dense import extreme_ritz_values, leading_pairs, leading_pairs_by_lanczos, pairs_and_lowest
from mercer.engine.krylov import block_krylov
from mercer.engine.spectrum import clean_eigenvalues, is_indefinite, orient, rounding_noise, thresholds
from mercer.events import Channel, History
from mercer.kernels.operator import CentredOperator
from mercer.solvers.exact.eigen import EigenOptions, choose_solver, solve, solve_share
from textbook import kernel_pca as naive

EPS = float(np.finfo(np.float64).eps)
SOLVERS = ["dense", "arpack", "randomized", "krylov", "auto"]


class Given:
    """A matrix that is there, as the operator's source."""

    def __init__(self, K: np.ndarray) -> None:
        self.K, self.shape, self.dtype = K, K.shape, K.dtype

    def product(self, V):
        return self.K @ V

    def columns(self, indices):
        return self.K[:, indices]

    def dense(self):
        return self.K.copy()


def operator_of(K: np.ndarray, center: bool = False) -> CentredOperator:
    return CentredOperator(Given(K), np.diag(K).copy(), center=center)


def with_spectrum(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """A symmetric matrix with these eigenvalues and random eigenvectors."""
    Q = scipy.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    K = (Q * values) @ Q.T
    return 0.5 * (K + K.T)


def spectra(n: int) -> dict[str, np.ndarray]:
    rank = min(n, 4)
    multiple = np.repeat([5.0, 3.0, 1.0], [2, 4, n])[:n]
    return {
        "evenly spaced": np.linspace(1.0, 0.01, n),
        "geometric": 0.7 ** np.arange(n),
        "steep": 10.0 ** -np.arange(n, dtype=float),
        "low rank": np.r_[np.linspace(3, 1, rank), np.zeros(n - rank)],
        "rank one": np.r_[4.0, np.zeros(n - 1)],
        "identity": np.ones(n),
        "identity less one": np.r_[np.ones(n - 1), np.zeros(1)] if n > 1 else np.ones(1),
        "clustered": 1.0 + 1e-9 * np.arange(n),
        "multiple": multiple,
        "one far out": np.r_[1e6, np.linspace(1, 0.5, n - 1)],
        "huge": 1e150 * 0.8 ** np.arange(n),
        "tiny": 1e-150 * 0.8 ** np.arange(n),
        "indefinite": np.r_[np.linspace(2, 0.1, n - n // 3), -np.linspace(0.05, 1, n // 3)],
    }


KINDS = list(spectra(10))


def krylov(K: np.ndarray, r: int, *, block=None, max_iter=200, tol=0.0, **options):
    n = len(K)
    start = np.random.default_rng(5).standard_normal((n, min(n, block or r + 8)))
    limits = {"tol": tol, "floor": EPS * np.sqrt(n), "max_iter": max_iter}
    return block_krylov(lambda V: K @ V, start, r, **limits, **options)


def assert_eigenpairs(K, values, vectors, true, *, rtol):
    """The laws of eigenpairs: the right values, unit vectors at right angles, and K v = lambda v."""
    scale = float(np.abs(true).max()) or 1.0
    r = len(true)
    assert values.shape == (r,)
    assert vectors.shape == (len(K), r)
    assert np.abs(values - true).max() <= rtol * scale
    assert np.abs(vectors.T @ vectors - np.eye(r)).max() < 1e-10
    assert np.linalg.norm(K @ vectors - vectors * values, axis=0).max() <= 10 * rtol * scale
    assert (np.diff(values) <= 1e-14 * scale).all()


# A basis that is as wide as the space has no room for another block: sizes from one block to many.
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 11, 12, 20, 33, 50, 64, 101, 200])
def test_block_krylov_at_every_size(n, kind):
    true = np.sort(spectra(n)[kind])[::-1]
    K = with_spectrum(true)
    for r in {1, min(3, n), min(10, n)}:
        found = krylov(K, r)
        assert found.converged
        assert found.n_iter <= 200
        assert_eigenpairs(K, found.values, found.vectors, true[:r], rtol=1e-11)
        assert (found.residuals <= 1e-11 * np.abs(true).max()).all()
        assert found.lowest >= true[-1] - 1e-11 * np.abs(true).max()


@pytest.mark.parametrize("block", [1, 2, 3, 5, 17])
def test_block_krylov_with_any_block(block):
    true = np.linspace(1, 0, 90) ** 2
    K = with_spectrum(true)
    found = krylov(K, 1, block=block, max_iter=2000)
    assert found.converged
    assert_eigenpairs(K, found.values, found.vectors, true[:1], rtol=1e-11)


@given(n=st.integers(1, 60), r=st.integers(1, 12), rank=st.integers(0, 60), seed=st.integers(0, 99))
def test_block_krylov_on_random_gram_matrices(n, r, rank, seed):
    r = min(r, n)
    F = np.random.default_rng(seed).standard_normal((n, rank))
    K = F @ F.T
    true = naive.eigenpairs(K, r)[0]
    found = krylov(K, r)
    assert_eigenpairs(K, found.values, found.vectors, true, rtol=1e-11)


def test_block_krylov_of_zero():
    found = krylov(np.zeros((30, 30)), 4)
    assert found.converged
    assert_eigenpairs(np.zeros((30, 30)), found.values, found.vectors, np.zeros(4), rtol=1e-15)


def test_block_krylov_restarts_within_its_memory():
    true = np.linspace(1, 0, 1000)  # slow: needs more steps than the basis has room for
    K = with_spectrum(true)
    found = krylov(K, 2, max_iter=500)
    assert found.n_iter > 20
    assert_eigenpairs(K, found.values, found.vectors, true[:2], rtol=1e-11)


@pytest.mark.parametrize("max_iter", [1, 2, 10, *range(17, 22), *range(33, 38)])
def test_block_krylov_that_may_go_no_further_returns_what_it_says(max_iter):
    # 80 basis vectors in blocks of 4 are full after 19 steps, and after 16 more from 10 vectors: that may be the last
    K = with_spectrum(np.linspace(1, 0, 300))
    found = krylov(K, 6, block=4, max_iter=max_iter)
    assert not found.converged
    assert found.n_iter == max_iter
    r = min(6, 4 * max_iter)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(r), atol=1e-13)
    assert_allclose(
        np.linalg.norm(K @ found.vectors - found.vectors * found.values, axis=0), found.residuals, rtol=1e-9
    )


def test_block_krylov_by_modulus():
    true = np.r_[np.linspace(1, 0, 79), -3.0]
    K = with_spectrum(true)
    found = krylov(K, 2, select="modulus")
    assert_allclose(found.values, [-3, 1], rtol=1e-11)
    assert_allclose(K @ found.vectors, found.vectors * found.values, atol=1e-10)


# A restart forgets the low end of its basis; what was seen there must not be forgotten.
@pytest.mark.parametrize("n", [40, 300, 1000])
@pytest.mark.parametrize("low", [-0.5, -0.1])
def test_block_krylov_remembers_the_lowest_value_it_saw(n, low):
    K = with_spectrum(np.r_[np.linspace(1, 0.01, n - 1), low])
    assert krylov(K, 3).lowest == pytest.approx(low, rel=0.05)


def test_a_tolerance_stops_earlier_and_is_kept():
    K = with_spectrum(0.9 ** np.arange(300))
    exact, loose = krylov(K, 5), krylov(K, 5, tol=1e-3)
    assert loose.n_iter < exact.n_iter
    residuals = np.linalg.norm(K @ loose.vectors - loose.vectors * loose.values, axis=0)
    assert residuals.max() <= 1e-3
    assert_allclose(loose.residuals, residuals, rtol=1e-6, atol=1e-14)


def test_too_few_steps_are_reported():
    found = krylov(with_spectrum(np.linspace(1, 0, 400)), 3, max_iter=2)
    assert not found.converged
    assert found.n_iter == 2
    assert found.residuals.max() > 1e-6


def test_observers_hear_every_step():
    history = History()
    found = krylov(with_spectrum(0.8 ** np.arange(200)), 4, channel=Channel((history,)))
    assert [event.step for event in history.events] == list(range(1, found.n_iter + 1))
    residuals = [event.residual for event in history.events]
    assert residuals[-1] < 1e-12 < residuals[0]
    assert {event.stage for event in history.events} == {"krylov"}


# -- dense -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 30, 120])
def test_lapack_pairs(n, kind):
    true = np.sort(spectra(n)[kind])[::-1]
    K = with_spectrum(true)
    for r in {1, min(7, n), n}:
        values, vectors = leading_pairs(K.copy(), r)
        assert_eigenpairs(K, values, vectors, true[:r], rtol=1e-12)


@pytest.mark.parametrize("r", [1, 4, 40, 499, 500])
def test_lapack_pairs_of_a_near_identity(r):
    K = np.eye(500) - 1 / 500
    values, vectors = leading_pairs(K.copy(), r)
    assert_eigenpairs(K, values, vectors, np.r_[np.ones(499), 0.0][:r], rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 30, 120])
def test_the_smallest_eigenvalue_beside_the_leading_pairs(n, kind):
    true = np.sort(spectra(n)[kind])[::-1]
    K = with_spectrum(true)
    for r in (1, n // 5, n // 2):
        values, vectors, lowest = pairs_and_lowest(K.copy(), r)
        assert_eigenpairs(K, values, vectors, true[:r], rtol=1e-12)
        assert lowest == pytest.approx(true[-1], abs=1e-12 * np.abs(true).max())


@pytest.mark.parametrize("fault", ["few", "nan", "code"])
def test_faults_of_the_method_for_some_pairs_fall_back_to_all_pairs(fault, monkeypatch):
    import mercer.engine.tridiagonal as tridiagonal

    genuine = tridiagonal.dstemr

    def faulty(*given):
        found, values, vectors, code = genuine(*given)
        changed = {"few": (found - 1, values, vectors, code), "nan": (found, values, vectors * np.nan, code)}
        return changed.get(fault, (found, values, vectors, 3))

    monkeypatch.setattr(tridiagonal, "dstemr", faulty)
    true = 0.9 ** np.arange(50)
    K = with_spectrum(true)
    values, vectors = leading_pairs(K.copy(), 6)
    assert_eigenpairs(K, values, vectors, true[:6], rtol=1e-12)


def test_bisection_that_fails_falls_back_to_all_eigenvalues(monkeypatch):
    import mercer.engine.tridiagonal as tridiagonal

    monkeypatch.setattr(tridiagonal, "dstebz", lambda *given: (0, np.zeros(1), None, None, 1))
    true = np.r_[0.9 ** np.arange(49), -0.2]
    assert pairs_and_lowest(with_spectrum(true), 6)[2] == pytest.approx(-0.2)


@pytest.mark.parametrize("fault", ["none", "few", "nan", "error"])
def test_large_matrices_use_the_drivers_of_lapack(fault, monkeypatch):
    import mercer.engine.dense as dense

    genuine = dense.eigh

    def faulty(K, **options):
        if "subset_by_index" not in options or fault == "none":
            return genuine(K, **options)
        if fault == "error":
            raise scipy.linalg.LinAlgError("no convergence")
        values, vectors = genuine(K, **options)
        return (values[:1], vectors[:, :1]) if fault == "few" else (values, vectors * np.nan)

    monkeypatch.setattr(dense, "eigh", faulty)
    monkeypatch.setattr(dense, "_TRIDIAGONAL_ROWS", 10)
    true = np.r_[0.9 ** np.arange(49), -0.2]
    K = with_spectrum(true)
    values, vectors, lowest = pairs_and_lowest(K.copy(), 6)
    assert_eigenpairs(K, values, vectors, true[:6], rtol=1e-12)
    assert -0.2 - 1e-12 <= lowest <= -0.1


def test_vectors_do_not_keep_a_whole_matrix_in_memory():
    vectors = leading_pairs(with_spectrum(0.9 ** np.arange(60)), 3)[1]
    assert vectors.base is None or vectors.base.size == vectors.size


@pytest.mark.parametrize("low", [-5.0, -0.3, -0.01])
@pytest.mark.parametrize("n", [3, 30, 400])
def test_the_lowest_value_comes_into_sight(n, low):
    K = with_spectrum(np.r_[np.linspace(1, 0.01, n - 1), low])
    assert low - 1e-12 <= extreme_ritz_values(K)[0] <= 0.5 * low


def test_the_lowest_value_of_trivial_matrices():
    assert extreme_ritz_values(np.zeros((5, 5)))[0] == pytest.approx(0, abs=1e-15)
    assert extreme_ritz_values(np.array([[-2.0]]))[0] == pytest.approx(-2)
    assert extreme_ritz_values(np.eye(7))[0] == pytest.approx(1)
    assert extreme_ritz_values(np.diag([0.0, 0.0, 3.0, -1.0]))[0] == pytest.approx(-1)


# -- through the operator --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"indefinite", "tiny", "huge"}))
@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_agree_with_lapack(solver, kind):
    n, r = 150, 6
    true = np.sort(spectra(n)[kind])[::-1]
    K = with_spectrum(true)
    found = solve(operator_of(K), r, EigenOptions(solver=solver))
    assert_eigenpairs(K, found.values, found.vectors, true[:r], rtol=1e-10)


@pytest.mark.parametrize("r", [1, 17, 74, 75, 76, 140, 149, 150])
@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_for_any_number_of_pairs(solver, r):
    true = 0.95 ** np.arange(150)
    K = with_spectrum(true)
    found = solve(operator_of(K), r, EigenOptions(solver=solver))
    assert_eigenpairs(K, found.values, found.vectors, true[:r], rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_on_tiny_problems(solver, n, rng):
    F = rng.standard_normal((n, 4))
    K = F @ F.T
    for r in range(1, n + 1):
        found = solve(operator_of(K), r, EigenOptions(solver=solver))
        assert_eigenpairs(K, found.values, found.vectors, naive.eigenpairs(K, r)[0], rtol=1e-11)


@pytest.mark.parametrize("solver", ["auto", "krylov", "randomized"])
@pytest.mark.parametrize("r", [30, 37])
def test_slow_spectra_where_the_basis_can_fill_the_space(solver, r):
    """Just above the sizes that LAPACK takes, with as many components as are left to the iteration."""
    true = np.linspace(1, 0.2, 320)
    K = with_spectrum(true)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found = solve(operator_of(K), r, EigenOptions(solver=solver))
    assert_eigenpairs(K, found.values, found.vectors, true[:r], rtol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("data", ["random", "duplicated", "constant", "low rank", "one column", "far apart"])
def test_centred_kernels_of_awkward_data(solver, data, rng):
    n = 120
    X = {
        "random": rng.standard_normal((n, 5)),
        "duplicated": np.repeat(rng.standard_normal((n // 4, 5)), 4, axis=0),
        "constant": np.full((n, 5), 0.1),
        "low rank": rng.standard_normal((n, 1)) @ rng.standard_normal((1, 5)),
        "one column": rng.standard_normal((n, 1)),
        "far apart": rng.standard_normal((n, 5)) * 100,  # K is nearly the identity
    }[data]
    K = naive.rbf_matrix(X, X, 0.5)
    flat = np.eye(n) - 1 / n
    true = scipy.linalg.eigh(flat @ K @ flat, eigvals_only=True)[::-1][:5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(5, kernel="rbf", gamma=0.5, eigen_solver=solver).fit(X)
    size = max(true[0], 1e-6)
    assert_allclose(model.eigenvalues_, true, rtol=0, atol=1e-9 * size)
    kept = model.eigenvalues_ > 0
    vectors = model.eigenvectors_[:, kept]
    assert np.abs(vectors.T @ vectors - np.eye(kept.sum())).max(initial=0) < 1e-9
    residuals = flat @ K @ flat @ vectors - vectors * model.eigenvalues_[kept]
    assert np.linalg.norm(residuals, axis=0).max(initial=0) <= 1e-9 * size


@pytest.mark.parametrize("solver", ["dense", "arpack", "krylov", "auto"])
@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize("low", [-0.5, -0.1])
def test_an_indefinite_operator_is_noticed(solver, n, low):
    true = np.r_[np.linspace(1, 0.01, n - 1), low]
    K = with_spectrum(true)
    found = solve(operator_of(K), 3, EigenOptions(solver=solver))
    assert_allclose(found.values, true[:3], rtol=1e-9)
    assert found.lowest <= 0.8 * low


def test_auto_takes_lapack_for_small_problems_and_the_iteration_otherwise():
    assert choose_solver("auto", 50, 5) == "dense"
    assert choose_solver("auto", 5000, 5) == "krylov"
    assert choose_solver("auto", 5000, 10) == "krylov"  # no cliff at ten components
    assert choose_solver("auto", 5000, 4000) == "dense"
    assert choose_solver("auto", 1797, 100) == "krylov"
    assert choose_solver("auto", 1797, 100, positive=False) == "dense"
    assert choose_solver("auto", 20_000, 700, positive=False) == "krylov"
    for solver in ("arpack", "randomized", "krylov", "dense"):
        assert choose_solver(solver, 50, 50) == "dense"
        assert choose_solver(solver, 5000, 5) == solver


@pytest.mark.parametrize("share", [1e-6, 0.2, 0.5, 0.9, 0.99, 0.999999])
def test_a_share_of_the_trace_takes_the_fewest_components(share):
    true = 0.9 ** np.arange(120)
    found = solve_share(operator_of(with_spectrum(true)), share, EigenOptions())
    expected = int(np.argmax(np.cumsum(true) >= share * true.sum())) + 1
    assert len(found.values) == expected
    assert found.vectors.shape == (120, expected)
    assert_allclose(found.values, true[:expected], rtol=1e-10)


def test_too_few_steps_warn(rng):
    X = rng.standard_normal((400, 30))
    with pytest.warns(ConvergenceWarning, match=r"Raise max_iter or tol"):
        KernelPCA(5, kernel="rbf", eigen_solver="krylov", max_iter=1).fit(X)


def test_randomized_with_a_number_of_steps_takes_that_many(rng):
    X = rng.standard_normal((400, 30))
    rough = KernelPCA(5, kernel="rbf", eigen_solver="randomized", iterated_power=1).fit(X)
    assert rough.n_iter_ == 4  # two products per iteration, as in scikit-learn, and two more
    exact = KernelPCA(5, kernel="rbf", eigen_solver="dense").fit(X)
    assert (rough.eigenvalues_ <= exact.eigenvalues_ + 1e-12).all()
    assert not np.allclose(rough.eigenvalues_, exact.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("power", [1, 2, 4])
def test_power_iterations_are_at_least_as_good_as_those_of_scikit_learn(power):
    X = load_digits().data
    given = {"n_components": 10, "kernel": "rbf", "gamma": 1e-3, "eigen_solver": "randomized", "random_state": 0}
    exact = KernelPCA(10, kernel="rbf", gamma=1e-3, eigen_solver="dense").fit(X).eigenvalues_
    ours = KernelPCA(**given, iterated_power=power).fit(X).eigenvalues_
    theirs = PeerKernelPCA(**given, iterated_power=power).fit(X).eigenvalues_
    assert np.abs(ours / exact - 1.0).max() <= max(np.abs(theirs / exact - 1.0).max(), 1e-12)


@pytest.mark.parametrize("seed", [0, 1, np.random.RandomState(3)])
@pytest.mark.parametrize("solver", ["arpack", "randomized", "krylov"])
def test_the_start_does_not_matter(solver, seed, rng):
    X = rng.standard_normal((350, 6))
    exact = KernelPCA(5, kernel="rbf", eigen_solver="dense").fit(X)
    model = KernelPCA(5, kernel="rbf", eigen_solver=solver, random_state=seed).fit(X)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-11)
    assert_allclose(model.eigenvectors_, exact.eigenvectors_, atol=1e-8)


# -- judging what was found ------------------------------------------------------------------------


def test_thresholds_suit_the_precision():
    single, double = thresholds(np.float32), thresholds(np.float64)
    assert single.zero > double.zero > 0
    assert single.negative > double.negative > 0


def test_rounding_noise_grows_with_its_sources():
    # entries: independent errors, sqrt(n); the mean: one error everywhere, n, but in float64 always
    assert rounding_noise(100, 3.0, np.float32) == pytest.approx(
        3.0 * (40 * np.finfo(np.float32).eps + 800 * np.finfo(np.float64).eps)
    )
    assert rounding_noise(10_000, 1.0, np.float64) > 99 * rounding_noise(100, 1.0, np.float64) / 2


def test_noise_becomes_exact_zeros_and_the_rest_stays():
    limits = thresholds(np.float64)
    values = np.array([3.0, 1e-3, 1e-13, -1e-14])
    assert_array_equal(clean_eigenvalues(values, -1e-14, 1e-15, limits), [3.0, 1e-3, 0.0, 0.0])


def test_real_negatives_among_the_wanted_are_an_error():
    limits = thresholds(np.float64)
    with pytest.raises(ValueError, match=r"significant negative eigenvalues.*fewer components"):
        clean_eigenvalues(np.array([3.0, -0.1]), -0.1, 1e-15, limits)
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        clean_eigenvalues(np.array([1.0]), -2.0, 1e-15, limits)  # outside, but larger than the largest
    assert_array_equal(clean_eigenvalues(np.array([1.0]), -0.5, 1e-15, limits), [1.0])


def test_negatives_outside_the_wanted_are_seen():
    limits = thresholds(np.float64)
    assert is_indefinite(np.array([1.0]), -0.5, 1e-15, limits)
    assert is_indefinite(np.array([1.0]), -1e-3, 1e-15, limits)
    assert not is_indefinite(np.array([1.0]), -1e-14, 1e-15, limits)
    assert not is_indefinite(np.array([1.0]), 0.2, 1e-15, limits)
    assert not is_indefinite(np.array([0.0]), -1e-14, 1e-13, limits)  # nothing but the rounding of centring


def test_signs_are_fixed_by_the_largest_entry():
    vectors = np.array([[0.1, -0.5, 0.0, -0.9], [-0.8, 0.5, 0.0, 0.1]])
    expected = np.array([[-0.1, 0.5, 0.0, 0.9], [0.8, -0.5, 0.0, -0.1]])
    assert_array_equal(orient(vectors), expected)
    assert_array_equal(orient(-vectors[:, [0, 1, 3]]), expected[:, [0, 1, 3]])
    assert orient(np.empty((0, 3))).shape == (0, 3)
    assert orient(np.empty((3, 0))).shape == (3, 0)


# -- real digits -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits(usps):
    """The first 2000 USPS digits and the sixteen leading eigenvalues of their centred kernel matrix."""
    X = usps[:2000]
    K = naive.rbf_matrix(X, X, 1 / 128)
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return X, scipy.linalg.eigh(K, eigvals_only=True, subset_by_index=(1984, 1999))[::-1]


@pytest.mark.parametrize("solver", SOLVERS)
def test_usps_eigenvalues(solver, digits):
    X, true = digits
    model = KernelPCA(16, kernel="rbf", gamma=1 / 128, eigen_solver=solver, precision="float64").fit(X)
    assert_allclose(model.eigenvalues_, true, rtol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_usps_eigenvalues_in_mixed_precision(solver, digits):
    X, true = digits
    model = KernelPCA(16, kernel="rbf", gamma=1 / 128, eigen_solver=solver, precision="mixed").fit(X)
    assert_allclose(model.eigenvalues_, true, rtol=1e-6)
    assert model.fit_transform(X[:50]).dtype == np.float64


def test_auto_precision_follows_the_tolerance(digits):
    X, true = digits
    loose = KernelPCA(16, kernel="rbf", gamma=1 / 128, tol=1e-6).fit(X)
    mixed = KernelPCA(16, kernel="rbf", gamma=1 / 128, tol=1e-6, precision="mixed").fit(X)
    double = KernelPCA(16, kernel="rbf", gamma=1 / 128, tol=1e-6, precision="float64").fit(X)
    assert np.array_equal(loose.eigenvalues_, mixed.eigenvalues_)
    assert not np.array_equal(loose.eigenvalues_, double.eigenvalues_)
    assert_allclose(loose.eigenvalues_, true, rtol=2e-6)


# Narrow blocks: equal eigenvalues are more than the block has vectors, and ranks are lower than the wanted pairs.
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [20, 64, 200])
def test_blocks_with_fewer_vectors_than_wanted_pairs(n, block, kind):
    true = np.sort(spectra(n)[kind])[::-1]
    K = with_spectrum(true)
    for r in (3, 12):
        found = krylov(K, r, block=block, max_iter=1000)
        assert found.converged
        assert_eigenpairs(K, found.values, found.vectors, true[:r], rtol=1e-11)


# Remainders that are rounding lie nearly wholly in the basis: made orthogonal once, they spoil it within ten steps.
@pytest.mark.parametrize(
    ("n", "block", "kind"), [(64, 1, "multiple"), (64, 2, "multiple"), (200, 1, "identity less one")]
)
def test_the_basis_stays_orthogonal_where_only_rounding_is_left(n, block, kind):
    true = np.sort(spectra(n)[kind])[::-1]
    for seed in range(12):
        found = krylov(with_spectrum(true, seed), 12, block=block, max_iter=1000)
        assert found.converged
        assert_allclose(found.values, true[:12], atol=1e-11 * true[0])
        assert_allclose(found.vectors.T @ found.vectors, np.eye(12), atol=1e-10)


@pytest.mark.parametrize("multiplicity", [5, 9, 24, 40])
def test_no_copy_of_a_multiple_eigenvalue_is_missed(multiplicity):
    true = np.r_[np.full(multiplicity, 2.0), np.full(multiplicity, 1.5), np.linspace(1, 0, 400)]
    K = with_spectrum(true)
    found = krylov(K, 2 * multiplicity + 3, block=8, tol=1e-9)
    assert_allclose(found.values, true[: 2 * multiplicity + 3], atol=1e-12)


def test_narrow_blocks_need_fewer_products_than_wide_ones():
    K = with_spectrum(1.0 / (1.0 + np.arange(600.0)))
    wide, narrow = (krylov(K, 50, block=b, tol=1e-9) for b in (50, 8))
    assert narrow.n_iter * 8 < 0.6 * wide.n_iter * 50
    assert_allclose(narrow.values, wide.values, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [60, 250])
def test_lanczos_on_a_small_matrix_finds_every_pair_or_says_that_it_failed(n, kind):
    true = np.sort(spectra(n)[kind])[::-1]
    K = with_spectrum(true)
    for r in (1, 3, 10):
        found = leading_pairs_by_lanczos(K.copy(), r, np.random.default_rng(0).uniform(-1, 1, n))
        if found is not None:
            assert_eigenpairs(K, found.values, found.vectors, true[:r], rtol=1e-11)


def test_lanczos_that_misses_a_copy_is_found_out():
    true = np.r_[2.0, 2.0, 1.0, np.linspace(0.5, 0, 97)]
    K = with_spectrum(true)
    vectors = np.linalg.eigh(K)[1][:, ::-1]
    start = vectors[:, 0] + vectors[:, 2:].sum(axis=1)  # nothing along the second copy of 2
    assert extreme_ritz_values(K, vectors[:, [0, 2]])[1] == pytest.approx(2.0)
    found = leading_pairs_by_lanczos(K, 2, start)
    assert found is None or found.values == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize("low", [-1.9, -0.5, -0.05])
def test_lanczos_tells_of_a_negative_eigenvalue(low):
    true = np.r_[2.0, 1.9, np.linspace(0.01, 0, 297), low]
    found = leading_pairs_by_lanczos(with_spectrum(true), 2, np.random.default_rng(0).uniform(-1, 1, 300))
    assert_allclose(found.values, true[:2], rtol=1e-12)
    assert low - 1e-12 <= found.lowest <= 0.9 * low


def test_a_rough_operator_gives_a_start_and_changes_nothing_else():
    true = np.r_[np.linspace(3, 1, 30), np.linspace(0.5, 0, 270)]
    K = with_spectrum(true)
    exact, rough = operator_of(K), operator_of(K.astype(np.float32).astype(np.float64))
    plain, helped = (solve(exact, 12, EigenOptions("krylov", rough=first)) for first in (None, rough))
    assert_allclose(helped.values, true[:12], rtol=1e-14, atol=1e-14)
    assert np.linalg.norm(K @ helped.vectors - helped.vectors * helped.values, axis=0).max() < 3e-9
    products = []
    counted = operator_of(K)
    multiply = counted.matmul
    counted.matmul = lambda V: products.append(V.shape[1]) or multiply(V)
    solve(counted, 12, EigenOptions("krylov", rough=rough))
    assert len(products) < 0.6 * plain.n_iter


def test_extreme_values_of_very_large_matrices_do_not_overflow():
    true = np.r_[np.linspace(3, 1, 30), -0.5]
    low, high = extreme_ritz_values(1e200 * with_spectrum(true))
    assert low == pytest.approx(-0.5e200, rel=0.05)
    assert high == pytest.approx(3e200, rel=0.05)
