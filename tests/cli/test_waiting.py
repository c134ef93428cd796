"""Long commands show their progress on a terminal, after a while; pipes and short commands stay clean."""

import io
import os
import pty
import re
import subprocess
import sys
import time

import numpy as np
import pytest
import typer
from rich.console import Console

import mercer
from commands import run
from mercer.cli import console, waiting
from mercer.cli.root import app
from mercer.events import Event, History
from mercer.io.pictures import write_picture

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
COMMANDS = typer.main.get_command(app).commands
COMMAND = "import sys; from mercer.cli import waiting; waiting.DELAY = {delay}; from mercer.cli.root import app; app()"


@pytest.fixture
def terminal(monkeypatch):
    """Let messages go to a terminal that is a text."""
    text = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=text, force_terminal=True, width=100))
    return text


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    scene = RNG.uniform(20, 235, (40, 50))
    np.save(tmp_path / "frames.npy", (scene + RNG.normal(0, 3, (30, 40, 50))).astype(np.uint8))
    write_picture(tmp_path / "x.png", RNG.integers(0, 255, (30, 31)).astype(np.uint8))
    mercer.KernelPCA(2, kernel="rbf", preimage="auto").fit(X).save(tmp_path / "model")
    return tmp_path


def on_terminal(args, delay) -> str:
    """Run a command whose standard streams are a terminal, and return what is seen there."""
    main, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-c", COMMAND.format(delay=delay), *map(str, args)]
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=environment) as running:
        os.close(end)
        seen = b""
        while True:
            try:
                piece = os.read(main, 65_536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
    os.close(main)
    assert running.returncode == 0, seen
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())


def in_pipe(args, delay) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", COMMAND.format(delay=delay), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=True)


LONG = {
    "transform": ["transform", "model", "x.npy", "-o", "out.npy", "--chunk-rows", 1],
    "score": ["score", "model", "x.npy", "--chunk-rows", 1],
    "fit": ["fit", "x.npy", "-o", "m", "--method", "landmark", "--chunk-rows", 1],
    "outliers": ["outliers", "x.npy"],
    "monitor": ["monitor", "x.npy", "x.npy"],
    "denoise": ["denoise", "model", "x.npy", "-o", "out.npy", "--chunk-rows", 1],
    "denoise an image": ["denoise", "x.png", "-o", "out.png", "--split", 2],
    "track": ["track", "frames.npy", "--box", "10,10,16,16", "-o", "boxes.csv"],
}


@pytest.mark.parametrize("command", ["transform", "score", "fit", "outliers", "monitor", "track"])
def test_a_terminal_shows_progress_and_a_pipe_does_not(files, monkeypatch, command):
    monkeypatch.chdir(files)
    assert re.search(r"\d+ of (400|6|10|30)\b", on_terminal(LONG[command], delay=0.0))
    told = in_pipe(LONG[command], delay=0.0).stderr
    assert len(told.splitlines()) == (0 if command == "score" else 1), told
    assert "━" not in told


@pytest.mark.parametrize("command", LONG)
def test_every_command_that_computes_is_verbose_on_request(files, monkeypatch, caplog, command):
    monkeypatch.chdir(files)
    with caplog.at_level("INFO", "mercer"):
        run(*LONG[command])
        assert not caplog.text
        run(*LONG[command], "--verbose")
    assert re.search(r"(rows|models fitted|parts held out|windows cleaned|frames): step (\d+) of \2 ", caplog.text)


def test_options_are_the_same_in_all_commands():
    has = {name: {word for param in command.params for word in param.opts} for name, command in COMMANDS.items()}
    quiet = {"info", "reproduce", "watch"}  # a file is only shown; arguments are passed on; a page tells what happens
    assert {name for name in has if {"--verbose", "-v"} <= has[name]} == set(has) - quiet
    assert {name for name in has if "--rows" in has[name]} == set(has) - quiet - {"demo"}
    assert {name for name in has if "--method" in has[name]} == {"fit", "outliers", "denoise", "track"}  # they learn


def test_a_short_command_shows_nothing_on_a_terminal(files):
    seen = on_terminal(["transform", files / "model", files / "x.npy", "-o", files / "out.npy"], delay=600.0)
    assert seen.split() == f"Wrote 400 rows to {files / 'out.npy'}.".split()


def test_rows_on_a_terminal_are_not_disturbed(files):
    seen = on_terminal(["transform", files / "model", files / "x.npy", "--chunk-rows", 1], delay=0.0)
    assert len(seen.split()) == 401


def test_verbose_writes_lines_into_a_pipe(files):
    done = in_pipe(["transform", files / "model", files / "x.npy", "-v"], delay=600.0)
    assert "rows: step 400 of 400" in done.stderr
    assert len(done.stdout.splitlines()) == 401


def wait_for(text, stream):
    for _ in range(200):
        if text in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()):
            return True
        time.sleep(0.02)
    return False


def test_work_without_events_is_shown_too(terminal):
    with waiting.Display(0.0):
        assert wait_for("working", terminal)


def test_events_before_the_display_appears_are_shown_with_it(terminal):
    display = waiting.Display(0.0)
    display(Event("rows", 1000, 4000))
    display(Event("krylov", 3, None, 1e-4))
    with display:
        assert wait_for("1,000 of 4,000", terminal)
        assert wait_for("passes over the kernel matrix", terminal)
        assert wait_for("residual 1e-04", terminal)


def test_the_time_left_follows_from_the_time_so_far():
    assert waiting._time_left(Event("rows", 10, 40), 20.0) == ", about 1 min 0 s left"
    assert waiting._time_left(Event("rows", 30, 40), 30.0) == ", about 10 s left"
    assert waiting._time_left(Event("rows", 40, 40), 30.0) == ""
    assert waiting._time_left(Event("rows", 40), 30.0) == ""


def test_the_display_is_gone_at_the_end(terminal):
    with waiting.Display(0.0) as display:
        display(Event("rows", 1, 2))
        assert wait_for("1 of 2", terminal)
    assert terminal.getvalue().count("\x1b[?25l") == terminal.getvalue().count("\x1b[?25h")  # the cursor is back
    assert display._bars is None


@pytest.mark.parametrize(
    ("n", "told", "stages"),
    [
        (200, [(1, 4), (2, 4), (3, 4), (4, 4)], {"models fitted"}),  # one model after the other
        (400, [(4, 4)], {"krylov", "models fitted"}),  # all together, from one kernel matrix
    ],
)
def test_the_detector_tells_of_its_models_and_keeps_no_display(n, told, stages):
    detector, history = mercer.KernelOutlierDetector(n_folds=3, random_state=0), History()
    detector.observers = (history,)
    detector.fit(X[:n])
    steps = [(event.step, event.total) for event in history.events if event.stage == "models fitted"]
    assert steps == told
    assert {event.stage for event in history.events} == stages
    assert "observers" not in vars(detector.estimator_)


def test_a_verbose_detector_shows_its_models(caplog):
    with caplog.at_level("INFO", "mercer"):
        mercer.KernelOutlierDetector(n_folds=2, random_state=0, verbose=2).fit(X)
    assert "models fitted: step 3 of 3" in caplog.text
