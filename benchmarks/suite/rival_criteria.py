"""Other criteria for the settings of denoising, beside hidden cells."""

import numpy as np

from mercer.criteria.candidates import Candidate, Family, Grid
from mercer.criteria.shared_distances import SharedDistances
from mercer.preimage.methods import Anchors, find_preimages

_PERMUTATIONS = 3


def _families(grid: Grid) -> list[Family]:
    return [family for family in grid.families() if family.kernel == "rbf"]


def by_preimages(X: np.ndarray, grid: Grid) -> Candidate:
    """Return the setting with the least error of pre-images of held-out rows [Alam and Fukumizu 2014]."""
    order = np.random.default_rng(0).permutation(len(X))
    held, learned = X[order[: len(X) // 4]], SharedDistances(X[order[len(X) // 4 :]])
    found: dict[Candidate, float] = {}
    for family in _families(grid):
        kernel = family.made(learned)
        model = learned.model(kernel, max(grid.counts))
        own, scores = model.project(learned.X), model.project(held)
        for count in sorted({min(count, model.n_components) for count in grid.counts}):
            anchors = Anchors(learned.X, own[:, :count])
            back = find_preimages("auto", model.truncated(count), scores[:, :count], anchors)
            found[Candidate(family, getattr(kernel, "gamma", None), count)] = float(((back - held) ** 2).sum())
    return min(found, key=lambda one: found[one])


def by_parallel_analysis(X: np.ndarray, grid: Grid) -> Candidate:
    """Return the setting of kernel parallel analysis [Jørgensen and Hansen 2012].

    Components are those whose eigenvalue exceeds the one of rows with permuted columns, and the width is that with the
    largest sum of these differences.
    """
    rng = np.random.default_rng(0)
    rows = SharedDistances(X)
    mixed = [SharedDistances(rng.permuted(X, axis=0)) for _ in range(_PERMUTATIONS)]
    best: tuple[float, Candidate] | None = None
    for family in _families(grid):
        gamma = getattr(family.made(rows), "gamma", None)
        kernel = family.made(rows)
        values = _eigenvalues(rows, kernel, max(grid.counts))
        noise = np.mean([_eigenvalues(one, kernel, max(grid.counts)) for one in mixed], axis=0)
        above = int(np.argmin(values > noise)) if not (values > noise).all() else len(values)
        energy = float((values - noise)[:above].sum())
        if best is None or energy > best[0]:
            best = energy, Candidate(family, gamma, max(above, 1))
    assert best is not None
    return best[1]


def _eigenvalues(rows: SharedDistances, kernel: object, count: int) -> np.ndarray:
    found = rows.model(kernel, count).eigenvalues  # type: ignore[arg-type]
    return np.pad(found, (0, count - len(found)))
