"""The cost of a step of KHA-SMD with a kernel matrix in memory."""

from typing import Any, NamedTuple

import numpy as np

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import mixed
from mercer.engine.gains import MetaGain
from mercer.kernels.distance import RBF
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.hebbian.blocks import run_pass, start_state
from mercer.solvers.hebbian.visits import VisitTiles

L, R, STEPS, GAIN = 4000, 16, 200, MetaGain(0.05, 0.1, 0.99)


class Start(NamedTuple):
    tiles: VisitTiles
    A: np.ndarray
    AK: np.ndarray


def start() -> Start:
    X = mixed(L, 50)
    tiles = VisitTiles(make_operator(RBF(0.5).bind(X), X, np.float64))
    A = np.random.default_rng(1).standard_normal((R, L)) / np.sqrt(R * L)
    return Start(tiles, A, A @ tiles.dense())


def naive_smd(
    A: np.ndarray, AK: np.ndarray, K: np.ndarray, gain: MetaGain, eigenvalues: np.ndarray, steps: int
) -> None:
    """KHA-SMD as the paper writes it, one sample after another, in numpy (Algorithm 1)."""
    r, l = A.shape
    A, AK, B, rho = A.copy(), AK.copy(), np.zeros_like(A), np.ones(r)
    base = gain.base(eigenvalues)
    for t in range(1, steps + 1):
        p = (t - 1) % l
        k = K[p]
        y = A @ k
        L = np.tril(np.outer(y, y))
        gamma = -L @ A
        gamma[:, p] += y
        gamma_K = np.outer(y, k) - L @ AK
        rho += gain.rate * np.einsum("ij,ij->i", gamma_K, B)
        D = (np.exp(rho) * base * l / (t + l))[:, None]
        u = B @ k
        d_gamma = -L @ B - np.tril(np.outer(u, y) + np.outer(y, u)) @ A
        d_gamma[:, p] += u
        B = gain.decay * B + D * (gamma + gain.decay * d_gamma)
        A = A + D * gamma
        AK = AK + D * gamma_K


def loop(at: Start) -> Any:
    K, eigenvalues = at.tiles.dense(), start_state(at.A, at.AK, GAIN).eigenvalues
    return lambda: naive_smd(at.A, at.AK, K, GAIN, eigenvalues, STEPS)


def blocks(at: Start) -> Any:
    return lambda: run_pass(start_state(at.A.copy(), at.AK.copy(), GAIN), at.tiles, np.arange(L), GAIN, 128)


OBJECTIVE = Objective(
    name="hebbian_step",
    question="what does a step of KHA-SMD cost, l=4000, r=16, kernel matrix in memory?",
    bar="at least 25 times the loop",
    datasets={"4000 rows": start},
    solvers=[Solver("numpy, one sample at a time", loop, peer=True, steps=STEPS), Solver("mercer", blocks, steps=L)],
)
