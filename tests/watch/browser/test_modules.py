"""Parts of the page by themselves, in a browser: bounded memory, times, numbers."""

import random

import pytest

pytestmark = pytest.mark.browser

# rows go in with their values; what the buckets hold comes out
FILL = """async ([span, pieces, times, values]) => {
    const {Buckets} = await import("./buckets.js");
    const buckets = new Buckets(span, pieces);
    buckets.addRows({time: times, t2: values, spe: values, p: values});
    return {time: buckets.time, low: buckets.low.t2, high: buckets.high.t2};
}"""


def textbook_buckets(times, values, width):
    """The least and the largest value per piece of time, by a dictionary."""
    groups: dict[int, list[float]] = {}
    for time, value in zip(times, values, strict=True):
        groups.setdefault(int(time // width), []).append(value)
    pieces = [groups[key] for key in sorted(groups)]
    return [min(piece) for piece in pieces], [max(piece) for piece in pieces]


def test_buckets_keep_the_least_and_the_largest_value_of_each_piece(modules):
    dice = random.Random(1)
    times = sorted(dice.uniform(0, 100) for _ in range(3000))
    values = [dice.gauss(0, 1) for _ in times]
    found = modules.evaluate(FILL, [100, 50, times, values])
    low, high = textbook_buckets(times, values, 2.0)
    assert found["low"] == low
    assert found["high"] == high
    assert found["time"] == sorted(found["time"])


def test_a_late_row_goes_where_it_belongs(modules):
    found = modules.evaluate(FILL, [100, 50, [1.0, 9.0, 3.0, 9.5, 1.5], [1, 2, 3, 4, 9]])
    assert found["low"] == [1, 3, 2]
    assert found["high"] == [9, 3, 4]
    assert found["time"] == [1.5, 3.0, 9.5]


def test_memory_is_the_same_after_many_rows_and_the_newest_are_there(modules):
    script = """async (rows) => {
        const {Buckets} = await import("./buckets.js");
        const buckets = new Buckets(60);
        let most = 0;
        for (let k = 0; k < rows; k += 1) {
            buckets.add(k / 50, [k, k, k], [k, k, k]);
            most = Math.max(most, buckets.length);
        }
        return {most, first: buckets.time[0], last: buckets.last, high: buckets.high.p.at(-1)};
    }"""
    found = modules.evaluate(script, 300_000)
    assert found["most"] <= 1251
    assert found["last"] == pytest.approx(299_999 / 50)
    assert found["high"] == 299_999
    assert 60 <= found["last"] - found["first"] <= 76


def test_unknown_values_are_no_values(modules):
    found = modules.evaluate(FILL, [100, 50, [1.0, 1.1, 5.0], [None, 2.5, None]])
    assert found["low"] == [2.5, None]
    assert found["high"] == [2.5, None]


def test_a_long_pause_is_a_gap_and_a_short_one_is_not(modules):
    script = """async (times) => (await import("./buckets.js")).withGaps(times, [times])"""
    assert modules.evaluate(script, [0, 1, 2, 3, 6, 7, 8, 50, 51]) == [
        [0, 1, 2, 3, 6, 7, 8, 9, 50, 51],
        [0, 1, 2, 3, 6, 7, 8, None, 50, 51],
    ]
    assert modules.evaluate(script, []) == [[], []]


VIEW = """async (steps) => {
    const {TimeView} = await import("./time_view.js");
    const view = new TimeView(() => {});
    view.advance(1000);
    for (const [name, ...given] of steps) view[name](...given);
    return [view.live, ...view.range()];
}"""


@pytest.mark.parametrize(
    ("steps", "shown"),
    [
        ([], [True, 400, 1000]),
        ([["advance", 1010], ["advance", 990]], [True, 410, 1010]),
        ([["show", 500, 600], ["advance", 2000]], [False, 500, 600]),
        ([["show", 500, 600], ["follow"]], [True, 400, 1000]),
        ([["follow", 60], ["zoom", 0.5]], [False, 970, 1000]),
        ([["show", 500, 600], ["zoom", 2]], [False, 450, 650]),
        ([["show", 500, 600], ["move", -0.5]], [False, 450, 550]),
        ([["show", 950, 990], ["move", 0.5]], [True, 400, 1000]),
        ([["show", 500, 500.01]], [False, 499.505, 500.505]),
        ([["setBack", 995]], [True, 400, 1000]),
        ([["setBack", 100]], [True, -500, 100]),
    ],
)
def test_which_time_is_shown(modules, steps, shown):
    assert modules.evaluate(VIEW, steps) == pytest.approx(shown)


@pytest.mark.parametrize(("span", "window"), [(0, 60), (60, 60), (61, 600), (4000, 8 * 3600), (1e9, 7 * 86400)])
def test_the_shortest_window_that_holds_a_span(modules, span, window):
    assert modules.evaluate("async (span) => (await import('./time_view.js')).windowOfSpan(span)", span) == window


MARKS = """async ([name, low, high, limit, pixels]) =>
    (await import("./value_axis.js"))[name].marks(low, high, limit, pixels)"""


@pytest.mark.parametrize(
    ("given", "marks"),
    [
        (["probability", 0.7e-6, 1, 0.01, 60], [1e-6, 1e-3, 1]),
        (["probability", 0.7e-6, 1, 0.01, 160], [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1]),
        (["limited", 0, 40, 20, 100], [0, 10, 20]),
        (["limited", 0, 5000, 20, 100], [0, 50, 200, 1000, 5000]),
    ],
)
def test_marks_of_axes_are_round_and_apart(modules, given, marks):
    assert modules.evaluate(MARKS, given) == marks


def test_on_the_axis_of_a_limit_small_values_are_linear_and_large_ones_are_not(modules):
    script = """async () => {
        const {fwd, bwd} = (await import("./value_axis.js")).limited.scale(() => 10);
        return [fwd(0), fwd(1) / fwd(0.5), fwd(10000) - fwd(1000), fwd(1000) - fwd(100), bwd(fwd(123))];
    }"""
    zero, double, decade, decade_before, same = modules.evaluate(script)
    assert zero == 0
    assert double == pytest.approx(2, rel=0.01)
    assert decade == pytest.approx(decade_before, rel=0.01)
    assert same == pytest.approx(123)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (3.14159, "3.14"),
        (-0.5, "\u22120.5"),
        (123456, "123456"),
        (0.00021, "0.00021"),
        (2.5e-7, "2.5\u00a0\u00d7\u00a010⁻⁷"),
        (3e12, "3\u00a0\u00d7\u00a010¹²"),
        (None, "\u2013"),
    ],
)
def test_numbers(modules, value, text):
    assert modules.evaluate("async (value) => (await import('./format.js')).number(value)", value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (7260, "2 h 1 min"), (200_000, "2 d 7 h")]
)
def test_durations(modules, seconds, text):
    assert modules.evaluate("async (seconds) => (await import('./format.js')).duration(seconds)", seconds) == text


@pytest.mark.parametrize(
    "kind", ["missing", "late", "bad_time", "clock_set_back", "text", "unknown_column", "malformed", "not_judged"]
)
def test_every_kind_of_irregular_input_is_told(modules, kind):
    script = """async (counts) => (await import("./state.js")).problemsIn(counts)"""
    assert modules.evaluate(script, {"judged": 900, "alarm_rows": 5, kind: 3}) == 3


def test_without_an_open_alarm_the_page_tells_of_those_that_nobody_has_seen(modules):
    script = """async (counts) => (await import("./state.js")).sentence("ok", {}, counts)"""
    assert modules.evaluate(script, {"shelved": 0, "unseen": 0}) == "No open alarm."
    assert modules.evaluate(script, {"shelved": 0, "unseen": 2}) == "No open alarm; 2 closed and not acknowledged."
    assert modules.evaluate(script, {"shelved": 1, "unseen": 2}).startswith("No open alarm; 1 shelved; 2 closed")
