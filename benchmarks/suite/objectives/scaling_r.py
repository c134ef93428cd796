"""Growth with the number of components."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import surface
from mercer import KernelPCA, LandmarkKernelPCA

Case = tuple[np.ndarray, int]


def case(r: int) -> Case:
    return surface(4000), r


def fit(cls: Any, **more: Any) -> Callable[[Case], Callable[[], Any]]:
    return lambda given: lambda: cls(given[1], kernel="rbf", gamma=0.02, **more).fit(given[0])


OBJECTIVE = Objective(
    name="scaling_r",
    question="how does time grow with the number of components (4000 x 50)?",
    datasets={str(r): partial(case, r) for r in (2, 8, 32, 128)},
    solvers=[
        Solver("scikit-learn KernelPCA", fit(Peer, eigen_solver="arpack", random_state=0), peer=True),
        Solver("mercer KernelPCA", fit(KernelPCA)),
        Solver("mercer LandmarkKernelPCA, m=256", fit(LandmarkKernelPCA, random_state=0)),
    ],
    growth=True,
    rounds=2,
)
