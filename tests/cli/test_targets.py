"""Files that a command writes never replace the rows that it reads, nor each other."""

import errno
import os
from unittest.mock import Mock

import numpy as np
import pytest

from commands import failure, run
from mercer.cli.targets import check_apart

X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Three files of rows, a copy of each, and a model."""
    monkeypatch.chdir(tmp_path)
    for name in ("a1.csv", "a2.csv", "new.csv"):
        np.savetxt(name, X, delimiter=",", header="a,b,c", comments="")
    np.save("x.npy", X)
    run("fit", "a1.csv", "-o", "m.mercer", "--components", 2)
    return tmp_path


SAME = {
    "fit": ["fit", "a1.csv", "-o", "a1.csv"],
    "fit, another way to write the path": ["fit", "a1.csv", "-o", "./a1.csv"],
    "fit, of an array in an archive": ["fit", "x.npz:X", "-o", "x.npz"],
    "outliers --save": ["outliers", "new.csv", "--train", "a1.csv", "--save", "new.csv"],
    "outliers --save, training rows": ["outliers", "new.csv", "--train", "a1.csv", "--save", "a1.csv"],
    "outliers --out": ["outliers", "new.csv", "-o", "new.csv"],
    "outliers, detector": ["outliers", "new.csv", "--detector", "a1.csv", "-o", "a1.csv"],
    "monitor --out": ["monitor", "a1.csv", "new.csv", "-o", "a1.csv"],
    "monitor --save": ["monitor", "a1.csv", "new.csv", "--save", "new.csv"],
    "monitor --plot": ["monitor", "a1.csv", "new.csv", "--plot", "new.csv"],
    "score": ["score", "m.mercer", "new.csv", "-o", "new.csv"],
    "select": ["select", "new.csv", "-o", "new.csv"],
    "track": ["track", "x.npy", "--box", "1,1,2,2", "-o", "x.npy"],
    "transform, model": ["transform", "new.csv", "a1.csv", "-o", "new.csv"],
    "denoise, model": ["denoise", "new.csv", "a1.csv", "-o", "new.csv"],
    "watch --alarms": ["watch", "new.csv", "--headless", "--learn", "20", "--alarms", "new.csv"],
    "watch --alarms, model": ["watch", "new.csv", "--headless", "--model", "m.mercer", "--alarms", "m.mercer"],
}


@pytest.mark.parametrize("command", SAME.values(), ids=SAME)
def test_a_file_that_is_read_is_not_written(files, command):
    np.savez("x.npz", X=X)
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    told = failure(*command)
    assert "the same file" in told
    assert "another name" in told
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_to_a_file_that_is_read_is_not_written(files, link):
    link("a1.csv", "link")
    before = (files / "a1.csv").read_bytes()
    assert "the same file" in failure("fit", "a1.csv", "-o", "link")
    assert (files / "a1.csv").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ["monitor", "a1.csv", "new.csv", "-o", "both.csv", "--save", "both.csv"],
        ["monitor", "a1.csv", "new.csv", "-o", "both.csv", "--plot", "./both.csv"],
        ["outliers", "new.csv", "-o", "both.csv", "--save", "both.csv"],
        ["select", "new.csv", "-o", "both.csv", "--plot", "both.csv"],
        ["track", "x.npy", "--box", "1,1,2,2", "-o", "both.csv", "--video-strip", "both.csv"],
    ],
)
def test_two_results_have_two_names(files, command):
    told = failure(*command)
    assert "--out" in told
    assert "the same file" in told
    assert not (files / "both.csv").exists()


@pytest.mark.parametrize("name", ["out.csv", "out.CSV", "out.tsv", "out.txt", "out.parquet", "out.jsonl", "out.ndjson"])
def test_a_model_is_not_called_like_rows(files, name):
    assert "out.mercer" in failure("fit", "a1.csv", "-o", name)
    assert not (files / name).exists()


@pytest.mark.parametrize("name", ["out.npy", "out.npz", "out.csv.gz", "out.jsonl.gz"])
@pytest.mark.parametrize("command", [["outliers", "new.csv"], ["monitor", "a1.csv", "new.csv"]])
def test_a_saved_judge_is_not_called_like_rows(files, name, command):
    assert "out.mercer" in failure(*command, "--save", name)
    assert not (files / name).exists()


def test_what_a_pattern_of_the_shell_becomes_is_refused(files):
    before = (files / "a1.csv").read_bytes()
    assert ".mercer" in failure("fit", "-o", "a1.csv", "a2.csv")
    assert (files / "a1.csv").read_bytes() == before


def test_a_folder_that_is_not_there_is_told_before_the_work(files):
    assert "The folder none does not exist" in failure("outliers", "new.csv", "--save", "none/d.mercer")
    assert "is a folder" in failure("outliers", "new.csv", "--save", files)


def test_a_monitor_goes_on_in_its_own_file(files):
    run("monitor", "a1.csv", "--save", "plant.mercer")
    before = (files / "plant.mercer").read_bytes()
    run("monitor", "new.csv", "--monitor", "plant.mercer", "--save", "plant.mercer")
    assert (files / "plant.mercer").read_bytes() != before  # its place in the stream has moved


@pytest.mark.parametrize("name", ["new.csv", "x.npy"])
@pytest.mark.parametrize("command", ["transform", "denoise"])
def test_rows_can_replace_themselves_after_they_are_read(files, name, command):
    run(command, "m.mercer", name, "-o", f"apart-{name}", "--chunk-rows", 7)
    run(command, "m.mercer", name, "-o", name, "--chunk-rows", 7)
    assert (files / name).read_bytes() == (files / f"apart-{name}").read_bytes()


@pytest.mark.parametrize(
    ("inputs", "results"),
    [(["/dev/null", "-", None], {"out": "/dev/null", "save": "/dev/null", "plot": None}), (["-"], {"out": "-"})],
)
def test_devices_can_be_named_twice_and_files_cannot(inputs, results, tmp_path):
    check_apart(inputs, **results)
    with pytest.raises(ValueError, match="same file"):
        check_apart(inputs, **results, one=tmp_path / "a", other=tmp_path / "a")


def test_a_message_about_a_file_that_is_no_text_is_short(files):
    (files / "binary.csv").write_bytes(np.random.default_rng(0).bytes(40_000))
    told = failure("fit", "binary.csv", "-o", "b.mercer")
    assert len(told) < 1500
    assert told.isprintable()


@pytest.mark.parametrize(
    "command",
    [
        ["monitor", "a1.csv", "new.csv", "--save", "p.mercer", "-o", "v.csv", "--plot", "p.foo"],
        ["monitor", "a1.csv", "new.csv", "--save", "p.mercer", "--plot", "."],
        ["select", "a1.csv", "-o", "v.csv", "--plot", "p.xlsx"],
        ["track", "x.npy", "--box", "1,1,2,2", "-o", "v.csv", "--video-strip", "p.foo"],
        ["outliers", "a1.csv", "--save", "p.mercer", "-o", "v.foo"],
        ["outliers", "a1.csv", "--save", "p.mercer", "-o", "nowhere/v.csv"],
    ],
)
def test_what_cannot_be_written_is_an_error_before_the_work(files, command):
    before = sorted(path.name for path in files.iterdir())
    told = failure(*command)
    assert any(words in told for words in ("no format of pictures", "folder", "cannot be written"))
    assert sorted(path.name for path in files.iterdir()) == before


@pytest.mark.parametrize("command", [["watch", "new.csv", "--headless", "--state"], ["demo", "--out"]])
def test_a_file_in_the_place_of_a_folder_is_told(command):
    assert f"{command[-1]} a1.csv is a file; give the name of a folder." in failure(*command, "a1.csv")


@pytest.fixture
def closed(files):
    """A folder and a file that this user may not write to or read."""
    folder, file = files / "closed", files / "closed.csv"
    folder.mkdir()
    file.write_bytes((files / "a1.csv").read_bytes())
    folder.chmod(0o555)
    file.chmod(0o000)
    if os.access(folder, os.W_OK) or os.access(file, os.R_OK):
        pytest.skip("this user may write and read everywhere")
    yield folder
    folder.chmod(0o755)


CLOSED = {
    "fit": ["fit", "a1.csv", "-o", "closed/m.mercer"],
    "transform": ["transform", "m.mercer", "a1.csv", "-o", "closed/s.csv"],
    "outliers --save": ["outliers", "a1.csv", "--save", "closed/m.mercer"],
    "outliers --out": ["outliers", "a1.csv", "-o", "closed/o.csv"],
    "monitor --plot": ["monitor", "a1.csv", "new.csv", "--plot", "closed/p.png"],
    "select": ["select", "a1.csv", "-o", "closed/s.csv"],
}


@pytest.mark.parametrize("command", CLOSED.values(), ids=CLOSED)
def test_a_folder_without_permission_is_told_before_the_work_starts(closed, command):
    assert failure(*command) == (
        "Error: The folder closed cannot be written to: permission denied. Give another folder."
    )


def test_a_file_without_permission_is_told(closed):
    assert failure("fit", "closed.csv", "-o", "x.mercer") == "Error: closed.csv: Permission denied."


def test_an_error_of_the_system_is_the_file_and_the_reason(monkeypatch):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr("mercer.io.writers.check_target", Mock(side_effect=full))
    assert failure("outliers", "a1.csv", "-o", "o.csv") == f"Error: {os.strerror(errno.ENOSPC)}."
