"""The parts of a fitted `KernelOutlierDetector`: scaling and models, and their conversion to plain data for files."""

from dataclasses import replace
from typing import Any

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.outliers.calibration import Calibration
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.known_rows import KnownRows
from mercer.outliers.panel import Panel, PanelJudge
from mercer.outliers.scores import ScoreModel

_PLAIN = ("estimator_", "offset_", "n_features_in_", "n_samples_seen_", "feature_names_in_")


def as_state(detector: Any) -> dict[str, Any]:
    """Return the fitted state as plain values, arrays and expansions."""
    state = {name: getattr(detector, name) for name in _PLAIN if hasattr(detector, name)}
    state["scaling"] = _of_scaling(detector._scaling)
    state["explained"] = detector._explained
    panel = detector._judges
    shared = len(panel.judges) > 1 and panel.points_are_shared
    if shared:  # one copy, not one per model
        state["points"] = panel.judges[0].model.expansion.points
    state["judges"] = [
        [*_of_scaling(judge.scaling), _expansion(judge, shared), judge.model.means, judge.model.variances]
        for judge in panel
    ]
    if detector._ellipsoid is not None:
        state["ellipsoids"] = [_of_ellipsoid(one) for one in (detector._ellipsoid, *(own.ellipsoid for own in panel))]
    state["folds"] = list(detector.calibration_.folds)
    if detector.calibration_.others is not None:
        state["others"] = detector.calibration_.others
    if detector._known is not None:
        state["known"] = detector._known.state()
    return state


def from_state(detector: Any, state: dict[str, Any]) -> None:
    """Put a saved state into a detector with the same parameters."""
    for name in _PLAIN:
        if name in state:
            setattr(detector, name, state[name])
    detector._scaling = Scaling(*state["scaling"])
    detector._explained = state.get("explained", detector.explained)
    saved = [_ellipsoid(one) for one in state.get("ellipsoids", [None] * (1 + len(state["judges"])))]
    detector._ellipsoid = saved[0]
    judges = [
        PanelJudge(Scaling(*judge[:2]), ScoreModel(*judge[2:]), own)
        for judge, own in zip(state["judges"], saved[1:], strict=True)
    ]
    detector._judges = Panel(_sharing(judges, state["points"]) if "points" in state else judges)
    detector.calibration_ = Calibration(tuple(state["folds"]), detector.statistic, state.get("others"))
    detector._known = KnownRows.from_state(state["known"]) if "known" in state else None


def _of_scaling(scaling: Scaling) -> list[Array]:
    return [scaling.mean, scaling.unit]


def _expansion(judge: PanelJudge, shared: bool) -> Any:
    """Return the model as it is saved: without points, if these are saved once for all models."""
    expansion = judge.model.expansion
    return replace(expansion, points=expansion.points[:0]) if shared else expansion


def _sharing(judges: list[PanelJudge], points: Array) -> list[PanelJudge]:
    """Give the points, and the scaling of the first judge, to all judges."""
    models = [replace(judge.model, expansion=replace(judge.model.expansion, points=points)) for judge in judges]
    return [PanelJudge(judges[0].scaling, model, judge.ellipsoid) for model, judge in zip(models, judges, strict=True)]


def _of_ellipsoid(ellipsoid: Ellipsoid) -> list[Array]:
    return [*_of_scaling(ellipsoid.scaling), ellipsoid.whitening]


def _ellipsoid(saved: list[Array] | None) -> Ellipsoid | None:
    return None if saved is None else Ellipsoid(Scaling(*saved[:2]), saved[2])
