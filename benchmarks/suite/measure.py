"""Memory of one call, and its time on processors."""

import gc
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from benchmarks.suite.plan import SelfTimed

ROOT = Path(__file__).resolve().parents[2]
_WAIT, _LONGEST_WAIT = 0.005, 100  # seconds, and so many times
_IDLE = 0.1  # share of that time that an idle process may need


def machine() -> str:
    """Return system, Python, BLAS, and the number of processors and threads that a run may use."""
    threads = os.environ.get("OMP_NUM_THREADS")
    said = f", {threads} thread{'' if threads == '1' else 's'}" if threads else ""
    cores = f"{os.cpu_count()} cores{said}"
    return ", ".join(
        (f"{platform.system()} {platform.machine()}", f"Python {platform.python_version()}", _blas(), cores)
    )


def _blas() -> str:
    """Return numpy's BLAS and for which processors its code is: peers and Mercer depend on it in different measure."""
    found = [one for one in threadpool_info() if one["user_api"] == "blas"]
    return " ".join(str(found[0].get(key) or "") for key in ("internal_api", "architecture")) if found else "no BLAS"


def on_processors(call: Callable[[], Any]) -> SelfTimed:
    """Call, and count the seconds of all processors, so that other work on the machine counts little."""
    start = time.process_time()
    value = call()
    return SelfTimed(time.process_time() - start, value)


def settle() -> None:
    """Wait until this process is idle: threads of BLAS keep processors busy for 20 to 100 ms after a call.

    The next call, which may be another solver's, would pay for them.
    """
    for _ in range(_LONGEST_WAIT):
        before = time.process_time()
        time.sleep(_WAIT)
        if time.process_time() - before < _IDLE * _WAIT:
            return


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
