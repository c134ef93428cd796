"""Sets of images with labels, checked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.images.checks import refuse_masked


def listed(sets: Any) -> Sequence[Any]:
    """Return the sets, or fail where something else was passed."""
    if isinstance(sets, np.ndarray) and sets.ndim < 3:
        raise ValueError(
            f"A list of sets is needed, each an array with one image per row; got an array of shape {sets.shape}. "
            "For a single set pass [images]."
        )
    if isinstance(sets, Mapping) or not hasattr(sets, "__len__"):
        raise TypeError(
            f"A list of sets is needed, each an array with one image per row; got a {type(sets).__name__}. "
            "Pass list(sets); of a dictionary list(sets.values()), with list(sets) as labels."
        )
    if len(sets) == 0:
        raise ValueError("Got no sets; pass at least one array of images.")
    found: Sequence[Any] = sets
    return found


def check_set(one: Any, name: str, n_features: int | None) -> Array:
    """Return a set as rows of finite floats, (images, pixels), or say what is wrong with it."""
    refuse_masked(one, name)
    try:
        values = np.asarray(one)
        if values.dtype.kind == "c":
            raise TypeError("its numbers are complex; pass their moduli, or real and imaginary parts side by side")
        values = values if values.dtype == np.float32 else values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers with one image per row: {error}.") from error
    if values.size == 0 or values.ndim == 0:
        raise ValueError(f"{name} has no images: its shape is {values.shape}. Drop it.")
    rows: Array = values[None] if values.ndim == 1 else values.reshape(len(values), -1)
    if n_features is not None and rows.shape[1] != n_features:
        raise ValueError(
            f"{name} has images of {rows.shape[1]} pixels; {n_features} are needed. A set has one image per row; a "
            "single picture must be flattened."
        )
    if not np.isfinite(rows).all():
        raise ValueError(f"{name} contains NaN or infinity in image {int(np.argmin(np.isfinite(rows).all(axis=1)))}.")
    return rows


def unit_rows(rows: Array) -> Array:
    """Scale every row to unit length; zero rows stay as they are."""
    largest = np.abs(rows).max(axis=1, keepdims=True)  # first, so that squares neither overflow nor vanish
    scaled = rows / np.where(largest > 0, largest, 1.0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths > 0, lengths, 1.0))


def check_labels(labels: Iterable[Any], n: int) -> list[Any]:
    """Return n labels as plain Python values."""
    names = [label.item() if isinstance(label, np.generic) else label for label in labels]
    if len(names) != n:
        raise ValueError(f"There are {n} sets and {len(names)} labels; every set needs one label.")
    for name in names:
        check_label(name)
    return names


def check_label(label: Any) -> None:
    """Fail where a label is NaN, a list, or something else that cannot be a key of a dictionary."""
    if isinstance(label, float) and label != label:
        raise ValueError("A label is NaN, which is equal to nothing, not even to itself. Drop its set, or name it.")
    try:
        hash(label)
    except TypeError:
        raise TypeError(
            f"A set has one label, which can be a key of a dictionary; got {type(label).__name__} {label!r}. Lists "
            "of sets and labels are for `fit`; to learn more, call partial_fit(frames, label), once for each label."
        ) from None


def in_order(names: list[Any]) -> list[Any]:
    """Return the labels without repetitions, sorted where they can be."""
    unique = list(dict.fromkeys(names))
    try:
        return sorted(unique)
    except TypeError:
        return unique
