"""`mercer monitor` as a user types it: what it writes, shows and refuses."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import mercer
from commands import failure, run
from mercer.cli.episodes import Episodes
from mercer.cli.timed import timed, times_of
from mercer.io.readers import DataFileError, Table
from mercer.io.writers import Labelled, write

RNG = np.random.default_rng(0)
START = datetime(2024, 5, 1)
NAMES = ["machine", "when", "a", "b", "c"]


def process(n):
    x, rows = np.zeros(3), np.empty((n, 3))
    for t in range(n):
        x = 0.6 * x + RNG.normal(size=3)
        rows[t] = x
    return rows


ROWS = process(460)
ROWS[420:440, 1] += 9.0
WHEN = [str(START + timedelta(minutes=i)) for i in range(len(ROWS))]


def write_rows(path, rows, first, when=WHEN):
    machines = np.array([f"m{i}" for i in range(first, first + len(rows))])
    write(path, [Labelled((machines, np.array(when[first : first + len(rows)])), rows)], NAMES)
    return path


@pytest.fixture
def files(tmp_path):
    return write_rows(tmp_path / "normal.csv", ROWS[:300], 0), write_rows(tmp_path / "new.csv", ROWS[300:], 300)


@pytest.fixture
def monitor():
    frames = [pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (ROWS[:300], ROWS[300:])]
    for frame, when in zip(frames, (WHEN[:300], WHEN[300:]), strict=True):
        frame.index = pd.DatetimeIndex(when)
    return mercer.ProcessMonitor(alpha=0.02).fit(frames[0]), frames[1]


def test_verdicts_are_those_of_the_monitor_and_carry_ids_and_times(tmp_path, files, monitor):
    out = tmp_path / "alarms.csv"
    result = run("monitor", *files, "--alpha", 0.02, "-o", out, "--id", "machine", "--time", "when")
    table = pd.read_csv(out, keep_default_na=False)
    verdicts = monitor[0].verdicts(monitor[1])
    assert list(table) == ["machine", "when", "alarm", "which", "t2", "spe", "p"]
    assert table["machine"].tolist() == [f"m{i}" for i in range(300, 460)]
    assert table["when"].tolist() == WHEN[300:]
    np.testing.assert_array_equal(table["p"], verdicts.p)
    np.testing.assert_array_equal(table["t2"], verdicts.t2)
    np.testing.assert_array_equal(table["alarm"], verdicts.alarm)
    assert table["which"].tolist() == verdicts.which.tolist()
    assert f"{verdicts.alarm.sum()} of 160 rows raise an alarm at 0.02" in result.stderr
    assert f"begins {len(verdicts.episodes())} times" in result.stderr or "begins once" in result.stderr


@pytest.mark.parametrize("stuck", [0, 1, 2])
def test_of_a_frozen_sensor_that_sensor_is_shown(tmp_path, stuck):
    rows = np.random.default_rng(1).normal(size=(340, 3))
    rows[310:, stuck] = rows[310, stuck]
    for name, some in [("normal.csv", rows[:300]), ("new.csv", rows[300:])]:
        pd.DataFrame(some, columns=["T, inlet", "T", "flow; l/s"]).to_csv(tmp_path / name, index=False)
    result = run("monitor", tmp_path / "normal.csv", tmp_path / "new.csv")
    cells = [line.split("│")[-3:-1] for line in result.stdout.splitlines() if "frozen" in line]
    assert [[cell.strip() for cell in line] for line in cells] == [
        [f"frozen: {('T, inlet', 'T', 'flow; l/s')[stuck]}", ("T, inlet", "T", "flow; l/s")[stuck]]
    ]


def test_the_alarm_is_shown_with_its_rows_and_its_variable(files):
    result = run("monitor", *files, "--smoothing", 1)
    assert "not numbers: machine, when." in result.stderr
    shown = next(line for line in result.stdout.splitlines() if line.startswith("│"))  # the most unusual alarm
    cells = [cell.strip() for cell in shown.split("│")[1:-1]]
    assert cells[0] == "120"
    assert int(cells[1]) >= 139
    assert "level: b; relation: b" in cells
    assert cells[-1] == "b"
    assert "rows counted from 0" in result.stdout


def test_a_picture_is_drawn(tmp_path, files):
    run("monitor", *files, "--plot", tmp_path / "chart.png", "--time", "when")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_a_gap_in_time_restarts_lags(tmp_path, files):
    later = [str(datetime.fromisoformat(when) + timedelta(days=i >= 330)) for i, when in enumerate(WHEN)]
    new = write_rows(tmp_path / "late.csv", ROWS[300:360], 300, later)
    given = ("monitor", files[0], new, "--lags", 2, "--time", "when", "-o", tmp_path / "v.csv")
    run(*given)
    assert np.flatnonzero(pd.read_csv(tmp_path / "v.csv")["t2"].isna()).tolist() == [0, 1, 30, 31]


def test_a_saved_monitor_goes_on_where_it_was(tmp_path, files):
    whole, parts = tmp_path / "whole.csv", [tmp_path / "1.csv", tmp_path / "2.csv"]
    saved = tmp_path / "m.mercer"
    run("monitor", *files, "-o", whole, "--time", "when", "--exclude", "c")
    halves = [write_rows(tmp_path / f"half{i}.csv", ROWS[a : a + 80], a) for i, a in enumerate((300, 380))]
    assert "300 normal rows of 2 variables" in run("monitor", files[0], "--save", saved, "--exclude", "c").stderr
    for half, part in zip(halves, parts, strict=True):
        run("monitor", half, "--monitor", saved, "--save", saved, "--time", "when", "-o", part)
    assert parts[0].read_text() + "".join(parts[1].read_text().splitlines(True)[1:]) == whole.read_text()
    assert "reset" in failure("monitor", halves[0], "--monitor", saved, "--time", "when")
    run("monitor", halves[0], "--monitor", saved, "--time", "when", "--reset", "-o", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == parts[0].read_text()
    assert "normal rows of 2 variables" in " ".join(run("info", saved).stdout.split())


def test_options_reach_the_monitor(tmp_path, files):
    saved = tmp_path / "m"
    run(
        "monitor", files[0], "--save", saved, "--lags", "auto", "--smoothing", 0.5, "--persist", "2,3", "--confidence",
        0.8, "--statistic", "spe", "--false-alarms-per", "1D,2", "--time", "when", "--set", "gap=7", "--rows", 200,
        "--scale", "soft", "--seed", 3,
    )  # fmt: skip
    found = mercer.load(saved).get_params()
    expected = {
        "lags": "auto", "smoothing": 0.5, "persist": (2, 3), "confidence": 0.8, "statistic": "spe", "alpha": None,
        "false_alarms_per": ("1D", 2), "gap": 7, "standardize": "soft", "random_state": 3,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert mercer.load(saved).n_samples_seen_ == 200
    run("monitor", files[0], "--save", saved, "--set", "arl0=500")
    assert mercer.load(saved).alpha_ == 1 / 500


def test_missing_cells(tmp_path, files):
    text = files[1].read_text().splitlines()
    text[5] = ",".join([*text[5].split(",")[:-1], ""])
    (tmp_path / "gaps.csv").write_text("\n".join(text) + "\n")
    stopped = failure("monitor", files[0], tmp_path / "gaps.csv", "--id", "machine,when", "--missing", "error")
    assert "--missing drop" in stopped
    out = tmp_path / "v.csv"
    told = run("monitor", files[0], tmp_path / "gaps.csv", "--missing", "drop", "-o", out).stderr
    assert "Dropped 1 of 160 rows" in told
    assert pd.read_csv(out)["row"].tolist() == [*range(4), *range(5, 160)]
    run("monitor", files[0], tmp_path / "gaps.csv", "--missing", "mean", "-o", out, "--smoothing", 1)
    known = mercer.ProcessMonitor(smoothing=1).fit(ROWS[:300])
    rows = ROWS[300:].copy()
    rows[4, 2] = ROWS[:300, 2].mean()
    np.testing.assert_allclose(pd.read_csv(out)["p"], known.p_values(rows))


def write_with_gaps(path, rows, first):
    """Write rows whose NaN are empty cells."""
    write_rows(path, rows, first)
    path.write_text(path.read_text().replace("nan", ""))
    return path


def test_rows_with_missing_cells_are_judged_by_the_others(tmp_path):
    normal, new = ROWS[:300].copy(), ROWS[300:].copy()
    normal[[10, 50], 0] = np.nan
    new[3, 2] = new[70:90, 0] = np.nan
    files = write_with_gaps(tmp_path / "normal.csv", normal, 0), write_with_gaps(tmp_path / "new.csv", new, 300)
    out = tmp_path / "v.csv"
    told = run("monitor", *files, "-o", out, "--id", "machine,when").stderr
    assert "2 of 300 training rows hold NaN (a: 2)" in told
    assert "21 rows have missing cells" in told
    table = pd.read_csv(out, keep_default_na=False)
    with pytest.warns(UserWarning, match="hold NaN"):
        verdicts = mercer.ProcessMonitor().fit(normal).verdicts(new)
    np.testing.assert_array_equal(table["p"], verdicts.p)
    assert table["which"].tolist()[80] == "missing: a"
    saved = tmp_path / "m.mercer"
    run("monitor", files[0], "--save", saved, "--exclude", "machine,when")
    run("monitor", files[1], "--monitor", saved, "-o", out, "--missing", "keep")
    np.testing.assert_array_equal(pd.read_csv(out)["p"], verdicts.p)


def test_what_is_wrong_is_said_before_the_work_starts(tmp_path, files):
    (tmp_path / "other.csv").write_text("machine,when,a,b\nm,2024-05-01,1,2\n")
    assert "no column 'c'" in failure("monitor", files[0], tmp_path / "other.csv", "--exclude", "machine,when")
    assert "needs two files" in failure("monitor", files[0])
    assert "needs two files" in failure("monitor", files[0], "--save", tmp_path / "m", "-o", tmp_path / "v.csv")
    assert "one file" in failure("monitor", *files, "--monitor", tmp_path / "m")
    assert "no parameter 'gapp'" in failure("monitor", *files, "--set", "gapp=3")
    assert "texts" in failure("monitor", *files, "-o", tmp_path / "v.npy")
    assert "does not exist" in failure("monitor", *files, "--plot", tmp_path / "no" / "chart.png")
    assert "give one of them" in failure(
        "monitor", *files, "--alpha", 0.1, "--set", "arl0=50", "--exclude", "machine,when"
    )
    run("fit", files[0], "-o", tmp_path / "model", "--components", 2)
    assert "not a monitor" in failure("monitor", files[1], "--monitor", tmp_path / "model")
    run("monitor", files[0], "--save", tmp_path / "m")
    assert "mercer monitor NEW --monitor" in failure("transform", tmp_path / "m", files[1])


def test_times_are_read_or_refused(tmp_path, files):
    bad = write_rows(tmp_path / "bad.csv", ROWS[300:310], 0, ["01/02/2024"] * 10)
    assert "Row 0 (counted from 0) has the time '01/02/2024'" in failure(
        "monitor", files[0], bad, "--time", "when", "--id", "machine"
    )
    cells = np.array([["x", "2024-05-31", "12:30:00+02:00"], ["y", "2024-05-31", "12:31+02:00"]], object)
    table = Table(np.zeros((2, 1)), None, cells, ("id", "day", "hour"), rows=np.arange(2))
    expected = [datetime(2024, 5, 31, 10, 30, tzinfo=UTC), datetime(2024, 5, 31, 10, 31, tzinfo=UTC)]
    assert times_of(table, 2).astype("datetime64[s]").astype(int).tolist() == [one.timestamp() for one in expected]
    assert times_of(table, 0) is None
    with pytest.raises(DataFileError, match="column 'hour'"):
        times_of(table, 1)


def test_rows_come_from_standard_input(tmp_path, files):
    piped = run("monitor", files[0], "-", "-o", "-", stdin=files[1].read_bytes())
    run("monitor", *files, "-o", tmp_path / "v.csv")
    assert piped.stdout == (tmp_path / "v.csv").read_text()


@pytest.mark.parametrize("size", [1, 7, 160])
def test_episodes_do_not_depend_on_chunks(monitor, size):
    model, frame = monitor
    whole = model.verdicts(frame)
    found = Episodes(model.reset(), 50)
    for first in range(0, 160, size):
        part = frame.iloc[first : first + size]
        table = Table(part.to_numpy(), rows=np.arange(first, first + len(part)))
        found.noting(table, part.index.values, [str(row) for row in table.rows], model.judge(part))
    shown = sorted(found.most_unusual(), key=lambda one: int(one.first))
    times = list(frame.index.values)
    expected = [(str(times.index(a)), str(times.index(b))) for a, b in whole.episodes()]
    assert [(one.first, one.last) for one in shown] == expected
    assert (found.count, found.alarms, found.seen) == (len(expected), whole.alarm.sum(), 160)
    for one in shown:
        part = slice(int(one.first), int(one.last) + 1)
        peak = part.start + int(np.argmin(whole.p[part]))
        assert one.p == whole.p[peak]
        np.testing.assert_array_equal(np.asarray(one.window)[-1], frame.to_numpy()[peak])
        np.testing.assert_array_equal(one.window.index.values[-1], frame.index.values[peak])
    kept = Episodes(model, 1)
    kept.noting(Table(frame.to_numpy(), rows=np.arange(160)), None, [str(i) for i in range(160)], whole)
    assert len(kept.most_unusual()) == 1
    assert kept.most_unusual()[0].p == whole.p.min()


def test_timed_rows_need_no_pandas():
    rows = timed(ROWS[:50], np.array(WHEN[:50], "datetime64[ns]"))
    assert mercer.ProcessMonitor().fit(rows)._step == 60e9
    assert timed(ROWS, None) is ROWS


def test_a_file_that_a_saved_monitor_has_judged_already_needs_a_new_stream(tmp_path, files):
    saved = tmp_path / "m"
    run("monitor", *files, "--time", "when", "--save", saved)
    told = failure("monitor", files[1], "--monitor", saved, "--time", "when")
    assert f"has the time {WHEN[300]}, which is older" in told
    assert "--reset" in told
    assert "of 160 rows" in run("monitor", files[1], "--monitor", saved, "--time", "when", "--reset").stderr


def test_times_are_in_order_also_where_a_part_of_the_file_begins(tmp_path, files, monkeypatch):
    monkeypatch.setattr("mercer.cli.source.CHUNK_ROWS", 80)
    new = write_rows(tmp_path / "twice.csv", ROWS[300:460], 300, [*WHEN[:380], *WHEN[300:380]])
    told = failure("monitor", files[0], new, "--time", "when", "--id", "machine")
    assert f"Row 80 (counted from 0) has the time {WHEN[300]}, but the row before it has {WHEN[379]}." in told
