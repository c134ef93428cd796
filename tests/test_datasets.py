"""Loaders: what is on the machine, what stands in for it, and what is said when neither exists."""

import numpy as np
import pytest

from mercer import datasets


def test_archive_in_the_named_folder_is_read(tmp_path, monkeypatch):
    np.savez(tmp_path / "usps.npz", X=np.eye(3), y=np.arange(3))
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    found = datasets.load("usps")
    np.testing.assert_array_equal(found.X, np.eye(3))
    assert "USPS" in found.source


def test_substitute_is_announced(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    with pytest.warns(UserWarning, match="not on this machine; using scikit-learn's 8 x 8 digits"):
        found = datasets.load("usps")
    assert found.X.shape == (1500, 64)
    assert -1 <= found.X.min() < found.X.max() <= 1
    assert "digits" in found.source


def test_missing_without_substitute_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="MERCER_DATA"):
        datasets.load("frey")
    with pytest.raises(FileNotFoundError, match=r"usps\.npz"):
        datasets.load("usps", allow_substitute=False)


def test_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match="usps"):
        datasets.load("nope")


@pytest.mark.skipif(datasets.data_home() is None, reason="the data folder is not on this machine (set MERCER_DATA)")
@pytest.mark.parametrize("name", datasets.NAMES)
def test_every_archive_loads(name):
    assert datasets.load(name, allow_substitute=False).X.size > 0
