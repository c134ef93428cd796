"""The candidates that a user gives: checked, and put into the grid of a purpose."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from mercer.criteria.candidates import Grid

_FIELDS = {"kernel": "kernels", "width": "widths", "gamma": "gammas", "n_components": "counts"}


def grid_of(purpose: str, grid: Grid, given: Mapping[str, Sequence[Any]] | None) -> Grid:
    """Return the grid of a purpose, restricted or changed by what the user gave."""
    if given is None:
        return grid
    if not isinstance(given, Mapping):
        raise TypeError(f"candidates must be a mapping such as {{'n_components': [2, 4]}}; got {given!r}.")
    allowed = dict(_FIELDS, standardize="scalings") if len(grid.scalings) > 1 else _FIELDS
    unknown = [str(key) for key in given if key not in allowed]
    if unknown:
        raise ValueError(
            f"candidates for purpose={purpose!r} may have the keys {', '.join(allowed)}; got {', '.join(unknown)}."
        )
    if "width" in given and "gamma" in given:
        raise ValueError("candidates may have 'width' or 'gamma', not both: each sets gamma of the Gaussian kernel.")
    known = {"kernel": tuple(grid.kernels), "standardize": tuple(grid.scalings)}
    values = {name: _values(purpose, name, listed, known.get(name)) for name, listed in given.items()}
    return replace(grid, **{allowed[name]: found for name, found in values.items()})


def _values(purpose: str, name: str, listed: Any, known: tuple[Any, ...] | None) -> tuple[Any, ...]:
    listed = listed.tolist() if hasattr(listed, "tolist") else listed  # arrays and columns of data frames
    if isinstance(listed, str) or not isinstance(listed, Sequence | set | range) or not len(listed):
        raise ValueError(f"candidates[{name!r}] must be a list with one value or more; got {listed!r}.")
    wrong = [value for value in listed if not _fits(name, value, known)]
    if wrong:
        needed = f"whole numbers above 0 in {name!r}" if name == "n_components" else f"numbers above 0 in {name!r}"
        if known is not None:
            needed = f"{' or '.join(map(repr, known))} in {name!r} for purpose={purpose!r}"
        raise ValueError(f"candidates need {needed}; got {', '.join(map(repr, wrong))}.")
    if known is not None:
        return tuple(listed)
    return tuple(int(value) if name == "n_components" else float(value) for value in listed)


def _fits(name: str, value: Any, known: tuple[Any, ...] | None) -> bool:
    if known is not None:
        return any(type(value) is type(one) and value == one for one in known)
    kind = Integral if name == "n_components" else Real
    return isinstance(value, kind) and value is not True and bool(0 < float(value) < np.inf)
