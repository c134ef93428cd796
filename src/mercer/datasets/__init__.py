"""Real data sets: read from files on this machine, or replaced by similar data that scikit-learn contains."""

from mercer.datasets.loaders import archive, data_home, load
from mercer.datasets.sources import SOURCES

#: The names of all data sets, for `load` and `archive`.
NAMES = tuple(SOURCES)

__all__ = ["NAMES", "archive", "data_home", "load"]


def __dir__() -> list[str]:
    return sorted(__all__)
