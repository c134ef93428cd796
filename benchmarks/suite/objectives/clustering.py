"""Spectral clustering of digits."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering

from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelSpectralClustering
from mercer.metrics import variation_of_information

Case = tuple[np.ndarray, np.ndarray]
GAMMA = 1 / 128


def case(n: int | None) -> Case:
    found = load("usps", n)
    return np.asarray(found.X[:n], np.float64), np.asarray(found.y[:n])


def labels(cls: Any, **more: Any) -> Any:
    return lambda given: lambda: cls(10, gamma=GAMMA, random_state=0, **more).fit_predict(given[0])


OBJECTIVE = Objective(
    name="clustering",
    question="how long does spectral clustering of digits take, and how near do the clusters come to the classes?",
    datasets={"usps 2000": partial(case, 2000), "usps 7291": partial(case, None)},
    solvers=[
        Solver("scikit-learn SpectralClustering", labels(SpectralClustering, affinity="rbf"), peer=True, rounds=1),
        Solver("mercer KernelSpectralClustering", labels(KernelSpectralClustering)),
    ],
    quality=lambda given, found: variation_of_information(given[1], found),
    quality_name="variation of information",
    rounds=2,
)
