"""Claims 6 and 7: the modes of the weights under Oja's rule, and its Lyapunov function."""

from typing import Any

import numpy as np

from mercer import plots
from papers.comparison import claim, number
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.lecture_notes._neuron import EIGENVALUES, axes_and_samples, neuron, path

_GAIN = 0.002
_EVERY = 20
_START = np.array([0.15, 0.45, 0.5, 0.55])  # nearly orthogonal to the first axis


def decay(theta: Any, times: Any, k: int) -> float:
    """Return the rate at which |theta_k / theta_1| falls, in units of the gain, while it is well above the noise."""
    ratio = np.abs(theta[:, k] / theta[:, 0])
    low = np.flatnonzero(ratio < 0.15 * ratio[0])
    last = max(int(low[0]) if len(low) else len(ratio), 3)
    return -float(np.polyfit(_GAIN * times[:last], np.log(ratio[:last]), 1)[0])


def run(given: Run) -> Outcome:
    """Run one neuron for the figure, and several for the rates."""
    steps, runs = given.settings["steps"], given.settings["runs"]
    rates, ends = [], []
    drawing = None
    for seed in range(3, 3 + runs):
        given.tell(f"neuron {seed - 2} of {runs}")
        axes, samples = axes_and_samples(steps, seed)
        start = _START @ axes.T
        times, weights = path(neuron(start, _GAIN), samples, start, _EVERY)
        theta = weights @ axes
        rates.append([decay(theta, times, k) for k in range(1, 4)])
        ends.append(theta[-1])
        if drawing is None:
            drawing = Drawing(plots.mode_decay(weights, times, EIGENVALUES, axes, _GAIN), _CAPTION)
            lyapunov = (theta[:, 0] ** 2 - 1.0) ** 2
    middle, last = np.median(rates, axis=0), np.median(np.abs(ends), axis=0)
    assert drawing is not None
    lines = [
        number(
            f"rate of mode {k + 1}, median of {runs} runs",
            float(EIGENVALUES[0] - EIGENVALUES[k]),
            float(middle[k - 1]),
            within=0.1,
        )
        for k in range(1, 4)
    ]
    lines += [
        claim("|theta_1| at the end, median", "converges to 1", float(last[0]), abs(last[0] - 1.0) < 0.05),
        claim(
            "largest other |theta_k| at the end, median",
            "converges to 0",
            float(last[1:].max()),
            last[1:].max() < 0.1,
            note="a constant gain leaves noise of the size of its square root",
        ),
        claim(
            "V at the start and at the end of the run drawn",
            "falls to 0",
            f"{lyapunov[0]:.3f}, {lyapunov[-1]:.4f}",
            bool(lyapunov[-1] < 0.02 * lyapunov[0]),
        ),
        claim(
            "V along the differential equation from a long start, |w| = 2",
            "falls at all times",
            *_long_start(),
            note="see where we differ",
        ),
    ]
    return Outcome({"modes": drawing}, tuple(lines))


def _long_start() -> tuple[str, bool]:
    """Integrate d theta / dt from a long vector off the first axis; say what V does, and whether it only falls."""
    theta, time = np.array([0.5, 1.9, 0.3, 0.2]), 1e-3
    values = []
    for _ in range(5000):
        values.append(float((theta[0] ** 2 - 1.0) ** 2))
        theta = theta + time * theta * (EIGENVALUES - EIGENVALUES @ theta**2)
    falls = max(values) <= values[0]
    return ("falls" if falls else f"rises from {values[0]:.2f} to {max(values):.2f}, then falls"), falls


_CAPTION = (
    "One neuron, learning from random samples (solid), and the differential equation of the notes (dashed). Left: "
    "modes 2 to 4 relative to the first, which fall exponentially until the noise of the samples. Right: the Lyapunov "
    "function."
)

EXPERIMENT = Experiment(
    name="modes",
    title="all modes except the first decay",
    items=("Claim 6", "Claim 7"),
    run=run,
    paper_did="Averages Oja's rule to a differential equation for the modes theta_k, shows that theta_k / theta_1 "
    "falls as exp(-(lambda_1 - lambda_k) t), and that V = (theta_1^2 - 1)^2 decreases. No numbers.",
    we_do="Lets HebbianPCA learn from Gaussian samples with known eigenvalues and a small constant gain, fits the "
    "rates of the three smaller modes, and follows V.",
    open_choices=("Eigenvalues 1, 0.6, 0.35, 0.15; gain 0.002; a start that lies mostly in the wrong directions.",),
    differences=(
        "dV/dt = -4 lambda_1 theta_1^2 (theta_1^2 - 1)^2 drops the other modes, so it holds only once these have "
        "died. Before, V can rise: from a weight vector longer than one that hardly points along the first axis, "
        "theta_1 shrinks first. From |w| <= 1, where every sum lambda_l theta_l^2 is at most lambda_1, V does fall at "
        "all times.",
    ),
    scales={
        "full": {"steps": 6000, "runs": 20},
        "quick": {"steps": 6000, "runs": 5},
        "tiny": {"steps": 3000, "runs": 1},
    },
)
