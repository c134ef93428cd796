"""What models must have in common before they are merged."""

from typing import Any


def check_same_features(model: Any, other: Any) -> None:
    """Say so where two models were fitted to different features; names count where both models have them."""
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
