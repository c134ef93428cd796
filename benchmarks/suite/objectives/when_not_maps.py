"""Pictures in two dimensions: how well neighbours and classes stay together, by kernel PCA and by its rivals."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.suite.data import load
from benchmarks.suite.measure import on_processors
from benchmarks.suite.peers import need
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelPCA

Case = tuple[np.ndarray, np.ndarray]


def usps() -> Case:
    found = load("usps", rows=2000)
    return found.X[:2000], found.y[:2000]


def cancer() -> Case:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def by(make: Callable[[], Any]) -> Any:
    return lambda case: lambda: on_processors(partial(make().fit_transform, case[0]))


def umap(case: Case) -> Any:
    UMAP = need("umap", "umap-learn").UMAP
    UMAP(random_state=0, n_jobs=1, n_epochs=2).fit(case[0][:100])  # compiles
    return lambda: on_processors(partial(UMAP(random_state=0, n_jobs=1).fit_transform, case[0]))


def kept(case: Case, places: np.ndarray) -> dict[str, float]:
    X, y = case
    right = cross_val_score(KNeighborsClassifier(5), places, y, cv=5).mean()
    return {"neighbours kept": trustworthiness(X, places, n_neighbors=10), "class of 5 neighbours": right}


OBJECTIVE = Objective(
    name="when_not_maps",
    question="how well does a picture in two dimensions keep neighbours (trustworthiness) and classes, in what time?",
    datasets={"digits": partial(load_digits, return_X_y=True), "usps 2000": usps, "breast cancer": cancer},
    solvers=[
        Solver("scikit-learn PCA", by(partial(PCA, 2)), peer=True),
        Solver("scikit-learn TSNE", by(partial(TSNE, 2, random_state=0)), peer=True),
        Solver("umap-learn UMAP", umap, peer=True),
        Solver("KernelPCA, median width", by(partial(KernelPCA, 2, kernel="rbf", gamma="median"))),
        Solver("KernelPCA, selected width", by(partial(KernelPCA, 2, kernel="rbf", gamma="select"))),
    ],
    quality=kept,
    rounds=1,
    default=False,
)
