"""Where compiled functions are kept between processes."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def temporary_cache() -> Iterator[None]:
    """Let functions that are declared meanwhile be kept in the temporary folder of this user."""
    from numba import config

    before = config.CACHE_DIR
    config.CACHE_DIR = str(temporary_folder())
    try:
        yield
    finally:
        config.CACHE_DIR = before


def temporary_folder() -> Path:
    """Return a folder for compiled functions that only this user can write to; RuntimeError if there is none.

    Code is loaded from there, so a folder of this name that somebody else has made, or can write to, is not used.
    """
    user = os.getuid() if hasattr(os, "getuid") else ""  # on Windows every user has a temporary folder
    folder = Path(tempfile.gettempdir()) / f"mercer-compiled-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise RuntimeError(f"no locator available: {folder} cannot be made ({error})") from error
    others = stat.S_IWGRP | stat.S_IWOTH
    if user != "" and not (stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & others):
        raise RuntimeError(f"no locator available: {folder} belongs to somebody else")
    return folder


def used_folder() -> tuple[Path | None, bool]:
    """Return the folder in which compiled functions are kept, None if there is none, and whether it is writable."""
    from mercer.kernels import pairs

    function: Any = pairs.add_both_products
    path = function.stats.cache_path
    return (None, False) if path is None else (Path(path), os.access(path, os.W_OK))
