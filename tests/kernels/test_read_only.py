"""Compiled functions in an installation where nothing can be written: a container, a web server."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

import mercer
from mercer.kernels.compile_cache import temporary_cache, temporary_folder

_FIT = """
import importlib, pkgutil
import numpy as np
import mercer
for module in pkgutil.walk_packages(mercer.__path__, "mercer."):
    if module.name.startswith(("mercer.engine", "mercer.kernels")) and module.name != "mercer.kernels.wavelet":
        importlib.import_module(module.name)
X = np.random.default_rng(0).standard_normal((40, 3))
print(mercer.__file__)
print(mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X).eigenvalues_.sum())
"""


def _run(package: Path, home: Path, **more: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "PYTHON"))}
    env = {**kept, "PYTHONPATH": str(package), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", **more}
    done = subprocess.run([sys.executable, "-c", _FIT], capture_output=True, text=True, env=env, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def _unwritable_copy(folder: Path) -> Path:
    """A copy of the package with a file wherever a cache folder would be: that stops the superuser, too."""
    caches = shutil.ignore_patterns("__pycache__")
    copy = shutil.copytree(Path(mercer.__file__).parent, folder / "mercer", ignore=caches)
    for part in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (part / "__pycache__").touch()
    return copy.parent


def test_functions_compile_without_a_cache_or_with_one_elsewhere(tmp_path):
    package, nowhere = _unwritable_copy(tmp_path / "package"), tmp_path / "file"
    nowhere.touch()
    theirs = tmp_path / "temporary"
    theirs.mkdir()
    folder = theirs / f"mercer-compiled-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)  # anybody can write to it, so nothing is loaded from there
    where, without = _run(package, nowhere / "home", TMPDIR=str(theirs))
    assert Path(where).is_relative_to(package)
    assert not list(theirs.rglob("*.nb?"))
    folder.chmod(0o700)
    _, temporary = _run(package, nowhere / "home", TMPDIR=str(theirs))
    assert list(folder.rglob("*.nbi"))
    _, elsewhere = _run(package, nowhere / "home", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert without == temporary == elsewhere
    assert list((tmp_path / "cache").rglob("*.nbi"))
    assert not list(package.rglob("*.nb?"))


def test_a_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match="cannot be made"):
        temporary_folder()


def test_functions_made_in_the_temporary_folder_leave_the_setting_of_others_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    before = config.CACHE_DIR
    with temporary_cache():
        assert str(tmp_path) in config.CACHE_DIR
    assert before == config.CACHE_DIR
