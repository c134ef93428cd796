"""`/metrics`: counters and gauges as Prometheus reads them."""

import time
from typing import Any

_STATES = ("learning", "ok", "alarm", "no data", "stopped")


def prometheus(status: dict[str, Any], queued: int, listeners: int) -> str:
    """Return the text of a status."""
    counts = dict(status["counts"])
    gauges = {
        "rows_per_second": (status["rows_per_second"], "Rows per second over the last seconds."),
        "open_alarms": (status["open_alarms"], "Alarms that are neither closed nor shelved."),
        "lag_seconds": (status["lag_seconds"], "How long the next row has waited."),
        "queued_rows": (queued, "Rows that wait to be judged."),
        "alpha": (status["alpha"], "Share of normal rows that may raise an alarm."),
        "alarm_rate": (status["alarm_rate"], "Share of rows with an alarm in the last two hours."),
        "last_row_age_seconds": (_age(status["last_time"]), "Time since the last row, by its own clock."),
        "listeners": (listeners, "Pages that are connected."),
        "limit_t2": (status["limits"]["t2"], "Limit of T2."),
        "limit_spe": (status["limits"]["spe"], "Limit of SPE."),
        "warning": (int(status["warning"] is not None), "1 if there is a warning, see /api/status."),
    }
    lines = _counter("rows_total", "Rows that were used.", [("", status["rows"])])
    lines += _counter("judged_rows_total", "Rows that were judged.", [("", counts.pop("judged"))])
    lines += _counter("alarm_rows_total", "Rows that raised an alarm.", [("", counts.pop("alarm_rows"))])
    kinds = [(f'{{kind="{kind}"}}', value) for kind, value in sorted(counts.items())]
    lines += _counter("irregular_total", "What was irregular in the rows, by kind.", kinds)
    for name, (value, text) in gauges.items():
        if value is not None:
            lines += [*_head(name, text, "gauge"), f"mercer_watch_{name} {float(value):.10g}"]
    lines += _head("state", "1 for the present state.", "gauge")
    lines += [f'mercer_watch_state{{state="{name}"}} {int(status["state"] == name)}' for name in _STATES]
    return "\n".join(lines) + "\n"


def _age(last: float | None) -> float | None:
    return None if last is None else max(0.0, time.time() - last)


def _head(name: str, text: str, kind: str) -> list[str]:
    return [f"# HELP mercer_watch_{name} {text}", f"# TYPE mercer_watch_{name} {kind}"]


def _counter(name: str, text: str, values: list[tuple[str, int]]) -> list[str]:
    return _head(name, text, "counter") + [f"mercer_watch_{name}{label} {value}" for label, value in values]
