"""Real data sets, found on this machine where they are, replaced by something honest where they are not."""

from mercer.datasets.loaders import NAMES, archive, data_home, load

__all__ = ["NAMES", "archive", "data_home", "load"]


def __dir__() -> list[str]:
    return sorted(__all__)
