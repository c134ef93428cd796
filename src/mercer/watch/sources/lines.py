"""Whole lines from pieces of text that end anywhere."""

from mercer.watch.sources.base import MAX_LINE


class Lines:
    """Collects bytes and gives back whole lines; a line that is too long is left out and counted."""

    def __init__(self) -> None:
        self.rest = b""  # the beginning of the next line
        self.too_long = 0  # since the last look
        self._skipping = False  # inside of a line that is too long

    def add(self, data: bytes) -> list[str]:
        """Return the lines that are complete now."""
        if self._skipping:
            _, newline, data = data.partition(b"\n")
            if not newline:
                return []
            self._skipping = False
        whole, newline, self.rest = (self.rest + data).rpartition(b"\n")
        if len(self.rest) > MAX_LINE:
            self.rest, self._skipping = b"", True
            self.too_long += 1
        return whole.decode("utf-8", "replace").split("\n") if newline else []

    def last(self) -> list[str]:
        """Return the line that has no end, where the text is over."""
        rest, self.rest, self._skipping = self.rest, b"", False
        return [rest.decode("utf-8", "replace")] if rest else []

    def counted(self) -> dict[str, int]:
        """Return how many lines were left out, and forget it."""
        found, self.too_long = self.too_long, 0
        return {"malformed": found} if found else {}
