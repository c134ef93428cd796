"""Texts of warnings that several estimators share, and where they point."""

import inspect

_FEW_ROWS, _FEW_SHARE = 5.0, 0.02  # fewer rows than this, or a smaller share of all, must not hold all variation
_ENOUGH_ROWS = 20  # before so many rows nothing can be said about that


def uneven(n: int, rows_that_count: float) -> str | None:
    """Return a warning where a few rows hold nearly all variation, else None."""
    if n < _ENOUGH_ROWS or rows_that_count >= max(_FEW_ROWS, _FEW_SHARE * n):
        return None
    return (
        f"The variation of {n} rows lies in about {rows_that_count:.0f} of them, which are far larger than the rest: "
        "components beyond theirs are not learned. Drop or clip these rows, scale the features, or use a robust method."
    )


def user_level() -> int:
    """Return the stack level, for a warning issued by the caller, of the first frame outside of the library."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("mercer.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    return max(level, 1)
