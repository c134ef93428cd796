"""Claims 10 and 11: weights with limited entries, and weights that are too long."""

from typing import Any

import numpy as np

from papers.comparison import claim
from papers.drawing import lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.lecture_notes._neuron import axes_and_samples, neuron, path

_LIMIT = 1.5
_GAIN = 0.01


def run(given: Run) -> Outcome:
    """Start from short, unit and long weights; limit the entries in one run."""
    steps = given.settings["steps"]
    axes, samples = axes_and_samples(steps, 5)
    direction = np.array([0.5, 0.5, 0.5, 0.5]) @ axes.T
    curves = {}
    for length in (0.2, 1.0, 3.0):
        times, weights = path(neuron(length * direction, _GAIN), samples, length * direction, 5)
        curves[f"starts at {length:g}"] = (times, np.linalg.norm(weights, axis=1))
    start = 3.0 * direction
    times, limited = path(neuron(start, _GAIN, clip=_LIMIT), samples, start, 1)
    curves[f"starts at 3, entries limited to {_LIMIT:g}"] = (times[1:], np.linalg.norm(limited[1:], axis=1))
    largest = float(np.abs(limited[1:]).max())
    end = float(abs(limited[-1] @ axes[:, 0]) / np.linalg.norm(limited[-1]))
    shrinking = _shrinking(samples, start, given.settings["single_steps"])
    long, short = curves["starts at 3"][1][-1], curves["starts at 0.2"][1][-1]
    return Outcome(
        {"bounded": Drawing(_draw(curves), _CAPTION)},
        (
            claim("largest |w_j| with the limit", f"at most {_LIMIT:g}", largest, largest <= _LIMIT + 1e-12),
            claim("|cos| with q_1 at the end, with the limit", "converges to 1", end, end > 0.95),
            claim(
                "|w| at the end from 3 and from 0.2",
                "enters a bounded set",
                f"{long:.3f}, {short:.3f}",
                bool(abs(long - 1) < 0.15 and abs(short - 1) < 0.15),
            ),
            claim(
                "share of single steps from |w| = 3 that shorten w", "with probability one", shrinking, shrinking > 0.99
            ),
        ),
    )


def _shrinking(samples: Any, start: Any, count: int) -> float:
    steps = [neuron(start, _GAIN).partial_fit(x[None]).components_[0] for x in samples[:count]]
    return float(np.mean([np.linalg.norm(w) < np.linalg.norm(start) for w in steps]))


_CAPTION = "The length of the weight vector from short, unit and long starts: all converge to one."


def _draw(curves: Any) -> Any:
    figure, (axes,) = panels(
        [("Wherever the weights start, their length becomes one", "samples read", "|w|")], width=6.5
    )
    lines(axes, curves)
    axes.set_ylim(0, None)
    return figure


EXPERIMENT = Experiment(
    name="bounded",
    title="the weights stay in a bounded set",
    items=("Claim 10", "Claim 11"),
    run=run,
    paper_did="Limits the entries of w by force to satisfy condition 2 of the stability theorem, and quotes Sanger: "
    "long weights become shorter with probability one. No numbers.",
    we_do="Starts HebbianPCA from weights of length 0.2, 1 and 3, once with its `clip`, and counts single steps from "
    "length 3 that shorten the weights.",
    open_choices=("Samples as in the other experiments; gain 0.01; the limit 1.5.",),
    differences=(
        "The notes say that weights with norm at most a become shorter if a is large enough. It must be those with "
        "norm above a: weights shorter than one grow, as the figure shows.",
    ),
    scales={
        "full": {"steps": 3000, "single_steps": 500},
        "quick": {"steps": 3000, "single_steps": 100},
        "tiny": {"steps": 2000, "single_steps": 10},
    },
)
