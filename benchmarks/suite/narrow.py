"""Tables in Markdown without their empty columns."""

import re

_BORDER = re.compile(r"(?<!\\)\|")
_TABLE = re.compile(r"(?:^\|.*\|\n?)+", re.MULTILINE)


def narrow(text: str) -> str:
    """Return a text whose tables have only those columns in which some row below the head has a cell."""
    return _TABLE.sub(lambda found: _table(found[0]), text)


def _table(text: str) -> str:
    rows = [[cell.strip() for cell in _BORDER.split(line)[1:-1]] for line in text.rstrip("\n").split("\n")]
    head, *body = rows[0], *rows[2:]
    if not body or any(len(row) != len(head) for row in rows):
        return text
    kept = [number for number in range(len(head)) if any(row[number] for row in body)]
    if len(kept) == len(head):
        return text
    lines = (
        "|" + "|".join(f" {row[number]} " if row is not rows[1] else "---" for number in kept) + "|" for row in rows
    )
    return "\n".join(lines) + "\n" * text.endswith("\n")
