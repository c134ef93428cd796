"""L1-norm PCA with the linear kernel: from the rows, and from a kernel matrix that is given."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.objectives.l1 import rows
from benchmarks.suite.plan import Objective, Solver
from mercer import L1KernelPCA


def by(kernel: str) -> Any:
    def prepare(X: np.ndarray) -> Any:
        given, rank = X @ X.T if kernel == "precomputed" else X, int(np.linalg.matrix_rank(X))
        return lambda: L1KernelPCA(rank, kernel=kernel).fit(given)

    return prepare


OBJECTIVE = Objective(
    name="l1_linear",
    question="how long does L1-norm PCA take for all components without a kernel matrix, and with one?",
    bar="from the rows at most 2 times (musk) and 0.8 times (odds_mnist) as long as from the matrix",
    datasets={name: partial(rows, name, "float64") for name in ("musk", "odds_mnist")},
    solvers=[
        Solver("from a matrix", by("precomputed"), peer=True),
        Solver("mercer, from the rows", by("linear")),
    ],
    quality=lambda X, model: float(model.objective_.sum()),
    quality_name="sum of objectives",
    rounds=2,
    default=False,
)
