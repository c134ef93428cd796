"""The package as a whole: light to import, honest about its names, examples that run."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import setuptools

import mercer

_HEAVY = ("numba", "matplotlib", "sklearn", "scipy", "pyarrow", "rich", "typer")
_OPTIONAL = {
    "mercer.kernels.wavelet": "pywt",
    "mercer.watch.api": "starlette",
    "mercer.watch.requests": "starlette",
    "mercer.watch.server": "uvicorn",
    "mercer.watch.sources.mqtt": "paho.mqtt",
    "mercer.watch.sources.redis_stream": "redis",
}


def test_import_loads_nothing_heavy():
    code = f"import sys, mercer; print([m for m in {_HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_using_an_estimator_loads_no_compiler_plot_or_cluster():
    code = f"import sys; from mercer import KernelPCA; print([m for m in {_HEAVY[:2]} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", mercer.__all__)
def test_every_public_name_resolves(name):
    assert getattr(mercer, name) is not None


def test_unknown_name_says_what_there_is():
    with pytest.raises(AttributeError, match="KernelPCA"):
        _ = mercer.KernelPAC


_HELP_WITHOUT_DASK = """
import inspect, sys
sys.modules.update(dict.fromkeys(["dask", "distributed"]))  # as if they were not installed
import mercer
print("dask" in dir(mercer), "KernelPCA" in dict(inspect.getmembers(mercer)))
"""


def test_what_needs_an_extra_that_is_missing_is_not_listed_so_that_help_works():
    done = subprocess.run([sys.executable, "-c", _HELP_WITHOUT_DASK], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "True"], done.stderr


def test_it_works_without_docstrings():
    code = "import mercer, mercer.dask; print(mercer.KernelPCA.__doc__, mercer.dask.KernelPCA(3).n_components)"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["None", "3"], done.stderr


def test_the_wheel_holds_the_package_and_nothing_beside_it():
    root = Path(mercer.__file__).parents[2]
    if not (root / "papers").is_dir():
        pytest.skip("not a checkout")
    given = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    (where,) = given["packages"]["find"]["where"]
    packages = setuptools.find_packages(str(root / where))
    assert {name.partition(".")[0] for name in packages} == {"mercer"}
    assert not {part for name in packages for part in name.split(".")} & {"papers", "reproduce", "tests", "benchmarks"}
    assert given["package-data"] == {"mercer": ["py.typed"], "mercer.watch": ["static/*"]}
    assert not (root / "MANIFEST.in").exists()


def _modules():
    return [m.name for m in pkgutil.walk_packages(mercer.__path__, "mercer.")]


@pytest.mark.parametrize("name", _modules())
def test_module_imports_and_its_examples_run(name):
    if name in _OPTIONAL:
        pytest.importorskip(_OPTIONAL[name])
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} does not say what it is"
    assert doctest.testmod(module).failed == 0
