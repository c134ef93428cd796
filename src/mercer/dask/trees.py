"""Results of partitions, put together in a tree, so that no task and no machine takes them all."""

from collections.abc import Callable, Sequence
from typing import Any

from dask.delayed import Delayed, delayed

from mercer.dask.settings import WORK


def reduced(tasks: Sequence[Delayed], join: Callable[[list[Any]], Any]) -> Delayed:
    """Return the task that joins the results of all tasks, a few at a time and always in the same order."""
    count, joined = WORK.fan_in, delayed(join, pure=False)
    tasks = list(tasks)
    while len(tasks) > 1:
        tasks = [joined(tasks[i : i + count]) if i + 1 < len(tasks) else tasks[i] for i in range(0, len(tasks), count)]
    return tasks[0]


def grouped(tasks: Sequence[Delayed], join: Callable[[list[Any]], Any], size: int) -> list[Delayed]:
    """Return one task for each group of tasks, which joins their results."""
    return [reduced(tasks[i : i + size], join) for i in range(0, len(tasks), size)]
