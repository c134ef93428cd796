"""The paper's reduced sets exactly as printed: fixed-point pre-images [sec. IV-B1] and the strategies of Figure 1.

Written here with kernel matrices only, since Mercer's own compression does not offer the strategies that the paper
rejects. Only for the Gaussian kernel k(x, y) = exp(-gamma |x - y|^2).
"""

from typing import Any, NamedTuple

import numpy as np

_STEPS, _SETTLED = 30, 1e-4  # of one search: largest number of steps, and the smallest rise of (27) that counts
_HALVINGS, _TINY = 10, 1e-12


class Library(NamedTuple):
    """Vectors of feature space, u_k = sum_i coef[k, i] phi(points[i])."""

    points: Any  # (n, d)
    gram: Any  # (n, n)
    coef: Any  # (s, n)
    gamma: float


def gaussian(X: Any, Y: Any, gamma: float) -> Any:
    """Return k(X, Y)."""
    squares = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y)
    return np.exp(-gamma * np.maximum(squares - 2.0 * (X @ Y.T), 0.0))


def best_coef(library: Library, chosen: Any) -> Any:
    """Return the coefficients (29) with which chosen points come nearest to every vector, (s, m)."""
    own = gaussian(chosen, chosen, library.gamma)
    cross = gaussian(chosen, library.points, library.gamma)
    return (np.linalg.pinv(own, rcond=_TINY, hermitian=True) @ (cross @ library.coef.T)).T


def lost(library: Library, chosen: Any, coef: Any) -> Any:
    """Return |u_k - sum_j coef[k, j] phi(chosen[j])|^2 / |u_k|^2, (s,)."""
    own = np.einsum("ij,ij->i", library.coef @ library.gram, library.coef)
    cross = library.coef @ gaussian(library.points, chosen, library.gamma)
    again = np.einsum("ij,ij->i", coef @ gaussian(chosen, chosen, library.gamma), coef)
    return np.maximum(own - 2.0 * np.einsum("ij,ij->i", cross, coef) + again, 0.0) / own


def preimage(points: Any, coef: Any, gamma: float, start: Any) -> Any:
    """Return a point that maximises (27), summed over the rows of coef, (t, n), by fixed-point iteration.

    The fixed-point step [Schoelkopf et al. 1998] raises (27), but is too long if coefficients cancel, as those of
    centred components do; it is halved until (27) rises.
    """
    y, values, height = start, *_height(points, coef, gamma, start)
    for _ in range(_STEPS):
        weights = ((coef @ values) @ coef) * values  # their sum is (27)
        step = weights @ points / max(height, 1e-300) - y
        for _ in range(_HALVINGS):
            values, now = _height(points, coef, gamma, y + step)
            if now > height:
                break
            step = 0.5 * step
        else:
            break
        settled, y, height = now <= height * (1.0 + _SETTLED), y + step, now
        if settled:
            break
    return y


def _height(points: Any, coef: Any, gamma: float, y: Any) -> tuple[Any, float]:
    """Return k(points, y) and (27): the sum of (u . phi(y))^2, with k(y, y) = 1."""
    values = gaussian(y[None], points, gamma)[0]
    return values, float(np.sum((coef @ values) ** 2))


def _next(library: Library, chosen: Any, coef: Any) -> Any:
    """Return the next point for the residuals of vectors outside the chosen points, (28); coef is (t, n)."""
    part = library._replace(coef=coef)
    if len(chosen):
        used = best_coef(part, chosen)
        points, coef = np.vstack([library.points, chosen]), np.hstack([coef, -used])
    else:
        points = library.points
    left = coef @ gaussian(points, library.points, library.gamma)  # (t, n)
    start = library.points[int(np.argmax(np.sum(left**2, axis=0)))]  # the best point of the library
    return preimage(points, coef, library.gamma, start)


def grown(library: Library, coef: Any, chosen: Any, count: int) -> Any:
    """Return the chosen points and `count` more, made one after the other for the vectors `coef`."""
    for _ in range(count):
        chosen = np.vstack([chosen, _next(library, chosen, coef)])
    return chosen


def in_turn(library: Library, p: int) -> Any:
    """Return p points for one vector after the other, each also used by those that follow, (30)."""
    chosen = np.empty((0, library.points.shape[1]))
    for one in library.coef:
        chosen = grown(library, one[None], chosen, p)
    return chosen


def strategies(library: Library, p: int, seed: int = 0) -> dict[str, Any]:
    """Return the share of each vector that is lost, (s,), with p points per vector, by strategy."""
    nothing, s = np.empty((0, library.points.shape[1])), len(library.coef)
    alone, first_pass, chosen = np.empty(s), np.empty(s), nothing
    for k in range(s):
        one = library._replace(coef=library.coef[k : k + 1])
        own = grown(one, one.coef, nothing, p)
        alone[k] = lost(one, own, best_coef(one, own))[0]
        chosen = grown(one, one.coef, chosen, p)  # (30)
        first_pass[k] = lost(one, chosen, best_coef(one, chosen))[0]
    lengths = np.sqrt(np.einsum("ij,ij->i", library.coef @ library.gram, library.coef))
    shared = grown(library, library.coef / lengths[:, None], nothing, s * p)
    rows = library.points[np.random.default_rng(seed).permutation(len(library.points))[: s * p]]
    return {
        "a": alone,
        "b": first_pass,
        "c": lost(library, chosen, best_coef(library, chosen)),  # (31)
        "shared": lost(library, shared, best_coef(library, shared)),
        "rows": lost(library, rows, best_coef(library, rows)),
    }
