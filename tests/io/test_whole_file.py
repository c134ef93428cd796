"""Files that are complete or not there."""

import os

import pytest

from mercer.io.whole_file import check_folder_of, whole_file


def test_failure_while_writing_keeps_the_old_file_and_leaves_no_other(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.writelines([b"new", 1])
    assert [one.name for one in tmp_path.iterdir()] == ["a"]
    assert path.read_bytes() == b"old"


def test_folder_that_cannot_be_read_can_be_written_to(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError("no reading here")

    monkeypatch.setattr(os, "listdir", refuse)
    with whole_file(tmp_path / "a") as file:
        file.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_folder_is_checked_only_for_what_is_written_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    (tmp_path / "old").write_bytes(b"old")
    os.mkfifo(tmp_path / "pipe")
    for name in ("new", "old"):
        with pytest.raises(PermissionError, match="cannot be written to"):
            check_folder_of(tmp_path / name)
    check_folder_of(tmp_path / "pipe")
    check_folder_of(tmp_path / "old", replaces=False)
    with pytest.raises(FileNotFoundError, match="create it first"):
        check_folder_of(tmp_path / "nothing" / "new")
