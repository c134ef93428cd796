"""`mercer info`: show the contents of a model file, or the installation."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal
from rich.table import Table

from mercer.cli import console
from mercer.cli.project import open_file
from mercer.cli.system import facts
from mercer.io.persist import read_model
from mercer.io.selection import shortened
from mercer.monitoring.monitor import ProcessMonitor
from mercer.outliers.detector import KernelOutlierDetector
from mercer.tables.prepared import PreparedModel

_FIRST = 10  # components shown


def info(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="A model saved by `mercer fit`.")] = None,
    system: Annotated[
        bool, typer.Option("--system", help="Show versions, threads, and the folder of compiled functions.")
    ] = False,
) -> None:
    """Show the contents of a model file, or with --system the installation."""
    if system:
        console.show("Installation", _listed(facts()))
    if model is not None:
        _show_model(model)
    elif not system:
        raise ValueError("mercer info needs a model file, or --system.")


def _show_model(model: Path) -> None:
    saved = open_file(model)
    if isinstance(saved, KernelOutlierDetector):
        console.show(str(model), _listed(_of_detector(saved)))
        console.show("The model within", _listed(_facts(saved.estimator_, model)))
        console.show("Components", _spectrum(saved.estimator_))
        return
    if isinstance(saved, ProcessMonitor):
        console.show(str(model), _listed(_of_monitor(saved)))
        return
    if isinstance(saved, PreparedModel):
        console.show("Before the model", _listed(_of_preparation(saved)))
        saved = saved.estimator
    console.show(str(model), _listed(_facts(saved, model)))
    if hasattr(saved, "eigenvalues_"):
        console.show("Components", _spectrum(saved))


def _listed(facts: dict[str, str]) -> Table:
    """Return a table of facts; those without a value are left out."""
    table = Table(show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value:
            table.add_row(name, value)
    return table


def _names(model: Any) -> str:
    """Return the names of the columns that a model was fitted to, as far as there is room for them."""
    return shortened([str(name) for name in getattr(model, "feature_names_in_", ())])


def _of_preparation(model: PreparedModel) -> dict[str, str]:
    return {"columns scaled": model.scale, "missing cells": model.missing, "names of columns": _names(model)}


def _of_detector(detector: KernelOutlierDetector) -> dict[str, str]:
    return {
        "class": type(detector).__name__,
        "parameters": _changed(detector),
        "rows seen": f"{detector.n_samples_seen_:,}",
        "columns": f"{detector.n_features_in_:,}",
        "names of columns": _names(detector),
        "alarm below a score of": f"{detector.offset_:.4g}",
    }


def _of_monitor(monitor: ProcessMonitor) -> dict[str, str]:
    return {
        "class": type(monitor).__name__,
        "parameters": _changed(monitor),
        "names of columns": _names(monitor),
        "summary": monitor.summary(),
    }


def _facts(estimator: Any, model: Path) -> dict[str, str]:
    """Return what the class has of these: only decompositions have all."""
    expansion = getattr(estimator, "expansion_", None)
    ratios = getattr(estimator, "explained_variance_ratio_", None)
    return {
        "class": type(estimator).__name__,
        "parameters": _changed(estimator),
        "kernel": "" if expansion is None else str(expansion.kernel),
        "gamma": _number(getattr(estimator, "gamma_", None), ".6g"),
        "rows seen": _number(getattr(estimator, "n_samples_seen_", None), ","),
        "points kept": "" if expansion is None else f"{expansion.points.shape[0]:,}",
        "columns": _number(getattr(estimator, "n_features_in_", None), ","),
        "names of columns": _names(estimator),
        "components": str(len(estimator.eigenvalues_)) if hasattr(estimator, "eigenvalues_") else "",
        "variance held": "" if ratios is None else f"{sum(ratios):.1%}",
        "file": decimal(model.stat().st_size),
        "saved by": f"mercer {read_model(model)[0].get('mercer', '?')}",
    }


def _number(value: float | None, form: str) -> str:
    """Return a number as text; nothing if there is none."""
    return "" if value is None else format(value, form)


def _changed(estimator: Any) -> str:
    """List the parameters that differ from the defaults of the class."""
    usual = type(estimator)().get_params(deep=False)
    given = estimator.get_params(deep=False)
    return ", ".join(f"{name}={given[name]!r}" for name in given if repr(given[name]) != repr(usual[name]))


def _spectrum(estimator: Any) -> Table:
    """Return a table of the first eigenvalues, with their shares of the variance where the class has these."""
    ratios = getattr(estimator, "explained_variance_ratio_", None)
    table = console.grid("component", "eigenvalue", *([] if ratios is None else ["variance held"]))
    for i, value in enumerate(estimator.eigenvalues_[:_FIRST]):
        table.add_row(str(i), f"{value:.6g}", *([] if ratios is None else [f"{ratios[i]:.2%}"]))
    if len(estimator.eigenvalues_) > _FIRST:
        table.add_row("...")
    return table
