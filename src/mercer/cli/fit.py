"""`mercer fit`: learn a model from a file and save it."""

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.filesize import decimal

from mercer.cli import console, methods, values
from mercer.cli.options import ChunkRows, Columns, Data, split_names
from mercer.io import readers


def fit(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to save the model.")],
    method: Annotated[str, typer.Option(help=methods.overview())] = "kernel-pca",
    kernel: Annotated[str | None, typer.Option(help="rbf, poly, linear, sigmoid, cosine, ... (default: rbf)")] = None,
    gamma: Annotated[str | None, typer.Option(help="A number, or median. (default: median with rbf)")] = None,
    degree: Annotated[float | None, typer.Option(help="Degree of the poly kernel.")] = None,
    coef0: Annotated[float | None, typer.Option(help="Constant of the poly and sigmoid kernels.")] = None,
    components: Annotated[
        str | None, typer.Option(help="A number, a share of the variance such as 0.9, or all. (default: 10)")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the method."),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Fit on so many rows, drawn at random.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of that draw.")] = 0,
    columns: Columns = None,
    chunk_rows: ChunkRows = 4096,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the progress.")] = False,
) -> None:
    """Fit a model to the rows of a file and save it."""
    _check_folder(out)
    params = values.settings(settings or [])
    given = {"kernel": kernel, "degree": degree, "coef0": coef0, "verbose": verbose or None}
    params |= {name: value for name, value in given.items() if value is not None}
    if gamma is not None:
        params["gamma"] = values.gamma(gamma)
    if components is not None:
        params["n_components"] = values.components(components)
    estimator = methods.find(method).make(params)
    start = time.perf_counter()
    names = _train(estimator, data, rows, seed, chunk_rows, split_names(columns))
    seconds = time.perf_counter() - start
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator.save(out)
    console.say(_summary(estimator, seconds, out))


def _train(
    estimator: Any, data: str, rows: int | None, seed: int, chunk_rows: int, columns: list[str] | None
) -> tuple[str, ...] | None:
    """Fit on a sample, on chunks where the method can, else on everything; return the column names."""
    if rows is None and hasattr(estimator, "partial_fit"):
        names = None
        for table in readers.chunks(data, chunk_rows, columns=columns):
            estimator.partial_fit(table.values)
            names = table.names
        return names
    if rows is None:
        table = readers.read(data, columns=columns)
    else:
        table = readers.sample(data, rows, columns=columns, seed=seed)
    estimator.fit(table.values)
    return table.names


def _check_folder(out: Path) -> None:
    """Tell before the work whether its result can be saved."""
    if not out.parent.is_dir():
        raise FileNotFoundError(f"The folder {out.parent} does not exist; create it first.")
    if out.is_dir():
        raise IsADirectoryError(f"{out} is a folder; give the name of a file for the model.")


def _summary(estimator: Any, seconds: float, out: Path) -> str:
    rows, columns = estimator.n_samples_seen_, estimator.n_features_in_
    share = sum(estimator.explained_variance_ratio_)
    return (
        f"Fitted {type(estimator).__name__} to {rows:,} rows of {columns:,} columns in {seconds:.1f} s: "
        f"{len(estimator.eigenvalues_)} components hold {share:.1%} of the variance. "
        f"The model is in {out} ({decimal(out.stat().st_size)})."
    )
