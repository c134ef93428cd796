"""What a source of rows is."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Item = str | Mapping[str, Any]  # a line of text (CSV or JSON), or values by name
Position = dict[str, Any]  # plain JSON: where to go on reading

MAX_LINE = 1 << 20  # bytes of one line or message; a longer one is left out and counted


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows as they came, and where the source stands after them."""

    items: Sequence[Item]
    position: Position | None = None  # None: this source cannot go back
    fresh: bool = False  # a new text begins with these items: the first line may name the columns
    tokens: Sequence[Any] = ()  # what the source wants back once these rows are judged and saved
    counts: Mapping[str, int] = field(default_factory=dict)  # what happened on the way, by name
    trouble: str | None = None  # what the user must know about the source, until the next batch
    received: float = field(default_factory=time.time)


class Source(Protocol):
    """Rows that come one after the other, perhaps for ever."""

    name: str  # to show, without passwords

    def batches(self, position: Position | None, stop: threading.Event) -> Iterator[Batch]:
        """Yield rows that follow a saved position, until `stop` is set or there are no more."""

    def acknowledge(self, tokens: Sequence[Any]) -> None:
        """Learn that the rows of a batch are judged and saved, so that they need not be sent again."""

    def close(self) -> None:
        """Give back connections and files."""


class PlainSource:
    """A source that needs no acknowledgement."""

    name = ""

    def acknowledge(self, tokens: Sequence[Any]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
