"""A live monitor to measure: rows of a plant, a server in this process, and pages in another one."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite.measure import ROOT
from mercer import ProcessMonitor

VARIABLES, LEARN = 50, 500


def plant_rows(n: int, seed: int = 0) -> np.ndarray:
    """Return rows of 50 variables that follow 8 slow states."""
    rng = np.random.default_rng(seed)
    mixing, noise = rng.standard_normal((8, VARIABLES)), rng.standard_normal((n, 8))
    states = np.zeros_like(noise)
    for i in range(1, n):
        states[i] = 0.7 * states[i - 1] + noise[i]
    return states @ mixing + 0.5 * rng.standard_normal((n, VARIABLES))


def names() -> list[str]:
    return [f"v{i}" for i in range(VARIABLES)]


def header() -> str:
    return ",".join(["time", *names()]) + "\n"


def line(at: float, row: np.ndarray) -> str:
    return f"{at:.6f}," + ",".join(f"{value:.4f}" for value in row) + "\n"


def saved_model(folder: Path) -> Path:
    """Learn from normal rows, as `mercer monitor --save` does."""
    model = ProcessMonitor(alpha=0.01).fit(plant_rows(LEARN, seed=0))
    model.feature_names_in_ = np.array(names(), object)
    model.save(folder / "plant.mercer")
    return folder / "plant.mercer"


def on_one_core() -> None:
    """Leave one core to this process; pages run on the others."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})


@contextmanager
def served(monitor: Any) -> Iterator[int]:
    """Serve the page of a monitor; give the port."""
    from mercer.watch.security import Guard
    from mercer.watch.server import WebServer, listen

    listening = listen("127.0.0.1", 0)
    port = int(listening.getsockname()[1])
    server = WebServer(monitor, Guard("127.0.0.1", port), listening)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield port
    finally:
        server.stop()
        thread.join()


@contextmanager
def pages(port: int, count: int, *args: str) -> Iterator[subprocess.Popen[str]]:
    """Connect pages from another process, which prints what they heard when they are closed."""
    command = [sys.executable, "-m", "benchmarks.suite.watching_pages", str(port), str(count), *args]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "connected"
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def made_monitor(folder: Path, source: Any) -> Any:
    from mercer.watch.monitor import Monitor
    from mercer.watch.settings import Settings
    from mercer.watch.store import Store

    settings = Settings(model=saved_model(folder), durable=True)
    return Monitor(source, Store(folder / "state"), settings)


def through(rows: np.ndarray, count: int) -> tuple[float, dict[str, float]]:
    """Judge all rows of a file with pages open; return the seconds, and rows per second and pages that heard."""
    from mercer.watch.sources.file import FileSource

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open(folder / "rows.csv", "w") as file:
            file.write(header())
            file.writelines(line(1.7e9 + 0.01 * i, row) for i, row in enumerate(rows))
        monitor = made_monitor(folder, FileSource(folder / "rows.csv", follow=False))
        with served(monitor) as port, pages(port, count) as process:
            start = time.perf_counter()
            monitor.start()
            monitor.join()
            spent = time.perf_counter() - start
            time.sleep(1.5)
            process.terminate()
            assert process.stdout is not None
            heard = json.loads(process.stdout.read().strip().splitlines()[-1])
        assert monitor.engine.rows == len(rows), monitor.status.failure
        monitor.close()
    return spent, {"rows per second": len(rows) / spent, "pages that heard": float(heard["heard"])}


def latency(rows: np.ndarray, rate: float) -> dict[str, float]:
    """Let another process write rows to a file and listen to the page; return how long rows took, in milliseconds."""
    from mercer.watch.sources.file import FileSource

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "rows.npy", rows)
        monitor = made_monitor(folder, FileSource(folder / "rows.csv", follow=True))
        monitor.start()
        with served(monitor) as port, pages(port, 1, str(folder), str(rate)) as process:
            assert process.stdout is not None
            found = json.loads(process.stdout.readline())
        monitor.stop()
        monitor.join()
        monitor.close()
    waits = 1000.0 * np.array(found["latencies"])
    return {
        "median ms": float(np.median(waits)),
        "p99 ms": float(np.quantile(waits, 0.99)),
        "rows": float(len(waits)),
    }
