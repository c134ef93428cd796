"""Files that were damaged or cut off: the message names them, whoever reads them first."""

import gzip

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
