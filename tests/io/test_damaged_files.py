"""Files that were damaged or cut off: the message names them, whoever reads them first."""

import gzip
import io
from types import SimpleNamespace

import numpy as np
import pytest

from mercer.io.readers import DataFileError, read, row_count
from mercer.io.videos import open_video

X = np.random.default_rng(0).normal(size=(500, 3))


@pytest.mark.parametrize("damage", [lambda raw: raw[:60], lambda raw: b"no gzip", lambda raw: raw[:20] + b"\xff" * 40])
def test_a_damaged_compressed_file_is_named(damage, tmp_path):
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i % 97) for i in range(500)))
    (tmp_path / "x.csv.gz").write_bytes(damage(whole))
    with pytest.raises(DataFileError, match=r"x\.csv\.gz cannot be uncompressed: .*again"):
        read(tmp_path / "x.csv.gz")


def with_wrong_middle(raw: bytes) -> bytes:
    """Change bytes that can still be uncompressed, to cells that make no sense; only the checksum tells."""
    return raw[: len(raw) // 2] + b"\xff" * 50 + raw[len(raw) // 2 + 50 :]


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda raw: raw[:-500], with_wrong_middle])
def test_a_compressed_file_that_is_damaged_behind_its_first_lines_is_named(damage, tmp_path):
    many = np.random.default_rng(1).normal(size=(60_000, 3))
    lines = ["a,b,c", *(",".join(f"{value:.9f}" for value in row) for row in many)]
    (tmp_path / "x.csv.gz").write_bytes(damage(gzip.compress("\n".join(lines).encode())))
    with pytest.raises(DataFileError, match=r"x\.csv\.gz cannot be uncompressed: .*again"):
        read(tmp_path / "x.csv.gz")


def damaged_archive(path, place):
    """Write an .npz file with wrong bytes at a place: everywhere, in its first bytes, or in the middle."""
    np.savez_compressed(path, X=X if place != "shape" else np.array(3.0))
    whole = path.read_bytes()
    first = {"all": 0, "header": 60, "rows": len(whole) // 2, "shape": len(whole)}[place]
    size = len(whole) if place == "all" else 40
    path.write_bytes(whole[:first] + b"\xff" * min(size, len(whole) - first) + whole[first + size :])
    return path


@pytest.mark.parametrize("place", ["all", "header", "rows", "shape"])
def test_an_archive_that_cannot_be_read_is_named_by_the_reader_of_rows(tmp_path, place):
    path = damaged_archive(tmp_path / "x.npz", place)
    assert row_count(path) in ((None,) if place in ("all", "header") else (None, 1, 500))
    with pytest.raises(DataFileError, match=r"x\.npz.* (cannot be|has the shape)"):
        read(path)


@pytest.mark.parametrize("place", ["all", "header", "rows"])
def test_an_archive_that_cannot_be_read_is_named_by_the_reader_of_frames(tmp_path, place):
    with pytest.raises(DataFileError, match=r"x\.npz cannot be read as an \.npy or \.npz file"):
        open_video(damaged_archive(tmp_path / "x.npz", place))


def bytes_of(save, *arrays, **named) -> bytes:
    stream = io.BytesIO()
    save(stream, *arrays, **named)
    return stream.getvalue()


def parquet_bytes() -> bytes:
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    stream = io.BytesIO()
    write_table(pa.table({"a": X[:20, 0], "b": [str(i) for i in range(20)]}), stream)
    return stream.getvalue()


WHOLE = {
    "rows.npy": lambda: bytes_of(np.save, X[:5]),
    "columns.npy": lambda: bytes_of(np.save, np.asfortranarray(X[:5])),
    "rows.npz": lambda: bytes_of(np.savez_compressed, X=X[:5]),
    "several.npz": lambda: bytes_of(np.savez, a=X[:5], b=X[:5, 0]),
    "rows.parquet": parquet_bytes,
}


@pytest.mark.parametrize("name", WHOLE)
def test_wherever_a_byte_is_wrong_the_file_is_named(name, tmp_path):
    """Numbers may be wrong then, since these formats have no checksums; nothing but a DataFileError is raised."""
    whole, path = WHOLE[name](), tmp_path / name
    rng = np.random.default_rng(2)
    messages = []
    for place in range(len(whole)):
        changed = bytes([rng.choice([0, 255, whole[place] ^ 1, whole[place] ^ 128, 39, 57])])
        path.write_bytes(whole[:place] + changed + whole[place + 1 :])
        row_count(path)
        try:
            read(path)
        except DataFileError as error:
            messages.append(str(error))
    assert len(messages) > 10
    assert all(name in message for message in messages)


@pytest.mark.parametrize("name", ["rows.npy", "columns.npy", "rows.parquet", "text.gz"])
def test_standard_input_that_is_cut_off_anywhere_is_named(name, monkeypatch):
    whole = gzip.compress(b"a,b\n1,2\n3,4\n") if name == "text.gz" else WHOLE[name]()
    for size in range(len(whole)):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(whole[:size]))))
        with pytest.raises(DataFileError, match="Standard input"):
            read("-")


@pytest.mark.parametrize("shape", ["(-1, 3)", "(9" + 20 * "0" + ", 3)", "(True, 3)", "(3, 4" + 18 * "0" + ")"])
@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_a_shape_that_no_array_has_is_refused(shape, by_columns, tmp_path, monkeypatch):
    header = f"{{'descr': '<f8', 'fortran_order': {by_columns}, 'shape': {shape}, }}".encode()
    whole = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24)
    (tmp_path / "x.npy").write_bytes(whole)
    with pytest.raises(DataFileError, match=r"x\.npy cannot be read as NumPy data"):
        read(tmp_path / "x.npy")
    if "True" not in shape:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(whole))))
        with pytest.raises(DataFileError, match=r"Standard input (cannot be read as NumPy data|ends too early)"):
            read("-")
