"""Texts of warnings about learning, and where they point."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np

from mercer.arrays import Array, Points, is_sparse, n_rows
from mercer.errors import SlowFitWarning, warn_user
from mercer.kernels.base import Kernel
from mercer.kernels.inner_product import Linear
from mercer.kernels.tiles import memory_budget
from mercer.solvers.landmark.first_rows import all_the_same

_FEW_ROWS, _FEW_SHARE = 5.0, 0.02  # fewer rows than this, or a smaller share of all, must not hold all variation
_MANY_ROWS = 1000  # of which all-rows fits are slow
_TOO_MANY_ROWS = 200_000  # of which all pairs take more than some minutes, and a pass over them is repeated
_ENOUGH_ROWS = 20  # before so many rows nothing can be said about that
_MANY_OUTLIERS = 0.4  # share of rows with the weight of outliers beyond which it is told
_LEFT_OUT = {"exp": 0.05, "tukey": 0.05}  # such a weight, where losses give ordinary rows less than one half; else 0.5
_ALONE = 1.0  # k(x, x), below which a row counts as alone if its kernel values with all others do not add up to it
# distances from the origin, in distances from the mean, up to which errors are below 1e-6: on landmarks, on all rows
_FAR, _FAR_ON_ALL_ROWS = 3e3, 3e5
_SOME_ROWS = 32  # that measure these distances where kernel values are needed


def uneven(n: int, rows_that_count: float) -> str | None:
    """Return a warning where a few rows hold nearly all variation, else None."""
    if n < _ENOUGH_ROWS or rows_that_count >= max(_FEW_ROWS, _FEW_SHARE * n):
        return None
    return (
        f"The variation of {n} rows lies in about {rows_that_count:.0f} of them, which are far larger than the rest: "
        "components beyond theirs are not learned. Drop or clip these rows, scale the features, or use a robust method."
    )


_FEW_POINTS = "Pass landmarks=256 for a cost that grows only as the number of rows."


def slow_fit(what: str, n: int, advice: str = _FEW_POINTS) -> None:
    """Warn that a fit on all of n rows, which are many, takes many times as long as `KernelPCA` does."""
    if n >= _MANY_ROWS:
        warn_user(
            f"{what} the kernel matrix of all {n} rows; this takes many times as long as KernelPCA. {advice}",
            SlowFitWarning,
        )


_MORE_MEMORY = (
    "Raise the memory with sklearn.set_config(working_memory=...), fit a sample of the rows, or use "
    "RobustKernelPCA(landmarks=256), whose cost grows only as the number of rows."
)


def slow_steps(n: int, bytes_per_value: int) -> None:
    """Warn that the kernel matrix of n rows does not fit into the memory budget, so that every step makes it again."""
    if n * n * bytes_per_value > memory_budget():
        slow_fit("Every step of the fit computes again, since it does not fit into memory,", n, _MORE_MEMORY)


def slow_pairs(n: int, advice: str) -> None:
    """Warn that a fit computes kernel values of all pairs of n rows again in every pass, which takes hours."""
    if n >= _TOO_MANY_ROWS:
        warn_user(
            f"Every pass of the fit computes the kernel values of all {n * n / 2:.0e} pairs of {n} rows, which do not "
            f"fit into memory; this can take hours. {advice}",
            SlowFitWarning,
        )


def check_memory(what: str, n: int, held: int, advice: str) -> None:
    """Raise ValueError if a kernel matrix of n rows, of which so many bytes must be held, is beyond the budget."""
    if held > memory_budget():
        raise ValueError(
            f"{what} holds the kernel matrix of {n} rows, {held / 2**30:.1f} GiB; the budget is "
            f"{memory_budget() / 2**30:.2f} GiB. {advice}, or raise the budget with "
            "sklearn.set_config(working_memory=...)."
        )


def warn_far_from_origin(kernel: Kernel, X: Points, center: bool, *, on_all_rows: bool = False) -> None:
    """Warn where kernel values lose the digits of small components, because the rows are far from zero in feature space
    or differ little there.
    """
    if not center or is_sparse(X) or n_rows(X) < _ENOUGH_ROWS or all_the_same(X):
        return
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported by the fit
        distance, spread = _distance_and_spread(kernel, X)
    if not 0.0 < (_FAR_ON_ALL_ROWS if on_all_rows else _FAR) * spread < distance:
        return
    how_far = f"{distance / spread:.0e} times as far from the origin as from their mean"
    if isinstance(kernel, Linear):
        warn_user(
            f"The rows are {how_far}. Inner products of such rows lose the digits that small components need. Subtract "
            "the mean of each column first, for example with StandardScaler, or use KernelPCA, which does so."
        )
        return
    advice = "Subtract the mean of each column first, for example with StandardScaler, or raise gamma"
    warn_user(
        f"In the feature space of kernel={kernel.name!r} the rows are {how_far}. Kernel values of such rows differ so "
        "little that they lose the digits that small components need. "
        f"{'Raise gamma' if kernel.unit_diagonal else advice}, or use KernelPCA, which keeps more of them."
    )


def _distance_and_spread(kernel: Kernel, X: Points) -> tuple[float, float]:
    """Return the length of the mean in feature space, and the root mean square distance of the rows from it.

    For kernels that are no inner products of rows, both are those of some rows.
    """
    if kernel.inner_product:
        rows = kernel.prepare(X, np.float64)
        return float(np.linalg.norm(rows.mean(axis=0))), float(np.sqrt(rows.var(axis=0).sum()))
    K = kernel(X[:: -(-n_rows(X) // _SOME_ROWS)].astype(np.float64, copy=False))
    mean_norm = float(K.mean())
    return np.sqrt(max(mean_norm, 0.0)), np.sqrt(max(float(K.diagonal().mean()) - mean_norm, 0.0))


def warn_of_outliers(weights: Array, eigenvalues: Array, psi: str) -> None:
    """Warn where robust weights leave out so many rows, or so much variation, that the rest may not be the data."""
    limit = _LEFT_OUT.get(psi, 0.5)
    n, few = len(weights), int(np.sum(weights < limit))
    if few and not eigenvalues.any():
        text = (
            f"{few} of {n} rows count as outliers, and the others do not vary: all eigenvalues are 0. Use KernelPCA, "
            "which counts all rows."
        )
    elif few > _MANY_OUTLIERS * n:
        text = (
            f"{few} of {n} rows have a weight below {limit:g}, as outliers have. Either the rows form several groups, "
            "of which only some are described, or the components describe the rows in the middle so much better that "
            "all others seem far away. If these rows are no outliers, use fewer components, a wider kernel (a smaller "
            "gamma), or KernelPCA, which counts all rows."
        )
    else:
        return
    warn_user(text)


def warn_of_narrow_kernel(near: float, gamma: float, n: int) -> None:
    """Warn where kernel values of a row with all of the other n rows add up to nearly nothing: each is seen alone."""
    if near < _ALONE and n >= _ENOUGH_ROWS:
        warn_user(
            f"The kernel is too narrow for these rows: with gamma={gamma:.3g}, that is 1 / columns, as none was given, "
            f"the kernel values of a row with all {n - 1} others add up to {max(near, 0.0):.1g} in the mean, less than "
            "the value of a row with itself, 1. Components then describe single rows. Pass gamma='median', or scale "
            "the columns."
        )


def warn_of_fewer(wanted: Any, found: int) -> None:
    """Warn where the data allow fewer components than the number asked for; None and shares ask for no number."""
    if isinstance(wanted, Integral) and found < int(wanted):
        warn_user(f"n_components={wanted}, but the data allow only {found}: the model has n_components_={found}.")


@contextmanager
def fewer_components_are_fine() -> Iterator[None]:
    """Leave that warning out, within this context."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=.* but the data allow only", UserWarning)
        yield


def diverging(eta0: float | str) -> str:
    """Return a warning where no gain is small enough."""
    return (
        f"Learning diverges even with tiny gains (eta0={eta0!r}); the components before that are kept. "
        "Look for rows of enormous size, scale the features, or use eta0='auto'."
    )


def halved(times: int, eta0: float | str, smd_rate: float | str) -> str:
    """Return a warning where gains were too large for a while."""
    return (
        f"Steps diverged, and gains were halved {times} times for a while. Lower eta0={eta0!r} or "
        f"smd_rate={smd_rate!r}, or set them to 'auto'."
    )


def unfinished(passes: int, residual: float) -> str:
    """Return a warning where passes ended before the components were eigenvectors."""
    return (
        f"After {passes} passes some components are not yet eigenvectors: the relative residual is "
        f"{residual:.2g}. Raise max_iter, try gain='et' or another random_state, ask for fewer components, or "
        "use KernelPCA, which is exact."
    )
