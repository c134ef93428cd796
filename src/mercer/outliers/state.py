"""The parts of a fitted `KernelOutlierDetector`: scaling and models, and their conversion to plain data for files."""

from dataclasses import dataclass
from typing import Any

from mercer.arrays import Array
from mercer.outliers.calibration import Calibration
from mercer.outliers.scores import ScoreModel
from mercer.tables.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Judge:
    """A scaling and a model of T2 and SPE, fitted to the same rows."""

    scaling: Scaling
    model: ScoreModel

    def __call__(self, X: Array) -> Array:
        """Return T2 and SPE of every row, (n, 2)."""
        return self.model(self.scaling(X))


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
    detector.calibration_ = Calibration(tuple(state["folds"]), detector.statistic)


def _of_scaling(scaling: Scaling) -> list[Array]:
    return [scaling.mean, scaling.unit]
