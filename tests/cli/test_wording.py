"""Warnings and errors of the library name options of the command, not parameters of Python."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from commands import failure, run
from mercer.cli import wording
from mercer.cli.root import app
from mercer.cli.wording import in_options
from mercer.io.pictures import write_picture

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(60, 3))


def written(name, X):
    np.savetxt(name, X, delimiter=",", header=",".join("abcdef"[: X.shape[1]]), comments="")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written("normal.csv", NORMAL)
    written("few.csv", NORMAL[:6])
    written("huge.csv", NORMAL * 1e200)
    written("walk.csv", RNG.normal(size=(300, 3)).cumsum(axis=0))
    far = RNG.normal(size=(60, 3))
    far[0, 1] = 1e9
    written("far.csv", far)


def said(*args):
    """Run a command that succeeds, and return what it says on standard error."""
    return run(*args).stderr


def test_warnings_of_a_detector():
    few = said("outliers", "few.csv")
    assert re.search(r"--alpha 0\.05 needs at least 19 rows; got 6\. .*, or --alpha 0\.143\.", few)
    assert "Use `mercer monitor`, which knows about time" in said("outliers", "walk.csv")
    assert "Leave these rows out if they are wrong.\n" in said("outliers", "far.csv")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("few.csv", "--method", "select"), "select needs at least 20 rows to compare settings; got 6."),
        (("normal.csv", "--statistic", "q"), "--statistic must be one of all, both, spe, t2. Got 'q' instead."),
        (("normal.csv", "--alpha", 2), "--alpha must be a number between 0.0 and 1.0. Got 2.0 instead."),
    ],
)
def test_errors_of_a_detector(args, told):
    assert told in failure("outliers", *args)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("normal.csv", "--components", 0), "--components must be a whole number of at least 1, a number between 0.0"),
        (("normal.csv", "--gamma", -1), "--gamma must be a number of at least 0.0, median, none or select."),
        (("normal.csv", "--kernel", "q"), "--kernel must be one of chi2, cosine,"),
        (("normal.csv", "--set", "preimage=q"), "--set preimage must be one of auto, exact,"),
        (("few.csv", "--gamma", "select"), "got 6 and 3. Give numbers to --gamma and --components."),
        (("huge.csv",), "Rescale the features, e.g. with --scale soft."),
    ],
)
def test_errors_of_fit(args, told):
    assert told in failure("fit", *args, "-o", "m.mercer")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--components", 80), "--components 80, but the data allow only 60: the model has 60."),
        (("--method", "r1", "--set", "max_iter=1"), "Raise --set max_iter or --set tol."),
        (("--method", "hebbian-pca", "--set", "eta0=1000"), "Lower --set eta0=1000, or use --set eta0=auto."),
    ],
)
def test_warnings_of_fit(args, told):
    assert told in said("fit", "normal.csv", "-o", "m.mercer", *args)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--alpha", 0.1, "--false-alarms-per", "1D,1"), "--alpha, --set arl0 and --false-alarms-per all set the rate"),
        (("--false-alarms-per", "1D,1"), "name their column with --time, or give --alpha, the rate per row."),
        (("--false-alarms-per", "1D,x"), "--false-alarms-per needs a period and a number above 0, such as 1D,1;"),
        (("--persist", "5,3"), "--persist is K, or K,M with 1 <= K <= M; got (5, 3)."),
        (("--persist", "5,80"), "--persist 5,80 looks at 80 rows;"),
        (("--persist", 0), "--persist must be a whole number of at least 1, or two of them such as 2,3. Got 0"),
        (("--smoothing", 2), "--smoothing must be a number above 0.0 and at most 1.0 or auto. Got 2 instead."),
        (("--confidence", 2), "--confidence must be a number of at least 0.5 and below 1.0. Got 2.0 instead."),
        (("--seed", -1), "--seed must be a whole number from 0 to 4294967295. Got -1 instead."),
        (("--set", "foo=1"), "has no parameter 'foo'; it has adapt, alpha,"),
    ],
)
def test_errors_of_a_monitor(args, told):
    found = failure("monitor", "normal.csv", "normal.csv", *args)
    assert told in found
    assert not re.search(r"instance of|DatetimeIndex|, --seed", found)


def test_a_monitor_of_incomplete_rows_names_the_option():
    Path("holes.csv").write_text("a,b\n" + "".join(f",{i % 7}\n" for i in range(30)))
    assert "30 of 30 training rows hold NaN (a: 30): leave these columns out with --exclude." in failure(
        "monitor", "holes.csv", "--save", "m.mercer"
    )


def test_names_of_parameters_are_those_that_set_takes():
    told = failure("fit", "normal.csv", "-o", "m.mercer", "--set", "foo=1")
    assert " kernel_params, max_iter, n_components, n_jobs, precision, preimage, random_state, " in told


def test_errors_of_other_commands():
    assert "--contaminated and --clean are only for --purpose outliers; got" in failure(
        "select", "normal.csv", "--purpose", "denoising", "--clean"
    )
    write_picture("tiny.png", np.zeros((3, 3), np.uint8))
    told = failure("denoise", "tiny.png", "-o", "t.png")
    assert "window of 9 x 9. Give a smaller --window, or --split 1." in told
    assert "mercer fit" not in told


def test_commands_that_apply_a_model_name_the_options_of_fit():
    run("fit", "normal.csv", "-o", "m.mercer", "--set", "preimage=exact")
    told = failure("denoise", "m.mercer", "normal.csv")
    assert "use --set preimage=auto otherwise. These are options of `mercer fit`." in told


def test_a_command_without_scaling_does_not_advise_it():
    told = failure("select", "huge.csv")
    assert "Rescale the features or lower gamma" in told


def test_names_of_files_stay_as_they_are():
    assert "max_iter.csv does not exist" in failure("fit", "max_iter.csv", "-o", "m.mercer")
    assert "--set" not in failure("fit", "max_iter.csv", "-o", "m.mercer")
    assert "--set alpha is not of the form name=value; write for example --set alpha=0.1." in failure(
        "fit", "normal.csv", "-o", "m.mercer", "--set", "alpha"
    )


def test_the_reason_of_a_choice():
    told = run("select", "normal.csv", "--purpose", "outliers").stdout
    assert "; use --contaminated or --clean where that is known." in told
    assert "contaminated=" not in told


def test_words_that_are_also_parameters_stay_words():
    text = "rounding errors are larger than what steps gain; raise max_iter."
    told = in_options(text, get_command(app).commands, "fit")
    assert told == "rounding errors are larger than what steps gain; raise --set max_iter."


def texts_of(tree):
    """Return all texts of a module, with a number or the name of a class in the place of values put into them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for value in ("1", "KernelOutlierDetector"):
                yield "".join(part.value if isinstance(part, ast.Constant) else value for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_phrases_that_are_replaced_are_still_those_of_the_library():
    files = [path for path in Path(wording.__file__).parents[1].rglob("*.py") if path.name != "wording.py"]
    texts = [text for path in files for text in texts_of(ast.parse(path.read_text(encoding="utf8")))]
    stale = [pattern for pattern, _ in wording._PHRASES if not any(re.search(pattern, text) for text in texts)]
    assert stale == []
