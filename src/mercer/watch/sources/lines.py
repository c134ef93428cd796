"""Whole lines from pieces of text that end anywhere."""

from mercer.io.text import WESTERN
from mercer.watch.sources.base import MAX_LINE

_COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")  # gzip, zip, bzip2, xz, zstd
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def check_text(name: str, start: bytes) -> None:
    """Raise ValueError if something cannot be text in UTF-8, judged by its first bytes."""
    if start.startswith(_COMPRESSED):
        raise ValueError(f"{name} is compressed, and compressed files are not read. Unpack it first.")
    if start.startswith(_UTF_16):
        raise ValueError(f"{name} is a text in UTF-16; only UTF-8 is read. Save it as UTF-8.")
    if b"\0" in start:
        raise ValueError(
            f"{name} holds zero bytes, so it is no text in UTF-8 (perhaps one in UTF-16, or no text at all). "
            "Save it as CSV or JSON lines in UTF-8."
        )
    if b"\r" in start[:-1] and b"\n" not in start:
        raise ValueError(
            f"{name} ends its lines with carriage returns only, as files of old Macintosh computers do. Save it with "
            "line feeds."
        )


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
        return whole.decode("utf-8", WESTERN).split("\n") if newline else []

    def last(self) -> list[str]:
        """Return the line that has no end, where the text is over."""
        rest, self.rest, self._skipping = self.rest, b"", False
        return [rest.decode("utf-8", WESTERN)] if rest else []

    def counted(self) -> dict[str, int]:
        """Return how many lines were left out, and forget it."""
        found, self.too_long = self.too_long, 0
        return {"malformed": found} if found else {}
