"""What a request may contain. Whatever comes, the answer is an error with a plain sentence, never an exception."""

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

MAX_BODY = 16_384  # bytes
MAX_COMMENT = 2000  # characters
MAX_MINUTES = 7 * 24 * 60
MAX_POINTS = 5000
_LARGEST_ID = 2**62


def number(values: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    """Return a number of the query."""
    text = values.get(name)
    if text is None or text == "":
        return default
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not low <= found <= high:
        raise HTTPException(400, f"{name} must be a number from {low:g} to {high:g}.")
    return found


def span(values: Mapping[str, str], newest: float, length: float) -> tuple[float, float, int]:
    """Return start, end and number of points of a picture of the past."""
    end = number(values, "end", newest, 0.0, 1e12)
    start = number(values, "start", end - length, -1e12, 1e12)
    if start > end:
        raise HTTPException(400, "start must not be after end.")
    return start, end, int(number(values, "points", 800, 2, MAX_POINTS))


def alarm_number(text: str) -> int:
    """Return the number of an alarm from a path."""
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) < _LARGEST_ID):
        raise HTTPException(404, "There is no such alarm.")
    return int(text)


async def body(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request brings."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(400, "The body must be JSON: Content-Type application/json.")
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY:
            raise HTTPException(413, f"The body may have at most {MAX_BODY} bytes.")
    try:
        found = json.loads(data, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body is not JSON.") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    return found


def comment(found: Mapping[str, Any]) -> str:
    """Return the comment of a body; control characters become blanks."""
    text = found.get("comment", "")
    if not isinstance(text, str) or len(text) > MAX_COMMENT or not _is_text(text):
        raise HTTPException(400, f"comment must be a text of at most {MAX_COMMENT} characters.")
    return "".join(sign if sign == "\n" or sign.isprintable() else " " for sign in text)


def minutes(found: Mapping[str, Any]) -> float:
    """Return the minutes of a body."""
    value = found.get("minutes")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_MINUTES:
        raise HTTPException(400, f"minutes must be a number from 0 to {MAX_MINUTES}.")
    return float(value)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair
        return False
    return True


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
