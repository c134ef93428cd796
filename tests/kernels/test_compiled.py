"""Functions are compiled once, told to whoever shows progress, and only those of this package."""

import os
import subprocess
import sys

import numba
import numpy as np

from mercer import KernelPCA
from mercer.events import COMPILATION, History
from mercer.kernels.compiled import COMPILING, _Told, compiled

_VERBOSE = """
import numpy as np, mercer
mercer.KernelPCA(2, kernel="rbf", verbose=2).fit(np.random.default_rng(0).standard_normal((300, 3)))
"""


class Given:
    def __init__(self, module):
        function = type("F", (), {"__module__": module})
        self.data = {"dispatcher": type("D", (), {"py_func": function})}


def test_the_outermost_compilation_of_this_package_is_told():
    history, told = History(), _Told()
    COMPILATION.add(history)
    ours, other = Given("mercer.engine.hebb"), Given("somebody.else")
    for one in (ours, other):
        told.on_start(one)
        told.on_start(ours)  # a function that it calls
        told.on_end(ours)
        told.on_end(one)
    assert [(event.stage, event.step, event.total) for event in history.events] == [
        (COMPILING, 1, None),
        (COMPILING, 1, 1),
    ]


def test_nobody_is_told_after_their_end():
    before = len(COMPILATION)
    history = History()
    COMPILATION.add(history)
    assert len(COMPILATION) == before + 1
    del history
    assert len(COMPILATION) == before


def test_a_verbose_fit_tells_of_its_first_compilation_and_not_of_the_second(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", _VERBOSE], capture_output=True, text=True, check=True, env=environment)
        for _ in range(2)
    )
    assert f"{COMPILING}: step 1" in first.stderr
    assert COMPILING not in second.stderr


def test_inner_functions_have_no_entry_from_python():
    @compiled(inner=True)
    def half(x: float) -> float:
        return 0.5 * x

    @compiled()
    def halves(x: np.ndarray, out: np.ndarray) -> None:
        for i in range(len(x)):
            out[i] = half(x[i])

    out = np.empty(3)
    halves(np.arange(3.0), out)
    assert out.tolist() == [0.0, 0.5, 1.0]
    assert isinstance(halves, numba.core.dispatcher.Dispatcher)


_NOT_COMPILED = """
import numpy as np, mercer
from mercer.cli.system import facts
X = np.random.default_rng(0).standard_normal((30, 3))
print(np.abs(mercer.KernelPCA(2, kernel="rbf").fit(X).transform(X)).sum(), facts()["compiled functions"][:12], sep="|")
"""


def test_without_compilation_python_computes_the_same():
    done = subprocess.run(
        [sys.executable, "-c", _NOT_COMPILED],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    total, told = done.stdout.strip().split("|")
    X = np.random.default_rng(0).standard_normal((30, 3))
    np.testing.assert_allclose(float(total), np.abs(KernelPCA(2, kernel="rbf").fit(X).transform(X)).sum())
    assert told == "not compiled"
