"""Figures 4 and 5: outliers beside a linear pattern."""

from functools import partial
from typing import Any

import numpy as np

from mercer import plots
from papers.comparison import Comparison, claim, reading
from papers.drawing import directions, lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.kim2019 import _toys
from papers.kim2019._methods import METHODS, ROBUST
from papers.kim2019._points import input_space

_KERNEL = {"kernel": "linear"}
_ANGLES, _PLACES = (0.0, 15.0, 30.0), ("one side", "both sides", "two quadrants")
_ARRANGEMENTS = tuple((place, angle) for place in _PLACES for angle in _ANGLES)
_SHOWN = ("two quadrants", 30.0)  # shows what the paper shows; the table and the last figure have all of them


def degrees(model: Any, direction: Any) -> float:
    """Return the angle between a direction of the plane and the first component."""
    expansion = model.expansion_
    first = expansion.coef[0] @ expansion.points
    cosine = abs(float(first @ direction)) / float(np.linalg.norm(first))
    return float(np.degrees(np.arccos(min(1.0, cosine))))


def run(given: Run) -> Outcome:
    """Draw one example, and count hidden outliers over many draws of nine arrangements."""
    X, kinds = _toys.along_a_line(np.random.default_rng(0), _SHOWN[1], _SHOWN[0])
    models = _toys.fitted(X, _KERNEL)
    angles = {name: degrees(model, _toys.PATTERN) for name, model in models.items()}
    inside = {name: _toys.hidden(model, X, kinds) for name, model in models.items()}
    found = {
        (place, angle): _toys.many(
            given, f"{place}, {angle:.0f} degrees", partial(_toys.along_a_line, degrees=angle, off=place), _KERNEL
        )
        for place, angle in _ARRANGEMENTS
    }
    points = input_space(X, kinds, models)
    points.set_size_inches(7.5, 4.0)  # the pattern is wider than high
    directions(points.axes[0])
    drawings = {
        "figure4": Drawing(points, _POINTS),
        "figure5": Drawing(plots.principal_spaces(models, X, kinds), _toys.SPACES),
        "arrangements": Drawing(_draw(found), _COUNTS),
    }
    table = [*_shown(angles, inside), *_often(found)]
    return Outcome(drawings, (*table, _detector(X, kinds)))


def _shown(angles: dict[str, float], inside: dict[str, list[int]]) -> list[Comparison]:
    l1 = [angles[name] for name in ROBUST[:3]]
    nearer = [name for name in ROBUST if angles[name] < angles["L2-KPCA"]]
    return [
        claim(
            "first components of the three L1 methods",
            "the same",
            f"{np.ptp(l1):.3f} degrees apart",
            bool(np.ptp(l1) < 0.01),
        ),
        claim(
            "robust first components nearer to the pattern than that of L2-KPCA",
            "lower deviation",
            ", ".join(f"{name} {angle:.1f}" for name, angle in angles.items()) + " degrees",
            len(nearer) == len(ROBUST),
        ),
        claim(
            "far outliers (triangles) inside of the circle",
            "none, by any method",
            str(max(pair[0] for pair in inside.values())),
            max(pair[0] for pair in inside.values()) == 0,
        ),
        *(
            claim(
                f"off outliers (squares) inside of the circle, {name}",
                "2 of 6" if name == "L2-KPCA" else "0 of 6",
                f"{inside[name][1]} of 6",
                (inside[name][1] > 0) == (name == "L2-KPCA"),
            )
            for name in METHODS
        ),
    ]


def _often(found: Any) -> list[Comparison]:
    """Compare Algorithm 1 and R1-KPCA with L2-KPCA over many draws of every arrangement."""
    table: list[Comparison] = []
    for name in ("Algorithm 1", "R1-KPCA"):
        counts = {arrangement: _toys.fewer(one, name, "L2-KPCA") for arrangement, one in found.items()}
        less, more = (sum(pair[k] > pair[1 - k] for pair in counts.values()) for k in (0, 1))
        text = f"on balance fewer in {less}, more in {more} of {len(counts)} arrangements"
        table.append(claim(f"{name} hides fewer outliers than L2-KPCA", "in the one shown", text, less > more))
        table += [
            reading(
                f"{name} against L2-KPCA, off ones {place}, far ones {angle:.0f} degrees beside",
                f"hides fewer in {fewer}, more in {worse} of {len(found[place, angle][name])} draws",
            )
            for (place, angle), (fewer, worse) in counts.items()
        ]
    return table


def _detector(X: Any, kinds: Any) -> Comparison:
    far, off = _toys.hidden_from_detector(X, kinds)
    return reading("KernelOutlierDetector, all defaults: hidden outliers", f"{far} of 2 far, {off} of 6 off")


_POINTS = (
    "The points, and the first components. The three L1 methods give one line: they are drawn on each other, the first "
    "thickest."
)
_COUNTS = (
    "How many of the eight outliers lie inside the circle, mean over draws, for three places of the six off ones and "
    "three angles between the far ones and the pattern. Algorithm 1 stands for the three L1 methods."
)


def _draw(found: Any) -> Any:
    figure, axes = panels([(f"Off outliers: {place}", "angle of the far ones, degrees", "hidden") for place in _PLACES])
    for panel, place in zip(axes, _PLACES, strict=True):
        rows = {
            name: [np.sum(found[place, angle][name], axis=1).mean() for angle in _ANGLES]
            for name in ("Algorithm 1", "R1-KPCA", "L2-KPCA")
        }
        lines(panel, {name: (_ANGLES, values) for name, values in rows.items()})
        panel.set_ylim(-0.1, 4)
    return figure


EXPERIMENT = Experiment(
    name="figure4",
    title="first toy example: a linear pattern",
    items=("Figure 4", "Figure 5"),
    run=run,
    paper_did="Points along a line, two outliers by their size (triangles), six beside the pattern (squares); linear "
    "kernel. The first components of the L1 methods coincide and lie nearer to the pattern than that of L2-KPCA; in "
    "its principal space two squares fall within the circle of the normal points, in the others none.",
    we_do="Points of the same kind in nine arrangements, many draws of each: the paper's points are not given, and the "
    "outcome depends on where the outliers lie. Figures 4 and 5 show the first draw of the arrangement in which the "
    "paper's effect is seen best; the third figure and the table have all nine.",
    open_choices=(
        "The coordinates of the points. Ours: 60 along a line; two far ones, in line with it or 15 or 30 degrees "
        "beside; six off ones, on one side, on both sides, or in the two quadrants that the far ones turn a component "
        "to.",
    ),
    differences=(
        "The advantage of the robust methods is in outliers that turn the first component of L2-KPCA. Far outliers in "
        "line with the pattern hold it in place, and off ones on one side turn the L1 methods as well, which then may "
        "hide more than L2-KPCA.",
        "With two components in the plane all residuals are zero, and R1-KPCA is L2-KPCA: its first direction is "
        "that of one component here.",
    ),
    scales={"full": {"draws": 100}, "quick": {"draws": 20}, "tiny": {"draws": 1}},
)
