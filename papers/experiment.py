"""An experiment: its texts, its sizes, the function that runs it, and the result of that function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer import datasets
from papers.comparison import Comparison
from papers.resume import Stages
from papers.stand_ins import STAND_INS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Settings = Mapping[str, Any]  # plain values only: they are written to a file and compared
FULL = "full"
SCALES = (FULL, "quick", "tiny")  # as in the paper; within about a minute; for tests


@dataclass(frozen=True)
class Item:
    """One figure, table or claim of a work."""

    name: str
    what: str
    instead: str = ""  # the data that replace the data of the work
    impossible: str = ""  # why it cannot be done at all, if so


@dataclass(frozen=True)
class Paper:
    """A work, and everything in it that could be reproduced."""

    key: str
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Drawing:
    """A figure, and the sentence below it."""

    figure: "Figure"
    caption: str


@dataclass(frozen=True)
class Outcome:
    """What one run of an experiment found."""

    drawings: Mapping[str, Drawing] = field(default_factory=dict)  # by file name, without a suffix
    comparisons: tuple[Comparison, ...] = ()
    remarks: tuple[str, ...] = ()  # remarks that depend on the run


@dataclass(frozen=True)
class Experiment:
    """One experiment; `EXPERIMENT` of the module that holds it."""

    name: str
    title: str
    items: tuple[str, ...]  # names of the paper's items that it covers
    run: Callable[["Run"], Outcome]
    paper_did: str
    we_do: str
    scales: Mapping[str, Settings]
    open_choices: tuple[str, ...] = ()  # details that the paper does not give, and our choices
    differences: tuple[str, ...] = ()  # where we differ from the paper on purpose, and why
    data: tuple[str, ...] = ()  # names in `mercer.datasets`


@dataclass
class Run:
    """The inputs of an experiment: its sizes, its data, a folder for stages, and a function for progress messages."""

    settings: Settings
    stages: Stages
    home: Path | None = None  # the folder with the data, None for the usual one
    tell: Callable[[str], None] = lambda text: None
    allow_substitute: bool = False
    sources: dict[str, str] = field(default_factory=dict)  # the data that were really used, by name
    substitutes: list[str] = field(default_factory=list)  # substitutes for missing data

    def load(self, name: str) -> Any:
        """Return a data set, or its substitute if that is allowed; else FileNotFoundError names the file."""
        try:
            plain = self.allow_substitute and name not in STAND_INS
            found = datasets.load(name, allow_substitute=plain, allow_download=True, home=self.home)
        except FileNotFoundError:
            if not self.allow_substitute or name not in STAND_INS:
                raise
            found = STAND_INS[name].load()
        self.sources[name] = str(found.source)
        if found.substitute and self.sources[name] not in self.substitutes:
            self.substitutes.append(self.sources[name])
        return found

    def stage(self, name: str, compute: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Return the arrays that `compute` makes, or those that an interrupted run computed before."""
        self.tell(name)
        return self.stages.get(name, compute)
