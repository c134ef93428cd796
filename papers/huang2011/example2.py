"""Figures 2 to 4 and Table 1: speech curves, some of them shifted, learned in one pass."""

from functools import partial
from typing import Any

import numpy as np

from mercer import KernelPCA, OnlineRobustKernelPCA, plots
from papers.comparison import claim, number
from papers.drawing import lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.huang2011._measures import cosines, diverges, followed, to_the_letter

_PAPER = {"robust": (0.9726, 0.9648, 0.9588), "plain": (0.5988, 0.1068, 0.0378)}
_BAD = np.arange(10, 400, 20)
_TIMES = np.arange(10, 401, 10)
_BETA, _XI = 0.002, 2.0  # the paper's, of psi_2


def phonemes(curves: Any, seed: int) -> tuple[Any, Any]:
    """Return the 400 curves of `sh` in random order, and the same with every twentieth shifted."""
    rng = np.random.default_rng(seed)
    X = curves[rng.permutation(400)]
    C, t = X.copy(), (np.arange(150) + 0.5) / 150
    C[_BAD] += 5 * np.cos(2 * np.pi * t) + 3 * rng.uniform(size=(20, 150))
    return X, C


def one_seed(curves: Any, seed: int) -> dict[str, Any]:
    """Return |cos| over time of three components, robust and not, the weights, and the components as curves."""
    X, C = phonemes(curves, seed)
    truth = KernelPCA(3, kernel="linear").fit(X)
    found: dict[str, Any] = {"truth curves": truth.expansion_.coef @ truth.expansion_.points}
    for name, psi in (("robust", "logistic"), ("plain", "none")):
        model = OnlineRobustKernelPCA(3, kernel="linear", psi=psi, landmarks=C)
        found[name] = followed(model, C, _TIMES, lambda now: cosines(now, truth))
        found[f"{name} curves"] = model.expansion_.coef @ model.expansion_.points
    short = OnlineRobustKernelPCA(3, kernel="linear", landmarks=C, warm_up=9).fit(C)
    found["short"] = cosines(short, truth)
    found["weights"] = OnlineRobustKernelPCA(3, kernel="linear", landmarks=C).fit(C).weights_
    return found


def letter(curves: Any, seed: int, **psi: Any) -> tuple[bool, int]:
    """Tell whether Algorithm 1 as printed overflows, and how many curves have any weight in it."""
    C = phonemes(curves, seed)[1]
    model = to_the_letter(C, 0.01 * np.eye(400, 3), kernel="linear", **psi)
    return diverges(model, C), int((model.weights_ > 1e-6).sum())


def run(given: Run) -> Outcome:
    """Repeat the example with several draws; draw the first."""
    data, draws = given.load("phoneme"), given.settings["draws"]
    curves = data.X[data.y == 1]
    found = [given.stage(f"draw {seed + 1} of {draws}", partial(one_seed, curves, seed)) for seed in range(draws)]
    last = {name: np.median([one[name][-1] for one in found], axis=0) for name in _PAPER}
    worst = np.min([one["robust"][-1] for one in found], axis=0)
    table = [
        number(
            f"{_LABELS[name]}, |cos| of component {k + 1}, median of {draws} draws",
            _PAPER[name][k],
            float(last[name][k]),
            within=0.005 if name == "robust" else 0.1,
            best="high" if name == "robust" else None,
        )
        for name in _PAPER
        for k in range(3)
    ]
    low = [int((one["weights"][_BAD] < 0.5).sum()) for one in found]
    table.append(
        claim(
            f"contaminated curves with a weight below one half, median of {draws} draws",
            "their weights are low",
            f"{np.median(low):.0f} of 20",
            bool(np.median(low) >= 18),
        )
    )
    given.tell("Algorithm 1 as printed")
    weighted = [letter(curves, seed, psi="logistic", beta=_BETA, xi=_XI) for seed in range(draws)]
    lost = sum(letter(curves, seed, psi="none")[0] for seed in range(draws))
    short = np.median([one["short"] for one in found], axis=0)
    remarks = (
        f"With a robust start from 9 curves instead of 60 the medians are {_listed(short)}.",
        f"Worst draw of the robust run: {_listed(worst)}.",
        "Algorithm 1 as printed, on the curves as published, from mean 0 and 0.01 times the identity: without "
        f"weights it overflows in {lost} of {draws} draws, since a gain of 1/t is too large for "
        "kernel values of this size; with the paper's beta = 0.002 and xi = 2 it diverges in "
        f"{sum(one for one, _ in weighted)}, but the median number of curves with a weight above 1e-6 is "
        f"{np.median([count for _, count in weighted]):.0f} of 400, so it learns almost nothing. The paper's run "
        "must have differed from its text in scale, start or gain.",
    )
    return Outcome(_drawings(found[0]), tuple(table), remarks)


def _listed(values: Any) -> str:
    return ", ".join(f"{value:.4f}" for value in values)


_LABELS = {"robust": "iterative rKPCA", "plain": "iterative KPCA"}


def _drawings(one: Any) -> dict[str, Drawing]:
    paths = {_LABELS[name]: one[name] for name in _PAPER}
    title = "Phoneme `sh`, 5 % contaminated: nearness to the components of the clean curves"
    return {
        "figure2": Drawing(
            plots.cosine_paths(paths, _TIMES, outliers=_BAD, title=title),
            "|cos| with the three components of the clean curves while curves are read; ticks at the foot mark the "
            "contaminated ones.",
        ),
        "figure3": Drawing(
            plots.sample_weights(one["weights"], _BAD), "The weight of each curve in the order of reading."
        ),
        "figure4": Drawing(
            _principal_curves(one),
            "The three leading components as curves over frequency: those of the clean data, and those learned in one "
            "pass from the contaminated data with and without robustness. Signs are aligned.",
        ),
    }


def _principal_curves(one: Any) -> Any:
    figure, axes = panels(
        [(f"component {k + 1}", "frequency", "loading" if k == 0 else "") for k in range(3)], width=4.2
    )
    truth = one["truth curves"]
    for k, panel in enumerate(axes):
        curves = {"batch KPCA, clean": truth[k]}
        for name, label in _LABELS.items():
            curve = one[f"{name} curves"][k]
            curves[f"{label}, 5 % bad"] = curve * (1.0 if curve @ truth[k] >= 0 else -1.0)
        lines(panel, {label: (np.arange(150), curve) for label, curve in curves.items()})
        if k:
            panel.get_legend().remove()
    return figure


EXPERIMENT = Experiment(
    name="example2",
    title="phoneme curves, 5 % contaminated",
    items=("Figure 2", "Figure 3", "Figure 4", "Table 1"),
    run=run,
    paper_did="400 log-periodograms of `sh`; 20 get 5 cos(2 pi t) + 3 uniform noise added, placed equally in the "
    "sequence; three components, psi_2 with (beta, xi) = (0.002, 2). Table 1 gives |cos| with the clean components.",
    we_do="The same data and contamination. OnlineRobustKernelPCA with its defaults (its own beta and xi) reads the "
    "curves once, and once more without weights. Medians over draws of order and noise.",
    open_choices=(
        "The kernel is not named; curves are compared as functions and Figure 4 shows principal curves, so it is "
        "linear.",
        "Noise is drawn separately for every frequency; which curves are contaminated changes with the draw.",
        "The paper writes (beta, eta) where its psi_2 has (beta, xi).",
    ),
    differences=(
        "Instead of one fixed (beta, xi), whose scale the paper leaves open, both follow the residuals, and the first "
        "60 curves are learned together by a robust start. With a start from 9 curves the result is near the paper's, "
        "so much of the gain comes from there.",
        "Without robustness Mercer's update ends at the components of batch kernel PCA of the contaminated curves "
        "(|cos| 1.0000), and these are as near to the clean ones as the table says. The paper's smaller values for "
        "components 2 and 3 are therefore not what contamination alone does; they cannot be explained from its text.",
    ),
    data=("phoneme",),
    scales={"full": {"draws": 20}, "quick": {"draws": 7}, "tiny": {"draws": 1}},
)
