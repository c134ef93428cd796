"""Claim 1: one pass on a reduced kernel basis takes less time than the batch method."""

import time
from typing import Any

import numpy as np

from mercer import OnlineRobustKernelPCA, RobustKernelPCA
from papers.comparison import claim, reading
from papers.drawing import lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run

_LANDMARKS, _COMPONENTS, _FEATURES = 100, 5, 50


def stream(n: int) -> Any:
    """Return correlated Gaussian rows, one in a hundred of them shifted."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, _FEATURES)) @ rng.standard_normal((_FEATURES, _FEATURES)) / 7
    X[::100] += 5.0
    return X


def seconds(model: Any, X: Any) -> float:
    """Return the time of one fit."""
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


def run(given: Run) -> Outcome:
    """Time both methods as the number of rows grows."""
    sizes = np.array(given.settings["rows"])
    seconds(
        OnlineRobustKernelPCA(_COMPONENTS, gamma=0.02, landmarks=_LANDMARKS, random_state=0), stream(300)
    )  # compiles
    seconds(RobustKernelPCA(_COMPONENTS, gamma=0.02), stream(300))
    online, batch = [], []
    for n in sizes:
        given.tell(f"{n} rows")
        X = stream(n)
        online.append(seconds(OnlineRobustKernelPCA(_COMPONENTS, gamma=0.02, landmarks=_LANDMARKS, random_state=0), X))
        batch.append(seconds(RobustKernelPCA(_COMPONENTS, gamma=0.02), X))
    curves = {"one pass, 100 landmarks": (sizes, np.array(online)), "batch, all rows": (sizes, np.array(batch))}
    figure, (axes,) = panels([("Time to learn", "rows", "seconds")], width=6)
    lines(axes, curves, log_x=True, log_y=True)
    growth = {
        name: float(np.polyfit(np.log(sizes[-3:]), np.log(times[-3:]), 1)[0]) for name, (_, times) in curves.items()
    }
    ratio = batch[-1] / online[-1]
    table = (
        claim(f"batch / one pass, {sizes[-1]} rows", "one pass takes less time", float(ratio), bool(ratio > 1)),
        *(
            reading(f"exponent of growth, {name}", value, note="of the last three sizes")
            for name, value in growth.items()
        ),
    )
    return Outcome({"speed": Drawing(figure, "Seconds of one fit; both axes logarithmic.")}, table)


EXPERIMENT = Experiment(
    name="speed",
    title="one pass against batch",
    items=("Claim 1",),
    run=run,
    paper_did="States O(m (n + l^2)) for an iterative update against O(m^3) for batch kernel PCA, and that the "
    "proposed method takes less time. No times are given.",
    we_do="Times OnlineRobustKernelPCA on 100 landmarks and RobustKernelPCA on all rows, 50 features, five "
    "components, 1 % bad rows. Times depend on the machine; the ratio and the growth are what is claimed.",
    open_choices=("Data, sizes, number of landmarks.",),
    scales={
        "full": {"rows": [500, 1000, 2000, 4000, 8000]},
        "quick": {"rows": [500, 1000, 2000]},
        "tiny": {"rows": [200, 300, 400]},
    },
)
