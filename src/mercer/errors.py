"""Exceptions and warnings that only Mercer raises. Their messages say what is wrong and what to do."""

import inspect
import warnings

__all__ = [
    "ClusterError",
    "DataFileError",
    "IndefiniteKernelWarning",
    "MercerError",
    "MissingCellError",
    "MissingExtraError",
    "ModelFileError",
    "NoAlarmWarning",
    "NotSaveableError",
    "PreImageWarning",
    "SerialRowsWarning",
    "SlowFitWarning",
]


class MercerError(Exception):
    """Base class of all exceptions that only Mercer raises.

    Invalid arguments raise the usual `ValueError` and `TypeError` of Python instead.

    See Also
    --------
    ModelFileError : A model file cannot be read or written.
    DataFileError : A data file cannot be read.

    Examples
    --------
    >>> from mercer import errors
    >>> issubclass(errors.ModelFileError, errors.MercerError)
    True
    """


class ModelFileError(MercerError, ValueError):
    """A model file is truncated, altered, too large, of another program, or cannot be written.

    See Also
    --------
    mercer.load : Loads a saved model.
    NotSaveableError : A model cannot be saved.

    Examples
    --------
    >>> import tempfile, mercer
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         mercer.load(file.name)
    ...     except mercer.errors.ModelFileError as error:
    ...         print("too few for a model" in str(error))
    True
    """


class ClusterError(MercerError, RuntimeError):
    """A cluster cannot do the work: it is closed, has no workers, or workers with another version of Mercer.

    See Also
    --------
    mercer.dask.KernelPCA : One of the classes for a cluster.

    Examples
    --------
    >>> from mercer import errors
    >>> issubclass(errors.ClusterError, RuntimeError)
    True
    """


class DataFileError(MercerError, ValueError):
    """A data file is empty, has rows of different lengths, is not numeric, or has a format that cannot be read.

    The commands of the command line raise it for the files that they are given.

    See Also
    --------
    MissingCellError : A data file has empty cells.

    Examples
    --------
    >>> from mercer import errors
    >>> issubclass(errors.DataFileError, ValueError)
    True
    """


class MissingCellError(DataFileError):
    """A cell that should hold a number is empty or NaN.

    See Also
    --------
    DataFileError : A data file cannot be read.

    Examples
    --------
    >>> from mercer import errors
    >>> issubclass(errors.MissingCellError, errors.DataFileError)
    True
    """


class NotSaveableError(ModelFileError, TypeError):
    """The estimator holds something that a model file cannot store, such as a function.

    See Also
    --------
    ModelFileError : A model file cannot be read or written.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> model = mercer.KernelPCA(1, kernel=lambda x, y: float(x @ y)).fit(np.eye(3))
    >>> try:
    ...     model.save("model.mercer")
    ... except mercer.errors.NotSaveableError as error:
    ...     print("not saved")
    not saved
    """


class IndefiniteKernelWarning(UserWarning):
    """The kernel matrix has negative eigenvalues outside the components that were kept.

    Distances in feature space, such as reconstruction errors, are then not reliable.

    See Also
    --------
    mercer.kernels.Kernel : The base class of all kernels.
    mercer.KernelPCA : Exact kernel PCA of rows in memory.

    Examples
    --------
    >>> import warnings
    >>> from mercer import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.IndefiniteKernelWarning)
    """


class SlowFitWarning(UserWarning):
    """A fit takes many times longer than `KernelPCA` with few components; the text tells what is faster.

    See Also
    --------
    mercer.LandmarkKernelPCA : Kernel PCA of streams and large tables, on landmarks.
    mercer.L1KernelPCA : Components that maximise sums of absolute scores.

    Examples
    --------
    >>> import warnings
    >>> from mercer import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.SlowFitWarning)
    """


class PreImageWarning(UserWarning):
    """The pre-images that were found are far, in feature space, from the points that they should represent.

    See Also
    --------
    mercer.KernelPCA : Exact kernel PCA of rows in memory.
    mercer.denoise : Removes noise from rows.

    Examples
    --------
    >>> import warnings
    >>> from mercer import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.PreImageWarning)
    """


class NoAlarmWarning(UserWarning):
    """An outlier detector was fitted that raises no alarm, however far away a row is.

    See Also
    --------
    mercer.KernelOutlierDetector : Alarms for rows without an order.

    Examples
    --------
    >>> import warnings
    >>> from mercer import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.NoAlarmWarning)
    """


class SerialRowsWarning(UserWarning):
    """An outlier detector was fitted to rows that look like a time series; alarms will be more frequent than asked for.

    See Also
    --------
    mercer.ProcessMonitor : Alarms for rows in the order of time.
    mercer.KernelOutlierDetector : Alarms for rows without an order.

    Examples
    --------
    >>> import warnings
    >>> from mercer import errors
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", errors.SerialRowsWarning)
    """


class MissingExtraError(MercerError, ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    package : str
        The name of the package that is missing.
    extra : str
        The extra of Mercer that installs it.
    purpose : str
        What needs the package: the beginning of the message.

    See Also
    --------
    MercerError : The base class of all errors of this package.

    Examples
    --------
    >>> from mercer.errors import MissingExtraError
    >>> print(MissingExtraError("PyWavelets", "wavelet", "The wavelet kernel"))
    The wavelet kernel needs PyWavelets. Install it with: pip install 'mercer[wavelet]'
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}. Install it with: pip install 'mercer[{extra}]'")
        self._given = (package, extra, purpose)

    def __reduce__(self) -> tuple[type["MissingExtraError"], tuple[str, str, str]]:
        """Return how pickle makes the error again: by its arguments, not by its text."""
        return type(self), self._given


def __dir__() -> list[str]:
    return sorted(__all__)


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn; the warning points to the user's line, the first one outside of the library and of scikit-learn."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("mercer.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level + 1)
