"""Settings that are trusted: among these the choice is made, because they were good on many other tables.

For features and outliers no error can be computed without labels. On 23 tables on which rules were compared (see
docs/evidence_settings.md), a criterion that chooses among all candidates was worse than a few fixed settings, and the
best was to choose by the criterion among these few.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mercer.criteria.candidates import Candidate, Family


@dataclass(frozen=True)
class Trust:
    """Gaussian kernels of some widths, on rows scaled in some ways, with some number of components."""

    widths: tuple[float, ...]
    scalings: tuple[str | bool, ...]
    n_components: int | None = None  # None: as many as there are candidates for
    alone: bool = False  # whether linear PCA is not taken either, however clearly it leads

    def among(self, candidates: Sequence[Candidate]) -> list[int]:
        """Return the places of the trusted candidates; of all kernels, where none of the kernels is a trusted one."""
        found = [i for i in self._with_count(candidates) if self._knows(candidates[i].family)]
        return found or self._with_count(candidates)

    def first(self, widths: Sequence[float]) -> tuple[float, ...]:
        """Return the widths with the trusted ones first, in case time is short."""
        return tuple(sorted(widths, key=lambda width: width not in self.widths))

    def _knows(self, family: Family) -> bool:
        return family.kernel == "rbf" and family.width in self.widths and family.standardize in self.scalings

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
