"""Names of files to write, checked before the work starts: no result replaces what is read, or another result."""

import os
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

from mercer.io.readers import file_of, holds_rows
from mercer.io.whole_file import check_folder_of

Name = str | Path | None


def check_apart(inputs: Iterable[Name], **results: Name) -> None:
    """Fail if a result would replace a file that is read, or another result; `video_strip` is --video-strip."""
    given = {f"--{option.replace('_', '-')}": _file(name) for option, name in results.items()}
    outputs = {option: path for option, path in given.items() if path is not None and not _is_device(path)}
    read = [path for path in map(_file, inputs) if path is not None]
    for option, path in outputs.items():
        for one in read:
            if _same(path, one):
                raise ValueError(f"{option} {path} is the same file as {one}, which is read. Give it another name.")
    for (option, path), (other, path_of_other) in combinations(outputs.items(), 2):
        if _same(path, path_of_other):
            raise ValueError(f"{option} {path} is the same file as that of {other}. Give one of them another name.")


def check_place(path: Path, what: str, *, replaces: bool = False) -> None:
    """Fail if there is no folder to write a file in, or a folder in its place; `what` the file is for."""
    check_folder_of(path, replaces=replaces)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file for the {what}.")


def check_folder(path: Path, option: str) -> None:
    """Fail if there is something else in the place of a folder; one that is not there yet is made later."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{option} {path} is a file; give the name of a folder.")


def check_model(out: Path | None, option: str) -> None:
    """Fail if a model cannot be saved under this name, or if the name is one of a file with rows."""
    if out is None:
        return
    check_place(out, "model", replaces=True)
    if str(out) == "-" or _is_device(out):
        raise ValueError(f"{option} {out}: a model is written to a file only. Let its name end in .mercer.")
    if holds_rows(out):
        plain = out.with_suffix("") if out.suffix.lower() == ".gz" else out
        raise ValueError(
            f"{option} {out} ends like a file of rows, but a model is written. "
            f"Let the name end in .mercer: {plain.with_suffix('.mercer')}"
        )


def check_picture(path: Path | None, option: str) -> None:
    """Fail if matplotlib cannot write a picture of this name."""
    if path is None:
        return
    check_place(path, "picture")
    from mercer.plots.canvas import picture_formats

    if path.suffix and path.suffix[1:].lower() not in picture_formats():
        raise ValueError(f"{option} {path}: {path.suffix!r} is no format of pictures; use .png, .pdf or .svg.")


def _file(name: Name) -> Path | None:
    """Return the path of a file; None for none, and for standard input and output."""
    return None if name is None or str(name) == "-" else file_of(str(name))


def _is_device(path: Path) -> bool:
    """Tell whether there is a device or pipe at a path, which is written to and not replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _same(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, also through links."""
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there yet
        return os.path.realpath(one) == os.path.realpath(other)
