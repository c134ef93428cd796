"""Textbook twins of landmark methods: full kernel matrices, one row at a time, with nothing from the package."""

import math
from collections.abc import Sequence

import numpy as np


def schur_complement(K, chosen: Sequence[int]) -> np.ndarray:
    """What is left of K when the span of the chosen points is taken out: K - K_c (K_cc)^-1 K_c^T."""
    chosen = list(chosen)
    if not chosen:
        return K.copy()
    return K - K[:, chosen] @ np.linalg.solve(K[np.ix_(chosen, chosen)], K[chosen])


def projected_products(K_xm, K_mm, K_ym) -> np.ndarray:
    """Inner products of the projections of phi(x) and phi(y) on the span of the landmarks."""
    return K_xm @ np.linalg.solve(K_mm, K_ym.T)


def pivot_probabilities(K, count: int) -> dict[tuple[int, ...], float]:
    """The chance of every sequence of pivots, each drawn in proportion to the diagonal that those before it left."""
    chances: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(count):
        longer: dict[tuple[int, ...], float] = {}
        for chosen, chance in chances.items():
            left = np.maximum(np.diag(schur_complement(K, chosen)), 0.0)  # negative where K is indefinite
            left[list(chosen)] = 0.0
            for i in np.flatnonzero(left > 0):
                longer[(*chosen, int(i))] = chance * left[i] / left.sum()
        chances = longer
    return chances


def set_probabilities(K, count: int) -> dict[frozenset[int], float]:
    """The chance of every set of pivots, in any order."""
    chances: dict[frozenset[int], float] = {}
    for chosen, chance in pivot_probabilities(K, count).items():
        key = frozenset(chosen)
        chances[key] = chances.get(key, 0.0) + chance
    return chances


def ald(K, nu: float, limit: int, least: float = 1e-10) -> list[int]:
    """The rows that join a dictionary: one after the other, against the inverse of the dictionary's own matrix."""
    chosen: list[int] = []
    for t in range(len(K)):
        own = K[t, t]
        mean = math.fsum(K[i, i] for i in range(t + 1)) / (t + 1)
        explained = 0.0
        if chosen:
            k = K[t, chosen]
            explained = float(k @ np.linalg.inv(K[np.ix_(chosen, chosen)]) @ k)
        if own - explained > max(nu * mean, least * own, 0.0) and len(chosen) < limit:
            chosen.append(t)
    return chosen


def greedy_kpca(K, count: int) -> list[int]:
    """Rows that lower the total squared reconstruction error most, each found by trying all."""
    chosen: list[int] = []
    for _ in range(count):
        others = [i for i in range(len(K)) if i not in chosen]
        chosen.append(min(others, key=lambda i: float(np.trace(schur_complement(K, [*chosen, i])))))
    return chosen
