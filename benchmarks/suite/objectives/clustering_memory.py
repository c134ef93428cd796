"""Spectral clustering of all USPS digits: memory, and clusters of digits that were not learned."""

from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering

from benchmarks.suite.data import load
from benchmarks.suite.objectives.clustering import GAMMA
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelSpectralClustering
from mercer.metrics import variation_of_information


def fitted(cls: Any, **more: Any) -> Any:
    return lambda digits: lambda: cls(10, gamma=GAMMA, random_state=0, **more).fit(digits.X)


def quality(digits: Any, model: Any) -> dict[str, float]:
    found = {"variation of information": variation_of_information(model.labels_, digits.y)}
    if hasattr(model, "predict"):
        found["of test digits"] = variation_of_information(model.predict(np.asarray(digits.X_test)), digits.y_test)
    return found


PASSES: dict[str, Any] = {"eigen_solver": "hebbian", "max_iter": 10, "tol": 0}

OBJECTIVE = Objective(
    name="clustering_memory",
    question="how much memory does spectral clustering of digits take, and how are new digits clustered?",
    datasets={"usps 7291": lambda: load("usps")},
    solvers=[
        Solver("scikit-learn SpectralClustering", fitted(SpectralClustering, n_init=10), peer=True),
        Solver("mercer KernelSpectralClustering", fitted(KernelSpectralClustering)),
        Solver("mercer KernelSpectralClustering, KHA-SMD, 10 passes", fitted(KernelSpectralClustering, **PASSES)),
    ],
    quality=quality,
    rounds=0,
    isolated=True,
    default=False,
)
