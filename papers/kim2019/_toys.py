"""The two toy examples: points with two kinds of outliers, and which of them lie inside the circle of normal points."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from mercer import KernelOutlierDetector
from papers.comparison import Comparison, reading
from papers.experiment import Run
from papers.kim2019._methods import METHODS

FAR, OFF = 1, 2  # outliers by their size (triangles), outliers that leave the pattern (squares)
PATTERN = np.array([2.0, 1.0]) / np.sqrt(5.0)
SPACES = (
    "The points in the space of two components, in standard units, with the circle that contains all normal points. "
    "An outlier inside of it cannot be found by rule (28) without a false alarm."
)
Make = Callable[[np.random.Generator], tuple[Any, Any]]


def along_a_line(rng: np.random.Generator, degrees: float = 30.0, off: str = "two quadrants") -> tuple[Any, Any]:
    """Return points along PATTERN with two far and six off ones, and their kinds [Figure 4].

    The far ones lie so many degrees beside the pattern. The off ones lie beside it on "one side", on "both sides", or
    in the "two quadrants" that the far ones turn a component to.
    """
    across, turn = np.array([-PATTERN[1], PATTERN[0]]), np.radians(degrees)
    normal = np.outer(rng.uniform(-2.2, 2.2, 60), PATTERN) + 0.12 * rng.standard_normal((60, 2))
    far = np.outer([5.0, 5.5], np.cos(turn) * PATTERN + np.sin(turn) * across)
    along, beside, side = rng.uniform(0.3, 1.5, 6), rng.uniform(0.8, 1.5, 6), np.repeat([1.0, -1.0], 3)
    if off == "one side":
        along = -along
    elif off == "both sides":
        along, beside = rng.permutation([1, 1, 1, -1, -1, -1]) * along, side * beside
    else:
        along, beside = side * along, side * beside
    return _centred(normal, far, np.outer(along, PATTERN) + np.outer(beside, across))


def along_a_spiral(rng: np.random.Generator) -> tuple[Any, Any]:
    """Return points along a spiral with two far ones and five beside its arms, and their kinds [Figure 6]."""
    t = rng.uniform(0.6 * np.pi, 3.4 * np.pi, 150)
    normal = np.column_stack([t * np.cos(t), t * np.sin(t)]) / 3 + 0.12 * rng.standard_normal((150, 2))
    far = np.array([[4.6, 4.4], [-4.6, -4.2]])
    s = np.array([1.2, 1.5, 1.8, 2.1, 2.4]) * np.pi
    off = np.column_stack([(s + np.pi) * np.cos(s), (s + np.pi) * np.sin(s)]) / 3
    return _centred(normal, far, off)


def _centred(*kinds: Any) -> tuple[Any, Any]:
    X = np.vstack(kinds)
    return X - X.mean(axis=0), np.repeat([0, FAR, OFF], [len(part) for part in kinds])


class FirstOfPlane:
    """The first direction of a one-component model with the linear kernel, and the one across it, in the plane."""

    def __init__(self, model: Any) -> None:
        self.expansion_ = model.expansion_
        first = self.expansion_.coef[0] @ self.expansion_.points
        first = first / np.linalg.norm(first)
        self._basis = np.column_stack([first, [-first[1], first[0]]])

    def transform(self, X: Any) -> Any:
        """Return both scores."""
        return X @ self._basis


def fitted(X: Any, kernel: Mapping[str, Any]) -> dict[str, Any]:
    """Return two components by every method.

    With two components in the plane all residuals are zero, so that R1-KPCA would be L2-KPCA with the linear kernel:
    its first direction is then that of one component.
    """
    models = {name: make(2, **kernel).fit(X) for name, make in METHODS.items()}
    if kernel["kernel"] == "linear":
        models["R1-KPCA"] = FirstOfPlane(METHODS["R1-KPCA"](1, **kernel).fit(X))
    return models


def hidden(model: Any, X: Any, kinds: Any) -> list[int]:
    """Return how many far and off outliers lie in the circle of all normal points, in standard units [rule (28)]."""
    scores = np.asarray(model.transform(X))
    return _below(np.linalg.norm((scores - scores.mean(axis=0)) / scores.std(axis=0), axis=1), kinds)


def hidden_from_detector(X: Any, kinds: Any, estimator: Any = None) -> list[int]:
    """Return how many outliers are no more unusual than some normal point to a `KernelOutlierDetector`."""
    detector = KernelOutlierDetector(estimator, standardize="auto" if estimator is None else False, random_state=0)
    return _below(-detector.fit(X).score_samples(X), kinds)


def _below(unusual: Any, kinds: Any) -> list[int]:
    border = unusual[kinds == 0].max()
    return [int((unusual[kinds == kind] <= border).sum()) for kind in (FAR, OFF)]


def many(given: Run, label: str, make: Make, kernel: Mapping[str, Any]) -> dict[str, Any]:
    """Return hidden outliers by method, (draws, 2), over many draws."""
    return given.stage(label, partial(_many, make, kernel, given.settings["draws"]))


def _many(make: Make, kernel: Mapping[str, Any], draws: int) -> dict[str, Any]:
    found: dict[str, list[list[int]]] = {name: [] for name in METHODS}
    for seed in range(draws):
        X, kinds = make(np.random.default_rng(seed))
        for name, model in fitted(X, kernel).items():
            found[name].append(hidden(model, X, kinds))
    return dict(found)


def fewer(found: Mapping[str, Any], name: str, than: str) -> tuple[int, int]:
    """Return in how many draws one method hides fewer outliers than another, and in how many more."""
    gap = np.sum(found[name], axis=1) - np.sum(found[than], axis=1)
    return int(np.sum(gap < 0)), int(np.sum(gap > 0))


def means(label: str, found: Mapping[str, Any]) -> Comparison:
    """Give the mean number of hidden outliers of every method."""
    return reading(label, ", ".join(f"{name} {np.sum(one, axis=1).mean():.2f}" for name, one in found.items()))
