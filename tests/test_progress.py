"""Progress is shown, ends properly, and costs nothing when nobody asked for it."""

import gc
import io
import logging
import subprocess
import sys

import pytest
from rich.console import Console

from mercer import progress
from mercer.events import Channel, Event
from mercer.progress import LogLines, RichBars, TqdmBars, observers


@pytest.fixture
def logger(monkeypatch):
    """A logger as a program that set up nothing has it; pytest adds handlers to the real one."""
    log = logging.getLogger("mercer-alone")
    log.handlers, log.parent = [], None
    log.setLevel(logging.WARNING)
    monkeypatch.setattr(progress, "LOGGER", log)
    return log


def test_silence_is_the_default():
    assert observers(False) == ()
    assert observers(0) == ()


def test_the_best_installed_display_is_chosen(monkeypatch, logger):
    assert isinstance(observers(True)[0], RichBars)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert isinstance(observers(True)[0], TqdmBars)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert isinstance(observers(1)[0], LogLines)
    assert isinstance(observers(2)[0], LogLines)


def rich_bars() -> tuple[RichBars, io.StringIO]:
    stream = io.StringIO()
    return RichBars(Console(file=stream, force_terminal=True, width=100)), stream


def test_a_rich_bar_shows_residuals_and_closes_with_its_last_step():
    bars, stream = rich_bars()
    channel = Channel((bars,))
    for step in range(1, 4):
        channel.emit("solve", step, total=3, residual=10.0**-step)
    assert bars._open == []
    assert "3/3" in stream.getvalue()
    assert "residual 1.0e-03" in stream.getvalue()
    assert stream.getvalue().count("\x1b[?25l") == stream.getvalue().count("\x1b[?25h")  # the cursor is back


def test_stages_may_interleave_and_start_again():
    bars, stream = rich_bars()
    for event in [Event("outer", 1, 2), Event("inner", 1, 1), Event("inner", 1, 1), Event("outer", 2, 2)]:
        bars(event)
    assert bars._open == []
    bars(Event("outer", 1, 1))
    assert bars._open == []
    assert "inner" in stream.getvalue()


def test_a_stage_of_unknown_length_closes_when_nobody_listens_any_more():
    bars, stream = rich_bars()
    bars(Event("search", 5, residual=0.5))
    display = bars._open[0]
    assert display.live.is_started
    del bars
    gc.collect()
    assert not display.live.is_started
    assert "search" in stream.getvalue()


def test_an_error_in_the_solver_ends_the_display():
    displays = []

    def solve():
        bars, _ = rich_bars()
        bars(Event("solve", 1, 10))
        displays.append(bars._open[0])
        raise RuntimeError("no convergence")

    with pytest.raises(RuntimeError):
        solve()
    gc.collect()
    assert not displays[0].live.is_started


def test_tqdm_bars_close(capsys):
    stream = io.StringIO()
    bars = TqdmBars(stream)
    bars(Event("solve", 1, 2, residual=0.25))
    bars(Event("search", 7))
    bars(Event("solve", 2, 2, residual=0.125))
    assert list(bars._bars) == ["search"]
    bars.close()
    assert bars._bars == {}
    assert "residual 1.2e-01" in stream.getvalue()
    assert "2/2" in stream.getvalue()


def test_log_lines_are_visible_and_not_too_many(logger, capsys):
    lines = LogLines(pause=60.0)
    for step in range(1, 101):
        lines(Event("solve", step, 100, residual=1e-3, seconds=0.5))
    lines.close()
    assert capsys.readouterr().err.splitlines() == [
        "solve: step 1 of 100 residual 1.0e-03 (0.5 s)",
        "solve: step 100 of 100 residual 1.0e-03 (0.5 s)",
    ]


def test_every_step_is_logged_at_level_two(logger, capsys):
    (lines,) = observers(2)
    for step in range(3):
        lines(Event("solve", step))
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_the_programs_own_logging_is_respected(logger):
    stream = io.StringIO()
    logger.addHandler(logging.StreamHandler(stream))
    LogLines()(Event("solve", 1))
    assert len(logger.handlers) == 1
    assert "solve: step 1 (0.0 s)" in stream.getvalue()


def test_importing_costs_only_the_standard_library():
    code = "import sys, mercer.progress; sys.exit(any(m in sys.modules for m in ('rich', 'tqdm', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert progress.LOGGER.name == "mercer"
