"""A grid of small problems for `KernelPCA`, each solved by scikit-learn and by mercer."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.plan import Objective, Solver
from mercer import KernelPCA

FEATURES = {50: 10, 100: 10, 200: 10, 300: 10, 600: 20, 1000: 64, 1797: 64, 3000: 20, 5000: 20}
KERNELS = ("linear", "poly", "rbf", "cosine", "sigmoid")  # those that both have
COMPONENTS = (1, 2, 5, 16, 50, 100, None)
OPERATIONS = ("fit", "fit_transform", "transform")


@dataclass(frozen=True)
class Cell:
    """One problem of the grid."""

    n: int
    kernel: str
    components: int | None
    operation: str

    def __str__(self) -> str:
        wanted = "all" if self.components is None else self.components
        return f"{self.n} x {FEATURES[self.n]}, {self.kernel}, {wanted}, {self.operation}"


def cells(sizes: Sequence[int]) -> Mapping[str, Callable[[], Cell]]:
    """Return all problems with so many rows."""
    found = [
        Cell(n, kernel, components, operation)
        for n in sizes
        for kernel in KERNELS
        for components in COMPONENTS
        if components is None or components <= n
        for operation in OPERATIONS
    ]
    return {str(cell): lambda cell=cell: cell for cell in found}  # type: ignore[misc]


def rows(n: int) -> np.ndarray:
    """Return the digits, or normal rows whose columns have standard deviations from 1.5 to 0.5."""
    if n == 1797:
        return np.asarray(load_digits().data / 16.0)
    return np.random.default_rng(n).standard_normal((n, FEATURES[n])) * np.linspace(1.5, 0.5, FEATURES[n])


def job(cls: Any, cell: Cell) -> Callable[[], Any]:
    """Return the call that is timed; the sigmoid kernel is indefinite, which is told once and not in every round."""
    X, make = rows(cell.n), partial(cls, cell.components, kernel=cell.kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X) if cell.operation == "transform" else None

    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.transform(X) if model is not None else getattr(make(), cell.operation)(X)

    return call


def objective(name: str, sizes: Sequence[int], rounds: int) -> Objective:
    """Return the objective of all problems with so many rows."""
    return Objective(
        name=name,
        question="with default settings, in which case is KernelPCA slowest compared with scikit-learn's?",
        bar="at least 1.0 everywhere; a median of at least 1.3 below 1000 rows",
        datasets=cells(sizes),
        solvers=[
            Solver("scikit-learn", lambda cell: job(Peer, cell), peer=True),
            Solver("mercer", lambda cell: job(KernelPCA, cell)),
        ],
        rounds=rounds,
        patience=1.5,
        worst_first=True,
        default=False,
        together=True,
    )
