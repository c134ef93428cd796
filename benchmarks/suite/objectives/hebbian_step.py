"""The cost of a step of KHA-SMD with a kernel matrix in memory."""

from typing import Any, NamedTuple

import numpy as np

from benchmarks.hebbian import data, naive_smd
from benchmarks.suite.plan import Objective, Solver
from mercer.engine.gains import MetaGain
from mercer.kernels.functions import RBF
from mercer.solvers.exact import make_operator
from mercer.solvers.hebbian import run_pass, start_state
from mercer.solvers.visits import VisitTiles

L, R, STEPS, GAIN = 4000, 16, 200, MetaGain(0.05, 0.1, 0.99)


class Start(NamedTuple):
    tiles: VisitTiles
    A: np.ndarray
    AK: np.ndarray


def start() -> Start:
    X = data(L, 50)
    tiles = VisitTiles(make_operator(RBF(0.5).bind(X), X, np.float64))
    A = np.random.default_rng(1).standard_normal((R, L)) / np.sqrt(R * L)
    return Start(tiles, A, A @ tiles.dense())


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
    solvers=[Solver("numpy, a sample at a time", loop, peer=True, steps=STEPS), Solver("mercer", blocks, steps=L)],
)
