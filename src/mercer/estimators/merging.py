"""What models must have in common before they are merged."""

from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted


def check_mergeable(model: Any, other: Any, kind: type) -> None:
    """Fail where the other one is no fitted model of this kind, or one of other features."""
    if not isinstance(other, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"Only {article} {kind.__name__} can be merged with one; got a {type(other).__name__}.")
    check_is_fitted(other)
    _check_same_features(model, other)


def check_same(settings: Mapping[str, tuple[Any, Any]]) -> None:
    """Fail where a setting, named in the plural, is not the same in both models."""
    for name, (mine, theirs) in settings.items():
        if mine != theirs:
            raise ValueError(f"Models with different {name} cannot be merged: {mine!r} and {theirs!r}.")


def _check_same_features(model: Any, other: Any) -> None:
    """Fail where two models were fitted to different features; names count where both models have them."""
    if model.n_features_in_ != other.n_features_in_:
        raise ValueError(
            f"Models with different numbers of features cannot be merged: {model.n_features_in_} and "
            f"{other.n_features_in_}."
        )
    names, others = (getattr(one, "feature_names_in_", ()) for one in (model, other))
    for place, (mine, theirs) in enumerate(zip(names, others, strict=False), 1):
        if mine != theirs:
            raise ValueError(
                "The feature names should match, and be in the same order, in models that are merged: feature "
                f"{place} is {mine!r} in one and {theirs!r} in the other."
            )
