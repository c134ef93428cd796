"""Every estimator on the same rows: time, memory, and the error on new rows, also with outliers and after a change."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Peer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

import mercer
from benchmarks.suite.measure import on_processors
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import angled
from mercer.kernels.resolve import median_gamma
from mercer.registry import DECOMPOSITIONS

R, LANDMARKS, NEW = 10, 300, 1000
SMALL, LARGE = "clean, 4,000 rows", "clean, 100,000 rows"
OUTLIERS, CHANGE = "outliers, 5 % of 4,000 rows", "change after 2,700 of 4,000 rows"


@dataclass(frozen=True, eq=False)
class Case:
    """Rows to learn, clean rows of the present kind to judge the model by, and the kernel's coefficient."""

    rows: np.ndarray
    new: np.ndarray
    gamma: float


def plain(n: int) -> Case:
    rows = angled(n)
    return Case(rows, angled(NEW, seed=1), median_gamma(rows[:1000]))


def with_outliers() -> Case:
    """A twentieth of the rows lies around four places far from the others."""
    case, rng = plain(4000), np.random.default_rng(2)
    rows, count = case.rows.copy(), 200
    places = 3.0 * rng.standard_normal((4, rows.shape[1]))
    rows[rng.permutation(len(rows))[:count]] = places[rng.integers(4, size=count)] + 0.3 * rng.standard_normal(
        (count, 50)
    )
    return Case(rows, case.new, case.gamma)


def with_change() -> Case:
    """The last third of the rows, and all new ones, have their columns in the reverse order."""
    case = plain(4000)
    rows = np.vstack([case.rows[:2700], case.rows[2700:, ::-1]])
    return Case(rows, case.new[:, ::-1], case.gamma)


def by(make: Any, kernel: bool = True) -> Any:
    """Fit a model once to few rows, which compiles, and return the fit that counts."""

    def prepare(case: Case) -> Any:
        options = {"kernel": "rbf", "gamma": case.gamma} if kernel else {}
        make(**options).fit(case.rows[:700])
        return lambda: on_processors(partial(make(**options).fit, case.rows))

    return prepare


def nystroem(case: Case) -> Any:
    features = Nystroem(gamma=case.gamma, n_components=LANDMARKS, random_state=0)
    return lambda: on_processors(partial(make_pipeline(clone(features), PCA(R)).fit, case.rows))


def error(case: Case, model: Any) -> dict[str, float]:
    """Return the mean squared distance of new rows from the components in feature space, as a share of the total."""
    if not isinstance(model, tuple(getattr(mercer, name) for name in DECOMPOSITIONS)):
        return {}
    if isinstance(model, mercer.HebbianPCA):
        return {}  # its space is that of the rows, so that its errors cannot be compared
    spread = 1.0 - float(np.exp(-case.gamma * ((case.new[::2] - case.new[1::2]) ** 2).sum(axis=1)).mean())
    return {"error": float(model.reconstruction_error(case.new).mean()) / spread}


MANY = {"landmarks": LANDMARKS, "random_state": 0}
FADING = 0.998  # forgets half within 350 rows
LONG = "left out: it takes hours; use landmarks"
WHOLE = "left out: it holds the whole kernel matrix, 80 GB"

OBJECTIVE = Objective(
    name="which_estimator",
    question="how many processor seconds and MB does each estimator take on the same rows, and with which error?",
    datasets={
        SMALL: partial(plain, 4000),
        LARGE: partial(plain, 100_000),
        OUTLIERS: with_outliers,
        CHANGE: with_change,
    },
    solvers=[
        Solver("scikit-learn PCA", by(partial(PCA, R), kernel=False), peer=True),
        Solver("scikit-learn KernelPCA", by(partial(Peer, R, eigen_solver="arpack", random_state=0)), peer=True),
        Solver("scikit-learn Nystroem and PCA", nystroem, peer=True),
        Solver("KernelPCA", by(partial(mercer.KernelPCA, R))),
        Solver("KernelPCA(precision='mixed')", by(partial(mercer.KernelPCA, R, precision="mixed"))),
        Solver("LandmarkKernelPCA", by(partial(mercer.LandmarkKernelPCA, R, **MANY))),
        Solver("LandmarkKernelPCA(window=1000)", by(partial(mercer.LandmarkKernelPCA, R, window=1000, **MANY))),
        Solver(
            f"LandmarkKernelPCA(forgetting={FADING})",
            by(partial(mercer.LandmarkKernelPCA, R, forgetting=FADING, **MANY)),
        ),
        Solver("IncrementalKernelPCA", by(partial(mercer.IncrementalKernelPCA, R))),
        Solver(
            f"IncrementalKernelPCA(forgetting={FADING})", by(partial(mercer.IncrementalKernelPCA, R, forgetting=FADING))
        ),
        Solver("HebbianKernelPCA", by(partial(mercer.HebbianKernelPCA, R, **MANY))),
        Solver("RobustKernelPCA", by(partial(mercer.RobustKernelPCA, R))),
        Solver("RobustKernelPCA(landmarks=300)", by(partial(mercer.RobustKernelPCA, R, **MANY))),
        Solver("OnlineRobustKernelPCA", by(partial(mercer.OnlineRobustKernelPCA, R, **MANY))),
        Solver("L1KernelPCA", by(partial(mercer.L1KernelPCA, R))),
        Solver("R1KernelPCA", by(partial(mercer.R1KernelPCA, R))),
        Solver("HebbianPCA (linear)", by(partial(mercer.HebbianPCA, R, random_state=0), kernel=False)),
    ],
    quality=error,
    rounds=1,
    isolated=True,
    default=False,
    skip={
        (LARGE, "scikit-learn KernelPCA"): WHOLE,
        (LARGE, "L1KernelPCA"): WHOLE,
        (LARGE, "R1KernelPCA"): WHOLE,
        (LARGE, "RobustKernelPCA"): LONG,
    },
)
