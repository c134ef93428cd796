"""Features for a classifier: kernel PCA, linear PCA, Nystroem, the columns as they are, and a forest without any."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.suite.data import load
from benchmarks.suite.measure import on_processors
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelPCA, LandmarkKernelPCA
from mercer.kernels.resolve import median_gamma

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # rows and classes to learn, rows and classes to judge


def split(X: np.ndarray, y: np.ndarray) -> Split:
    """Return halves of the rows, with columns of mean 0 and standard deviation 1 in the first."""
    learned, judged, classes, truth = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    scaler = StandardScaler().fit(learned)
    return scaler.transform(learned), classes, scaler.transform(judged), truth


def usps() -> Split:
    found = load("usps", rows=6000)
    return split(found.X[:6000].astype(np.float64), found.y[:6000])


def classified(make: Callable[[float], Any]) -> Any:
    """Learn features and logistic regression, and return the classes of the other half."""

    def prepare(case: Split) -> Any:
        learned, classes, judged, _ = case

        def call() -> np.ndarray:
            steps = [make(median_gamma(learned)), StandardScaler(), LogisticRegression(max_iter=300)]
            return np.asarray(make_pipeline(*steps).fit(learned, classes).predict(judged))

        return partial(on_processors, call)

    return prepare


def forest(case: Split) -> Any:
    learned, classes, judged, _ = case
    model = RandomForestClassifier(random_state=0, n_jobs=1)
    return lambda: on_processors(lambda: model.fit(learned, classes).predict(judged))


def exact(gamma: float) -> KernelPCA:
    return KernelPCA(50, kernel="rbf", gamma=gamma)


def landmark(gamma: float) -> LandmarkKernelPCA:
    return LandmarkKernelPCA(50, gamma=gamma, random_state=0)


OBJECTIVE = Objective(
    name="when_not_classes",
    question="how many rows of the other half does logistic regression classify correctly, on which features?",
    datasets={
        name: lambda loader=loader: split(*loader(return_X_y=True))  # type: ignore[misc]
        for name, loader in {"digits": load_digits, "wine": load_wine, "breast cancer": load_breast_cancer}.items()
    }
    | {"usps 6000": usps},
    solvers=[
        Solver("the columns as they are", classified(lambda _: "passthrough"), peer=True),
        Solver("scikit-learn PCA, 95 % of the variance", classified(lambda _: PCA(0.95)), peer=True),
        Solver("scikit-learn Nystroem, 300", classified(lambda g: Nystroem(gamma=g, n_components=300)), peer=True),
        Solver("scikit-learn RandomForestClassifier, no features", forest, peer=True),
        Solver("KernelPCA, 50 components", classified(exact)),
        Solver("LandmarkKernelPCA, 50 components", classified(landmark)),
    ],
    quality=lambda case, found: float((found == case[3]).mean()),
    quality_name="right",
    rounds=1,
    default=False,
)
