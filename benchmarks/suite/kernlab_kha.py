"""kha of R's kernlab, run in a process of its own, and its result as a model.

Needs Rscript and the package kernlab (r-cran-kernlab on Debian).
"""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from benchmarks.suite.data import load
from mercer import KernelPCA

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


def usps_hundred() -> np.ndarray:
    """Return the first 100 images of each digit."""
    digits = load("usps")
    return digits.X[np.concatenate([np.flatnonzero(digits.y == k)[:100] for k in range(10)])]


@dataclass(frozen=True)
class Case:
    data: Callable[[], np.ndarray]
    gamma: float  # kernlab's sigma: both write exp(-gamma |x - y|^2)
    r: int
    eta: float
    passes: int


CASES = {
    "iris": Case(lambda: np.asarray(load_iris().data), 0.1, 5, 0.02, 100),
    "usps": Case(usps_hundred, 1 / 128, 16, 0.05, 30),
}


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


def kernel_matrix(X: np.ndarray, gamma: float) -> np.ndarray:
    squares = (X**2).sum(axis=1)
    return np.asarray(np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0.0)))
