"""Settings for outlier detection: those that find pretended outliers of all kinds among the rows they learn from.

The pretended outliers are mixed into the rows, because real rows may hold outliers too, and a model that describes them
as normal must lose. For each kind of outlier, candidates are ranked by the area under the curve of found outliers over
false alarms, averaged over three draws; the score is the mean rank over the kinds, from 0 (the worst) to 1 (the best).
Ranks give every kind the same weight, whether it is easy to find or not.
"""

import numpy as np
from scipy.stats import rankdata

from mercer.arrays import Array
from mercer.criteria.candidates import Candidate, Family, Grid
from mercer.criteria.judged import Judged, Told, Watch, tried
from mercer.criteria.pretended_outliers import KINDS, pretended_outliers
from mercer.criteria.shared_distances import SharedDistances
from mercer.engine.scaling import Scaling
from mercer.expansion.model import Expansion

MOST_ROWS = 500
_DRAWS = 3
_ROWS_PER_COMPONENT = 3
_T2_WEIGHT = 0.5  # as in the detector's combination of T2 and SPE


def judge_by_outliers(
    X: Array,
    grid: Grid,
    rng: np.random.RandomState,
    *,
    watch: Watch | None = None,
    tell: Told = lambda step, total: None,
) -> Judged:
    """Return how well the candidates find pretended outliers; X is (n, d) with 20 rows at least."""
    watch = watch or Watch()
    X = np.asarray(X[rng.permutation(len(X))[:MOST_ROWS]], np.float64)
    draws = [np.concatenate([X, *pretended_outliers(X, rng)]) for _ in range(_DRAWS)]
    whole = {kind: SharedDistances(Scaling.of(X, kind)(X)) for kind in grid.scalings}
    mixed = {kind: [SharedDistances(Scaling.of(rows, kind)(rows)) for rows in draws] for kind in grid.scalings}
    families = grid.families()
    found = tried(families, lambda family: _areas(family, mixed[family.standardize], len(X), grid), watch, tell)
    areas: dict[Candidate, Array] = {}
    for family, rows in found.items():
        gamma = getattr(family.made(whole[family.standardize]), "gamma", None)
        areas.update({Candidate(family, gamma, count): own for count, own in rows.items()})
    return _decided(areas, len(X), len(families) - len(found))


def _areas(family: Family, draws: list[SharedDistances], n: int, grid: Grid) -> dict[int, Array]:
    """Return the areas, one per kind and draw, for each number of components that all draws allow."""
    most = min(max(grid.counts), max(n // _ROWS_PER_COMPONENT, 1))
    models = [rows.model(family.made(rows), most) for rows in draws]
    allowed = min(model.n_components for model in models)
    if family.kernel == "linear":
        allowed = min(allowed, max(draws[0].X.shape[1] - 1, 1))  # without a direction outside there is no SPE
    counts = sorted({min(count, allowed) for count in grid.counts})
    found = [_areas_of_draw(model, rows.X, n, counts) for model, rows in zip(models, draws, strict=True)]
    return dict(zip(counts, np.concatenate(found).T, strict=True))


def _areas_of_draw(model: Expansion, X: Array, n: int, counts: list[int]) -> Array:
    """Return the area for each kind and number of components, (kinds, counts); the first n rows are the real ones."""
    unusual = _combined(model, X, counts)
    parts = np.split(unusual[n:], KINDS)
    return np.array([_area(unusual[:n], part) for part in parts])


def _combined(model: Expansion, X: Array, counts: list[int]) -> Array:
    """Return T2 and SPE of rows, combined as the detector does it, (rows, counts)."""
    scores, norms = model.project_with_norm(X)
    squares, last = scores**2, np.array(counts) - 1
    present = np.where(model.eigenvalues > 0, model.eigenvalues, np.inf)  # a component of rounding errors has none
    t2 = np.cumsum(squares / present, axis=1)[:, last]
    spe = np.maximum(norms[:, None] - np.cumsum(squares, axis=1), 0.0)[:, last]
    return _in_units(spe) + _T2_WEIGHT * np.maximum(_in_units(t2), 0.0)


def _in_units(values: Array) -> Array:
    """Return values less their median, in units of the distance from the median to the largest tenth."""
    middle, high = np.quantile(values, [0.5, 0.9], axis=0)
    size = np.abs(values).max(axis=0)
    return np.asarray((values - middle) / np.maximum(high - middle, 1e-12 * np.where(size > 0, size, 1.0)))


def _area(normal: Array, pretended: Array) -> Array:
    """Return the probability that a pretended outlier is more unusual than a normal row, for each column."""
    n, m = len(normal), len(pretended)
    ranks = rankdata(np.concatenate([normal, pretended]), axis=0)[n:]
    return np.asarray((ranks.sum(axis=0) - 0.5 * m * (m + 1)) / (n * m))


def _decided(areas: dict[Candidate, Array], n_rows: int, skipped: int) -> Judged:
    candidates = list(areas)
    table = np.array([areas[candidate] for candidate in candidates]).reshape(len(candidates), _DRAWS, KINDS)
    scores = _mean_ranks(table.mean(axis=1))
    single = np.stack([_mean_ranks(table[:, draw]) for draw in range(_DRAWS)])
    spread = single.std(axis=0, ddof=1) / np.sqrt(_DRAWS)
    linear = [i for i, candidate in enumerate(candidates) if candidate.family.kernel == "linear"]
    best_linear = max(linear, key=lambda i: scores[i], default=None)
    return Judged(candidates, scores, spread, int(scores.argmax()), best_linear, n_rows, skipped)


def _mean_ranks(areas: Array) -> Array:
    """Return the mean rank of each candidate over the kinds, from 0 to 1, of areas (candidates, kinds)."""
    return np.asarray((rankdata(areas, axis=0).mean(axis=1) - 1.0) / max(len(areas) - 1, 1))
