"""Speed and memory against scikit-learn, in one process run, as ratios. `make bench` prints them all."""

import os
from pathlib import Path

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"  # beside the repository
if "MERCER_DATA" not in os.environ and _BESIDE.is_dir():
    os.environ["MERCER_DATA"] = str(_BESIDE)
