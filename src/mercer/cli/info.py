"""`mercer info`: what is in a model file."""

from pathlib import Path
from typing import Any

from rich.filesize import decimal
from rich.table import Table

from mercer.cli import console
from mercer.cli.options import Model
from mercer.cli.project import open_model
from mercer.io.persist import read_model

_FIRST = 10  # components shown


def info(model: Model) -> None:
    """Show what a model file holds."""
    estimator = open_model(model)
    table = Table(show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _facts(estimator, model).items():
        table.add_row(name, value)
    console.show(str(model), table)
    console.show("Components", _spectrum(estimator))


def _facts(estimator: Any, model: Path) -> dict[str, str]:
    expansion = estimator.expansion_
    facts = {
        "class": type(estimator).__name__,
        "parameters": _changed(estimator),
        "kernel": str(expansion.kernel),
        "gamma": f"{estimator.gamma_:.6g}" if getattr(estimator, "gamma_", None) is not None else "",
        "rows seen": f"{estimator.n_samples_seen_:,}",
        "points kept": f"{expansion.points.shape[0]:,}",
        "columns": f"{estimator.n_features_in_:,}",
        "names of columns": _shortened(getattr(estimator, "feature_names_in_", ())),
        "components": str(len(estimator.eigenvalues_)),
        "variance held": f"{sum(estimator.explained_variance_ratio_):.1%}",
        "file": decimal(model.stat().st_size),
        "saved by": f"mercer {read_model(model)[0].get('mercer', '?')}",
    }
    return {name: value for name, value in facts.items() if value}


def _changed(estimator: Any) -> str:
    """List the parameters that differ from the defaults of the class."""
    usual = type(estimator)().get_params(deep=False)
    given = estimator.get_params(deep=False)
    return ", ".join(f"{name}={given[name]!r}" for name in given if repr(given[name]) != repr(usual[name]))


def _shortened(names: Any, most: int = 12) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > most else shown


def _spectrum(estimator: Any) -> Table:
    table = console.grid("component", "eigenvalue", "variance held")
    pairs = zip(estimator.eigenvalues_, estimator.explained_variance_ratio_, strict=True)
    for i, (value, share) in enumerate(list(pairs)[:_FIRST]):
        table.add_row(str(i), f"{value:.6g}", f"{share:.2%}")
    if len(estimator.eigenvalues_) > _FIRST:
        table.add_row("...", "", "")
    return table
