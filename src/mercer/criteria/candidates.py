"""What is compared: kernels, widths, numbers of components and scalings of the columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear, Polynomial

WIDTHS = (1.0, 0.25, 4.0, 1 / 16, 16.0, 1 / 64, 64.0)
"""Multiples of the gamma of the median distance; the most likely ones first, in case time is short."""

COUNTS = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of components."""

DEGREE = 2  # of the polynomial kernel


class Rows(Protocol):
    """Rows whose median distance is known."""

    @property
    def median_gamma(self) -> float:
        """Return the gamma of the median distance."""


@dataclass(frozen=True)
class Family:
    """A kernel on rows that are scaled in one way: one eigenvalue problem for all numbers of components."""

    kernel: str  # "linear", "rbf" or "poly"
    width: float | None = None  # gamma in units of the median's
    gamma: float | None = None  # where gamma itself is given
    standardize: str | bool = False

    def made(self, rows: Rows) -> Kernel:
        """Return the kernel for these rows."""
        if self.kernel == "linear":
            return Linear()
        gamma = rows.median_gamma * (self.width or 1.0) if self.gamma is None else self.gamma
        return RBF(gamma=gamma) if self.kernel == "rbf" else Polynomial(gamma=gamma, degree=DEGREE)


@dataclass(frozen=True)
class Candidate:
    """One setting: a family with its gamma and a number of components."""

    family: Family
    gamma: float | None
    n_components: int

    def __str__(self) -> str:
        """Return the setting in words."""
        what = {"linear": "the linear kernel", "poly": "the polynomial kernel of degree 2"}.get(self.family.kernel)
        if what is None:
            width = "" if self.family.width is None else f", {self.family.width:g} times the median's"
            what = f"a Gaussian kernel with gamma = {self.gamma:.3g}{width}"
        return f"{what} and {self.n_components} component{'s' if self.n_components > 1 else ''}"


@dataclass(frozen=True)
class Grid:
    """All combinations of some kernels, widths, numbers of components and scalings."""

    kernels: Sequence[str] = ("linear", "rbf")
    widths: Sequence[float] = WIDTHS
    counts: Sequence[int] = COUNTS
    scalings: Sequence[str | bool] = (False,)
    gammas: Sequence[float] = ()  # instead of widths

    def families(self) -> list[Family]:
        """Return the families without repetition, the most likely ones first: linear, then the first Gaussian."""
        gaussian = [Family("rbf", width) for width in self.widths]
        if self.gammas:
            gaussian = [Family("rbf", gamma=gamma) for gamma in self.gammas]
        if "rbf" not in self.kernels:
            gaussian = []
        linear = [Family(kernel) for kernel in self.kernels if kernel == "linear"]
        others = [Family(kernel) for kernel in self.kernels if kernel not in ("linear", "rbf")]
        groups = (linear + gaussian[:1], others, gaussian[1:])
        found = [replace(one, standardize=kind) for group in groups for kind in self.scalings for one in group]
        return list(dict.fromkeys(found))
