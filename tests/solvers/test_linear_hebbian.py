"""Linear Hebbian learning in blocks against one row at a time: equal to rounding for every rule, gain and cut."""

from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mercer.engine.gains import ConstantGain, EigenvalueGain, MetaGain, TimeGain
from mercer.engine.oja_direct import normalised_rows
from mercer.engine.principal_axes import principal_axes
from mercer.engine.row_blocks import DenseRows, SparseRows, less_mean, less_running_mean
from mercer.solvers.hebbian.guard import DivergedError
from mercer.solvers.hebbian.linear_blocks import StepOptions, learn, orthonormal_frame, start_state
from mercer.solvers.hebbian.linear_passes import certify, count_rows, run_passes
from mercer.solvers.hebbian.linear_start import restored_state
from textbook import hebbian as naive

GAINS = {"constant": ConstantGain, "t": TimeGain, "et": EigenvalueGain}
CUTS = {"one chunk": [], "three chunks": [50, 51], "row by row": list(range(1, 150))}


@pytest.fixture
def X(rng):
    return rng.standard_normal((150, 6)) * [2, 1.5, 1, 1, 0.5, 0.5] + [3, 0, 1, 0, 0, -2]


@pytest.fixture
def W(rng):
    return rng.standard_normal((3, 6)) / 3


def sparse(rng, n=150, p=8):
    return rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.3)


def run(X, W, gain, cut="one chunk", **options):
    state = start_state(W, gain)
    for rows in _split(X, CUTS[cut]):
        learn(state, rows, gain, StepOptions(**options))
    return state


def _split(X, cuts):
    return [X[a:b] for a, b in zip([0, *cuts], [*cuts, X.shape[0]], strict=True)]


def close(found, expected):
    assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("rule", ["gha", "oja"])
def test_blocks_equal_single_rows(X, W, rule, gain, center):
    expected, mean, total, eigenvalues = naive.linear(X, W, rule, gain, 0.01, 40, center)
    for block in (1, 7, 64, 256):
        state = run(X, W, GAINS[gain](0.01), rule=rule, block_size=block, length=40, center=center)
        close(state.W, expected)
        close(state.mean, mean)
        close(state.eigenvalues, eigenvalues)
        assert state.total == pytest.approx(total, rel=1e-12)
        assert (state.t, state.n, state.guard.halvings) == (150, 150, 0)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("rule", ["gha", "oja", "normalised"])
def test_where_the_stream_is_cut_makes_no_difference(X, W, rule, cut):
    expected, mean, _, _ = naive.linear(X, W, rule, "et", 0.01, 40, True)
    state = run(X, W, EigenvalueGain(0.01), cut, rule=rule, block_size=64, length=40)
    close(state.W, expected)
    close(state.mean, mean)


@pytest.mark.parametrize("block", [1, 7, 64, 256])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("gain", ["t", "smd"])
def test_sparse_rows_equal_dense_ones(rng, gain, center, block):
    X = sparse(rng)
    W = rng.standard_normal((3, 8)) / 3
    if gain == "smd":
        expected, rule = naive.linear_smd(X, W, 0.01, 40, center, 0.05, 0.99), MetaGain(0.01, 0.05, 0.99)
    else:
        expected, rule = naive.linear(X, W, "gha", "t", 0.01, 40, center)[0], TimeGain(0.01)
    for make in (sp.csr_matrix, sp.csr_array, np.asarray):
        for cut in ("one chunk", "three chunks"):
            state = run(make(X), W, rule, cut, block_size=block, length=40, center=center)
            close(state.W, expected)
            close(state.mean, X.mean(axis=0) if center else np.zeros(8))


@pytest.mark.parametrize("cut", CUTS)
def test_meta_descent_equals_single_rows(X, W, cut):
    expected = naive.linear_smd(X, W, 0.01, 40, True, 0.05, 0.99)
    for block in (1, 7, 64, 256):
        close(run(X, W, MetaGain(0.01, 0.05, 0.99), cut, block_size=block, length=40).W, expected)


@pytest.mark.parametrize("block", [1, 7, 256])
@pytest.mark.parametrize(("rule", "clip"), [("gha", 0.4), ("oja", 0.4), ("normalised", None), ("normalised", 0.6)])
def test_rules_that_are_not_linear_equal_single_rows(X, W, rule, clip, block):
    for rows in (W, W[:1]):
        limit = np.inf if clip is None else clip
        expected = naive.linear(X, rows, rule, "t", 0.05, 40, True, limit)[0]
        state = run(X, rows, TimeGain(0.05), rule=rule, clip=clip, block_size=block, length=40)
        close(state.W, expected)
        assert np.abs(state.W).max() <= limit
        dense = run(sp.csr_matrix(X), rows, TimeGain(0.05), rule=rule, clip=clip, block_size=block, length=40)
        close(dense.W, expected)
    if clip is not None:
        free = naive.linear(X, W, rule, "t", 0.05, 40, True)[0]
        assert np.abs(free).max() > clip, "the limit was never reached"


def test_normalised_weights_stay_orthonormal(X, W):
    state = run(X, W, TimeGain(0.5), rule="normalised")
    close(state.W @ state.W.T, np.eye(3))


@pytest.mark.parametrize("rule", ["gha", "oja"])
@pytest.mark.parametrize("gain", GAINS)
def test_adaptive_gains_equal_single_rows_at_every_scale(X, W, gain, rule):
    expected = naive.adaptive_gains(X, W, rule, gain, 0.3, 40)
    for scale in (1e-6, 1.0, 1e6):
        for cut in CUTS:
            close(run(scale * X, W, GAINS[gain](0.3), cut, rule=rule, length=40, adaptive=True).W, expected)


def test_adaptive_gains_do_not_follow_tiny_eigenvalues(X):
    X, W = X * [10, 1, 1e-2, 1e-2, 1e-3, 1e-3], np.eye(4, 6)
    expected = naive.adaptive_gains(X, W, "gha", "et", 0.3, 40)
    close(run(X, W, EigenvalueGain(0.3), length=40, adaptive=True).W, expected)


def test_the_second_moment_counts_late_rows_more_and_the_first_not_at_all(X, W):
    state = run(X, W, ConstantGain(0.0), "three chunks")
    t = np.arange(2.0, 151.0)
    means = np.cumsum(X, axis=0)[1:] / t[:, None]
    Y = (X[1:] - means) @ W.T
    close(state.second_moment, (Y * (t**2 * t / (t - 1))[:, None]).T @ Y / (t**2).sum())
    again = run(X, W, ConstantGain(0.0), center=False)
    t, Y = np.arange(1.0, 151.0), X @ W.T
    close(again.second_moment, (Y * t[:, None] ** 2).T @ Y / (t**2).sum())


def test_the_variation_counts_rows_as_the_second_moment_does(X, W):
    state = run(X, W, TimeGain(0.02), "three chunks", length=100)
    t = np.arange(2.0, 151.0)
    norms = ((X[1:] - np.cumsum(X, axis=0)[1:] / t[:, None]) ** 2).sum(axis=1)
    assert state.variation == pytest.approx((norms * t**2 * t / (t - 1)).sum() / (t**2).sum())
    outside = start_state(W, TimeGain(0.02))
    learn(outside, X[:50], TimeGain(0.02), StepOptions(length=100), outside=np.ones(50))
    learn(outside, X[50:], TimeGain(0.02), StepOptions(length=100), outside=np.ones(100))
    assert_allclose(outside.W, state.W, atol=1e-12)
    assert outside.variation - state.variation == pytest.approx((t**2 * t / (t - 1)).sum() / (t**2).sum())


@pytest.mark.parametrize("factor", [0.01, 1.0, 100.0])
def test_the_second_moment_is_in_units_of_the_present_weights(X, W, factor):
    state = run(X, W, ConstantGain(0.0))
    expected = state.second_moment
    state.W = factor * state.W
    close(state.second_moment, factor**2 * expected)
    state.second_moment = expected
    close(state.second_moment, expected)


def test_the_frame_is_the_nearest_orthonormal_basis(rng):
    W = rng.standard_normal((3, 7))
    U, _, V = np.linalg.svd(W, full_matrices=False)
    close(orthonormal_frame(W), U @ V)
    flat = np.vstack([W[:2], W[0] + W[1]])
    frame = orthonormal_frame(flat)
    close(np.linalg.svd(frame, compute_uv=False)[:2], np.ones(2))
    assert np.abs(frame @ np.linalg.svd(flat)[2][2:].T).max() < 1e-10
    assert not orthonormal_frame(np.zeros((2, 4))).any()


def test_small_components_are_judged_by_their_own_variance(rng):
    X = rng.standard_normal((500, 3))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * [1e4, 3, 1] @ np.eye(3, 4)
    for angle, right in ((0.0, True), (0.5, False)):
        W = np.eye(4)[[0, 1, 3]]  # the last has no variance, and is an eigenvector
        W[1, 1:3] = np.cos(angle), np.sin(angle)
        state = start_state(W, TimeGain(1.0))
        count_rows(state, X, center=True)
        assert (certify(state, X, center=True).residual < 1e-3) == right


def test_the_running_mean_is_exact_far_from_the_origin(rng):
    noise = rng.standard_normal((300, 4))
    for X in (noise + 1e6, sp.csr_matrix(noise + 1e6)):
        state = run(X, np.eye(2, 4), TimeGain(0.02), length=100)
        expected = run(noise, np.eye(2, 4), TimeGain(0.02), length=100)
        assert_allclose(state.mean - 1e6, expected.mean, atol=1e-9)
        assert_allclose(state.W, expected.W, atol=1e-8)
        assert state.total == pytest.approx(expected.total, rel=1e-8)


def test_sparse_rows_are_made_dense_only_where_digits_would_be_lost(rng):
    X = sp.csr_matrix(sparse(rng, 20))
    mean = np.asarray(X.mean(axis=0)).ravel()
    for rows in (less_mean(X, mean), less_running_mean(X, mean, 7).rows):
        assert isinstance(rows, SparseRows)
        for own in (rows.gram, np.diag(rows.norms)):
            close(np.diag(own), np.diag(rows.dense() @ rows.dense().T))
    shifted = sp.csr_matrix(X.toarray() + 1e4)
    assert isinstance(less_mean(shifted, mean + 1e4), DenseRows)
    assert isinstance(less_running_mean(shifted, mean + 1e4, 7).rows, DenseRows)


def test_further_passes_leave_mean_and_total_alone(X, W):
    state = start_state(W, TimeGain(0.01))
    count_rows(state, X, center=True)
    close(state.mean, X.mean(axis=0))
    before = state.n, state.total
    learn(state, X, TimeGain(0.01), StepOptions(length=150), counted=True)
    assert (state.n, state.total) == before == (150, pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-12))
    close(state.W, naive.linear(X - X.mean(axis=0), W, "gha", "t", 0.01, 150, False)[0])


def test_divergence_is_caught_and_the_gain_lowered(X, W):
    for options in ({"rule": "gha"}, {"rule": "oja"}, {"rule": "gha", "clip": 0.5}, {"rule": "oja", "clip": 0.5}):
        state = run(1e3 * X, W, ConstantGain(10.0), **options)
        assert state.guard.halvings > 0
        assert np.isfinite(state.W).all()


@pytest.mark.parametrize("options", [{}, {"rule": "oja"}, {"rule": "normalised"}, {"clip": 0.5}])
def test_what_no_gain_can_save_leaves_the_last_good_weights(X, W, options):
    state = start_state(W, ConstantGain(0.1))
    learn(state, X[:20], ConstantGain(0.1), StepOptions(**options))
    kept = state.W.copy(), state.mean.copy(), state.n, state.total, state.guard.scale
    hopeless = X.copy()
    hopeless[3] = 1e200
    with pytest.raises(DivergedError):
        learn(state, hopeless, ConstantGain(0.1), StepOptions(**options))
    for now, before in zip((state.W, state.mean, state.n, state.total, state.guard.scale), kept, strict=True):
        assert np.array_equal(now, before)
    learn(state, X, ConstantGain(0.1), StepOptions(**options))
    assert np.isfinite(state.W).all()


def test_gram_schmidt_is_exact_for_nearly_parallel_rows(rng):
    W = rng.standard_normal(5) + 1e-8 * rng.standard_normal((3, 5))
    assert normalised_rows(np.ones((1, 5)), np.ones(3), np.zeros(1), np.inf, W, np.empty((1, 3))) == 1
    assert_allclose(W @ W.T, np.eye(3), rtol=0, atol=1e-14)


def test_gram_schmidt_reports_rows_that_vanish():
    W = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert normalised_rows(np.ones((2, 2)), np.ones(2), np.zeros(2), np.inf, W, np.empty((2, 2))) == 0


def test_principal_axes_do_not_depend_on_how_the_span_is_written(rng):
    C = np.diag([5.0, 3.0, 1.0, 0.5])
    W = np.linalg.qr(rng.standard_normal((4, 2)))[0].T
    expected = None
    for turn in (np.eye(2), np.array([[0.0, -2.0], [1.0, 3.0]])):
        axes = principal_axes(turn @ W, turn @ W @ C @ W.T @ turn.T)
        close(axes.components @ axes.components.T, np.eye(2))
        close(axes.components @ C @ axes.components.T, np.diag(axes.variances))
        close(axes.mixing @ turn @ W, axes.components)
        assert (np.diff(axes.variances) < 0).all()
        expected = axes.components if expected is None else expected
        close(axes.components, expected)


def test_principal_axes_of_dependent_weights_end_in_zero_rows():
    W = np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    for C in (np.diag([2.0, 1.0, 0.0]), np.zeros((3, 3))):
        axes = principal_axes(W, W @ C @ W.T)
        close(axes.components @ axes.components.T, np.diag([1.0, 1.0, 0.0]))
        assert_allclose(axes.variances, np.diag(C), atol=1e-12)
    assert not principal_axes(np.zeros((2, 3)), np.zeros((2, 2))).components.any()


def test_the_certificate_is_the_residual_of_the_eigenvalue_equation(X, rng):
    C = np.cov(X.T)
    W = np.linalg.eigh(C)[1][:, :-4:-1].T
    for weights, wrong in ((W, False), (W + 0.1 * rng.standard_normal(W.shape), True)):
        state = start_state(weights, TimeGain(1.0))
        count_rows(state, X, center=True)
        for rows in (X, sp.csr_matrix(X)):
            found = certify(state, rows, center=True)
            q = principal_axes(weights, weights @ C @ weights.T)
            expected = np.linalg.norm(C @ q.components.T - q.components.T * q.variances, axis=0) / q.variances
            assert found.residual == pytest.approx(expected.max(), abs=1e-12)
            assert (found.residual > 0.01) == wrong
            close(found.second_moment, weights @ C @ weights.T)


def test_passes_stop_at_the_tolerance_and_never_for_zero(X, W):
    gain, options = EigenvalueGain(0.1), StepOptions(length=500, adaptive=True)
    early = run_passes(start_state(W, gain), X, gain, options, max_iter=300, tol=0.05, rng=None)
    assert early.passes < 300
    assert early.residual <= 0.05
    late = run_passes(start_state(W, gain), X, gain, options, max_iter=40, tol=0.0, rng=None)
    assert late.passes == 40


def test_a_state_of_an_earlier_file_has_its_moment_and_its_variation(X, W):
    state = run(X, W, TimeGain(0.02), length=100)
    saved = asdict(state)
    earlier = {name: value for name, value in saved.items() if name not in ("energy", "frame")}
    found = restored_state({**earlier, "moment": state.second_moment * state.weight}, outside=149.0)
    close(found.second_moment, state.second_moment)
    assert found.variation == pytest.approx(state.total / 149 + 1)
    assert restored_state(saved).variation == state.variation
    close(restored_state(saved).second_moment, state.second_moment)
