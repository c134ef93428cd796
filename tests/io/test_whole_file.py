"""Files that are complete or not there."""

import os

import pytest

from mercer.io.whole_file import whole_file


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
