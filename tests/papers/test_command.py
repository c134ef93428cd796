"""`python -m papers`, and `mercer reproduce`, which runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

from typer.testing import CliRunner

import mercer
from mercer.cli import reproduce
from mercer.cli.root import app as root
from papers import catalogue
from papers.__main__ import app
from papers_made import made

ALL = catalogue.find()


# -- the command ---------------------------------------------------------------------------------------------------


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


def test_list_prints_the_coverage():
    found = invoke("--list")
    assert found.exit_code == 0
    for key in catalogue.KEYS:
        assert key in found.output
    assert "camera image for Lena" in found.output
    assert "huang2011" not in invoke("--list", "kim2019").output


def test_command_runs_one_experiment_and_resumes(tmp_path):
    found = invoke("lecture_notes:kernel_eigenvalues", "--quick", "-o", tmp_path)
    assert found.exit_code == 0
    assert "summary.html" in found.output
    assert (tmp_path / "lecture_notes" / "kernel_eigenvalues" / "eigenvalues.svg").is_file()
    assert "done before" in invoke("lecture_notes:kernel_eigenvalues", "--quick", "-o", tmp_path).stderr


def test_command_without_data_says_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.datasets.openml.SETS", {})
    found = invoke("huang2011:example4", "--data", tmp_path, "-o", tmp_path / "out")
    assert found.exit_code == 0
    shown = " ".join(found.output.split())
    assert "not run: Frey faces" in shown
    assert "frey_faces.npz with X (1965, 560)" in shown
    assert "Public source: frey_rawface.mat" in shown


def test_command_fails_where_an_experiment_does(tmp_path, monkeypatch):
    def failing(run):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(catalogue, "find", lambda wanted=(): [("lecture_notes", made(failing))])
    assert invoke("-o", tmp_path).exit_code == 1


def test_command_tells_how_to_go_on_after_an_interruption(tmp_path, monkeypatch):
    def interrupted(run):
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "find", lambda wanted=(): [("lecture_notes", made(interrupted))])
    found = invoke("-o", tmp_path)
    assert found.exit_code == 130
    assert "same command again" in found.stderr


def test_unknown_key_is_one_line():
    found = invoke("nope")
    assert found.exit_code == 2
    assert "use one of lecture_notes" in " ".join(re.sub("[│╭╮╰╯─]", " ", found.stderr).split())


def through_mercer(*arguments):
    return CliRunner().invoke(root, ["reproduce", *map(str, arguments)], env={"COLUMNS": "200"})


def test_mercer_hands_everything_on_to_the_papers_of_a_checkout(tmp_path, monkeypatch):
    handed = []
    monkeypatch.setattr("subprocess.run", lambda command, **more: handed.append(command) or Mock(returncode=7))
    assert through_mercer("kim2019", "--quick", "-o", tmp_path, "--help").exit_code == 7
    assert handed[0][1:] == ["-m", "papers", "kim2019", "--quick", "-o", str(tmp_path), "--help"]


def test_mercer_runs_the_papers_from_any_folder(tmp_path):
    code = "from mercer.cli.app import main; main()"
    command = [sys.executable, "-c", code, "reproduce", "--list", "lecture_notes"]
    path = {"PYTHONPATH": str(Path(mercer.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "lecture_notes" in done.stdout


def test_mercer_says_that_the_papers_need_a_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "_CHECKOUT", tmp_path)
    found = through_mercer("--quick")
    assert found.exit_code == 2
    assert "need a checkout" in found.stderr
    assert "python -m papers --quick" in found.stderr
