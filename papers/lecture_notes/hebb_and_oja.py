"""Claims 4 and 5: Hebb's rule grows without bound; Oja's rule is the normalised one to first order in the gain."""

from typing import Any

import numpy as np

from papers.comparison import claim, number
from papers.drawing import lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.lecture_notes._neuron import EIGENVALUES, axes_and_samples, neuron, path

_GAIN = 0.01
_GAINS = np.array([0.001, 0.003, 0.01, 0.03, 0.1])


def hebb(samples: Any, start: Any, eta: float) -> Any:
    """Return the lengths of the weights under Hebb's rule, w += eta y x, which nothing bounds."""
    w, lengths = np.array(start), [float(np.linalg.norm(start))]
    for x in samples:
        w = w + eta * (w @ x) * x
        lengths.append(float(np.linalg.norm(w)))
    return np.array(lengths)


def step_gap(samples: Any, start: Any, eta: float) -> float:
    """Return the mean distance between one step of Oja's rule and one of Hebb's rule with normalisation."""
    gaps = []
    for x in samples:
        oja, normal = (neuron(start, eta, normalize=kind).partial_fit(x[None]).components_[0] for kind in (False, True))
        gaps.append(np.linalg.norm(oja - normal))
    return float(np.mean(gaps))


def run(given: Run) -> Outcome:
    """Record the lengths of the weights, and measure the order of the approximation."""
    steps, single = given.settings["steps"], given.settings["single_steps"]
    axes, samples = axes_and_samples(steps, 3)
    start = np.array([0.5, 0.5, 0.5, 0.5]) @ axes.T
    grown = hebb(samples, start, _GAIN)
    times, oja = path(neuron(start, _GAIN), samples, start, 10)
    _, normal = path(neuron(start, _GAIN, normalize=True), samples, start, 10)
    rate = float(np.polyfit(np.arange(steps // 2, steps), np.log(grown[steps // 2 : -1]), 1)[0]) / _GAIN
    gaps = np.array([step_gap(samples[:single], start, eta) for eta in _GAINS])
    order = float(np.polyfit(np.log(_GAINS[:3]), np.log(gaps[:3]), 1)[0])
    curves = {
        "Hebb": (np.arange(steps + 1), grown),
        "Oja": (times, np.linalg.norm(oja, axis=1)),
        "Hebb, normalised each step": (times, np.linalg.norm(normal, axis=1)),
    }
    spread = float(np.max(np.abs(np.linalg.norm(oja[len(oja) // 2 :], axis=1) - 1.0)))
    return Outcome(
        {"hebb_and_oja": Drawing(_draw(curves, gaps), _CAPTION)},
        (
            claim("|w| under Hebb's rule at the end", "unbounded", float(grown[-1]), bool(grown[-1] > 100)),
            number(
                "its growth per step, divided by the gain",
                float(EIGENVALUES[0]),
                rate,
                within=0.3,
                note="the notes only say unbounded; lambda_1 is what the averaged rule grows with",
            ),
            claim("| |w| - 1 | under Oja's rule, second half, largest", "stays near 0", spread, spread < 0.3),
            number("order in the gain of one step's gap", 2.0, order, within=0.1),
        ),
    )


_CAPTION = (
    "Left: the length of the weight vector while the neuron learns: Hebb's rule explodes (logarithmic scale), the two "
    "others stay at one. Right: distance between one step of Oja's rule and one normalised step, against the gain: a "
    "line of slope 2."
)


def _draw(curves: Any, gaps: Any) -> Any:
    figure, (left, right) = panels(
        [
            ("Without normalisation weights explode", "samples read", "|w|"),
            ("Oja's rule is right to first order", "gain", "distance after one step"),
        ]
    )
    lines(left, curves, log_y=True)
    slope = {"measured": (_GAINS, gaps), "proportional to gain squared": (_GAINS, gaps[0] * (_GAINS / _GAINS[0]) ** 2)}
    lines(right, slope, log_x=True, log_y=True)
    return figure


EXPERIMENT = Experiment(
    name="hebb_and_oja",
    title="why Hebb's rule needs Oja's normalisation",
    items=("Claim 4", "Claim 5"),
    run=run,
    paper_did="Calls Hebb's rule unbounded, normalises it, and expands the normalisation in the gain; Oja's rule is "
    "what is left when squares of the gain are dropped. No numbers.",
    we_do="Runs the three rules on the same Gaussian samples (four features, eigenvalues 1, 0.6, 0.35, 0.15), and "
    "compares single steps of Oja's rule and of the normalised rule over a hundredfold range of gains.",
    open_choices=("Samples, their eigenvalues, the start and the gain (0.01).",),
    differences=(
        "The notes say that the denominator becomes 1 - eta y^2; it is 1 + eta y^2, and 1 - eta y^2 is its reciprocal, "
        "which their next line uses.",
    ),
    scales={
        "full": {"steps": 4000, "single_steps": 100},
        "quick": {"steps": 1500, "single_steps": 20},
        "tiny": {"steps": 800, "single_steps": 3},
    },
)
