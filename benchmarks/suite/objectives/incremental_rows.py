"""The cost of further rows for incremental kernel PCA, after the first ones, which fill the library."""

from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import IncrementalPCA

from benchmarks.suite.objectives.incremental import GAMMA, R, threes
from benchmarks.suite.plan import Objective, Solver
from mercer import IncrementalKernelPCA

P, BATCH = 10, 30
FIRST = (R + 1) * P  # until then all components are kept, and nothing is compressed


class Stream(NamedTuple):
    first: np.ndarray
    further: np.ndarray


def stream(further: int) -> Stream:
    X = threes(FIRST + further)
    return Stream(X[:FIRST], X[FIRST:])


def learn(compression: str) -> Any:
    def prepare(rows: Stream) -> Any:
        options: dict[str, Any] = {"rank": R, "points_per_component": P, "batch_size": BATCH}
        model = IncrementalKernelPCA(6, kernel="rbf", gamma=GAMMA, compression=compression, **options)
        begun = model.fit(rows.first)
        return lambda: deepcopy(begun).partial_fit(rows.further)

    return prepare


def linear(rows: Stream) -> Any:
    begun = IncrementalPCA(R, batch_size=BATCH).fit(rows.first)

    def call() -> IncrementalPCA:
        model = deepcopy(begun)
        for start in range(0, len(rows.further), BATCH):
            model.partial_fit(rows.further[start : start + BATCH])
        return model

    return call


OBJECTIVE = Objective(
    name="incremental_rows",
    question="how does the time for further rows grow with their number, after the first (r+1)p rows (as incremental)?",
    bar="exponent at most 1.1: every further row costs the same",
    datasets={str(n): partial(stream, n) for n in (360, 720, 1440, 2880, 5760)},
    solvers=[
        Solver("scikit-learn IncrementalPCA (linear)", linear, peer=True),
        Solver("mercer incremental, preimage", learn("preimage")),
        Solver("mercer incremental, subset", learn("subset")),
    ],
    growth=True,
)
