"""Memory of tasks on workers: freed blocks are used again, as in an ordinary process.

Dask starts its workers with the environment variable MALLOC_TRIM_THRESHOLD_, so that freed memory goes back to the
system early. A side effect of the GNU C library is that its threshold for large blocks does not grow any more: every
block of more than 128 KiB is then new memory of the system, which has to be cleared page by page. Kernel values come in
blocks of a few MiB, so that this takes a third of the time of a task.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_VARIABLE = "MALLOC_TRIM_THRESHOLD_"
_TRIM, _LARGE = -1, -3  # numbers of the two settings in malloc.h
_USUAL_TRIM, _USUAL_LARGE = 2**26, 2**25  # bytes; what both grow to in an ordinary process
_FIRST_LARGE = 2**17  # bytes; where the second one stays with the variable

_lock = Lock()
_inside = 0  # tasks of this process


@cache
def _library() -> Any:
    """Return the C library where its settings can be changed; None elsewhere."""
    try:
        library = ctypes.CDLL(None)
        return library if hasattr(library, "mallopt") else None
    except (OSError, TypeError):
        return None


def _trim() -> int:
    """Return the threshold that this process was started with; 0 if it is an ordinary process."""
    try:
        return int(os.environ.get(_VARIABLE, "0"))
    except ValueError:
        return 0


def _set(trim: int, large: int) -> None:
    library = _library()
    library.mallopt(_TRIM, trim)
    library.mallopt(_LARGE, large)


@contextmanager
def memory_used_again() -> Iterator[None]:
    """Return a context for a task with many blocks; the settings of the worker are put back after the last of them."""
    global _inside
    if not _trim() or _library() is None:
        yield
        return
    with _lock:
        _inside += 1
        if _inside == 1:
            _set(_USUAL_TRIM, _USUAL_LARGE)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _set(_trim(), _FIRST_LARGE)
