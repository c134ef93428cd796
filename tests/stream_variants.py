"""Every public estimator that learns in parts, as it is and with the parameters that change how it keeps rows."""

from typing import Any

import numpy as np
import pytest

from public_estimators import ESTIMATORS, LEARN

POINTS = np.random.default_rng(7).standard_normal((12, 5)) + 1
_MORE: dict[str, list[dict[str, Any]]] = {
    "HebbianKernelPCA": [{"landmarks": 12}, {"landmarks": 12, "gain": "et"}, {"landmarks": POINTS}],
    "HebbianPCA": [{"rule": "oja", "gain": "constant"}],
    "IncrementalKernelPCA": [
        {"compression": None, "forgetting": 0.9},
        {"compression": "preimage", "points_per_component": 2, "batch_size": 5},
    ],
    "LandmarkKernelPCA": [
        {"landmarks": 12},
        {"landmarks": 12, "window": 30, "refresh": 15},
        {"landmarks": 12, "selection": "ald", "forgetting": 0.95},
        {"landmarks": POINTS},
        {"landmarks": None},
    ],
    "OnlineRobustKernelPCA": [
        {"landmarks": 12, "warm_up": 9},
        {"landmarks": 12, "warm_up": 9, "update": "ccipca"},
        {"landmarks": 12, "warm_up": 9, "update": "hebbian", "feature_map": "empirical"},
        {"landmarks": POINTS, "warm_up": 9},
    ],
}


def stream_variants() -> list[Any]:
    """Return (class, parameters), one for each test; classes that learn from something else than rows are not here."""
    streams = {name: cls for name, cls in ESTIMATORS.items() if hasattr(cls, "partial_fit") and name not in LEARN}
    return [
        pytest.param(cls, more, id=f"{name}-{number}")
        for name, cls in streams.items()
        for number, more in enumerate([{}, *_MORE.get(name, [])])
    ]


every_stream = pytest.mark.parametrize(("cls", "more"), stream_variants())


def outcome(model: Any, rows: Any) -> list[Any]:
    """Return what a model says about itself and about rows, for comparisons to the last bit."""
    names = ("n_samples_seen_", "n_features_in_", "eigenvalues_", "weights_", "gamma_")
    told = [np.asarray(getattr(model, name)) for name in names if hasattr(model, name)]
    return [model.transform(rows), model.reconstruction_error(rows), *told]


def same(found: list[Any], expected: list[Any]) -> bool:
    """Tell whether two outcomes are equal to the last bit."""
    return len(found) == len(expected) and all(map(np.array_equal, found, expected))
