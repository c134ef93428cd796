"""The parts of a fitted `KernelOutlierDetector`: scaling, models that judge, and all of it as plain data for files."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.apply.scores import ScoreModel
from mercer.arrays import Array
from mercer.tasks.calibration import Calibration


@dataclass(frozen=True, eq=False)
class Scaling:
    """Rows less their mean, in units of each feature's spread."""

    mean: Array  # (d,)
    unit: Array  # (d,)

    @classmethod
    def of(cls, X: Array, kind: str | bool) -> "Scaling":
        """Return the scaling of these rows: "variance" (or True), "soft", or False for none at all."""
        if kind is False:
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        X = X.astype(np.float64, copy=False)
        size = np.abs(X).max(axis=0)
        size[size == 0] = 1.0
        mean = (X / size).mean(axis=0) * size  # scaled first, so that huge values do not overflow
        unit = ((X - mean) / size).std(axis=0) * size
        if kind == "soft":
            unit = np.sqrt(unit / size) * np.sqrt(0.5 * (X.max(axis=0) / size - X.min(axis=0) / size)) * size
        rounding = 10 * np.finfo(np.float64).eps * np.abs(mean)
        return cls(mean, np.where(unit > rounding, unit, 1.0))

    def __call__(self, X: Array) -> Array:
        """Return scaled rows, in the precision that they came in."""
        return np.asarray((X - self.mean) / self.unit, X.dtype)


@dataclass(frozen=True, eq=False)
class Judge:
    """A scaling and a model of T2 and SPE, fitted to the same rows."""

    scaling: Scaling
    model: ScoreModel

    def __call__(self, X: Array) -> Array:
        """Return T2 and SPE of every row, (n, 2)."""
        return self.model(self.scaling(X))


class BoundScore(str):
    """The value of the parameter `score`, which can also be called as scikit-learn's method of that name."""

    __slots__ = ("_detector",)
    _detector: Any

    def __call__(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`."""
        return float(np.mean(self._detector.score_samples(X)))


class ScoreParameter:
    """A parameter called `score`: scikit-learn calls whatever an estimator has under this name."""

    def __get__(self, detector: Any, owner: type | None = None) -> Any:
        if detector is None:
            return self
        value = vars(detector)["score"]
        if not isinstance(value, str):
            return value
        bound = BoundScore(value)
        bound._detector = detector
        return bound

    def __set__(self, detector: Any, value: Any) -> None:
        vars(detector)["score"] = value


_PLAIN = ("estimator_", "offset_", "n_features_in_", "n_samples_seen_", "feature_names_in_")


def as_state(detector: Any) -> dict[str, Any]:
    """Return the fitted state as plain values, arrays and expansions."""
    state = {name: getattr(detector, name) for name in _PLAIN if hasattr(detector, name)}
    state["scaling"] = _of_scaling(detector._scaling)
    state["judges"] = [
        [*_of_scaling(judge.scaling), judge.model.expansion, judge.model.means, judge.model.variances]
        for judge in detector._judges
    ]
    state["folds"] = list(detector.calibration_.folds)
    return state


def from_state(detector: Any, state: dict[str, Any]) -> None:
    """Put a saved state into a detector with the same parameters."""
    for name in _PLAIN:
        if name in state:
            setattr(detector, name, state[name])
    detector._scaling = Scaling(*state["scaling"])
    detector._judges = [Judge(Scaling(*judge[:2]), ScoreModel(*judge[2:])) for judge in state["judges"]]
    detector.calibration_ = Calibration(tuple(state["folds"]), str(detector.score))


def _of_scaling(scaling: Scaling) -> list[Array]:
    return [scaling.mean, scaling.unit]
