"""Figure 5: an image with white windows, learned block by block in one pass."""

from typing import Any

import numpy as np

from mercer import KernelPCA, OnlineRobustKernelPCA, RobustKernelPCA
from papers.comparison import claim, reading
from papers.drawing import pictures
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.huang2011._measures import diverges, to_the_letter, wavelet

_WINDOWS = ((60, 80), (230, 300), (390, 160))  # upper left corners, in a 512 x 512 image
_BETA = 3e-6  # the paper's, of psi_1


def blocks(image: Any) -> Any:
    """Return an image as disjoint 8 x 8 blocks, one per row."""
    side = len(image) // 8
    return image.reshape(side, 8, side, 8).transpose(0, 2, 1, 3).reshape(side * side, 64)


def joined(rows: Any) -> Any:
    """Join blocks to an image."""
    side = int(np.sqrt(len(rows)))
    return rows.reshape(side, side, 8, 8).transpose(0, 2, 1, 3).reshape(8 * side, 8 * side)


def whitened(image: Any) -> Any:
    """Return the image with three white windows, 40 x 40 pixels of 512."""
    dirty, scale = image.copy(), len(image) / 512
    width = round(40 * scale)
    for i, j in _WINDOWS:
        i, j = round(i * scale), round(j * scale)
        dirty[i : i + width, j : j + width] = 255.0
    return dirty


def one_pass(**psi: Any) -> OnlineRobustKernelPCA:
    """Return a model that reads each block once, in the span of up to 2000 of them."""
    kernel = wavelet("haar", (8, 8))
    return OnlineRobustKernelPCA(8, kernel=kernel, landmarks=2000, preimage="exact", random_state=0, **psi)


def models(clean: Any, dirty: Any) -> dict[str, Any]:
    """Fit all models, all except the first on the contaminated blocks."""
    kernel = wavelet("haar", (8, 8))
    given: dict[str, Any] = {"kernel": kernel, "preimage": "exact"}
    psi_1: dict[str, Any] = {"psi": "exp", "beta": _BETA, "xi": 1.0}
    return {
        "batch, clean blocks": KernelPCA(8, **given).fit(clean),
        "batch": KernelPCA(8, **given).fit(dirty),
        "batch robust": RobustKernelPCA(8, **given).fit(dirty),
        "one pass, not robust": one_pass(psi="none").fit(dirty),
        "one pass, robust, paper's beta": one_pass(**psi_1).fit(dirty),
        "one pass, robust, own beta": one_pass(psi="exp").fit(dirty),
    }


def reconstructions(clean: Any, dirty: Any) -> dict[str, Any]:
    """Return the clean image as every model reconstructs it."""
    fitted = models(clean, dirty)
    return {name: joined(model.inverse_transform(model.transform(clean))) for name, model in fitted.items()}


def letter(learned: Any, clean: Any, **psi: Any) -> tuple[float, bool]:
    """Return error and divergence of Algorithm 1 as printed, from the paper's start: Gamma from N(250, 1)."""
    landmarks = clean[:: len(clean) // 16][:16]
    start = 250.0 + np.random.default_rng(0).standard_normal((len(landmarks), 8))
    model = to_the_letter(landmarks, start, kernel=wavelet("haar", (8, 8)), **psi)
    lost = diverges(model, learned)
    with np.errstate(all="ignore"):
        return float(np.mean((model.inverse_transform(model.transform(clean)) - clean) ** 2)), lost


def believed(dirty: Any) -> str:
    """Return a remark on the weights of blocks in the robust model with its own scale."""
    model = one_pass(psi="exp").fit(dirty)
    busy = dirty.var(axis=1) >= np.percentile(dirty.var(axis=1), 90)
    white = dirty.min(axis=1) == 255.0
    means = [float(model.weights_[rows].mean()) for rows in (white, busy, ~busy & ~white)]
    return (
        f"Mean weights of the robust run with its own scale: blocks that are all white {means[0]:.2f}, the tenth of "
        f"the blocks with most texture {means[1]:.2f}, the others {means[2]:.2f}."
    )


def run(given: Run) -> Outcome:
    """Learn from the contaminated image, reconstruct the clean one."""
    every = given.settings["every"]
    image = given.load("camera").X.astype(np.float64)[::every, ::every]
    clean, dirty = blocks(image), blocks(whitened(image))
    found = given.stage("six models", lambda: reconstructions(clean, dirty))
    errors = {name: float(np.mean((picture - image) ** 2)) for name, picture in found.items()}
    best, plain = errors["batch, clean blocks"], errors["one pass, not robust"]
    shown = {"original": image, "learned from: three white windows": whitened(image)}
    for name in ("one pass, not robust", "one pass, robust, paper's beta"):
        shown[f"{name}\nerror {errors[name] / best:.4f} of the best"] = found[name]
    table = [
        claim(
            f"error, {name} against not robust",
            "robust is better",
            f"{errors[name] / best:.4f} against {plain / best:.4f}",
            errors[name] < plain,
            note="relative to batch kernel PCA of the clean image; see where we differ",
        )
        for name in ("one pass, robust, paper's beta", "one pass, robust, own beta")
    ]
    table += [reading(f"mean squared error, {name}", error) for name, error in errors.items()]
    psi_1: dict[str, Any] = {"psi": "exp", "beta": _BETA, "xi": 1.0}
    for name, learned, psi in (("not robust", dirty, {"psi": "none"}), ("robust", dirty, psi_1),
                               ("not robust, on the clean image", clean, {"psi": "none"})):  # fmt: skip
        error, lost = letter(learned, clean, **psi)
        note = "overflowed; error of the last good state" if lost else ""
        table.append(reading(f"mean squared error, Algorithm 1 as printed, {name}", error, note=note))
    return Outcome({"figure5": Drawing(pictures(shown), _CAPTION)}, tuple(table), (believed(dirty),))


_CAPTION = (
    "The image; the image with white windows that the models learned from, block by block in one pass; and the clean "
    "image as eight components reconstruct it, without and with robustness. To the eye they are the same; the numbers "
    "tell them apart."
)

EXPERIMENT = Experiment(
    name="example3",
    title="an image with white windows, Haar wavelet kernel",
    items=("Figure 5",),
    run=run,
    paper_did="Lena, 512 x 512, as 4096 blocks of 8 x 8, with three white 40 x 40 windows; level-1 Haar wavelet "
    "kernel, eight components, one pass; psi_1 with beta = 3e-6. The clean image is projected and shown; no numbers.",
    we_do="The same with the camera image: the models learn the contaminated blocks in one pass, then the clean image "
    "is reconstructed. Batch models are shown for comparison, with the error of each.",
    open_choices=(
        "Where the windows are: three places across the image.",
        "The order of the blocks: by rows of the image.",
        "Which 16 blocks make the basis (the start is 16 x 8): here, for Algorithm 1 as printed, 16 at equal "
        "distances; Mercer's models use up to 2000.",
    ),
    differences=(
        "Lena is not used; the camera image is the nearest of the usual test images that is free.",
        "Algorithm 1 as printed overflows on the clean image too: its gains are too large, with "
        "or without windows. A stable one-pass method without weights loses only half a percent by the windows, and "
        "robust weights with the paper's small beta win back very little of it. The large gap of the paper's pictures "
        "is not reproduced.",
        "With its own scale the robust method takes blocks with strong texture, not the white ones, for outliers, "
        "and reconstructs the image worse: it should not be used on this task.",
    ),
    data=("camera",),
    scales={"full": {"every": 1}, "quick": {"every": 1}, "tiny": {"every": 4}},
)
