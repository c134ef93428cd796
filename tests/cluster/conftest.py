"""Clusters for the tests: one in this process, and one of two real processes, each started once."""

import logging

import dask
import pytest
from distributed import Client, LocalCluster


@pytest.fixture
def no_cluster():
    """Dask's own threads, also while a client is active."""
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(scope="module")
def processes():
    """A client of two real processes, which start again when they are killed."""
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "5s"}),  # or else peers wait long for a dead worker
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
