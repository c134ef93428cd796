"""When the page says that there are no data."""

from types import SimpleNamespace

import pytest

from mercer.watch import status as module
from mercer.watch.status import Status


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(module.time, "monotonic", lambda: now.seconds)
    return now


def state_after(clock, steps, silence):
    """Return the state when rows came after these steps of seconds, and then none."""
    told = SimpleNamespace(rows=0)
    status = Status(SimpleNamespace(told=told, judge=object()), None)
    for step in steps:
        clock.seconds += step
        told.rows += 1
        status.note()
    clock.seconds += silence
    status.note()
    return status.state(open_alarms=0)


@pytest.mark.parametrize(
    ("steps", "silence", "state"),
    [
        ([], 29, "ok"),
        ([], 31, "no data"),
        ([1] * 20, 29, "ok"),
        ([1] * 20, 31, "no data"),
        ([60] * 4, 170, "ok"),  # a row per minute
        ([60] * 4, 190, "no data"),
        ([60, 0.2, 0.2] * 4, 170, "ok"),  # a few rows per minute, together
        ([1] * 20 + [3600] + [1] * 3, 31, "no data"),  # a pause is not the usual step
        ([3600] + [1] * 3, 31, "no data"),  # nor is the time until the first row
    ],
)
def test_no_data_is_said_after_half_a_minute_or_three_usual_steps(clock, steps, silence, state):
    assert state_after(clock, steps, silence) == state
