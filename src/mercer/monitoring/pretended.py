"""Pretended faults: normal rows, changed as a fault may change them, by which models are compared without labels.

Three kinds: a sensor with an error; a shift along a direction in which the process varies; and a sensor that shows
values of other times, which are all normal but do not fit the other variables. Sizes of the first two are 1/2 to 4
standard deviations, so that some are easy to find and others are not.
"""

from collections.abc import Callable

import numpy as np

from mercer.arrays import Array

_SIZES = (0.5, 1.0, 2.0, 4.0)  # standard deviations
_PER_KIND = 24

Fault = Callable[[Array, Array], Array]  # of held-out rows and of rows that were learned from


def pretended_faults(X: Array, n_variables: int, rng: np.random.RandomState) -> list[Fault]:
    """Return faults for rows with lags, (n, variables * (lags + 1)): what changes a variable changes all its lags."""
    size = np.abs(X).max(axis=0)
    size[size == 0] = 1.0
    spread = (X / size).std(axis=0) * size  # so that squares of huge or tiny values are numbers
    variables = np.resize(rng.permutation(n_variables), _PER_KIND)
    sizes = np.resize(_SIZES, _PER_KIND)
    signs = rng.choice([-1.0, 1.0], _PER_KIND)
    biases = [
        _shift(np.where(_of_variable(X, int(variable), n_variables), size * spread, 0.0))
        for variable, size in zip(variables, sizes * signs, strict=True)
    ]
    ways = [X[i] - X[j] for i, j in rng.randint(0, len(X), (_PER_KIND, 2))]
    shifts = [_shift(size * _of_unit_size(way, spread)) for way, size in zip(ways, sizes, strict=True)]
    others = [
        _other_time(_of_variable(X, int(variable), n_variables), int(rng.randint(2**31)))
        for variable in variables[: _PER_KIND // 2]
    ]
    return [*biases, *shifts, *others]


def _of_variable(X: Array, variable: int, n_variables: int) -> Array:
    return np.asarray(np.arange(X.shape[1]) % n_variables == variable)


def _of_unit_size(way: Array, spread: Array) -> Array:
    """Return a direction whose mean square is that of one standard deviation, divided by 2."""
    relative = np.divide(way, spread, out=np.zeros_like(way), where=spread > 0)
    size = float(np.sqrt(2.0 * (relative**2).mean()))
    return way / size if size > 0 else way


def _shift(by: Array) -> Fault:
    return lambda held, learned: held + by


def _other_time(columns: Array, seed: int) -> Fault:
    def change(held: Array, learned: Array) -> Array:
        rows = np.random.RandomState(seed).randint(0, len(learned), len(held))
        return np.where(columns, learned[rows], held)

    return change
