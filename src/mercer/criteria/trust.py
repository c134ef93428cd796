"""Settings that are trusted: among these the choice is made, because they were good on many other tables.

For features and outliers no error can be computed without labels. On 23 tables on which rules were compared (see
docs/evidence_settings.md), a criterion that chooses among all candidates was worse than a few fixed settings, and the
best was to choose by the criterion among these few.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mercer.criteria.candidates import COUNTS, Candidate, Family, Grid


@dataclass(frozen=True)
class Trust:
    """Gaussian kernels of some widths, on rows scaled in some ways, with some number of components."""

    widths: tuple[float, ...]
    scalings: tuple[str | bool, ...]
    n_components: int | None = None  # None: as many as there are candidates for
    alone: bool = False  # whether linear PCA is not taken either, however clearly it leads
    any_scaling: bool = False  # whether rows may be scaled in any way, because no candidate has a trusted scaling
    any_count: bool = False  # whether no candidate has the trusted number of components

    def for_grid(self, grid: Grid) -> "Trust":
        """Return these conditions, with any scaling where no kernel of the grid meets all of them.

        The whole grid counts, not only what is tried before the time is over: conditions are the same in both cases.
        """
        known = any(self._knows(family) for family in grid.families())
        counted = max(grid.counts) >= max(COUNTS) if self.n_components is None else self.n_components in grid.counts
        return replace(self, any_scaling=not known, any_count=not counted)

    def among(self, candidates: Sequence[Candidate]) -> tuple[list[int], bool]:
        """Return the places among which the choice is made, and whether these are the trusted candidates.

        Where no candidate meets the conditions, each kernel has one place.
        """
        nearest = self._with_count(candidates)
        found = [i for i in nearest if self._knows(candidates[i].family)]
        return found or nearest, bool(found) and not (self.any_scaling or self.any_count)

    def first(self, widths: Sequence[float]) -> tuple[float, ...]:
        """Return the widths with the trusted ones first, in case time is short."""
        return tuple(sorted(widths, key=lambda width: width not in self.widths))

    def _knows(self, family: Family) -> bool:
        scaled = self.any_scaling or family.standardize in self.scalings
        return family.kernel == "rbf" and family.width in self.widths and scaled

    def _with_count(self, candidates: Sequence[Candidate]) -> list[int]:
        """Return for each kernel the place of the candidate whose number of components is nearest to the trusted."""
        best: dict[Family, int] = {}
        for i, candidate in enumerate(candidates):
            place = best.setdefault(candidate.family, i)
            if self._distance(candidate) < self._distance(candidates[place]):
                best[candidate.family] = i
        return list(best.values())

    def _distance(self, candidate: Candidate) -> int:
        if self.n_components is None:
            return -candidate.n_components
        return abs(candidate.n_components - self.n_components)
