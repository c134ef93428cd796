"""How trackers are measured: ways to start, overlaps with the truth and with the box that was given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.suite.passes import OPE, SRE, TRE, Run, Task, changed, figures, other_starts
from benchmarks.suite.trackers import LINEAR, follow, some_other_starts

FRAMES = np.random.default_rng(0).integers(0, 255, (8, 30, 40)).astype(np.uint8)
BOXES = np.array([[5.0 + k, 6.0, 10.0, 12.0] for k in range(8)])


def tasks():
    return [Task((FRAMES, BOXES), seed, "still") for seed in range(8)]


def test_a_box_that_keeps_its_error_is_perfect_only_against_what_was_given():
    starts = other_starts(tasks()[0])
    assert [sum(task.way == way for task in starts) for way in (OPE, TRE, SRE)] == [1, 3, 12]
    found = figures(starts, [Run(changed(task.truth, task.change), 0.5) for task in starts])
    assert found["overlap"] == found["TRE"] == 1.0
    assert_allclose([found["SRE, own box"], found["SRE, own box, worst"]], 1.0)
    single, double = 0.9 / 1.1, 0.81 / 1.19  # overlap after a shift of a tenth in one direction, and in two
    expected = [single] * 4 + [double] * 4 + [0.64, 0.81, 1 / 1.21, 1 / 1.44]
    assert_allclose([found["SRE"], found["SRE, errors kept"]], np.mean(expected))
    assert_allclose(found["SRE, worst"], 0.64)
    assert round(found["SRE"], 2) == 0.75
    assert_allclose(found["frames/s"], sum(len(task.truth) for task in starts) / (0.5 * len(starts)))


def test_lost_starts_are_counted():
    starts = other_starts(tasks()[0])
    aside = np.array([50.0, 0.0, 0.0, 0.0])
    far = [Run(changed(t.truth, t.change) + aside * (t.way == TRE), 1.0) for t in starts]
    found = figures(starts, far)
    assert (found["TRE"], found["TRE, share lost"], found["SRE, share lost"]) == (0.0, 1.0, 0.0)


def test_every_wrong_box_occurs_twice_among_some_starts():
    wrong = [task.change for task in some_other_starts(tasks) if task.way == SRE]
    assert len(wrong) == 24
    assert {wrong.count(change) for change in wrong} == {2}


@pytest.mark.parametrize("same", [True, False])
def test_boxes_of_different_threads_are_compared(same):
    two = [tasks()[0]._replace(threads=threads) for threads in (1, 2)]
    runs = [Run(BOXES, 1.0), Run(BOXES + (0 if same else 1e-9), 1.0)]
    assert figures(two, runs)["same boxes"] == same


def test_a_tracker_gives_a_box_and_a_time_for_each_task():
    (run,) = follow(LINEAR)(tasks()[:1])()
    assert run.boxes.shape == (8, 4)
    assert run.seconds > 0
