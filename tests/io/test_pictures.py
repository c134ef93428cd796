"""Images in files: upright when they are read, and whole or not there when they are written."""

import os

import numpy as np
import pytest

from mercer.errors import DataFileError
from mercer.io.pictures import check_picture, read_picture, write_picture

Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)
ORIENTATION = 0x112  # the number of the EXIF entry
SEEN = {  # how pixels are stored, by the value of the entry, if this is what a viewer shows
    1: lambda shown: shown,
    2: np.fliplr,
    3: lambda shown: np.rot90(shown, 2),
    4: np.flipud,
    5: lambda shown: shown.swapaxes(0, 1),
    6: lambda shown: np.rot90(shown, 1),
    7: lambda shown: np.rot90(shown, 2).swapaxes(0, 1),
    8: lambda shown: np.rot90(shown, -1),
}


def pixels(*channels, dtype=np.uint8):
    return RNG.integers(0, np.iinfo(dtype).max, (6, 9, *channels)).astype(dtype)


@pytest.mark.parametrize("orientation", SEEN)
@pytest.mark.parametrize("channels", [(), (3,), (4,)])
def test_an_image_is_read_as_a_viewer_shows_it(tmp_path, orientation, channels):
    shown = pixels(*channels)
    image = Image.fromarray(np.ascontiguousarray(SEEN[orientation](shown)))
    entries = image.getexif()
    entries[ORIENTATION] = orientation
    image.save(tmp_path / "x.png", exif=entries)
    np.testing.assert_array_equal(read_picture(tmp_path / "x.png"), shown)


@pytest.mark.parametrize("entries", [b"garbage", b"Exif\x00\x00II*\x00"])
def test_an_image_with_damaged_entries_is_read_as_it_is_stored(tmp_path, entries):
    stored = pixels(3)
    Image.fromarray(stored).save(tmp_path / "x.png", exif=entries)
    np.testing.assert_array_equal(read_picture(tmp_path / "x.png"), stored)


@pytest.mark.parametrize(
    ("name", "values"), [("x.jpg", pixels(4)), ("x.jpeg", pixels(2)), ("x.jpg", pixels(dtype=np.uint16))]
)
def test_an_image_that_the_format_cannot_hold_is_refused_and_the_old_file_stays(tmp_path, name, values):
    (tmp_path / name).write_bytes(b"old")
    for refuse in (check_picture, write_picture):
        with pytest.raises(DataFileError, match=rf"Cannot write .*{name}: .*\.png"):
            refuse(tmp_path / name, values)
    assert (tmp_path / name).read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_what_can_be_written_is_accepted_and_nothing_is_written_by_the_check(tmp_path):
    for name, values in {"a.jpg": pixels(3), "b.png": pixels(4), "c.png": pixels(dtype=np.uint16)}.items():
        assert check_picture(tmp_path / name, values) is None
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match="create it first"):
        check_picture(tmp_path / "none" / "x.png", pixels())
    with pytest.raises(DataFileError, match=r"Choose a name that ends in one of \.png"):
        check_picture(tmp_path / "x.unknown", pixels())


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "x.png")
    reader = os.open(tmp_path / "x.png", os.O_RDONLY | os.O_NONBLOCK)
    write_picture(tmp_path / "x.png", pixels())
    assert os.read(reader, 4).startswith(b"\x89PNG")
    os.close(reader)
    assert (tmp_path / "x.png").is_fifo()
