"""How `mercer fit` learns on a Dask cluster: every file is a partition, read where it is learned."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mercer.cli import methods
from mercer.cli.wording import OptionError
from mercer.errors import MissingExtraError
from mercer.events import Observer
from mercer.io import readers
from mercer.io.selection import Selection
from mercer.io.table import joined


def fitted(
    files: list[str],
    selection: Selection,
    estimator: Any,
    observers: tuple[Observer, ...],
    address: str | None,
    workers: int | None,
) -> Any:
    """Return the local model of all files, fitted on a cluster at an address, or on processes of this machine."""
    name = type(estimator).__name__
    with _client(address, workers) as (dask_classes, client, delayed):
        cls = getattr(dask_classes, name, None)
        if cls is None:
            able = [one for one in methods.names() if hasattr(dask_classes, methods.find(one).cls)]
            raise OptionError(f"{methods.name_of(name)} cannot be fitted on a cluster; --method {', '.join(able)} can.")
        model = cls(**estimator.get_params(deep=False), client=client)
        model.observers = observers
        read = delayed(_frame, pure=False)
        first = next(readers.chunks(files[0], 1, selection=selection))
        model.fit([read(file, selection, first.names) for file in files])
        local = model.to_local()
        if first.names is not None:
            local.feature_names_in_ = _names(first.names)
        return local


def _names(names: tuple[str, ...]) -> Any:
    import numpy as np

    return np.array(names, dtype=object)


@contextmanager
def _client(address: str | None, workers: int | None) -> Iterator[tuple[Any, Any, Any]]:
    try:
        import mercer.dask as dask_classes
        from mercer.dask.cluster import connected, task
    except ImportError as error:
        raise MissingExtraError("dask[array,distributed]", "dask", "--cluster") from error
    client = connected(address, workers)
    try:
        yield dask_classes, client, task
    finally:
        cluster = client.cluster
        client.close()
        if address is None and cluster is not None:
            cluster.close()


def _frame(file: str, selection: Selection, names: tuple[str, ...] | None) -> Any:
    """Return all rows of one file, with the columns of the first."""
    wanted = selection if names is None else Selection(names, (), selection.keep, selection.missing)
    return joined(list(readers.chunks(file, 65_536, selection=wanted))).values


def estimator_for(method: str, params: dict[str, Any], seed: int) -> Any:
    """Return the estimator to fit; `auto` is the one that reads the rows once."""
    if method == methods.AUTO:
        return methods.find(methods.LANDMARKS).make(params, random_state=seed)
    return methods.find(method).make(params, random_state=seed)
