"""Memory of one call."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


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
