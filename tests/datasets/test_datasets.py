"""Loaders: what is on the machine, what stands in for it, and what is said when neither exists."""

import re
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from mercer import datasets
from mercer.datasets import openml
from mercer.datasets.sources import SOURCES
from mercer.errors import DataFileError


def test_archive_in_the_named_folder_is_read(tmp_path, monkeypatch):
    np.savez(tmp_path / "usps.npz", X=np.eye(3), y=np.arange(3))
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    found = datasets.load("usps")
    np.testing.assert_array_equal(found.X, np.eye(3))
    assert "USPS" in found.source
    assert found.substitute is False


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[: len(raw) // 2], lambda raw: b"", lambda raw: raw.replace(b"7", b"8")]
)
def test_an_archive_that_is_damaged_is_named(tmp_path, damage):
    path = tmp_path / "usps.npz"
    np.savez(path, X=np.full(100, int.from_bytes(b"7" * 8, "little")))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataFileError, match=r"usps\.npz cannot be read as an \.npz file: .* Copy it again"):
        datasets.load("usps", home=tmp_path)


def test_no_folder_is_looked_for_that_nobody_named(tmp_path, monkeypatch):
    beside = tmp_path / "shared" / "data"
    beside.mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.delenv("MERCER_DATA", raising=False)
    assert datasets.data_home() is None
    monkeypatch.setenv("MERCER_DATA", str(beside))
    assert datasets.data_home() == beside


def test_substitute_is_announced(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    with pytest.warns(UserWarning, match="not on this machine; using scikit-learn's 8 x 8 digits"):
        found = datasets.load("usps")
    assert found.X.shape == (1500, 64)
    assert -1 <= found.X.min() < found.X.max() <= 1
    assert "digits" in found.source
    assert found.substitute is True


def test_missing_without_substitute_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="MERCER_DATA"):
        datasets.load("frey")
    with pytest.raises(FileNotFoundError, match=r"usps\.npz"):
        datasets.load("usps", allow_substitute=False)


@pytest.mark.parametrize("name", datasets.NAMES)
def test_what_is_missing_is_described_with_arrays_and_source(name, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load(name, allow_substitute=False, home=tmp_path)
    text = str(caught.value)
    assert SOURCES[name].file in text
    assert "Public source: " in text
    assert "--data" in text


@pytest.mark.skipif(datasets.data_home() is None, reason="the data folder is not on this machine (set MERCER_DATA)")
@pytest.mark.parametrize("name", datasets.NAMES)
def test_arrays_are_as_described(name):
    found = datasets.load(name, allow_substitute=False)
    described = re.findall(r"(\w+) \(([\d, ]+)\)", "; ".join(SOURCES[name].arrays))
    assert described
    for array, shape in described:
        assert found[array].shape == tuple(int(size) for size in shape.split(",") if size.strip())


def test_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match="usps"):
        datasets.load("nope")


@pytest.mark.skipif(datasets.data_home() is None, reason="the data folder is not on this machine (set MERCER_DATA)")
@pytest.mark.parametrize("name", datasets.NAMES)
def test_every_archive_loads(name):
    assert datasets.load(name, allow_substitute=False).X.size > 0


def test_openml_is_asked_only_when_allowed(tmp_path, monkeypatch):
    asked = []

    def fetch_openml(**given):
        asked.append(given["data_id"])
        return Bunch(data=np.arange(7300.0)[:, None], target=np.tile([str(k) for k in range(1, 11)], 730))

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    with pytest.raises(FileNotFoundError):
        datasets.load("usps", allow_substitute=False, home=tmp_path)
    assert asked == []
    found = datasets.load("usps", allow_substitute=False, allow_download=True, home=tmp_path)
    assert asked == [41082]
    assert "OpenML" in found.source
    assert (len(found.X), len(found.X_test), found.y[0], found.y[9]) == (7291, 9, 0, 9)


def test_openml_out_of_reach_is_named_with_the_file(tmp_path, monkeypatch):
    def unreachable(**_):
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    with pytest.raises(FileNotFoundError, match=r"OpenML could not be reached.*odds_ionosphere\.npz"):
        datasets.load("ionosphere", allow_substitute=False, allow_download=True, home=tmp_path)


def test_ionosphere_and_breastw_from_openml_match_the_archives(tmp_path, monkeypatch):
    tables = {
        59: Bunch(data=np.arange(12.0).reshape(3, 4), target=np.array(["g", "b", "g"])),
        15: Bunch(data=np.array([[1.0, np.nan], [2.0, 3.0]]), target=np.array(["malignant", "malignant"])),
    }
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **given: tables[given["data_id"]])
    radar = datasets.load("ionosphere", allow_download=True, home=tmp_path)
    assert radar.X.shape == (3, 3)
    np.testing.assert_array_equal(radar.y, [0, 1, 0])
    cells = datasets.load("breastw", allow_download=True, home=tmp_path)
    np.testing.assert_array_equal(cells.X, [[2, 3]])


def test_mnist_threes_from_openml_split_where_the_test_images_begin(tmp_path, monkeypatch):
    monkeypatch.setitem(openml._TRAIN, "mnist", 4)
    table = Bunch(data=np.zeros((6, 784)), target=np.array(["0", "3", "1", "3", "0", "3"]))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: table)
    threes = datasets.load("mnist3", allow_download=True, home=tmp_path)
    assert (threes.X.shape, threes.X_test.shape) == ((2, 28, 28), (1, 28, 28))


def test_archive_names_the_file_where_it_is(tmp_path):
    assert datasets.archive("frey", tmp_path) is None
    np.savez(tmp_path / "frey_faces.npz", X=np.eye(2))
    assert datasets.archive("frey", tmp_path) == tmp_path / "frey_faces.npz"
