"""What is wrong with partitions or clusters is said in one clear error that names the place."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest
from distributed import Client, LocalCluster

from mercer.dask import IncrementalKernelPCA, KernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA, cluster
from mercer.dask.settings import WORK
from mercer.errors import ClusterError

X = np.random.default_rng(0).normal(size=(400, 3))
CLASSES = [IncrementalKernelPCA, KernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA]


def fit(cls, rows, **params):
    return cls(2, kernel="rbf", gamma=0.1, **params).fit(rows)


def with_cell(value, row=234):
    bad = X.copy()
    bad[row, 1] = value
    return bad


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_a_wrong_cell_is_named_by_partition_row_and_column(cls, value, word, client):
    bad = with_cell(value)
    place = "Partition 2, row 34, column 1 .* contains " + word
    with pytest.raises(ValueError, match=place):
        fit(cls, da.from_array(bad, chunks=(100, 3)), client=client)
    frame = dd.from_pandas(pd.DataFrame(bad, columns=["a", "b", "c"]), npartitions=4)
    with pytest.raises(ValueError, match=place.replace("column 1", "column 'b'")):
        fit(cls, frame, client=client)
    with pytest.raises(ValueError, match=place):
        fit(cls, iter([bad[i : i + 100] for i in range(0, 400, 100)]), client=client)


@pytest.mark.parametrize("method", ["transform", "reconstruction_error"])
def test_a_wrong_number_of_columns_is_refused_before_anything_is_computed(method, client):
    model = fit(IncrementalKernelPCA, da.from_array(X, chunks=(100, 3)), client=client)
    wrong = da.from_array(X[:, :2], chunks=(100, 2))
    frame = dd.from_pandas(pd.DataFrame(X[:, :2], columns=["a", "b"]), npartitions=2)
    for rows in (wrong, frame):
        with pytest.raises(ValueError, match="X has 2 features; IncrementalKernelPCA was fitted to 3"):
            getattr(model, method)(rows)
    unknown = da.from_array(X, chunks=(100, 3))
    unknown = unknown[unknown[:, 0] > 0]  # the number of rows is not known
    assert len(getattr(model, method)(unknown).compute()) == (X[:, 0] > 0).sum()


@pytest.mark.parametrize("cls", CLASSES)
def test_partitions_with_other_columns_are_named(cls, client):
    pieces = [X[:100], X[100:200], X[200:, :2]]
    with pytest.raises(ValueError, match=r"Partition 2 .* has 2 columns; partition 0 has 3"):
        fit(cls, [dask.delayed(piece) for piece in pieces], client=client)
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=2)

    def renamed(part, partition_info=None):
        return part.rename(columns={"b": "x"}) if partition_info and partition_info["number"] else part

    wrong = frame.map_partitions(renamed, meta=frame._meta, enforce_metadata=False)
    with pytest.raises(ValueError, match=r"Partition 1 .* has the columns a, x, c; the others have a, b, c"):
        fit(cls, wrong, client=client)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("rows", "word"),
    [
        (da.zeros((0, 3)), "empty"),
        (da.from_array(X, chunks=100)[:0], "empty"),
        (da.from_array(X.astype(object), chunks=100), "type object"),
        (da.from_array(X[:, 0], chunks=100), "2 dimensions; it has 1"),
        (da.from_array(X[:, :, None], chunks=100), "2 dimensions; it has 3"),
        ([dask.delayed(X.astype(object))], "Partition 0 .* values of type object"),
        ([dask.delayed(X[0])], "Partition 0 .* 1 dimensions"),
        (dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), npartitions=1), "hold no numbers: b"),
        (X[0], "Expected 2D"),
        (iter([]), "no rows"),
    ],
)
def test_rows_that_cannot_be_used(cls, rows, word, client):
    with pytest.raises(ValueError, match=word):
        fit(cls, rows, client=client)


@pytest.mark.parametrize("cls", CLASSES)
def test_parameters_are_checked_before_any_work(cls):
    with pytest.raises(ValueError, match="'n_components' parameter"):
        cls(-1).fit(da.zeros((10, 2)))
    with pytest.raises(TypeError):
        cls(no_such_parameter=1)


def test_a_window_is_refused():
    with pytest.raises(ValueError, match="window=None"):
        LandmarkKernelPCA(window=10).fit(da.zeros((10, 2)))


def test_clients_that_cannot_work(client, monkeypatch):
    with LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as empty, Client(empty) as idle:
        monkeypatch.setattr(WORK, "patience", 0.2)
        with pytest.raises(ClusterError, match="no workers"):
            fit(LandmarkKernelPCA, X, client=idle)
    with pytest.raises(ClusterError, match="status 'closed'"):
        fit(LandmarkKernelPCA, X, client=idle)
    with pytest.raises(TypeError, match=r"distributed\.Client"):
        fit(LandmarkKernelPCA, X, client="tcp://nowhere:1")
    with dask.config.set(scheduler="distributed"), pytest.raises(ClusterError, match="there is no client"):
        fit(LandmarkKernelPCA, X)
    monkeypatch.setattr(WORK, "connect", 0.3)
    with pytest.raises(ClusterError, match="No scheduler answers at"):
        cluster.connected("tcp://127.0.0.1:9", None)


def listening():
    """The addresses at which this process and those that it started wait for others."""
    here = psutil.Process()
    found = [one for process in (here, *here.children(recursive=True)) for one in process.net_connections("inet")]
    return {tuple(one.laddr) for one in found if one.status == psutil.CONN_LISTEN}


def test_a_cluster_on_this_machine_is_closed_to_other_machines():
    before = listening()
    client = cluster.connected(None, 1)
    with client.cluster, client:
        assert {host for host, _ in listening() - before} == {"127.0.0.1"}


def test_workers_with_another_version_are_named(client, monkeypatch):
    monkeypatch.setattr(cluster, "_version", lambda: "9.9")
    with pytest.raises(ClusterError, match=r"2 workers 2 have another version: .* has 9\.9"):
        fit(LandmarkKernelPCA, X, client=client)
