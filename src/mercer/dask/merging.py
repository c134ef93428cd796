"""Models that are fitted to each partition alone and then merged two by two."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from dask.delayed import delayed
from sklearn.base import clone

from mercer.arrays import Array
from mercer.dask.allocation import memory_used_again
from mercer.dask.base import Transforming
from mercer.dask.cluster import Here, Workers
from mercer.dask.partitions import checked_rows, is_stream, partitions_of
from mercer.dask.sample import first_look
from mercer.dask.seeds import seed_of
from mercer.dask.settings import WORK
from mercer.dask.trees import grouped

_SAMPLE_ROWS = 3000  # from which gamma and landmarks are taken


def learned(rows: Array, model: Any) -> Any:
    """Return a model of the rows of one partition; None if there are none."""
    if not len(rows):
        return None
    fitted = clone(model).fit(rows)
    return _light(fitted)


def _light(model: Any) -> Any:
    """Leave out what grows with the number of rows."""
    if hasattr(model, "weights_"):
        model.weights_ = model.weights_[:0]
    return model


def _of_chunk(chunk: Any, number: int, model: Any) -> Any:
    with memory_used_again():
        return learned(checked_rows(chunk, number), model)


def merged(models: list[Any]) -> Any:
    """Return one model for the rows of all of them, merged two by two in their order."""
    found = [model for model in models if model is not None]
    while len(found) > 1:
        found = [found[i].merge(found[i + 1]) if i + 1 < len(found) else found[i] for i in range(0, len(found), 2)]
    return found[0] if found else None


class _Levels:
    """Models that come one after the other, merged as soon as there are two of as many partitions each."""

    def __init__(self) -> None:
        self._held: list[tuple[int, Any]] = []

    def add(self, model: Any) -> None:
        if model is None:
            return
        size = 1
        while self._held and self._held[-1][0] <= size:
            before, older = self._held.pop()
            model, size = older.merge(model), size + before
        self._held.append((size, model))

    def result(self) -> Any:
        return merged([model for _, model in reversed(self._held)][::-1])


class Merging(Transforming):
    """The base of classes whose local models have `merge`."""

    def _learn(self, X: Any) -> Any:
        """Return the merged local model of all partitions."""
        local, runs = self._unfitted(), self._runs()
        if local._precomputed:
            raise ValueError(f"{type(self).__name__} needs rows of data; a precomputed kernel has none.")
        channel, levels = self._channel(), _Levels()
        names = None
        if is_stream(X):
            results, total = self._of_stream(local, runs, X), None
        else:
            given = partitions_of(X, self._pieces(runs))
            names, total = given.names, len(given.parts)
            look = first_look(runs, given, _SAMPLE_ROWS, seed_of(getattr(self, "random_state", None)), channel)
            settled = delayed(self._settled(local, look.rows), traverse=False)
            tasks = given.calls(learned, [(settled,)] * len(given.parts))
            results = runs.results(grouped(tasks, merged, WORK.group))
        for number, model in enumerate(results, start=1):
            levels.add(model)
            channel.emit("partitions learned", number if total is None else min(number * WORK.group, total), total)
        found = levels.result()
        if found is None:
            raise ValueError("The iterator gave no rows to learn from.")
        found.set_params(**local.get_params(deep=False))
        if names is not None:
            found.feature_names_in_ = np.array(names, dtype=object)
        return found

    def _of_stream(self, local: Any, runs: Here | Workers, chunks: Iterable[Any]) -> Iterable[Any]:
        """Yield the models of chunks; the first chunk with rows sets gamma and landmarks."""
        settled = None
        first: list[Any] = []
        chunks = iter(chunks)
        for chunk in chunks:
            first.append(chunk)
            rows = checked_rows(chunk, len(first) - 1)
            if len(rows):
                settled = self._settled(local, rows)
                break
        if settled is not None:
            yield from runs.over(_of_chunk, _chained(first, chunks), settled)

    def _settled(self, local: Any, rows: Array) -> Any:
        """Return the local model, not fitted, with all that must be the same for all partitions set by some rows."""
        local._make_kernel(rows)
        return clone(local).set_params(gamma=local.gamma_)


def _chained(first: list[Any], chunks: Iterable[Any]) -> Iterable[Any]:
    yield from first
    yield from chunks
