"""Alarms open after k of m rows and close after quiet rows, whatever the batches are."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.watch.alarms import Tracker, state_of

ALPHA = 0.05


def textbook(p, loud, k, m, clear):
    """Alarms as pairs of rows: a plain loop over the rule."""
    found, since, opened, quiet = [], 0, None, 0
    for i in range(len(p)):
        window = loud[max(since, i - m + 1) : i + 1]
        if opened is None:
            if loud[i] and sum(window) >= k:
                opened, quiet = i, 0
            else:
                continue
        quiet = quiet + 1 if p[i] > 2 * ALPHA and not loud[i] else 0
        if quiet >= clear:
            found.append((opened, i))
            opened, since = None, i + 1
    return found + ([(opened, None)] if opened is not None else [])


def followed(tracker, p, loud, cuts):
    """Alarms as pairs of rows, by the tracker, with the rows cut into batches."""
    found, edges = {}, sorted({0, len(p), *cuts})
    for first, last in pairwise(edges):
        part = slice(first, last)
        for change in tracker.follow(np.arange(len(p), dtype=float)[part], p[part], loud[part]):
            if change.kind == "opened":
                assert change.number not in found
                found[change.number] = (first + change.row, None)
            elif change.kind == "closed":
                found[change.number] = (found[change.number][0], first + change.row)
        tracker = reborn(tracker)
    return list(found.values())


def reborn(tracker):
    """A tracker that was saved and restored."""
    new = Tracker(tracker.k, tracker.m, tracker.alpha, tracker.clear)
    new.restore(tracker.state())
    return new


levels = st.sampled_from([0.01, 0.05, 0.07, 0.1, 0.5])


@given(
    st.lists(levels, min_size=1, max_size=80),
    st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(1, 5)),
    st.lists(st.integers(1, 79), max_size=5),
)
def test_alarms_are_those_of_the_textbook_in_any_batches(values, shape, cuts):
    k, more, clear = shape
    p = np.array(values)
    loud = p <= ALPHA
    tracker = Tracker(k, k + more, ALPHA, clear)
    cuts = [cut for cut in cuts if cut < len(p)]
    assert followed(tracker, p, loud, cuts) == textbook(values, loud.tolist(), k, k + more, clear)


def test_rows_between_alpha_and_twice_alpha_neither_open_nor_close():
    tracker = Tracker(1, 1, ALPHA, 3)
    p = np.array([0.01] + [0.07] * 50 + [0.5, 0.5])
    changes = tracker.follow(np.arange(len(p), dtype=float), p, p <= ALPHA)
    assert [change.kind for change in changes] == ["opened", "explained"]
    assert tracker.alarm is not None
    assert tracker.alarm.quiet == 2
    assert Tracker(1, 1, ALPHA, 3).follow(np.zeros(50), p[1:51], p[1:51] <= ALPHA) == []


def test_loud_rows_and_the_least_p_are_counted():
    tracker = Tracker(2, 3, ALPHA, 2)
    p = np.array([0.04, 0.9, 0.03, 0.001, 0.08, 0.9, 0.9])
    tracker.follow(np.arange(7.0), p, p <= ALPHA)
    [(alarm, at)] = tracker.closed
    assert (alarm.opened, alarm.rows, alarm.least_p, at) == (2.0, 3, 0.001, 6.0)


def test_rows_that_were_not_judged_are_quiet():
    tracker = Tracker(1, 1, ALPHA, 2)
    p = np.array([0.01, np.nan, np.nan])
    tracker.follow(np.arange(3.0), p, p <= ALPHA)
    assert tracker.alarm is None


@pytest.mark.parametrize(("k", "m", "clear"), [(0, 1, 1), (3, 2, 1), (1, 1, 0)])
def test_impossible_rules_are_refused(k, m, clear):
    with pytest.raises(ValueError, match="alarm"):
        Tracker(k, m, ALPHA, clear)


@pytest.mark.parametrize(
    ("closed", "acknowledged", "shelved_until", "state"),
    [
        (None, None, None, "open"),
        (None, 5.0, None, "acknowledged"),
        (None, None, 11.0, "shelved"),
        (None, 5.0, 11.0, "shelved"),
        (None, None, 9.0, "open"),
        (None, 5.0, 9.0, "acknowledged"),
        (7.0, 5.0, 11.0, "closed"),
    ],
)
def test_the_state_of_an_alarm(closed, acknowledged, shelved_until, state):
    assert state_of(closed, acknowledged, shelved_until, now=10.0) == state


def test_the_least_p_value_is_that_of_all_loud_rows_that_are_counted():
    p = np.array([0.5, 0.001, 0.5, 0.04, 0.03])
    tracker = Tracker(2, 3, ALPHA, 10)
    for i in range(len(p)):
        tracker.follow(np.array([float(i)]), p[i : i + 1], p[i : i + 1] <= ALPHA)
        tracker = reborn(tracker)
    assert (tracker.alarm.rows, tracker.alarm.least_p) == (3, 0.001)


def test_a_state_of_an_earlier_version_has_no_p_values_of_the_last_rows():
    tracker = Tracker(2, 3, ALPHA, 10)
    tracker.restore({"next": 4, "recent": [0, 1], "alarm": None})
    tracker.follow(np.array([7.0]), np.array([0.02]), np.array([True]))
    assert (tracker.alarm.number, tracker.alarm.rows, tracker.alarm.least_p) == (4, 2, 0.02)
