"""Growing files: partial lines, rotation and truncation, now and while nobody looked."""

import os
import threading

import pytest

from mercer.io.readers import read
from mercer.watch.rows import RowReader
from mercer.watch.sources.file import FileSource
from mercer.watch.sources.resolve import source_of
from watch_parts import csv_text, plant

ROWS = plant(60)


class _Gate(threading.Event):
    """Stands for the event that stops a source: instead of waiting for rows, it waits for the next step of a test."""

    def __init__(self):
        super().__init__()
        self.idle, self.go = threading.Semaphore(0), threading.Semaphore(0)
        self._waits = 0

    def wait(self, timeout=None):
        self._waits += 1
        if self._waits % 3 == 0:  # a few looks at the file make a step
            self.idle.release()
            self.go.acquire()
        return self.is_set()


class Reading:
    """Reads a file step by step: each step takes what is there."""

    def __init__(self, path, position=None):
        self.source, self._gate = FileSource(path, follow=True), _Gate()
        self.position, self.counts, self._found = position, {}, []
        threading.Thread(target=self._run, args=(position,), daemon=True).start()
        self._begun = False

    def _run(self, position):
        for batch in self.source.batches(position, self._gate):
            self._found += [line for line in batch.items if line]
            self.position = batch.position or self.position
            for key, value in batch.counts.items():
                self.counts[key] = self.counts.get(key, 0) + value

    def step(self):
        if self._begun:
            self._gate.go.release()
        self._begun = True
        assert self._gate.idle.acquire(timeout=30)
        found, self._found = self._found, []
        return found


def lines(text):
    return text.splitlines()


def test_lines_come_once_they_are_complete(tmp_path):
    path = tmp_path / "x.csv"
    text = csv_text(ROWS)
    path.write_text(text[:100])
    reading = Reading(path)
    found = reading.step()
    with path.open("a") as file:
        file.write(text[100:333])
    found += reading.step()
    with path.open("a") as file:
        file.write(text[333:])
    assert found + reading.step() == lines(text)
    assert reading.step() == []


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path):
    reading = Reading(tmp_path / "later.csv")
    assert reading.step() == []
    (tmp_path / "later.csv").write_text("a,b\n1,2\n")
    assert reading.step() == ["a,b", "1,2"]


@pytest.mark.parametrize("restarted", [False, True])
def test_rotation_loses_nothing(tmp_path, restarted):
    path = tmp_path / "x.csv"
    path.write_text(csv_text(ROWS[:20]))
    reading = Reading(path)
    found = reading.step()
    if restarted:
        reading.source.close()
    with path.open("a") as file:
        file.write(csv_text(ROWS[20:30], 20, header=False) + "no end")
    os.rename(path, tmp_path / "x.csv.1")
    path.write_text(csv_text(ROWS[30:], 30))
    if restarted:
        reading = Reading(path, reading.position)
    found += reading.step() + reading.step()
    assert found == [*lines(csv_text(ROWS[:30])), "no end", *lines(csv_text(ROWS[30:], 30))]
    assert reading.counts == {"rotated": 1}


@pytest.mark.parametrize("shifting", [False, True])
def test_several_rotations_while_nobody_looked_lose_nothing(tmp_path, shifting):
    """Names that count up (x.csv.1, x.csv.2), and names that are shifted (x.csv.1 becomes x.csv.2)."""
    path = tmp_path / "x.csv"
    path.write_text(csv_text(ROWS[:10]))
    reading = Reading(path)
    found = reading.step()
    reading.source.close()
    for turn in range(1, 5):
        if shifting:
            for number in range(turn - 1, 0, -1):
                os.rename(tmp_path / f"x.csv.{number}", tmp_path / f"x.csv.{number + 1}")
        os.rename(path, tmp_path / (f"x.csv.{1 if shifting else turn}"))
        path.write_text(csv_text(ROWS[10 * turn : 10 * turn + 10], 10 * turn))
    for turn in range(5):  # clocks of file systems are coarse
        name = f"x.csv.{4 - turn if shifting else turn + 1}" if turn < 4 else "x.csv"
        os.utime(tmp_path / name, (1e9 + turn, 1e9 + turn))
    (tmp_path / "x.csv.0.gz").write_bytes(b"junk")
    reading = Reading(path, reading.position)
    for _ in range(6):
        found += reading.step()
    assert [line for line in found if not line.startswith("time")] == lines(csv_text(ROWS[:50], header=False))
    assert reading.counts == {"rotated": 4}


@pytest.mark.parametrize("longer", [False, True])
def test_truncation_begins_anew(tmp_path, longer):
    path = tmp_path / "x.csv"
    path.write_text(csv_text(ROWS[:20]))
    reading = Reading(path)
    found = reading.step()
    new = csv_text(ROWS[20 : 60 if longer else 25], 20, header=False)
    path.write_text(new)  # the same file: its number in the file system stays
    found += reading.step() + reading.step()
    assert found == lines(csv_text(ROWS[:20])) + lines(new)
    assert reading.counts == {"truncated": 1}


def test_reading_goes_on_at_the_saved_place(tmp_path):
    path = tmp_path / "x.csv"
    text = csv_text(ROWS)
    path.write_text(text[:500])
    reading = Reading(path)
    found = reading.step()
    reading.source.close()
    path.open("a").write(text[500:])
    assert found + Reading(path, reading.position).step() == lines(text)


def test_a_position_in_a_file_that_is_gone_is_counted(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    reading = Reading(path)
    reading.step()
    path.unlink()
    (tmp_path / "other").write_text("keeps the number of the old file")
    path.write_text("a\n2\n")
    again = Reading(path, {**reading.position, "start": "0" * 64})
    assert again.step() == ["a", "2"]
    assert again.counts == {"lost_position": 1}


def test_without_follow_the_last_line_needs_no_end(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4")
    found = [
        line for batch in FileSource(tmp_path / "x.csv", False).batches(None, threading.Event()) for line in batch.items
    ]
    assert found == ["a,b", "1,2", "3,4"]


def test_what_a_user_may_write(tmp_path):
    assert source_of("-").name == "standard input"
    assert source_of("redis://u:secret@h:1/0?stream=s").name == "redis://h:1/0?stream=s"
    assert source_of("mqtt://u:secret@h/plant/+/values").name == "mqtt://h/plant/+/values"
    assert source_of("mqtt://h/plant/#").name == "mqtt://h/plant/#"
    for wrong in (None, "ftp://h/x", "redis://h/0", "mqtt://h/", str(tmp_path / "absent.csv")):
        with pytest.raises((ValueError, FileNotFoundError)):
            source_of(wrong)


WIDE = ",".join(f"a long name of column {i}" for i in range(100)) + "\n"  # longer than what tells files apart


def wide_rows(first, count):
    return "".join(",".join([str(row)] * 100) + "\n" for row in range(first, first + count))


def test_a_text_that_begins_anew_with_the_same_long_names_is_read_from_its_start(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(WIDE + wide_rows(0, 3))
    reading = Reading(path)
    assert len(reading.step()) == 4
    path.write_text(WIDE + wide_rows(10, 9))
    assert reading.step() == lines(WIDE + wide_rows(10, 9))
    assert reading.counts == {"truncated": 1}


def test_so_is_one_that_began_anew_while_nobody_looked(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(WIDE + wide_rows(0, 3))
    first = Reading(path)
    first.step()
    path.write_text(WIDE + wide_rows(10, 9))
    again = Reading(path, first.position)
    assert again.step() == lines(WIDE + wide_rows(10, 9))
    assert again.counts == {"lost_position": 1}


def test_a_position_of_an_earlier_version_has_no_checksum_of_the_last_bytes(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(WIDE + wide_rows(0, 3))
    first = Reading(path)
    first.step()
    del first.position["end"]
    with path.open("a") as file:
        file.write(wide_rows(3, 2))
    assert Reading(path, first.position).step() == lines(wide_rows(3, 2))


def test_a_new_file_that_may_not_be_read_yet_is_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    source, stop, refused = FileSource(path, follow=True), threading.Event(), [3]

    def opened(name, mode):
        if refused[0] and name == path:
            refused[0] -= 1
            raise PermissionError(13, "Permission denied", str(name))
        return open(name, mode)

    monkeypatch.setattr("mercer.watch.sources.file.open", opened, raising=False)
    path.write_text("a,b\n1,2\n")
    batches = source.batches(None, stop)
    first, second = next(batches), next(batches)
    assert (list(first.items), first.trouble) == ([], f"{path} cannot be read (Permission denied); it is tried again.")
    assert ([line for line in second.items if line], second.trouble) == (["a,b", "1,2"], None)
    assert refused == [0]


@pytest.mark.parametrize("follow", [True, False])
def test_a_named_pipe_is_refused_with_what_to_do(tmp_path, follow):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a pipe or a device; give it as standard input: - <"):
        FileSource(tmp_path / "pipe", follow=follow)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_letters_of_western_windows_are_those_that_a_saved_model_knows(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    path.write_bytes("Öl °C,Temp °C\n1,2\n3,4".encode(encoding))
    batches = FileSource(path, follow=False).batches(None, threading.Event())
    reader = RowReader(read(path).names, fixed=True)
    rows = [row for batch in batches for row in reader.read(batch).values.tolist()]
    assert rows == [[1, 2], [3, 4]]
    assert reader.counts["unknown_column"] == 0
