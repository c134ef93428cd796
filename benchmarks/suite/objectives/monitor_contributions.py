"""Whether the variable whose sensor has an error contributes most, in the rows that raise an alarm."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.processes import PROCESSES
from mercer import ProcessMonitor

SEEDS = range(8000, 8006)  # not used to choose any rule
TRAIN, BEFORE, FAULTY, VARIABLES = 500, 100, 200, 4
SIZES = (1.0, 2.0, 4.0)  # standard deviations of the variable
Found = tuple[np.ndarray, np.ndarray]  # alarms, (n,), and contributions, (n, d)


def runs(name: str) -> list[np.ndarray]:
    return [PROCESSES[name](TRAIN + BEFORE + FAULTY, seed) for seed in SEEDS]


def with_errors(X: np.ndarray, size: float) -> Iterator[tuple[np.ndarray, int]]:
    """Yield the rows after training, with an error of one of some sensors, and its number."""
    rng = np.random.default_rng(int(10 * size))
    for variable in rng.permutation(X.shape[1])[:VARIABLES].tolist():
        rows = X[TRAIN:].copy()
        rows[BEFORE:, variable] += rng.choice([-1.0, 1.0]) * size * X[:TRAIN, variable].std()
        yield rows, variable


def shares(explain: Callable[[np.ndarray], Callable[[np.ndarray], Found]], tables: list[np.ndarray]) -> Any:
    def call() -> np.ndarray:
        """Return the numbers of faulty rows with an alarm, and of those with the right variable first, (sizes, 2)."""
        counts = np.zeros((len(SIZES), 2))
        for X in tables:
            judge = explain(X[:TRAIN])
            for i, size in enumerate(SIZES):
                for rows, variable in with_errors(X, size):
                    alarm, contributions = judge(rows)
                    first = contributions[BEFORE:].argmax(axis=1) == variable
                    counts[i] += alarm[BEFORE:].sum(), (first & alarm[BEFORE:]).sum()
        return counts

    return call


def ours(X: np.ndarray) -> Callable[[np.ndarray], Found]:
    monitor = ProcessMonitor().fit(X)
    return lambda rows: (monitor.verdicts(rows).alarm, monitor.contributions(rows))


def terms_of_spe(X: np.ndarray) -> Callable[[np.ndarray], Found]:
    """Return alarms by SPE of linear PCA at its 99 % quantile of the training rows, and the terms of its sum."""
    mean, unit = X.mean(axis=0), X.std(axis=0)
    model = PCA(0.9, svd_solver="full").fit((X - mean) / unit)

    def terms(rows: np.ndarray) -> np.ndarray:
        Z = (rows - mean) / unit
        return np.asarray((Z - model.inverse_transform(model.transform(Z))) ** 2)

    limit = np.quantile(terms(X).sum(axis=1), 0.99)
    return lambda rows: (terms(rows).sum(axis=1) > limit, terms(rows))


def by_size(given: list[np.ndarray], counts: np.ndarray) -> dict[str, float]:
    total, found = len(given) * VARIABLES * FAULTY, {}
    for size, (alarms, right) in zip(SIZES, counts, strict=True):
        found[f"% found, error of {size:g}"] = 100.0 * float(alarms) / total
        found[f"% right of these, {size:g}"] = 100.0 * float(right) / max(float(alarms), 1.0)
    found["% right of all found"] = 100.0 * float(counts[:, 1].sum() / max(counts[:, 0].sum(), 1.0))
    return found


OBJECTIVE = Objective(
    name="monitor_contributions",
    question="in how many of the rows with an alarm does the variable whose sensor has an error contribute most?",
    bar="at least 90 % of the rows that are found",
    datasets={name: partial(runs, name) for name in ("VAR", "stirred tank", "plant", "closed loop")},
    solvers=[
        Solver("linear PCA, terms of SPE", partial(shares, terms_of_spe), peer=True),
        Solver("mercer ProcessMonitor", partial(shares, ours)),
    ],
    quality=by_size,
    rounds=0,
    default=False,
)
