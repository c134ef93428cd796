"""`mercer track` with folders of images and video files."""

import csv
import sys

import numpy as np
import pytest
from scipy import ndimage
from typer.testing import CliRunner

from mercer import AppearanceTracker
from mercer.cli.root import app
from mercer.io.pictures import outlined, read_picture, write_picture
from mercer.io.videos import open_video, video_writer

N = 8


@pytest.fixture(scope="module")
def frames():
    """A textured square that moves by two pixels per frame."""
    rng = np.random.default_rng(0)
    soft = [ndimage.gaussian_filter(rng.standard_normal(shape), 2) for shape in ((48, 64), (18, 18))]
    ground, skin = (np.uint8(40 + 170 * (one - one.min()) / np.ptp(one)) for one in soft)
    video = np.repeat(ground[None], N, axis=0)
    for k in range(N):
        video[k, 14:32, 10 + 2 * k : 28 + 2 * k] = skin
    return video


def run(*words):
    return CliRunner().invoke(app, ["track", *map(str, words), "--box", "10,14,18,18"])


def written(path):
    names, *rows = csv.reader(path.open())
    return names, np.array(rows, float)


def test_a_folder_of_images_gives_the_boxes_of_its_frames(tmp_path, frames):
    folder = tmp_path / "frames"
    folder.mkdir()
    for k, frame in enumerate(frames):
        write_picture(folder / f"f{k + 5}.png", frame)  # f10.png comes after f9.png
    (folder / "notes.txt").write_text("no image")
    result = run(folder, "-o", tmp_path / "boxes.csv", "--lost", "--video-strip", tmp_path / "strip.png")
    assert result.exit_code == 0, result.output
    names, found = written(tmp_path / "boxes.csv")
    assert names == ["x", "y", "w", "h", "lost"]
    np.testing.assert_allclose(
        found[:, :4], AppearanceTracker(random_state=0).track(frames, (10, 14, 18, 18)), rtol=1e-6
    )
    assert not found[:, 4].any()
    assert read_picture(tmp_path / "strip.png").ndim == 3


def test_a_video_file_is_read_and_an_annotated_one_written(tmp_path, frames):
    pytest.importorskip("imageio_ffmpeg")
    with video_writer(tmp_path / "in.mp4") as add:
        for frame in frames:
            add(np.repeat(frame[..., None], 3, axis=2))
    source = open_video(tmp_path / "in.mp4")
    assert source.n_frames is None
    read = np.array(list(source))
    assert read.shape == (N, 48, 64, 3)
    assert np.abs(read[..., 0].astype(float) - frames).mean() < 6  # what the codec loses
    result = run(tmp_path / "in.mp4", "-o", tmp_path / "boxes.csv", "--video", tmp_path / "out.mp4")
    assert result.exit_code == 0, result.output
    _, found = written(tmp_path / "boxes.csv")
    assert np.abs(found[:, 0] - (10 + 2 * np.arange(N))).max() < 2.5
    shown = np.array(list(open_video(tmp_path / "out.mp4")))
    assert shown.shape == (N, 240, 320, 3)
    x, y = (5 * found[4, :2]).astype(int)  # frames are shown five times as large
    line = shown[4, y - 1 : y + 2, x + 10 : x + 60].astype(float).mean(axis=(0, 1))
    assert line[0] > line[2] + 60  # an orange line


def test_the_outline_goes_through_the_corners():
    drawn = outlined(
        np.zeros((100, 400), np.uint8), np.array([[50.0, 20], [150, 20], [150, 80], [50, 80]]), (255, 0, 0)
    )
    assert drawn.shape == (100, 400, 3)
    assert drawn[18:22, 100, 0].max() == 255
    assert drawn[50, 48:52, 0].max() == 255
    assert not drawn[50, 100].any()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: path.mkdir(), "holds no images"),
        (lambda path: path.with_suffix(".mp4").write_bytes(b""), "holds no frames: the file is empty"),
        (lambda path: path.with_suffix(".mp4").write_bytes(b"text" * 99), "cannot be read as a video"),
        (lambda path: path.with_suffix(".doc").write_text("x"), "files of frames end in"),
        (lambda path: np.save(path.with_suffix(".npy"), np.zeros((0, 20, 20))), "holds no frames"),
        (lambda path: None, "is not a file or folder"),
    ],
    ids=["empty folder", "empty video", "no video", "document", "no frames", "nothing"],
)
def test_what_holds_no_frames_is_refused(tmp_path, make, text):
    make(tmp_path / "v")
    path = next(tmp_path.iterdir(), tmp_path / "v")
    result = run(path)
    assert result.exit_code == 2
    assert any(part in " ".join(result.output.split()) for part in text.split("|")), result.output


def test_frames_of_changing_size_are_refused(tmp_path, frames):
    for k, frame in enumerate(frames[:3]):
        write_picture(tmp_path / f"{k}.png", frame if k < 2 else frame[:30])
    result = run(tmp_path)
    assert result.exit_code == 2
    assert "2.png has 30 x 64 pixels, the first frame has 48 x 64" in " ".join(result.output.split())


def test_a_strip_shows_grey_and_colour_frames_of_one_folder(tmp_path, frames):
    for k, frame in enumerate(frames[:3]):
        write_picture(tmp_path / f"{k}.png", np.repeat(frame[..., None], 3, axis=2) if k == 1 else frame)
    result = run(tmp_path, "-o", tmp_path / "boxes.csv", "--video-strip", tmp_path / "strip.jpg")
    assert result.exit_code == 0, result.output
    assert read_picture(tmp_path / "strip.jpg").ndim == 3


def test_an_error_leaves_no_half_a_video_and_the_old_one(tmp_path, frames):
    pytest.importorskip("imageio_ffmpeg")
    folder = tmp_path / "frames"
    folder.mkdir()
    for k, frame in enumerate(frames[:3]):
        write_picture(folder / f"{k}.png", frame if k < 2 else frame[:30])
    (tmp_path / "out.mp4").write_text("the old one")
    assert run(folder, "--video", tmp_path / "out.mp4").exit_code == 2
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["out.mp4"]
    assert (tmp_path / "out.mp4").read_text() == "the old one"


def test_without_the_extra_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    (tmp_path / "v.mp4").write_bytes(b"text")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    result = run(tmp_path / "v.mp4")
    assert result.exit_code != 0
    assert "mercer[video]" in str(result.output) + str(result.exception)
