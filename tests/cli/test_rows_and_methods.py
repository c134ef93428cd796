"""`--rows` and `--method`: part of a file, and other models, in every command where they have a meaning."""

import io

import numpy as np
import pytest

import mercer
from commands import failure, run
from mercer.io import readers, writers
from mercer.io.pictures import read_picture, write_picture

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
WAVES = 128 + 60 * np.add.outer(np.sin(np.arange(40) / 5), np.cos(np.arange(41) / 4))
NOISY = np.clip(WAVES + 20 * RNG.standard_normal(WAVES.shape), 0, 255).astype(np.uint8)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    writers.write("x.csv", [X], list("abcd"))
    mercer.KernelPCA(3, kernel="rbf", preimage="auto").fit(X).save("model")
    write_picture("x.png", NOISY)
    texture, frames = RNG.uniform(0, 255, (16, 16)), np.zeros((9, 40, 60))
    for i, frame in enumerate(frames):
        frame[10:26, 5 + 2 * i : 21 + 2 * i] = texture
    np.save("frames.npy", frames)
    return tmp_path


@pytest.mark.parametrize("command", ["transform", "denoise", "score"])
@pytest.mark.parametrize("chunk", [1, 7, 4096])
@pytest.mark.parametrize("data", ["x.npy", "x.csv"])
def test_the_first_rows_only(files, command, chunk, data):
    run(command, "model", data, "-o", "all.npy")
    run(command, "model", data, "-o", "some.npy", "--rows", 20, "--chunk-rows", chunk)
    np.testing.assert_allclose(readers.read("some.npy").values, readers.read("all.npy").values[:20], atol=1e-10)
    run(command, "model", data, "-o", "some.npy", "--rows", 200)  # more than there are
    assert len(readers.read("some.npy")) == 60


def test_rows_are_those_of_the_file_where_some_are_dropped(files):
    holes = X.copy()
    holes[[3, 30]] = np.nan
    np.save("holes.npy", holes)
    shown = run("transform", "model", "holes.npy", "--rows", 20, "--missing", "drop", "--chunk-rows", 8)
    assert np.loadtxt(io.StringIO(shown.stdout), delimiter=",", skiprows=1)[:, 0].tolist() == [*range(3), *range(4, 20)]
    assert "Dropped 1 of 20 rows" in shown.stderr


def test_the_progress_knows_that_only_some_rows_are_read(files, caplog):
    with caplog.at_level("INFO", "mercer"):
        run("score", "model", "x.npy", "--rows", 20, "-v")
    assert "rows: step 20 of 20" in caplog.text


@pytest.mark.parametrize("method", ["landmark", "incremental", "online-robust"])
def test_an_object_is_followed_by_any_model_that_learns_row_by_row(files, method):
    run("track", "frames.npy", "--box", "5,10,16,16", "-o", "boxes.csv", "--method", method)
    boxes = readers.read("boxes.csv").values
    assert np.abs(boxes[:, 0] - (5 + 2 * np.arange(9))).max() < 2.5
    run("track", "frames.npy", "--box", "5,10,16,16", "-o", "some.csv", "--method", method, "--rows", 4)
    np.testing.assert_array_equal(readers.read("some.csv").values, boxes[:4])


def test_a_model_that_needs_all_rows_at_once_follows_nothing(files):
    assert "needs a --method that learns row by row: incremental-kernel-pca or landmark-kernel-pca." in failure(
        "track", "frames.npy", "--box", "5,10,16,16", "--method", "l1"
    )


@pytest.mark.parametrize("method", ["auto", "landmark", "hebbian-pca"])
def test_an_image_is_cleaned_by_any_method_from_some_windows(files, method):
    told = run("denoise", "x.png", "-o", "y.png", "--method", method, "--rows", 100).stderr
    assert ("grey values" in told) == (method == "auto")
    assert np.mean((read_picture("y.png") - WAVES) ** 2) < 0.35 * np.mean((NOISY - WAVES) ** 2)


def test_what_an_image_file_cannot_hold_is_said_before_the_work(files, monkeypatch):
    monkeypatch.setattr(mercer.PatchDenoiser, "denoise", lambda *_: pytest.fail("the work has begun"))
    write_picture("clear.png", np.dstack([NOISY, NOISY, NOISY, NOISY]))
    write_picture("keep.jpg", NOISY)
    before = (files / "keep.jpg").read_bytes()
    assert "Cannot write keep.jpg" in failure("denoise", "clear.png", "-o", "keep.jpg")
    assert (files / "keep.jpg").read_bytes() == before
    assert "create it first" in failure("denoise", "x.png", "-o", "none/y.png")


def test_options_without_a_meaning_are_refused(files):
    assert "was fitted before" in failure("denoise", "model", "x.npy", "-o", "y.npy", "--method", "landmark")
    assert "--noise sets" in failure("denoise", "x.png", "-o", "y.png", "--method", "landmark", "--noise", 3)
    assert "Invalid value" in run("transform", "model", "x.npy", "--rows", 0, code=2).stderr
