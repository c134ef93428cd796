"""The works, the experiments that cover them, and the parts that are not covered."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from papers.experiment import Experiment, Paper

KEYS = ("lecture_notes", "guenter2006", "huang2011", "chin2007", "kim2019")


@dataclass(frozen=True)
class Coverage:
    """One figure, table or claim, with the experiment that covers it."""

    key: str
    item: str
    what: str
    experiment: str
    status: str


@cache
def paper(key: str) -> Paper:
    """Return a work by its key."""
    if key not in KEYS:
        raise ValueError(f"There is no work {key!r}; use one of {', '.join(KEYS)}.")
    found: Paper = import_module(f"papers.{key}").PAPER
    return found


@cache
def experiments(key: str) -> tuple[Experiment, ...]:
    """Return the experiments of a work, in the order of the items that they cover."""
    order = [item.name for item in paper(key).items]
    package = import_module(f"papers.{key}")
    names = [found.name for found in iter_modules(package.__path__) if not found.name.startswith("_")]
    modules = [import_module(f"{package.__name__}.{name}") for name in names]
    found = [module.EXPERIMENT for module in modules if hasattr(module, "EXPERIMENT")]
    return tuple(sorted(found, key=lambda one: (min(order.index(item) for item in one.items), one.name)))


def find(wanted: Sequence[str] = ()) -> list[tuple[str, Experiment]]:
    """Return the experiments named by KEY or KEY:EXPERIMENT; all of them if none is named."""
    chosen: dict[tuple[str, str], Experiment] = {}
    for text in wanted or KEYS:
        key, _, name = text.partition(":")
        known = {one.name: one for one in (experiments(key) if paper(key) else ())}
        if name and name not in known:
            raise ValueError(f"{key} has no experiment {name!r}; it has {', '.join(known) or 'none yet'}.")
        chosen |= {(key, one.name): one for one in known.values() if name in ("", one.name)}
    return [(key, one) for (key, _), one in chosen.items()]


def coverage(key: str) -> list[Coverage]:
    """Return the state of every figure, table and claim of a work."""
    rows = []
    for item in paper(key).items:
        experiment = ", ".join(one.name for one in experiments(key) if item.name in one.items)
        if item.impossible:
            status = item.impossible
        elif not experiment:
            status = "not yet"
        else:
            status = f"substitute data: {item.instead}" if item.instead else "reproduced"
        rows.append(Coverage(key, item.name, item.what, experiment, status))
    return rows
