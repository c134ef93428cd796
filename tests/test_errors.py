"""Exceptions and warnings travel between processes: they can be pickled with their text."""

import inspect
import pickle

import pytest

from mercer import errors

ARGUMENTS = {"MissingExtraError": ("pyarrow", "cli", "Reading .parquet files")}


@pytest.mark.parametrize("name", errors.__all__)
def test_an_error_is_the_same_after_pickling(name):
    error = getattr(errors, name)(*ARGUMENTS.get(name, ("What is wrong, and what to do.",)))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.args == error.args


def test_all_classes_of_the_module_are_public():
    classes = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
    assert classes == set(errors.__all__)
