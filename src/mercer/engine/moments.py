"""Weighted first and second moments of rows: added, subtracted, reduced in weight, merged, and mapped.

Rows are measured from a fixed reference near their mean. Sums of products about a far origin lose digits when they are
centred: with a mean of 1e6 standard deviations nothing would be left of twelve digits. Sums are in float64. Rows in
float32 are multiplied in float32, but only a few at a time: sums of many squares in float32 lose more than six digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Array

_FAR = 0.99  # share of the second moment that is due to the mean's distance from the reference, where it is moved
_LEAST_WEIGHT = 1e-200  # rows with less weight are ignored; products with subnormal numbers are slow
_LEAST_SUM = 128  # products of so many rows may be added in float32; what that loses averages out over such sums
# The error of a mean over n products, L of them added in float32 at a time, grows as L / sqrt(n). This is its value for
# 1024 rows and sums of 128, with which it is tried whether float32 suffices.
_SUM_GROWTH = 4.0


@dataclass
class Moments:
    """Sums over rows z = k - reference with weights w."""

    reference: Array  # (m,), float64
    total: Array  # (m,), sum w z
    product: Array  # (m, m), sum w z z^T
    weight: float = 0.0  # sum w
    squares: float = 0.0  # sum w^2
    own: float = 0.0  # sum w k(x, x)

    @classmethod
    def empty(cls, reference: Array) -> "Moments":
        """Return the moments of no rows."""
        m = len(reference)
        return cls(reference, np.zeros(m), np.zeros((m, m)))

    def add_block(self, Z: Array, own: Array, weights: Array | None = None, short_sum: int = _LEAST_SUM) -> None:
        """Add rows Z, (b, m), which are overwritten; `own` is k(x, x), (b,); default weights are 1.

        Of rows in float32, `short_sum` at a time are added up in float32.

        Z^T Z of one array with itself is computed by the symmetric update of BLAS, which does half the work. (Through
        scipy it would keep the interpreter lock, and other threads would wait.)
        """
        first = self.weight == 0.0
        Z -= self.reference.astype(Z.dtype, copy=False)
        if weights is None:
            total = _total(Z, short_sum)
            self.weight, self.squares, self.own = (
                self.weight + len(Z),
                self.squares + len(Z),
                self.own + float(own.sum()),
            )
        else:
            total = weights @ Z
            self.weight += float(weights.sum())
            self.squares += float(weights @ weights)
            self.own += float(weights @ own)
            Z *= np.sqrt(weights).astype(Z.dtype, copy=False)[:, None]
        self.total += total
        product = _product(Z, short_sum)
        if first:
            self.product = product
        else:
            self.product += product

    def add(self, other: "Moments", sign: float = 1.0) -> None:
        """Add the moments of other rows in the same coordinates; with sign=-1 subtract them."""
        other = other.about(self.reference)
        self.total += sign * other.total
        self.product += other.product if sign == 1.0 else sign * other.product
        self.weight += sign * other.weight
        self.squares += sign * other.squares
        self.own += sign * other.own

    def faded(self, factor: float) -> "Moments":
        """Return the moments with all weights multiplied by a factor; the same object if the factor is 1."""
        if factor == 1.0:
            return self
        return replace(
            self,
            total=self.total * factor,
            product=self.product * factor,
            weight=self.weight * factor,
            squares=self.squares * factor * factor,
            own=self.own * factor,
        )

    def about(self, reference: Array) -> "Moments":
        """Return the same moments about another reference; the same object if the reference is the same."""
        shift = self.reference - reference
        if not shift.any():
            return self
        cross = np.outer(self.total + 0.5 * self.weight * shift, shift)
        return replace(
            self,
            reference=reference,
            total=self.total + self.weight * shift,
            product=self.product + (cross + cross.T),
        )

    def settled(self) -> "Moments":
        """Return the moments about a reference near the mean: the same object unless the mean has moved far from it."""
        spread = float(np.trace(self.product))
        far = self.weight > 0 and float(self.total @ self.total) > _FAR * self.weight * spread
        return self.about(self.mean) if far else self

    def mapped(self, T: Array) -> "Moments":
        """Return the moments of the rows T k; T is (m', m)."""
        reference = T @ self.reference
        shift = T @ self.reference - reference
        total = T @ self.total
        cross = np.outer(total + 0.5 * self.weight * shift, shift)
        return replace(
            self,
            reference=reference,
            total=total + self.weight * shift,
            product=T @ self.product @ T.T + (cross + cross.T),
        )

    def copy(self) -> "Moments":
        """Return moments that can be changed without changing these."""
        return replace(self, total=self.total.copy(), product=self.product.copy())

    @property
    def mean(self) -> Array:
        """The weighted mean of the rows, (m,)."""
        return self.reference + self.total / max(self.weight, _LEAST_WEIGHT)

    def scatter(self, center: bool) -> Array:
        """Return sum w (k - mean)(k - mean)^T, (m, m), or sum w k k^T."""
        if center:
            return self.product - np.outer(self.total, self.total / max(self.weight, _LEAST_WEIGHT))
        return self.about(np.zeros_like(self.reference)).product

    @property
    def sizes(self) -> Array:
        """The sizes to which rounding errors of the sums are relative: of sum w k(x, x), and of sum w |z|^2."""
        return np.array([abs(self.own), float(np.trace(self.product))])

    @property
    def freedom(self) -> float:
        """The divisor of the centred scatter in an unbiased covariance: n - 1 where all weights are 1."""
        return self.weight - self.squares / self.weight if self.weight > 0 else 0.0


def rows_per_sum(n: int) -> int:
    """Return how many of n rows in float32 may be added up in float32 at a time."""
    return max(_LEAST_SUM, int(_SUM_GROWTH * np.sqrt(n)))


def _total(Z: Array, short_sum: int) -> Array:
    """Return the sum of the rows in float64."""
    if Z.dtype == np.float64:
        return np.asarray(Z.sum(axis=0))
    pieces = _pieces(Z, short_sum)
    return np.asarray(np.sum([np.ones(len(some), Z.dtype) @ some for some in pieces], axis=0, dtype=np.float64))


def _product(Z: Array, short_sum: int) -> Array:
    """Return Z^T Z in float64."""
    if Z.dtype == np.float64:
        return np.asarray(Z.T @ Z)
    product = np.zeros((Z.shape[1], Z.shape[1]))
    for some in _pieces(Z, short_sum):
        product += some.T @ some
    return product


def _pieces(Z: Array, rows: int) -> list[Array]:
    """Return pieces of about equal size with at most so many rows each."""
    return np.array_split(Z, -(-len(Z) // rows)) if len(Z) else []


def total(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all rows of several parts, at least one."""
    found = parts[0].copy()
    for part in parts[1:]:
        found.add(part)
    return found


def fading_weights(n: int, forgetting: float, newer: int = 0) -> Array | None:
    """Return the weights of n rows in order of time, when `newer` rows follow them; None where all weights are 1."""
    if forgetting == 1.0:
        return None
    weights = forgetting ** np.arange(newer + n - 1, newer - 1, -1, dtype=np.float64)
    return np.where(weights < _LEAST_WEIGHT, 0.0, weights)
