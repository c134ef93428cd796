"""Figure 2: how much of the clean variation is explained when rows are corrupted, linear kernel."""

from typing import Any

import numpy as np

from papers.comparison import Comparison, claim, number, reading
from papers.drawing import lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.kim2019 import _corrupted
from papers.kim2019._methods import ROBUST

_KERNEL = {"kernel": "linear"}
_PAPER = {"Algorithm 1": 95.0, "KPCA-L1": 94.0, "L1-KPCA": 93.0, "R1-KPCA": 96.0}  # "around", where L2 is about 90
_AT = 15  # the share of corrupted rows that sets the noise of the left panel


def run(given: Run) -> Outcome:
    """Measure all methods with the size of noise that suits each share, with one size for all, and with other noise."""
    found = {
        "L2 at 90 %": _corrupted.curves(given, "L2 at 90 %", _KERNEL),
        "same noise": _corrupted.curves(given, "same noise", _KERNEL, _size(given, one_sign=False)),
        "one sign": _corrupted.curves(given, "one sign", _KERNEL, _size(given, one_sign=True), one_sign=True),
    }
    shares = given.settings["shares"]
    return Outcome({"figure2": Drawing(_draw(shares, found), _CAPTION)}, tuple(_table(shares, found)))


def _size(given: Run, one_sign: bool) -> float:
    def compute() -> dict[str, Any]:
        cases = [_corrupted.case(given.settings["rows"], _AT, number, one_sign) for number in (0, 1)]
        return {"size": _corrupted.noise_size(cases, _KERNEL)}

    return float(given.stage(f"size of the noise{', one sign' if one_sign else ''}", compute)["size"])


def _table(shares: Any, panel: dict[str, Any]) -> list[Comparison]:
    suited, same = panel["L2 at 90 %"], panel["same noise"]
    table = [
        number(
            f"{name}, mean over r, where L2-KPCA explains 90 %",
            value,
            float(np.mean(suited[name])),
            within=1.0,
            best="high",
        )
        for name, value in _PAPER.items()
    ]
    for label, found in panel.items():
        above = [name for name in ROBUST if np.all(found[name] > found["L2-KPCA"])]
        least = min(float(np.min(found[name] - found["L2-KPCA"])) for name in ROBUST)
        table.append(
            claim(
                f"{label}: the four robust methods above L2-KPCA at every r",
                "all four",
                f"{len(above)} of 4; smallest lead {least:.2f}",
                len(above) == 4,
            )
        )
        others = np.max([values for name, values in found.items() if name != "R1-KPCA"], axis=0)
        wins = int(np.sum(found["R1-KPCA"] > others))
        table.append(
            claim(f"{label}: R1-KPCA is best", "for all values of r", f"{wins} of {len(shares)}", wins == len(shares))
        )
    for rival, lead in (("KPCA-L1", 1.0), ("L1-KPCA", 2.0)):
        gaps = suited["Algorithm 1"] - suited[rival]
        ahead = f"ahead at {int(np.sum(gaps > 0))} of {len(shares)} shares"
        ours = float(gaps.mean())
        table.append(number(f"lead of Algorithm 1 over {rival}, mean over r", lead, ours, within=1.0, note=ahead))
    falls = [name for name, values in same.items() if values[-1] < values[0]]
    table.append(
        claim("same noise: less is explained as r grows", "for all methods", f"{len(falls)} of 5", len(falls) == 5)
    )
    table += [
        reading(f"same noise: {name} at r = {shares[0]} and {shares[-1]}", f"{values[0]:.2f}, {values[-1]:.2f}")
        for name, values in same.items()
    ]
    return table


_CAPTION = (
    "Variation of the clean rows along four components that were learned from corrupted ones, in per cent of the most "
    "that four directions explain. Left: noise of the size at which L2-KPCA explains 90 %, which is where the paper's "
    "curves lie. Middle: the same size at every r. Right: uniform noise of one sign in all entries of a corrupted row."
)
_TITLES = {
    "L2 at 90 %": "Noise at which L2 explains 90 %",
    "same noise": "Same size at every r",
    "one sign": "Same size, noise of one sign",
}


def _draw(shares: Any, found: dict[str, Any]) -> Any:
    titles = [(_TITLES[name], "corrupted rows, %", "total explained variation, %") for name in found]
    figure, axes = panels(titles, width=4.6)
    for panel, one in zip(axes, found.values(), strict=True):
        lines(panel, {name: (shares, values) for name, values in one.items()})
    return figure


EXPERIMENT = Experiment(
    name="figure2",
    title="robust extraction of components, linear kernel",
    items=("Figure 2",),
    run=run,
    paper_did=_corrupted.PAPER_DID + "Linear kernel: about 90 % for L2-KPCA; around 96, 95, 94 and 93 for R1-KPCA, "
    "Algorithm 1, KPCA-L1 and L1-KPCA. Less with growing r, the gaps remaining the same.",
    we_do="Data of the same kind, with the size of noise at which L2-KPCA explains 90 % at every r; with one size for "
    "all r, at which it explains 90 % at r = 15; and so with noise of another kind. "
    "mercer.metrics.total_explained_variation is (27).",
    open_choices=_corrupted.OPEN_CHOICES,
    differences=(
        "Which method is ahead depends on the noise. That of one sign moves the mean and turns all methods alike: "
        "the L1 methods then have little or no lead over L2-KPCA, and may fall behind it.",
        "With one size of noise the gaps grow with r; they stay the same only if the noise becomes smaller as r grows.",
        "The three L1 methods climb in the same way from different starts, so their ends are near to each other: here "
        "Algorithm 1 leads by less than in the paper, because the other two are better than there.",
        "R1-KPCA takes the median distance as its border between near and far rows, and is nearly unharmed.",
    ),
    scales={
        "full": {"rows": 1000, "instances": 10, "shares": [5, 10, 15, 20, 25, 30]},
        "quick": {"rows": 1000, "instances": 2, "shares": [5, 10, 15, 20, 25, 30]},
        "tiny": {"rows": 100, "instances": 1, "shares": [10, 30]},
    },
)
