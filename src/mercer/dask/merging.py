"""Models that are fitted to each partition alone and then merged two by two."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from dask.delayed import delayed
from sklearn.base import clone

from mercer.arrays import Array
from mercer.dask.allocation import memory_used_again
from mercer.dask.base import Transforming, keep_names
from mercer.dask.checkpoints import fit_identity
from mercer.dask.cluster import Here, Workers
from mercer.dask.compared_rows import check_same_rows, row_digests
from mercer.dask.merged_models import Levels, ModelFolder, merged
from mercer.dask.partitions import Chunks, Names, Partitions, is_stream
from mercer.dask.sample import first_look
from mercer.dask.seeds import seed_of
from mercer.dask.settings import WORK
from mercer.dask.trees import grouped

_NEUTRAL = ("client", "checkpoint", "verbose", "n_jobs", "preimage", "alpha")  # do not change what is learned
_SAMPLE_ROWS = 3000  # from which gamma and landmarks are taken


def learned(rows: Array, model: Any) -> Any:
    """Return a model of the rows of one partition; None if there are none.

    Unlike `fit`, `partial_fit` does not warn of few components: a small partition has few, all of them may have more.
    """
    if not len(rows):
        return None
    fitted = clone(model).partial_fit(rows)
    return _light(fitted)


def _light(model: Any) -> Any:
    """Leave out what grows with the number of rows."""
    if hasattr(model, "weights_"):
        model.weights_ = model.weights_[:0]
    return model


def _of_chunk(rows: Array, number: int, model: Any) -> Any:
    with memory_used_again():
        return learned(rows, model)


class Merging(Transforming):
    """The base of classes whose local models have `merge`."""

    def _learn(self, X: Any) -> Any:
        """Return the merged local model of all partitions."""
        local, runs = self._unfitted(), self._runs()
        if local._precomputed:
            raise ValueError(f"{type(self).__name__} needs rows of data; a precomputed kernel has none.")
        folder = None
        if is_stream(X):
            chunks = Chunks(X)
            found = self._merged(self._of_stream(local, runs, chunks), Levels(), None)
            names = chunks.names
        else:
            given = self._given(runs, X)
            folder = self._folder(given)
            common, names = self._settled(local, runs, given, folder)
            given, levels = replace(given, names=names), Levels(folder)
            settled = clone(local).set_params(**common)
            found = self._merged(_of_partitions(settled, runs, given, levels.done), levels, len(given.parts))
        if found is None:
            raise ValueError("The iterator gave no rows to learn from.")
        found.set_params(**local.get_params(deep=False))
        found._warn_of_result()
        keep_names(found, names)
        if folder is not None:
            folder.remove()
        return found

    def _merged(self, models: Iterable[Any], levels: Levels, total: int | None) -> Any:
        """Merge models as they come, and tell how far it is."""
        channel = self._channel()
        for model in models:
            levels.add(model)
            number = levels.done
            channel.emit("partitions learned", number if total is None else min(number * WORK.group, total), total)
        return levels.result()

    def _folder(self, given: Partitions) -> ModelFolder | None:
        if self.checkpoint is None:
            return None
        more = (type(self).__name__, len(given.parts), given.names, WORK.group)
        return ModelFolder(self.checkpoint, fit_identity(self.get_params(deep=False), _NEUTRAL, *more))

    def _settled(
        self, local: Any, runs: Here | Workers, given: Partitions, folder: ModelFolder | None
    ) -> tuple[dict[str, Any], Names]:
        """Return the parameters that are the same for all partitions, and the names of their columns.

        They are found by a first look, or as a checkpoint has them.
        """
        kept = None if folder is None else folder.settled()
        if folder is not None and kept is not None:
            return kept[0], check_same_rows(runs, given, kept[1], folder.path)
        seed = seed_of(getattr(self, "random_state", None))
        look = first_look(runs, given, _SAMPLE_ROWS, seed, self._channel())
        common = self._common(local, look.rows)
        if folder is not None:
            folder.settle(common, row_digests(runs, given, look.counts))
        return common, look.names

    def _of_stream(self, local: Any, runs: Here | Workers, chunks: Iterable[Array]) -> Iterator[Any]:
        """Yield the models of chunks; the first chunk sets gamma and landmarks."""
        chunks = iter(chunks)
        for first in chunks:
            settled = clone(local).set_params(**self._common(local, first))
            yield from runs.over(_of_chunk, chain([first], chunks), settled)

    def _common(self, local: Any, rows: Array) -> dict[str, Any]:
        """Return the parameters that must be the same for all partitions, set by some rows."""
        local._make_kernel(rows)
        return {"gamma": local.gamma_}


def _of_partitions(settled: Any, runs: Here | Workers, given: Partitions, done: int) -> Iterable[Any]:
    """Return the models of groups of partitions, from the first group that is not done."""
    tasks = given.calls(learned, [(delayed(settled, traverse=False),)] * len(given.parts))
    return runs.results(grouped(tasks[done * WORK.group :], merged, WORK.group))
