"""Tables 1 and 2: twelve detectors on six data sets."""

from functools import partial
from typing import Any

import numpy as np

from mercer import KernelOutlierDetector
from papers.comparison import Comparison, claim, number, reading
from papers.drawing import COLOURS, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.kim2019 import _detection
from papers.kim2019._detection import KERNELS, PRESETS, TITLES
from papers.kim2019._methods import METHODS

_ALONE = tuple(_detection.PEERS)
MODELS = (*((kernel, method) for kernel in KERNELS for method in METHODS), *(("", peer) for peer in _ALONE))
_NONE = float("nan")  # not finished within 24 hours
PAPER = {  # by MODELS
    "wbc": (0.5208, 0.5288, 0.5320, 0.4658, 0.4798, 0.5292, 0.5340, 0.5337, 0.5072, 0.5224, 0.3451, 0.5525),
    "ionosphere": (0.6625, 0.7319, 0.6834, 0.7642, 0.7057, 0.7238, 0.6806, 0.6887, 0.7041, 0.6992, 0.7032, 0.7067),
    "breastw": (0.9250, 0.9125, 0.9218, 0.9269, 0.9152, 0.9428, 0.9287, 0.9354, 0.9521, 0.9309, 0.3750, 0.9513),
    "cardio": (0.5790, 0.5551, 0.5799, 0.4265, 0.5066, 0.6096, 0.5752, 0.5963, 0.5116, 0.4664, 0.1921, 0.5114),
    "musk": (0.9947, 0.9947, 0.9947, 0.8055, 0.9358, 0.9947, 0.9947, 0.9947, 0.9916, 0.9947, 0.0925, 0.7596),
    "odds_mnist": (0.3985, 0.4002, _NONE, _NONE, 0.3914, 0.3966, 0.3913, _NONE, _NONE, 0.3639, 0.1924, 0.3380),
}
_NAIVE, _NEAREST = PRESETS
_NEAR = 0.01  # areas that differ by no more than this count as equal
Found = dict[str, dict[str, Any]]  # by preset and data set: areas by MODELS, nan where not run


def run(given: Run) -> Outcome:
    """Measure every model on every data set, with two preprocessings, and Mercer's own detector beside them."""
    found: Found = {preset: {} for preset in PRESETS}
    table: list[Comparison] = []
    defaults = {}
    for name in given.settings["sets"]:
        Z, y = _detection.standardised(given, name)
        table.append(_sizes(name, Z, y))
        for preset in PRESETS:
            found[preset][name] = _areas(given, name, Z, y, preset)
        defaults[name] = float(given.stage(f"{name}, detector", partial(_default, Z, y))["area"])
    table += [line for name in found[_NAIVE] for line in _lines(name, found)]
    table += [*_claims(found[_NAIVE]), *_nearness(found)]
    table += [
        reading(
            f"{TITLES[name]}: KernelOutlierDetector, all defaults",
            value,
            note="T2, SPE and Mahalanobis distance together",
        )
        for name, value in defaults.items()
    ]
    return Outcome({"table2": Drawing(_draw(found[_NAIVE], defaults), _CAPTION)}, tuple(table))


def _areas(given: Run, name: str, Z: Any, y: Any, preset: str) -> Any:
    """Return the areas by MODELS; nan for those that these settings leave out."""
    areas = np.full(len(MODELS), _NONE)
    few = name in given.settings["few"]
    if preset == _NEAREST and given.settings["nearest"] == "few":
        if few:
            return areas
        few = True
    for position, (kernel, method) in enumerate(MODELS):
        if method in _ALONE:
            compute = partial(_peer, method, Z, y, given.settings["rounds"])
            label = f"{name}, {method}"
        elif few and method not in ("Algorithm 1", "L2-KPCA"):
            continue
        else:
            compute = partial(_kernel_pca, method, Z, y, kernel, preset)
            label = f"{name}, {kernel}, {method}, {preset}"
        areas[position] = given.stage(label, compute)["area"]
    return areas


def _kernel_pca(method: str, Z: Any, y: Any, kernel: str, preset: str) -> dict[str, Any]:
    scores = _detection.training_scores(method, Z, kernel, **PRESETS[preset])
    return {"area": _detection.area(y, _detection.t2(scores))}


def _peer(name: str, Z: Any, y: Any, rounds: int) -> dict[str, Any]:
    return {"area": _detection.PEERS[name](Z, y, rounds)}


def _default(Z: Any, y: Any) -> dict[str, Any]:
    return {"area": _detection.area(y, -KernelOutlierDetector(random_state=0).fit(Z).score_samples(Z))}


# -- the table -----------------------------------------------------------------------------------------------------


def _label(kernel: str, method: str) -> str:
    return f"{KERNELS[kernel]} {method}" if kernel else method


def _sizes(name: str, Z: Any, y: Any) -> Comparison:
    ours, paper = (*Z.shape, int(y.sum())), _detection.SIZES[name]
    note = "5.6 % of the rows; the paper prints 7.6 %" if name == "wbc" else ""
    text = ", ".join(map(str, ours))
    wanted = ", ".join(map(str, paper))
    return claim(f"Table 1, {TITLES[name]}: samples, features, outliers", wanted, text, ours == paper, note)


def _lines(name: str, found: Found) -> list[Comparison]:
    ours, nearest = found[_NAIVE][name], found[_NEAREST][name]
    table = []
    for (kernel, method), paper, value, other in zip(MODELS, PAPER[name], ours, nearest, strict=True):
        quantity = f"{TITLES[name]}: {_label(kernel, method)}"
        if np.isnan(value):
            continue
        if np.isnan(paper):
            table.append(reading(quantity, float(value), note="not finished in 24 hours in the paper"))
            continue
        gap = f"{_NEAREST}: {other:.4f} ({other - paper:+.4f})" if kernel and not np.isnan(other) else ""
        table.append(number(quantity, paper, float(value), within=_NEAR, best="high", note=gap))
    return table


def _claims(found: dict[str, Any]) -> list[Comparison]:
    ours = MODELS.index(("rbf", "Algorithm 1"))
    top = [name for name, areas in found.items() if areas[ours] >= np.nanmax(areas) - 2 * _NEAR]
    lof = [name for name, areas in found.items() if areas[-2] >= np.nanmax(areas)]
    losses = [name for name, areas in found.items() if areas[-1] < areas[ours]]
    l2 = MODELS.index(("rbf", "L2-KPCA"))
    above = [name for name, areas in found.items() if areas[ours] >= areas[l2] - _NEAR]
    count = len(found)
    return [
        claim(
            "Gaussian Algorithm 1 at the top or within .02 of it",
            "consistently achieves top values",
            f"{len(top)} of {count}",
            len(top) == count,
            note=", ".join(TITLES[name] for name in top),
        ),
        claim(
            "Gaussian Algorithm 1 not below Gaussian L2-KPCA, by more than .01",
            "on all sets",
            f"{len(above)} of {count}",
            len(above) == count,
        ),
        claim("LOF at the top", "never", f"{len(lof)} of {count}", not lof),
        claim(
            "iForest below Gaussian Algorithm 1",
            "on Musk and MNIST",
            ", ".join(TITLES[name] for name in losses) or "nowhere",
            all(name in losses for name in found if name in ("musk", "odds_mnist")),
        ),
    ]


def _nearness(found: Found) -> list[Comparison]:
    """Give the mean distance from the paper, of Algorithm 1 and L2-KPCA, which all settings run."""
    chosen = [k for k, (_, method) in enumerate(MODELS) if method in ("Algorithm 1", "L2-KPCA")]
    both = [name for name, areas in found[_NEAREST].items() if not np.isnan(areas[chosen]).any()]
    return [
        reading(
            f"mean |difference| from the paper, Algorithm 1 and L2-KPCA, {preset}",
            float(np.mean([np.abs(sets[name] - PAPER[name])[chosen] for name in both])),
            note=", ".join(TITLES[name] for name in both),
        )
        for preset, sets in found.items()
    ]


# -- the figure ----------------------------------------------------------------------------------------------------

_CAPTION = (
    "Area under the precision-recall curve: rings from the paper, dots ours with standardised features, centred. "
    "Dashed: KernelOutlierDetector with all defaults. 1 to 5: Algorithm 1, KPCA-L1, L1-KPCA, R1-KPCA, L2-KPCA with the "
    "linear kernel; 6 to 10 with the Gaussian; 11 LOF; 12 isolation forest."
)


def _draw(found: dict[str, Any], defaults: dict[str, float]) -> Any:
    titles = [(TITLES[name], "model", "area") for name in found]
    figure, axes = panels(titles, columns=min(3, len(titles)), width=4.2, height=2.9)
    x = np.arange(1, len(MODELS) + 1)
    for panel, (name, areas) in zip(axes, found.items(), strict=True):
        panel.axhline(defaults[name], color=COLOURS[-1], linestyle="--", linewidth=0.9)
        panel.plot(x, PAPER[name], "o", markerfacecolor="none", color=COLOURS[1], markersize=7, label="paper")
        panel.plot(x, areas, "o", color=COLOURS[0], markersize=4, label="ours")
        for border in (5.5, 10.5):
            panel.axvline(border, color="#dddddd", linewidth=0.8)
        panel.set_xticks(x)
    axes[0].legend(frameon=False, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    name="table2",
    title="outlier detection on six data sets",
    items=("Table 1", "Table 2"),
    run=run,
    paper_did="Six data sets of UCI and ODDS. Rule (28): squared distance from the mean in units of the variances, "
    "over the components of largest variance that hold 80 % of that of the first d. Linear kernel, and Gaussian with "
    "sigma = d; five kernel methods, LOF with 10 neighbours, isolation forests with 100 trees, 256 rows and 10 rounds. "
    "Area under the precision-recall curve, fitted and evaluated on all rows.",
    we_do="The same on the same data (ODDS), features standardised and kernels centred; the notes give the values of "
    "the preprocessing that comes nearest to the paper's numbers. Beside them KernelOutlierDetector with all defaults. "
    "Quick size: for Musk and MNIST only Algorithm 1 and L2-KPCA, with one preprocessing, and fewer rounds of "
    "isolation forests.",
    open_choices=(
        "Centring is not mentioned: the paper assumes standardised features, not kernels that are centred. Of 64 "
        "preprocessings (scaling, centring, meaning of sigma, share of variance) the nearest to the paper's numbers "
        "is: standardised, not centred, exp(-|x - y|^2 / d^2). It is nearer by .001 in the mean: none explains them.",
        "The area is taken by the trapezoidal rule, over recall.",
        "Which features and rows LOF and isolation forests saw: here the standardised ones.",
    ),
    differences=(
        "The areas on Ionosphere are well above the paper by any preprocessing that we tried, for all models, LOF and "
        "isolation forests among them: it seems that the paper's data were not these.",
        "R1-KPCA with as many components as features leaves nothing of the rows with the linear kernel, so that its "
        "components, sorted by variance, are those of L2-KPCA. In the paper they differ; how it orders or stops is not "
        "said.",
        "Table 1 prints 7.6 % for WBC; 21 of 378 are 5.6 %.",
    ),
    data=tuple(TITLES),
    scales={
        "full": {"sets": list(TITLES), "few": [], "nearest": "all", "rounds": 10, "rows": None},
        "quick": {"sets": list(TITLES), "few": ["musk", "odds_mnist"], "nearest": "few", "rounds": 3, "rows": None},
        "tiny": {"sets": ["wbc"], "few": [], "nearest": "few", "rounds": 1, "rows": 150},
    },
)
