"""Files that are complete or not there: a temporary file is written, synced and renamed."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

STALE_SECONDS = 3600.0


def check_folder_of(path: str | os.PathLike[str], *, replaces: bool = True) -> None:
    """Fail if there is no folder for a file, or no permission to write there, before a long computation.

    A pipe, or with `replaces=False` any file that is there already, is written to as it is.
    """
    folder = os.path.dirname(os.fspath(path)) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The folder {folder} does not exist; create it first.")
    target = os.path.realpath(path)
    is_new = not os.path.exists(target) or (replaces and os.path.isfile(target))
    if is_new and not os.access(os.path.dirname(target), os.W_OK | os.X_OK):
        raise PermissionError(f"The folder {folder} cannot be written to: permission denied. Give another folder.")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces the file at `path` once everything is written, or is removed on failure.

    A symbolic link is followed. A process that is killed leaves `.mercer-*.tmp` behind; the next file that is written
    to the same path removes it if it is older than one hour.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    # The digest keeps the temporary name short, and says to which file it belongs.
    stem = f".mercer-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}-"
    temporary = os.path.join(folder, f"{stem}{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:  # unlike mkstemp, this leaves the mode to the umask
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with suppress(PermissionError):  # some folders can be written to but not read
        _sync_folder(folder)
        _remove_stale(folder, stem, os.stat(target).st_mtime - STALE_SECONDS)


def _sync_folder(folder: str) -> None:
    """Make sure that the new name is on the disk."""
    if os.name == "nt":  # Windows cannot open a folder, and its rename is journaled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_stale(folder: str, stem: str, before: float) -> None:
    """Remove old temporary files; a young one may belong to another process that is still writing."""
    for name in os.listdir(folder):
        if name.startswith(stem) and name.endswith(".tmp"):
            temporary = os.path.join(folder, name)
            with suppress(OSError):
                if os.stat(temporary).st_mtime < before:
                    os.unlink(temporary)
