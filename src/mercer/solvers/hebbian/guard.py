"""A guard against divergence: steps that diverge are repeated with smaller gains."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

_MAX_HALVINGS = 60

Found = TypeVar("Found")


class DivergedError(ArithmeticError):
    """A block diverges even with the smallest gain that the guard tries."""


@dataclass
class Guard:
    """Halves the scale of gains when a block diverges, and doubles it, up to one, when a block does not."""

    scale: float = 1.0
    halvings: int = 0

    def tried(self, block: Callable[[float], Found | None]) -> Found:
        """Return block(scale) for the first scale with which the block does not diverge; it returns None if it does."""
        before = self.scale
        while (found := block(self.scale)) is None:
            self.scale *= 0.5
            self.halvings += 1
            if self.scale < 2.0**-_MAX_HALVINGS:
                self.scale = before  # this block cannot be learned; the next ones perhaps can
                raise DivergedError
        self.scale = min(1.0, 2.0 * self.scale)
        return found
