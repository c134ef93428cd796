"""What a benchmark consists of. A new one is a file in `objectives/` that defines OBJECTIVE."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class CannotRunError(Exception):
    """Why a solver cannot do the job, or data are not there; the text goes into the table."""


@dataclass(frozen=True)
class SelfTimed:
    """A result whose time was taken where it was made: in another program, without the start of that program."""

    seconds: float
    value: Any


@dataclass(frozen=True)
class Solver:
    """One way to do the job. `prepare(data)` is not timed; what it returns is called and timed."""

    name: str
    prepare: Callable[[Any], Callable[[], Any]]
    peer: bool = False  # someone else's: ratios are taken against the fastest of these
    steps: int = 1  # time is reported for one of so many steps
    rounds: int | None = None  # fewer than the objective's, for what takes long


@dataclass(frozen=True)
class Objective:
    """A question, the data it is asked of, and who answers."""

    name: str
    question: str
    datasets: Mapping[str, Callable[[], Any]]  # for a growth: keys are sizes
    solvers: Sequence[Solver]
    bar: str = ""  # what the ratios are expected to be
    quality: Callable[[Any, Any], float | Mapping[str, float]] | None = (
        None  # (data, result) -> number, or some by name
    )
    quality_name: str = "quality"  # of a single number
    rounds: int = 3  # 0: the first call is timed and there is no other, where quality matters and time does not
    worst_first: bool = False  # list solvers by their ratio, the slowest first
    default: bool = True  # whether it runs where no objective is named: those of some minutes and more do not
    growth: bool = False  # fit exponents of time against the data sets' sizes
    isolated: bool = False  # every solver in a process of its own, with its peak memory
    memory_limit_gb: float = 12.0  # of an isolated process
    skip: Mapping[tuple[str, str], str] = field(default_factory=dict)  # (data set, solver) -> why not


@dataclass
class Record:
    """What came out for one solver on one data set."""

    objective: str
    dataset: str
    solver: str
    peer: bool
    seconds: list[float]  # of each round, for one step
    cold: bool = False  # the only call, which also compiled: no ratio of times
    qualities: dict[str, float] = field(default_factory=dict)
    megabytes: float | None = None  # growth of the resident size
    failure: str = ""
    stand_in: str = ""  # the data that it really ran on, where those of the objective are not there
