"""The law of more components than the data allow: fewer are computed, one warning says so, `n_components_` counts."""

import warnings

import numpy as np
import pytest

from public_estimators import ESTIMATORS, make

DECOMPOSITIONS = {name: cls for name, cls in ESTIMATORS.items() if hasattr(cls, "reconstruction_error")}
every_decomposition = pytest.mark.parametrize("cls", DECOMPOSITIONS.values(), ids=DECOMPOSITIONS)


def texts_of_fit(model, X) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    assert all(one.category is UserWarning and one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


@every_decomposition
@pytest.mark.parametrize(("n", "d"), [(6, 4), (5, 12), (1, 3)])
def test_fewer_components_are_computed_and_a_warning_says_so(cls, n, d, rng):
    X, new = rng.standard_normal((n, d)), rng.standard_normal((3, d))
    model = make(cls, n_components=9)
    [text] = texts_of_fit(model, X)
    found = model.n_components_
    assert text == f"n_components=9, but the data allow only {found}: the model has n_components_={found}."
    assert found <= n
    assert model.transform(new).shape == (3, found)
    assert np.isfinite(model.transform(new)).all()


@every_decomposition
def test_as_many_components_as_there_are_by_themselves_need_no_warning(cls, rng):
    X = rng.standard_normal((6, 4))
    model = make(cls, n_components=None)
    assert texts_of_fit(model, X) == []
    assert 1 <= model.n_components_ <= 6
