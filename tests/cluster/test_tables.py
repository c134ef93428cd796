"""Tables and chunks as partitions: names and types of their columns, missing cells, and iterators."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from mercer.dask import IncrementalKernelPCA, KernelOutlierDetector, KernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA

X = np.random.default_rng(0).normal(size=(300, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
DECOMPOSITIONS = [IncrementalKernelPCA, KernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA]
CLASSES = [*DECOMPOSITIONS, KernelOutlierDetector]

pytestmark = pytest.mark.usefixtures("no_cluster")


def fit(cls, rows, **params):
    model = cls(**params) if cls is KernelOutlierDetector else cls(2, kernel="rbf", gamma=0.1, **params)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(rows)


def result(model, rows):
    found = (model.predict if isinstance(model, KernelOutlierDetector) else model.transform)(rows)
    return found.compute() if isinstance(found, da.Array) else found


def delayed_pieces(tables):
    return [dask.delayed(table) for table in tables]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("kind", [delayed_pieces, list, iter])
def test_tables_with_columns_in_another_order_are_refused(cls, kind):
    with pytest.raises(ValueError, match=r"Partition 1 .* has the columns c, b, a; the others have a, b, c"):
        fit(cls, kind([FRAME[:100], FRAME[100:][["c", "b", "a"]]]))


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("kind", [delayed_pieces, list, iter])
@pytest.mark.parametrize("rows", [300, 30])
def test_models_know_the_names_of_columns(cls, kind, rows):
    model = fit(cls, kind([FRAME[:10], FRAME[10:rows]]))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        result(model, FRAME[["c", "b", "a"]])


@pytest.mark.parametrize("cls", CLASSES)
def test_a_fit_that_goes_on_knows_the_names_of_columns(cls, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.dask.settings.WORK.group", 1)
    failing = [True]

    def read(number):
        if number == 2 and failing[0] and (cls is KernelPCA or list(tmp_path.iterdir())):
            raise InterruptedError
        return FRAME[number * 100 : number * 100 + 100]

    pieces = [dask.delayed(read)(number) for number in range(3)]
    with pytest.raises(InterruptedError):
        fit(cls, pieces, checkpoint=tmp_path / "done")
    failing[0] = False
    model = fit(cls, pieces, checkpoint=tmp_path / "done")
    assert list(model.feature_names_in_) == ["a", "b", "c"]


@pytest.mark.parametrize("cls", CLASSES)
def test_columns_of_several_types_are_numbers(cls):
    table = FRAME.assign(b=np.arange(300) % 7, c=X[:, 2] > 0)
    expected = result(fit(cls, table.astype(float)), table.astype(float))
    for types in ({}, {"b": "Int64", "c": "boolean"}):
        rows = dd.from_pandas(table.astype(types), npartitions=1)
        np.testing.assert_allclose(result(fit(cls, rows), rows), expected, atol=1e-9)


@pytest.mark.parametrize("cls", CLASSES)
def test_missing_and_masked_cells_are_named(cls):
    table = FRAME.astype({"b": "Float64"})
    table.loc[120, "b"] = pd.NA
    with pytest.raises(ValueError, match=r"Partition 1, row 20, column 'b' .* contains NaN"):
        fit(cls, dd.from_pandas(table, npartitions=3))
    masked = np.ma.masked_array(X, np.zeros(X.shape, bool))
    masked[120, 1] = np.ma.masked
    with pytest.raises(ValueError, match=r"Partition 1, row 20, column 1 .* contains NaN"):
        fit(cls, da.from_array(masked, chunks=(100, 3)))


@pytest.mark.parametrize("cls", CLASSES)
def test_a_wrong_cell_among_new_rows_is_named(cls):
    model = fit(cls, X)
    bad = X.copy()
    bad[234, 1] = np.nan
    pieces = np.split(bad, 3)
    for rows in (da.from_array(bad, chunks=(100, 3)), dd.from_pandas(pd.DataFrame(bad), npartitions=3), pieces):
        with pytest.raises(ValueError, match="Partition 2, row 34, column 1 "):
            result(model, rows)
    with pytest.raises(ValueError, match="Partition 2, row 34, column 1 "):
        list(result(model, iter(pieces)))


@pytest.mark.parametrize("cls", CLASSES)
def test_an_iterator_of_new_rows_may_have_empty_chunks(cls):
    model = fit(cls, X)
    found = list(result(model, iter([X[:0], X[:5], X[:0]])))
    assert [len(part) for part in found] == [0, 5, 0]
    np.testing.assert_array_equal(np.concatenate(found), result(model, X[:5]))


@pytest.mark.parametrize("cls", CLASSES)
def test_an_iterator_is_not_read_twice(cls):
    model = fit(cls, X)
    both = model.fit_predict if cls is KernelOutlierDetector else model.fit_transform
    with pytest.raises(ValueError, match="can be read once only"):
        both(iter([X]))
    assert both(da.from_array(X, chunks=(100, 3))).compute().shape[0] == 300


def refilled(rows, size=50):
    """Yield one array again and again, with other rows each time."""
    chunk = np.empty((size, rows.shape[1]))
    for start in range(0, len(rows), size):
        chunk[:] = rows[start : start + size]
        yield chunk


@pytest.mark.parametrize("cls", CLASSES)
def test_an_iterator_may_fill_the_same_array_again(cls, client):
    expected = fit(cls, iter(np.split(X, 6)))
    for where in (None, client):
        found = fit(cls, refilled(X), client=where)
        np.testing.assert_allclose(result(found, X), result(expected, X), atol=1e-9)


@pytest.mark.parametrize("cls", CLASSES)
def test_rows_without_columns_and_series_are_refused(cls):
    with pytest.raises(ValueError, match="rows without columns"):
        fit(cls, da.zeros((10, 0)))
    with pytest.raises(ValueError, match=r"Series. Use X.to_frame"):
        fit(cls, dd.from_pandas(FRAME, npartitions=2)["a"])
    with pytest.raises(TypeError, match=r"Some names of columns are texts and some are not: a, 1, 2"):
        fit(cls, pd.DataFrame(X, columns=["a", 1, 2]))


@pytest.mark.parametrize("cls", CLASSES)
def test_empty_partitions_may_have_other_columns(cls):
    rows = [np.empty((0, 0)), X[:100], np.empty((0, 5)), X[100:]]
    np.testing.assert_allclose(result(fit(cls, rows), X), result(fit(cls, [X[:0], X[:100], X[:0], X[100:]]), X))
    tables = delayed_pieces([pd.DataFrame(), FRAME[:100], pd.DataFrame(), FRAME[100:]])
    assert list(fit(cls, tables).feature_names_in_) == ["a", "b", "c"]


@pytest.mark.parametrize("cls", DECOMPOSITIONS)
def test_chunks_of_an_iterator_need_the_same_columns(cls):
    with pytest.raises(ValueError, match=r"Partition 1 .* has 2 columns"):
        fit(cls, iter([X[:100], X[100:, :2]]))
    with pytest.raises((TypeError, ValueError), match=r"delayed|dimensions"):
        fit(cls, iter([dask.delayed(X[0])]))
