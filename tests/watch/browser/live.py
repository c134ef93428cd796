"""A monitor in a process of its own that is fed by hand, and a page that is looked at until something is so."""

import csv
import io
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

LEARN = 200  # rows
PATIENCE = 60.0  # seconds
COLUMNS = ("flow", "pressure", "temperature", "level", "current")


class Watch:
    """`mercer watch -` with the rows of a small plant. It is stopped at the end of a `with`."""

    def __init__(self, folder: Path, columns: Sequence[str] = COLUMNS, options: Sequence[str] = ()) -> None:
        self.folder, self.columns, self.port = folder, columns, 0
        self._dice = np.random.default_rng(7)
        self._time = time.time() - LEARN - 100.0
        self.start(*options)

    def start(self, *options: str) -> None:
        """Start, or start again at the same address with the same state."""
        command = [sys.executable, "-m", "mercer", "watch", "-", "--learn", str(LEARN), "--title", "Test plant"]
        command += ["--alpha", "0.001", "--port", str(self.port), "--state", str(self.folder), *options]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
        )
        assert self._process.stdout is not None
        said = ""
        for line in self._process.stdout:
            said += line
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                self.port, self.address = int(found[1]), found[0]
                break
        else:
            raise AssertionError(f"mercer watch did not start: {said}")
        self._write([["time", *self.columns]])

    def stop(self, kill: bool = False) -> None:
        """Stop in order, or as if the power went."""
        (self._process.kill if kill else self._process.terminate)()
        self._process.wait(20)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def feed(self, rows: int = 1, fault: float = 0.0, now: bool = True) -> float:
        """Write rows, and return when that was; a fault is added to the third column."""
        values = self._dice.standard_normal((rows, len(self.columns)))
        values[:, 1] += values[:, 0]
        values[:, 2] += fault
        first = max(self._time + 0.05, time.time() - 0.05 * rows) if now else self._time + 0.5
        step = 0.05 if now else 0.5
        self._write([[f"{first + step * k:.3f}", *(f"{x:.4f}" for x in row)] for k, row in enumerate(values)])
        self._time = first + step * (rows - 1)
        return time.monotonic()

    def learn(self) -> None:
        """Write the rows that are learned from, and some more."""
        self.feed(LEARN, now=False)
        self.feed(20)

    def _write(self, rows: Sequence[Sequence[str]]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        assert self._process.stdin is not None
        self._process.stdin.write(text.getvalue())
        self._process.stdin.flush()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def level(page: Any) -> str:
    """The state that the page shows: ok, alarm, lost, ..."""
    return str(page.evaluate("document.documentElement.dataset.level"))


def text(page: Any, selector: str) -> str:
    """The text of the first element."""
    return str(page.locator(selector).first.text_content())


def assert_soon(page: Any, look: Callable[[], Any], wanted: Any) -> None:
    """What is seen becomes what is wanted, also on a machine that has much else to do."""
    end = time.monotonic() + PATIENCE
    while (seen := look()) != wanted and time.monotonic() < end:
        page.wait_for_timeout(30)
    assert seen == wanted


_NEWEST = """(() => {
    const newest = document.querySelector("#alarm-list button")?.dataset;
    const shown = document.querySelector("#detail-title").textContent === `Alarm ${newest?.alarm}`;
    return [document.documentElement.dataset.level, newest?.state, shown];
})()"""


def assert_alarm(page: Any) -> None:
    """The page tells of an alarm, and shows the newest one: only then a person can act on it."""
    assert_soon(page, lambda: page.evaluate(_NEWEST), ["alarm", "open", True])
