"""Settings for outlier detection: the trusted ones that find pretended outliers best.

Twice, a third of the rows is held back, and models of the others must tell pretended outliers from the held rows. For
each kind of outlier, candidates are ranked by the area under the curve of found outliers over false alarms; the score
is the mean rank over the kinds, from 0 (the worst) to 1 (the best). Ranks give every kind the same weight, whether it
is easy to find or not.

Pretended outliers are not like real ones, so the choice is made among the trusted candidates. Linear PCA is taken only
where its area is larger than that of the best of these for every kind, and by .06 on average.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from mercer.arrays import Array, varying_columns
from mercer.criteria.candidates import Candidate, Family, Grid
from mercer.criteria.different_rows import different_rows
from mercer.criteria.held_out import HeldOut
from mercer.criteria.judged import FEWEST_ROWS, Judged, Watch, tried
from mercer.criteria.pretended_outliers import KINDS, pretended_outliers
from mercer.criteria.trust import Trust
from mercer.engine.scaling import Scaling, have_one_unit
from mercer.engine.upper_units import UpperUnits, combined_index
from mercer.events import SILENT, Channel

MOST_ROWS = 500
_DRAWS = 2
_HELD_SHARE = 3  # one row in three is held back
_FEWEST, _SHARE = 20, 8  # pretended outliers of each kind: one for eight rows, and not fewer than so many
_ROWS_PER_COMPONENT = 3
_LEAD = 0.06  # of linear PCA in the mean area, from which on it is taken


def judge_by_outliers(
    X: Array,
    grid: Grid,
    rng: np.random.RandomState,
    *,
    trust: Trust,
    watch: Watch | None = None,
    channel: Channel = SILENT,
) -> Judged:
    """Return how well the candidates find pretended outliers; X is (n, d) with 20 rows at least.

    Equal rows count once: a held row with a copy among the learned ones looks more normal than new rows do. Only where
    fewer than 20 rows are different, all rows are taken as they are.
    """
    watch = watch or Watch()
    if have_one_unit(X):  # pretended outliers do not show that scaling does harm there
        trust = replace(trust, scalings=(False,))
    X = _drawn(X, rng)
    draws = [_Draw.of(X, rng) for _ in range(_DRAWS)]
    whole = {kind: HeldOut(Scaling.of(X, kind)(X), X[:0]) for kind in grid.scalings}
    parts = {kind: [draw.scaled(kind) for draw in draws] for kind in grid.scalings}
    trust = trust.for_grid(grid)
    families = replace(grid, widths=trust.first(grid.widths)).families()
    most = min(max(grid.counts), max(len(X) // _ROWS_PER_COMPONENT, 1))
    inside = max(int(varying_columns(X).sum()) - 1, 1)  # without a direction outside linear PCA has no SPE
    limits = {"linear": min(most, inside)}
    found = tried(
        families,
        lambda family: _areas(family, parts[family.standardize], limits.get(family.kernel, most), grid),
        watch,
        channel,
    )
    areas: dict[Candidate, Array] = {}
    for family, rows in found.items():
        gamma = getattr(family.made(whole[family.standardize]), "gamma", None)
        areas.update({Candidate(family, gamma, count): own for count, own in rows.items()})
    return _decided(areas, trust, len(X), len(families) - len(found))


def _drawn(X: Array, rng: np.random.RandomState) -> Array:
    order = rng.permutation(len(X))
    found = different_rows(X, order, MOST_ROWS)
    return np.asarray(X[found if len(found) >= FEWEST_ROWS else order[:MOST_ROWS]], np.float64)


@dataclass(frozen=True, eq=False)
class _Draw:
    """Rows that models learn, held rows, and pretended outliers of all kinds."""

    learned: Array  # (n, d)
    others: Array  # (m, d): the held rows, then the outliers of one kind after the other
    n_held: int

    @classmethod
    def of(cls, X: Array, rng: np.random.RandomState) -> "_Draw":
        order, count = rng.permutation(len(X)), len(X) // _HELD_SHARE
        pretended = pretended_outliers(X, max(_FEWEST, len(X) // _SHARE), rng)
        return cls(X[order[count:]], np.concatenate([X[order[:count]], *pretended]), count)

    def scaled(self, kind: str | bool) -> tuple[HeldOut, int]:
        scaling = Scaling.of(self.learned, kind)
        return HeldOut(scaling(self.learned), scaling(self.others)), self.n_held


def _areas(family: Family, draws: list[tuple[HeldOut, int]], most: int, grid: Grid) -> dict[int, Array]:
    """Return the areas, (draws, kinds), for each number of components that all draws allow."""
    indices = [combined(*rows.statistics(family.made(rows), most), n_held) for rows, n_held in draws]
    allowed = min(index.shape[1] for index in indices)
    counts = sorted({min(count, allowed) for count in grid.counts})
    columns = np.array(counts) - 1
    found = np.stack(
        [_areas_of_draw(index[:, columns], n_held) for index, (_, n_held) in zip(indices, draws, strict=True)]
    )
    return {count: found[:, :, place] for place, count in enumerate(counts)}


def combined(t2: Array, spe: Array, n_held: int) -> Array:
    """Return T2 and SPE of rows, combined as the detector does it; the first rows are held ones and set the units."""
    return combined_index(*(UpperUnits.of(values[:n_held])(values) for values in (t2, spe)))


def _areas_of_draw(index: Array, n_held: int) -> Array:
    """Return the area for each kind and number of components, (kinds, counts)."""
    return np.array([area(index[:n_held], part) for part in np.split(index[n_held:], KINDS)])


def area(normal: Array, pretended: Array) -> Array:
    """Return the probability that a pretended outlier is more unusual than a normal row, for each column."""
    above = (pretended[:, None] > normal).mean(axis=(0, 1))
    return np.asarray(above + 0.5 * (pretended[:, None] == normal).mean(axis=(0, 1)))


def _decided(areas: dict[Candidate, Array], trust: Trust, n_rows: int, skipped: int) -> Judged:
    candidates = list(areas)
    table = np.array([areas[candidate] for candidate in candidates])  # (candidates, draws, kinds)
    scores = mean_ranks(table.mean(axis=1))
    single = np.stack([mean_ranks(table[:, draw]) for draw in range(_DRAWS)])
    spread = single.std(axis=0, ddof=1) / np.sqrt(_DRAWS)
    places, trusted = trust.among(candidates)
    chosen = max(places, key=lambda i: scores[i])
    linear = [i for i, candidate in enumerate(candidates) if candidate.family.kernel == "linear"]
    best_linear = max(linear, key=lambda i: scores[i], default=None)
    if best_linear is not None and not trust.alone:
        lead = (table[best_linear] - table[chosen]).mean(axis=0)  # (kinds,)
        chosen = best_linear if lead.min() > 0 and lead.mean() > _LEAD else chosen
    return Judged(candidates, scores, spread, chosen, best_linear, n_rows, skipped, trusted)


def mean_ranks(areas: Array) -> Array:
    """Return the mean rank of each candidate over the kinds, from 0 to 1, of areas (candidates, kinds)."""
    return np.asarray((rankdata(areas, axis=0).mean(axis=1) - 1.0) / max(len(areas) - 1, 1))
