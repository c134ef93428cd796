"""`mercer transform`, `score` and `denoise`: put the rows of a file through a model, chunk by chunk."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from mercer.cli import console
from mercer.cli.options import ChunkRows, Data, Model, Out
from mercer.io import readers, writers
from mercer.io.persist import load

Chunk = npt.NDArray[Any]  # (rows, columns)
_QUANTILES = {"smallest": 0.0, "median": 0.5, "90 %": 0.9, "99 %": 0.99, "largest": 1.0}


def transform(model: Model, data: Data, out: Out = "-", chunk_rows: ChunkRows = 4096) -> None:
    """Project rows onto the components of a model."""
    estimator = open_model(model)
    projected = (estimator.transform(table.values) for table in _tables(estimator, data, chunk_rows))
    _write(out, projected, [str(name) for name in estimator.get_feature_names_out()])


def denoise(model: Model, data: Data, out: Out = "-", chunk_rows: ChunkRows = 4096) -> None:
    """Replace each row by the one that the components of a model can express."""
    estimator = open_model(model)
    tables = _tables(estimator, data, chunk_rows)
    first = next(tables)  # its names, if it has any, name the output too
    clean = (estimator.inverse_transform(estimator.transform(table.values)) for table in chain([first], tables))
    _write(out, clean, first.names)


def score(
    model: Model,
    data: Data,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Where to write one value a row, or -.")] = None,
    top: Annotated[int, typer.Option(min=0, help="How many of the largest to show.")] = 5,
    chunk_rows: ChunkRows = 4096,
) -> None:
    """Measure how far each row is from what a model has learned (SPE: squared distance in feature space)."""
    estimator = open_model(model)
    errors = (estimator.reconstruction_error(table.values)[:, None] for table in _tables(estimator, data, chunk_rows))
    if out == "-":
        _write("-", errors, ["spe"])
        return
    seen: list[Chunk] = []
    if out is None:
        seen.extend(errors)
    else:
        _write(out, _noting(errors, seen), ["spe"])
    _summarise(np.concatenate(seen)[:, 0], top)


def open_model(path: Path) -> Any:
    """Load a kernel model, or say that there is none at this path."""
    estimator = open_file(path)
    if not hasattr(estimator, "expansion_"):
        raise TypeError(
            f"{path} holds a {type(estimator).__name__}, which has no components to project on; use "
            f"`mercer outliers DATA --detector {path}`."
        )
    return estimator


def open_file(path: Path) -> Any:
    """Load whatever Mercer has saved at this path."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; give a model that `mercer fit` has saved.")
    return load(path)


def _tables(estimator: Any, data: str, chunk_rows: int) -> Iterator[readers.Table]:
    """Read rows with the columns that the model was fitted on, in its order, where both have names."""
    names = getattr(estimator, "feature_names_in_", None)
    columns = None if names is None else [str(name) for name in names]
    return readers.chunks(data, chunk_rows, columns=columns)


def _write(out: str, chunks: Iterable[Chunk], names: Sequence[str] | None) -> None:
    rows = writers.write(out, chunks, names)
    if out != "-":
        console.say(f"Wrote {rows:,} rows to {out}.")


def _noting(chunks: Iterable[Chunk], seen: list[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        seen.append(chunk)
        yield chunk


def _summarise(errors: npt.NDArray[Any], top: int) -> None:
    table = console.grid("", "spe")
    for name, value in zip(_QUANTILES, np.quantile(errors, list(_QUANTILES.values())), strict=True):
        table.add_row(name, f"{value:.4g}")
    console.show(f"Reconstruction error of {len(errors):,} rows", table)
    if top:
        table = console.grid("row", "spe")
        for row in np.argsort(-errors)[:top]:
            table.add_row(str(row), f"{errors[row]:.4g}")
        console.show("The rows with the largest, counted from 0", table)
