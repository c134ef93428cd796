"""Online robust kernel PCA on the examples of [huang2011]: nearness to clean kernel PCA, speed, memory.

Parts: `python -m benchmarks.robust_online [example1] [example2] [speed] [memory] [figure FILE]`; all but the figure if
none is named. Nearness is |correlation| of the scores of clean rows with those of `KernelPCA` fitted on clean rows;
medians over 20 seeds, the worst seed beside. The papers' |cosine| of directions follows where it is defined.
"""

import os
import sys
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core, as announced

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measure import _status, row
from mercer import KernelPCA, OnlineRobustKernelPCA, RobustKernelPCA, datasets, plots

SEEDS = range(20)
SQUARE = {"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 0}
UPDATES = ("svd", "ccipca", "hebbian")
STARTS = {
    "0.01 I": lambda m, r: 0.01 * np.eye(m, r),
    "N(0, 1)": lambda m, r: np.random.default_rng(9).normal(size=(m, r)),
}


def parabola(seed, scale=1.0):
    """Example 1: clean rows, the same with 10 replaced, evenly placed in random order, and which."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-1, 1, 152)[1:-1]
    X = np.column_stack([x, -0.3 * x**2 + 0.1 * rng.standard_normal(150)])[rng.permutation(150)]
    C, bad = X.copy(), np.arange(7, 150, 15)
    C[bad, 1] = np.where(np.arange(10) % 2, 0.5, -0.5) + 1.5 * rng.standard_normal(10)
    return X * scale, C * scale, bad


def phonemes(seed):
    """Example 2: the curves of `sh`, 20 of them shifted by a cosine and noise, evenly placed in random order."""
    data = datasets.load("phoneme")
    rng = np.random.default_rng(seed)
    X = data.X[data.y == 1][rng.permutation(400)]
    C, bad, t = X.copy(), np.arange(10, 400, 20), (np.arange(150) + 0.5) / 150
    C[bad] += 5 * np.cos(2 * np.pi * t) + 3 * rng.uniform(size=(20, 150))
    return X, C, bad


def correlations(A, B):
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    with np.errstate(all="ignore"):
        return np.abs((A * B).sum(axis=0)) / np.sqrt((A * A).sum(axis=0) * (B * B).sum(axis=0))


def cosines(model, exact):
    """|cos| between directions in feature space."""
    return np.abs(np.diag(model.expansion_.inner(exact.expansion_)))


def algorithm_1(H, r, weight, Gamma):
    """The paper's loop, as it is printed; not a number where it diverges."""
    mu = np.zeros(H.shape[1])
    for t, h in enumerate(H, start=1):
        d = h - mu
        y = Gamma.T @ d
        w = weight(0.5 * (d @ d - y @ y))
        mu, Gamma = mu + w / t * d, Gamma + w / t * (np.outer(d, y) - Gamma @ np.triu(np.outer(y, y)))
    return mu, Gamma


def literal(X, C, kernel, r, weight, start):
    """Correlation and the paper's cosine of Algorithm 1 on all rows as basis; nan where it diverges."""
    H, clean = kernel(C, C), kernel(X, C)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mu, Gamma = algorithm_1(H, r, weight, STARTS[start](H.shape[1], r))
        if not np.isfinite(Gamma).all():
            return np.full(r, np.nan), np.full(r, np.nan)
        true = np.linalg.svd(clean - clean.mean(axis=0), full_matrices=False)[2][:r].T
        exact = (clean - clean.mean(axis=0)) @ true
        cos = np.abs((Gamma * true).sum(axis=0)) / np.linalg.norm(Gamma, axis=0)
        return correlations((clean - mu) @ Gamma, exact), cos


def summary(name, detail, found, cosine=None):
    found = np.asarray(found)
    lost = int((~np.isfinite(found).all(axis=1)).sum())
    kept = found[np.isfinite(found).all(axis=1)]

    def text(values):
        return "-" if len(kept) == 0 else " ".join(f"{v:.4f}" for v in values)

    cells = [text(np.median(kept, axis=0)) if len(kept) else "-", text(kept.min(axis=0)) if len(kept) else "-"]
    cells.append("" if cosine is None or not len(kept) else text(np.nanmedian(np.asarray(cosine), axis=0)))
    print(f"{name:<30} {detail:<12} {cells[0]:<24} {cells[1]:<24} {cells[2]:<24} {lost} of {len(found)}", flush=True)


def head(title):
    print(f"\n{title}\n{'':<30} {'':<12} {'median':<24} {'worst seed':<24} {'|cos|, median':<24} not finite")


def squared(A, B):
    return (A @ B.T) ** 2


def example1():
    head("Example 1: 150 rows on a parabola, 10 replaced; kernel (x.u)^2, one component")

    def weight(z):
        return np.exp(-0.07 * z)  # beta of the paper

    for scale in (1.0, 0.01, 0.3, 3.0, 100.0):
        for update in UPDATES:
            found, cos = [], []
            for seed in SEEDS:
                X, C, _ = parabola(seed, scale)
                model, exact = OnlineRobustKernelPCA(1, update=update, **SQUARE).fit(C), KernelPCA(1, **SQUARE).fit(X)
                found.append(correlations(model.transform(X), exact.transform(X)))
                cos.append(cosines(model, exact))
            summary(f"online, {update}", f"data x {scale:g}", found, cos)
        for start in STARTS:
            results = [literal(*parabola(s, scale)[:2], squared, 1, weight, start) for s in SEEDS]
            summary(f"Algorithm 1 from {start}", f"data x {scale:g}", *zip(*results, strict=True))


def example2():
    head("Example 2: 400 curves of `sh`, 20 contaminated; linear kernel, three components")
    exact = {seed: KernelPCA(3, kernel="linear").fit(phonemes(seed)[0]) for seed in SEEDS}
    runs = {f"online, {update}": {"update": update} for update in UPDATES}
    runs |= {f"online, svd, psi={psi}": {"psi": psi} for psi in ("tukey", "exp", "huber", "none")}
    for name, given in runs.items():
        found, cos = [], []
        for seed in SEEDS:
            X, C, _ = phonemes(seed)
            model = OnlineRobustKernelPCA(3, kernel="linear", **given).fit(C)
            found.append(correlations(model.transform(X), exact[seed].transform(X)))
            cos.append(cosines(model, exact[seed]))
        summary(name, "defaults", found, cos)

    def weight(z):
        return 1.0 - 1.0 / (1.0 + np.exp(-0.002 * (z - 2.0)))  # beta and xi of the paper

    for label, kernel in (("h = k(X, x)", lambda A, B: A @ B.T), ("h = x", lambda A, B: A)):
        for start in STARTS:
            results = [literal(*phonemes(seed)[:2], kernel, 3, weight, start) for seed in SEEDS]
            summary(f"Algorithm 1 from {start}", label, *zip(*results, strict=True))


def stream(rng, mixing, n=10_000):
    X = rng.standard_normal((n, 50)) @ mixing
    X[:: n // 100] += 5.0
    return X


def speed(r=10):
    print(f"\npartial_fit, 300 landmarks, 50 features, {r} components, one core: rows a second")
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((50, 50)) / 7
    chunks = [stream(rng, mixing) for _ in range(4)]
    for update in UPDATES:
        model = OnlineRobustKernelPCA(r, gamma=0.02, landmarks=300, update=update, random_state=0)
        model.partial_fit(chunks[0])
        wall, core = [], []
        for chunk in chunks[1:] * 3:
            start, used = time.perf_counter(), time.process_time()
            model.partial_fit(chunk)
            wall.append(time.perf_counter() - start)
            core.append(time.process_time() - used)
        medians = [float(10_000 / np.median(times)) for times in (wall, core)]
        row(update, "by the clock", medians[0], "of core time", medians[1])


def memory(total=1_000_000):
    print(f"\n{total} rows in chunks of 10,000, 300 landmarks: resident MB")
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((50, 50)) / 7
    model = OnlineRobustKernelPCA(10, gamma=0.02, landmarks=300, random_state=0)
    start, used, seconds = time.perf_counter(), time.process_time(), 0.0
    for done in range(10_000, total + 1, 10_000):
        chunk = stream(rng, mixing)
        before = time.process_time()
        model.partial_fit(chunk)
        seconds += time.process_time() - before
        if done * 10 in (total, 5 * total, 10 * total):
            row(f"{done * 100 // total} %", _status("VmRSS") / 1024.0)
    row("rows a second", total / seconds, "of core time")
    row("whole run, s", time.perf_counter() - start, "core", time.process_time() - used)


def growth():
    print("\nseconds as n grows, 50 features, 5 components: one pass online on 100 landmarks, batch on all rows")
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((50, 50)) / 7
    OnlineRobustKernelPCA(5, gamma=0.02, landmarks=100, random_state=0).fit(stream(rng, mixing, 500))
    row("n", "online", "batch")
    for n in (500, 1000, 2000, 4000):
        X, times = stream(rng, mixing, n), []
        online = OnlineRobustKernelPCA(5, gamma=0.02, landmarks=100, random_state=0)
        for model in (online, RobustKernelPCA(5, gamma=0.02)):
            start = time.perf_counter()
            model.fit(X)
            times.append(time.perf_counter() - start)
        row(n, *times)


def figure(file, seed=0):
    """|cos| over the rows read, as in the paper's figure 2: plain, robust and literal runs."""
    X, C, bad = phonemes(seed)
    exact, times = KernelPCA(3, kernel="linear").fit(X), np.arange(70, 401, 10)
    runs = {"svd": {}, "ccipca": {"update": "ccipca"}, "Hebbian": {"update": "hebbian"}, "no weights": {"psi": "none"}}
    paths = {}
    for name, given in runs.items():
        model, path, last = OnlineRobustKernelPCA(3, kernel="linear", landmarks=C, **given), [], 0
        for t in times:
            model.partial_fit(C[last:t])
            path.append(cosines(model, exact))
            last = t
        paths[name] = path
    title = "Phoneme `sh`, 5 % contaminated: nearness to the clean components"
    plots.cosine_paths(paths, times, outliers=bad, title=title).savefig(file, dpi=110)


PARTS = {"example1": example1, "example2": example2, "speed": speed, "memory": memory, "growth": growth}


def main(parts=()):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in parts or PARTS:
            PARTS[name]()


if __name__ == "__main__":
    if sys.argv[1:2] == ["figure"]:
        figure(sys.argv[2] if len(sys.argv) > 2 else "robust_online.png")
    else:
        main(sys.argv[1:])
