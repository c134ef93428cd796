"""Recognise faces under any light: python examples/eigenfaces.py faces.png

Kernel eigenfaces are a pipeline: an estimator, then nearest neighbours [chin2007, sec. V]. Half of the Extended Yale B
images of each person (or of scikit-learn's digits if they are missing) are learned, the others recognised.

The images of a face under all lights lie near a linear subspace, so a kernel cannot improve on PCA here: a narrow
kernel is worse, a wide kernel is as good. The picture shows this.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from mercer import KernelPCA, datasets

COUNTS = (10, 20, 40, 80, 160)


def pictures() -> tuple[np.ndarray, np.ndarray, str]:
    """Return rows of grey values from 0 to 1, the person of each, and a description."""
    try:
        faces = datasets.load("yaleb")
        return faces.X.reshape(len(faces.X), -1) / 255.0, faces.y, "38 faces under 64 lights"
    except FileNotFoundError:
        X, y = load_digits(return_X_y=True)
        return X / 16.0, y, "digits"


def kernel_faces(r: int, gamma: float | str) -> Pipeline:
    """Return kernel PCA followed by scaling of the scores to the same variance."""
    return make_pipeline(KernelPCA(r, kernel="rbf", gamma=gamma), PCA(whiten=True))


def main(path: str) -> None:
    """Draw the share of recognised images against the number of components."""
    X, y, what = pictures()
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)  # brightness carries no information
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    kinds = {
        "eigenfaces": lambda r: PCA(r, whiten=True, random_state=0),
        "kernel eigenfaces, median width": lambda r: kernel_faces(r, "median"),
        "kernel eigenfaces, wide": lambda r: kernel_faces(r, 0.02),
    }
    counts = [r for r in COUNTS if r <= min(train.shape)]
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for name, kind in kinds.items():
        models = [make_pipeline(kind(r), KNeighborsClassifier(1)).fit(train, y_train) for r in counts]
        axes.plot(counts, [100 * model.score(test, y_test) for model in models], "o-", label=name)
    axes.set_xlabel("components")
    axes.set_ylabel("recognised, %")
    axes.set_title(what, loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "faces.png")
