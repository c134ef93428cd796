"""Progress of long computations: solvers send one event per step to observers, and never print."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakSet

__all__ = ["Channel", "Event", "History", "Observer"]


@dataclass(frozen=True)
class Event:
    """One step of a long computation.

    Parameters
    ----------
    stage : str
        The name of the computation, such as "eigenvectors".
    step : int
        The number of the step, from 1.
    total : int or None, default=None
        The number of steps in all. None: not known before the end.
    residual : float or None, default=None
        How far the computation still is from its end, where the solver measures it.
    seconds : float, default=0.0
        Time since the computation began.

    See Also
    --------
    Channel : Sends events to observers.
    History : Collects events.

    Examples
    --------
    >>> from mercer.events import Event
    >>> Event("passes", 3, total=10)
    Event(stage='passes', step=3, total=10, residual=None, seconds=0.0)
    """

    stage: str
    step: int
    total: int | None = None
    residual: float | None = None
    seconds: float = 0.0


#: A function of one `Event`. Pass any such function to a `Channel`.
Observer = Callable[[Event], None]


@dataclass
class Channel:
    """The object to which a solver reports its steps. It forwards each event to every observer.

    Parameters
    ----------
    observers : tuple of callables, default=()
        Functions of one `Event`.
    started : float
        The time at which the computation began, by `time.perf_counter`. By default this is now.

    See Also
    --------
    Event : One step of a computation.
    History : Collects events.

    Examples
    --------
    >>> from mercer.events import Channel, History
    >>> history = History()
    >>> Channel((history,)).emit("passes", 1, total=10)
    >>> history.events[0].stage
    'passes'
    """

    observers: tuple[Observer, ...] = ()
    started: float = field(default_factory=time.perf_counter)

    def emit(self, stage: str, step: int, total: int | None = None, residual: float | None = None) -> None:
        """Send one event to all observers; without observers nothing is done.

        Parameters
        ----------
        stage : str
            The name of the computation.
        step : int
            The number of the step, from 1.
        total : int or None, default=None
            The number of steps in all. None: not known before the end.
        residual : float or None, default=None
            How far the computation still is from its end, where the solver measures it.
        """
        if self.observers:
            event = Event(stage, step, total, residual, time.perf_counter() - self.started)
            for observer in self.observers:
                observer(event)


SILENT = Channel()
COMPILATION: WeakSet[Observer] = WeakSet()
"""What shows progress, and is told while functions are compiled: this happens inside any computation."""


@dataclass
class Tally:
    """A count of things done, of a total where it is known, that is reported each time it grows."""

    channel: Channel
    stage: str
    total: int | None
    done: int = 0

    def add(self, number: int = 1) -> None:
        """Count further things and report them."""
        self.done += number
        self.channel.emit(self.stage, self.done, self.total)


class History:
    """An observer that keeps every event, for plots and tests.

    Attributes
    ----------
    events : list of Event
        All events so far, in their order.

    See Also
    --------
    Event : One step of a computation.
    Channel : Sends events to observers.

    Examples
    --------
    >>> from mercer.events import Event, History
    >>> history = History()
    >>> history(Event("passes", 1))
    >>> len(history.events)
    1
    """

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        """Keep the event."""
        self.events.append(event)


def __dir__() -> list[str]:
    return sorted(__all__)
