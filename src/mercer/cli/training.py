"""How `mercer fit` learns: at once or chunk by chunk, with columns prepared first if requested."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from mercer.cli.options import Missing, Scale
from mercer.cli.source import Source, hints
from mercer.io.readers import Table
from mercer.io.table import joined
from mercer.tables.columns import ColumnSummary, summary_of
from mercer.tables.prepared import PreparedModel


@dataclass
class Trainer:
    """Fits an estimator to the rows of a source; columns are scaled, and missing cells filled, if requested."""

    source: Source
    chunk_rows: int
    scale: Scale
    fills: bool  # fill missing cells with means
    names: tuple[str, ...] | None = None
    columns: tuple[str, ...] = ()
    summary: ColumnSummary = field(default_factory=ColumnSummary)
    _prepared: PreparedModel | None = None

    def at_once(self, estimator: Any) -> Any:
        """Fit to all rows, held in memory."""
        return self._fit(estimator, self.source.read())

    def by_sample(self, few: Any, many: Callable[[], Any], limit: int, sample: int, seed: int) -> Any:
        """Fit to a random sample of so many rows, or to all if there are fewer: `many()` to more than `limit` rows."""
        table = self.source.read(sample, seed)
        return self._fit(many() if len(table) > limit else few, table)

    def by_chunks(self, estimator: Any) -> Any:
        """Fit chunk by chunk a method that has `partial_fit`."""
        return self._feed(estimator, self._reading())

    def by_size(self, few: Any, many: Callable[[], Any], limit: int) -> Any:
        """Fit `few` at once if there are at most `limit` rows, else fit `many()` chunk by chunk."""
        tables = self._reading()
        head: list[Table] = []
        for table in tables:
            head.append(table)
            if sum(map(len, head)) > limit:
                return self._feed(many(), chain([joined(head)], tables))
        return self._fit(few, joined(head))

    def _reading(self) -> Iterator[Table]:
        """Read the rows; if columns are prepared, read them once before for means and spreads."""
        if not self._prepares:
            return self.source.chunks(self.chunk_rows)
        first: Iterable[Table] = self.source.chunks(self.chunk_rows)
        again: Iterable[Table]
        files = (self.source.data, *self.source.more)
        if "-" in files:  # standard input can be read only once, so all rows are held in memory
            first = again = list(first)
        else:
            again = replace(self.source, quiet=True).chunks(self.chunk_rows)
        self._prepare(self._noted(table, table.values) for table in first)
        return iter(again)

    def _fit(self, estimator: Any, table: Table) -> Any:
        self.names, self.columns = table.names, table.columns
        if self._prepared is None:
            self._prepare([table.values])
        estimator.observers = self.source.observers
        estimator.fit(self._ready(table.values))
        del estimator.observers
        return self._result(estimator)

    def _feed(self, estimator: Any, tables: Iterable[Table]) -> Any:
        for table in tables:
            if self._prepared is None:
                self.summary.update(table.values)
            estimator.partial_fit(self._noted(table, self._ready(table.values)))
        return self._result(estimator)

    def _noted(self, table: Table, values: Any) -> Any:
        self.names, self.columns = table.names, table.columns
        return values

    def _prepare(self, chunks: Iterable[Any]) -> None:
        self.summary = summary_of(chunks)
        scaling = self.summary.scaling(self.scale.kind)
        missing = Missing.mean if self.fills else Missing.error
        means = self.summary.filling(self.columns)
        self._prepared = PreparedModel(None, scaling, means, str(self.scale), str(missing))

    @property
    def _prepares(self) -> bool:
        return self.scale is not Scale.none or self.fills

    def _ready(self, values: Any) -> Any:
        return self._prepared.prepared(values) if self._prepares and self._prepared is not None else values

    def _result(self, estimator: Any) -> Any:
        """Return the object to save: the estimator alone if its columns were not prepared."""
        model = estimator
        if self._prepares and self._prepared is not None:
            model, model.estimator = self._prepared, estimator
        if self.names is not None:
            model.feature_names_in_ = np.array(self.names, dtype=object)
        return model

    def hints(self) -> Iterator[str]:
        """Return messages about unusual columns."""
        yield from hints(self.summary, self.columns)
        found = self.summary.dominant() if self.scale is Scale.none else None
        if found is not None:
            yield (
                f"Column {self.columns[found[0]]} holds {found[1]:.0%} of the variance of all columns and determines "
                "the model almost alone; use --scale soft to give all columns the same weight."
            )
