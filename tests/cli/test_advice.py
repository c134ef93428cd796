"""Errors that say what a user can do on the command line."""

import importlib.abc
import sys

import numpy as np
import pytest

from commands import failure, run
from mercer.cli.app import main

X = np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A model of columns with names, and files with and without them."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("named.csv", X, delimiter=",", header="a,b,c", comments="")
    np.savetxt("four.csv", np.column_stack([np.arange(40) * 1.5, X]), delimiter=",")
    np.savetxt("two.csv", X[:, :2], delimiter=",")
    run("fit", "named.csv", "-o", "m.mercer", "--components", 2)
    return tmp_path


@pytest.mark.parametrize("command", ["transform", "score", "denoise"])
def test_rows_in_the_place_of_the_model(command):
    assert "named.csv is a file of rows, not a model. The model comes first" in failure(command, "named.csv", "two.csv")


def test_a_file_that_is_no_model_is_not_called_truncated():
    told = failure("info", "named.csv")
    assert "does not begin as a model does: it is a file of another kind" in told
    assert "backup" not in told


def test_a_model_in_the_place_of_a_detector():
    run("fit", "named.csv", "-o", "scaled.mercer", "--components", 2, "--scale", "soft")
    told = failure("outliers", "named.csv", "--detector", "scaled.mercer")
    assert "scaled.mercer holds a model of `mercer fit`, not a detector" in told


@pytest.mark.parametrize("command", [["fit", "-o", "n.mercer"], ["outliers"], ["select"]])
def test_a_folder_in_the_place_of_a_file(command):
    assert ". is a folder; a file with data is needed" in failure(command[0], ".", *command[1:])


def test_a_detector_or_monitor_that_is_not_there():
    told = failure("outliers", "named.csv", "--detector", "none.mercer")
    assert told == "Error: none.mercer is not a file; give a detector saved by `mercer outliers --save`."
    told = failure("monitor", "named.csv", "--monitor", "none.mercer")
    assert told == "Error: none.mercer is not a file; give a monitor saved by `mercer monitor --save`."


def test_a_linear_detector_of_few_columns_asks_for_no_more_components():
    assert "components" not in run("outliers", "named.csv", "--method", "hebbian-pca").stderr


def test_a_spreadsheet_must_be_saved_as_text():
    assert "Save the table as .csv" in failure("outliers", "table.xlsx")


def test_an_image_that_is_not_there():
    assert "in.png does not exist; an image is needed" in failure("denoise", "in.png", "-o", "out.png")


def test_a_live_monitor_without_its_model_or_with_two_sources():
    told = failure("watch", "named.csv", "--headless", "--model", "none.mercer")
    assert "none.mercer is not a file; give a detector of `mercer outliers --save`" in told
    assert "--demo makes its own rows; leave out named.csv" in failure("watch", "named.csv", "--demo", "--headless")


@pytest.mark.parametrize("command", ["transform", "score", "denoise"])
def test_a_file_without_names_needs_as_many_columns_as_the_model(command):
    told = failure(command, "m.mercer", "four.csv")
    assert "four.csv has no names of columns and 4 columns of numbers; the model needs 3 (a, b, c)" in told
    assert "--exclude 0" in told
    run(command, "m.mercer", "four.csv", "--exclude", "0")
    told = failure(command, "m.mercer", "two.csv")
    assert "two.csv has no names of columns and 2 columns of numbers; the model needs 3" in told
    assert "--exclude" not in told


@pytest.mark.parametrize("option", ["--id", "--time", "--exclude"])
def test_a_column_of_the_model_cannot_be_left_out(option):
    told = failure("transform", "m.mercer", "named.csv", option, "a,c")
    assert "named.csv: 'a', 'c' are columns of the model" in told
    assert "--id, --time or --exclude" in told
    assert "'b' is a column of the model" in failure("transform", "m.mercer", "named.csv", option, "b")


def test_a_column_cannot_be_taken_and_left_out():
    assert "named.csv: 'a' is among --columns" in failure(
        "fit", "named.csv", "-o", "n.mercer", "--columns", "a,b", "--exclude", "a"
    )


def test_a_column_that_is_nowhere_is_still_named():
    assert "has no column 'z'" in failure("transform", "m.mercer", "named.csv", "--id", "z")
    (np.savetxt("other.csv", X, delimiter=",", header="a,b,d", comments=""))
    assert "has no column 'c'; it has a, b, d" in failure("transform", "m.mercer", "other.csv")


def test_times_that_fall_are_to_be_sorted_in_the_file():
    days = [f"2024-01-{31 - i // 2:02d}" for i in range(40)]
    lines = [f"{day},{','.join(map(str, row))}" for day, row in zip(days, X, strict=True)]
    with open("falling.csv", "w") as file:
        file.write("\n".join(["when,a,b,c", *lines]) + "\n")
    told = failure("monitor", "falling.csv", "--save", "p.mercer", "--time", "when")
    assert "Row 2 (counted from 0) has the time 2024-01-30, but the row before it has 2024-01-31" in told
    assert "Sort the file by time" in told
    assert "sort_index" not in told


class Interrupting(importlib.abc.MetaPathFinder):
    """Ctrl-C while modules are imported."""

    def find_spec(self, name, path=None, target=None):
        if name == "mercer.cli.root":
            raise KeyboardInterrupt
        return None


def test_an_interrupt_while_modules_are_imported_is_quiet(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "mercer.cli.root")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130
    assert capsys.readouterr() == ("", "")
