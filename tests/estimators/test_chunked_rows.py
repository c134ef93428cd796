"""Rows from files and iterators, larger than memory: the same models as from an array."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mercer import IncrementalKernelPCA, KernelPCA, LandmarkKernelPCA
from mercer.estimators import chunked_rows
from mercer.kernels import RBF
from mercer.kernels.tiles import MappedRows, SymmetricTiles


def rows(n=5000):
    return np.random.default_rng(0).normal(size=(n, 4)) * [1, 2, 3, 4]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The rows as files of three kinds, each in two pieces, read in small chunks."""
    monkeypatch.setattr(chunked_rows, "CHUNK_ROWS", 700)
    X, names = rows(), list("abcd")
    found = {}
    for kind in ("npy", "csv", "parquet"):
        paths = [tmp_path / f"{half}.{kind}" for half in range(2)]
        for path, part in zip(paths, np.split(X, [2100]), strict=True):
            if kind == "npy":
                np.save(path, part)
            elif kind == "csv":
                np.savetxt(path, part, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
            else:
                pq.write_table(pa.table(dict(zip(names, part.T, strict=True))), path)
        found[kind] = paths
    return found


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_files_give_the_model_of_their_rows(files, kind):
    X, settings = rows(), {"gamma": "median", "landmarks": 50, "random_state": 0}
    model = LandmarkKernelPCA(3, **settings).fit([str(path) for path in files[kind]])
    points = model.expansion_.points
    local = LandmarkKernelPCA(3, gamma=model.gamma_, landmarks=points).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, local.eigenvalues_, rtol=1e-10)
    assert model.n_samples_seen_ == 5000
    assert (list(getattr(model, "feature_names_in_", [])) == list("abcd")) == (kind != "npy")


def test_landmarks_of_files_are_from_all_rows_and_those_of_iterators_from_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr(chunked_rows, "CHUNK_ROWS", 500)
    X = np.sort(np.random.default_rng(0).uniform(size=(6000, 1)), axis=0)
    np.save(tmp_path / "sorted.npy", X)
    settings = {"gamma": 1.0, "landmarks": 20, "random_state": 0}
    assert LandmarkKernelPCA(2, **settings).fit(tmp_path / "sorted.npy").expansion_.points.max() > 0.9
    chunks = iter(np.split(X, 12))
    assert LandmarkKernelPCA(2, **settings).fit(chunks).expansion_.points.max() < 0.6


def test_an_iterator_may_have_empty_chunks_and_need_not_fill_the_landmarks():
    X = rows(40)
    model = LandmarkKernelPCA(2, gamma=0.1, landmarks=50).fit(iter([X[:0], X[:15], X[15:]]))
    exact = KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    for none in (iter([]), iter([X[:0]])):
        with pytest.raises(ValueError, match="no rows"):
            LandmarkKernelPCA(2).fit(none)


def test_incremental_models_learn_files_and_iterators(tmp_path, monkeypatch):
    monkeypatch.setattr(chunked_rows, "CHUNK_ROWS", 300)
    X, settings = rows(900), {"gamma": 0.05, "rank": 10, "batch_size": 50}
    np.save(tmp_path / "rows.npy", X)
    expected = IncrementalKernelPCA(2, **settings).fit(X)
    for given in (tmp_path / "rows.npy", iter(np.split(X, 3))):
        model = IncrementalKernelPCA(2, **settings).fit(given)
        assert model.n_samples_seen_ == 900
        np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=0.02)


def test_wrong_files_and_chunks_are_refused(files, tmp_path):
    np.save(tmp_path / "narrow.npy", rows(10)[:, :2])
    with pytest.raises(ValueError, match="has 2 features; the first has 4"):
        LandmarkKernelPCA(2).fit([*files["npy"], tmp_path / "narrow.npy"])
    with pytest.raises(FileNotFoundError, match="does not exist"):
        LandmarkKernelPCA(2).fit(tmp_path / "none.npy")
    with pytest.raises(ValueError, match="NaN"):
        LandmarkKernelPCA(2).fit(iter([rows(10), np.full((5, 4), np.nan)]))


def test_a_mapped_file_is_never_copied_as_a_whole(tmp_path):
    X = np.random.default_rng(0).normal(size=(1100, 300))
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    settings = {"n_components": 2, "kernel": "rbf", "gamma": 1e-3}
    model, local = KernelPCA(**settings).fit(mapped), KernelPCA(**settings).fit(X)
    assert np.shares_memory(model.X_fit_, mapped)
    assert not np.shares_memory(local.X_fit_, X)
    np.testing.assert_allclose(model.eigenvalues_, local.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.transform(X[:600]), local.transform(X[:600]), atol=1e-8)
    tracemalloc.start()
    tiles = SymmetricTiles(RBF(1e-3), np.asarray(mapped), np.float64, 0)
    product = tiles.product(X[:, :3])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(tiles.blocks.rows, MappedRows)
    assert peak < 8 * (512 * 512 + 4 * 512 * 300 + 20 * 1100) + 2**20  # one tile and the rows of its strips
    np.testing.assert_allclose(product, SymmetricTiles(RBF(1e-3), X, np.float64, 10**9).product(X[:, :3]), rtol=1e-10)
