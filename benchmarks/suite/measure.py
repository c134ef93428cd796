"""Memory of one call, and its time on processors."""

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.suite.plan import SelfTimed

ROOT = Path(__file__).resolve().parents[2]


def on_processors(call: Callable[[], Any]) -> SelfTimed:
    """Call, and count the seconds of all processors, so that other work on the machine counts little."""
    start = time.process_time()
    value = call()
    return SelfTimed(time.process_time() - start, value)


def resident_growth(call: Callable[[], Any]) -> float:
    """Return by how many MB the peak resident size exceeds the size before the call (Linux only)."""
    gc.collect()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    call()
    return (_status("VmHWM") - before) / 1024.0


def resident() -> float:
    """Return the resident size in MB (Linux only)."""
    return _status("VmRSS") / 1024.0


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return float(line.split()[1])
    raise RuntimeError(field)
