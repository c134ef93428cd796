"""Figure 2: do the updates drift away from batch kernel PCA?"""

from functools import partial
from typing import Any

import numpy as np

from mercer import Expansion, IncrementalKernelPCA, KernelPCA, plots
from mercer.plots.canvas import canvas
from papers.chin2007._letter import Letter
from papers.chin2007._streams import (
    BATCH,
    COMPRESSIONS,
    EXACT,
    GAUSS,
    KERNELS,
    PREIMAGES,
    RS,
    SUBSET,
    distance,
    incremental,
    late_slope,
    mean_angle,
    one_blas_thread,
    parabola,
    told_apart,
)
from papers.comparison import Comparison, claim, number
from papers.experiment import Drawing, Experiment, Outcome, Run

_SHOWN, _RANK = 3, 6
_PAPER = {"Gaussian": 0.07, "polynomial": 0.08}  # "for one of the generated datasets"
_NOTHING = 1e-7  # smaller angles cannot be computed from cosines
_NO_RISE = 0.05  # in 1000 rows
_LETTER = "IKPCA-RS as printed"


def followed(seed: int, rows: int, kernel: dict[str, Any]) -> dict[str, Any]:
    """Return three values after each update, (3, updates), by model.

    Distance and angle of the mean to batch kernel PCA of the whole set, as in the paper; and the distance to that of
    the rows so far, which only accumulated errors can raise.
    """
    X = parabola(seed, rows)
    batch = KernelPCA(_SHOWN, **kernel).fit(X).expansion_
    models = incremental(_SHOWN, _RANK, kernel)
    exact = _all_so_far(kernel)
    found: dict[str, list[Any]] = {name: [] for name in models}
    for first in range(0, len(X), BATCH):
        chunk = X[first : first + BATCH]
        present = exact.partial_fit(chunk).expansion_
        for name, model in models.items():
            found[name].append(_measured(model.partial_fit(chunk).expansion_, batch, present))
    return {name: np.array(values).T for name, values in found.items()}


def to_the_letter(seed: int, rows: int) -> Any:
    """Return the same three values for the paper's own procedure, nan while its first library fills."""
    X = parabola(seed, rows)
    batch = KernelPCA(_SHOWN, **GAUSS).fit(X).expansion_
    model, exact = Letter(_RANK, PREIMAGES, GAUSS["gamma"]), _all_so_far(GAUSS)
    found, begun = [], False
    for first in range(0, len(X), BATCH):
        end = min(first + BATCH, len(X))
        present = exact.partial_fit(X[first:end]).expansion_
        if not begun and end >= model.size:
            begun, first = bool(model.start(X[: model.size])), model.size
        if begun and end > first:
            model.update(X[first:end])
        found.append(_measured(model.expansion_, batch, present) if begun else [np.nan] * 3)
    return np.array(found).T


def _all_so_far(kernel: dict[str, Any]) -> IncrementalKernelPCA:
    """Return a model that is exact kernel PCA of the rows so far: its rank is enough for rows in the plane."""
    return IncrementalKernelPCA(_SHOWN, rank=30, compression=None, **kernel)


def _measured(now: Expansion, batch: Expansion, present: Expansion) -> tuple[float, float, float]:
    return distance(now, batch, _SHOWN), mean_angle(now, batch), distance(now, present, _SHOWN)


def repeated(rows: int, kernel: dict[str, Any], seeds: range) -> dict[str, Any]:
    """Return the values of several data sets, (sets, 3, updates), by model."""
    runs = [followed(seed, rows, kernel) for seed in seeds]
    return {name: np.array([run[name] for run in runs]) for name in COMPRESSIONS}


def run(given: Run) -> Outcome:
    """Run three models on many data sets, with two kernels; and the paper's own procedure."""
    rows, sets = given.settings["rows"], given.settings["sets"]
    steps = np.minimum(np.arange(BATCH, rows + BATCH, BATCH), rows)
    curves: dict[str, dict[str, Any]] = {}
    for label, kernel in KERNELS.items():
        parts = [
            given.stage(f"{label} {first}", partial(repeated, rows, kernel, range(first, min(first + 10, sets))))
            for first in range(0, sets, 10)
        ]
        curves[label] = {name: np.concatenate([part[name] for part in parts]) for name in COMPRESSIONS}
    letter = [
        given.stage(f"letter {seed}", lambda seed=seed: {"path": to_the_letter(seed, rows)})["path"]  # type: ignore[misc]
        for seed in range(given.settings["letter_sets"])
    ]
    curves["Gaussian"][_LETTER] = np.array(letter)
    table = [line for label, found in curves.items() for line in _lines(label, found, steps)]
    drawings = {
        "figure2": Drawing(_draw(curves, steps, 0, "distance to batch, eq. 36"), _CAPTION),
        "mean": Drawing(_draw(curves, steps, 1, "angle to the mean of all rows"), _MEAN_CAPTION),
        "so_far": Drawing(_draw(curves, steps, 2, "distance to batch of the rows so far"), _SO_FAR_CAPTION),
    }
    return Outcome(drawings, tuple(table))


def _lines(label: str, found: dict[str, Any], steps: Any) -> list[Comparison]:
    exact = float(found[EXACT][:, 0, -1].mean())
    rest = "almost converged" if label == "Gaussian" else "no error: the feature space has 6 dimensions"
    enough = 0.01 if label == "Gaussian" else 1e-5
    return [
        *(
            line
            for name in (_LETTER, RS, SUBSET)
            if name in found
            for line in _compressed_lines(f"{label}, {name}", _PAPER[label], found[name], steps)
        ),
        claim(f"{label}, {EXACT}: final distance", rest, exact, exact < enough),
    ]


def _compressed_lines(title: str, paper: float, values: Any, steps: Any) -> list[Comparison]:
    """Compare the final distance of one kind of IKPCA-RS, and whether it drifts."""
    final, mean = values[:, 0, -1], values.mean(axis=0)  # (3, updates)
    rise, angle = (late_slope(steps, mean[k]) for k in (2, 1))
    return [
        number(
            f"{title}: final distance",
            paper,
            float(final.mean()),
            within=0.03,
            best="low",
            note=f"the paper's is of one set, ours the mean of {len(final)}: {final.min():.2g} to {final.max():.2g}",
        ),
        claim(
            f"{title}: rise of the distance from batch of the rows so far, in 1000 rows",
            "no growing drift",
            rise,
            rise < _NO_RISE,
            note="second half of the stream",
        ),
        claim(
            f"{title}: rise of the angle of the mean, in 1000 rows",
            "curves like those of the distance",
            angle,
            angle < _NO_RISE,
            note=f"second half of the stream; it ends at {mean[1, -1]:.2g}",
        ),
    ]


def _draw(curves: dict[str, dict[str, Any]], steps: Any, measure: int, quantity: str) -> Any:
    figure = canvas(None, 11, 3.8)
    parts: Any = figure.subfigures(1, len(curves))
    for part, (label, found) in zip(parts, curves.items(), strict=True):
        shown = {name: np.maximum(values[:, measure], _NOTHING) for name, values in found.items()}
        title = f"{label} kernel"
        axes = plots.distance_curves(shown, steps, title=title, quantity=quantity, figure=part).axes[0]
        axes.set_ylim(0.4 * _NOTHING, 3.0)
        told_apart(axes)
    return figure


_BAND = "Lines are means over the data sets, bands run from the tenth to the ninetieth percentile; values below 1e-7, \
which rounding hides, are drawn there."
_CAPTION = (
    "Subspace distance between the first three components so far and those of batch kernel PCA of all rows. Mercer's "
    f"three models coincide; the paper's own procedure stays away from them. {_BAND}"
)
_MEAN_CAPTION = "Angle in feature space between the mean so far and the mean of all rows; not drawn in the paper."
_SO_FAR_CAPTION = (
    "The same distance to batch kernel PCA of the rows that have come so far. Only errors that accumulate can make it "
    "grow; not drawn in the paper."
)

EXPERIMENT = Experiment(
    name="figure2",
    title="drift on rows in the plane",
    items=("Figure 2",),
    run=one_blas_thread(run),
    paper_did="100 sets of 1000 rows, x uniform in [-1, 1], y = x^2 + noise of 0.2; Gaussian kernel with sigma = 1, "
    "and a polynomial of degree 2. IKPCA with r = 6, i = 30, and IKPCA-RS with p = 10, against batch kernel PCA of the "
    "whole set: distance of the first three components after each update. IKPCA-RS ends at a stable distance, about "
    "0.07 and 0.08 in one set; no drift.",
    we_do="The same sets, sizes and kernels with IncrementalKernelPCA: compression=None is IKPCA, 'preimage' is "
    "IKPCA-RS, 'subset' is Mercer's own. For the Gaussian kernel the paper's procedure, Table I with equations (8) to "
    "(35), is also run exactly as printed, written for this experiment. Drift is judged by the distance to batch "
    "kernel PCA of the rows so far, since the distance to that of the whole set falls anyway as rows come in.",
    open_choices=(
        "Polynomial of degree 2: (x . y + 1)^2; the text's six dimensions require the constant.",
        "Two numbers are given for 'one of the sets'; they are compared with the mean over sets.",
        "Exactly as printed: how pre-images are searched. Fixed-point steps from the best point of the library, halved "
        "where they do not rise.",
        f"A rise of less than {_NO_RISE} in 1000 rows counts as none.",
    ),
    differences=(
        "Mercer's IKPCA-RS takes a point of the library instead of a pre-image wherever that is the better choice. 70 "
        "such points are enough for six components of rows in the plane, with either kernel, so nothing is lost "
        "and it ends where IKPCA does, hundreds of times nearer to batch kernel PCA than the paper's.",
        "Exactly as printed, the distance is larger than the paper's 0.07, and still rises slowly: pre-images are "
        "only as good as the search for them, of which the paper says little.",
        "Equations (32) to (34) as printed do not make the basis orthogonal, they only scale its vectors: P of (33) is "
        "D^(1/2) Q^T, and (34) returns the basis that one started from. Mercer makes it orthonormal.",
    ),
    scales={
        "full": {"sets": 100, "letter_sets": 100, "rows": 1000},
        "quick": {"sets": 6, "letter_sets": 4, "rows": 1000},
        "tiny": {"sets": 2, "letter_sets": 1, "rows": 210},
    },
)
