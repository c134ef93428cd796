"""`mercer fit`: learn a model from a file and save it."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal

from mercer.cli import cluster, console, methods, options, source, targets, values, waiting
from mercer.cli.training import Trainer

Scale = Annotated[
    options.Scale,
    typer.Option(
        help="Give columns the same weight: variance divides by standard deviations, soft by their geometric mean with "
        "half the range. The model keeps the scaling and applies it to new rows. The file may be read twice."
    ),
]


def fit(
    data: options.Files,
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the model.")],
    method: Annotated[str, typer.Option(help=methods.overview())] = methods.AUTO,
    kernel: Annotated[str | None, typer.Option(help="rbf, poly, linear, sigmoid, cosine, ... (default: rbf)")] = None,
    gamma: Annotated[str | None, typer.Option(help="A number, median, or select. (default: median with rbf)")] = None,
    degree: Annotated[float | None, typer.Option(help="Degree of the poly kernel.")] = None,
    coef0: Annotated[float | None, typer.Option(help="Constant of the poly and sigmoid kernels.")] = None,
    components: Annotated[
        str | None, typer.Option(help="A number, a share of the variance such as 0.9, select, or all. (default: 10)")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the method."),
    ] = None,
    scale: Scale = options.Scale.none,
    rows: Annotated[int | None, typer.Option(help="Fit on this number of rows, drawn at random.")] = None,
    seed: Annotated[
        int, typer.Option(help="Seed for drawing rows and for what the method draws, such as landmarks.")
    ] = 0,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    ids: options.Ids = None,
    times: options.Times = None,
    missing: options.MissingCells = None,
    chunk_rows: options.ChunkRows = 4096,
    cluster_at: Annotated[
        str | None,
        typer.Option(
            "--cluster", metavar="ADDRESS", help="Fit on the Dask cluster at this address; a file is a partition."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Fit on a Dask cluster of so many processes of this machine.")
    ] = None,
    verbose: options.Verbose = False,
) -> None:
    """Fit a model to the rows of one or more files and save it.

    Columns without numbers are left out. The model keeps the names of its columns and finds them in new files.
    """
    targets.check_apart(data, out=out)
    targets.check_model(out, "--out")
    if data.count("-") > 1:
        raise ValueError("Standard input can be read only once; give - only once.")
    if cluster_at is not None and workers is not None:
        raise ValueError("--workers starts a cluster, and --cluster names one that runs already; give one of them.")
    params = values.settings(settings or [])
    given = {"kernel": kernel, "degree": degree, "coef0": coef0}
    params |= {name: value for name, value in given.items() if value is not None}
    if gamma is not None:
        params["gamma"] = values.gamma(gamma)
    if components is not None:
        params["n_components"] = values.components(components)
    start = time.perf_counter()
    with waiting.watch(verbose) as observers:
        reading = source.Reading(columns, exclude, (ids, times), missing)
        found = source.to_learn(data[0], observers, reading, more=tuple(data[1:]))
        trainer = Trainer(found, chunk_rows, scale, missing is options.Missing.mean)
        if cluster_at is not None or workers is not None:
            _check_for_cluster(data, scale, missing, rows)
            estimator = cluster.estimator_for(method, params, seed)
            model = cluster.fitted(data, found.selection, estimator, observers, cluster_at, workers)
        else:
            model = _trained(trainer, method, params, rows, seed)
        _tell_selected(model, params)
        for hint in trainer.hints():
            console.say(hint)
        model.save(out)
        summary = _summary(model, time.perf_counter() - start, out)
    console.say(summary)


def _trained(trainer: Trainer, method: str, params: dict[str, Any], rows: int | None, seed: int) -> Any:
    """Fit on a sample, or chunk by chunk if the method can, or on all rows at once."""
    estimator = methods.find(methods.EXACT if method == methods.AUTO else method).make(params, random_state=seed)
    automatic = method == methods.AUTO

    def many() -> Any:
        return _for_many(params, seed) if automatic else estimator

    if rows is not None:
        return trainer.by_sample(estimator, many, methods.MANY, rows, seed)
    if automatic:
        return trainer.by_size(estimator, many, methods.MANY)
    return trainer.by_chunks(estimator) if hasattr(estimator, "partial_fit") else trainer.at_once(estimator)


def _check_for_cluster(
    data: list[str], scale: options.Scale, missing: options.Missing | None, rows: int | None
) -> None:
    """Fail where an option needs all rows in this process."""
    asked = [
        name
        for name, given in (
            ("--scale", scale is not options.Scale.none),
            ("--missing mean", missing is options.Missing.mean),
            ("--rows", rows is not None),
            ("standard input", "-" in data),
        )
        if given
    ]
    if asked:
        raise ValueError(f"On a cluster there is no {', no '.join(asked)}. Prepare the files before.")


def _tell_selected(model: Any, params: dict[str, Any]) -> None:
    estimator = getattr(model, "estimator", model)
    found = {"gamma": "gamma_", "n_components": "n_components_"}
    told = [f"{name} = {getattr(estimator, kept):.6g}" for name, kept in found.items() if _selected(params, name)]
    if told:
        console.say(f"Selected: {', '.join(told)}.")


def _selected(params: dict[str, Any], name: str) -> bool:
    return isinstance(params.get(name), str) and params[name] == values.SELECT


def _for_many(params: dict[str, Any], seed: int) -> Any:
    estimator = methods.for_many(params, methods.MANY, seed)
    console.say(methods.choice_of_many(methods.MANY))
    return estimator


def _summary(model: Any, seconds: float, out: Path) -> str:
    estimator = getattr(model, "estimator", model)
    rows, columns = estimator.n_samples_seen_, estimator.n_features_in_
    share = sum(estimator.explained_variance_ratio_)
    return (
        f"Fitted {type(estimator).__name__} to {rows:,} rows of {columns:,} columns in {seconds:.1f} s: "
        f"{len(estimator.eigenvalues_)} components hold {share:.1%} of the variance. "
        f"The model is in {out} ({decimal(out.stat().st_size)})."
    )
