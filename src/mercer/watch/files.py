"""The files of the page, read once at the start: no name of a request ever becomes a path."""

from dataclasses import dataclass
from importlib import resources

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
_ABSENT = "<!doctype html><title>mercer watch</title><p>The page is not installed; see /api/status and /metrics.</p>"


@dataclass(frozen=True)
class PageFile:
    """A file and its kind."""

    data: bytes
    kind: str


def static_files() -> dict[str, PageFile]:
    """Return the files of the page by name."""
    found = {"index.html": PageFile(_ABSENT.encode(), _KINDS[".html"])}
    folder = resources.files("mercer.watch") / "static"
    if folder.is_dir():
        for file in folder.iterdir():
            kind = _KINDS.get("." + file.name.rpartition(".")[2], "text/plain; charset=utf-8")
            if file.is_file():
                found[file.name] = PageFile(file.read_bytes(), kind)
    return found
