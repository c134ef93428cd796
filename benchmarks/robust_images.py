"""Images with foreign parts, learned in one pass [huang2011, examples 3 and 4].

    python -m benchmarks.robust_images [--png FOLDER]

Example 3: the camera image as 4096 blocks of 8 x 8, three white windows of 40 x 40 pixels, level-1 Haar kernel, eight
components. Models learn the contaminated blocks in the order of the image; then the clean image is reconstructed from
them. The figure is the mean squared error relative to that of batch kernel PCA of the clean image.

Example 4: 90 Frey faces, every tenth replaced by a drawn cat, sym4 wavelet kernel, nine components. The figure is the
shadow of the cat on the replaced frames: the energy of (reconstruction - mean face) along (cat - mean face).
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from mercer import KernelPCA, OnlineRobustKernelPCA, RobustKernelPCA, datasets, plots
from mercer.kernels import Wavelet

WINDOWS = ((60, 80), (230, 300), (390, 160))  # upper left corners


def blocks(image: np.ndarray) -> np.ndarray:
    return image.reshape(64, 8, 64, 8).transpose(0, 2, 1, 3).reshape(4096, 64)


def joined(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(64, 64, 8, 8).transpose(0, 2, 1, 3).reshape(512, 512)


def whitened(image: np.ndarray) -> np.ndarray:
    dirty = image.copy()
    for i, j in WINDOWS:
        dirty[i : i + 40, j : j + 40] = 255.0
    return dirty


def reconstruction(model: Any, X: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(model.inverse_transform(model.transform(X)))


def online(r: int, kernel: Any, psi: str) -> OnlineRobustKernelPCA:
    return OnlineRobustKernelPCA(r, kernel=kernel, psi=psi, preimage="exact", random_state=0)


def literal(X: np.ndarray, r: int, kernel: Any, beta: float, landmarks: np.ndarray) -> OnlineRobustKernelPCA:
    """Algorithm 1 to the letter, started as the paper does: every entry of Gamma from N(250, 1)."""
    start = 250.0 + np.random.default_rng(0).standard_normal((len(landmarks), r))
    return OnlineRobustKernelPCA(
        r, kernel=kernel, psi="exp", beta=beta, xi=1.0, update="hebbian", feature_map="empirical", safeguard=False,
        landmarks=landmarks, init=(np.zeros(len(landmarks)), start),
    ).fit(X)  # fmt: skip


def camera(folder: Path | None) -> None:
    kernel = Wavelet("haar", level=1, shape=(8, 8))
    image = datasets.load("camera").X.astype(np.float64)
    clean, dirty = blocks(image), blocks(whitened(image))
    models = {
        "batch, clean": KernelPCA(8, kernel=kernel, preimage="exact").fit(clean),
        "batch, dirty": KernelPCA(8, kernel=kernel, preimage="exact").fit(dirty),
        "batch robust": RobustKernelPCA(8, kernel=kernel, preimage="exact").fit(dirty),
        "online, not robust": online(8, kernel, "none").fit(dirty),
        "online robust": online(8, kernel, "exp").fit(dirty),
    }
    images = {name: joined(reconstruction(model, clean)) for name, model in models.items()}
    best = float(np.mean((images["batch, clean"] - image) ** 2))
    for name, found in images.items():
        error = float(np.mean((found - image) ** 2))
        print(f"camera  {name:20} mse {error:8.2f}  relative {error / best:.3f}")
    for psi_beta in (3e-6,):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = joined(reconstruction(literal(dirty, 8, kernel, psi_beta, clean[::256]), clean))
            print(f"camera  literal, beta {psi_beta:g}: mse {np.mean((found - image) ** 2):.4g}")
        except Exception as error:  # whatever the letter leads to is the result
            print(f"camera  literal, beta {psi_beta:g}: {type(error).__name__}: {str(error)[:90]}")
    if folder:
        names = ("batch, clean", "online, not robust", "online robust")
        shown = {"clean, dirty": [image, whitened(image)], **{name: [images[name]] for name in names}}
        figure = plots.image_grid({k: np.array(v) for k, v in shown.items()}, (512, 512), ink=False, size=3.0)
        figure.savefig(folder / "robust_camera.png", dpi=100)


def cat() -> np.ndarray:
    """Draw a cat's face, 28 x 20, dark on light."""
    y, x = np.mgrid[0:28, 0:20]
    picture = np.full((28, 20), 40.0)
    picture[((x - 9.5) / 8) ** 2 + ((y - 16) / 9) ** 2 <= 1] = 235.0
    for middle in (4.5, 14.5):  # ears
        picture[(np.abs(x - middle) <= (y - 2) / 2.2) & (y >= 2) & (y < 10)] = 235.0
    for middle in (6.5, 12.5):  # eyes
        picture[(x - middle) ** 2 + ((y - 14) / 1.5) ** 2 <= 2.2] = 10.0
    picture[(np.abs(x - 9.5) <= 1) & (y >= 18) & (y <= 19)] = 60.0
    for row in (17, 20, 22):  # whiskers
        picture[row, [1, 2, 3, 4, 15, 16, 17, 18]] = 90.0
    return picture.ravel()


def faces(folder: Path | None) -> None:
    X = datasets.load("frey").X[:90].astype(np.float64)
    foreign, replaced = cat(), np.arange(9, 90, 10)
    dirty = X.copy()
    dirty[replaced] = foreign
    kernel = Wavelet("sym4", level=1, shape=(28, 20))
    face = np.delete(X, replaced, axis=0).mean(axis=0)
    axis = (foreign - face) / np.linalg.norm(foreign - face)
    models = {
        "batch": KernelPCA(9, kernel=kernel, preimage="exact").fit(dirty),
        "batch robust": RobustKernelPCA(9, kernel=kernel, preimage="exact").fit(dirty),
        "online, not robust": online(9, kernel, "none").fit(dirty),
        "online robust": online(9, kernel, "exp").fit(dirty),
    }
    shadows, pictures = {}, {"face": X[replaced], "foreign": dirty[replaced]}
    for name, model in models.items():
        found = reconstruction(model, dirty[replaced])
        shadows[name] = float(np.mean(((found - face) @ axis) ** 2))
        if name.startswith("online"):
            pictures |= {name: found, f"{name}: face": reconstruction(model, X[replaced])}
        error = float(np.mean((reconstruction(model, X) - X) ** 2))
        print(f"faces   {name:20} shadow {shadows[name]:12.4g}  mse on the true faces {error:8.2f}")
    print(f"faces   robust / not robust, online: {shadows['online robust'] / shadows['online, not robust']:.2e}")
    if folder:
        plots.image_grid(pictures, (28, 20), ink=False).savefig(folder / "robust_faces.png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--png", type=Path)
    folder = parser.parse_args().png
    camera(folder)
    faces(folder)


if __name__ == "__main__":
    main()
