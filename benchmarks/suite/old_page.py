"""The sections of a page of results that exists already, so that a new page keeps those that were not run again."""

import re
from pathlib import Path

_COUNTS = re.compile(r"<summary>(\d+) of (\d+) comparisons")


class OldPage:
    """The sections of a page, by the text of their headings."""

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        papers, _, peers = text.partition("\n## Against the peers\n")
        self._experiments = list(_sections(papers, "####").values())
        self._objectives = {heading.partition(":")[0]: part for heading, part in _sections(peers, "###").items()}
        self.peers = peers.partition("\n### ")[0].strip()

    def experiment(self, heading: str, picture: str) -> str:
        """Return the section that shows a picture, below a heading; empty if there is none."""
        bodies = [part.partition("\n")[2] for part in self._experiments if f"/{picture})" in part]
        return f"#### {heading}\n{bodies[0]}" if bodies else ""

    def objective(self, name: str) -> str:
        """Return the section of an objective, with its heading; empty if there is none."""
        return self._objectives.get(name, "")


def counted(section: str) -> tuple[int, int]:
    """Return how many comparisons of a section are good, and how many there are."""
    found = _COUNTS.search(section)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _sections(text: str, level: str) -> dict[str, str]:
    """Return the parts of a text below headings of one level, each with its heading, up to the next heading."""
    parts = re.split(rf"^(?={level} )|^(?=#{{1,{len(level)}}} )", text, flags=re.MULTILINE)
    own = [part for part in parts if part.startswith(f"{level} ")]
    return {part.partition("\n")[0].removeprefix(f"{level} ").strip(): part.strip() + "\n" for part in own}
