"""Checks of what users pass in: those of scikit-learn, with advice added to its messages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import validate_data

from mercer.arrays import Array, Points, is_sparse
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.few_rows import few_rows_on_one_thread
from mercer.kernels.base import Kernel
from mercer.kernels.resolve import KERNEL_NAMES
from mercer.preimage.methods import METHODS

KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable],
    "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"median"}), None],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "kernel_params": [dict, None],
}

OUTPUT_CONSTRAINTS: dict[str, list[Any]] = {
    "preimage": [StrOptions(set(METHODS))],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "verbose": ["verbose"],
}

COMPONENTS: list[Any] = [
    Interval(Integral, 1, None, closed="left"),
    Interval(RealNotInt, 0, 1, closed="neither"),
    None,
]

MOST_COMPONENTS = 10
"""How many components are computed, at most, where n_components=None."""

__all__ = [
    "COMPONENTS",
    "KERNEL_CONSTRAINTS",
    "MOST_COMPONENTS",
    "OUTPUT_CONSTRAINTS",
    "Interval",
    "StrOptions",
    "check_diagonal",
    "check_rows",
    "check_square",
    "check_table",
    "component_count",
    "generator",
    "masked_as_nan",
    "validated",
]

_Method = TypeVar("_Method", bound=Callable[..., Any])

_ADVICE = (
    (
        "could not convert",
        "Every feature must be a number: encode text and categories first, e.g. with OneHotEncoder.",
    ),
    ("Complex data", "Pass real features, for example the real and imaginary parts side by side."),
    (
        "dtype='numeric' is not compatible",
        "Every feature must be a number: encode text and categories first.",
    ),
    (
        "argument must be a string or a real number",
        "Every cell must be a single number: flatten nested values, and turn dates into numbers first.",
    ),
    (
        "contains NaN",
        "Fill the gaps (SimpleImputer) or drop those rows (X[~np.isnan(X).any(axis=1)]). ProcessMonitor judges rows of "
        "a process in which values are missing.",
    ),
    (
        "contains infinity",
        "Replace or drop infinite values (np.isfinite tells where they are), or rescale the data.",
    ),
    ("0 sample(s)", "Pass at least one row."),
    ("0 feature(s)", "Pass at least one column."),
    ("Expected 2D array", "Rows are samples and columns are features."),
    ("dim 3", "Every sample must be one row: flatten images and the like with X.reshape(len(X), -1)."),
    ("inhomogeneous shape", "Every row must have the same number of features."),
    ("features, but", "Pass the same columns, in the same order, as in fit."),
)


def validated(method: _Method) -> _Method:
    """Check the parameters before a method that fits, as scikit-learn does; where it raises, the object is as before.

    The method keeps its type. What `all_or_nothing` asks of it must hold. Few rows are learned on one thread.
    """
    checked: _Method = _fit_context(prefer_skip_nested_validation=True)(method)
    return all_or_nothing(few_rows_on_one_thread(checked))


def check_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    copy: bool = False,
    sparse: bool = True,
    missing: bool = False,
    least: int = 1,
) -> Points:
    """Return X as a float matrix (float32 stays float32), or fail as scikit-learn does, with advice.

    With copy=True the result shares no memory with X; rows that a model keeps need that, as callers reuse their arrays.
    With missing=True, NaN is allowed, and a masked cell is NaN. least is the smallest number of rows.
    """
    X = masked_as_nan(_without_dates(X))
    stays = getattr(X, "dtype", np.float64) in (np.float64, np.float32)  # what is converted is a copy already
    with advice():
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            copy=copy and stays,
            accept_sparse="csr" if sparse else False,
            ensure_all_finite="allow-nan" if missing else True,
            ensure_min_samples=least,
            dtype="numeric",  # refuses digits in strings, which asking for floats would convert
        )
        if checked.dtype not in (np.float64, np.float32):
            checked = checked.astype(np.float64)
    return _with_short_indices(_without_repeated_cells(checked)) if is_sparse(checked) else checked


def check_table(X: Any) -> Array:
    """Return dense rows in float64 for a function that is no estimator, or fail with the same advice."""
    with advice():
        return np.asarray(check_array(masked_as_nan(_without_dates(X)), dtype="numeric", input_name="X"), np.float64)


@contextmanager
def advice() -> Iterator[None]:
    """Add to scikit-learn's message about wrong rows what can be done."""
    try:
        yield
    except np.exceptions.DTypePromotionError:  # its own message lists the type of every column
        raise TypeError(
            "The columns cannot be made one table of numbers, as where some are dates and some are numbers. Every "
            "feature must be a number: leave the others out, or turn them into numbers first."
        ) from None
    except (ValueError, TypeError) as error:
        text = next((text for sign, text in _ADVICE if sign in str(error)), None)
        if text is None or type(error) not in (ValueError, TypeError):
            raise
        raise type(error)(f"{error}\n{text}") from None


def _without_dates(X: Any) -> Any:
    """Return X, or say that it holds dates: numpy would count their ticks since 1970, in a unit that differs."""
    types: Any = getattr(X, "dtypes", getattr(X, "dtype", None))  # a frame has one per column
    for dtype in np.ravel(types):
        if getattr(dtype, "kind", "") in ("m", "M") or getattr(dtype, "is_temporal", bool)():
            raise TypeError(f"X holds dates or times ({dtype}). Leave them out, or turn them into numbers first.")
    return X


def masked_as_nan(X: Any) -> Any:
    """Return X with NaN in masked cells: numpy would give the numbers below the mask, which say nothing."""
    if not isinstance(X, np.ma.MaskedArray) or not np.ma.is_masked(X):
        return X
    return np.ma.filled(X.astype(X.dtype if X.dtype.kind == "f" else np.float64), np.nan)


def _without_repeated_cells(X: Points) -> Points:
    """Return a CSR matrix whose rows list each cell once, in order; the caller's matrix stays as it is.

    scipy sorts and adds up cells in place where it needs that, also in a matrix that shares memory with another one.
    """
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def _with_short_indices(X: Points) -> Points:
    """Return a CSR matrix whose indices are 32 bits wide where they fit: not all of scikit-learn takes longer ones."""
    if X.indices.dtype != np.int32 and max(X.nnz, *X.shape) < 2**31:
        return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    return X


def check_square(K: Points) -> Points:
    """Return a precomputed kernel matrix as a dense array, or say why it cannot be one."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square matrix of kernel values between all training rows; got "
            f"{K.shape[0]} x {K.shape[1]}. Pass kernel(X, X), or pass the data with kernel='rbf'."
        )
    return K.toarray() if hasattr(K, "toarray") else K


def check_diagonal(diagonal: Any, n: int) -> Array:
    """Return k(x, x) of n rows as a vector, or say what is wrong with it."""
    values = np.asarray(diagonal, np.float64)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise ValueError(f"diagonal must hold k(x, x), one finite number for each of the {n} rows; got {values.shape}.")
    return values


def generator(random_state: Any) -> np.random.RandomState:
    """Return scikit-learn's generator for a `random_state`; None draws a new seed and leaves the global state alone."""
    if random_state is None:
        return np.random.RandomState(int(np.random.default_rng().integers(2**32)))
    found: np.random.RandomState = check_random_state(random_state)
    return found


def component_count(wanted: int | None, n: int) -> int:
    """Return how many of the wanted components n points allow; by default `MOST_COMPONENTS` are wanted."""
    return min(n, MOST_COMPONENTS if wanted is None else int(wanted))
