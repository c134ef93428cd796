"""How far a measurement is: lines that a process writes to its standard error, and its parent shows at once."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

_MARK = "progress: "
_PAUSE = 20.0  # seconds between two lines about the same work
_Item = TypeVar("_Item")


def tell(text: str) -> None:
    """Write one line that the parent process shows."""
    print(f"{_MARK}{text}", file=sys.stderr, flush=True)


def counted(items: Sequence[_Item], work: str) -> Iterator[_Item]:
    """Go through items, and tell now and then how many are done."""
    told = time.monotonic()
    for number, item in enumerate(items):
        yield item
        if time.monotonic() - told > _PAUSE:
            told = time.monotonic()
            tell(f"{work}: {number + 1} of {len(items)}")


def run_and_show(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; show its lines of progress at once, and return all that it wrote."""
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.PIPE, text=True) as process:
            errors = "".join(_shown(process.stderr or ()))
        output.seek(0)
        return subprocess.CompletedProcess(list(command), process.returncode, output.read(), errors)


def _shown(lines: Iterable[str]) -> Iterator[str]:
    """Show the lines of progress, and return all others."""
    for line in lines:
        if line.startswith(_MARK):
            print(line.removeprefix(_MARK), end="", file=sys.stderr, flush=True)
        else:
            yield line
