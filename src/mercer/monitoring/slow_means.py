"""Slow means of columns: their levels, and what these are beside what the other columns let expect."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.monitoring.levels import Levels
from mercer.monitoring.relations import Relations

Apply = Callable[[Callable[[Array], Array], Array, int], Array]  # of a function to rows, with the number of its columns


@dataclass(frozen=True, eq=False)
class SlowMeans:
    """Levels of all d columns, and relations of k of them; deviations have d + k columns."""

    levels: Levels
    relations: Relations | None
    kept: IntArray  # (k,), the columns that relations are about

    @property
    def share(self) -> float:
        """The share of the rate of false alarms that slow means have."""
        return sum(part.share for part in self._parts if part.count)

    @property
    def width(self) -> int:
        """The number of slow means."""
        return sum(len(part.unit) for part in self._parts)

    @property
    def _parts(self) -> list[Levels]:
        return [self.levels] if self.relations is None else [self.levels, self.relations.levels]

    def followed(self, X: Array, start: Array, alpha: float, apply: Apply) -> tuple[Array, Array]:
        """Return the deviations of the slow means in units, (n, width), and where they end, (width,)."""
        d = X.shape[1]
        found, end = self.levels.followed(X, start[:d], alpha)
        if self.relations is None:
            return found, end
        adjusted = apply(self.relations, X[:, self.kept], len(self.kept))
        more, last = self.relations.levels.followed(adjusted, start[d:], alpha)
        return np.hstack([found, more]), np.concatenate([end, last])

    def p_values(self, deviations: Array) -> Array:
        """Return the smallest rate of false alarms at which a slow mean of each row is unusual, (n,)."""
        parts = zip(self._parts, self._split(deviations), strict=True)
        return np.asarray(np.min([part.p_values(some) for part, some in parts], axis=0))

    def _split(self, deviations: Array) -> list[Array]:
        d = len(self.levels.unit)
        return [deviations[:, :d], deviations[:, d:]][: len(self._parts)]

    def _sizes(self, deviations: Array, alpha: float) -> Array:
        """Return the sizes of deviations in units of their limits for a rate, (n, width)."""
        return np.asarray(np.abs(deviations) / np.concatenate([part.limits(alpha) for part in self._parts]))

    def largest(self, X: Array, alpha: float, apply: Apply) -> Array:
        """Return the largest deviation, in units of its limit, of rows without a gap in time, (n,)."""
        deviations, _ = self.followed(X, np.zeros(self.width), alpha, apply)
        return np.asarray(self._sizes(deviations, alpha).max(axis=1))

    def contributions(self, X: Array, alpha: float) -> Array:
        """Return how much each column contributes to the slow means of rows without a gap in time, (n, d).

        The squared deviations of levels and the contributions to relations, all in units of limits, are added.
        """
        deviations, _ = self.levels.followed(X, np.zeros(X.shape[1]), alpha)
        found = (deviations / self.levels.limits(alpha)) ** 2
        if self.relations is not None:
            found[:, self.kept] += self.relations.contributions(X[:, self.kept], alpha)
        return np.where(np.isnan(X), 0.0, found)

    def in_words(self, deviations: Array, alpha: float, names: list[str]) -> list[str]:
        """Return a text such as "level: T3, T4; relation: T5" per row: what is beyond its limit, the furthest first.

        Where nothing is, since an alarm needs several rows, it is what is nearest to its limit.
        """
        sizes, d = self._sizes(deviations, alpha), len(self.levels.unit)
        least = np.minimum(1.0, sizes.max(axis=1))
        texts: tuple[list[str], ...] = (_in_words("level", names, sizes[:, :d], least),)
        if self.relations is not None:
            texts += (_in_words("relation", [names[j] for j in self.kept], sizes[:, d:], least),)
        return ["; ".join(filter(None, parts)) for parts in zip(*texts, strict=True)]

    def away(self, deviations: Array, alpha: float, names: list[str]) -> str:
        """Return a text that names what is beyond its limit in one row of deviations, (width,); empty for nothing."""
        beyond = (self._sizes(deviations, alpha) >= 1.0).any()
        return self.in_words(deviations[None], alpha, names)[0] if beyond else ""


def _in_words(kind: str, names: list[str], sizes: Array, least: Array) -> list[str]:
    """Return the names of the columns whose sizes are at least so large, per row, the largest first."""
    texts = []
    for row, at in zip(sizes, least.tolist(), strict=True):
        order = np.argsort(-row, kind="stable")[: int((row >= at).sum())]
        texts.append(f"{kind}: {', '.join(names[j] for j in order)}" if len(order) else "")
    return texts
