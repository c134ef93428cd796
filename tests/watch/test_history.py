"""The downsampled past holds the least and largest values of all rows, whatever the batches were, and stays small."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.watch import pictures
from mercer.watch.history import WIDTHS, History, groups_of, kept_of, level_for
from mercer.watch.store import Step, Store

T0 = 1_700_000_000.0


def added(history, times, table, cuts):
    edges, found = sorted({0, len(times), *(cut for cut in cuts if cut < len(times))}), {}
    for first, last in pairwise(edges):
        part = slice(first, last)
        found |= history.add(times[part], table[part], table[part, 0] > 1.5)
    return found


@given(st.integers(1, 60), st.lists(st.integers(1, 59), max_size=6), st.integers(0, 5), st.floats(0.01, 30.0))
def test_stretches_hold_the_extremes_of_their_rows(n, cuts, seed, step):
    rng = np.random.default_rng(seed)
    times = T0 + np.cumsum(rng.uniform(0, 2 * step, n))
    table = rng.standard_normal((n, 4))
    table[rng.uniform(size=table.shape) < 0.1] = np.nan
    found = added(History({}, lambda key: None), times, table, cuts)
    for (level, number), one in found.items():
        inside = np.floor(times / WIDTHS[level] + 1e-6) == number
        if level:  # wide stretches are made of narrow ones, which begin at their first tenth of a second
            inside = np.floor(np.floor(times / 0.1 + 1e-6) * 0.1 / WIDTHS[level] + 1e-6) == number
        rows = table[inside]
        assert inside.any()
        for j in range(4):
            known = rows[~np.isnan(rows[:, j]), j]
            wanted = (known.min(), known.max()) if len(known) else (np.nan, np.nan)
            np.testing.assert_array_equal([one.low[j], one.high[j]], wanted)
        assert one.alarm == bool((rows[:, 0] > 1.5).any())
    assert {level for level, _ in found} == set(range(len(WIDTHS)))


def test_a_stretch_that_is_only_on_disk_goes_on(tmp_path):
    store = Store(tmp_path)
    for value in (3.0, -1.0, 2.0):
        history = History(store.newest(), store.stretch)  # as after a restart
        changed = history.add(np.array([T0]), np.full((1, 4), value), np.array([value == -1.0]))
        store.save(Step(stretches=changed))
    one = store.stretch((1, int(T0)))
    assert (one.low[0], one.high[0], one.alarm) == (-1.0, 3.0, True)
    store.close()


def test_a_picture_shows_every_peak_with_few_points(tmp_path):
    store = Store(tmp_path)
    times = T0 + np.arange(0.0, 5000.0)
    table = np.zeros((5000, 4))
    table[4321, 0] = 99.0
    table[17, 3] = -5.0
    store.save(Step(stretches=History({}, store.stretch).add(times, table, table[:, 0] > 1)))
    found = pictures.history(store, T0, T0 + 5000, 50)
    assert len(found["time"]) <= 50
    assert max(found["t2"]["high"]) == 99.0
    assert sum(found["alarm"]) == 1
    assert min(pictures.trend(store, "x", 0, T0, T0 + 5000, 50)["low"]) == -5.0
    assert pictures.trend(store, "x", 7, T0, T0 + 5000, 50)["time"] == []
    assert pictures.history(store, T0 - 99, T0 - 9, 50)["time"] == []
    store.close()


def test_the_past_takes_bounded_room(tmp_path):
    store = Store(tmp_path)
    history = History({}, store.stretch)
    for i in range(450):
        times = T0 + 1000.0 * i + np.arange(0.0, 1000.0, 50.0)
        store.save(Step(stretches=history.add(times, np.zeros((20, 8)), np.zeros(20, bool))))
    kept = kept_of(5)
    counts = dict(store._read("SELECT level, COUNT(*) FROM history GROUP BY level"))
    assert kept == 3600
    assert max(counts.values()) <= kept + 3000 < 9000  # what comes between two looks at it
    assert counts[4] == 450
    assert kept_of(1024) * 5 * 16 * 1027 < 1.3e8
    store.close()


@pytest.mark.parametrize("n", [1, 5, 800, 5000])
def test_groups_are_at_most_as_many_as_points(n):
    starts = groups_of(T0 + np.arange(n, dtype=float), 100)
    assert len(starts) <= max(100, min(n, 100))
    assert starts[0] == 0


def test_the_narrowest_level_that_reaches_back_is_taken():
    now, kept = T0, 3600
    assert [level_for(now - back, now, kept) for back in (60, 3000, 30_000, 300_000, 3_000_000, 1e9)] == [
        0,
        1,
        2,
        3,
        4,
        4,
    ]
