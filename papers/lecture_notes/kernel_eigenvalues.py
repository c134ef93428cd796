"""Claims 1 to 3: the eigenvalue problem of the kernel matrix is that of the correlation matrix in feature space."""

from typing import Any

import numpy as np

from mercer import KernelPCA
from papers.comparison import claim
from papers.drawing import COLOURS, panels
from papers.experiment import Drawing, Experiment, Outcome, Run

_ROUNDING = 1e-10
_KERNEL: dict[str, Any] = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0.0}  # (x'u)^2


def features(X: Any) -> Any:
    """Return the feature map of (x'u)^2 in the plane, which has three coordinates."""
    return np.column_stack([X[:, 0] ** 2, np.sqrt(2.0) * X[:, 0] * X[:, 1], X[:, 1] ** 2])


def run(given: Run) -> Outcome:
    """Compare kernel PCA with PCA of the explicit features."""
    n = given.settings["rows"]
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 2)) * [1.0, 0.5], rng.normal(size=(200, 2))
    model = KernelPCA(3, **_KERNEL).fit(X)
    mapped = features(X) - features(X).mean(axis=0)  # the notes: remove the bias first
    values, axes = np.linalg.eigh(mapped.T @ mapped / n)  # eq. (A)
    values, axes = values[::-1], axes[:, ::-1]
    expected = (features(new) - features(X).mean(axis=0)) @ axes
    signs = np.sign((expected * model.transform(new)).sum(axis=0))
    ours = model.transform(new)
    eigen_gap = float(np.max(np.abs(model.eigenvalues_ / (n * values) - 1.0)))
    alpha = model.expansion_.coef
    norm_gap = float(np.max(np.abs((alpha**2).sum(axis=1) * model.eigenvalues_ - 1.0)))
    length_gap = float(np.max(np.abs(np.diag(model.expansion_.gram) - 1.0)))
    score_gap = float(np.max(np.abs(ours - expected * signs)) / np.max(np.abs(expected)))
    return Outcome(
        {"eigenvalues": Drawing(_draw(model.eigenvalues_, n * values, ours, expected * signs), _CAPTION)},
        (
            claim("lambda_j / (N lambda~_j) - 1, largest", "0", eigen_gap, eigen_gap < _ROUNDING),
            claim("lambda_k a_k'a_k - 1, largest", "0", norm_gap, norm_gap < _ROUNDING),
            claim("|q_k|^2 - 1, largest", "0", length_gap, length_gap < _ROUNDING),
            claim("scores of 200 new points, largest relative gap", "0", score_gap, score_gap < _ROUNDING),
        ),
    )


_CAPTION = (
    "Left: eigenvalues from the kernel matrix (bars) and N times those of the 3 x 3 correlation matrix in feature "
    "space (crosses). Right: scores of points that were not in the training set; all lie on the diagonal."
)


def _draw(values: Any, expected: Any, scores: Any, expected_scores: Any) -> Any:
    figure, (left, right) = panels(
        [
            ("Two ways to the same eigenvalues", "component", "eigenvalue of K"),
            ("Two ways to the same scores", "score by explicit features", "score by kernel values"),
        ]
    )
    numbers = np.arange(1, 4)
    left.bar(numbers, values, color=COLOURS[0], alpha=0.6, label="kernel matrix")
    left.plot(numbers, expected, "x", color=COLOURS[1], markersize=9, label="N x correlation matrix")
    left.set_xticks(numbers)
    left.legend(frameon=False, fontsize=8)
    for k, colour in zip(range(3), COLOURS, strict=False):
        right.plot(expected_scores[:, k], scores[:, k], "o", markersize=3, color=colour, label=f"component {k + 1}")
    right.legend(frameon=False, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    name="kernel_eigenvalues",
    title="kernel PCA is PCA in feature space",
    items=("Claim 1", "Claim 2", "Claim 3"),
    run=run,
    paper_did="Derives K a = lambda a with lambda = N lambda~, the normalisation a'a = 1 / lambda, and the scores of "
    "a test vector. No numbers.",
    we_do="Takes the kernel (x'u)^2 in the plane, whose feature space has three dimensions that can be written down, "
    "and compares KernelPCA with PCA of the written-down features.",
    open_choices=("The kernel and the data: (x'u)^2 and points from a normal distribution.",),
    differences=(
        "The notes write the score as q'phi(x) / lambda and, in the same line, as <q, phi(x)>. With |q| = 1 only the "
        "second can be right; that is what is computed.",
        "The notes assume centred features; KernelPCA centres the kernel matrix.",
    ),
    scales={"full": {"rows": 500}, "quick": {"rows": 500}, "tiny": {"rows": 40}},
)
