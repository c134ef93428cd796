"""What is said about rows that are lost, and about times that cannot be what the user meant."""

import gzip
import json

import numpy as np
import pytest

from commands import failure
from mercer import ProcessMonitor
from mercer.watch.monitor import Monitor
from mercer.watch.run import Place, run
from mercer.watch.settings import Settings
from mercer.watch.sources.file import FileSource
from mercer.watch.sources.standard_input import StandardInput
from mercer.watch.store import Store
from watch_parts import NAMES, csv_text, plant

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
ROWS = plant(300)
HEADLESS = Place(headless=True)


def told(tmp_path, text, **settings):
    """Run without a page over a text; return the exit code and what was said."""
    path, said = tmp_path / "rows.csv", []
    path.write_text(text)
    given = Settings(**{"learn": 60, "durable": False, **settings})
    return run(FileSource(path, follow=False), given, HEADLESS, said.append), said


def warning(tmp_path, text, **settings):
    """Return the warning of the page after all rows of a text."""
    path = tmp_path / "rows.csv"
    path.write_text(text)
    monitor = Monitor(FileSource(path, follow=False), Store(tmp_path / "state"), Settings(**{"learn": 60, **settings}))
    monitor.start()
    monitor.join()
    found = monitor.status()["warning"]
    monitor.close()
    return found


def dated(form):
    """Rows whose times are given by a function of their number."""
    lines = [",".join([str(form(i)), *(f"{value:.6f}" for value in row)]) for i, row in enumerate(ROWS)]
    return "\n".join([",".join(["when", *NAMES]), *lines]) + "\n"


def test_nothing_is_added_where_nothing_is_lost(tmp_path):
    code, said = told(tmp_path, csv_text(ROWS))
    assert code == 0
    assert len(said) == 1
    assert said[0].endswith("alarms so far.")


def test_the_newest_row_first_is_told_with_advice(tmp_path):
    lines = csv_text(ROWS).splitlines()
    text = "\n".join([lines[0], *reversed(lines[1:])])
    _, said = told(tmp_path, text, learn=20)
    assert any("297 rows late" in line for line in said)
    advice = [line for line in said if "oldest first" in line]
    assert len(advice) == 1
    assert "oldest first" in warning(tmp_path, text, learn=20)


def test_all_that_was_left_out_is_counted_in_the_last_line(tmp_path):
    lines = csv_text(ROWS).splitlines()
    lines[0] += ",shift"
    lines[1:] = [f"{line},7" for line in lines[1:]]
    lines[100] = lines[100].replace(lines[100].split(",")[2], "broken")
    lines[120], lines[121] = lines[121], lines[120]
    lines[150] = "1,2"
    lines[200] = ",".join(["n/a", *lines[200].split(",")[1:]])
    model = ProcessMonitor(alpha=0.02).fit(ROWS)
    model.feature_names_in_ = np.array(NAMES, object)
    model.save(tmp_path / "model.mercer")
    code, said = told(tmp_path, "\n".join(lines), model=tmp_path / "model.mercer")
    assert code == 0
    assert len(said) == 1
    for part in ("1 row late", "1 line malformed", "1 time unreadable", "1 cell with text", "1 unknown column"):
        assert part in said[-1], said
    assert "298 rows judged" in said[-1]


def test_dates_that_are_not_understood_are_told(tmp_path):
    text = dated(lambda i: f"31.05.2024 12:{i // 60:02}:{i % 60:02}")
    code, said = told(tmp_path, text, time="when")
    assert code == 0
    assert any("'when'" in line and "31.05.2024" in line and "2024-05-31T12:30:00" in line for line in said)
    assert "300 times unreadable" in said[-1]
    assert "31.05.2024" in warning(tmp_path, text, time="when")


def test_lines_of_another_width_are_told(tmp_path):
    lines = csv_text(ROWS).splitlines()
    text = "\n".join([*lines[:100], *(f"{line},1" for line in lines[100:])])
    _, said = told(tmp_path, text)
    assert "201 lines malformed" in said[-1]
    assert any(line.startswith("Warning") and "header" in line for line in said[:-1])


def test_a_time_column_that_never_comes_is_told(tmp_path):
    code, said = told(tmp_path, csv_text(ROWS), time="nocol")
    assert code == 0
    assert any("--time" in line and "'nocol'" in line and "flow" in line for line in said)
    assert "'nocol'" in warning(tmp_path, csv_text(ROWS), time="nocol")


@pytest.mark.parametrize("form", [lambda i: 20240501 + i // 20, lambda i: 45414.39 + i / 86_400])
def test_numbers_that_are_no_unix_time_are_told(tmp_path, form):
    code, said = told(tmp_path, dated(form), time="when")
    assert code == 0
    assert any("'when'" in line and "1970" in line and "2024-05-31T12:30:00" in line for line in said)
    assert "1970" in warning(tmp_path, dated(form), time="when")


def test_times_of_today_are_no_reason_to_warn(tmp_path):
    assert warning(tmp_path, csv_text(ROWS)) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(csv_text(ROWS).encode()), "compressed"),
        (csv_text(ROWS).encode("utf-16"), "UTF-16"),
        (csv_text(ROWS).encode("utf-16-le"), "UTF-8"),
        (csv_text(ROWS).replace("\r\n", "\n").replace("\n", "\r").encode(), "carriage returns"),
    ],
)
def test_what_is_no_text_in_utf_8_is_refused_with_the_reason(tmp_path, data, reason):
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    assert reason in failure("watch", str(path), "--headless")
    said = []
    with path.open("rb") as file:
        assert run(StandardInput(file.fileno()), Settings(learn=60, durable=False), HEADLESS, said.append) == 1
    assert reason in said[-1]


def test_a_row_of_past_data_without_a_time_hides_no_alarm(tmp_path):
    rows = plant(300, faults=((200, 230),))
    lines = csv_text(rows).splitlines()
    lines[198] = ",".join(["n/a", *lines[198].split(",")[1:]])
    found = []
    for text in (csv_text(rows), "\n".join(lines)):
        out = tmp_path / f"{len(found)}.jsonl"
        (tmp_path / "rows.csv").write_text(text)
        settings = Settings(learn=60, alpha=0.02, durable=False)
        place = Place(headless=True, alarms=out)
        assert run(FileSource(tmp_path / "rows.csv", follow=False), settings, place, print) == 0
        found.append([json.loads(line)["kind"] for line in out.read_text().splitlines()])
    assert found[0] == found[1]
    assert found[0]


def test_a_file_with_fewer_rows_than_are_learned_from(tmp_path):
    code, said = told(tmp_path, csv_text(ROWS[:50]))
    assert code == 1
    assert "50 of 60 rows to learn from have come. With a smaller number for --learn the others are judged." in said[-1]
    code, said = told(tmp_path, csv_text(ROWS[:10]))
    assert code == 1
    assert said[-1].endswith("10 of 60 rows to learn from have come.")
