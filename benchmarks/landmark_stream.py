"""Kernel PCA of streams on landmarks: accuracy on a parabola [chin2007], rate, memory, and Nystroem + PCA beside it."""

import gc
import json
import sys
import time

import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

from benchmarks.measure import best_of_rounds, in_fresh_process, resident_growth, row
from mercer import KernelPCA, LandmarkKernelPCA
from mercer.kernels.resolve import resolve_gamma
from mercer.metrics import subspace_distance

_D, _M, _R = 50, 300, 5
_CHUNK = 10_000


def parabola(seed: int, n: int = 1000) -> np.ndarray:
    """[chin2007, V-A1]: x uniform in [-1, 1], y = x^2 + noise of standard deviation 0.2."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return np.column_stack([x, x**2 + 0.2 * rng.standard_normal(n)])


def parabolas(count: int = 10) -> None:
    """Distance (36) of the first three components to batch kernel PCA, sigma = 1, rows in increments of 30."""
    cases = {(m, selection): [] for m in (20, 70) for selection in ("auto", "uniform", "rpcholesky", "ald")}
    for seed in range(count):
        X = parabola(seed)
        batch = KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
        for (m, selection), distances in cases.items():
            model = LandmarkKernelPCA(3, gamma=0.5, landmarks=m, selection=selection, random_state=seed)
            for first in range(0, len(X), 30):
                model.partial_fit(X[first : first + 30])
            distances.append(subspace_distance(model, batch))
    for (m, selection), distances in cases.items():
        row("parabola", selection, f"{m} landmarks", float(np.mean(distances)), float(np.max(distances)))


def data(n: int, seed: int = 0, dtype=np.float64) -> np.ndarray:
    """Rows around a curved surface: 8 angles, mixed into 50 features, and noise."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(99).standard_normal((16, _D))
    angles = rng.uniform(0, 2, (n, 8))
    signal = np.hstack([np.sin(angles), np.cos(angles)]) @ mixing
    return (signal + 0.3 * rng.standard_normal((n, _D))).astype(dtype)


def stream(dtype: str, rows: int = 1_000_000) -> dict[str, float]:
    """Feed a stream of new chunks: seconds in `partial_fit`, and the growth of memory after the first chunks."""
    model = LandmarkKernelPCA(_R, gamma="median", landmarks=_M, selection="uniform", random_state=0)
    pool = [data(_CHUNK, seed, np.dtype(dtype)) for seed in range(10)]
    model.partial_fit(pool[0]).transform(pool[0])  # compiles
    spent = []

    def feed() -> None:
        for i in range(rows // _CHUNK):
            chunk = pool[i % len(pool)] * (1.0 + 1e-3 * i)
            start = time.perf_counter()
            model.partial_fit(chunk)
            spent.append(time.perf_counter() - start)
        model.transform(pool[0])

    growth = resident_growth(feed)
    return {
        "rows a second": rows / sum(spent),
        "median chunk": _CHUNK / float(np.median(spent)),
        "MB": growth,
        "seen": model.n_samples_seen_,
    }


def peer_error(pipeline: Pipeline, X: np.ndarray) -> float:
    """Return the mean squared distance, in feature space, of rows from the pipeline's subspace."""
    features = pipeline[0].transform(X).astype(np.float64)
    centred = features - pipeline[1].mean_
    scores = centred @ pipeline[1].components_.T
    inside = np.einsum("ij,ij->i", features, features)
    return float(
        np.mean(1.0 - inside + np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", scores, scores))
    )


def against_nystroem(dtype, rows: int = 100_000, rounds: int = 5) -> None:
    X = data(rows, 1, dtype)
    gamma = resolve_gamma("median", X.astype(np.float64))
    test = data(5000, 2)

    def peer(seed: int = 0) -> Pipeline:
        steps = [("map", Nystroem(gamma=gamma, n_components=_M, random_state=seed)), ("pca", PCA(_R))]
        return Pipeline(steps)

    def ours(seed: int = 0) -> LandmarkKernelPCA:
        return LandmarkKernelPCA(_R, gamma=gamma, landmarks=_M, selection="uniform", random_state=seed)

    def fit_then_transform(model):
        model.fit(X)
        gc.collect(0)
        return model, model.transform(X)

    def at_once(model):
        return model, model.fit_transform(X)

    name = np.dtype(dtype).name
    for label, call in (("fit, transform", fit_then_transform), ("fit_transform", at_once)):
        timed = best_of_rounds({"peer": lambda c=call: c(peer()), "ours": lambda c=call: c(ours())}, rounds)
        theirs, mine = timed["peer"][0], timed["ours"][0]
        row(label, name, theirs, mine, f"{theirs / mine:.2f} times")
    errors = [
        [peer_error(peer(s).fit(X), test), float(ours(s).fit(X).reconstruction_error(test).mean())] for s in range(3)
    ]
    first = peer().fit(X)
    same = ours().set_params(landmarks=first[0].components_.astype(np.float64)).fit(X)
    row("error, 3 seeds", name, *[float(e) for e in np.mean(errors, axis=0)])
    row("error, same rows", name, peer_error(first, test), float(same.reconstruction_error(test).mean()))


def main() -> None:
    if len(sys.argv) > 2 and sys.argv[1] == "stream":
        print(json.dumps(stream(sys.argv[2])))
        return
    row("", "selection", "", "mean distance", "largest")
    parabolas()
    for dtype in ("float64", "float32"):
        found = in_fresh_process("landmark_stream", "stream", dtype)
        row("1e6 rows", dtype, *[f"{value:.4g} {name}" for name, value in found.items()])
    row("", "", "Nystroem + PCA", "ours", "")
    for dtype in (np.float64, np.float32):
        against_nystroem(dtype)


if __name__ == "__main__":
    main()
