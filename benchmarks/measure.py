"""Timing and memory of one call, and tables."""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def best_seconds(call: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the shortest time of some calls, and the last result; the first call, which compiles, is not timed."""
    call()
    times, result = [], None
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def best_of_rounds(calls: dict[str, Callable[[], Any]], rounds: int = 3) -> dict[str, tuple[float, Any]]:
    """Time all calls in turn, several rounds, so that all meet the same machine; return best times and results."""
    timed: dict[str, tuple[float, Any]] = {}
    for call in calls.values():
        call()  # compiles
    for _ in range(rounds):
        for name, call in calls.items():
            gc.collect()
            start = time.perf_counter()
            result = call()
            seconds = time.perf_counter() - start
            timed[name] = min(timed.get(name, (seconds, result)), (seconds, result), key=lambda pair: pair[0])
    return timed


def resident_growth(call: Callable[[], Any]) -> float:
    """Return by how many MB the peak resident size exceeds the size before the call (Linux only)."""
    gc.collect()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    call()
    return (_status("VmHWM") - before) / 1024.0


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return float(line.split()[1])
    raise RuntimeError(field)


def in_fresh_process(module: str, *arguments: str) -> dict[str, float]:
    """Run `python -m benchmarks.<module> arguments` and return the JSON object that it prints last."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output.strip().splitlines()[-1])
    return result


def row(*cells: Any) -> None:
    print(
        "  ".join(f"{cell:>16}" if not isinstance(cell, float) else f"{cell:16.4g}" for cell in cells),
        flush=True,
    )
