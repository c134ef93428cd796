"""Claims 8 and 9: with gains 1/n the neuron finds the first eigenvector, and its output's variance the eigenvalue."""

from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from papers.comparison import claim, number
from papers.drawing import lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.lecture_notes._neuron import neuron

_WINDOW = 500


def stream(n: int, seed: int) -> tuple[Any, Any, float]:
    """Return n rows drawn from iris, centred, with mean square one; its first axis and eigenvalue."""
    X = load_iris(return_X_y=True)[0]
    X = X - X.mean(axis=0)
    X = X / np.sqrt((X**2).sum(axis=1).mean())
    values, axes = np.linalg.eigh(X.T @ X / len(X))
    return X[np.random.default_rng(seed).integers(len(X), size=n)], axes[:, -1], float(values[-1])


def learn(samples: Any, first: Any, times: Any, seed: int, **gain: Any) -> Any:
    """Return sin^2 of the angle to the first axis at all times, and the outputs y."""
    start = np.random.default_rng(seed).standard_normal(samples.shape[1])
    model = neuron(start / np.linalg.norm(start), **gain)
    angles, outputs, before = [], [], 0
    for now in times:
        model.partial_fit(samples[before:now])
        w = model.components_[0]
        angles.append(1.0 - (w @ first) ** 2 / (w @ w))
        outputs.append(samples[before:now] @ w)
        before = now
    return np.array(angles), np.concatenate(outputs)


def run(given: Run) -> Outcome:
    """Learn with falling and with constant gains."""
    n, runs = given.settings["steps"], given.settings["runs"]
    times = np.unique(np.geomspace(10, n, 40).astype(int))
    gains: dict[str, dict[str, Any]] = {
        "gain 1/n": {"eta": 1.0, "gain": "t", "length": 1},
        "constant 0.1": {"eta": 0.1},
        "constant 0.01": {"eta": 0.01},
    }
    angles: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    for name, gain in gains.items():
        given.tell(name)
        found = []
        for seed in range(runs):
            samples, first, value = stream(n, seed)
            found.append(learn(samples, first, times, seed, **gain))
        angles[name] = np.median([angle for angle, _ in found], axis=0)
        outputs[name] = found[0][1]
    variance = np.convolve(outputs["gain 1/n"] ** 2, np.full(_WINDOW, 1.0 / _WINDOW), mode="valid")
    late = float(np.mean(outputs["gain 1/n"][n // 2 :] ** 2))
    final = {name: float(angle[-1]) for name, angle in angles.items()}
    return Outcome(
        {"convergence": Drawing(_draw(times, angles, variance, value), _CAPTION)},
        (
            claim(
                "sin^2 of the angle to q_1 at the end, gain 1/n",
                "converges to 0",
                final["gain 1/n"],
                final["gain 1/n"] < 1e-2,
            ),
            claim(
                "the same, constant gain 0.1",
                "1/n needed to converge",
                final["constant 0.1"],
                final["constant 0.1"] > final["gain 1/n"],
            ),
            number(
                "variance of the output, second half",
                value,
                late,
                within=0.05 * value,
                note="in place of the paper's number: lambda_1 of the data",
            ),
        ),
    )


_CAPTION = (
    "Left: squared sine of the angle between the weights and the first eigenvector of the iris measurements (median "
    "of the runs); a constant gain stops at a level of noise, 1/n continues to fall. Right: mean of y^2 over the last "
    f"{_WINDOW} samples of one run, and the largest eigenvalue."
)


def _draw(times: Any, angles: Any, variance: Any, value: float) -> Any:
    figure, (left, right) = panels(
        [
            ("The weights find the first eigenvector", "samples read", "sin^2 of the angle"),
            ("The output's variance finds the eigenvalue", "samples read", "variance of y"),
        ]
    )
    lines(left, {name: (times, angle) for name, angle in angles.items()}, log_x=True, log_y=True)
    at = np.arange(_WINDOW, _WINDOW + len(variance))
    lines(right, {"variance of y": (at, variance), "largest eigenvalue": (at, np.full(len(at), value))})
    right.set_ylim(0, None)
    return figure


EXPERIMENT = Experiment(
    name="convergence",
    title="a single neuron is a maximum eigenfilter",
    items=("Claim 8", "Claim 9"),
    run=run,
    paper_did="Proves by the asymptotic stability theorem that with gains 1/n the weights converge to the first "
    "eigenvector and the output's variance to its eigenvalue. No numbers, and 'no idea how many iterations are "
    "needed'.",
    we_do="Draws rows of iris (centred, mean square one) at random, an endless stationary input, and lets HebbianPCA "
    "learn with gain 1/n and with constant gains.",
    open_choices=(
        "The data: iris, a real set with one dominant eigenvalue (0.92 of the total).",
        "The gain is 1/(n + 1), so that the first step is not of the size of the weights.",
    ),
    scales={
        "full": {"steps": 50_000, "runs": 10},
        "quick": {"steps": 20_000, "runs": 3},
        "tiny": {"steps": 3000, "runs": 1},
    },
)
