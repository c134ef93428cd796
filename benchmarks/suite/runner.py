"""Run objectives: every solver is called once untimed (it compiles), then all in turn, round by round."""

import dataclasses
import gc
import json
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from benchmarks.suite import objectives
from benchmarks.suite.data import used_stand_ins
from benchmarks.suite.measure import ROOT, machine, resident_growth, settle
from benchmarks.suite.plan import CannotRunError, Objective, Record, SelfTimed, Solver
from benchmarks.suite.progress import run_and_show, tell
from mercer.version import __version__

_SHORT = 0.05  # seconds
_SLOW = 20.0  # seconds; a solver that takes longer is timed only once


def names(long: bool = True) -> list[str]:
    """Return the names of all objectives, or of those that do not take long."""
    every = sorted(module.name for module in iter_modules(objectives.__path__))
    return [name for name in every if long or load(name).default]


def load(name: str) -> Objective:
    """Return an objective."""
    found: Objective = import_module(f"benchmarks.suite.objectives.{name}").OBJECTIVE
    return found


def run_in_fresh_process(name: str, datasets: Sequence[str], solver: str = "") -> list[Record]:
    """Run some data sets of an objective, or one solver on them, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.suite.runner", name, json.dumps(list(datasets)), solver]
    done = run_and_show(command, ROOT)
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        return [Record(**record) for record in json.loads(lines[-1])]
    return [_died(load(name), data, s, done) for data in datasets for s in load(name).solvers if solver in ("", s.name)]


def run(name: str, only: str = "", solver: str = "") -> list[Record]:
    """Run an objective on all its data sets with all its solvers, or on those whose names contain the given texts."""
    objective, found = load(name), []
    datasets = [dataset for dataset in objective.datasets if only in dataset]
    if objective.together and not solver:
        return run_in_fresh_process(name, datasets) if datasets else []
    for dataset in datasets:
        parts = _parts(objective, solver)
        for part in parts:
            found += run_in_fresh_process(name, [dataset], part)
    return found


def _parts(objective: Objective, solver: str) -> list[str]:
    """Return the solvers that run in processes of their own; one empty name if all run in the same one."""
    every = [one.name for one in objective.solvers]
    if solver in every:
        return [solver]
    return [name for name in every if solver in name] if objective.isolated or solver else [""]


def measure(objective: Objective, dataset: str, solvers: list[Solver]) -> list[Record]:
    """Time solvers on one data set, in this process."""
    records = [Record(objective.name, dataset, solver.name, solver.peer, []) for solver in solvers]
    try:
        data = objective.datasets[dataset]()
    except CannotRunError as reason:
        return [dataclasses.replace(record, failure=str(reason)) for record in records]
    stand_in = used_stand_ins()
    for record in records:
        record.stand_in = stand_in
    calls = []
    for solver, record in zip(solvers, records, strict=True):
        calls.append(_warmed(objective, dataset, solver, record, data))
        tell(f"{objective.name}, {dataset}, {record.solver}: {_told(record)}")
    for turn in range(objective.rounds):
        for solver, record, call in zip(solvers, records, calls, strict=True):
            if call is not None and turn < min(call[1], solver.rounds or objective.rounds):
                record.seconds.append(_timed(call[0]) / solver.steps)
    return records


def _warmed(
    objective: Objective, dataset: str, solver: Solver, record: Record, data: Any
) -> tuple[Callable[[], Any], int] | None:
    """Call a solver once; return the call and how often to time it, or None if it fails."""
    reason = objective.skip.get((dataset, solver.name))
    try:
        if reason:
            raise CannotRunError(reason)
        call = solver.prepare(data)
        start = time.perf_counter()
        if objective.isolated:
            results: list[Any] = []
            record.megabytes = resident_growth(lambda: results.append(call()))
            result = results[0]
        else:
            result = call()
        spent = result.seconds if isinstance(result, SelfTimed) else time.perf_counter() - start
        value = result.value if isinstance(result, SelfTimed) else result
        if objective.quality is not None:
            found = objective.quality(data, value)
            named = found if isinstance(found, Mapping) else {objective.quality_name: found}
            record.qualities = {name: float(number) for name, number in named.items()}
    except MemoryError as error:
        record.failure = f"out of memory: {error}"
    except CannotRunError as reason_given:
        record.failure = str(reason_given)
    except Exception as error:
        record.failure = f"{type(error).__name__}: {error}"
    else:
        if spent > _SLOW or objective.rounds == 0:
            record.seconds.append(spent / solver.steps)
            record.cold = objective.rounds == 0
            return None
        return call, _rounds(objective, spent)
    return None


def _told(record: Record) -> str:
    """Return what a first call gave, in one line."""
    return record.failure or ", ".join([f"{k} {v:.3g}" for k, v in record.qualities.items()] or ["called once"])


def _rounds(objective: Objective, spent: float) -> int:
    """Return how often to time a solver whose first call took so many seconds; that one may have compiled."""
    affordable = objective.patience / max(spent, 1e-9)
    return objective.rounds if affordable >= objective.rounds else min(objective.rounds, max(2, int(affordable)))


def _timed(call: Callable[[], Any]) -> float:
    """Return the seconds of a call; a short one is called twice, since processors that were idle start slowly."""
    gc.collect()
    settle()
    seconds = _seconds(call)
    return _seconds(call) if seconds < _SHORT else seconds


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    result = call()
    return float(result.seconds) if isinstance(result, SelfTimed) else time.perf_counter() - start


def _died(objective: Objective, dataset: str, solver: Solver, done: Any) -> Record:
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    text = f"killed by signal {-done.returncode}" if done.returncode < 0 else last
    return Record(objective.name, dataset, solver.name, solver.peer, [], failure=text)


def main() -> None:
    name, datasets, only = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    objective = load(name)
    if objective.isolated:
        limit = int(objective.memory_limit_gb * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    solvers = [solver for solver in objective.solvers if only in ("", solver.name)]
    gc.collect()
    gc.freeze()  # what was imported need not be searched before every round
    told = {"measured": date.today().isoformat(), "version": __version__, "machine": machine()}
    records = [dataclasses.replace(one, **told) for data in datasets for one in measure(objective, data, solvers)]
    print(json.dumps([dataclasses.asdict(record) for record in records]))


if __name__ == "__main__":
    main()
