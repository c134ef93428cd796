"""Tell people apart by sets of their pictures: python examples/face_sets.py roc.png

Each person's pictures are cut into four sets. The first is learned one picture at a time, as from a camera; the
others are compared with it by the angles between subspaces [chin2007]. Without Extended Yale B (see `mercer.datasets`)
scikit-learn's handwritten digits replace the people.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelMutualSubspace, datasets, plots


def pictures() -> tuple[np.ndarray, np.ndarray]:
    """Return pictures as rows, and whom they show."""
    if datasets.archive("yaleb") is None:
        X, y = load_digits(return_X_y=True)
        return X, y
    faces = datasets.load("yaleb")
    return faces.X.reshape(len(faces.X), -1), faces.y


def main(path: str) -> None:
    """Enrol, verify, and draw the ROC curves of a Gaussian and of the linear kernel."""
    X, y = pictures()
    rng = np.random.default_rng(0)
    sets = {person: np.array_split(rng.permutation(X[y == person]), 4) for person in np.unique(y)}
    unknown = [one for parts in sets.values() for one in parts[1:]]
    truth = np.repeat(list(sets), 3)
    curves = {}
    for name, kernel in (("Gaussian kernel", "rbf"), ("linear kernel (MSM)", "linear")):
        model = KernelMutualSubspace(kernel=kernel)
        for person, parts in sets.items():
            for picture in parts[0]:
                model.partial_fit(picture, person)
        curves[name] = model.roc(unknown, truth)
    plots.roc_curves(curves).savefig(path, dpi=120)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "face_sets.png")
