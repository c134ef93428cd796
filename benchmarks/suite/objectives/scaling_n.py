"""Growth with the number of rows."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import surface
from mercer import HebbianKernelPCA, KernelPCA, LandmarkKernelPCA

SETTINGS: dict[str, Any] = {"kernel": "rbf", "gamma": 0.02}


def fit(make: Any) -> Any:
    return lambda X: lambda: make().fit(X)


def kha_passes(X: np.ndarray, **more: Any) -> Any:
    return lambda: HebbianKernelPCA(10, **SETTINGS, max_iter=3, tol=0, random_state=0, **more).fit(X)


OBJECTIVE = Objective(
    name="scaling_n",
    question="how does time grow with the number of rows (d=50, 10 components)?",
    datasets={str(n): partial(surface, n) for n in (1000, 2000, 4000, 8000, 16_000)},
    solvers=[
        Solver(
            "scikit-learn KernelPCA",
            fit(partial(Peer, 10, **SETTINGS, eigen_solver="arpack", random_state=0)),
            peer=True,
        ),
        Solver("mercer KernelPCA", fit(partial(KernelPCA, 10, **SETTINGS))),
        Solver("mercer LandmarkKernelPCA, m=256", fit(partial(LandmarkKernelPCA, 10, **SETTINGS, random_state=0))),
        Solver("mercer KHA-SMD, 3 passes", kha_passes),
        Solver("mercer KHA-SMD, 3 passes, m=256", lambda X: kha_passes(X, landmarks=256, selection="uniform")),
    ],
    growth=True,
    rounds=2,
)
