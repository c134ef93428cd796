"""`mercer.dask.KernelPCA` is the local model, whatever the workers and partitions; passes can be continued."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context

import mercer
from mercer.dask import KernelPCA, cluster_tiles
from mercer.dask.checkpoints import Journal
from mercer.dask.cluster import Here, Slot
from mercer.dask.cluster_tiles import ClusterTiles, Costs
from mercer.kernels import RBF
from mercer.kernels.tiles import SymmetricTiles, tile_pairs
from mercer.solvers.exact import fit

pytestmark = pytest.mark.usefixtures("no_cluster")
SETTINGS = {"n_components": 4, "kernel": "rbf", "gamma": 0.05}


def rows(n=1100, d=5):
    return np.random.default_rng(0).normal(size=(n, d)) * np.arange(1, d + 1)


def assert_same(model, local, X, tol=1e-10):
    np.testing.assert_allclose(model.eigenvalues_, local.eigenvalues_, rtol=tol)
    scores = local.transform(X)
    np.testing.assert_allclose(model.to_local().transform(X), scores, atol=tol * np.abs(scores).max())
    np.testing.assert_allclose(model.explained_variance_ratio_, local.explained_variance_ratio_, rtol=tol)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"center": False},
        {"kernel": "poly", "degree": 2, "gamma": 0.1},
        {"kernel": "laplacian"},
        {"n_components": 0.3},
        {"n_components": 20, "eigen_solver": "krylov"},
        {"eigen_solver": "arpack"},
        {"precision": "mixed"},
        {"kernel": "linear"},
        {"eigen_solver": "dense"},
    ],
    ids=str,
)
def test_equal_to_the_local_model(params):
    X, params = rows(), {**SETTINGS, **params}
    model = KernelPCA(**params).fit(da.from_array(X, chunks=((900, 0, 17, 183), 5)))
    local = mercer.KernelPCA(**params).fit(X)
    assert_same(model, local, X, tol=1e-10 if local.precision_ == "float64" else 1e-6)
    on_tiles = {"lanczos": "krylov"}  # the cluster has no whole matrix
    assert model.solver_ == on_tiles.get(local.solver_, local.solver_)
    assert model.precision_ == local.precision_


def test_equal_on_a_cluster_and_with_its_lazy_scores(client):
    X = rows()
    D = da.from_array(X, chunks=(400, 5))
    model, local = KernelPCA(**SETTINGS, client=client).fit(D), mercer.KernelPCA(**SETTINGS).fit(X)
    assert_same(model, local, X)
    assert model.costs_["workers"] == model.costs_["shares"] == 2
    np.testing.assert_allclose(model.transform(D).compute(), local.transform(X), atol=1e-10)
    assert type(model.to_local()) is mercer.KernelPCA


def test_rows_far_from_the_origin_keep_their_digits(client, tmp_path):
    X = rows(1100, 300)
    settings = {"n_components": 3, "eigen_solver": "krylov"}
    near, local = mercer.KernelPCA(**settings).fit(X), mercer.KernelPCA(**settings).fit(X + 1e8)
    model = KernelPCA(**settings, client=client, checkpoint=tmp_path / "passes").fit(X + 1e8)
    np.testing.assert_allclose(model.eigenvalues_, near.eigenvalues_, rtol=1e-8)
    assert_same(model, local, X + 1e8, 1e-8)


@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", 0.1), ("poly", 1.0)])
def test_mixed_precision_of_rows_that_are_all_equally_far_from_each_other(kernel, gamma, tmp_path):
    X = np.eye(1200)
    settings = {"n_components": 6, "kernel": kernel, "gamma": gamma, "eigen_solver": "krylov"}
    local = mercer.KernelPCA(**settings).fit(X)
    model = KernelPCA(**settings, precision="mixed", checkpoint=tmp_path / "passes").fit(X)
    np.testing.assert_allclose(model.eigenvalues_, local.eigenvalues_, rtol=1e-6)
    assert model.precision_ == "float64"


def test_tiles_that_do_not_fit_are_made_in_every_pass():
    X = rows(1600)
    with config_context(working_memory=1):
        model, local = KernelPCA(**SETTINGS).fit(X), mercer.KernelPCA(**SETTINGS).fit(X)
    assert not model.costs_["kept"]
    assert_same(model, local, X)
    assert KernelPCA(**SETTINGS).fit(X).costs_["kept"]


def test_most_passes_visit_float32_tiles_where_that_is_quicker(monkeypatch):
    monkeypatch.setattr(fit, "_MANY_ROWS", 1)
    X, products, share_products = rows(1600), [], cluster_tiles.share_products
    monkeypatch.setattr(
        cluster_tiles,
        "share_products",
        lambda share, factors: products.append((share.dtype, share.held)) or share_products(share, factors),
    )
    model, local = KernelPCA(**SETTINGS).fit(X), mercer.KernelPCA(**SETTINGS).fit(X)
    assert_same(model, local, X)
    assert model.costs_["kept"]
    assert model.costs_["tile_bytes"] == 4 * sum(
        min(512, 1600 - 512 * a) * min(512, 1600 - 512 * b) for a, b in tile_pairs(1600)
    )
    assert set(products) == {(np.dtype(np.float32), True), (np.dtype(np.float64), False)}
    assert products.count((np.dtype(np.float64), False)) == model.costs_["shares"]


def test_the_traffic_of_a_pass_is_one_block_of_vectors_each_way(client):
    X = rows()
    costs = KernelPCA(**SETTINGS, client=client).fit(X).costs_
    numbers = len(X) * (8 * costs["passes"] + 1)  # blocks of 8 vectors; the row means are one more
    assert costs["sent"] == costs["received"] == 8 * numbers
    assert costs["tile_bytes"] == 8 * sum((512, 512, 76)[a] * (512, 512, 76)[b] for a, b in tile_pairs(1100))


@given(n=st.integers(1, 2600), count=st.integers(1, 9))
def test_parts_cover_all_tiles_once(n, count):
    tiles = ClusterTiles(Here(), RBF(1.0), np.zeros((n, 1)), np.float64, Costs())
    pairs = [pair for part in tiles.parts(count) for pair in tile_pairs(n, part)]
    assert pairs == tile_pairs(n)
    assert len(set(pairs)) == len(pairs) == -(-n // 512) * (-(-n // 512) + 1) // 2


@settings(max_examples=8)
@given(n=st.integers(1, 1100), count=st.integers(1, 4), dtype=st.sampled_from([np.float64, np.float32]))
def test_products_of_parts_add_up(n, count, dtype):
    rng = np.random.default_rng(n)
    X, V = rng.normal(size=(n, 2)), rng.normal(size=(n, 3)).astype(dtype)
    whole = ClusterTiles(Here(), RBF(0.3), X, dtype, Costs())
    parts = [SymmetricTiles(RBF(0.3), X, dtype, 10**9, 1, part) for part in whole.parts(count)]
    sent = [pickle.loads(pickle.dumps(part)) for part in parts]
    expected = SymmetricTiles(RBF(0.3), X, dtype, 10**9).product(V)
    for shares in (parts, parts, sent):
        np.testing.assert_allclose(sum(part.product(V) for part in shares), expected, rtol=1e-5, atol=1e-5)
    assert not any(pickle.loads(pickle.dumps(part))._tiles for part in parts)


def test_memory_is_counted_before_a_tile_is_made(monkeypatch):
    X = rows(1100)
    for room, kept in ((10**7, True), (2 * 10**6, False)):
        monkeypatch.setattr(Here, "slots", lambda self, room=room: [Slot(None, room)] * 2)
        assert ClusterTiles(Here(), RBF(1.0), X, np.float64, Costs()).held is kept


# -- checkpoints ---------------------------------------------------------------------------------------------------


class StoppedError(Exception):
    pass


def stop_at(step):
    def watch(event):
        if event.stage == "krylov" and event.step == step:
            raise StoppedError

    return (watch,)


@pytest.mark.parametrize("memory", [1024, 1], ids=["kept", "remade"])
def test_a_fit_goes_on_where_it_stopped(tmp_path, memory):
    X, path = rows(1200), tmp_path / "journal"
    with config_context(working_memory=memory):
        whole = KernelPCA(**SETTINGS).fit(X)
        model = KernelPCA(**SETTINGS, checkpoint=path)
        model.observers = stop_at(3)
        with pytest.raises(StoppedError):
            model.fit(X)
        assert len(list(path.glob("pass-*"))) == 3
        again = KernelPCA(**SETTINGS, checkpoint=path).fit(X)
    assert again.costs_["replayed"] == 3
    assert again.costs_["passes"] == whole.costs_["passes"]
    np.testing.assert_array_equal(again.eigenvalues_, whole.eigenvalues_)
    np.testing.assert_array_equal(again.eigenvectors_, whole.eigenvectors_)
    assert not path.exists()


def test_a_damaged_or_foreign_pass_is_computed_again(tmp_path):
    X, path = rows(1200), tmp_path / "journal"
    model = KernelPCA(**SETTINGS, checkpoint=path)
    model.observers = stop_at(4)
    with pytest.raises(StoppedError):
        model.fit(X)
    last = path / "pass-00004"
    last.write_bytes(last.read_bytes()[:-100])
    (path / "pass-00003").write_bytes((path / "pass-00002").read_bytes())  # of other vectors
    again = KernelPCA(**SETTINGS, checkpoint=path).fit(X)
    assert again.costs_["replayed"] == 2
    np.testing.assert_array_equal(again.eigenvalues_, KernelPCA(**SETTINGS).fit(X).eigenvalues_)


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    X = rows()
    path = tmp_path / "journal"
    Journal(path, "of another fit")
    with pytest.raises(ValueError, match="belongs to a fit with other rows or parameters"):
        KernelPCA(**SETTINGS, checkpoint=path).fit(X)
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "letters.txt").write_text("mine")
    with pytest.raises(ValueError, match="other rows or parameters"):
        KernelPCA(**SETTINGS, checkpoint=tmp_path / "used").fit(X)
    assert (tmp_path / "used" / "letters.txt").exists()


KILLED = """
    import os, signal, sys
    import dask, numpy as np
    sys.path.insert(0, {tests!r})
    from cluster.test_exact import SETTINGS, rows
    from mercer.dask import KernelPCA, cluster_tiles
    def watch(event):
        if event.stage == "krylov" and event.step == 4:
            os.kill(os.getpid(), signal.SIGKILL)
    model = KernelPCA(**SETTINGS, checkpoint={path!r})
    model.observers = (watch,)
    model.fit(rows(1200))
"""


def test_another_process_goes_on_after_the_driver_was_killed(tmp_path):
    path = str(tmp_path / "journal")
    code = textwrap.dedent(KILLED).format(path=path, tests=os.path.dirname(os.path.dirname(__file__)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    again = KernelPCA(**SETTINGS, checkpoint=path).fit(rows(1200))
    assert again.costs_["replayed"] == 4
    with dask.config.set(scheduler="synchronous"):
        whole = KernelPCA(**SETTINGS).fit(rows(1200))
    np.testing.assert_allclose(again.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
    assert_same(again, mercer.KernelPCA(**SETTINGS).fit(rows(1200)), rows(1200))
