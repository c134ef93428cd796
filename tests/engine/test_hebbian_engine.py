"""The blocked Hebbian recursions against one sample at a time: equal to rounding for every gain, block and order."""

import numpy as np
import pytest
from sklearn import config_context

from mercer.engine.gains import ConstantGain, EigenvalueGain, MetaGain, TimeGain, estimated_eigenvalues
from mercer.engine.hebb import gha_block, oja_block
from mercer.kernels.distance import RBF
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.hebbian import blocks as hebbian
from mercer.solvers.hebbian import visits as visits_module
from mercer.solvers.hebbian.blocks import run_pass, start_state
from mercer.solvers.hebbian.guard import DivergedError
from mercer.solvers.hebbian.visits import VisitTiles
from textbook import hebbian as naive

GAINS = {
    "constant": ConstantGain(0.05),
    "t": TimeGain(0.1),
    "et": EigenvalueGain(0.05),
    "smd": MetaGain(0.05, 0.1, 0.99),
}


def problem(r, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    return X, RBF(0.05), rng.standard_normal((r, n)) / np.sqrt(r * n), rng


def orders(kind, n, rng):
    return {
        "natural": [np.arange(n)] * 3,
        "permuted": [rng.permutation(n) for _ in range(3)],
        "repeated": [rng.integers(0, n, n // 2) for _ in range(3)],
    }[kind]


@pytest.mark.parametrize("r", [1, 16])
@pytest.mark.parametrize("kind", ["natural", "permuted", "repeated"])
@pytest.mark.parametrize("name", GAINS)
def test_blocks_equal_single_samples(name, kind, r):
    X, kernel, A, rng = problem(r)
    K, gain, visits = make_operator(kernel, X, np.float64).dense(), GAINS[name], orders(kind, len(X), rng)
    if isinstance(gain, MetaGain):
        expected = naive.kha_smd(K, A, visits, gain.eta0, gain.rate, gain.decay)
    else:
        expected = naive.kha(K, A, visits, name, gain.eta0)
    for block in (1, 7, 64, 256):
        for memory in (1024, 0):  # K' held, and made anew
            with config_context(working_memory=memory):
                state = start_state(A.copy(), A @ K, gain)
                tiles = VisitTiles(make_operator(kernel, X, np.float64))
                for order in visits:
                    run_pass(state, tiles, order, gain, block)
            assert np.abs(state.A - expected).max() <= 1e-10 * np.abs(expected).max()
            assert np.abs(state.AK - state.A @ K).max() <= 1e-10 * np.abs(state.AK).max()
            assert state.t == sum(map(len, visits))
            assert state.guard.halvings == 0


@pytest.mark.parametrize(("run", "step"), [(gha_block, naive.gha_step), (oja_block, naive.oja_step)])
def test_linear_rules(run, step):
    rng = np.random.default_rng(1)
    W, X = rng.standard_normal((3, 5)), rng.standard_normal((40, 5))
    base, factor = np.array([0.02, 0.03, 0.01]), rng.uniform(0, 1, 40)
    H = np.hstack([X @ W.T, X @ X.T])
    Z, Y = np.eye(3, 43), np.empty((40, 3))
    assert run(H, base, factor, Z, Y) == 40
    expected = W
    for x, weight in zip(X, factor, strict=True):
        expected = step(expected, x, base * weight)
    np.testing.assert_allclose(Z @ np.vstack([W, X]), expected, rtol=0, atol=1e-13)


def test_divergence_is_caught_and_the_gain_lowered():
    X, kernel, A, _ = problem(4)
    operator = make_operator(kernel, 1e3 * X, np.float64)
    state = start_state(A * 100, A @ operator.dense() * 100, ConstantGain(50.0))
    run_pass(state, VisitTiles(operator), np.arange(len(X)), ConstantGain(50.0), 16)
    assert state.guard.halvings > 0
    assert np.isfinite(state.A).all()


def test_what_no_gain_can_save_is_reported():
    X, kernel, A, _ = problem(2)
    operator = make_operator(kernel, X, np.float64)
    state = start_state(np.full_like(A, np.nan), np.full_like(A, np.nan), ConstantGain(0.1))
    with pytest.raises(DivergedError):
        run_pass(state, VisitTiles(operator), np.arange(len(X)), ConstantGain(0.1), 16)


def test_gain_rules():
    t, eigenvalues = np.array([1.0, 10.0]), np.array([4.0, 3.0, 0.0])
    np.testing.assert_allclose(ConstantGain(0.5).factor(t, 10), 1)
    np.testing.assert_allclose(TimeGain(0.5).factor(t, 10), [10 / 11, 0.5])
    np.testing.assert_allclose(EigenvalueGain(0.5).base(eigenvalues), 0.5 * 5 / np.array([4, 3, 4e-6]))
    np.testing.assert_allclose(EigenvalueGain(0.5).base(np.zeros(2)), 0.5)


def test_estimated_eigenvalues_are_exact_for_eigenvectors_and_zero_for_zero_rows():
    K = np.diag([3.0, 2.0, 1.0])
    A = np.array([[0.0, 5.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(estimated_eigenvalues(A, A @ K), [2.0, 0.0])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["natural", "permuted", "repeated"])
@pytest.mark.parametrize("name", ["et", "smd"])
def test_many_groups_and_tiles_equal_single_samples(monkeypatch, name, kind, threads):
    """Strips of several tiles, none of them aligned with the groups, made by one thread or by several."""
    monkeypatch.setattr(hebbian, "_GROUP", 20)
    monkeypatch.setattr(visits_module, "_WIDTH", 16)
    X, kernel, A, rng = problem(5)
    operator = make_operator(kernel, X, np.float64, threads)
    K, gain, visits = operator.dense(), GAINS[name], orders(kind, len(X), rng)
    if isinstance(gain, MetaGain):
        expected = naive.kha_smd(K, A, visits, gain.eta0, gain.rate, gain.decay)
    else:
        expected = naive.kha(K, A, visits, name, gain.eta0)
    for block in (3, 20, 33):
        for hold in (True, False):
            state = start_state(A.copy(), A @ K, gain)
            tiles = VisitTiles(make_operator(kernel, X, np.float64, threads), hold)
            for order in visits:
                run_pass(state, tiles, order, gain, block)
            assert np.abs(state.A - expected).max() <= 1e-10 * np.abs(expected).max()
            assert np.abs(state.AK - state.A @ K).max() <= 1e-10 * np.abs(state.AK).max()


@pytest.mark.parametrize("center", [True, False])
def test_visit_tiles_are_an_operator_held_or_not(center):
    X, kernel, _, rng = problem(2)
    operator = make_operator(kernel, X, np.float64, center=center)
    K, V = operator.dense(), rng.standard_normal((len(X), 3))
    for hold in (True, False):
        tiles = VisitTiles(operator, hold)
        np.testing.assert_allclose(tiles.matmul(V), K @ V, atol=1e-12)
        np.testing.assert_allclose(tiles.dense(), K, atol=1e-14)
        assert tiles.frobenius == pytest.approx(np.linalg.norm(K))
        assert tiles.trace == pytest.approx(np.trace(K))


def test_float32_tiles_serve_as_well():
    X, kernel, A, _ = problem(3)
    K = make_operator(kernel, X, np.float64).dense()
    X32 = X.astype(np.float32)
    tiles = VisitTiles(make_operator(kernel.bind(X32), X32, np.float32), hold=False)
    state, expected = (start_state(A.copy(), A @ K, GAINS["et"]) for _ in range(2))
    run_pass(state, tiles, np.arange(len(X)), GAINS["et"], 16)
    run_pass(expected, VisitTiles(make_operator(kernel, X, np.float64)), np.arange(len(X)), GAINS["et"], 16)
    assert np.abs(state.A - expected.A).max() <= 1e-5 * np.abs(expected.A).max()
