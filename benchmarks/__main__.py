"""Measure Mercer against its peers: `make bench`, or `python -m benchmarks [objective ...] [options]`.

Every objective runs in processes of its own; all its solvers run in turn on the same data. Peers that are not installed
are listed with the reason. Objectives that take more than about two minutes run only if they are named, or with --all.
"""

import argparse
from pathlib import Path

from benchmarks.suite import report, runner


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("objectives", nargs="*", help="which to run (default: all but the long ones)")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("build/bench"), help="folder for JSON, table and plot"
    )
    parser.add_argument("--all", action="store_true", help="run the long ones too")
    parser.add_argument("--data", default="", help="run only data sets whose names contain this text")
    parser.add_argument("--list", action="store_true", help="list the objectives and stop")
    given = parser.parse_args()
    if given.list:
        for name in runner.names():
            objective = runner.load(name)
            print(f"{name:24} {objective.question}{'' if objective.default else ' (long)'}")
        return
    found = {}
    for name in given.objectives or runner.names(long=given.all):
        found[name] = (runner.load(name), runner.run(name, given.data))
        print("\n".join(report.lines(*found[name])), flush=True)
        report.write(given.output, found)
    print(f"\nWritten to {given.output}: results.json, results.md, ratios.png, growth.png")


if __name__ == "__main__":
    main()
