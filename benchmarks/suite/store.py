"""Results of objectives, one file each: what is measured again replaces what was there, and nothing else."""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.suite.plan import Objective, Record


def save(folder: Path, objective: Objective, records: Iterable[Record]) -> list[Record]:
    """Add records to those that an objective has in a folder, and return all of them, in the objective's order."""
    found = {(one.dataset, one.solver): one for one in (*load(folder, objective.name), *records)}
    wanted = [(data, solver.name) for data in objective.datasets for solver in objective.solvers]
    kept = [found[pair] for pair in wanted if pair in found]
    path = _path(folder, objective.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([dataclasses.asdict(one) for one in kept], indent=1), encoding="utf-8")
    return kept


def load(folder: Path, name: str) -> list[Record]:
    """Return the records of an objective; none if it was not run."""
    path = _path(folder, name)
    return [Record(**one) for one in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []


def _path(folder: Path, name: str) -> Path:
    return folder / "objectives" / f"{name}.json"


def stamp(records: Iterable[Record]) -> str:
    """Return one sentence that says when records were measured, where, and with which version."""
    known = [one for one in records if one.measured]
    if not known:
        return ""
    days = sorted({one.measured for one in known})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    versions = " and ".join(sorted({one.version for one in known}))
    machines = "; ".join(sorted({one.machine for one in known}))
    return f"*Measured {when} with Mercer {versions} ({machines}).*\n"
