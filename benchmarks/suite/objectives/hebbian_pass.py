"""A pass of the Hebbian algorithms with recomputed kernels, against the least it can cost: one product with K'."""

from typing import Any, NamedTuple

import numpy as np

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import mixed
from mercer.engine.gains import EigenvalueGain, Gain, MetaGain
from mercer.kernels.distance import RBF
from mercer.kernels.operator import CentredOperator
from mercer.kernels.threads import available_threads, one_blas_thread
from mercer.kernels.tiles import SymmetricTiles
from mercer.solvers.hebbian.blocks import run_pass, start_state
from mercer.solvers.hebbian.visits import VisitTiles

L, D, R = 8000, 256, 16


class Start(NamedTuple):
    operator: CentredOperator
    tiles: VisitTiles
    A: np.ndarray
    AK: np.ndarray


def start() -> Start:
    X = mixed(L, D)
    kernel = RBF(0.5).bind(X)
    operator = CentredOperator(SymmetricTiles(kernel, X, np.float64, 0, available_threads()), kernel.diagonal(X))
    tiles = VisitTiles(operator, hold=False)  # the row means are a part of the operator, not of a pass
    A = np.random.default_rng(1).standard_normal((R, L)) / np.sqrt(R * L)
    return Start(operator, tiles, A, operator.matmul(np.ascontiguousarray(A.T)).T)


def product(at: Start) -> Any:
    V = np.ascontiguousarray(at.A.T)
    return lambda: at.operator.matmul(V)


def one_pass(state: Any, tiles: VisitTiles, gain: Gain) -> None:
    """Run one pass as `fit` does."""
    with one_blas_thread():
        run_pass(state, tiles, np.random.default_rng(0).permutation(tiles.shape[0]), gain, 128)


def a_pass(at: Start, gain: Gain) -> Any:
    return lambda: one_pass(start_state(at.A.copy(), at.AK.copy(), gain), at.tiles, gain)


OBJECTIVE = Objective(
    name="hebbian_pass",
    question="what does a pass with recomputed kernels cost, l=8000, d=256, against K' @ V with 16 columns?",
    bar="at most 1.3 products: 0.77 or more",
    datasets={"8000 x 256": start},
    solvers=[
        Solver("one product K' @ V", product, peer=True),
        Solver("mercer KHA/et", lambda at: a_pass(at, EigenvalueGain(0.05))),
        Solver("mercer KHA-SMD", lambda at: a_pass(at, MetaGain(0.05, 0.1, 0.99))),
    ],
    rounds=7,
)
