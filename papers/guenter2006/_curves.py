"""Excess error per pass of the four gain rules, for all experiments of the paper."""

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import HebbianKernelPCA
from papers.comparison import Comparison, claim
from papers.experiment import Run

NAMES = {"constant": "KHA", "t": "KHA/t", "et": "KHA/et", "smd": "KHA-SMD"}


def hebbian(gain: str, r: int, passes: int, **given: Any) -> HebbianKernelPCA:
    """Return an estimator that makes this number of passes and never stops early."""
    return HebbianKernelPCA(r, gain=gain, max_iter=passes, tol=0, random_state=0, **given)


def learned(X: Any, gain: str, r: int, passes: int, **given: Any) -> HebbianKernelPCA:
    """Return a run of this number of passes, with the error of each."""
    model = hebbian(gain, r, passes, monitor="excess", **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the curves show runs that have not converged
        model.fit(X)
    return model


def excess(
    given: Run, label: str, X: Any, r: int, passes: int, tuned: Mapping[str, Mapping[str, float]], **kernel: Any
) -> Any:
    """Return {gain: (raw, orthonormalised)} excess errors per pass; each gain is a stage of its own."""
    curves = {}
    for gain, name in NAMES.items():
        found = given.stage(f"{label} {name}", partial(_histories, X, gain, r, passes, **kernel, **tuned.get(gain, {})))
        curves[gain] = (found["excess"], found["orthonormal"])
    return curves


def _histories(X: Any, gain: str, r: int, passes: int, **given: Any) -> dict[str, Any]:
    history = learned(X, gain, r, passes, **given).history_
    return {"excess": history["excess"], "orthonormal": history["excess_orthonormal"]}


def ordering(label: str, curves: Any, better: str, worse: str, statement: str, note: str = "") -> Comparison:
    """Check that one gain rule ends below another."""
    low, high = (float(curves[gain][0][-1]) for gain in (better, worse))
    text = f"{low:.2e} against {high:.2e}, {high / low:.1f} times"
    return claim(f"{label}: {NAMES[better]} below {NAMES[worse]}", statement, text, low < high, note)


def shown(curves: Any) -> dict[str, tuple[Any, Any]]:
    """Return the raw curves by the algorithms' names, for a figure."""
    return {NAMES[gain]: (np.arange(1, len(raw) + 1), raw) for gain, (raw, _) in curves.items()}
