"""The watch over the rate of alarms: silent while alpha holds, silent for one fault, loud for a model that is old."""

import numpy as np

from mercer.watch.rates import SPAN, RateWatch

ALPHA = 0.01


def warned(loud: np.ndarray, step: float) -> bool:
    watch = RateWatch(ALPHA)
    for first in range(0, len(loud), 100):
        part = slice(first, first + 100)
        watch.add(np.arange(len(loud))[part] * step, loud[part])
        if watch.warning() is not None:
            return True
    return False


def in_runs(rng: np.random.Generator, n: int, rate: float, length: int) -> np.ndarray:
    """Loud rows that come in runs, as those of smoothed statistics do."""
    return np.repeat(rng.uniform(size=n // length + 1) < rate, length)[:n]


def test_a_rate_that_holds_is_not_warned_of():
    rng = np.random.default_rng(0)
    runs = [warned(in_runs(rng, 8000, ALPHA, length), 2.0) for length in (1, 5, 20) for _ in range(30)]
    assert sum(runs) == 0


def test_three_times_the_rate_is_warned_of_after_two_hours():
    rng = np.random.default_rng(1)
    assert sum(warned(in_runs(rng, 8000, 5 * ALPHA, 1), 1.0) for _ in range(20)) == 20
    watch = RateWatch(ALPHA)
    watch.add(np.arange(0.0, SPAN / 2), rng.uniform(size=int(SPAN / 2)) < 0.2)
    assert watch.warning() is None  # only one hour so far
    watch.add(np.arange(SPAN / 2, SPAN), rng.uniform(size=int(SPAN / 2)) < 0.2)
    assert "for 2 hours" in watch.warning()
    assert 0.19 < watch.rate < 0.21


def test_one_fault_of_half_an_hour_is_not_warned_of():
    loud = np.zeros(8000, bool)
    loud[3000:4800] = True
    assert not warned(loud, 1.0)


def test_the_past_is_forgotten_and_saved_counts_go_on():
    watch = RateWatch(ALPHA)
    watch.add(np.arange(0.0, SPAN), np.ones(int(SPAN), bool))
    again = RateWatch(ALPHA)
    again.restore(watch.state())
    assert again.warning() == watch.warning() is not None
    again.add(np.arange(SPAN, 2.1 * SPAN), np.zeros(int(1.1 * SPAN), bool))
    assert again.warning() is None
    assert again.rate == 0.0
    assert len(again.counts) <= 24
