"""Table V: memory and time of one update."""

from functools import partial
from typing import Any

import numpy as np

from mercer import IncrementalKernelPCA
from papers.chin2007._streams import gauss, one_blas_thread, shuffled
from papers.comparison import Comparison, claim, reading
from papers.drawing import lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run

_KERNEL = gauss(2000.0)
_USUAL = {"r": 10, "p": 10, "i": 30}
_WAYS = {"subset": "subset", "preimage": "pre-images"}
_TIMES = {"n": "the size of the library, n = (r + 1) p", "i": "new rows, i", "r": "components, r; n is kept"}
_MOST = {"n": 2.0, "i": 3.0, "r": 3.0}  # the highest order in the table's column of times


def sizes(what: str, value: int) -> dict[str, int]:
    """Return r, p and i with one of them, or n at fixed r, or r at fixed n, set to a value."""
    chosen = dict(_USUAL)
    if what == "i":
        chosen["i"] = value
    elif what == "n":
        chosen["p"] = max(1, round(value / (chosen["r"] + 1)))
    else:
        library = (_USUAL["r"] + 1) * _USUAL["p"]
        chosen |= {"r": value, "p": max(1, round(library / (value + 1)))}
    return chosen


def updates(X: Any, compression: Any, r: int, p: int, i: int) -> Any:
    """Return the history of a stream."""
    model = IncrementalKernelPCA(r, rank=r, points_per_component=p, batch_size=i, compression=compression, **_KERNEL)
    return model.fit(X).history_


def update_time(X: Any, compression: str, chosen: dict[str, int], count: int) -> float:
    """Return the median time of an update with a full library, in seconds."""
    full = (chosen["r"] + 1) * chosen["p"]
    rows = full + count * chosen["i"]
    history = updates(X[np.arange(rows) % len(X)], compression, **chosen)
    return float(np.median(history["seconds"][-count:]))


def curves(X: Any, what: str, values: list[int], count: int) -> dict[str, Any]:
    """Return the time of an update for each value, by kind of compression."""
    return {way: [update_time(X, way, sizes(what, value), count) for value in values] for way in _WAYS}


def memory(X: Any) -> dict[str, Any]:
    """Return rows seen and points held after each update, with and without compression."""
    found: dict[str, Any] = {}
    for way in ("subset", None):
        history = updates(X, way, **_USUAL)
        found |= {f"{way} points": history["points"], "seen": history["n_seen"]}
    return found


def run(given: Run) -> Outcome:
    """Time updates while one size grows, and count the points that are held."""
    X = shuffled(given.load("mnist3").X, given.settings["rows"])
    updates(X[:200], "preimage", **_USUAL)  # compiles
    updates(X[:200], "subset", **_USUAL)
    found = {
        what: given.stage(
            f"time by {what}", partial(curves, X, what, list(given.settings[what]), given.settings["updates"])
        )
        for what in _TIMES
    }
    held = given.stage("memory", partial(memory, X))
    table = [line for what, one in found.items() for line in _lines(what, one, list(given.settings[what]))]
    figure = _draw(found, given.settings, held)
    return Outcome({"table5": Drawing(figure, _CAPTION)}, (*table, *_memory_lines(held)))


def _lines(what: str, found: Any, values: list[int]) -> list[Comparison]:
    table = []
    for way, name in _WAYS.items():
        slope = float(np.polyfit(np.log(values), np.log(found[way]), 1)[0])
        statement = f"at most cubic in {what}" if _MOST[what] == 3.0 else f"at most quadratic in {what}"
        title = f"time of an update, {name}: exponent in {what}"
        note = f"{1e3 * found[way][0]:.2g} ms at {values[0]}, {1e3 * found[way][-1]:.2g} ms at {values[-1]}"
        if way == "subset" or what != "n":
            table.append(claim(title, statement, slope, slope <= _MOST[what] + 0.2, note))
        else:
            table.append(reading(title, slope, note=f"{note}; the table leaves compression out"))
    return table


def _memory_lines(held: Any) -> list[Comparison]:
    most, bound = int(held["subset points"].max()), (_USUAL["r"] + 1) * _USUAL["p"]
    return [
        claim("points held between updates", f"at most n = (r + 1) p = {bound}", str(most), most <= bound),
        reading(f"points held without compression, {int(held['seen'][-1])} rows", float(held["None points"][-1])),
    ]


def _draw(found: Any, settings: Any, held: Any) -> Any:
    titles = [(f"Time of an update by {text}", what, "milliseconds") for what, text in _TIMES.items()]
    titles.append(("Points held", "rows seen", "points"))
    figure, axes = panels(titles, columns=2, width=5.4, height=3.3)
    for one, (what, times) in zip(axes, found.items(), strict=False):
        shown = {name: (settings[what], 1e3 * times[way]) for way, name in _WAYS.items()}
        lines(one, shown, log_x=True, log_y=True)
        one.set_xticks(list(settings[what]), [str(value) for value in settings[what]])
        one.set_xticks([], minor=True)
    points = {"IKPCA-RS": (held["seen"], held["subset points"]), "IKPCA": (held["seen"], held["None points"])}
    lines(axes[-1], points)
    return figure


_CAPTION = (
    "Median time of one update with a full library, both axes logarithmic, and the points that the model holds. "
    "Images of the digit 3, Gaussian kernel; where nothing else is said r = 10, p = 10, i = 30."
)

EXPERIMENT = Experiment(
    name="table5",
    title="memory and time of one update",
    items=("Table V",),
    run=one_blas_thread(run),
    paper_did="Lists the sizes of the matrices of one update and the orders of growth of the work: with n the number "
    "of points in the library, at most O(n^2), O(i^3), O(r^3). No times. Compression is not in the table.",
    we_do="Median time of an update of IncrementalKernelPCA on images of the digit 3 while n, i or r grows, and the "
    "exponent of a straight line through the logarithms; the points held are counted. Compression is part of every "
    "update here.",
    open_choices=("Data, kernel and sizes.", "An exponent up to 0.2 above the stated order counts as that order."),
    differences=(
        "Orders of growth are bounds for large sizes; at the usual ones fixed costs are a large part of the time, and "
        "exponents are smaller.",
    ),
    data=("mnist3",),
    scales={
        "full": {"rows": 3000, "updates": 40, "n": [55, 110, 220, 440], "i": [10, 30, 100, 300], "r": [5, 10, 20, 40]},
        "quick": {"rows": 1000, "updates": 10, "n": [55, 110, 220], "i": [10, 30, 100], "r": [5, 10, 20]},
        "tiny": {"rows": 150, "updates": 2, "n": [22, 44], "i": [5, 10], "r": [3, 5]},
    },
)
