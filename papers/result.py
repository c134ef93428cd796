"""The record of one run of an experiment, as it is kept in `result.json`."""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mercer.version import __version__
from papers.comparison import Comparison
from papers.resume import write_whole

DONE, NOT_RUN, FAILED = "done", "not run", "failed"
FILE = "result.json"


@dataclass
class Result:
    """The result of one run of an experiment."""

    key: str
    experiment: str
    scale: str
    mark: str  # fingerprint of settings, data and code
    state: str = DONE
    reason: str = ""  # why it was not run, or failed
    seconds: float = 0.0
    version: str = __version__
    measured: str = ""  # the day of the run, as 2026-11-17
    settings: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)  # the data that were really used
    substitutes: list[str] = field(default_factory=list)  # substitutes for missing data
    comparisons: list[Comparison] = field(default_factory=list)
    captions: dict[str, str] = field(default_factory=dict)  # by figure
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def judged(self) -> list[Comparison]:
        """The lines of the table that have a verdict on a value or claim of the paper."""
        return [line for line in self.comparisons if line.is_judged]

    @property
    def summary(self) -> str:
        """One phrase: how many lines of the table agree with the paper, or why there is none."""
        if self.state != DONE:
            return f"{self.state}: {self.reason}"
        if self.substitutes:
            return f"ran on substitute data ({'; '.join(self.substitutes)}): not compared with the paper"
        counts: dict[str, int] = {}
        for line in self.comparisons:
            counts[line.verdict] = counts.get(line.verdict, 0) + 1
        return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no numbers to compare"

    def save(self, folder: Path) -> None:
        """Write the record; it is written last, so a folder with a record is complete."""
        write_whole(folder / FILE, json.dumps(_plain(asdict(self)), indent=1, allow_nan=False).encode())


def load_result(folder: Path) -> Result | None:
    """Read a record; None if there is none, or if it cannot be read."""
    try:
        known = json.loads((folder / FILE).read_text(encoding="utf-8"))
        known["comparisons"] = [Comparison(**line) for line in known["comparisons"]]
        return Result(**known)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold: NaN and infinity become texts."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
