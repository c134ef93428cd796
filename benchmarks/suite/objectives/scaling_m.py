"""Growth with the number of landmarks."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import surface
from mercer import LandmarkKernelPCA

Case = tuple[np.ndarray, int]


def case(m: int) -> Case:
    return surface(20_000), m


def nystroem(given: Case) -> Any:
    X, m = given
    return lambda: make_pipeline(Nystroem(gamma=0.02, n_components=m, random_state=0), PCA(10)).fit(X)


def ours(given: Case) -> Any:
    X, m = given
    return lambda: LandmarkKernelPCA(10, gamma=0.02, landmarks=m, selection="uniform", random_state=0).fit(X)


OBJECTIVE = Objective(
    name="scaling_m",
    question="how does time grow with the number of landmarks (20,000 x 50, 10 components)?",
    datasets={str(m): partial(case, m) for m in (50, 100, 200, 400, 800)},
    solvers=[Solver("scikit-learn Nystroem + PCA", nystroem, peer=True), Solver("mercer LandmarkKernelPCA", ours)],
    growth=True,
    rounds=2,
)
