"""What solvers tell whoever listens: one small record a step, and never a print."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Channel", "Event", "History", "Observer"]


@dataclass(frozen=True)
class Event:
    """One step of a long computation."""

    stage: str
    step: int
    total: int | None = None
    residual: float | None = None
    seconds: float = 0.0


Observer = Callable[[Event], None]


@dataclass
class Channel:
    """Where a solver reports its steps; forwards each event to every observer."""

    observers: tuple[Observer, ...] = ()
    started: float = field(default_factory=time.perf_counter)

    def emit(self, stage: str, step: int, total: int | None = None, residual: float | None = None) -> None:
        """Send one event; costs next to nothing when nobody listens."""
        if self.observers:
            event = Event(stage, step, total, residual, time.perf_counter() - self.started)
            for observer in self.observers:
                observer(event)


SILENT = Channel()


class History:
    """An observer that keeps every event, for plots and tests."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        """Keep the event."""
        self.events.append(event)


def __dir__() -> list[str]:
    return sorted(__all__)
