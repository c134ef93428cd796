"""What outlier detection costs beside one model, and beside LOF: CV+ fits six models, and five judge every row."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.suite.plan import Objective, Solver
from mercer import KernelOutlierDetector, KernelPCA, L1KernelPCA, LandmarkKernelPCA, RobustKernelPCA
from mercer.engine.scaling import Scaling
from mercer.outliers.panel import Panel, PanelJudge
from mercer.outliers.scores import score_model

MODELS: dict[str, Any] = {
    "default": KernelPCA(4, kernel="rbf", gamma="median"),
    "16 components": KernelPCA(16, kernel="rbf", gamma="median"),
    "linear": KernelPCA(4),
    "64 landmarks": LandmarkKernelPCA(4, gamma="median", landmarks=64, random_state=0),
    "256 landmarks": LandmarkKernelPCA(4, gamma="median", random_state=0),
    "robust (models apart)": RobustKernelPCA(4, kernel="rbf", gamma="median", random_state=0),
    "L1 (models apart)": L1KernelPCA(4, kernel="rbf", gamma="median"),
}
SLOW = ("robust (models apart)", "L1 (models apart)")  # only for few rows


class Case(NamedTuple):
    rows: np.ndarray
    model: Any


def table(n: int, d: int) -> np.ndarray:
    """Return rows near a plane of four dimensions."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.5 * rng.standard_normal((n, d))


TABLES: dict[str, Callable[[], np.ndarray]] = {
    "300 x 10": partial(table, 300, 10),
    "1000 x 20": partial(table, 1000, 20),
    "digits": lambda: load_digits().data,
    "5000 x 20": partial(table, 5000, 20),
    "20000 x 20": partial(table, 20_000, 20),
}


def case(rows: Callable[[], np.ndarray], model: str) -> Case:
    return Case(rows(), MODELS[model])


def cases() -> dict[str, Callable[[], Case]]:
    """Return all tables with the default, and those of at most 5000 rows with all models that are fast enough."""
    found = {}
    for name, rows in TABLES.items():
        for model in MODELS:
            few = name == "300 x 10" if model in SLOW else name != "20000 x 20"
            if few or model in ("default", "64 landmarks"):
                found[f"{name}, {model}"] = partial(case, rows, model)
    return found


def one_fit(given: Case) -> tuple[Scaling, Any, np.ndarray]:
    scaling = Scaling.of(given.rows, "soft")
    rows = scaling(given.rows)
    model = clone(given.model).fit(rows)
    return scaling, model.expansion_, rows


def one_scoring(given: Case) -> Callable[[], Any]:
    scaling, expansion, rows = one_fit(given)
    model = score_model(expansion, 0.8, rows)
    return lambda: model(scaling(given.rows))


def cross_fit(given: Case) -> KernelOutlierDetector:
    return KernelOutlierDetector(given.model, random_state=0).fit(given.rows)


def cross_scoring(given: Case) -> Callable[[], Any]:
    detector = cross_fit(given)
    return lambda: detector.score_samples(given.rows)


def folds_scoring(given: Case) -> Callable[[], Any]:
    """Return what `score_samples` needs of the models: no check of the rows, no Mahalanobis distances, no p-values."""
    judges = cross_fit(given)._judges
    panel = Panel([PanelJudge(judge.scaling, judge.model, None) for judge in judges])
    return lambda: panel(given.rows)


def lof_scoring(given: Case) -> Callable[[], Any]:
    model = LocalOutlierFactor(novelty=True).fit(given.rows)
    return lambda: model.score_samples(given.rows)


FIT, SCORE = "fit", "score"
FOLDS = "models of the folds, T2 and SPE"


def either(fit: Callable[[Case], Callable[[], Any]], score: Callable[[Case], Callable[[], Any]]) -> Any:
    """Return the call of a solver for a data set, which names what is measured."""
    return lambda given: (fit if given[0] == FIT else score)(given[1])


def task(what: str, make: Callable[[], Case]) -> tuple[str, Case]:
    return what, make()


OBJECTIVE = Objective(
    name="detector_cost",
    question="what do fit and score_samples of the detector cost, with CV+, beside one model of the same settings?",
    bar="one model's time: at least .4 of that of fit (2.5 times), and .67 of that of the folds' models (1.5 times)",
    datasets={f"{what}, {name}": partial(task, what, make) for name, make in cases().items() for what in (FIT, SCORE)},
    solvers=[
        Solver("one model", either(lambda g: lambda: one_fit(g), one_scoring), peer=True),
        Solver("mercer detector, CV+", either(lambda g: lambda: cross_fit(g), cross_scoring)),
        Solver(FOLDS, lambda given: folds_scoring(given[1])),
        Solver("scikit-learn LOF", either(lambda g: lambda: LocalOutlierFactor().fit(g.rows), lof_scoring)),
    ],
    rounds=5,
    skip={(f"{FIT}, {name}", FOLDS): "only scores" for name in cases()},
    default=False,
)
