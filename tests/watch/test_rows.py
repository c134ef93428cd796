"""Rows from whatever comes: found by name, cleaned, counted, never an exception."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.watch.rows import MAX_COLUMNS, RowReader
from mercer.watch.sources.base import MAX_LINE, Batch
from mercer.watch.sources.lines import Lines

NOW = 1_700_000_000.0


def read(reader, *items, fresh=True):
    return reader.read(Batch(list(items), fresh=fresh, received=NOW))


def test_csv_with_a_header_in_another_order():
    reader = RowReader(["a", "b"], fixed=True)
    rows = read(reader, "b;extra;a", "1;9;2", "3;9;4,5")
    assert rows.values.tolist() == [[2.0, 1.0], [4.5, 3.0]]
    assert reader.counts["unknown_column"] == 1
    assert list(reader.unknown) == ["extra"]
    assert rows.times.tolist() == [NOW, NOW]


@pytest.mark.parametrize("header", ["# a,b", "#a,b", "  a,b"])
def test_a_header_of_numpy_has_the_names_behind_its_hash(header):
    reader = RowReader(["a", "b"], fixed=True)
    assert read(reader, header, "1,2", "3,4").values.tolist() == [[1, 2], [3, 4]]
    assert reader.counts["unknown_column"] == 0


def test_json_lines_objects_lists_and_rows_by_name():
    reader = RowReader(["a", "b"], fixed=True)
    rows = read(reader, '{"b": 1, "a": 2}', '{"a": null, "b": "3"}', '[{"a": 5, "b": 6}, {"a": 7, "b": 8}]', {"b": 9})
    np.testing.assert_array_equal(rows.values, [[2, 1], [np.nan, 3], [5, 6], [7, 8], [np.nan, 9]])
    assert reader.counts["missing"] == 2


def test_lists_without_names_are_the_columns_of_the_model():
    reader = RowReader(["a", "b"], fixed=True)
    assert read(reader, "[1, 2]", "[3, 4]").values.tolist() == [[1, 2], [3, 4]]


def test_csv_without_a_header():
    reader = RowReader()
    assert read(reader, "1,2,x", "3,4,y").values[:, :2].tolist() == [[1, 2], [3, 4]]
    assert reader.columns == ["column0", "column1", "column2"]


def test_new_names_become_columns_until_these_are_fixed():
    reader = RowReader()
    rows = read(reader, '{"a": 1}', '{"a": 2, "b": 3}')
    np.testing.assert_array_equal(rows.values, [[1, np.nan], [2, 3]])
    reader.fix(["b"])
    assert read(reader, '{"a": 2, "b": 3, "c": 1}').values.tolist() == [[3.0]]
    assert dict(reader.counts)["unknown_column"] == 1  # c; a was left out on purpose


def test_text_missing_and_large_cells_are_nan_and_counted():
    reader = RowReader(["a", "b", "c"], fixed=True)
    rows = read(reader, "a,b,c", "1,broken,", "inf,1e200,nan", '"1",NA,?')
    assert np.isnan(rows.values).tolist() == [[False, True, True], [True, True, True], [False, True, True]]
    assert reader.counts["text"] == 3
    assert reader.counts["missing"] == 7


def test_texts_of_columns_that_are_not_learned_are_not_counted():
    reader = RowReader()
    read(reader, "id,a,b", "m1,1,2", "m2,broken,3")
    again = RowReader()
    again.restore(json.loads(json.dumps(reader.state())))
    for one in (reader, again):
        assert one.counts["text"] == 0  # nobody knows yet whether `id` should hold numbers
        one.fix(["a", "b"])
        read(one, "id,a,b", "m3,4,5", "m4,6,?!")
        assert one.counts["text"] == 2


def test_a_header_that_comes_again_is_no_row():
    reader = RowReader(["a", "b"], fixed=True)
    assert len(read(reader, "a,b", "1,2", "a,b", "3,4", " a , b", "5,6")) == 3
    assert reader.counts["text"] == 0
    reader = RowReader(["a", "7"], fixed=True)
    assert len(read(reader, "a,7", "1,2", "a,7", "3,4")) == 2


def test_times_numbers_texts_and_milliseconds():
    reader = RowReader(["a"], fixed=True)
    rows = read(reader, "Time,a", f"{NOW - 60},1", "2023-11-14T22:13:00Z,2", "2023-11-14 22:13:10,3", f"{NOW * 1e3},4")
    assert rows.times.tolist() == [NOW - 60, NOW - 20, NOW - 10, NOW]


def test_late_rows_and_duplicates_are_left_out():
    reader = RowReader(["a"], fixed=True)
    rows = read(reader, "time,a", f"{NOW - 50},1", f"{NOW - 60},2", f"{NOW - 50},1", f"{NOW - 50},3", f"{NOW},4")
    assert rows.values.ravel().tolist() == [1, 3, 4]
    assert (reader.counts["late"], reader.counts["duplicate"]) == (1, 1)
    assert len(read(reader, f"{NOW},4", fresh=False)) == 0  # also across batches
    assert reader.counts["duplicate"] == 2


def test_a_clock_that_is_set_back_is_followed_after_a_while():
    reader = RowReader(["a"], fixed=True)
    read(reader, "time,a", f"{NOW},1")
    taken = sum(len(read(reader, f"{NOW - 3600 + i},{i}", fresh=False)) for i in range(150))
    assert 45 <= taken <= 55
    assert reader.counts["clock_set_back"] == 1


@pytest.mark.parametrize("size", [1, 7, 99, 100, 101, 2050])
def test_a_clock_that_is_set_back_is_followed_however_rows_come(size):
    times = [NOW + i for i in range(50)] + [NOW - 5000 + i for i in range(250)] + [None] * 3 + [NOW - 9000] * 200
    lines = [json.dumps({"time": time, "a": i} if time else {"a": i}) for i, time in enumerate(times)]
    reader = RowReader(["a"], fixed=True)
    rows = [read(reader, *lines[at : at + size], fresh=False) for at in range(0, len(lines), size)]
    kept = np.concatenate([part.values[:, 0] for part in rows]).astype(int).tolist()
    assert kept == [*range(50), *range(149, 303), *range(402, 503)]
    assert (reader.counts["late"], reader.counts["clock_set_back"]) == (99 + 99, 2)
    wanted = [*times[:50], *times[149:300], *[times[299]] * 3, *[NOW - 9000] * 101]
    assert np.concatenate([part.times for part in rows]).tolist() == wanted


def test_a_time_far_in_the_future_does_not_make_all_others_late():
    reader = RowReader(["a"], fixed=True)
    rows = read(reader, "time,a", "9000-01-01,1", "soon,1", f"{NOW},2")
    assert len(rows) == 3
    assert reader.counts["bad_time"] == 2


@pytest.mark.parametrize("size", [1, 3, 400])
@pytest.mark.parametrize("bad", ["n/a", "", "9000-01-01"])
@pytest.mark.parametrize("at", [0, 1, 150, 298])
def test_a_time_that_cannot_be_read_in_past_rows_costs_no_row(at, bad, size):
    past = NOW - 1e8
    lines = ["time,a", *(f"{bad if i == at else past + i},{i}" for i in range(300))]
    reader = RowReader(["a"], fixed=True)
    rows = [read(reader, *lines[first : first + size], fresh=not first) for first in range(0, len(lines), size)]
    assert np.concatenate([part.values[:, 0] for part in rows]).tolist() == list(range(300))
    times = np.concatenate([part.times for part in rows])
    if at == 0 and size == 1:  # nothing was known yet
        assert times[0] == NOW
    else:
        assert times[at] == past + max(at - 1, 0 if at else 1)
    assert times[at + 1 :].tolist() == [past + i for i in range(at + 1, 300)]
    assert (reader.counts["late"], reader.counts["bad_time"]) == (0, 1)


def test_without_a_readable_time_the_clock_of_the_rows_goes_on_with_ours():
    reader = RowReader(["a"], fixed=True)
    reader.read(Batch(["time,a", f"{NOW - 7200},1"], fresh=True, received=NOW))
    assert reader.read(Batch(["?,2"], received=NOW + 60)).times.tolist() == [NOW - 7140]
    rows = reader.read(Batch(["?,3", f"{NOW - 7135},4", "?,5"], received=NOW + 70))
    assert rows.times.tolist() == [NOW - 7135] * 3  # not later than the next time that can be read
    again = RowReader(["a"], fixed=True)
    again.restore(json.loads(json.dumps(reader.state())))
    later = again.read(Batch(["?,6"], received=NOW + 90_000))  # what passed while nobody read is not known
    assert later.times.tolist() == [NOW - 7135]


def test_rows_without_any_time_have_that_of_their_arrival_also_after_a_restart():
    reader = RowReader(["a"], fixed=True)
    assert reader.read(Batch(["a", "1"], fresh=True, received=NOW)).times.tolist() == [NOW]
    again = RowReader(["a"], fixed=True)
    again.restore(json.loads(json.dumps(reader.state())))
    assert again.read(Batch(["2"], received=NOW + 9)).times.tolist() == [NOW + 9]
    assert again.read(Batch(["3"], received=NOW + 5)).times.tolist() == [NOW + 9]  # our clock was set back


def test_rows_without_a_time_do_not_hide_that_a_clock_was_set_back():
    reader = RowReader(["a"], fixed=True)
    read(reader, "time,a", f"{NOW},0")
    lines = [f"{NOW - 5000 + i if i % 10 else '?'},{i}" for i in range(200)]
    kept = [row for line in lines for row in read(reader, line, fresh=False).values[:, 0].tolist()]
    assert kept[-80:] == list(range(120, 200))
    assert (reader.counts["late"], reader.counts["clock_set_back"]) == (99, 1)


@pytest.mark.parametrize("size", [1, 2, 50])
@pytest.mark.parametrize("second", ["b,time,a", "time,a,b,extra", "time,b,a", "time,b"])
def test_a_second_header_line_names_the_columns_anew(second, size):
    cells = {"a": 2.0, "b": 3.0, "extra": 9.0}
    names = second.split(",")
    after = [",".join(str(NOW + 10 + i if n == "time" else cells[n] + i) for n in names) for i in range(5)]
    lines = ["time,a,b", *(f"{NOW + i},{i},{i + 1}" for i in range(5)), second, *after]
    reader = RowReader(["a", "b"], fixed=True)
    rows = [read(reader, *lines[at : at + size], fresh=not at) for at in range(0, len(lines), size)]
    found = np.vstack([part.values for part in rows])
    wanted = [[i, i + 1] for i in range(5)]
    wanted += [[2.0 + i if "a" in names else np.nan, 3.0 + i] for i in range(5)]
    np.testing.assert_array_equal(found, wanted)
    assert np.concatenate([part.times for part in rows])[5:].tolist() == [NOW + 10 + i for i in range(5)]
    assert (reader.counts["malformed"], reader.counts["text"], reader.counts["bad_time"]) == (0, 0, 0)


def test_a_second_header_is_waited_for_across_a_restart():
    reader = RowReader(["a", "b"], fixed=True)
    read(reader, "a,b", "1,2", "b,a,c")
    again = RowReader(["a", "b"], fixed=True)
    again.restore(json.loads(json.dumps(reader.state())))
    assert read(again, "3,4,5", fresh=False).values.tolist() == [[4.0, 3.0]]


def test_new_columns_of_a_second_header_are_learned_from():
    reader = RowReader()
    rows = read(reader, "a,b", "1,2", "x,y,z", "3,4,5")
    np.testing.assert_array_equal(rows.values[:, :2], [[1, 2], [np.nan, np.nan]])
    assert rows.values[1, 2:].tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    "line", ["error,error", "pump,off", "stopped,stopped by operator,x", "a,b,c", "bad,?", "error,1", "a"]
)
def test_words_between_rows_are_no_header_unless_rows_of_their_width_follow(line):
    reader = RowReader(["a", "b"], fixed=True)
    rows = read(reader, "a,b", "1,2", line, "3,4", "5,6")
    assert rows.values[[0, -2, -1]].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert reader.counts["malformed"] + reader.counts["text"] >= 1
    assert reader.header == ["a", "b"]


def test_equal_names_are_made_distinct_as_in_the_other_commands():
    reader = RowReader(["T", "T.1", "F"], fixed=True)
    assert read(reader, "F,T,T", "1,2,3", "T,T,F", "1,2,3").values.tolist() == [[2, 3, 1], [1, 2, 3]]
    assert reader.counts["unknown_column"] == 0
    reader = RowReader()
    read(reader, "T,T,F", "1,2,3")
    assert reader.columns == ["T", "T.1", "F"]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_rows_with_decimal_commas_and_without_a_header(separator):
    reader = RowReader()
    lines = [separator.join(cells) for cells in (["0,61228", "-0,82017", "1,2"], ["1,5", "NA", "3"])]
    np.testing.assert_array_equal(read(reader, *lines).values, [[0.61228, -0.82017, 1.2], [1.5, np.nan, 3]])
    assert reader.columns == ["column0", "column1", "column2"]


def test_decimal_commas_with_a_time_and_without_a_header():
    reader = RowReader()
    rows = read(reader, "2023-11-14T22:13:00Z;0,5;-0,25", "2023-11-14T22:13:01Z;1,5;2")
    assert rows.values.tolist() == [[0.5, -0.25], [1.5, 2.0]]
    assert rows.times.tolist() == [NOW - 20, NOW - 19]


@pytest.mark.parametrize("lines", [["1;2,3;4,5;6", "7;8,9;1,2;3"], ["a b,c;d,e", "1,2,3"]])
def test_a_line_that_is_clearly_split_at_commas_stays_so(lines):
    reader = RowReader()
    assert read(reader, *lines).values.shape[1] in (3, 4)


@pytest.mark.parametrize("columns", [(), ("a", "b")])
def test_the_only_column_of_times_dates_rows_without_a_header(columns):
    reader = RowReader(columns, fixed=bool(columns))
    rows = read(reader, "0.5,2023-11-14T22:13:00Z,1", "1.5,2023-11-14 22:13:01,2")
    assert rows.values.tolist() == [[0.5, 1], [1.5, 2]]
    assert rows.times.tolist() == [NOW - 20, NOW - 19]
    assert reader.columns == (list(columns) or ["column0", "column2"])
    assert reader.counts["text"] == 0


def test_a_first_row_of_a_time_and_one_number_is_no_header():
    reader = RowReader()
    assert read(reader, "2023-11-14T22:13:00Z,0.5", "2023-11-14T22:13:01Z,1.5").values.tolist() == [[0.5], [1.5]]


def test_dates_may_be_names_of_columns():
    reader = RowReader()
    assert read(reader, "2023-11-14,2023-11-15", "1,2").values.tolist() == [[1, 2]]
    assert reader.columns == ["2023-11-14", "2023-11-15"]


def test_two_columns_of_times_without_a_header_date_nothing():
    reader = RowReader()
    rows = read(reader, "2023-11-14T22:13:00Z,2023-11-14T22:13:05Z,1")
    assert rows.times.tolist() == [NOW]


def test_the_column_that_was_asked_for_is_missed_until_it_comes():
    reader = RowReader(time="when")
    assert not reader.time_missed  # nothing has come at all
    read(reader, "time,a", "1,2")
    assert reader.time_missed
    again = RowReader(time="when")
    again.restore(json.loads(json.dumps(reader.state())))
    assert again.time_missed
    read(again, {"when": NOW, "a": 1.0})
    assert not again.time_missed
    assert not RowReader().time_missed


def test_the_time_column_can_be_corrected_at_a_restart():
    reader = RowReader(time="wen")
    read(reader, "when,a", f"{NOW - 9},2")
    again = RowReader(time="when")
    again.restore(json.loads(json.dumps(reader.state())))
    assert read(again, f"{NOW - 8},3", fresh=False).times.tolist() == [NOW - 8]
    assert not again.time_missed
    wrong = RowReader(time="whn")
    wrong.restore(json.loads(json.dumps(again.state())))
    assert wrong.time_missed


def test_reading_goes_on_where_it_was_saved():
    reader = RowReader()
    read(reader, "time,b,a", f"{NOW - 5},1,2")
    reader.fix(["a", "b"])
    again = RowReader()
    again.restore(json.loads(json.dumps(reader.state())))
    assert read(again, f"{NOW - 5},1,2", f"{NOW - 4},3,4", fresh=False).values.tolist() == [[4.0, 3.0]]
    assert again.counts["duplicate"] == 1


def test_a_state_of_an_earlier_version_is_read():
    reader = RowReader(["a"], fixed=True)
    read(reader, "time,a", f"{NOW - 5},1")
    state = json.loads(json.dumps(reader.state()))
    for part, key in ((state, "pending"), (state, "time_came"), (state["clock"], "shown")):
        del part[key]
    again = RowReader(["a"], fixed=True)
    again.restore(state)
    assert read(again, "?,2", f"{NOW - 4},3", fresh=False).times.tolist() == [NOW - 4] * 2
    assert read(again, f"{NOW - 6},4", fresh=False).times.tolist() == []


def test_there_is_a_largest_number_of_columns():
    reader = RowReader()
    read(reader, {f"c{i}": 1.0 for i in range(MAX_COLUMNS + 50)})
    assert len(reader.columns) == MAX_COLUMNS
    assert reader.counts["unknown_column"] == 50
    assert len(read(reader, {f"d{i}": 1.0 for i in range(4 * MAX_COLUMNS)})) == 0
    assert reader.counts["malformed"] == 1


@pytest.mark.parametrize("header", [True, False])
def test_the_first_columns_of_a_text_that_has_too_many_are_taken(header):
    width = MAX_COLUMNS + 50
    names = [",".join(f"c{i}" for i in range(width))] if header else []
    reader = RowReader()
    rows = read(reader, *names, *(",".join(str(i + row) for i in range(width)) for row in range(3)))
    assert rows.values.tolist() == [[float(i + row) for i in range(MAX_COLUMNS)] for row in range(3)]
    assert reader.counts["malformed"] == 0
    assert reader.counts["unknown_column"] == 50


def test_a_model_of_many_columns_finds_all_of_them():
    names = [f"c{i}" for i in range(2 * MAX_COLUMNS)]
    reader = RowReader(names, fixed=True)
    rows = read(reader, ",".join(["time", *names]), ",".join(["2024-05-31T12:30:00Z", *map(str, range(len(names)))]))
    assert rows.values.tolist() == [[float(i) for i in range(len(names))]]


junk = st.one_of(
    st.text(max_size=40),
    st.text(alphabet='{}[],:"0123456789eE+-.nul \\ud8\n\t;', max_size=40),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        max_leaves=8,
    ).map(json.dumps),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.floats() | st.none(), max_size=4),
)


@settings(max_examples=200)
@given(st.lists(junk, max_size=30), st.booleans())
def test_whatever_comes_rows_are_finite_or_nan_and_times_do_not_fall(found, fixed):
    reader = RowReader(["a", "b"] if fixed else [], fixed=fixed)
    rows = [read(reader, *found, fresh=False), read(reader, "1,2", fresh=False)]
    times = np.concatenate([part.times for part in rows])
    assert (np.diff(times) >= 0).all() or reader.counts["clock_set_back"]
    for part in rows:
        assert not np.isinf(part.values).any()
        assert part.values.shape == (len(part.times), part.values.shape[1])
    json.dumps(reader.state())


def test_ten_thousand_malformed_lines_are_counted():
    rng = np.random.default_rng(0)
    bad = [
        bytes(rng.integers(1, 256, 30, dtype=np.uint8)).replace(b"\n", b" ").decode("latin-1") for _ in range(10_000)
    ]
    bad = ["{" + line for line in bad]
    reader = RowReader(["a", "b"], fixed=True)
    rows = read(reader, "a,b", *bad, "1,2")
    assert rows.values.tolist() == [[1.0, 2.0]]
    assert reader.counts["malformed"] == 10_000


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a": ' + "9" * 5000 + "}", "1" * (MAX_LINE + 1)])
def test_hostile_lines_are_malformed_or_text(line):
    reader = RowReader(["a", "b"], fixed=True)
    rows = read(reader, "a,b", line)
    assert np.isnan(rows.values).all()
    assert reader.counts["malformed"] + reader.counts["text"] + reader.counts["missing"] >= 1


@given(st.lists(st.text(alphabet="abc,1\r ", max_size=10), max_size=10), st.lists(st.integers(1, 30), max_size=6))
def test_lines_are_the_same_in_any_pieces(wanted, cuts):
    text = "".join(line + "\n" for line in wanted).encode()
    lines, found = Lines(), []
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for first, last in pairwise(edges):
        found += lines.add(text[first:last])
    assert found == (text.decode().split("\n")[:-1])
    assert lines.last() == []


def test_a_line_that_is_too_long_is_left_out_and_the_next_one_is_read():
    lines = Lines()
    found = []
    for _ in range(3):
        found += lines.add(b"x" * (MAX_LINE // 2 + 10))
    found += lines.add(b"x\n1,2\n")
    assert found == ["1,2"]
    assert lines.counted() == {"malformed": 1}


def test_true_and_false_are_numbers_as_in_the_other_commands():
    reader = RowReader(["on", "a"], fixed=True)
    rows = read(reader, "on,a", "True,1", " false ,2", "TRUE,3", '{"on": true, "a": 4}')
    assert rows.values.tolist() == [[1, 1], [0, 2], [1, 3], [1, 4]]
    assert reader.counts["text"] == reader.counts["missing"] == 0


def test_a_first_line_of_true_and_false_holds_no_names():
    assert read(RowReader(), "true,false", "false,true").values.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "items",
    [
        ("Date;Time;a", "2023-05-31;12:30:00;1", "2023-05-31;12:30:01;1"),
        ("time,a,date", "12:30:00,1,2023-05-31", "12:30:01,1,2023-05-31"),
        ('{"date": "2023-05-31", "time": "12:30:00", "a": 1}', '{"a": 1, "time": "12:30:01", "date": "2023-05-31"}'),
    ],
)
def test_a_date_and_a_time_of_day_in_two_columns_are_one_time(items):
    reader, later = RowReader(), RowReader()
    rows = read(reader, *items[:-1])
    later.restore(json.loads(json.dumps(reader.state())))
    times = [*rows.times, *read(later, items[-1], fresh=False).times]
    assert times == [1685536200.0, 1685536201.0]  # the second row is no copy of the first, which has the same value
    assert reader.columns == later.columns == ["a"]
    assert not later.counts["duplicate"]


@pytest.mark.parametrize(
    ("items", "time"),
    [
        (("date,time,a", "2023-05-31,0.5,1"), 1685491200.0),  # the time since a start
        (("time,date,a", "2023-05-31T12:30:00,2023-05-31,1"), 1685536200.0),
        (("date,time,a", "2023-05-31,,1"), 1685491200.0),
    ],
)
def test_columns_called_date_and_time_that_are_no_halves(items, time):
    assert read(RowReader(), *items).times.tolist() == [time]


def test_a_column_of_the_model_called_time_is_a_column():
    reader = RowReader(["time", "a"], fixed=True)
    rows = read(reader, "date,time,a", "2023-05-31,3,1")
    assert rows.values.tolist() == [[3, 1]]
    assert rows.times.tolist() == [1685491200.0]


@pytest.mark.parametrize("first", ["sep=;", "\ufeffSEP=;", '"sep=;"'])
def test_a_line_that_names_the_separator_for_spreadsheets_is_skipped(first):
    reader = RowReader(["b", "a"], fixed=True)
    assert read(reader, first, "a;b", "1,5;2", "3;4").values.tolist() == [[2, 1.5], [4, 3]]
    assert not reader.unknown
    assert not reader.counts["malformed"]


def test_where_commas_mark_decimals_points_separate_thousands():
    reader = RowReader(["a", "b"], fixed=True)
    rows = read(reader, "a;b", "12,5;999,5", "12,6;1.001", "1.002;3", "12,7;-1.000,5", "12;0.5")
    expected = [[12.5, 999.5], [12.6, np.nan], [np.nan, 3], [12.7, np.nan], [12, 0.5]]
    np.testing.assert_array_equal(rows.values, expected)
    assert reader.counts["text"] == 3
    later = RowReader(["a", "b"], fixed=True)
    later.restore(json.loads(json.dumps(reader.state())))
    np.testing.assert_array_equal(read(later, "1.003;4", fresh=False).values, [[np.nan, 4]])
    assert read(later, "a;b", "1.004;4").values.tolist() == [[1.004, 4]]  # another text, without commas
