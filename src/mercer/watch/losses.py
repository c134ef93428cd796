"""What a user must know about rows that were left out, and about times that cannot be what was meant."""

from collections.abc import Mapping

from mercer.io.selection import shortened
from mercer.watch.rows import RowReader

_SHARE = 0.1  # of the rows so far: more than this is worth a warning
_LEAST = 10  # rows, for a warning
_EARLIEST = 315_532_800.0  # the year 1980 in Unix time
_FORMS = (
    "A time is a number (Unix time in seconds, milliseconds, microseconds or nanoseconds) or a text such as "
    "2024-05-31T12:30:00."
)
_LEFT_OUT = (
    ("late", "row late", "rows late"),
    ("malformed", "line malformed", "lines malformed"),
    ("duplicate", "row there twice", "rows there twice"),
    ("dropped", "message dropped", "messages dropped"),
)
_IRREGULAR = (
    ("bad_time", "time unreadable", "times unreadable"),
    ("text", "cell with text", "cells with text"),
    ("unknown_column", "unknown column", "unknown columns"),
)


def counted(counts: Mapping[str, int]) -> str:
    """Return what was left out and what was irregular, as sentences that follow others; nothing if there is nothing."""
    left_out, irregular = _listed(counts, _LEFT_OUT), _listed(counts, _IRREGULAR)
    return (f" Left out: {left_out}." if left_out else "") + (f" Irregular: {irregular}." if irregular else "")


def _listed(counts: Mapping[str, int], kinds: tuple[tuple[str, str, str], ...]) -> str:
    found = [(counts.get(kind, 0), one, several) for kind, one, several in kinds]
    return ", ".join(f"{n:,} {one if n == 1 else several}" for n, one, several in found if n)


def warnings_about(reader: RowReader, counts: Mapping[str, int], rows: int, last_time: float | None) -> list[str]:
    """Return what a user must know, given what was counted, the number of rows used and the time of the last one."""
    total = rows + sum(counts.get(kind, 0) for kind in ("late", "malformed", "duplicate"))
    found = [
        _late(counts.get("late", 0), total),
        _malformed(counts.get("malformed", 0), total),
        _unreadable(reader, counts.get("bad_time", 0), total),
        _missed(reader),
        _early(reader, last_time),
    ]
    return [text for text in found if text is not None]


def _many(n: int, total: int) -> bool:
    return n >= _LEAST and n > _SHARE * total


def _late(n: int, total: int) -> str | None:
    if not _many(n, total):
        return None
    return (
        f"{n:,} of {total:,} rows were left out because their time is earlier than that of a row before. "
        "Sort the rows by time, oldest first."
    )


def _malformed(n: int, total: int) -> str | None:
    if not _many(n, total):
        return None
    return (
        f"{n:,} of {total:,} lines were left out because they are malformed: they are no JSON, and have not as many "
        "cells as the header or the first line."
    )


def _unreadable(reader: RowReader, n: int, total: int) -> str | None:
    if not _many(n, total):
        return None
    example = reader.clock.unreadable
    such = "" if example is None else f" (for example {example!r})"
    return f"{n:,} of {total:,} times in the column {reader.time_name!r} cannot be read{such}. {_FORMS}"


def _missed(reader: RowReader) -> str | None:
    if not reader.time_missed:
        return None
    return (
        f"The column {reader.asked_time!r} of --time has not come, so rows have the time of their arrival. "
        f"Columns that came: {shortened(reader.names_that_came)}."
    )


def _early(reader: RowReader, last_time: float | None) -> str | None:
    if last_time is None or last_time >= _EARLIEST:
        return None
    return (
        f"The times in the column {reader.time_name!r} lie before 1980, as they are read as seconds since 1970. "
        + _FORMS
    )
