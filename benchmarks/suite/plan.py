"""The parts of a benchmark. To add one, add a file to `objectives/` that defines OBJECTIVE."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class CannotRunError(Exception):
    """A solver cannot do the task, or data are missing; the table shows the text."""


@dataclass(frozen=True)
class SelfTimed:
    """A result with a time measured inside another program, without the start of that program."""

    seconds: float
    value: Any


@dataclass(frozen=True)
class Solver:
    """One way to do the task. `prepare(data)` is not timed; the function that it returns is called and timed."""

    name: str
    prepare: Callable[[Any], Callable[[], Any]]
    peer: bool = False  # other software: ratios are relative to the fastest of these
    steps: int = 1  # number of steps; the time of one step is reported
    rounds: int | None = None  # fewer than the objective's, for slow solvers


@dataclass(frozen=True)
class Objective:
    """A question, its data sets, and the solvers."""

    name: str
    question: str
    datasets: Mapping[str, Callable[[], Any]]  # for a growth: keys are sizes
    solvers: Sequence[Solver]
    bar: str = ""  # what the ratios are expected to be
    quality: Callable[[Any, Any], float | Mapping[str, float]] | None = (
        None  # (data, result) -> number, or some by name
    )
    quality_name: str = "quality"  # of a single number
    rounds: int = 3  # 0: only the first call is timed, if quality matters and time does not
    means: bool = False  # end with the means of the qualities over the data sets
    patience: float = np.inf  # seconds; a solver whose rounds take longer has fewer of them, but at least two
    worst_first: bool = False  # list solvers by their ratio, the slowest first
    default: bool = True  # whether it runs if no objective is named; long ones do not
    growth: bool = False  # fit exponents of time against the data sets' sizes
    together: bool = False  # all data sets in one process: quicker where there are many small ones
    isolated: bool = False  # every solver in a process of its own, with its peak memory
    memory_limit_gb: float = 12.0  # of an isolated process
    skip: Mapping[tuple[str, str], str] = field(default_factory=dict)  # (data set, solver) -> why not


def as_found(data: Any, found: Mapping[str, float]) -> Mapping[str, float]:
    """Return the result as it is: the quality of solvers that measure themselves."""
    return found


@dataclass
class Record:
    """The result of one solver on one data set."""

    objective: str
    dataset: str
    solver: str
    peer: bool
    seconds: list[float]  # of each round, for one step
    cold: bool = False  # the only call, which also compiled: no ratio of times
    qualities: dict[str, float] = field(default_factory=dict)
    megabytes: float | None = None  # growth of the resident size
    failure: str = ""
    stand_in: str = ""  # the data that were really used, if those of the objective are missing
    measured: str = ""  # the day, as 2026-11-17
    version: str = ""  # of Mercer
    machine: str = ""
