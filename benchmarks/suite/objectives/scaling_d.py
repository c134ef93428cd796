"""Growth with the number of features."""

from functools import partial

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.plan import Objective, Solver
from mercer import KernelPCA, LandmarkKernelPCA


def rows(d: int) -> np.ndarray:
    """Points near a curved surface of ten dimensions, scaled to the same mean squared distance for any d."""
    rng = np.random.default_rng(0)
    surface = np.tanh(rng.standard_normal((4000, 10)) @ rng.standard_normal((10, d)) / 3)
    return np.asarray((surface + 0.05 * rng.standard_normal((4000, d))) / np.sqrt(d))


OBJECTIVE = Objective(
    name="scaling_d",
    question="how does time grow with the number of features (4000 rows, 10 components)?",
    datasets={str(d): partial(rows, d) for d in (16, 64, 256, 1024)},
    solvers=[
        Solver(
            "scikit-learn KernelPCA",
            lambda X: lambda: Peer(10, kernel="rbf", gamma=1.0, eigen_solver="arpack", random_state=0).fit(X),
            peer=True,
        ),
        Solver("mercer KernelPCA", lambda X: lambda: KernelPCA(10, kernel="rbf", gamma=1.0).fit(X)),
        Solver(
            "mercer LandmarkKernelPCA, m=256", lambda X: lambda: LandmarkKernelPCA(10, gamma=1.0, random_state=0).fit(X)
        ),
    ],
    growth=True,
    rounds=2,
)
