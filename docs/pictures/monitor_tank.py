"""Draw the picture of docs/guide/process_monitoring.md: python docs/pictures/monitor_tank.py [FOLDER]"""

import sys
from functools import cache
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the simulated tank is part of the benchmarks, which are not installed

from benchmarks.suite.processes import stirred_tank  # noqa: E402
from mercer import ProcessMonitor, plots  # noqa: E402

NAMES = ["feed c", "feed T", "feed flow", "c", "T", "jacket T", "level", "coolant valve", "outlet valve"]
LEARNED, NEW, BAD = 2000, 900, 300  # rows, one per minute; the catalyst is less active in the last 300


def rows_of_the_tank(seed: int = 0) -> pd.DataFrame:
    """Return rows to learn from and, behind them, rows to judge."""
    n = LEARNED + NEW
    rows = stirred_tank(n, seed, fault="catalyst", start=n - BAD)
    times = pd.date_range("2024-05-01", periods=n, freq="min")
    return pd.DataFrame(rows, columns=NAMES, index=times)


@cache
def judged(seed: int = 0) -> tuple[ProcessMonitor, pd.DataFrame]:
    """Return a monitor that has learned, and the rows that it judges."""
    rows = rows_of_the_tank(seed)
    return ProcessMonitor().fit(rows[:LEARNED]), rows[LEARNED:]


def main(folder: str = str(ROOT / "docs" / "images")) -> None:
    """Write monitor_tank.png to a folder."""
    figure = plots.monitor(*judged())
    figure.savefig(Path(folder) / "monitor_tank.png", dpi=160, facecolor="white", bbox_inches="tight", pad_inches=0.1)


if __name__ == "__main__":
    main(*sys.argv[1:])
