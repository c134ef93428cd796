"""Models of partitions, merged two by two: what is exact, and how far the rest is from one model of all rows."""

import warnings

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer.dask import IncrementalKernelPCA, OnlineRobustKernelPCA
from mercer.dask.merged_models import Levels
from mercer.metrics import subspace_distance

pytestmark = pytest.mark.usefixtures("no_cluster")


def plane(n=1200, outliers=0, seed=0):
    """Rows near a curved surface, and some far from it."""
    rng = np.random.default_rng(seed)
    t = rng.normal(size=(n, 2))
    X = np.column_stack([t, t[:, 0] ** 2 - t[:, 1], 0.1 * rng.normal(size=(n, 2))])
    X[rng.permutation(n)[:outliers]] += rng.normal(size=(outliers, 5)) * 8
    return X


CHUNKS = ((300, 0, 150, 450, 300), 5)


def test_without_truncation_merged_incremental_models_are_exact():
    X = plane(300)
    settings = {"gamma": 0.02, "kernel": "poly", "degree": 2, "rank": 40, "compression": None}
    model = IncrementalKernelPCA(3, **settings).fit(da.from_array(X, chunks=((90, 0, 110, 100), 5)))
    exact = mercer.KernelPCA(3, kernel="poly", degree=2, gamma=0.02).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    assert subspace_distance(model.to_local(), exact) < 1e-6
    assert model.n_samples_seen_ == 300


@pytest.mark.parametrize("kind", [lambda X: da.from_array(X, chunks=CHUNKS), lambda X: iter(np.split(X, 4))])
def test_merged_incremental_models_are_near_one_model(kind, client):
    X = plane()
    settings = {"gamma": 0.2, "rank": 20}
    model = IncrementalKernelPCA(3, **settings, client=client).fit(kind(X))
    one, exact = mercer.IncrementalKernelPCA(3, **settings).fit(X), mercer.KernelPCA(3, kernel="rbf", gamma=0.2).fit(X)
    assert subspace_distance(model.to_local(), exact) < 2 * subspace_distance(one, exact) + 1e-3
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=0.01)
    assert type(model.to_local()) is mercer.IncrementalKernelPCA
    assert model.to_local().get_params() == mercer.IncrementalKernelPCA(3, **settings).get_params()


def small_pieces(rows: int, n: int, client):
    """A model of n components of pieces of one row each, and what it warned of."""
    X = plane(rows)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = IncrementalKernelPCA(n, kernel="linear", client=client).fit(da.from_array(X, chunks=(1, 5)))
    return model, [str(one.message) for one in seen if "n_components" in str(one.message)]


def test_pieces_with_fewer_components_are_no_reason_to_warn(client):
    model, found = small_pieces(60, 4, client)
    assert model.n_components_ == 4
    assert found == []


def test_fewer_components_of_all_rows_are_told_of_once(client):
    model, found = small_pieces(6, 9, client)
    assert model.n_components_ == 6
    assert found == ["n_components=9, but the data allow only 6: the model has n_components_=6."]


ROBUST = {"gamma": 0.002, "landmarks": 80, "random_state": 0}


def ellipsoid(n=1200, outliers=0):
    """Rows around zero, and some that stand together far away."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [3, 2, 1, 0.1, 0.1]
    X[rng.permutation(n)[:outliers]] = rng.normal(size=(outliers, 5)) * 0.3 + [0, 0, 0, 9, 9]
    return X


def test_merged_robust_models_find_the_components_of_the_clean_rows():
    dirty = ellipsoid(outliers=100)
    model = OnlineRobustKernelPCA(3, **ROBUST).fit(da.from_array(dirty, chunks=CHUNKS))
    one = mercer.OnlineRobustKernelPCA(3, **ROBUST).fit(dirty)
    plain, clean = (mercer.KernelPCA(3, kernel="rbf", gamma=0.002).fit(X) for X in (dirty, ellipsoid()))
    assert subspace_distance(plain, clean) > 1.0
    assert subspace_distance(one, clean) < 0.15
    assert subspace_distance(model.to_local(), clean) < 0.15
    assert model.n_samples_seen_ == 1200
    again = model.to_local().partial_fit(plane(100, seed=5))
    assert again.n_samples_seen_ == 1300


def test_merging_robust_models_adds_means_weights_and_scatters():
    """With few features nothing is truncated: the sums are those of all rows with their weights."""
    X = plane(500, outliers=30)
    given = {"landmarks": X[:6], "gamma": 0.05}
    first, second = (mercer.OnlineRobustKernelPCA(3, **given).fit(part) for part in (X[:200], X[200:]))
    both = first.merge(second)
    F = both._learning.run.space.features(X)
    w = np.concatenate([first.weights_, second.weights_])
    state = both._learning.run.state
    mean = w @ F / w.sum()
    D = np.sqrt(w)[:, None] * (F - mean)
    np.testing.assert_allclose(state.mean, mean, atol=1e-10)
    np.testing.assert_allclose(state.weight, w.sum())
    np.testing.assert_allclose(state.W.T @ state.W, D.T @ D, atol=1e-8 * np.abs(D.T @ D).max())
    missing = both._learning.run.space.missing(X, F)
    np.testing.assert_allclose(state.total, (D * D).sum() + w @ missing, rtol=1e-8)
    assert first.n_samples_seen_ == 200
    assert both.n_samples_seen_ == 500


def test_a_model_in_its_warm_up_hands_over_its_rows():
    X = plane(300)
    given = {"landmarks": X[:20], "gamma": 0.05}
    large, small = (mercer.OnlineRobustKernelPCA(2, **given).fit(part) for part in (X[:250], X[250:]))
    for merged in (large.merge(small), small.merge(large)):
        assert merged.n_samples_seen_ == 300
        expected = clone(large).fit(X[:250]).partial_fit(X[250:])
        np.testing.assert_allclose(merged.transform(X), expected.transform(X), atol=1e-10)
    assert small.n_samples_seen_ == 50


def test_robust_models_that_differ_cannot_be_merged():
    X = plane(200)
    model = mercer.OnlineRobustKernelPCA(2, landmarks=X[:20], gamma=0.05).fit(X)
    with pytest.raises(ValueError, match="different kernels or landmarks"):
        model.merge(clone(model).set_params(landmarks=X[1:21]).fit(X))
    with pytest.raises(ValueError, match="different kernels or landmarks"):
        model.merge(clone(model).set_params(gamma=0.06).fit(X))
    with pytest.raises(ValueError, match="update='svd'"):
        clone(model).set_params(update="ccipca").fit(X).merge(clone(model).set_params(update="ccipca").fit(X))
    with pytest.raises(TypeError, match="list"):
        model.merge([])
    with pytest.raises(ValueError, match="update='svd'"):
        OnlineRobustKernelPCA(2, update="hebbian").fit(X)


class Word(str):
    def merge(self, other):
        return Word(f"({self}{other})")


@pytest.mark.parametrize("count", range(1, 10))
def test_models_of_a_stream_are_merged_in_order_and_in_a_tree(count):
    levels = Levels()
    for letter in "abcdefghi"[:count]:
        levels.add(Word(letter))
        levels.add(None)
    found = levels.result()
    assert found.replace("(", "").replace(")", "") == "abcdefghi"[:count]
    depth = max(found[:i].count("(") - found[:i].count(")") for i in range(len(found) + 1))
    assert depth <= int(np.ceil(np.log2(count))) + 1
