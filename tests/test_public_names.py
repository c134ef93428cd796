"""What users see of the package: public names only, with types that a checker can follow."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mercer
from mercer.registry import MODULES, PUBLIC

_USE = """
import mercer
from mercer import *
from mercer.metrics import subspace_distance

X = [[0.0]]
{lines}
"""
_ARRAY = "ndarray"
_METHODS = {
    "KernelPCA(2).fit(X)": "KernelPCA",
    "KernelPCA(2).fit(X).transform(X)": _ARRAY,
    "KernelPCA(2).fit_transform(X)": _ARRAY,
    "KernelPCA(2).fit(X).inverse_transform(X)": _ARRAY,
    "KernelPCA(2).fit(X).inverse_transform(X, return_residual=True)": "tuple[",
    "KernelPCA(2).fit(X).reconstruction_error(X)": _ARRAY,
    "KernelPCA(2).fit(X).n_components_": "int",
    "R1KernelPCA(2).fit(X)": "R1KernelPCA",
    "R1KernelPCA(2).fit_transform(X)": _ARRAY,
    "L1KernelPCA(2).fit(X)": "L1KernelPCA",
    "RobustKernelPCA(2).fit(X)": "RobustKernelPCA",
    "HebbianKernelPCA(2).fit(X).partial_fit(X)": "HebbianKernelPCA",
    "HebbianPCA(2).fit(X).partial_fit(X)": "HebbianPCA",
    "IncrementalKernelPCA(2).fit(X).partial_fit(X)": "IncrementalKernelPCA",
    "LandmarkKernelPCA(2).fit(X).partial_fit(X)": "LandmarkKernelPCA",
    "OnlineRobustKernelPCA(2).fit(X).partial_fit(X)": "OnlineRobustKernelPCA",
    "KernelOutlierDetector().fit(X)": "KernelOutlierDetector",
    "KernelOutlierDetector().fit(X).predict(X)": _ARRAY,
    "KernelOutlierDetector().fit_predict(X)": _ARRAY,
    "KernelOutlierDetector().fit(X).p_values(X)": _ARRAY,
    "ProcessMonitor().fit(X).reset()": "ProcessMonitor",
    "ProcessMonitor().fit(X).judge(X)": "Verdicts",
    "ProcessMonitor().fit(X).predict(X)": _ARRAY,
    "KernelSpectralClustering(2).fit(X)": "KernelSpectralClustering",
    "KernelSpectralClustering(2).fit(X).predict(X)": _ARRAY,
    "KernelSpectralClustering(2).fit_predict(X)": _ARRAY,
    "KernelMutualSubspace().fit([X], [0]).partial_fit(X, 0).calibrate([X], [0])": "KernelMutualSubspace",
    "AppearanceTracker().start(X, X)": "AppearanceTracker",
    "subspace_distance(X, X)": "float",
    "mercer.denoise(X)": _ARRAY,
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_shows_its_public_names_only(name):
    module = getattr(mercer, name)
    assert dir(module) == sorted(module.__all__)
    for public in module.__all__:
        if public != "Wavelet":  # needs an optional package
            assert getattr(module, public) is not None


def test_the_package_shows_its_public_names_only():
    assert dir(mercer) == sorted([*mercer.__all__, *MODULES])


def test_type_checkers_are_told_what_the_registry_says():
    tree = ast.parse(Path(mercer.__file__).read_text())
    told = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.col_offset]
    assert {alias.name: node.module for node in told for alias in node.names} == PUBLIC
    assert set(mercer.__all__) == {*PUBLIC, "__version__"}


def test_every_public_error_is_shown():
    defined = {name for name, value in vars(mercer.errors).items() if isinstance(value, type)}
    assert defined == set(mercer.errors.__all__)


def test_a_type_checker_knows_what_methods_return(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "use.py"
    path.write_text(_USE.format(lines="\n".join(f"reveal_type({code})" for code in _METHODS)))
    options = ["--follow-imports=silent", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(path)]
    env = {**os.environ, "MYPYPATH": str(Path(mercer.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    revealed = re.findall(r"Revealed type is (.*)", done.stdout)
    assert len(revealed) == len(_METHODS), done.stdout + done.stderr
    wrong = {c: r for (c, want), r in zip(_METHODS.items(), revealed, strict=True) if want not in r}
    assert not wrong
