"""Measure Mercer against its peers: `make bench`, or `python -m benchmarks [objective ...] [options]`.

Every objective runs in processes of its own; all its solvers run in turn on the same data. Peers that are not installed
are listed with the reason. Objectives that take more than about two minutes run only if they are named, or with --all.
Results are kept, one file per objective: the table and the pictures show all of them, and `python -m
benchmarks.results_page` puts them into docs/results.md.
"""

import argparse
from pathlib import Path

from benchmarks.suite import report, runner, store
from benchmarks.suite.plan import Objective, Record


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("objectives", nargs="*", help="which to run (default: all but the long ones)")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("build/bench"), help="folder for JSON, table and plot"
    )
    parser.add_argument("--all", action="store_true", help="run the long ones too")
    parser.add_argument("--data", default="", help="run only data sets whose names contain this text")
    parser.add_argument(
        "--solver", default="", help="run only this solver, or those whose names contain this text, each by itself"
    )
    parser.add_argument("--list", action="store_true", help="list the objectives and stop")
    given = parser.parse_args()
    if given.list:
        for name in runner.names():
            objective = runner.load(name)
            print(f"{name:24} {objective.question}{'' if objective.default else ' (long)'}")
        return
    for name in given.objectives or runner.names(long=given.all):
        objective, records = runner.load(name), runner.run(name, given.data, given.solver)
        print("\n".join(report.lines(objective, records)), flush=True)
        store.save(given.output, objective, records)
        report.write(given.output, kept(given.output))
    print(f"\nWritten to {given.output}: results.json, results.md, ratios.png, growth.png")


def kept(folder: Path) -> dict[str, tuple[Objective, list[Record]]]:
    """Return all objectives that have results in a folder."""
    found = {name: store.load(folder, name) for name in runner.names()}
    return {name: (runner.load(name), records) for name, records in found.items() if records}


if __name__ == "__main__":
    main()
