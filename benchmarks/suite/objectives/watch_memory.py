"""Memory of `mercer watch` without a page over millions of rows."""

import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.suite.measure import resident
from benchmarks.suite.plan import Objective, Solver, as_found
from benchmarks.suite.watching import header, line, made_monitor, plant_rows
from mercer import ProcessMonitor
from mercer.watch.sources.base import Batch, PlainSource

SETTLED, CHUNK = 1_000_000, 1000  # rows after which memory should not grow


class Endless(PlainSource):
    """The same thousand rows again and again, as text with times that go on; memory is noted on the way."""

    name = "rows again and again"

    def __init__(self, rows: int, rest: float) -> None:
        self.rows, self.rest = rows, rest
        self.lines = [line(0.0, row).partition(",")[2] for row in plant_rows(CHUNK, seed=1)]
        self.resident: list[tuple[int, float]] = []

    def batches(self, position: Any, stop: threading.Event) -> Iterator[Batch]:
        yield Batch([header()], {"row": 0}, fresh=True)
        start = time.time() - self.rest
        for first in range(0, self.rows, CHUNK):
            items = [f"{start + 0.05 * (first + i):.3f},{text}" for i, text in enumerate(self.lines)]
            yield Batch(items, {"row": first + CHUNK})
            if first % 100_000 == 0:
                self.resident.append((first, resident()))


def headless(rows: int) -> Any:
    def call() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as name:
            source = Endless(rows, 0.05 * rows + 10.0)
            monitor = made_monitor(Path(name), source)
            start = time.perf_counter()
            monitor.start()
            monitor.join()
            spent, used = time.perf_counter() - start, monitor.engine.rows
            state = sum(path.stat().st_size for path in (Path(name) / "state").iterdir()) / 1e6
            monitor.close()
        settled = [size for first, size in source.resident if first >= SETTLED]
        return {
            "rows": float(used),
            "growth after the first million, MB": max(settled) - settled[0],
            "MB at the end": source.resident[-1][1],
            "state on disk, MB": state,
            "rows per second": used / spent,
        }

    return call


def alone(rows: int) -> Any:
    model, X = ProcessMonitor(alpha=0.01).fit(plant_rows(500, seed=0)), plant_rows(CHUNK, seed=1)

    def call() -> dict[str, float]:
        sizes = []
        for first in range(0, rows, CHUNK):
            model.judge(X)
            if first % 100_000 == 0:
                sizes.append(resident())
        return {"rows": float(rows), "growth after the first million, MB": max(sizes[10:]) - sizes[10]}

    return call


OBJECTIVE = Objective(
    name="watch_memory",
    question="by how much does memory grow while mercer watch judges rows of 50 variables without a page?",
    bar="at most 20 MB after the first million rows",
    datasets={"2 million rows": lambda: 2_000_000, "10 million rows": lambda: 10_000_000},
    solvers=[
        Solver("judging alone", alone, peer=True),
        Solver("mercer watch --headless, state on disk", headless),
    ],
    quality=as_found,
    rounds=0,
    isolated=True,
    default=False,
)
