"""Streams of the Hebbian classes: shares of what changes, the start from the first rows, and rows that repeat."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import mercer
from mercer import HebbianKernelPCA, HebbianPCA, KernelPCA


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):  # small problems: threads of BLAS would mostly wait for each other
        yield


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def stream(model, X, count=20):
    for chunk in np.array_split(X, count):
        model.partial_fit(chunk)
    return model


def share(model):
    return model.explained_variance_ratio_.sum()


# -- shares of the variation of rows that change -----------------------------------------------------------------------


def growing(rng, n=2000):
    return np.vstack([rng.normal(size=(n, 5)), 5 * rng.normal(size=(n, 5))]) * [3, 2, 1, 0.5, 0.1]


@pytest.mark.parametrize("gain", ["et", "constant"])
def test_the_share_of_a_stream_whose_variance_grows(rng, gain):
    X = growing(rng)
    for model in (
        HebbianPCA(3, gain=gain, random_state=0),
        HebbianKernelPCA(3, kernel="linear", gain=gain, random_state=0),
    ):
        assert share(stream(model, X)) == pytest.approx(PCA(3).fit(X).explained_variance_ratio_.sum(), abs=8e-3)


def test_the_share_of_a_kernel_stream_whose_variance_grows(rng):
    X = np.vstack([0.05 * rng.normal(size=(1000, 5)), rng.normal(size=(1000, 5))])
    X[:300:3] = rng.normal(size=(100, 5))
    exact = share(KernelPCA(5, kernel="rbf", gamma=0.1).fit(X[1000:]))
    assert share(stream(HebbianKernelPCA(5, gamma=0.1, random_state=0), X)) == pytest.approx(exact, abs=0.05)


def test_the_share_of_rows_sorted_by_class(digits):
    X, y = digits
    X = X[np.argsort(y, kind="stable")]
    late = share(KernelPCA(10, kernel="rbf").fit(X[900:]))
    assert 0.5 < share(stream(HebbianKernelPCA(10, random_state=0), X)) < late + 0.02
    assert share(stream(HebbianPCA(10, random_state=0), X)) < share_of_pca(X[900:]) + 0.02


def share_of_pca(X):
    return PCA(10).fit(X).explained_variance_ratio_.sum()


def test_the_share_of_a_fit_is_that_of_all_rows(digits):
    X = digits[0][:400]
    exact = KernelPCA(3, kernel="rbf").fit(X)
    model = HebbianKernelPCA(3, landmarks=400, random_state=0).fit(X)
    assert model.expansion_.trace == pytest.approx(exact.expansion_.trace, rel=1e-6)
    linear = HebbianPCA(3, random_state=0).fit(X)
    assert linear.expansion_.trace == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


# -- columns in different units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("large", [1e4, 1e6])
def test_no_component_passes_unjudged(seed, large):
    X = np.random.default_rng(seed).normal(size=(3000, 4)) * [large, 1, 1e-3, 50]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = HebbianPCA(2, max_iter=20, random_state=seed).fit(X)
    right = abs(model.explained_variance_[1] / PCA(2).fit(X).explained_variance_[1] - 1) < 0.01
    assert right or any("StandardScaler" in str(w.message) for w in caught)


@pytest.mark.parametrize("seed", range(3))
def test_columns_in_different_units_are_learned(seed):
    X = np.random.default_rng(seed).normal(size=(5000, 4)) * [1e5, 1, 1e-3, 50]
    model = HebbianPCA(2, random_state=seed).fit(X)
    assert_allclose(model.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=1e-3)


# -- the start of HebbianPCA -------------------------------------------------------------------------------------------


def error(model, X):
    return ((X - model.inverse_transform(model.transform(X))) ** 2).sum()


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
@pytest.mark.parametrize("seed", range(3))
def test_small_streams_end_near_pca(load, seed):
    X = load().data
    X = X[np.random.default_rng(seed).permutation(len(X))]
    model = stream(HebbianPCA(2, random_state=seed), X)
    assert error(model, X) < 1.2 * error(PCA(2).fit(X), X)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_first_rows_are_learned_exactly(digits, sparse):
    X = digits[0]
    rows = sp.csr_matrix(X[:30]) if sparse else X[:30]
    model, exact = HebbianPCA(4, random_state=0).partial_fit(rows), PCA(4).fit(X[:30])
    assert_allclose(np.abs((model.components_ * exact.components_).sum(axis=1)), 1, atol=1e-9)
    assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-9)
    assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-9)
    assert_allclose(model.mean_, exact.mean_, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"center": False}, {"n_components": 40}, {"n_components": None}])
def test_cuts_among_the_first_rows_make_no_difference(digits, options):
    X = digits[0][:300]
    options = {"n_components": 3, "random_state": 0, **options}
    whole = HebbianPCA(**options).partial_fit(X)
    for size in (1, 7, 49, 60):
        model = HebbianPCA(**options)
        for start in range(0, len(X), size):
            model.partial_fit(X[start : start + size])
        assert_allclose(model.components_, whole.components_, atol=1e-9)
        assert_allclose(model.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-9)
        assert model.n_samples_seen_ == 300


def test_directions_that_the_first_rows_lack_are_random_and_orthonormal(digits):
    X = digits[0]
    first = HebbianPCA(5, random_state=0).partial_fit(X[:3])
    W = first._state.W
    assert_allclose(W @ W.T, np.eye(5), atol=1e-12)
    assert_array_equal(W, HebbianPCA(5, random_state=0).partial_fit(X[:3])._state.W)
    other = HebbianPCA(5, random_state=1).partial_fit(X[:3])._state.W
    assert_allclose(np.abs(W[:2]), np.abs(other[:2]), atol=1e-9)
    assert np.abs(W[2:] - other[2:]).max() > 0.01


def test_given_weights_learn_from_the_first_row_on(digits):
    X, W = digits[0], np.eye(64)[[20, 30]]
    model = HebbianPCA(2, init=W, eta0=1e-3, orthonormalize=False).partial_fit(X[:10])
    assert 0 < np.abs(model.components_ - W).max() < 0.1


@pytest.mark.parametrize("sparse", [False, True])
def test_waiting_rows_survive_files_and_are_dropped_later(digits, sparse, tmp_path):
    X = sp.csr_matrix(digits[0]) if sparse else digits[0]
    model = HebbianPCA(3, random_state=0).partial_fit(X[:20])
    model.save(tmp_path / "model")
    copies = [mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[20:200])
    for copy in copies:
        assert_array_equal(copy.partial_fit(X[20:200]).components_, model.components_)
    size = len(pickle.dumps(model))
    assert size < 10 * 4 * 64 * 8
    assert abs(len(pickle.dumps(model.partial_fit(X[200:]))) - size) < 64


def test_a_buffer_may_be_used_again_among_the_first_rows(digits):
    X, buffer, model = digits[0], np.empty((10, 64)), HebbianPCA(3, random_state=0)
    for start in range(0, 40, 10):
        buffer[:] = X[start : start + 10]
        model.partial_fit(buffer)
    assert_allclose(model.explained_variance_, PCA(3).fit(X[:40]).explained_variance_, rtol=1e-9)


# -- rows that repeat at the start of a kernel stream ------------------------------------------------------------------


def repeated(X, distinct, count):
    return X[np.arange(count) % distinct]


@pytest.mark.parametrize("distinct", [1, 3])
def test_equal_rows_at_the_start_do_not_cripple_a_stream(digits, distinct):
    X, test = digits[0][:1400], digits[0][1400:]
    options = {"gamma": 0.05, "random_state": 0}
    plain = stream(HebbianKernelPCA(5, **options), X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = stream(HebbianKernelPCA(5, **options), np.vstack([repeated(X, distinct, 300), X]))
    assert (model.n_components_, model.expansion_.n_points) == (5, 256)
    assert model.n_samples_seen_ == 1700
    assert model.reconstruction_error(test).mean() < 1.05 * plain.reconstruction_error(test).mean()


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_the_model_of_repeated_rows_is_exact(digits, center, kind):
    X = np.vstack([repeated(digits[0], 7, 400), digits[0][10:40]])
    model = HebbianKernelPCA(3, gamma=0.05, center=center, random_state=0)
    stream(model, X, 9) if kind is np.asarray else model.partial_fit(kind(X[:100])).partial_fit(kind(X[100:]))
    exact = KernelPCA(3, kernel="rbf", gamma=0.05, center=center).fit(X)
    assert_allclose(np.abs(model.transform(kind(X))), np.abs(exact.transform(X)), atol=1e-8)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-8)
    assert model.n_samples_seen_ == 430
    assert model.expansion_.n_points == 37


def test_a_stream_of_few_different_rows_goes_on_with_them_and_says_so(digits):
    X = repeated(digits[0], 20, 700)
    model = HebbianKernelPCA(3, gamma=0.05, landmarks=50, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match=r"Only 20 of the first 500 rows differ.*leave out repeated rows"
    ) as told:
        stream(model, X, 14)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert model.expansion_.n_points == 20
    exact = KernelPCA(3, kernel="rbf", gamma=0.05).fit(X)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=0.1)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fewer_different_rows_than_components_wait_without_growing(digits, kernel):
    model, rows = HebbianKernelPCA(5, kernel=kernel, landmarks=10, random_state=0), np.zeros((1000, 64))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(rows)
        size = len(pickle.dumps(model))
        model.partial_fit(rows)
    assert abs(len(pickle.dumps(model)) - size) < 64
    assert model.n_samples_seen_ == 2000
    assert not model.explained_variance_.any()
    model.partial_fit(digits[0][:300])
    assert (model.n_components_, model.n_samples_seen_) == (5, 2300)


@pytest.mark.parametrize("how", ["pickle", "save"])
def test_repeated_rows_survive_files(digits, how, tmp_path):
    X = digits[0]
    model = HebbianKernelPCA(3, gamma=0.05, landmarks=50, random_state=0).partial_fit(repeated(X, 4, 200))
    if how == "save":
        model.save(tmp_path / "model")
    other = mercer.load(tmp_path / "model") if how == "save" else pickle.loads(pickle.dumps(model))
    for chunk in (X[:30], X[30:200]):
        model.partial_fit(chunk)
        other.partial_fit(chunk)
        assert_array_equal(model.transform(X), other.transform(X))
        assert model.n_samples_seen_ == other.n_samples_seen_


# -- generators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [HebbianPCA, HebbianKernelPCA])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_generator_of_chunks_is_referred_to_partial_fit(cls, method, digits):
    chunks = (digits[0][i : i + 10] for i in range(0, 50, 10))
    with pytest.raises(ValueError, match="partial_fit once for each chunk"):
        getattr(cls(2), method)(chunks)
    assert len(list(chunks)) == 5


# -- warnings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [HebbianPCA, HebbianKernelPCA])
def test_a_huge_row_is_told_once_and_not_with_every_chunk_after_it(cls, rng):
    X = rng.normal(size=(2000, 5)) * [3, 2, 1, 0.5, 0.1]
    X[1010] *= 1e4
    model = cls(2, random_state=0, **({"kernel": "linear", "landmarks": 20} if cls is HebbianKernelPCA else {}))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for number, chunk in enumerate(np.array_split(X, 100)):
            model.partial_fit(chunk)
            assert len(found) == (number >= 50)
            if number == 70:
                model = pickle.loads(pickle.dumps(model))
    assert "lies in about 1 of them" in str(found[0].message)


@pytest.mark.parametrize(("landmarks", "shift"), [(None, 1e8), (20, 1e6)])
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_rows_far_from_the_origin_are_told_where_digits_are_lost(landmarks, shift, way, rng):
    """Components were wrong by up to all of their variance, and nothing was told."""
    X = rng.standard_normal((300, 4)) * [5, 3, 1, 0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        getattr(HebbianKernelPCA(2, kernel="linear", landmarks=landmarks, random_state=0), way)(X + 1e3)
    model = HebbianKernelPCA(2, kernel="linear", landmarks=landmarks, random_state=0)
    with pytest.warns(UserWarning, match="as far from the origin"):
        getattr(model, way)(X + shift)
