"""The page of the command line names what a user can write."""

import pytest

from site_parts import extension

pytest.importorskip("sphinx")
command_line = extension("command_line")
TEXT = command_line.markdown()


def line_of(command: str, option: str) -> str:
    section = TEXT.split(f"## `mercer {command}`")[1].split("\n## ")[0]
    return next(line for line in section.splitlines() if line.startswith(f"| `{option}"))


def test_brackets_are_not_doubled():
    assert "[[" not in TEXT
    assert "mercer denoise [OPTIONS] IMAGE|MODEL [DATA]\n" in TEXT


def test_choices_are_named():
    assert "`reconstruction`, `denoising`, `features` or `outliers`. What" in line_of("select", "--purpose")
    assert "`soft`, `variance` or `none`. " in line_of("fit", "--scale")


def test_options_that_must_be_given_are_marked():
    assert line_of("track", "--box").endswith("(required) |")
    assert "required" not in line_of("track", "--seed")


def test_methods_stand_one_per_line():
    assert "<br>`kernel-pca`: exact" in line_of("fit", "--method")


def test_bars_do_not_end_a_cell():
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {3}
