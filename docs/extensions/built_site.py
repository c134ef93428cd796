"""Checks of the built site: links and anchors exist, nothing is fetched from a network, search finds the usual words,
every page has a title of its own and a description, and no summary of a name is cut off.

Run as `python docs/extensions/built_site.py build/site`.
"""

import json
import re
import sys
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import snowballstemmer

WANTED = ("gamma", "outlier", "memory")
_FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
_LINKS_THAT_LOAD = {"stylesheet", "preload", "icon", "shortcut", "modulepreload", "manifest", "prefetch"}
_REMOTE = re.compile(r"^(https?:)?//")
_SUMMARIES = re.compile(r'<table class="autosummary.*?</table>', re.DOTALL)
_SUMMARY = re.compile(r"</td>\s*<td>(.*?)</td>", re.DOTALL)
_INITIALS = '<ol class="upperalpha'  # "A. Sokal" alone on a line is read as the first item of a list
_IN_STYLES = re.compile(r"@import\s+[\"']?(?:https?:)?//|url\(\s*[\"']?(?:https?:)?//")


class Page(HTMLParser):
    """The ids of a page, its title and description, where its links lead, what it fetches, and printed objects."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.printed: list[str] = []
        self.title, self.description, self._in_title = "", "", False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag tells."""
        values = {name: value or "" for name, value in attrs}
        self._in_title = tag == "title" and not self.title
        if tag == "meta" and values.get("name") == "description":
            self.description = values.get("content", "")
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        loads = tag == "link" and _LINKS_THAT_LOAD & set(values.get("rel", "").split())
        source = values.get("href" if loads else _FETCHED.get(tag, ""), "")
        self.fetched += [source] if source else []
        self.fetched += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]

    def handle_data(self, data: str) -> None:
        """Note the title, and objects that are printed with their address in memory."""
        self.printed += [data.strip()] if "object at 0x" in data else []
        if self._in_title:
            self.title, self._in_title = " ".join(data.split()), False


def problems(folder: Path) -> Iterator[str]:
    """Yield what is wrong with a site, one line each."""
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}
    if not pages:
        yield f"{folder} has no pages"
        return
    for path, page in pages.items():
        where = path.relative_to(folder)
        yield from (f"{where} fetches {source}" for source in page.fetched if _REMOTE.match(source))
        yield from (f"{where} shows {s}, which is missing" for s in page.fetched if _missing(path, s))
        yield from (f"{where} links to {link}, which is missing" for link in page.links if _broken(path, link, pages))
        yield from (f"{where} prints {text}" for text in page.printed)
        yield from (f"{where} {line}" for line in _misread(path.read_text()))
    yield from _unnamed(folder, pages)
    for path in folder.rglob("*.css"):
        if _IN_STYLES.search(path.read_text()):
            yield f"{path.relative_to(folder)} fetches something from a network"
    found = index_terms(folder)
    stem = snowballstemmer.stemmer("english").stemWord
    yield from (f"search does not find {word!r}" for word in WANTED if stem(word) not in found)


def _misread(text: str) -> Iterator[str]:
    """Yield what was not read as it was meant: summaries of names that are cut off, initials that became a list."""
    for found in (cell for table in _SUMMARIES.findall(text) for cell in _SUMMARY.findall(table)):
        summary = unescape(re.sub(r"<[^>]*>", "", found)).strip()
        whole = summary.endswith(".") and not summary.endswith((" .", "fig.", "eq.", "sec."))
        if not whole or any(summary.count(a) != summary.count(b) for a, b in ("()", "[]")):
            yield f"has a summary that is cut off: {summary!r}"
    if _INITIALS in text:
        yield "has a name whose initials became a list: write them behind the name"


def _unnamed(folder: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield pages without a description, and those whose title is that of another page."""
    first: dict[str, Path] = {}
    for path, page in pages.items():
        where = path.relative_to(folder)
        if not page.description:
            yield f"{where} has no description"
        if first.setdefault(page.title, where) is not where:
            yield f"{where} has the title of {first[page.title]}: {page.title!r}"


def _missing(path: Path, link: str) -> bool:
    parts = urlsplit(link)
    return not (parts.scheme or parts.netloc) and bool(parts.path) and not (path.parent / unquote(parts.path)).exists()


def _broken(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    if _missing(path, link):
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
    page = {one.resolve(): found for one, found in pages.items()}.get(target) if parts.fragment else None
    return page is not None and unquote(parts.fragment) not in page.ids


def index_terms(folder: Path) -> set[str]:
    """Return the words of the search index, as stems."""
    text = (folder / "searchindex.js").read_text()
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return {*index["terms"], *index["titleterms"]}


def main(folder: Path) -> int:
    """Print the problems of a site; 1 where there are any."""
    found = list(problems(folder))
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.stdout.write(f"{len(list(folder.rglob('*.html')))} pages, {len(found)} problems\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
