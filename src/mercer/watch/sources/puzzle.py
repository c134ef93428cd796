"""Rows from single values: a row is complete when all columns of the row before are there, or one comes again."""

from collections.abc import Mapping, Sequence
from typing import Any


class Puzzle:
    """Puts single values together to rows."""

    def __init__(self, partial: Mapping[str, float], names: Sequence[str]) -> None:
        self._partial, self._names = dict(partial), set(names)

    def state(self) -> dict[str, Any]:
        """Return what is remembered, as plain JSON."""
        return {"partial": self._partial, "names": sorted(self._names)}

    def add(self, name: str, value: float) -> dict[str, float] | None:
        """Add a value; return a row if one is complete."""
        if name in self._partial:  # the others do not come any more
            row, self._partial = self._partial, {name: value}
            self._names = set(row)
            return row
        self._partial[name] = value
        if not self._names or not self._names <= set(self._partial):
            return None
        row, self._partial = self._partial, {}
        self._names = set(row)
        return row


def column_of(wanted: str, topic: str) -> str:
    """Return the parts of a topic that stand for wildcards; its last part if there are none."""
    pattern, parts = wanted.split("/"), topic.split("/")
    found = [part for sign, part in zip(pattern, parts, strict=False) if sign == "+"]
    if pattern[-1] == "#":
        found += parts[len(pattern) - 1 :]
    return "/".join(found) or parts[-1]
