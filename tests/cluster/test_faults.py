"""Real processes that are killed: the result stays the same, or a clear error is raised and nothing is lost."""

import gc
import logging
import os
import signal
import time

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.comm.core import CommClosedError

import mercer
from mercer.dask import KernelPCA, LandmarkKernelPCA
from mercer.dask.cluster import Workers
from mercer.dask.settings import WORK
from mercer.errors import ClusterError

SETTINGS = {"n_components": 3, "kernel": "rbf", "gamma": 0.05}


def rows(n=1100):
    return np.random.default_rng(0).normal(size=(n, 5)) * np.arange(1, 6)


def pids(client):
    return sorted(client.run(os.getpid).values())


def killing(client, stage, step, count=1):
    """An observer that kills workers once, after a step of a fit."""
    done = []

    def watch(event):
        if event.stage == stage and event.step >= step and not done:
            done.append(event)
            for pid in pids(client)[:count]:
                os.kill(pid, signal.SIGKILL)

    return (watch,), done


@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.slow)], ids=["one", "both, which start again"])
def test_an_exact_fit_survives_the_death_of_workers(processes, count):
    model = KernelPCA(**SETTINGS, client=processes)
    model.observers, killed = killing(processes, "krylov", 2, count)
    model.fit(rows())
    local = mercer.KernelPCA(**SETTINGS).fit(rows())
    assert killed
    np.testing.assert_allclose(model.eigenvalues_, local.eigenvalues_, rtol=1e-10)
    scores = local.transform(rows())
    np.testing.assert_allclose(model.to_local().transform(rows()), scores, atol=1e-10 * np.abs(scores).max())


def piece(i):
    return rows(4000)[200 * i : 200 * i + 200]


def test_one_pass_over_partitions_survives_the_death_of_a_worker(processes, monkeypatch):
    monkeypatch.setattr(WORK, "group", 4)
    settings = {**SETTINGS, "landmarks": 40, "random_state": 0}
    tasks = [dask.delayed(piece)(i) for i in range(20)]
    model = LandmarkKernelPCA(**settings, client=processes)
    model.observers, killed = killing(processes, "partitions learned", 8)
    model.fit(tasks)
    with dask.config.set(scheduler="synchronous"):
        calm = LandmarkKernelPCA(**settings).fit(tasks)
    assert killed
    np.testing.assert_array_equal(model.eigenvalues_, calm.eigenvalues_)
    assert model.n_samples_seen_ == 4000


@pytest.mark.slow
def test_a_stream_survives_the_death_of_a_worker(processes):
    settings = {**SETTINGS, "landmarks": 40, "random_state": 0}
    model = LandmarkKernelPCA(**settings, client=processes)
    model.observers, killed = killing(processes, "rows learned", 1000)
    model.fit(iter([piece(i) for i in range(20)]))
    with dask.config.set(scheduler="synchronous"):
        calm = LandmarkKernelPCA(**settings).fit(iter([piece(i) for i in range(20)]))
    assert killed
    np.testing.assert_array_equal(model.eigenvalues_, calm.eigenvalues_)


def test_if_all_workers_are_gone_an_error_says_so_and_the_passes_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(WORK, "patience", 1.0)
    path, quiet = tmp_path / "journal", logging.CRITICAL
    given = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": quiet}
    with LocalCluster(processes=False, **given) as cluster, Client(cluster, set_as_default=False) as client:
        model = KernelPCA(**SETTINGS, client=client, checkpoint=path)

        def watch(event):
            if event.stage == "krylov" and event.step == 3:
                cluster.scale(0)
                client.sync(
                    cluster.scheduler.retire_workers, cluster.scheduler.workers, close_workers=True, remove=True
                )

        model.observers = (watch,)
        with pytest.raises(ClusterError, match=r"no workers for 1 s.*checkpoint=PATH"):
            model.fit(rows())
    assert len(list(path.glob("pass-*"))) == 3
    with dask.config.set(scheduler="threads"):
        again = KernelPCA(**SETTINGS, checkpoint=path).fit(rows())
    assert again.costs_["replayed"] == 3
    np.testing.assert_allclose(again.eigenvalues_, mercer.KernelPCA(**SETTINGS).fit(rows()).eigenvalues_, rtol=1e-10)


def exact_fit(client):
    return KernelPCA(**SETTINGS, client=client), rows(), "krylov"


def fit_of_partitions(client):
    tasks = [dask.delayed(piece)(i) for i in range(20)]
    return LandmarkKernelPCA(**SETTINGS, landmarks=40, client=client), tasks, "partitions learned"


def fit_of_stream(client):
    chunks = (piece(i) for i in range(20))
    return LandmarkKernelPCA(**SETTINGS, landmarks=40, client=client), chunks, "rows learned"


@pytest.mark.parametrize("fit", [exact_fit, fit_of_partitions, fit_of_stream])
@pytest.mark.parametrize("known", [True, False], ids=["the client has the cluster", "the client has its address"])
def test_a_scheduler_that_is_gone_is_an_error(fit, known, monkeypatch):
    monkeypatch.setattr(WORK, "patience", 1.0)
    monkeypatch.setattr(WORK, "group", 2)
    given = {"n_workers": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    cluster = LocalCluster(processes=False, protocol="tcp", **given)
    client = Client(cluster if known else cluster.scheduler_address, set_as_default=False, timeout=2)
    model, X, stage = fit(client)
    model.observers = (lambda event: cluster.close() if event.stage == stage and event.step >= 2 else None,)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(ClusterError, match="The scheduler of the cluster does not answer any more"),
    ):
        model.fit(X)
    client.close()


def test_a_scheduler_that_ends_while_a_result_is_fetched_is_an_error(monkeypatch):
    given = {"n_workers": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    cluster = LocalCluster(processes=False, protocol="tcp", **given)
    client = Client(cluster.scheduler_address, set_as_default=False, timeout=2)

    def lost(futures):
        cluster.close()
        raise CommClosedError("ConnectionPool.gather")

    monkeypatch.setattr(client, "gather", lost)
    with pytest.raises(ClusterError, match="The scheduler of the cluster does not answer any more"):
        Workers(client).value(client.submit(int))
    client.close()


def test_a_scheduler_that_was_lost_between_two_passes_is_an_error():
    """Dask closes the client when its scheduler has been away for a while."""
    with LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        client = Client(cluster, set_as_default=False)
        client.close()
        with pytest.raises(ClusterError, match="The scheduler of the cluster does not answer any more"):
            list(Workers(client).results([dask.delayed(int)()]))


def test_a_file_that_a_task_cannot_read_is_named(client, tmp_path):
    with pytest.raises(FileNotFoundError, match="no-such-file"):
        Workers(client).value(client.submit(open, tmp_path / "no-such-file"))


def test_workers_forget_tiles_when_a_fit_has_ended(processes):
    """Without the help of Python's collection of garbage in the driver, which may come late."""

    def shares():
        kept = processes.run(lambda dask_worker: [str(key) for key in dask_worker.data if "make_share" in str(key)])
        return [key for keys in kept.values() for key in keys]

    gc.disable()
    try:
        for _ in range(2):
            model = KernelPCA(**SETTINGS, client=processes).fit(rows())
            assert model.costs_["kept"]
            end = time.monotonic() + 20
            while shares() and time.monotonic() < end:
                time.sleep(0.05)
            assert shares() == []
    finally:
        gc.enable()
