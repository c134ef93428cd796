"""Spectral clustering of all 7291 USPS digits: variation of information against the labels [guenter2006, figure 3].

    python -m benchmarks.spectral usps [--passes 10] [--png FILE]   by pass and gain, and from exact eigenvectors
    python -m benchmarks.spectral peers                             time and result beside scikit-learn's

10 components, Gaussian kernel of sigma = 8, natural logarithms: random labels have about 4.54.
"""

import argparse
import time
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering

from benchmarks.measure import resident_growth
from mercer import KernelSpectralClustering, datasets, plots
from mercer.kernels import RBF
from mercer.metrics import variation_of_information
from mercer.solvers.eigen import EigenOptions
from mercer.tasks.spectral_embedding import HebbianEmbedding, PassSettings, make_affinity, solve_embedding

GAMMA = 1.0 / 128.0
GAINS = ("t", "et", "smd")


def quality(coordinates: np.ndarray, y: np.ndarray) -> float:
    return variation_of_information(KMeans(10, n_init=10, random_state=0).fit(coordinates).labels_, y)


def usps(passes: int, png: str | None) -> None:
    digits = datasets.load("usps")
    X, y = digits.X, digits.y
    rng = np.random.default_rng(0)
    print(f"random labels      {variation_of_information(rng.permutation(y), y):.3f}", flush=True)
    affinity = make_affinity(RBF(GAMMA), X)
    exact = quality(solve_embedding(affinity, 10, EigenOptions("krylov", 1e-9)).coordinates, y)
    print(f"exact eigenvectors {exact:.3f}", flush=True)
    curves: dict[str, Any] = {}
    for gain in GAINS:
        run = HebbianEmbedding(affinity, 10, PassSettings(gain, "auto", 0.0), np.random.RandomState(0))
        curves[gain] = [quality(run.run(1, excess=True).embedding().coordinates, y) for _ in range(passes)]
        print(f"{gain:4} VI     ", " ".join(f"{value:.3f}" for value in curves[gain]))
        print(f"{gain:4} excess ", " ".join(f"{value:.1e}" for value in run.history["excess"]), flush=True)
    if png:
        plots.convergence(curves, "variation of information", title="USPS").savefig(png)


def peers() -> None:
    digits = datasets.load("usps")
    models: dict[str, Any] = {
        "Mercer, krylov": KernelSpectralClustering(10, gamma=GAMMA, random_state=0),
        "Mercer, KHA-SMD, 10": KernelSpectralClustering(
            10, gamma=GAMMA, eigen_solver="hebbian", max_iter=10, tol=0, random_state=0
        ),
        "scikit-learn": SpectralClustering(10, gamma=GAMMA, random_state=0, n_init=10),
    }
    for name, model in models.items():
        start = time.perf_counter()
        grown = resident_growth(lambda model=model: model.fit(digits.X))
        value = variation_of_information(model.labels_, digits.y)
        print(f"{name:20} VI {value:.3f}  {time.perf_counter() - start:6.1f} s  {grown:6.0f} MB", flush=True)
        if hasattr(model, "predict"):
            value = variation_of_information(model.predict(digits.X_test), digits.y_test)
            print(f"{'':20} VI {value:.3f} on the 2007 test digits", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=["usps", "peers"], default="usps")
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--png")
    arguments = parser.parse_args()
    if arguments.what == "usps":
        usps(arguments.passes, arguments.png)
    else:
        peers()


if __name__ == "__main__":
    main()
