"""What the defaults of every public estimator cost, beside kernel PCA with as many components."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin, OutlierMixin, TransformerMixin
from sklearn.datasets import load_digits

import mercer
from benchmarks.suite.plan import Objective, SelfTimed, Solver


def processor_seconds(make: Any) -> Any:
    """Time a fit by the processor: it does not depend on what else the machine does, and counts all threads."""

    def prepare(X: np.ndarray) -> Any:
        def call() -> SelfTimed:
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make().fit(X)
            return SelfTimed(time.process_time() - start, model)

        return call

    return prepare


def estimators() -> list[type]:
    """Return the public classes that learn from plain rows, without KernelPCA, whose default is all components."""
    public = [getattr(mercer, name) for name in mercer.__all__]
    kinds = (TransformerMixin, ClusterMixin, OutlierMixin)
    return [cls for cls in public if isinstance(cls, type) and issubclass(cls, kinds) and cls is not mercer.KernelPCA]


OBJECTIVE = Objective(
    name="defaults",
    question="how many times the processor time of KernelPCA(10, kernel='rbf') do the defaults take (0.2: 5 times)?",
    bar="at least 0.2, or a SlowFitWarning that names the parameter which makes it faster",
    datasets={"digits 1797 x 64": lambda: load_digits(return_X_y=True)[0]},
    solvers=[
        Solver("KernelPCA(10, kernel='rbf')", processor_seconds(lambda: mercer.KernelPCA(10, kernel="rbf")), peer=True),
        *[Solver(f"{cls.__name__}()", processor_seconds(cls)) for cls in estimators()],
    ],
    worst_first=True,
)
