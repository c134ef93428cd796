"""Rates of false alarms per row, and how many rows an alarm needs, from what users give."""

from numbers import Integral, Real
from typing import Any

from mercer.monitoring.times import seconds_of

_ALPHA = 0.01  # where no rate is given


def rate_of(alpha: Any, arl0: Any, per: Any, step: float | None) -> float:
    """Return the rate per row; step is the time between two rows in nanoseconds, where it is known."""
    if sum(value is not None for value in (alpha, arl0, per)) > 1:
        raise ValueError("alpha, arl0 and false_alarms_per all set the rate of false alarms; give one of them.")
    if per is not None:
        return _rate_per_period(per, step)
    return 1.0 / float(arl0) if arl0 is not None else float(_ALPHA if alpha is None else alpha)


def _rate_per_period(per: Any, step: float | None) -> float:
    valid = len(per) == 2 and isinstance(per[1], Real) and float(per[1]) > 0
    if not valid:
        raise ValueError(f"false_alarms_per needs a period and a number above 0, such as ('1D', 1); got {per!r}.")
    seconds = seconds_of(per[0])
    if not step:
        raise ValueError(
            "false_alarms_per needs the times of the training rows: pass a data frame with a DatetimeIndex, or alpha, "
            "the rate per row."
        )
    rate = float(per[1]) * step * 1e-9 / seconds
    if not rate < 1:
        raise ValueError(f"false_alarms_per={per!r} is {rate:g} per row; less than 1 is needed.")
    return rate


def pair_of(persist: Any, rows: int | None = None) -> tuple[int, int]:
    """Return k and m of "k of the last m rows"; m is at most half of the learned rows, where their number is given."""
    pair = persist if isinstance(persist, tuple) else (persist, persist)
    whole = len(pair) == 2 and all(isinstance(value, Integral) for value in pair)
    if not whole or not 1 <= pair[0] <= pair[1]:
        raise ValueError(f"persist is a number of rows k, or (k, m) with 1 <= k <= m; got {persist!r}.")
    if rows is not None and pair[1] > rows // 2:
        raise ValueError(
            f"persist={persist!r} looks at {pair[1]} rows; {rows} rows to learn from set limits for at most "
            f"{rows // 2}. Give a smaller number, or more rows."
        )
    return int(pair[0]), int(pair[1])
