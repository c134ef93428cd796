"""Real data sets: read from files on this machine, or replaced by similar data that scikit-learn contains."""

from mercer.datasets.loaders import NAMES, archive, data_home, load

__all__ = ["NAMES", "archive", "data_home", "load"]


def __dir__() -> list[str]:
    return sorted(__all__)
