"""Settings for reconstruction, denoising and features: those that predict hidden cells of other rows best.

A quarter of the rows, at most 100, is kept apart. A fifth of their cells is hidden, with several patterns where there
are few columns, and every candidate that was fitted to the other rows predicts these cells. The score is the share of
their variation that is predicted: 1 is perfect, 0 is as good as the means of the columns. The linear kernel is taken
where no other kernel is better by more than one standard error of the difference. For features the choice is made among
trusted settings (`criteria.trust`): what predicts cells best is not always what tells classes apart.
"""

from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Array, varying_columns
from mercer.criteria.candidates import Candidate, Family, Grid
from mercer.criteria.different_rows import different_rows
from mercer.criteria.hidden_cells import BoolArray, hide, predictions, size_of
from mercer.criteria.judged import FEWEST_ROWS, Judged, Watch, tried
from mercer.criteria.shared_distances import SharedDistances
from mercer.criteria.trust import Trust
from mercer.engine.scaling import Scaling
from mercer.events import SILENT, Channel

MOST_ROWS = 500
_HELD, _HELD_SHARE = 100, 4  # rows that are predicted: at most so many, and one row in four
_CELLS, _PATTERNS = 1500, 4  # hidden cells that are enough, and the most patterns of hidden cells per row
_ROWS_PER_COMPONENT = 3


@dataclass(frozen=True, eq=False)
class _Trial:
    """Rows to learn from, rows to predict, and what is hidden of them."""

    learned: Array  # (n, d)
    held: Array  # (q, d), one row per pattern of hidden cells
    hidden: BoolArray  # (q, d)
    unit: Array  # (d,), in which errors are measured
    patterns: int
    varying: BoolArray  # (d,), the columns that are not constant

    @classmethod
    def of(cls, X: Array, several_scalings: bool, rng: np.random.RandomState) -> "_Trial":
        order = rng.permutation(len(X))
        count = min(_HELD, len(X) // _HELD_SHARE)
        held, learned = X[order[:count]], X[order[count:]]
        patterns = int(np.clip(np.ceil(5 * _CELLS / held.size), 1, _PATTERNS))
        held = np.tile(held, (patterns, 1))
        same = np.full(X.shape[1], size_of(X))  # so that squares neither overflow nor vanish
        unit = Scaling.of(learned, "soft").unit if several_scalings else same
        return cls(learned, held, hide((len(held), X.shape[1]), rng), unit, patterns, varying_columns(X))

    @property
    def known(self) -> int:
        """The smallest number of known cells of a row in columns that vary, and at least 1."""
        return max(int((~self.hidden & self.varying).sum(axis=1).min()), 1)

    def squares(self, differences: Array) -> Array:
        """Return the sum of squares over the hidden cells of each row, (..., rows)."""
        squared = ((differences / self.unit) ** 2 * self.hidden).sum(axis=-1)
        shape = (*squared.shape[:-1], self.patterns, -1)
        return np.asarray(squared.reshape(shape).sum(axis=-2))


def judge_by_cells(
    X: Array,
    grid: Grid,
    rng: np.random.RandomState,
    *,
    watch: Watch | None = None,
    channel: Channel = SILENT,
    trust: Trust | None = None,
    must_change: bool = False,
) -> Judged:
    """Return how well the candidates predict hidden cells; X is (n, d), with 20 different rows and 2 columns at least.

    Equal rows count once: a model predicts a copy of a row that it has learned, even where all is noise.

    With `trust` the choice is made among the trusted candidates, by the best score that their kernel has. With
    `must_change` linear models with more components than a row has known cells are left out: they reproduce any row as
    it is, and predict the mean.
    """
    watch = watch or Watch()
    X = _drawn(X, rng)
    trial = _Trial.of(X, len(grid.scalings) > 1, rng)
    whole = {kind: SharedDistances(Scaling.of(X, kind)(X)) for kind in grid.scalings}
    parts = {kind: _scaled(trial, kind) for kind in grid.scalings}
    trust = None if trust is None else trust.for_grid(grid)
    families = (grid if trust is None else replace(grid, widths=trust.first(grid.widths))).families()
    limits = {"linear": trial.known} if must_change else {}
    found = tried(
        families, lambda family: _errors(trial, family, *parts[family.standardize], grid, limits), watch, channel
    )
    candidates, errors = [], []
    for family, rows in found.items():
        gamma = getattr(family.made(whole[family.standardize]), "gamma", None)
        candidates += [Candidate(family, gamma, count) for count, _ in rows]
        errors += [own for _, own in rows]
    variation = trial.squares(trial.held - trial.learned.mean(axis=0))
    skipped = len(families) - len(found)
    return _decided(candidates, np.array(errors), variation, len(X), skipped, trust)


def _drawn(X: Array, rng: np.random.RandomState) -> Array:
    """Return different rows at random, at most `MOST_ROWS`."""
    found = different_rows(X, rng.permutation(len(X)), MOST_ROWS)
    if len(found) < FEWEST_ROWS:
        raise ValueError(
            f"Equal rows count once, and at least {FEWEST_ROWS} different rows are needed to compare settings; got "
            f"{len(found)} among {len(X)} rows. Pass more rows, or choose gamma and n_components yourself."
        )
    return np.asarray(X[found], np.float64)


def _scaled(trial: _Trial, kind: str | bool) -> tuple[Scaling, SharedDistances]:
    scaling = Scaling.of(trial.learned, kind)
    if not kind:  # far from the origin a linear model has fewer digits; no kernel here needs the origin
        scaling = replace(scaling, mean=trial.learned.mean(axis=0))
    return scaling, SharedDistances(scaling(trial.learned))


def _errors(
    trial: _Trial, family: Family, scaling: Scaling, rows: SharedDistances, grid: Grid, limits: dict[str, int]
) -> list[tuple[int, Array]]:
    """Return the squared errors of each row, for each number of components that these rows and the limits allow."""
    most = max(len(rows.X) // _ROWS_PER_COMPONENT, 1)
    most = min(most, limits.get(family.kernel, most))
    model = rows.model(family.made(rows), min(max(grid.counts), most))
    counts = sorted({min(count, model.n_components) for count in grid.counts})
    predicted = predictions(model, scaling(trial.held), trial.hidden, counts)
    differences = predicted * scaling.unit + scaling.mean - trial.held
    return list(zip(counts, trial.squares(differences), strict=True))


def _decided(
    candidates: list[Candidate], errors: Array, variation: Array, n_rows: int, skipped: int, trust: Trust | None
) -> Judged:
    """Return the scores and the choice; errors are (candidates, rows)."""
    total = max(float(variation.sum()), np.finfo(float).tiny)
    shares = errors.sum(axis=1) / total
    spread = (errors - shares[:, None] * variation).std(axis=1) * np.sqrt(len(variation)) / total
    linear = [i for i, candidate in enumerate(candidates) if candidate.family.kernel == "linear"]
    best_linear = min(linear, key=lambda i: shares[i], default=None)
    if trust is None:
        chosen, error = _clearly_best(errors, best_linear)
        error *= len(variation) / total  # a share of the variation, as scores are
        return Judged(candidates, 1.0 - shares, spread, chosen, best_linear, n_rows, skipped, lead_error=error)
    chosen, trusted = _best_trusted(candidates, shares, trust)
    return Judged(candidates, 1.0 - shares, spread, chosen, best_linear, n_rows, skipped, trusted)


def _clearly_best(errors: Array, best_linear: int | None) -> tuple[int, float]:
    """Return the best candidate, or the best linear one where that is not worse by more than a standard error.

    The second number is this standard error, of the mean over the rows.
    """
    chosen = int(errors.sum(axis=1).argmin())
    if best_linear is None:
        return chosen, 0.0
    gain = errors[best_linear] - errors[chosen]
    error = float(gain.std() / np.sqrt(len(gain)))
    return (best_linear if gain.mean() <= error else chosen), error


def _best_trusted(candidates: list[Candidate], shares: Array, trust: Trust) -> tuple[int, bool]:
    """Return the trusted candidate whose kernel predicts best, with whatever number of components.

    The second value tells whether it is a trusted one indeed: where there is none, all kernels are compared.
    """
    least: dict[Family, float] = {}
    for candidate, share in zip(candidates, shares, strict=True):
        least[candidate.family] = min(float(share), least.get(candidate.family, np.inf))
    places, trusted = trust.among(candidates)
    return min(places, key=lambda i: least[candidates[i].family]), trusted
