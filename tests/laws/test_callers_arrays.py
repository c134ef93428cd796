"""Laws about the arrays of the caller: never changed, and free to be overwritten as soon as a call has returned."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import KernelMutualSubspace, KernelPCA
from public_estimators import ESTIMATORS, answers, learned, make
from stream_variants import POINTS, every_stream, outcome, same

KINDS = {
    "float64": lambda Z: Z.copy(),
    "float32": lambda Z: Z.astype(np.float32),
    "csr": sp.csr_matrix,
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def overwrite(rows, values) -> None:
    """Put other numbers into the memory of rows, dense or CSR."""
    (rows.data if sp.issparse(rows) else rows)[:] = values


def contents(rows):
    return rows.data if sp.issparse(rows) else rows


@pytest.fixture
def X(rng) -> np.ndarray:
    return rng.standard_normal((120, 5)) * [3, 2, 1, 1, 1] + 1


@every_stream
@every_kind
@pytest.mark.parametrize("size", [1, 7, 20, 60])
def test_one_buffer_for_all_chunks_is_as_good_as_copies(cls, more, kind, size, X):
    expected, model = make(cls, **more), make(cls, **more)
    chunks = [KINDS[kind](X[first : first + size]) for first in range(0, min(120, 20 * size), size)]
    chunks = [chunk for chunk in chunks if chunk.shape[0] == size]
    buffer, new = chunks[0].copy(), KINDS[kind](X[:9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, chunk in enumerate(chunks):
            overwrite(buffer, contents(chunk))
            expected.partial_fit(chunk.copy())
            model.partial_fit(buffer)
            assert np.array_equal(contents(buffer), contents(chunk))
            overwrite(buffer, 77.0)
            if number % 3 == 0:
                assert same(outcome(model, new), outcome(expected, new))
        assert same(outcome(model, new), outcome(expected, new))


@pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
@every_kind
def test_a_fitted_model_does_not_need_the_callers_array(cls, kind, X):
    if kind == "csr" and not make(cls).__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes no sparse rows")
    new, mine = KINDS[kind](X[:9] + 0.1), KINDS[kind](X)
    expected, model = learned(make(cls), KINDS[kind](X)), learned(make(cls), mine)
    overwrite(mine, 77.0)
    wanted = answers(expected, new)
    assert same(list(answers(model, new).values()), list(wanted.values()))
    assert wanted


@pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
def test_landmarks_given_as_an_array_are_copied(cls, X):
    if "landmarks" not in inspect.signature(cls).parameters:
        pytest.skip("has no landmarks")
    mine = POINTS.copy()
    expected, model = make(cls, landmarks=POINTS).fit(X), make(cls, landmarks=mine).fit(X)
    mine[:] = 77.0
    assert same(outcome(model, X[:9]), outcome(expected, X[:9]))


@pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
def test_sparse_rows_with_long_indices_stay_as_they_are(cls, X):
    if not make(cls).__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes no sparse rows")
    mine = sp.csr_matrix(X)
    mine.indices, mine.indptr = mine.indices.astype(np.int64), mine.indptr.astype(np.int64)
    before = mine.indices, mine.indptr, mine.data
    make(cls).fit(mine)
    assert mine.indices is before[0]
    assert mine.indptr is before[1]
    assert mine.data is before[2]


@pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
def test_a_start_given_as_an_array_stays_as_it_is(cls, X, rng):
    if inspect.signature(cls).parameters.get("init", inspect.Parameter("init", 3)).default is not None:
        pytest.skip("takes no start")
    for shape in ((3, 120), (3, 5), (3, 12)):
        start = rng.standard_normal(shape) * 0.01
        kept, landmarks = start.copy(), {"landmarks": POINTS} if shape[1] == 12 else {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                make(cls, init=start, **landmarks).fit(X)
        except ValueError:
            continue  # another shape is the right one
        assert np.array_equal(start, kept)


@every_stream
def test_rows_of_zeros_are_copied_too(cls, more, X):
    """Where no row has a length, landmarks cannot be chosen as usual, or not at all."""
    zeros = np.zeros((20, 5))
    expected, model = (make(cls, **{"kernel": "linear", **more}) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected.partial_fit(np.zeros((20, 5)))
            model.partial_fit(zeros)
        except ValueError as error:
            assert "All landmarks have k(x, x) = 0" in str(error)  # noqa: PT017 - others learn from them
            return
        zeros[:] = 77.0
        assert same(outcome(model, X), outcome(expected, X))
        assert same(outcome(model.partial_fit(X), X), outcome(expected.partial_fit(X), X))


def test_kernel_pca_shares_memory_only_where_it_is_asked_to(X):
    assert not np.shares_memory(KernelPCA(2, kernel="rbf").fit(X).X_fit_, X)
    assert np.shares_memory(KernelPCA(2, kernel="rbf", copy_X=False).fit(X).X_fit_, X)


def test_references_of_mutual_subspaces_do_not_need_the_callers_frames(X):
    expected, model = (KernelMutualSubspace(normalize=False, gamma=0.05) for _ in range(2))
    buffer = np.empty((4, 5))
    for first in range(0, 40, 4):
        buffer[:] = X[first : first + 4]
        expected.partial_fit(buffer.copy(), "one")
        model.partial_fit(buffer, "one")
        buffer[:] = 77.0
    assert np.array_equal(model.similarity([X[50:60]]), expected.similarity([X[50:60]]))
