"""`mercer.dask.LandmarkKernelPCA` is the local model of all rows, whatever the partitions."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import mercer
from mercer.dask import LandmarkKernelPCA
from mercer.dask.cluster import Here
from mercer.dask.partitions import partitions_of
from mercer.dask.sample import first_look
from mercer.dask.settings import WORK
from mercer.events import SILENT

pytestmark = pytest.mark.usefixtures("no_cluster")
SETTINGS = {"n_components": 3, "gamma": 0.1, "landmarks": 40, "random_state": 0}


def rows(n=4000, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * np.arange(1, d + 1)


def local_of(model, X, **more):
    """The ordinary model of all rows, on the landmarks and with the gamma of the distributed one."""
    params = {**model.to_local().get_params(), "gamma": model.gamma_, "landmarks": model.expansion_.points, **more}
    return mercer.LandmarkKernelPCA(**params).fit(X)


def assert_same(model, local, X, tol=1e-10):
    np.testing.assert_allclose(model.eigenvalues_, local.eigenvalues_, rtol=tol)
    scores = local.transform(X)
    np.testing.assert_allclose(model.to_local().transform(X), scores, atol=tol * np.abs(scores).max())
    assert model.n_samples_seen_ == local.n_samples_seen_ == len(X)
    np.testing.assert_allclose(model.expansion_.trace, local.expansion_.trace, rtol=tol)


@settings(max_examples=8)
@given(cuts=st.lists(st.integers(0, 1200), min_size=0, max_size=40), center=st.booleans())
def test_equal_to_the_local_model_for_any_partitions(cuts, center):
    X = rows(1200)
    edges = [0, *sorted(cuts), len(X)]
    sizes = tuple(int(n) for n in np.diff(edges))
    with dask.config.set(scheduler="synchronous"):
        model = LandmarkKernelPCA(**SETTINGS, center=center).fit(da.from_array(X, chunks=(sizes, X.shape[1])))
    assert_same(model, local_of(model, X), X)


def test_the_sample_of_few_rows_is_all_rows_so_that_landmarks_are_the_local_ones():
    X = rows(2500)
    model = LandmarkKernelPCA(**{**SETTINGS, "gamma": "median"}).fit(da.from_array(X, chunks=(400, 5)))
    local = mercer.LandmarkKernelPCA(**{**SETTINGS, "gamma": "median"}).fit(X)
    assert model.gamma_ == local.gamma_
    np.testing.assert_array_equal(model.expansion_.points, local.expansion_.points)
    assert_same(model, local, X)


def test_fewer_rows_than_landmarks_are_solved_exactly():
    X = rows(30)
    model = LandmarkKernelPCA(**SETTINGS).fit(da.from_array(X, chunks=(7, 5)))
    assert_same(model, mercer.LandmarkKernelPCA(**SETTINGS).fit(X), X)


def test_a_sample_takes_each_row_of_unbalanced_partitions_with_the_same_chance():
    X = da.from_array(np.arange(20_000.0)[:, None], chunks=((15_000, 100, 4900), 1))
    look = first_look(Here(), partitions_of(X, 1), 2500, 0, SILENT)
    counts = np.histogram(look.rows[:, 0], [0, 15_000, 15_100, 20_000])[0]
    assert len(look.rows) == len(np.unique(look.rows)) == 2500
    assert abs(counts[0] - 2500 * 0.75) < 4 * np.sqrt(2500 * 0.75 * 0.25)
    assert 1 <= counts[1] <= 40


def test_forgetting_follows_the_order_of_the_partitions():
    X = rows(3500)
    model = LandmarkKernelPCA(**SETTINGS, forgetting=0.999).fit(da.from_array(X, chunks=(300, 5)))
    assert_same(model, local_of(model, X), X)


def test_float32_rows_stay_short_as_in_the_local_model():
    X = rows(6000).astype(np.float32)
    model = LandmarkKernelPCA(**SETTINGS).fit(da.from_array(X, chunks=(1000, 5)))
    assert_same(model, local_of(model, X), X, tol=1e-5)
    scores = model.transform(da.from_array(X, chunks=(1000, 5)))
    assert scores.dtype == np.float32 == scores.compute().dtype


def as_array(X):
    return da.from_array(X, chunks=(600, 5))


def as_unknown(X):
    A = as_array(X)
    return A[A[:, 0] > -np.inf]


def as_frame(X):
    return dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=4)


def as_tasks(X):
    return [dask.delayed(np.asarray)(X[i : i + 900]) for i in range(0, len(X), 900)]


def as_chunks(X):
    return [X[i : i + 900] for i in range(0, len(X), 900)]


KINDS = [as_array, as_unknown, as_frame, as_tasks, as_chunks, np.asarray]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_rows_gives_the_same_model_and_lazy_results(kind):
    X = rows()
    model = LandmarkKernelPCA(**SETTINGS).fit(kind(X))
    local = local_of(model, X)
    assert_same(model, local, X)
    scores, errors = model.transform(kind(X)), model.reconstruction_error(kind(X))
    if kind is not np.asarray:
        assert isinstance(scores, da.Array)
        assert isinstance(errors, da.Array)
        scores, errors = scores.compute(), errors.compute()
        named = pd.DataFrame(X, columns=list("abcde")) if kind is as_frame else X
        np.testing.assert_allclose(scores, model.to_local().transform(named), rtol=1e-12)
        np.testing.assert_allclose(errors, model.to_local().reconstruction_error(named), rtol=1e-12)


def test_an_iterator_is_read_once_and_its_landmarks_are_from_the_first_rows():
    X = rows(9000)
    model = LandmarkKernelPCA(**SETTINGS).fit(iter(as_chunks(X)))
    assert_same(model, local_of(model, X), X)
    first = mercer.LandmarkKernelPCA(**SETTINGS).fit(X[:3600])
    np.testing.assert_array_equal(model.expansion_.points, first.expansion_.points)
    scores = np.concatenate(list(model.transform(iter(as_chunks(X)))))
    np.testing.assert_array_equal(scores, np.concatenate([model.to_local().transform(c) for c in as_chunks(X)]))
    fading = LandmarkKernelPCA(**SETTINGS, forgetting=0.999).fit(iter(as_chunks(X)))
    assert_same(fading, local_of(fading, X), X)


def test_a_cluster_gives_the_same_bits_as_threads(client):
    X = as_array(rows())
    here, there = LandmarkKernelPCA(**SETTINGS).fit(X), LandmarkKernelPCA(**SETTINGS, client=client).fit(X)
    np.testing.assert_array_equal(here.eigenvalues_, there.eigenvalues_)
    stream = LandmarkKernelPCA(**SETTINGS, client=client).fit(iter(as_chunks(rows())))
    assert_same(stream, local_of(stream, rows()), rows())


def test_columns_in_several_chunks_are_brought_together_with_a_warning():
    X = rows()
    with pytest.warns(UserWarning, match="columns of X are in 3 chunks"):
        model = LandmarkKernelPCA(**SETTINGS).fit(da.from_array(X, chunks=(1000, 2)))
    assert_same(model, local_of(model, X), X)


def test_names_of_columns_are_kept():
    X = rows()
    model = LandmarkKernelPCA(**SETTINGS).fit(as_frame(X))
    assert list(model.feature_names_in_) == list("abcde")
    wrong = pd.DataFrame(X, columns=list("abcdf"))
    with pytest.raises(ValueError, match="feature names"):
        model.transform(dd.from_pandas(wrong, npartitions=2)).compute()


def test_clone_parameters_pipeline_and_file(tmp_path, client):
    X = as_array(rows())
    model = LandmarkKernelPCA(**SETTINGS, client=client)
    assert clone(model).get_params() == model.get_params()
    assert clone(model).client is client
    local = mercer.LandmarkKernelPCA().get_params()
    assert LandmarkKernelPCA().get_params() == {**local, "client": None, "checkpoint": None}
    pipeline = make_pipeline(FunctionTransformer(lambda X: X * 2.0), clone(model)).fit(X)
    np.testing.assert_allclose(pipeline.transform(X).compute(), clone(model).fit(X * 2.0).transform(X * 2.0).compute())
    fitted = model.fit(X)
    fitted.save(tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert type(again) is mercer.LandmarkKernelPCA
    np.testing.assert_array_equal(again.transform(rows()), fitted.to_local().transform(rows()))
    assert fitted.get_feature_names_out()[0] == "landmarkkernelpca0"


def test_not_fitted_says_so():
    model = LandmarkKernelPCA()
    for call in (model.to_local, lambda: model.transform(rows()), lambda: model.save("x")):
        with pytest.raises(NotFittedError, match="not fitted"):
            call()
    with pytest.raises(AttributeError, match="eigenvalues_"):
        _ = model.eigenvalues_


# -- checkpoints ---------------------------------------------------------------------------------------------------


class StoppedError(Exception):
    pass


def test_a_fit_goes_on_from_the_sums_so_far(tmp_path, monkeypatch):
    monkeypatch.setattr(WORK, "group", 3)
    X, path, counted = rows(), tmp_path / "sums", []

    def tasks():
        def read(i):
            counted.append(i)
            return X[200 * i : 200 * i + 200]

        return [dask.delayed(read)(i) for i in range(20)]

    def stop(event):
        if event.stage == "partitions learned" and event.step == 12:
            raise StoppedError

    model = LandmarkKernelPCA(**SETTINGS, checkpoint=path)
    model.observers = (stop,)
    with pytest.raises(StoppedError):
        model.fit(tasks())
    assert path.exists()
    counted.clear()
    again = LandmarkKernelPCA(**SETTINGS, checkpoint=path).fit(tasks())
    assert counted[:3] == [0, 10, 19]  # their rows are compared
    assert sorted(counted[3:]) == list(range(12, 20))  # each of the others once, and no sample
    assert not path.exists()
    whole = LandmarkKernelPCA(**SETTINGS).fit(tasks())
    np.testing.assert_array_equal(again.eigenvalues_, whole.eigenvalues_)
    model.observers = (stop,)
    with pytest.raises(StoppedError):
        model.fit(tasks())
    with pytest.raises(ValueError, match="other rows or parameters"):
        LandmarkKernelPCA(**{**SETTINGS, "gamma": 0.2}, checkpoint=path).fit(tasks())
