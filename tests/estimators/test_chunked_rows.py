"""Rows from files and iterators, larger than memory: the same models as from an array."""

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import mercer
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
    for none in (iter([]), iter([X[:0]]), iter([[]])):
        with pytest.raises(ValueError, match="no rows"):
            LandmarkKernelPCA(2).fit(none)


def test_with_refresh_the_model_after_fit_is_that_of_all_chunks():
    X = rows(1000)
    model = LandmarkKernelPCA(2, gamma=0.1, landmarks=X[:30], refresh=300).fit(iter(np.split(X, 10)))
    assert model.expansion_.n_seen == model.n_samples_seen_ == 1000
    whole = LandmarkKernelPCA(2, gamma=0.1, landmarks=X[:30], refresh=300).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)


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


STREAMS = {
    "landmark": lambda: LandmarkKernelPCA(2, kernel="linear", landmarks=20, random_state=0),
    "landmark, window": lambda: LandmarkKernelPCA(2, kernel="linear", landmarks=20, window=2000, random_state=0),
    "incremental": lambda: IncrementalKernelPCA(2, kernel="linear"),
}
streams = pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)


def pieces(X, step=500):
    return [X[first : first + step] for first in range(0, len(X), step)]


def frame(X, names="abcd"):
    return pd.DataFrame(X, columns=list("abcd"))[list(names)]


@streams
def test_an_iterator_may_fill_one_array_again_and_again(make):
    X = rows() + np.arange(5000)[:, None] / 100
    buffer = np.empty((500, 4))

    def refilled():
        for piece in pieces(X):
            buffer[:] = piece
            yield buffer

    model, expected = make().fit(refilled()), make().fit(iter(pieces(X)))
    buffer[:] = np.nan
    np.testing.assert_array_equal(model.eigenvalues_, expected.eigenvalues_)
    np.testing.assert_array_equal(model.transform(X[:50]), expected.transform(X[:50]))


@streams
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, np.ndarray.tolist, frame], ids=lambda f: f.__name__)
def test_chunks_of_any_form_are_learned(make, form):
    X = rows()
    model, expected = make().fit(map(form, pieces(X))), make().fit(iter(pieces(X)))
    assert model.n_samples_seen_ == 5000
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)


@streams
def test_sparse_and_dense_chunks_may_be_mixed(make):
    X = rows(4000)
    forms = [sp.csr_matrix, np.asarray] * 4
    mixed = (form(piece) for form, piece in zip(forms, pieces(X), strict=True))
    np.testing.assert_allclose(make().fit(mixed).eigenvalues_, make().fit(iter(pieces(X))).eigenvalues_, rtol=1e-9)


@streams
@pytest.mark.parametrize("place", [1, 8])  # among the first rows, and after them
def test_columns_of_frames_are_kept_and_compared(make, place):
    frames = [frame(piece) for piece in pieces(rows())]
    model = make().fit(iter(frames))
    assert list(model.feature_names_in_) == list("abcd")
    frames[place] = frames[place][list("dcba")]
    with pytest.raises(ValueError, match=r"feature names should match|must be in the same order"):
        make().fit(iter(frames))


@streams
@pytest.mark.parametrize("place", [1, 8])
def test_a_bad_chunk_of_an_iterator_leaves_no_trace(make, place):
    X = rows()
    chunks = pieces(X)
    chunks[place] = np.full((5, 4), np.nan)
    unfitted = make()
    with pytest.raises(ValueError, match="NaN"):
        unfitted.fit(iter(chunks))
    assert vars(unfitted).keys() == vars(make()).keys()
    with pytest.raises(NotFittedError):
        unfitted.transform(X)
    fitted = make().fit(frame(X[:300]))
    before = fitted.eigenvalues_.copy()
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(iter(chunks))
    np.testing.assert_array_equal(fitted.eigenvalues_, before)
    assert fitted.n_samples_seen_ == 300
    assert list(fitted.feature_names_in_) == list("abcd")


@pytest.mark.parametrize("chunk", [5.0, np.arange(4.0), [1.0, 2.0]], ids=["number", "row", "list"])
def test_chunks_that_are_no_tables_are_refused(chunk):
    with pytest.raises(ValueError, match="Expected 2D array"):
        LandmarkKernelPCA(2).fit(iter([chunk]))


@pytest.mark.parametrize("name", ["Landmark", "Incremental", "OnlineRobust", "Hebbian"])
@pytest.mark.parametrize("X", [(chunk for chunk in [rows(50)]), "rows.csv"], ids=["generator", "file"])
def test_partial_fit_asks_for_one_chunk_after_the_other(name, X):
    with pytest.raises(ValueError, match="call partial_fit once for each chunk"):
        getattr(mercer, f"{name}KernelPCA")().partial_fit(X)


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
