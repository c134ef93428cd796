"""Files in, rows out: every format, every chunk size, and errors that say where and what to do."""

import io
import itertools
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.errors import MissingExtraError
from mercer.io import readers, writers
from mercer.io.readers import DataFileError, Selection, chunks, drawn, read
from mercer.io.table import Table, rebatch

X = np.random.default_rng(0).normal(size=(23, 3))
NAMES = ("a", "b", "c")


def written(folder: Path, suffix: str, values=X, names=NAMES) -> Path:
    path = folder / f"data{suffix}"
    if suffix == ".npz":
        np.savez(path, X=values, y=np.arange(5))
    else:
        writers.write(path, [values[:10], values[10:]], names)
    return path


def given_stdin(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".tsv", ".parquet", ".jsonl", ".ndjson"])
@pytest.mark.parametrize("rows", [1, 4, 23, 100])
def test_every_format_round_trips_in_every_chunk_size(tmp_path, suffix, rows):
    path = written(tmp_path, suffix)
    tables = list(chunks(path, rows))
    assert [len(t.values) for t in tables[:-1]] == [rows] * (len(tables) - 1)
    np.testing.assert_array_equal(np.concatenate([t.values for t in tables]), X)
    np.testing.assert_array_equal(read(path).values, X)
    assert tables[0].names == (None if suffix.startswith(".np") else NAMES)
    assert not list(tmp_path.glob(".*"))


@settings(max_examples=25, deadline=None)
@given(
    values=arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 4)), elements=st.floats(width=64)),
    suffix=st.sampled_from([".npy", ".csv", ".tsv", ".parquet", ".jsonl"]),
    rows=st.integers(1, 10),
)
def test_any_number_survives_writing_and_reading(tmp_path_factory, values, suffix, rows):
    path = tmp_path_factory.mktemp("any") / f"x{suffix}"
    pieces = [values[i : i + rows] for i in range(0, len(values), rows)]
    assert writers.write(path, pieces, [f"n{i}" for i in range(values.shape[1])]) == len(values)
    if suffix == ".jsonl":  # JSON has neither NaN nor infinity; they are null, which is a missing cell
        found = read(path, selection=Selection(missing="mark")).values
        np.testing.assert_array_equal(found, np.where(np.isfinite(values), values, np.nan))
    else:
        np.testing.assert_array_equal(read(path).values, values)


@settings(max_examples=50, deadline=None)
@given(lengths=st.lists(st.integers(0, 7), max_size=8), rows=st.integers(1, 9))
def test_rebatch_keeps_order_and_length(lengths, rows):
    whole = np.arange(float(sum(lengths)))[:, None]
    pieces = np.split(whole, np.cumsum(lengths)[:-1]) if lengths else []
    out = list(rebatch(map(Table, pieces, itertools.repeat(("a",)), pieces), rows))
    assert all(len(piece) == rows for piece in out[:-1])
    assert np.array_equal(np.concatenate([*(table.values for table in out), np.empty((0, 1))]), whole)
    assert all(np.array_equal(table.kept, table.values) for table in out)


def test_a_large_npy_is_streamed_not_loaded(tmp_path):
    path = tmp_path / "large.npy"
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(200_000, 20))
    mapped[:] = 1.0
    del mapped
    tracemalloc.start()
    total = sum(float(table.values.sum()) for table in chunks(path, 1000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 4_000_000
    assert peak < 2_000_000  # the file has 32,000,000 bytes


@pytest.mark.parametrize(("suffix", "pieces"), [(".csv", 60), (".jsonl", 10)])
def test_text_is_streamed_not_loaded(tmp_path, suffix, pieces):
    path = tmp_path / f"x{suffix}"
    writers.write(path, (np.full((1000, 10), 0.123456789) for _ in range(pieces)))
    stream = chunks(path, 100)
    tracemalloc.start()
    assert sum(len(table.values) for table in stream) == pieces * 1000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("uint8", "float64"), ("int64", "float64"), ("bool", "float64"), (">f4", "float32"), ("f4", "float32")],
)
def test_numbers_become_floats_and_float32_stays(tmp_path, dtype, expected):
    np.save(tmp_path / "x.npy", np.ones((3, 2), dtype=dtype))
    values = read(tmp_path / "x.npy").values
    assert values.dtype == expected
    assert values.flags.writeable
    assert values.dtype.isnative


def test_float32_stays_in_parquet(tmp_path):
    assert read(written(tmp_path, ".parquet", X.astype(np.float32))).values.dtype == np.float32


def test_fortran_order_is_read_right(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    np.savez_compressed(tmp_path / "x.npz", other=np.asfortranarray(X), y=np.ones(3))
    np.testing.assert_array_equal(read(tmp_path / "x.npy").values, X)
    np.testing.assert_array_equal(read(tmp_path / "x.npz").values, X)


def test_an_array_of_an_archive_is_named_after_a_colon(tmp_path):
    np.savez(tmp_path / "x.npz", one=X, two=X + 1)
    np.testing.assert_array_equal(read(f"{tmp_path / 'x.npz'}:two").values, X + 1)
    with pytest.raises(DataFileError, match="several matrices and none called X; its arrays are one, two"):
        read(tmp_path / "x.npz")
    with pytest.raises(DataFileError, match=r"no array 'three'.*x.npz:KEY"):
        read(f"{tmp_path / 'x.npz'}:three")


@pytest.mark.parametrize(
    ("text", "names", "values"),
    [
        ("a,b\n1,2\n3,4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("1,2\n3,4\n", None, [[1, 2], [3, 4]]),
        ("a;b\n1,5;2\n3;4,25\n", ("a", "b"), [[1.5, 2], [3, 4.25]]),
        ('"a, really"\t"b"\n"1"\t2\n', ("a, really", "b"), [[1, 2]]),
        ("\ufeffa|b\r\n1|2\r\n\r\n3|4", ("a", "b"), [[1, 2], [3, 4]]),
        ("# a b\n1.0e+00 2\n  3   4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("my size\n1\n2\n", ("my size",), [[1], [2]]),
        ("a, b\n1, 2\n", ("a", "b"), [[1, 2]]),
        (",a\n0,2\n", ("column0", "a"), [[0, 2]]),
    ],
)
def test_ways_of_writing_a_table_are_recognised(tmp_path, monkeypatch, text, names, values):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    given_stdin(monkeypatch, text.encode())
    for table in (read(path), read("-")):
        assert table.names == names
        np.testing.assert_array_equal(table.values, values)


def test_csv_reads_the_same_without_pyarrow(tmp_path, monkeypatch):
    path = written(tmp_path, ".csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    np.testing.assert_array_equal(read(path).values, X)
    with pytest.raises(MissingExtraError, match=r"mercer\[cli\]"):
        writers.write(tmp_path / "x.parquet", [X])


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = written(tmp_path, ".parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mercer\[cli\]'"):
        read(path)


def test_a_very_wide_row_is_no_obstacle(tmp_path):
    wide = np.random.default_rng(1).normal(size=(2, 20_000))
    writers.write(tmp_path / "w.csv", [wide])
    np.testing.assert_array_equal(read(tmp_path / "w.csv").values, wide)


def test_a_bad_cell_late_in_a_file_comes_after_the_good_chunks(tmp_path):
    path = tmp_path / "x.csv"
    lines = [f"{i},0.5" for i in range(300_000)]
    lines[290_000] = "oops,1"
    path.write_text("\n".join(["a,b", *lines]))
    stream = chunks(path, 1000)
    good = np.concatenate([next(stream).values[:, 0] for _ in range(289)])
    np.testing.assert_array_equal(good, np.arange(289_000))
    with pytest.raises(DataFileError, match=r"line 290002, column 1 \(a\) holds 'oops'"):
        list(stream)


def test_columns_are_taken_by_name_and_text_beside_them_is_ignored(tmp_path, monkeypatch):
    text = 'id,a,b\nx1,1,2\n"x,\n2",3,4\n'
    (tmp_path / "x.csv").write_text(text)
    given_stdin(monkeypatch, b'{"a": 1, "b": 2, "id": "x"}\n{"id": "y", "b": 4, "a": 3}\n')
    for source in (tmp_path / "x.csv", "-"):
        table = read(source, columns=["b", "a"])
        assert table.names == ("b", "a")
        np.testing.assert_array_equal(table.values, [[2, 1], [4, 3]])
    with pytest.raises(DataFileError, match="no column 'z'; it has id, a, b"):
        read(tmp_path / "x.csv", columns=["z"])


def test_parquet_leaves_out_row_labels_and_text_and_names_a_bad_column(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2], "t": ["x", "y"]}, index=[5, 7])
    frame.to_parquet(tmp_path / "x.parquet")
    np.testing.assert_array_equal(read(tmp_path / "x.parquet", columns=["a"]).values, [[1], [2]])
    whole = read(tmp_path / "x.parquet")
    assert (whole.names, whole.left_out) == (("a",), ("t",))
    with pytest.raises(DataFileError, match="column 't' holds values of type"):
        read(tmp_path / "x.parquet", columns=["t"])
    pd.DataFrame({"a": [1.0, None]}).to_parquet(tmp_path / "y.parquet")
    with pytest.raises(DataFileError, match="column 'a' holds missing values"):
        read(tmp_path / "y.parquet")


@pytest.mark.parametrize("kind", ["npy", "fortran", "jsonl", "csv"])
def test_standard_input_is_recognised_by_its_first_bytes(monkeypatch, kind):
    buffer = io.BytesIO()
    if kind in ("npy", "fortran"):
        np.save(buffer, X if kind == "npy" else np.asfortranarray(X))
    elif kind == "jsonl":
        buffer.write("\n".join(str(row) for row in X.tolist()).encode())
    else:
        np.savetxt(buffer, X, delimiter=",", fmt="%.17g")
    given_stdin(monkeypatch, buffer.getvalue())
    np.testing.assert_array_equal(np.concatenate([t.values for t in chunks("-", 5)]), X)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"", "x.csv is empty; at least one row"),
        ("x.csv", b"a,b\n", "holds no rows"),
        ("x.csv", b"a,b\n1,2\n3,x\n", r"line 3, column 2 \(b\) holds 'x', which is not a number"),
        ("x.csv", b'a,b\n1,900\n3,"1,037"\n', r"holds '1,037', which is not a number. .*without thousands separators"),
        ("x.csv", b"a,b\n1,\n", r"line 2, column 2 \(b\) is empty"),
        ("x.csv", b"1,x,3\n4,5,6\n", "line 1, column 2 holds 'x'"),
        ("x.csv", b"1,2\n3\n", "line 2 has 1 cells, but the first line has 2"),
        ("x.csv", b"a,b\n1,2\n" + "né,1\n".encode("latin-1"), "line 3, column 1 .* holds 'né'"),
        ("x.csv", b"a,b\nx,y\n", "no column of numbers to use; its columns are a, b"),
        ("x.npy", b"hello", "cannot be read as NumPy data"),
        ("x.npz", b"hello", "cannot be read as NumPy data"),
        ("x.parquet", b"hello", "is not a Parquet file"),
        ("x.jsonl", b"[1, 2]\n[3]\n", "line 2 differs from the first line; a list of 2 numbers"),
        ("x.jsonl", b'{"a": 1}\n[3]\n', "line 2 differs from the first line; an object"),
        ("x.jsonl", b'{"a": 1}\n{"b": 3}\n', "line 1, field 'b' is missing"),
        ("x.jsonl", b'[1]\n["x"]\n', "line 2, field 0 holds 'x'"),
        ("x.jsonl", b"[1]\n[2\n", "line 2 is not JSON"),
        ("x.jsonl", b"[1]\n7\n", "line 2 is 7; a list or an object"),
        ("x.jsonl", b"", "holds no rows"),
        ("x.xls", b"", r"suffix '.xls', which is not known. Save the table as .csv, or use one of .npy, .npz, .csv"),
        ("x.doc", b"", r"suffix '.doc', which is not known. Use one of .npy, .npz, .csv"),
    ],
)
def test_what_cannot_be_read_is_explained(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataFileError, match=message):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(3), r"has the shape \(3,\).*reshape"),
        (np.ones((2, 3, 4)), r"has the shape \(2, 3, 4\)"),
        (np.array([["a"]]), "holds values of type <U1"),
        (np.array([[{}]]), "cannot be read as NumPy data|Python objects"),
        (np.ones((0, 3)), "holds no rows"),
    ],
)
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_arrays_that_are_no_matrix_of_numbers_are_refused(tmp_path, values, message, suffix):
    path = tmp_path / f"x{suffix}"
    np.save(path, values) if suffix == ".npy" else np.savez(path, X=values)
    with pytest.raises(DataFileError, match=message):
        read(path)


def test_missing_files_folders_and_cut_streams(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"does not exist.*Check the path"):
        read(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileNotFoundError, match="is a folder"):
        read(tmp_path / "folder.csv")
    buffer = io.BytesIO()
    np.save(buffer, X)
    given_stdin(monkeypatch, buffer.getvalue()[:-9])
    with pytest.raises(DataFileError, match="Standard input ends too early"):
        read("-")
    given_stdin(monkeypatch, b"")
    with pytest.raises(DataFileError, match="Standard input is empty"):
        read("-")
    with pytest.raises(ValueError, match="at least 1"):
        next(chunks(tmp_path / "x.csv", 0))


def test_a_sample_is_uniform_reproducible_and_in_order(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(10_000.0)[:, None])
    found = drawn(chunks(path, 4096), 500, seed=3).values[:, 0]
    assert len(set(found)) == 500
    assert (np.diff(found) > 0).all()
    assert abs(found.mean() - 5000) < 500
    np.testing.assert_array_equal(found, drawn(chunks(path, 4096), 500, seed=3).values[:, 0])
    assert len(drawn(chunks(path, 20_000), 20_000).values) == 10_000
    with pytest.raises(ValueError, match="at least 1"):
        drawn(chunks(path, 4096), 0)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = written(tmp_path, ".csv")
    before = path.read_bytes()

    def failing():
        yield X
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        writers.write(path, failing())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_writers_refuse_what_they_cannot_write(tmp_path):
    with pytest.raises(DataFileError, match=r"suffix '.xls'.*Use one of .npy, .csv"):
        writers.write(tmp_path / "x.xls", [X])
    with pytest.raises(FileNotFoundError, match="create it first"):
        writers.write(tmp_path / "none" / "x.csv", [X])
    with pytest.raises(ValueError, match="no rows to write"):
        writers.write(tmp_path / "x.npy", [])


def test_devices_are_written_to_and_links_followed(tmp_path):
    assert writers.check_target(str(tmp_path / "x.csv")) == tmp_path / "x.csv"
    (tmp_path / "link.csv").symlink_to("/dev/null")
    assert writers.write(tmp_path / "link.csv", [X]) == 23
    assert (tmp_path / "link.csv").is_symlink()
    (tmp_path / "other.csv").symlink_to(tmp_path / "real.csv")
    writers.write(tmp_path / "other.csv", [X])
    assert (tmp_path / "real.csv").is_file()


def test_a_long_npy_patches_its_header(tmp_path):
    writers.write(tmp_path / "x.npy", (np.full((1000, 1), i, dtype=np.float32) for i in range(1100)))
    values = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert values.shape == (1_100_000, 1)
    assert values.dtype == np.float32
    assert values[-1] == 1099


def test_the_known_suffixes_are_offered():
    assert {".npy", ".npz", ".csv", ".parquet", ".jsonl"} <= set(readers.SUFFIXES)
