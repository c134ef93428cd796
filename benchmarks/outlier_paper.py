"""[kim2019], section 6.2: Table 2, six data sets by twelve models, and the toy examples of Figures 4 to 7."""

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import auc, precision_recall_curve
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from benchmarks.measure import row
from mercer import KernelPCA, L1KernelPCA, R1KernelPCA, datasets
from mercer.apply.scores import score_model

METHODS: dict[str, Callable[..., Any]] = {
    "Algo 1": L1KernelPCA,
    "KPCA-L1": partial(L1KernelPCA, algorithm="projection_trick"),
    "L1-KPCA": partial(L1KernelPCA, algorithm="linear_system"),
    "R1-KPCA": R1KernelPCA,
    "L2-KPCA": KernelPCA,
}
_NONE = float("nan")
PAPER = {  # linear by METHODS, Gaussian by METHODS, LOF, iForest
    "wbc": (0.5208, 0.5288, 0.5320, 0.4658, 0.4798, 0.5292, 0.5340, 0.5337, 0.5072, 0.5224, 0.3451, 0.5525),
    "ionosphere": (0.6625, 0.7319, 0.6834, 0.7642, 0.7057, 0.7238, 0.6806, 0.6887, 0.7041, 0.6992, 0.7032, 0.7067),
    "breastw": (0.9250, 0.9125, 0.9218, 0.9269, 0.9152, 0.9428, 0.9287, 0.9354, 0.9521, 0.9309, 0.3750, 0.9513),
    "cardio": (0.5790, 0.5551, 0.5799, 0.4265, 0.5066, 0.6096, 0.5752, 0.5963, 0.5116, 0.4664, 0.1921, 0.5114),
    "musk": (0.9947, 0.9947, 0.9947, 0.8055, 0.9358, 0.9947, 0.9947, 0.9947, 0.9916, 0.9947, 0.0925, 0.7596),
    "odds_mnist": (0.3985, 0.4002, _NONE, _NONE, 0.3914, 0.3966, 0.3913, _NONE, _NONE, 0.3639, 0.1924, 0.3380),
}
SCALINGS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "standard": lambda X, y: StandardScaler().fit_transform(X),
    "minmax": lambda X, y: MinMaxScaler().fit_transform(X),
    "none": lambda X, y: X,
    "by inliers": lambda X, y: StandardScaler().fit(X[y == 0]).transform(X),
}
GAMMAS: dict[str, Callable[[int], float]] = {
    "1/(2 d^2)": lambda d: 1 / (2 * d * d),
    "1/d^2": lambda d: 1 / (d * d),
    "1/d": lambda d: 1 / d,
    "1/(2 d)": lambda d: 1 / (2 * d),
}
NAIVE: dict[str, Any] = {"scaling": "standard", "center": True, "gamma": "1/(2 d^2)", "explained": 0.8}
# The nearest of 64 preprocessings (`search`): mean distance .0447, against .0459 of the naive one; no real difference.
PRESETS: dict[str, dict[str, Any]] = {"naive": NAIVE, "paper": {**NAIVE, "center": False, "gamma": "1/d^2"}}


def area(y: np.ndarray, scores: np.ndarray) -> float:
    """Area under the precision-recall curve by the trapezoidal rule."""
    precision, recall, _ = precision_recall_curve(y, scores)
    return float(auc(recall, precision))


def rule_28(make: Callable[..., Any], Z: np.ndarray, kernel: str, preset: dict[str, Any]) -> np.ndarray:
    """T2 of all rows, by the components that hold 80 % of the variance of the first d."""
    d = Z.shape[1]
    warnings.filterwarnings("ignore", message=".*nothing of the data is left")  # constant features
    options: dict[str, Any] = {"kernel": kernel, "gamma": GAMMAS[preset["gamma"]](d)}
    if make is KernelPCA and not preset["center"]:
        return uncentred_l2(Z, options, preset["explained"])
    if make is not KernelPCA:
        options["center"] = preset["center"]
    model = make(min(d, len(Z) - 1), **options).fit(Z)
    return np.asarray(score_model(model.expansion_, preset["explained"], Z)(Z)[:, 0])


def uncentred_l2(Z: np.ndarray, options: dict[str, Any], explained: float) -> np.ndarray:
    """The same for eigenvectors of the kernel matrix as it is, which `KernelPCA` always centres."""
    from scipy.linalg import eigh

    from mercer.apply.scores import leading_components

    n, d = Z.shape
    K = Z @ Z.T if options["kernel"] == "linear" else _gauss(Z, options["gamma"])
    values, vectors = eigh(K, subset_by_index=[n - min(d, n), n - 1])
    Y = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1]
    variances = Y.var(axis=0, ddof=1)
    kept = leading_components(variances, explained)
    return np.asarray((((Y - Y.mean(axis=0)) ** 2)[:, kept] / variances[kept]).sum(axis=1))


def _gauss(Z: np.ndarray, gamma: float) -> np.ndarray:
    squares = (Z**2).sum(axis=1)
    return np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * Z @ Z.T, 0))


def peers(X: np.ndarray, y: np.ndarray) -> list[float]:
    """LOF with 10 neighbours, and the mean of ten isolation forests of 100 trees on 256 rows."""
    forests = [
        IsolationForest(n_estimators=100, max_samples=min(256, len(X)), random_state=i).fit(X) for i in range(10)
    ]
    lof = LocalOutlierFactor(10).fit(X)
    return [
        area(y, -lof.negative_outlier_factor_),
        float(np.mean([area(y, -forest.score_samples(X)) for forest in forests])),
    ]


def values_of(X: np.ndarray, y: np.ndarray, preset: dict[str, Any], slow: bool = True) -> Iterator[float]:
    Z = SCALINGS[preset["scaling"]](X, y)
    for kernel, name in product(("linear", "rbf"), METHODS):
        skipped = not slow and name in ("L1-KPCA", "R1-KPCA")
        yield _NONE if skipped else area(y, rule_28(METHODS[name], Z, kernel, preset))
    yield from peers(Z, y)


def table2(names: list[str]) -> None:
    """Print paper, ours and difference for both presets; `fast` leaves the two slowest rivals out."""
    from benchmarks.outlier import pyod_scores

    slow = "fast" not in names
    columns = [f"{k} {m}" for k in ("lin", "rbf") for m in METHODS]
    row("data", "preset", "", *columns, "LOF", "iForest")
    for name in [n for n in names if n in PAPER] or PAPER:
        found = datasets.load(name)
        X, y = found.X.astype(np.float64), found.y.astype(int)
        row(name, "", "paper", *PAPER[name])
        for label, preset in PRESETS.items():
            ours = np.array(list(values_of(X, y, preset, slow and len(X) < 7000)))
            row(name, label, "ours", *ours.round(4).tolist())
            row(name, label, "difference", *(ours - np.array(PAPER[name])).round(4).tolist())
        few = X if len(X) < 4000 else X[:4000]  # PyOD decomposes the whole matrix
        row(name, "PyOD KPCA", "defaults", area(y[: len(few)], pyod_scores(few)))


def search() -> None:
    """Mean distance from the paper's numbers for Algorithm 1 and L2, over preprocessings, best first."""
    names = ("wbc", "ionosphere", "breastw", "cardio")
    found = []
    for scaling, center, gamma, explained in product(SCALINGS, (True, False), GAMMAS, (0.8, 0.9)):
        preset = {"scaling": scaling, "center": center, "gamma": gamma, "explained": explained}
        gaps = []
        for name in names:
            data = datasets.load(name)
            X, y = data.X.astype(np.float64), data.y.astype(int)
            Z = SCALINGS[scaling](X, y)
            for position, (kernel, method) in enumerate(product(("linear", "rbf"), METHODS)):
                if method in ("Algo 1", "L2-KPCA"):
                    gaps.append(area(y, rule_28(METHODS[method], Z, kernel, preset)) - PAPER[name][position])
        found.append((float(np.abs(gaps).mean()), list(preset.values()), np.round(gaps, 3).tolist()))
    for gap, chosen, gaps in sorted(found, key=lambda entry: entry[0])[:12]:
        print(f"{gap:.4f}", chosen, gaps)


# -- toy examples ------------------------------------------------------------------------------------------------


def lines(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows along a line; two outliers by their size (1), six that leave the pattern (2) [Figure 4]."""
    t = rng.uniform(-2, 2, 60)
    normal = np.column_stack([t, 0.5 * t]) + 0.12 * rng.standard_normal((60, 2))
    far = np.array([[5.0, 2.5], [5.5, 2.9]])
    off = np.array([[-1.6, 1.5], [-1.2, 1.7], [-0.8, 1.4], [-1.4, 1.9], [-1.9, 1.2], [-1.0, 1.2]])
    return np.vstack([normal, far, off]), np.repeat([0, 1, 2], [60, 2, 6])


def spiral(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows along a spiral; outliers far outside (1) and between its arms (2) [Figure 6]."""
    t = rng.uniform(0.6 * np.pi, 3.4 * np.pi, 150)
    normal = np.column_stack([t * np.cos(t), t * np.sin(t)]) / 3 + 0.12 * rng.standard_normal((150, 2))
    far = np.array([[4.6, 4.4], [-4.6, -4.2]])
    s = np.array([1.2, 1.5, 1.8, 2.1, 2.4]) * np.pi
    off = np.column_stack([(s + np.pi) * np.cos(s), (s + np.pi) * np.sin(s)]) / 3
    return np.vstack([normal, far, off]), np.repeat([0, 1, 2], [150, 2, 5])


def figures(folder: str) -> None:
    """Write Figures 4 to 7 as PNG files, and print over 100 draws whether the L1 norm hides fewer outliers than L2.

    The paper gives neither its points nor its kernel width, so these are points of the same kind, drawn with one seed
    and not selected for the outcome. Width: of gamma .005 to .2 one of those at which the far outliers stay outside.
    """
    from mercer import plots

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    examples = (
        ("linear", lines, {"kernel": "linear"}, (4, 5)),
        ("spiral", spiral, {"kernel": "rbf", "gamma": 0.02}, (6, 7)),
    )
    for name, make, kernel, (original, principal) in examples:
        X, y, models = _toy(make, kernel, 3, METHODS)
        plots.input_space(X, y, models).savefig(target / f"figure{original}_{name}.png", dpi=110)
        plots.principal_spaces(models, X, y).savefig(target / f"figure{principal}_{name}.png", dpi=110)
        gaps = []
        for seed in range(100):
            X, y, models = _toy(make, kernel, seed, {key: METHODS[key] for key in ("Algo 1", "L2-KPCA")})
            hidden = [_hidden(model, X, y) for model in models.values()]
            gaps.append(hidden[0] - hidden[1])
        fewer, more = sum(gap < 0 for gap in gaps), sum(gap > 0 for gap in gaps)
        print(f"{name}: Algorithm 1 hides fewer outliers than L2 in {fewer}, more in {more} of 100 draws")
    sys.stdout.write(f"Wrote figures 4 to 7 to {target}\n")


def _toy(make: Any, kernel: dict[str, Any], seed: int, methods: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, dict]:
    X, y = make(np.random.default_rng(seed))
    X = X - X.mean(axis=0)
    return X, y, {name: method(2, **kernel).fit(X) for name, method in methods.items()}


def _hidden(model: Any, X: np.ndarray, y: np.ndarray) -> int:
    """How many outliers lie within the circle that takes in all normal rows."""
    scores = model.transform(X)
    lengths = np.linalg.norm((scores - scores.mean(axis=0)) / scores.std(axis=0), axis=1)
    return int((lengths[y > 0] <= lengths[y == 0].max()).sum())
