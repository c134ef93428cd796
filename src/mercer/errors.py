"""Exceptions and warnings that Mercer raises, each with a text that helps."""

__all__ = [
    "DataFileError",
    "IndefiniteKernelWarning",
    "MercerError",
    "MissingExtraError",
    "ModelFileError",
    "NoAlarmWarning",
    "NotSaveableError",
    "PreImageWarning",
]


class MercerError(Exception):
    """Base of all errors that only Mercer raises."""


class ModelFileError(MercerError, ValueError):
    """A model file is truncated, altered, oversized, foreign, or cannot be written."""


class DataFileError(MercerError, ValueError):
    """A data file is empty, ragged, not numeric, or of a kind that cannot be read."""


class MissingCellError(DataFileError):
    """A cell that should hold a number is empty or NaN."""


class NotSaveableError(ModelFileError, TypeError):
    """The estimator holds something that no data file can carry, such as a function."""


class IndefiniteKernelWarning(UserWarning):
    """The kernel matrix has negative eigenvalues outside the components that were kept."""


class SlowFitWarning(UserWarning):
    """A fit took many times as long as `KernelPCA` takes; the text names the parameter that makes it faster."""


class PreImageWarning(UserWarning):
    """The pre-images found are far, in feature space, from what they should represent."""


class NoAlarmWarning(UserWarning):
    """An outlier detector was fitted that raises no alarm, however far away a row is."""


class MissingExtraError(MercerError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}. Install it with: pip install 'mercer[{extra}]'")


def __dir__() -> list[str]:
    return sorted(__all__)
