"""Reduced sets by pre-images [chin2007, IV-B]: new points, so that few of them span the vectors.

Each vector in turn gets its points. Each point is the best for the residual that the points before leave (28), (30). A
pre-image starts at the library's point with the largest (27) and maximises (27) from there. A point of the library is
taken instead if that reduces the residuals of all vectors together more: by (31) every point is used for every vector,
and a pre-image that fits one vector often lies almost in the span of the points already chosen.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

import numpy as np
from scipy.linalg import lapack, solve_triangular
from sklearn.preprocessing import normalize

from mercer.arrays import Array, IntArray, Points, is_sparse
from mercer.engine.point_elimination import DEPENDENT
from mercer.engine.preimage_climb import climb_gaussian, climb_power
from mercer.engine.reduced_points import join_span, outside_span, rank_library
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Cosine, Linear, Polynomial

_NEGLIGIBLE = 1e-15  # share of a vector's square: a smaller gain by (27) would be decided by rounding
_STEPS, _RISE = 5, 1e-3  # limits of the maximisation: the comparison with the library's points needs no more digits
_TRIAL_STEPS, _HOPELESS = 2, 0.7  # after two steps (27) is at about 80 % of its end: with less than this it cannot win
_ORIGIN_ROWS = 32  # rows whose median is the centre; it is accurate enough, and cheap
_RANK = 1e-12  # share of the largest squared norm below which a direction of the rows is rounding


@dataclass(frozen=True)
class Variant:
    """How pre-images are made and used; other variants than the default are for experiments."""

    # which vectors use a point: "own" one vector, "sequential" also later ones [chin2007, Fig. 1 (a), (b)], "second"
    # all; with "shared", points are also searched for all vectors together
    passes: Literal["own", "sequential", "second", "shared"] = "second"
    library: bool = True  # whether points of the library are taken where they are better
    steps: int = _STEPS  # of the maximisation, at most


@dataclass(frozen=True)
class Frame:
    """Coordinates that make rows short: their number is the smaller one of features and rows.

    With more features than rows these are the rows of a Cholesky factor of their inner products. Pre-images stay in the
    span of the points, so nothing is lost, and a step costs n^2 instead of n d. With fewer features than rows there is
    no gain, and Gram matrices would lose digits.
    """

    shifted: Array  # (n, d), minus the origin
    origin: Array | None
    scale: float
    rows: Array  # (n, q)
    factor: Array | None  # (q, q), lower: coordinates of the rows `pivots` before scaling
    pivots: IntArray

    @classmethod
    def of(cls, points: Array, origin: Array | None, scale: float) -> "Frame":
        """Choose coordinates for points minus the origin, times the scale."""
        shifted = np.asarray(points, np.float64) - (0.0 if origin is None else origin)
        n, d = shifted.shape
        if d <= n:
            return cls(shifted, origin, scale, shifted * scale, None, np.arange(n))
        products = shifted @ shifted.T
        lower, pivots, rank, _ = lapack.dpstrf(products, lower=1, tol=_RANK * products.diagonal().max())
        lower, pivots = np.tril(lower)[:, :rank], pivots - 1
        rows = np.empty((n, rank))
        rows[pivots] = lower * scale
        return cls(shifted, origin, scale, rows, lower[:rank], pivots[:rank])

    def points(self, rows: Array) -> Array:
        """Return the points that have these coordinates."""
        made = rows / self.scale
        if self.factor is not None:
            mixture = solve_triangular(self.factor, made.T, lower=True, trans=1, check_finite=False).T
            made = mixture @ self.shifted[self.pivots]
        return made if self.origin is None else made + self.origin


@dataclass(frozen=True)
class Gaussian:
    """k(x, y) = exp(-|x - y|^2 / 2)."""

    def climb(self, rows: Array, half: Array, coef: Array, y: Array, values: Array, steps: int) -> float:
        """Move y so that (27) rises, write k(rows, y) and return the value of (27)."""
        return float(climb_gaussian(rows, half, coef, y, values, steps, _RISE))

    def own(self, y: Array) -> float:
        """Return k(y, y)."""
        return 1.0


@dataclass(frozen=True)
class Power:
    """k(x, y) = (x . y + coef0)^degree."""

    coef0: float
    degree: float

    def climb(self, rows: Array, half: Array, coef: Array, y: Array, values: Array, steps: int) -> float:
        """Move y so that (27) rises, write k(rows, y) and return the value of (27)."""
        return float(climb_power(rows, self.coef0, self.degree, coef, y, values, steps, _RISE))

    def own(self, y: Array) -> float:
        """Return k(y, y)."""
        return float((y @ y + self.coef0) ** self.degree)


Slope = Gaussian | Power


@singledispatch
def _search_space(kernel: Kernel, points: Array) -> tuple[Slope, Frame] | None:
    return None


@_search_space.register
def _(kernel: RBF, points: Array) -> tuple[Slope, Frame] | None:
    origin = kernel.origin(points[:: -(-len(points) // _ORIGIN_ROWS)])
    return Gaussian(), Frame.of(points, origin, np.sqrt(2.0 * kernel.gamma))


@_search_space.register
def _(kernel: Polynomial, points: Array) -> tuple[Slope, Frame] | None:
    if kernel.gamma < 0 or kernel.coef0 < 0 or kernel.degree < 1:
        return None  # k(y, y) may vanish or be negative
    return Power(float(kernel.coef0), float(kernel.degree)), Frame.of(points, None, np.sqrt(kernel.gamma))


@_search_space.register
def _(kernel: Linear, points: Array) -> tuple[Slope, Frame] | None:
    return Power(0.0, 1.0), Frame.of(points, None, 1.0)


@_search_space.register
def _(kernel: Cosine, points: Array) -> tuple[Slope, Frame] | None:
    return Power(0.0, 1.0), Frame.of(normalize(points), None, 1.0)


def search_space(kernel: Kernel, points: Points) -> tuple[Slope, Frame] | None:
    """Return how pre-images are found and in which coordinates; None if only points of the library are possible."""
    if is_sparse(points) or points.ndim != 2 or getattr(kernel, "gamma", 1.0) == 0.0:
        return None
    return _search_space(kernel, points)


class _Span:
    """An orthonormal basis of the chosen points, and the residuals of vectors and library outside its span."""

    def __init__(self, gram: Array, coef: Array, frame: Frame, size: int) -> None:
        n, s = len(gram), len(coef)
        self.gram, self.coef, self.n, self.m = gram, coef, n, 0
        self.rows = np.empty((n + size, frame.rows.shape[1]))  # library, then the chosen
        self.rows[:n] = frame.rows
        self.half = np.empty(n + size)
        self.half[:n] = 0.5 * np.einsum("ij,ij->i", frame.rows, frame.rows)
        self.own = np.ascontiguousarray(np.diagonal(gram))  # (n,)
        self.heights = coef @ gram  # (s, n), <r_k, phi(x_i)>
        self.norms = np.einsum("ij,ij->i", self.heights, coef)  # (s,)
        self.missing = self.own.copy()  # (n,), squared distances of the library from the span
        self.inverse = np.zeros((size, size))
        self.basis = np.empty((size, n))
        self.residual = np.zeros((s, n + size))  # r_k = sum_e residual_ke phi(e), (28)
        self.residual[:, :n] = coef
        self.places: list[int] = []  # in the library; -1 for a pre-image

    def add(self, y: Array, inside: Array, rest: float, values: Array, place: int) -> None:
        """Add a point to those chosen."""
        self.rows[self.n + self.m] = y
        self.half[self.n + self.m] = 0.5 * float(y @ y)
        arrays = self.inverse, self.basis, self.heights, self.missing, self.residual
        join_span(self.m, inside, rest, values, self.coef, *arrays)
        self.m += 1
        self.places.append(place)

    def add_from_library(self, place: int) -> None:
        """Add a point of the library to those chosen."""
        inside = np.ascontiguousarray(self.basis[: self.m, place])
        self.add(self.rows[place], inside, float(self.missing[place]), self.gram[place], place)

    def choose(self, slope: Slope, aim: slice, served: slice, variant: Variant) -> bool:
        """Add the best point for the residuals of some vectors; return whether there was one.

        A pre-image is found for these vectors; it is compared with points of the library for all vectors.
        """
        ranked = rank_library(self.heights[aim], self.heights[served], self.own, self.missing, DEPENDENT)
        start, height, best, gain = ranked
        if start < 0 or height <= _NEGLIGIBLE * self.norms[aim].sum():
            return False
        library = variant.library
        found = self._climb(slope, start, aim, served, gain if library else 0.0, variant.steps)
        if found.usable and not (library and gain >= found.gain):
            self.add(found.y, found.inside, found.rest, found.values[: self.n], -1)
        elif library:
            self.add_from_library(best)
        return found.usable or library

    def _climb(self, slope: Slope, start: int, aim: slice, served: slice, rival: float, steps: int) -> "_Found":
        """Look for a pre-image; stop early if its gain is far below that of the library's best point."""
        count, y = self.n + self.m, self.rows[start].copy()
        values, rows, half, residual = np.empty(count), self.rows[:count], self.half[:count], self.residual[:, :count]
        for some in (min(_TRIAL_STEPS, steps), steps - _TRIAL_STEPS):
            slope.climb(rows, half, residual[aim], y, values, some)
            found = self._judge(slope, y, values, served)
            if steps <= _TRIAL_STEPS or found.gain < _HOPELESS * rival:
                break
        return found

    def _judge(self, slope: Slope, y: Array, values: Array, served: slice) -> "_Found":
        own, inside = slope.own(y), np.empty(self.m)
        rest = float(outside_span(self.inverse, values[self.n :], own, inside))
        usable = bool(np.isfinite(own)) and rest > DEPENDENT * own
        gain = float(np.square(self.residual[served, : len(values)] @ values).sum()) / rest if usable else 0.0
        return _Found(y, values, inside, rest, usable, gain)


@dataclass(frozen=True)
class _Found:
    y: Array  # (q,)
    values: Array  # (n + m,), kernel values with the library and the chosen
    inside: Array  # (m,), components in the span
    rest: float  # squared distance from the span
    usable: bool  # not in the span
    gain: float  # by how much all vectors come closer, squared


def preimages(
    gram: Array,  # (n, n)
    coef: Array,  # (s, n)
    weights: Array,  # (s,)
    slope: Slope,
    frame: Frame,
    quotas: IntArray,  # (s,), points for each vector; points that one vector does not need are used for the next
    variant: Variant,
) -> tuple[Array, IntArray, IntArray]:
    """Return the pre-images, the places of all chosen points in the library, and how many there are after each vector.

    The place of a pre-image is -1.
    """
    span = _Span(gram, np.ascontiguousarray(coef * np.asarray(weights)[:, None]), frame, int(quotas.sum()))
    limits, counts = np.cumsum(quotas), []
    for k in range(len(coef)):
        aim = slice(None) if variant.passes == "shared" else slice(k, k + 1)
        served = slice(k, None) if variant.passes == "sequential" else slice(None)
        while span.m < limits[k] and span.choose(slope, aim, served, variant):
            pass
        counts.append(span.m)
    places = np.array(span.places, np.intp)
    return frame.points(span.rows[span.n : span.n + span.m][places < 0]), places, np.array(counts)
