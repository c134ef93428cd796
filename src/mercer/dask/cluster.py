"""Where work runs: on the workers of a Dask cluster, or by Dask's local scheduler where there is no cluster."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from logging import CRITICAL
from typing import Any

import dask
from dask.delayed import delayed
from dask.sizeof import sizeof
from distributed import Client, KilledWorker, default_client, wait
from distributed.client import ClosedClientError
from distributed.comm.core import CommClosedError

from mercer.dask.settings import WORK
from mercer.errors import ClusterError
from mercer.kernels.threads import available_threads
from mercer.kernels.tiles import memory_budget
from mercer.version import __version__

_POLL = 1.0  # seconds between two looks whether there are workers at all
_USED = 0.55  # share of a worker's memory that may be filled; from 0.6 on Dask writes to the disk
_AHEAD = 2  # chunks of a stream that are sent ahead, for each thread
_THROUGH_SCHEDULER = 2**28  # bytes that are sent as a part of a task
_CLUSTERS = ("dask.distributed", "distributed")  # what Dask calls a cluster in its settings


class LostDataError(Exception):
    """Data that only the workers had are gone with them."""


@dataclass(frozen=True)
class Slot:
    """One thread of one worker, and the memory that it may fill with tiles."""

    worker: str | None
    room: int  # bytes


class Here:
    """Dask's local scheduler, with threads of this process unless Dask is set up otherwise."""

    client = None

    def slots(self) -> list[Slot]:
        """Return one slot for each thread; together they have the memory of a fit without Dask."""
        threads = available_threads()
        return [Slot(None, memory_budget() // threads)] * threads

    def results(self, tasks: Sequence[Any]) -> Iterator[Any]:
        """Yield the results of delayed tasks, in order."""
        for task in tasks:
            yield dask.compute(task)[0]

    def over(self, function: Callable[..., Any], chunks: Iterable[Any], *args: Any) -> Iterator[Any]:
        """Yield function(chunk, number, *args) for chunks that need not all be in memory."""
        for number, chunk in enumerate(chunks):
            yield function(chunk, number, *args)


class Workers:
    """The workers of a cluster, by their client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def slots(self) -> list[Slot]:
        """Return one slot for each thread of each worker, in the order of addresses."""
        found = []
        for address, worker in sorted(self._described().items()):
            threads = max(1, int(worker["nthreads"]))
            limit = int(worker.get("memory_limit") or 0)
            used = int(worker.get("metrics", {}).get("memory", 0))
            room = max(0, int(_USED * limit) - used) if limit else memory_budget()
            found += [Slot(address, room // threads)] * threads
        return found

    def _described(self) -> dict[str, Any]:
        return dict(self.client.scheduler_info(n_workers=-1)["workers"])

    def addresses(self) -> tuple[str, ...]:
        """Return the addresses of the workers that are there now."""
        try:
            if self.client.status != "running":
                raise CommClosedError(f"the client is {self.client.status}")
            return tuple(sorted(self.client.nthreads()))
        except (OSError, CommClosedError, CancelledError, TimeoutError) as error:
            raise _gone(error) from error

    def submit(self, function: Callable[..., Any], *args: Any, **given: Any) -> Any:
        """Return a call as a future, also with large arguments."""
        try:
            with _large_tasks():
                return self.client.submit(function, *args, pure=False, **given)
        except ClosedClientError as error:
            raise _gone(error) from error

    def wait_for_workers(self) -> None:
        """Wait until there is a worker; fail if there is none for a while."""
        patience = WORK.patience
        start = time.monotonic()
        while not self.addresses():
            if time.monotonic() - start > patience:
                raise ClusterError(f"The cluster has had no workers for {patience:.0f} s. Start some. {_AGAIN}")
            time.sleep(min(_POLL, patience / 4))

    def check_versions(self) -> None:
        """Fail if a worker has another version of Mercer, or none."""
        answers = self.client.run(_version, on_error="return")  # a worker that dies just now is not asked again
        errors = [answer for answer in answers.values() if isinstance(answer, ImportError)]
        if errors:
            raise ClusterError(
                f"A worker cannot import mercer: {errors[0]}. Install mercer {__version__} there."
            ) from errors[0]
        found = {address: answer for address, answer in answers.items() if isinstance(answer, str)}
        other = {address: version for address, version in found.items() if version != __version__}
        if other:
            shown = ", ".join(f"{address} has {version}" for address, version in sorted(other.items())[:5])
            raise ClusterError(
                f"This process has mercer {__version__}, but of {len(found)} workers {len(other)} have another version:"
                f" {shown}. Install the same version everywhere and restart the workers."
            )

    def finish(self, futures: Sequence[Any]) -> None:
        """Wait for futures; fail where data are lost, and where there are no workers to wait for."""
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=_POLL)
                return
            except CancelledError as error:
                raise LostDataError(str(error)) from error
            except TimeoutError:
                if not self.addresses():
                    self.wait_for_workers()

    def value(self, future: Any) -> Any:
        """Return the result of a future; say what a worker that was killed again and again means."""
        return self.values([future])[0]

    def values(self, futures: Sequence[Any]) -> list[Any]:
        """Return the results of some futures, fetched together."""
        self.finish(futures)
        try:
            return list(self.client.gather(list(futures)))
        except CancelledError as error:
            raise LostDataError(str(error)) from error
        except OSError:  # of the connection, or of a task
            self.addresses()  # fails if the scheduler is gone
            raise
        except KilledWorker as error:
            raise ClusterError(
                f"Workers were killed again and again while they ran the same task ({error.task}). Most often they "
                "have too little memory: give them more, or make smaller partitions."
            ) from error

    def results(self, tasks: Sequence[Any]) -> Iterator[Any]:
        """Yield the results of delayed tasks, in order; all of them are given to the scheduler at once."""
        try:
            futures = deque(self.client.compute(list(tasks)))
        except ClosedClientError as error:
            raise _gone(error) from error
        try:
            while futures:
                yield self.value(futures[0])
                futures.popleft()
        except LostDataError as error:
            self.addresses()  # fails if the scheduler is gone
            raise ClusterError(
                f"Workers were lost together with data that cannot be computed again: rows that were scattered or sent "
                f"by hand ({error}). Pass a collection that reads its rows itself. {_AGAIN}"
            ) from error
        finally:
            self._cancel(futures)

    def over(self, function: Callable[..., Any], chunks: Iterable[Any], *args: Any) -> Iterator[Any]:
        """Yield function(chunk, number, *args) for chunks of a stream, in order, with a few chunks sent ahead."""
        ahead = _AHEAD * max(1, len(self.slots()))
        waiting: deque[tuple[Any, int, Any]] = deque()
        try:
            for number, chunk in enumerate(chunks):
                waiting.append((chunk, number, self._send(function, chunk, number, args)))
                if len(waiting) >= ahead:
                    yield self._received(function, waiting.popleft(), args)
            while waiting:
                yield self._received(function, waiting.popleft(), args)
        finally:
            self._cancel([future for _, _, future in waiting])

    def _cancel(self, futures: Iterable[Any]) -> None:
        """Let the workers forget work that is not needed any more."""
        with suppress(ClosedClientError):  # it has been cancelled with the client
            self.client.cancel(list(futures))

    def _send(self, function: Callable[..., Any], chunk: Any, number: int, args: tuple[Any, ...]) -> Any:
        return self.submit(function, chunk, number, *args)

    def hold(self, data: Any) -> Any:
        """Return data as a future that the scheduler can make again when a worker is lost.

        Dask's own `scatter` cannot: what was on one worker only is gone with it, and while a worker dies it waits for
        half a minute. Data that are too large for the scheduler are scattered nevertheless.
        """
        if sizeof(data) <= _THROUGH_SCHEDULER:
            return self.submit(_itself, data)
        try:
            return self.client.scatter([data], broadcast=True, hash=False)[0]
        except (OSError, CommClosedError, TimeoutError) as error:
            self.addresses()  # fails if the scheduler is gone
            raise LostDataError(str(error)) from error

    def _received(self, function: Callable[..., Any], sent: tuple[Any, int, Any], args: tuple[Any, ...]) -> Any:
        """Return a result; a chunk that was lost with its worker is sent again."""
        chunk, number, future = sent
        while True:
            try:
                return self.value(future)
            except LostDataError:
                self.wait_for_workers()
                future = self._send(function, chunk, number, args)


def _large_tasks() -> Any:
    """Return a context without Dask's warning about tasks that contain data."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"})


def _itself(data: Any) -> Any:
    return data


_AGAIN = "With checkpoint=PATH a fit that is started again continues where it stopped."


def _gone(error: Exception) -> ClusterError:
    return ClusterError(f"The scheduler of the cluster does not answer any more ({type(error).__name__}). {_AGAIN}")


def _version() -> str:
    return __version__


def find(client: Any) -> Here | Workers:
    """Return where to work: the given client's cluster, or that of the active client, or Dask's local scheduler."""
    client = _active() if client is None else client
    if client is None:
        return Here()
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(
            f"client must be a distributed.Client that is not asynchronous, or None; got {type(client).__name__}. "
            "Make one with distributed.Client(address)."
        )
    if client.status != "running":
        raise ClusterError(
            f"The client has the status {client.status!r}, so it has no cluster. Make a new one with "
            "distributed.Client(address), or leave client=None to work without a cluster."
        )
    workers = Workers(client)
    workers.wait_for_workers()
    workers.check_versions()
    return workers


def _active() -> Any:
    """Return the active client; None if there is none, or if Dask is set to work without a cluster."""
    wanted = dask.config.get("scheduler", None)
    if wanted is not None and wanted not in _CLUSTERS:
        return None
    try:
        return default_client()
    except ValueError:
        if wanted in _CLUSTERS:
            raise ClusterError(
                f"Dask is set to scheduler={wanted!r}, but there is no client. Make one with "
                "distributed.Client(address), or set scheduler='threads'."
            ) from None
        return None


task = delayed
"""What makes a delayed call, for callers that do not know Dask."""


def connected(address: str | None, workers: int | None) -> Client:
    """Return a client of the cluster at an address, or of a new one of some processes on this machine."""
    from distributed import LocalCluster

    if address is None:
        where = "127.0.0.1:0"  # a port alone would be open to other machines, without a password
        quiet = CRITICAL  # workers would print the traceback of an error that is raised here in any case
        return Client(
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=where, silence_logs=quiet)
        )
    try:
        return Client(address, timeout=WORK.connect)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"No scheduler answers at {address}: {error}. Start one with `dask scheduler`, and workers with "
            f"`dask worker {address}`."
        ) from error
