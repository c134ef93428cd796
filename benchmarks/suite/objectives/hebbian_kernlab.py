"""The kernel Hebbian algorithm of R's kernlab: time, and distance from exact kernel PCA."""

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.suite.kernlab_kha import CASES, Case, as_model, kernel_matrix, kernlab
from benchmarks.suite.plan import CannotRunError, Objective, SelfTimed, Solver
from mercer import HebbianKernelPCA, KernelPCA
from mercer.metrics import subspace_distance


def case(name: str) -> Case:
    """Return a case whose rows are already loaded, so that the table can name them."""
    X = CASES[name].data()
    return replace(CASES[name], data=lambda: X)


def exact(case: Case) -> KernelPCA:
    return KernelPCA(case.r, kernel="rbf", gamma=case.gamma).fit(case.data())


def kha(case: Case) -> Any:
    X, reference = case.data(), exact(case)
    K = kernel_matrix(X, case.gamma)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()

    def call() -> SelfTimed:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = kernlab(X, case, case.eta, 1e-4, case.passes, Path(folder))
            except FileNotFoundError:
                raise CannotRunError("R is not installed; Debian: apt install r-base-core r-cran-kernlab") from None
        if found["error"]:
            raise CannotRunError(f"kernlab stops: {found['error']}")
        return SelfTimed(found["seconds"], as_model(reference, found["A"], K))

    return call


def ours(case: Case, passes: int) -> Any:
    X = case.data()
    options: dict[str, Any] = {"kernel": "rbf", "gamma": case.gamma, "tol": 0, "random_state": 0}
    return lambda: HebbianKernelPCA(case.r, max_iter=passes, **options).fit(X)


OBJECTIVE = Objective(
    name="hebbian_kernlab",
    question="how near to exact kernel PCA does the kernel Hebbian algorithm come, and in what time?",
    datasets={name: partial(case, name) for name in ("iris", "usps")},
    solvers=[
        Solver("kernlab kha", kha, peer=True, rounds=1),
        Solver("mercer, 10 passes", lambda case: ours(case, 10)),
        Solver("mercer, 50 passes", lambda case: ours(case, 50)),
    ],
    quality=lambda case, model: subspace_distance(model, exact(case)),
    quality_name="distance (36)",
)
