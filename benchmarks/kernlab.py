"""HebbianKernelPCA against kha of R's kernlab: time until a distance from exact kernel PCA is reached.

    python -m benchmarks.kernlab [iris usps]

Needs Rscript and the package kernlab (r-cran-kernlab on Debian). Times are processor time of the fits alone, so that a
busy machine counts against neither; both use one thread, and of mercer the best of three counts. The distance is the
root of the sum of squared principal angles between the spans [chin2007, eq. 36]. "lengths" are those of kernlab's
vectors in feature space, which it means to be 1, and "eig" is what it returns as eigenvalues.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_limits

from benchmarks.kha import usps_hundred
from mercer import HebbianKernelPCA, KernelPCA
from mercer.metrics import subspace_distance

SCRIPT = """
suppressMessages(library(kernlab))
a <- commandArgs(TRUE)
x <- unname(as.matrix(read.csv(a[1], header = FALSE)))
set.seed(1)
warned <- character(0)
start <- sum(proc.time()[1:2])
fit <- tryCatch(
  withCallingHandlers(
    kha(x, kernel = "rbfdot", kpar = list(sigma = as.numeric(a[2])), features = as.integer(a[3]),
        eta = as.numeric(a[4]), th = as.numeric(a[5]), maxiter = as.integer(a[6])),
    warning = function(w) { warned <<- c(warned, conditionMessage(w)); invokeRestart("muffleWarning") }),
  error = function(e) conditionMessage(e))
seconds <- sum(proc.time()[1:2]) - start
if (!is.character(fit)) {
  write.table(pcv(fit), a[7], sep = ",", row.names = FALSE, col.names = FALSE)
  write.table(eig(fit), a[8], row.names = FALSE, col.names = FALSE)
}
cat(seconds, "\\n", if (is.character(fit)) fit else "", "\\n", paste(unique(warned), collapse = "; "), "\\n", sep = "")
"""

DEFAULT, QUICK = 0.005, 0.05  # eta: kernlab's own, and what suits 1000 digits


@dataclass(frozen=True)
class Case:
    data: Callable[[], np.ndarray]
    gamma: float  # kernlab's sigma: both write exp(-gamma |x - y|^2)
    r: int
    runs: tuple[tuple[float, float, int], ...]  # eta, th, maxiter


CASES = {
    "iris": Case(
        lambda: np.asarray(load_iris().data),
        0.1,
        5,
        ((DEFAULT, 1e-4, 10), (DEFAULT, 1e-4, 100), (DEFAULT, 1e-4, 1000), (DEFAULT, 1e-4, 10000),
         (0.02, 1e-4, 10), (0.02, 1e-4, 100), (0.02, 1e-4, 1000), (0.02, 0.0, 3000), (QUICK, 1e-4, 100)),
    ),
    "usps": Case(
        usps_hundred,
        1 / 128,
        16,
        ((DEFAULT, 1e-4, 3), (DEFAULT, 1e-4, 10), (DEFAULT, 1e-4, 30), (DEFAULT, 1e-4, 100),
         (QUICK, 1e-4, 3), (QUICK, 1e-4, 10), (QUICK, 1e-4, 30), (QUICK, 1e-4, 100), (0.2, 1e-4, 10)),
    ),
}  # fmt: skip
PASSES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200)


def kernlab(X: np.ndarray, case: Case, eta: float, th: float, maxiter: int, folder: Path) -> dict[str, Any]:
    """Run kha in a process of its own; return its time, coefficients, eigenvalues, error and warnings."""
    names = [folder / name for name in ("x.csv", "pcv.csv", "eig.csv", "kha.R")]
    x, pcv, eig, script = names
    np.savetxt(x, X, delimiter=",", fmt="%.17g")
    script.write_text(SCRIPT)
    arguments = (x, case.gamma, case.r, eta, th, maxiter, pcv, eig)
    command = ["Rscript", str(script), *map(str, arguments)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    seconds, error, warned = output[:3]
    found: dict[str, Any] = {"seconds": float(seconds), "error": error.strip(), "warned": warned.strip()}
    if not found["error"]:
        found |= {"A": np.loadtxt(pcv, delimiter=",", ndmin=2).T, "eig": np.loadtxt(eig)}
    return found


def as_model(exact: KernelPCA, A: np.ndarray, K: np.ndarray) -> Any:
    """Return coefficients on the training rows as a model; K is the centred kernel matrix."""
    coef = A - A.mean(axis=1, keepdims=True)
    reference = exact.expansion_
    return replace(reference, coef=coef, offset=np.zeros(len(A)), gram=A @ K @ A.T, eigenvalues=np.zeros(len(A)))


def ours(X: np.ndarray, case: Case, exact: KernelPCA) -> list[tuple[int, float, float]]:
    """Return passes, seconds and distance of fits of growing length."""
    options = {"kernel": "rbf", "gamma": case.gamma, "tol": 0, "random_state": 0}
    HebbianKernelPCA(case.r, max_iter=1, **options).fit(X)  # compiles
    found = []
    for passes in PASSES:
        model, times = HebbianKernelPCA(case.r, max_iter=passes, **options), []
        for _ in range(3):
            start = time.process_time()
            model.fit(X)
            times.append(time.process_time() - start)
        found.append((passes, min(times), subspace_distance(model, exact)))
    return found


def compare(name: str) -> None:
    case = CASES[name]
    X = case.data()
    exact = KernelPCA(case.r, kernel="rbf", gamma=case.gamma)
    exact.fit(X)
    start = time.process_time()
    exact.fit(X)
    seconds = time.process_time() - start
    K = _kernel(X, case.gamma)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, r = {case.r}, gamma = {case.gamma:g}")
    print(f"KernelPCA, exact: {seconds:.3f} s; eigenvalues {_few(exact.eigenvalues_)}")
    own = ours(X, case, exact)
    print("HebbianKernelPCA, defaults but tol=0: passes, seconds, distance")
    for passes, taken, distance in own:
        print(f"  {passes:5d} {taken:9.3f} {distance:9.2g}")
    print("kernlab kha: eta, th, maxiter, seconds, distance | HebbianKernelPCA as near: passes, seconds, times faster")
    with tempfile.TemporaryDirectory() as folder:
        for eta, th, maxiter in case.runs:
            result = kernlab(X, case, eta, th, maxiter, Path(folder))
            print(
                f"  {eta:6g} {th:6g} {maxiter:6d} {result['seconds']:9.2f}", _against(result, exact, K, own), flush=True
            )


def _against(result: dict[str, Any], exact: KernelPCA, K: np.ndarray, own: list[tuple[int, float, float]]) -> str:
    notes = f"  warns: {result['warned']}" if result["warned"] else ""
    if result["error"]:
        return f"stops: {result['error']}{notes}"
    A = result["A"]
    if not np.isfinite(A).all():
        return f"returns {np.sum(~np.isfinite(A))} values that are not finite{notes}"
    distance = subspace_distance(as_model(exact, A, K), exact)
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", A @ K, A), 0.0))
    as_near = next(((p, s) for p, s, d in own if d <= distance), None)
    reached = f"{as_near[0]:4d} {as_near[1]:8.3f} {result['seconds'] / as_near[1]:8.0f}" if as_near else "not reached"
    return (
        f"{distance:9.2g} | {reached}  lengths {lengths.min():.2g} to {lengths.max():.2g}, "
        f"eig {_few(result['eig'])}{notes}"
    )


def _kernel(X: np.ndarray, gamma: float) -> np.ndarray:
    squares = (X**2).sum(axis=1)
    return np.asarray(np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0.0)))


def _few(values: np.ndarray) -> str:
    return json.dumps([float(f"{value:.3g}") for value in values[:3]])


def available() -> bool:
    """Tell whether R and kernlab are there."""
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(kernlab)"], capture_output=True).returncode == 0


def main() -> None:
    if not available():
        print("skipped: Rscript or its package kernlab is not there (Debian: r-cran-kernlab)")
        return
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for name in sys.argv[1:] or CASES:
            compare(name)


if __name__ == "__main__":
    main()
