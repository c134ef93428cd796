"""What an experiment is: its texts, its sizes, the function that runs it, and what that function hands back."""

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
SCALES = (FULL, "quick", "tiny")  # as the paper has it; within a minute or so; for tests


@dataclass(frozen=True)
class Item:
    """One figure, table or claim of a work."""

    name: str
    what: str
    instead: str = ""  # the data that stand in for the work's own
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
    remarks: tuple[str, ...] = ()  # what only the run could tell


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
    open_choices: tuple[str, ...] = ()  # what the paper does not say, and what was chosen
    differences: tuple[str, ...] = ()  # where ours differs on purpose, and why
    data: tuple[str, ...] = ()  # names in `mercer.datasets`


@dataclass
class Run:
    """What an experiment is given: its sizes, its data, a place to keep stages, and somebody to tell."""

    settings: Settings
    stages: Stages
    home: Path | None = None  # the folder with the data, None for the usual one
    tell: Callable[[str], None] = lambda text: None
    allow_substitute: bool = False
    sources: dict[str, str] = field(default_factory=dict)  # what the data really were, by name
    substitutes: list[str] = field(default_factory=list)  # what stood in for data that are not there

    def load(self, name: str) -> Any:
        """Return a data set, or what stands in for it where that is allowed; FileNotFoundError names the file."""
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
        """Return the arrays that `compute` makes, or those it made before the last run was interrupted."""
        self.tell(name)
        return self.stages.get(name, compute)
