"""Clusters from eigenvectors that are learned in passes [guenter2006, figure 3]."""

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.suite.data import load
from benchmarks.suite.objectives.clustering import GAMMA
from benchmarks.suite.plan import Objective, Solver, as_found
from mercer.clustering.embedding import HebbianEmbedding, PassSettings, make_affinity, solve_embedding
from mercer.kernels import RBF
from mercer.metrics import variation_of_information
from mercer.solvers.exact.eigen import EigenOptions

PASSES = 10


def quality(coordinates: np.ndarray, y: np.ndarray) -> float:
    return variation_of_information(KMeans(10, n_init=10, random_state=0).fit(coordinates).labels_, y)


def at_random(digits: Any) -> Any:
    rng = np.random.default_rng(0)
    return lambda: {"no passes": variation_of_information(rng.permutation(digits.y), digits.y)}


def exact(digits: Any) -> Any:
    affinity = make_affinity(RBF(GAMMA), digits.X)
    options = EigenOptions("krylov", 1e-9)
    return lambda: {"no passes": quality(solve_embedding(affinity, 10, options).coordinates, digits.y)}


def passes(gain: str) -> Any:
    def prepare(digits: Any) -> Any:
        affinity = make_affinity(RBF(GAMMA), digits.X)

        def call() -> dict[str, float]:
            run = HebbianEmbedding(affinity, 10, PassSettings(gain, "auto", 0.0), np.random.RandomState(0))
            found = {
                f"pass {k + 1}": quality(run.run(1, excess=True).embedding().coordinates, digits.y)
                for k in range(PASSES)
            }
            return {**found, "excess error": run.history["excess"][-1]}

        return call

    return prepare


OBJECTIVE = Objective(
    name="clustering_passes",
    question="after how many Hebbian passes are clusters as good as those of exact eigenvectors (variation of "
    "information)?",
    datasets={"usps 7291": lambda: load("usps")},
    solvers=[
        Solver("labels at random", at_random, peer=True),
        Solver("exact eigenvectors", exact),
        *(Solver(f"mercer KHA, gain {gain}", passes(gain)) for gain in ("t", "et", "smd")),
    ],
    quality=as_found,
    rounds=0,
    default=False,
)
