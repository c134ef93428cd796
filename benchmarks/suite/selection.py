"""`mercer.select` beside the default, the best setting of its grid, and linear PCA."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from benchmarks.suite.plan import Solver
from benchmarks.suite.selection_sets import Labelled, Noisy
from mercer import KernelOutlierDetector, KernelPCA
from mercer.criteria.candidates import Candidate, Grid
from mercer.criteria.shared_distances import SharedDistances
from mercer.engine.scaling import Scaling
from mercer.preimage.methods import Anchors, find_preimages
from mercer.selection.purposes import PURPOSES

MATTERS = 0.01  # a best setting that is no better than the default by so much of the scale says nothing

Values = dict[Candidate, float]  # a higher value is better


def candidates(X: np.ndarray, grid: Grid, most: int) -> list[Candidate]:
    """Return all settings of a grid for these rows, with at most so many components."""
    found = []
    for family in grid.families():
        gamma = getattr(family.made(SharedDistances(Scaling.of(X, family.standardize)(X))), "gamma", None)
        limit = min(most, max(X.shape[1] - 1, 1)) if family.kernel == "linear" else most
        found += [Candidate(family, gamma, count) for count in sorted({min(count, limit) for count in grid.counts})]
    return found


def reduced_noise(case: Noisy) -> Values:
    """Return by which share each setting reduces the squared error of noisy rows."""
    grid, rows = PURPOSES["denoising"].grid, SharedDistances(case.learned)
    before = ((case.noisy - case.clean) ** 2).sum()
    found: Values = {}
    for family in grid.families():
        kernel = family.made(rows)
        model = rows.model(kernel, max(grid.counts))
        learned, scores = model.project(case.learned), model.project(case.noisy)
        for count in sorted({min(count, model.n_components) for count in grid.counts}):
            part, anchors = model.truncated(count), Anchors(case.learned, learned[:, :count])
            cleaned = find_preimages("auto", part, scores[:, :count], anchors)
            key = Candidate(family, getattr(kernel, "gamma", None), count)
            found[key] = 1.0 - float(((cleaned - case.clean) ** 2).sum() / before)
    return found


def noise_reduced_by(estimator: Any, case: Noisy) -> float:
    model = clone(estimator).fit(case.learned)
    cleaned = model.inverse_transform(model.transform(case.noisy))
    return 1.0 - float(((cleaned - case.clean) ** 2).sum() / ((case.noisy - case.clean) ** 2).sum())


def precision(estimator: Any, case: Labelled) -> float:
    """Return the average precision of a detector."""
    detector = clone(estimator).set_params(random_state=0).fit(case.learned)
    return float(average_precision_score(case.labels, -detector.score_samples(case.judged)))


def accuracy(estimator: Any, case: Labelled) -> float:
    """Return the mean accuracy of a linear classifier and of 5 nearest neighbours on the scores."""
    model = clone(estimator).fit(case.learned)
    learned, judged = model.transform(case.learned), model.transform(case.judged)
    unit = learned[:, 0].std() or 1.0
    linear = LogisticRegression(C=10, max_iter=200).fit(learned / unit, case.learned_labels)
    neighbours = KNeighborsClassifier(5).fit(learned, case.learned_labels)
    return 0.5 * float(linear.score(judged / unit, case.labels) + neighbours.score(judged, case.labels))


def _each(purpose: str, measure: Callable[[Any, Any], float], case: Any) -> Values:
    how = PURPOSES[purpose]
    grid = candidates(case.learned, how.grid, max(len(case.learned) // 3, 1))
    return {candidate: measure(how.estimator(candidate), case) for candidate in grid}


DEFAULTS: dict[str, Any] = {
    "denoising": KernelPCA(4, kernel="rbf", gamma="median", preimage="auto"),
    "features": KernelPCA(4, kernel="rbf", gamma="median"),
    "outliers": KernelOutlierDetector(),
}
MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "denoising": noise_reduced_by,
    "features": accuracy,
    "outliers": precision,
}


PEERS: dict[str, tuple[str, Any]] = {
    "denoising": ("scikit-learn PCA, 90 % explained", PCA(0.9)),
    "features": (
        "scikit-learn scaler and PCA, 95 % explained",
        make_pipeline(StandardScaler(), PCA(0.95)),
    ),
    "outliers": ("scikit-learn IsolationForest", IsolationForest()),
}


def peer(purpose: str) -> Solver:
    """Return what scikit-learn's users would take."""
    name, estimator = PEERS[purpose]
    return Solver(name, lambda case: lambda: {"of the peer": MEASURES[purpose](estimator, case)}, peer=True)


def judged(purpose: str, case: Any) -> dict[str, float]:
    """Return the row of a case: the default, the selected setting, the best of the grid, and linear PCA."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measure = MEASURES[purpose]
        mercer.select(np.random.default_rng(0).standard_normal((40, 3)), purpose, random_state=0)  # compiles
        started = time.perf_counter()
        found = mercer.select(case.learned, purpose, random_state=0)
        seconds = time.perf_counter() - started
        default, selected = measure(DEFAULTS[purpose], case), measure(found.estimator, case)
        grid = reduced_noise(case) if purpose == "denoising" else _each(purpose, measure, case)
        fits = seconds / _largest_fit(purpose, case.learned)
    best = max(*grid.values(), default, selected)
    row = {
        "default": default,
        "selected": selected,
        "best of the grid": best,
        "best linear": max(value for one, value in grid.items() if one.family.kernel == "linear"),
        "in fits of the largest": fits,
        "worse by more than 5 %": float(selected < default - 0.05 * abs(default)),
    }
    if purpose == "outliers":
        row |= told(case)
    return {**row, "gained": (selected - default) / (best - default)} if best - default > MATTERS else row


def told(case: Labelled) -> dict[str, float]:
    """Return the precision of settings that are selected with knowledge of whether outliers are among the rows."""
    found = mercer.select(case.learned, "outliers", contaminated=case.contaminated, random_state=0)
    which = "with outliers" if case.contaminated else "clean"
    return {f"selected, told that rows are {which}": precision(found.estimator, case)}


def beside_the_default(case: Labelled) -> dict[str, float]:
    """Return the row of a case without the best of the grid, which takes long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mercer.select(case.learned, "outliers", random_state=0)
        default, selected = precision(DEFAULTS["outliers"], case), precision(found.estimator, case)
        worse = float(selected < default - 0.05 * abs(default))
        which = "with outliers" if case.contaminated else "clean"
        row = {f"default, {which}": default, f"selected, {which}": selected, f"worse by 5 %, {which}": worse}
        return row | told(case)


def _largest_fit(purpose: str, X: np.ndarray) -> float:
    """Return the seconds of the largest candidate's fit, the best of three."""
    model: Any = KernelPCA(min(64, len(X) // 3), kernel="rbf", gamma="median")
    model = KernelOutlierDetector(model, explained=1.0, random_state=0) if purpose == "outliers" else model
    times = []
    for _ in range(3):
        started = time.perf_counter()
        clone(model).fit(X)
        times.append(time.perf_counter() - started)
    return min(times)
