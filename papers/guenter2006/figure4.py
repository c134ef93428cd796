"""Figure 4: a walking motion, denoised frame by frame."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances

from mercer import KernelPCA
from papers.comparison import number, reading
from papers.drawing import COLOURS, lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.guenter2006._curves import NAMES, learned, ordering, shown

_SIGMA = np.sqrt(1.5)
_KERNEL: dict[str, Any] = {"kernel": "rbf", "gamma": 1.0 / (2.0 * _SIGMA**2)}
_COMPONENTS, _NOISE, _APART = 25, 0.5, 2.0
_SCALES, _LEVELS = (0.5, 1.0, 2.0, 4.0, 8.0), (0.25, 0.5)  # distance of frames in sigma, and noise
_PAPER_REDUCTION = 87.5  # percent of the mean squared error, KHA-SMD


def poses(motion: Any, frames: int, apart: float = _APART) -> Any:
    """Return positions relative to the root, one frame per row; the median distance of two is `apart` sigma."""
    joints = motion.X.astype(np.float64).reshape(len(motion.X), -1, 3)[:frames]
    X = (joints - joints[:, :1]).reshape(len(joints), -1)
    distances = pairwise_distances(X)
    return X * (apart * _SIGMA / np.median(distances[np.triu_indices(len(X), 1)]))


def noised(clean: Any, noise: float = _NOISE) -> Any:
    """Add Gaussian noise, relative to the root mean square deviation of the coordinates."""
    level = noise * np.sqrt(clean.var(axis=0).mean())
    return clean + level * np.random.default_rng(0).standard_normal(clean.shape)


def exactly(noisy: Any) -> Any:
    """Denoise by exact kernel PCA."""
    model = KernelPCA(_COMPONENTS, preimage="mika", **_KERNEL).fit(noisy)
    return np.asarray(model.inverse_transform(model.transform(noisy)))


def removed(clean: Any, noisy: Any, better: Any) -> float:
    """Return the share of the mean squared error that is removed, in percent."""
    return 100.0 * (1.0 - float(np.mean((better - clean) ** 2) / np.mean((noisy - clean) ** 2)))


def sensitivity(motion: Any, frames: int) -> dict[str, Any]:
    """Return the share that exact kernel PCA removes at other scales and noise levels, one row per scale."""
    rows = []
    for apart in _SCALES:
        clean = poses(motion, frames, apart)
        rows.append([removed(clean, noisy, exactly(noisy)) for noisy in (noised(clean, level) for level in _LEVELS)])
    return {"removed": rows}


def run(given: Run) -> Outcome:
    """Add noise, learn 25 components by four gain rules, and return to frames."""
    motion, passes = given.load("mocap"), given.settings["passes"]
    clean = poses(motion, given.settings["frames"])
    noisy = noised(clean)
    found = {gain: given.stage(name, partial(_denoised, noisy, gain, passes)) for gain, name in NAMES.items()}
    images = {gain: one["frames"] for gain, one in found.items()} | {"exact": exactly(noisy)}
    before = float(np.mean((noisy - clean) ** 2))
    reduction = {
        name: 100.0 * (1.0 - float(np.mean((frames - clean) ** 2)) / before) for name, frames in images.items()
    }
    curves = {gain: (one["excess"], one["orthonormal"]) for gain, one in found.items()}
    best = reduction["smd"]
    others = given.stage("other scales", partial(sensitivity, motion, given.settings["frames"]))["removed"]
    chosen = "unit and noise are our choice, made after a look at the scales below"
    table = (
        number("percent of the error removed, KHA-SMD", _PAPER_REDUCTION, best, within=3.0, best="high", note=chosen),
        ordering("motion", curves, "smd", "et", "clearly outperforms"),
        ordering("motion", curves, "et", "t", "better"),
        reading("percent of the error removed, exact kernel PCA", reduction["exact"]),
        *(
            reading(
                f"excess after {passes} passes, {NAMES[gain]}", float(raw[-1]), note=f"{reduction[gain]:.1f} % removed"
            )
            for gain, (raw, _) in curves.items()
        ),
        *(
            reading(f"percent removed by exact kernel PCA, frames {apart:g} sigma apart, noise {level:g}", float(value))
            for apart, row in zip(_SCALES, others, strict=True)
            for level, value in zip(_LEVELS, row, strict=True)
        ),
    )
    frame = int(np.argmax(clean.reshape(len(clean), -1, 3)[:, :, 2].std(axis=1)))  # in mid-stride
    figure = _draw(curves, motion.parents, *(rows[frame] for rows in (clean, noisy, images["smd"])))
    return Outcome({"figure4": Drawing(figure, _CAPTION)}, table)


def _denoised(noisy: Any, gain: str, passes: int) -> dict[str, Any]:
    model = learned(noisy, gain, _COMPONENTS, passes, preimage="mika", **_KERNEL)
    frames = np.asarray(model.inverse_transform(model.transform(noisy)))
    history = model.history_
    return {"excess": history["excess"], "orthonormal": history["excess_orthonormal"], "frames": frames}


_CAPTION = (
    "Left: excess error per pass. Right: one frame of the walk, seen at an angle: the original; the noisy frame over "
    "it; the frame denoised by KHA-SMD over it."
)


def _draw(curves: Any, parents: Any, clean: Any, noisy: Any, better: Any) -> Any:
    figure, (left, right) = panels(
        [
            ("Error a pass", "passes over the data", "excess error E / Emin - 1"),
            ("One frame: original; with noise; denoised", "", "up"),
        ],
        width=5.5,
        height=4.2,
    )
    lines(left, shown(curves), log_y=True)
    width = 1.3 * np.ptp(_side_view(clean)[0])
    for place, above, colour, name in (
        (0, None, "", ""),
        (1, noisy, COLOURS[1], "noisy"),
        (2, better, COLOURS[2], "denoised"),
    ):
        _stick_figure(right, clean, parents, place * width, "#555555", 2.5, "" if place else "original")
        if above is not None:
            _stick_figure(right, above, parents, place * width, colour, 1.3, name)
    right.set_aspect("equal")
    right.set_xticks([])
    right.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _side_view(row: Any) -> tuple[Any, Any]:
    """Return the joints of a frame seen from 40 degrees off its side: to the right, and up."""
    x, y, z = row.reshape(-1, 3).T
    return z * np.cos(0.7) + x * np.sin(0.7), y


def _stick_figure(axes: Any, row: Any, parents: Any, shift: float, colour: str, width: float, name: str) -> None:
    """Draw the bones of one frame."""
    across, up = _side_view(row)
    for joint, parent in enumerate(parents):
        if parent >= 0:
            ends = [joint, parent]
            label = name if name and joint == 1 else None
            axes.plot(
                shift + across[ends], up[ends], color=colour, linewidth=width, solid_capstyle="round", label=label
            )


EXPERIMENT = Experiment(
    name="figure4",
    title="a walk, denoised",
    items=("Figure 4",),
    run=run,
    paper_did="A walking motion of the CMU database in Cartesian coordinates, Gaussian noise added to its frames; KHA "
    "with 25 components, Gaussian kernel with sigma = sqrt(1.5). KHA-SMD removes 87.5 % of the mean squared error.",
    we_do="Clip 35_01 of the same database, joint positions relative to the root; the four gain rules with Mercer's "
    "own gains, then pre-images by fixed-point iteration. Exact kernel PCA is shown for comparison.",
    open_choices=(
        "Which walk, and the unit of length, which sigma needs: frames are scaled so that two of them are 2 sigma "
        "apart (median).",
        "The noise: Gaussian, half of the coordinates' root mean square deviation.",
        "The position of the walker is removed, the heading is not.",
        "The paper does not say how it computes frames from components.",
    ),
    differences=(
        "The share of the error that is removed depends on the unit of length and on the noise, which the paper does "
        "not give; the last lines of the table show how much. The unit was chosen among those at which the kernel "
        "sees the motion at all, so the agreement shows that the paper's 87.5 % can be reached, not that its setting "
        "has been found.",
        "All four rules remove about as much of the error, the less converged ones even slightly more, although their "
        "excess errors differ more than a hundredfold: the two measures are hardly related here.",
    ),
    data=("mocap",),
    scales={
        "full": {"frames": 358, "passes": 50},
        "quick": {"frames": 358, "passes": 50},
        "tiny": {"frames": 80, "passes": 3},
    },
)
