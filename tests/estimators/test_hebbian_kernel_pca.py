"""`HebbianKernelPCA`: the paper's algorithms to rounding, exact kernel PCA where they converge, streams, and abuse."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import mercer
from mercer import HebbianKernelPCA, KernelPCA, plots
from mercer.events import History
from mercer.metrics import excess_reconstruction_error, subspace_distance
from textbook import hebbian as naive

GAINS = ["constant", "t", "et", "smd"]
STEPS = {"constant": 0.02, "t": 0.05, "et": 0.02, "smd": 0.01}  # eta0 |c|
KERNELS = {
    "rbf": ({"kernel": "rbf", "gamma": 0.1}, lambda X, Y: np.exp(-0.1 * ((X[:, None] - Y) ** 2).sum(-1))),
    "linear": ({"kernel": "linear"}, lambda X, Y: X @ Y.T),
    "poly": ({"kernel": "poly", "gamma": 0.2, "coef0": 1.0, "degree": 2}, lambda X, Y: (0.2 * X @ Y.T + 1.0) ** 2),
}
MEDIAN = {"kernel": "rbf", "gamma": "median"}


def centred(K, Kx=None):
    """K', or the rows of kernel values Kx (n, l) centred on the training data."""
    Kx = K if Kx is None else Kx
    return Kx - K.mean(axis=0) - Kx.mean(axis=1)[:, None] + K.mean()


def close(found, expected, relative=1e-10):
    assert_allclose(found, expected, rtol=0, atol=relative * np.abs(expected).max())


def chunks(X, size):
    return [X[i : i + size] for i in range(0, X.shape[0], size)]


def stream(model, X, size):
    for rows in chunks(X, size):
        model.partial_fit(rows)
    return model


def reloaded(model, how, folder):
    if how == "pickle":
        return pickle.loads(pickle.dumps(model))
    model.save(folder / "model")
    return mercer.load(folder / "model")


def warned(call):
    """Return what the call returns, and the warnings of interest."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [w for w in caught if issubclass(w.category, ConvergenceWarning)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """These problems are too small to share."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.fixture(scope="module")
def blobs():
    X = make_blobs(300, n_features=6, centers=4, random_state=0)[0]
    return np.random.default_rng(0).permutation(X)


# -- the per-sample algorithm ------------------------------------------------------------------------------------------


def twin(K, A, gain, eta0, rate, passes=3):
    order = [np.arange(len(K))] * passes
    return naive.kha_smd(K, A, order, eta0, rate, 0.99) if gain == "smd" else naive.kha(K, A, order, gain, eta0)


def problem(kernel, center, r, n=90, seed=3):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((n, 5)) + 0.3, rng.standard_normal((11, 5))
    parameters, function = KERNELS[kernel]
    K, Kx = function(X, X), function(new, X)
    K, Kx = (centred(K), centred(K, Kx)) if center else (K, Kx)
    A = rng.standard_normal((r, n))
    A *= 0.5 / np.sqrt(r) / np.sqrt(np.einsum("ij,ij->i", A @ K, A))[:, None]
    return X, new, parameters, K, Kx, A, np.linalg.norm(K) / n


def literal(r, A, gain, eta0, rate, **options):
    return HebbianKernelPCA(
        r,
        gain=gain,
        eta0=eta0,
        smd_rate=rate,
        init=A,
        shuffle=False,
        orthonormalize=False,
        tol=0,
        max_iter=3,
        **options,
    )


@pytest.mark.parametrize("r", [1, 16])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("gain", GAINS)
def test_fit_equals_one_sample_after_another(gain, kernel, center, r):
    X, new, parameters, K, Kx, A, size = problem(kernel, center, r)
    eta0, rate = STEPS[gain] / size, 0.1 / size
    expected = twin(K, A, gain, eta0, rate)
    if gain == "smd":  # mu matters, or this would test KHA/et
        assert np.abs(twin(K, A, gain, eta0, 0.0) - expected).max() > 1e-3 * np.abs(expected).max()
    coef = expected - expected.mean(axis=1, keepdims=True) if center else expected
    for block in (1, 7, 64, 256):
        for memory in (1024, 0):  # K' held, and made anew
            with config_context(working_memory=memory):
                model = literal(r, A, gain, eta0, rate, center=center, block_size=block, **parameters).fit(X)
            close(model.expansion_.coef, coef)
            close(model.transform(X), (expected @ K).T)
            close(model.transform(new), Kx @ expected.T)
    assert (model.n_iter_, len(model.history_["change"])) == (3, 3)
    close(model.expansion_.gram, expected @ K @ expected.T)
    close(model.eigenvalues_, np.linalg.norm(expected @ K, axis=1) / np.linalg.norm(expected, axis=1))


@pytest.mark.parametrize("gain", ["et", "smd"])
def test_blocks_that_do_not_divide_the_rows(gain):
    X, _, parameters, K, _, A, size = problem("rbf", True, 4, n=300)
    expected = twin(K, A, gain, 0.01 / size, 0.1 / size, passes=3)
    for block in (64, 256):
        close(
            literal(4, A, gain, 0.01 / size, 0.1 / size, block_size=block, **parameters).fit(X).transform(X),
            K @ expected.T,
        )


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("gain", GAINS)
def test_a_precomputed_kernel(gain, center):
    X, new, parameters, K, Kx, A, size = problem("poly", center, 3)
    function = KERNELS["poly"][1]
    given, eta0, rate = function(X, X), STEPS[gain] / size, 0.1 / size
    before = given.copy()
    expected = twin(K, A, gain, eta0, rate)
    for memory in (1024, 0):
        with config_context(working_memory=memory):
            model = literal(3, A, gain, eta0, rate, center=center, kernel="precomputed").fit(given)
        close(model.transform(function(new, X)), Kx @ expected.T)
    assert_array_equal(given, before)
    close(literal(3, A, gain, eta0, rate, center=center, **parameters).fit(X).transform(new), Kx @ expected.T)


def test_a_shuffled_pass_visits_every_row_once_and_is_reproducible(iris):
    init = np.random.default_rng(0).standard_normal((2, 150)) / 30
    options = {"gain": "constant", "eta0": 0.05, "init": init, "tol": 0, "max_iter": 2, "orthonormalize": False}
    a, b = (HebbianKernelPCA(2, gamma=0.1, random_state=5, block_size=s, **options).fit(iris) for s in (1, 64))
    close(a.transform(iris), b.transform(iris))
    other = HebbianKernelPCA(2, gamma=0.1, random_state=6, **options).fit(iris)
    assert np.abs(a.transform(iris) - other.transform(iris)).max() > 1e-4
    K = centred(np.exp(-0.1 * ((iris[:, None] - iris) ** 2).sum(-1)))
    rng = np.random.RandomState(5)
    expected = naive.kha(K, init, [rng.permutation(150) for _ in range(2)], "constant", 0.05)
    close(a.transform(iris), K @ expected.T)


# -- the orthonormal finish, and exact kernel PCA as the limit ---------------------------------------------------------


def assert_exact_or_warned(X, r, seed, distance=0.08, **parameters):
    """The subspace and the eigenvalues of `KernelPCA`, or a ConvergenceWarning; in any case a sound model."""
    model, caught = warned(lambda: HebbianKernelPCA(r, random_state=seed, **parameters).fit(X))
    exact = KernelPCA(r, **parameters).fit(X)
    scores = model.transform(X)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.eigenvalues_).all()
    assert (np.diff(model.eigenvalues_) <= 0).all()
    gram, present = model.expansion_.gram, model.eigenvalues_ > 0
    assert_allclose(gram, np.diag(present.astype(float)), atol=1e-9)
    if not caught:
        assert subspace_distance(model, exact) <= distance
        scale = exact.eigenvalues_.max(initial=0.0)
        assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=0, atol=1e-3 * scale)
    return model, exact


def scaled(factor):
    return lambda: make_blobs(300, n_features=6, centers=4, random_state=0)[0] * factor


def _iris():
    return load_iris().data


SETS = {
    "digits": (lambda: load_digits().data[:300], 5),
    "iris": (_iris, 3),
    "blobs / 1000": (scaled(1e-3), 3),
    "blobs": (scaled(1.0), 3),
    "blobs x 1000": (scaled(1e3), 3),
    "blobs x 1000000": (scaled(1e6), 3),
    "duplicates": (lambda: np.repeat(_iris()[::3], 3, axis=0), 3),
    "constant features": (lambda: np.c_[_iris(), np.full((150, 3), 7.0)], 3),
}
LIMITS = {"rbf": MEDIAN, "linear": {"kernel": "linear"}, "poly": {"kernel": "poly"}}


@pytest.mark.parametrize(("name", "kernel"), [(name, kernel) for name in SETS for kernel in LIMITS])
def test_defaults_converge_to_exact_kernel_pca_or_warn(name, kernel):
    make, r = SETS[name]
    for seed in (4,) if name.startswith("blobs ") else (2, 3, 4):
        assert_exact_or_warned(make(), r, seed, **LIMITS[kernel])


@pytest.mark.parametrize("gain", ["et", "smd"])
def test_signs_and_scores_are_those_of_kernel_pca(blobs, gain):
    for seed in range(3):
        model = HebbianKernelPCA(3, gain=gain, max_iter=150, tol=0, random_state=seed, **MEDIAN).fit(blobs)
        exact = KernelPCA(3, **MEDIAN).fit(blobs)
        close(model.transform(blobs), exact.transform(blobs), 0.01)
        assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-4)
        assert_allclose(model.expansion_.trace, exact.expansion_.trace, rtol=1e-12)


def test_the_orthonormal_basis_spans_the_rows_as_they_are(iris):
    options = {"gain": "constant", "max_iter": 2, "tol": 0, "random_state": 0, **MEDIAN}  # far from converged
    raw = HebbianKernelPCA(4, orthonormalize=False, **options).fit(iris)
    model = HebbianKernelPCA(4, **options).fit(iris)
    assert np.abs(raw.expansion_.gram - np.eye(4)).max() > 0.1
    assert_allclose(model.expansion_.gram, np.eye(4), atol=1e-9)
    assert subspace_distance(raw, model) < 1e-6
    scores = model.transform(iris)
    assert_allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-8 * model.eigenvalues_[0])
    assert (scores[np.abs(scores).argmax(axis=0), range(4)] > 0).all()
    assert_allclose(raw.reconstruction_error(iris), model.reconstruction_error(iris), atol=1e-9)


@pytest.mark.parametrize("kernel", LIMITS)
def test_one_row_and_two(iris, kernel):
    model, _ = assert_exact_or_warned(iris[:1], 1, 0, **LIMITS[kernel])
    assert_array_equal(model.transform(iris[:5]), np.zeros((5, 1)))
    model, exact = assert_exact_or_warned(iris[[0, 80]], 2, 0, **LIMITS[kernel])
    close(np.abs(model.transform(iris)), np.abs(exact.transform(iris)), 1e-6)  # signs of two equal scores are rounding


@pytest.mark.parametrize(
    ("kernel", "dtype"), [("rbf", "f8"), ("linear", "f8"), ("poly", "f8"), ("rbf", "f4"), ("poly", "f4")]
)
def test_equal_rows_have_no_components(iris, kernel, dtype):
    X = np.tile(iris[0], (20, 1)).astype(dtype)
    model = HebbianKernelPCA(3, random_state=0, **LIMITS[kernel]).fit(X)
    assert_array_equal(model.eigenvalues_, np.zeros(3))
    assert_array_equal(model.transform(iris.astype(dtype)), np.zeros((150, 3)))
    assert (model.explained_variance_ratio_ >= 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_components_beyond_the_rank_are_zero(dtype, rng):
    X = rng.standard_normal((40, 2)).astype(dtype)
    model = HebbianKernelPCA(8, kernel="linear", random_state=0).fit(X)
    exact = KernelPCA(8, kernel="linear").fit(X)
    assert_array_equal(model.eigenvalues_[2:], np.zeros(6))
    close(model.transform(10 * X), exact.transform(10 * X), 1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("two", [False, True])
def test_rows_of_enormous_size(iris, kernel, two):
    X = iris.copy()
    X[7] *= 1e6 / np.linalg.norm(X[7])
    if two:
        X[80] *= -1e6 / np.linalg.norm(X[80])
    assert_exact_or_warned(X, 3, 0, distance=0.15, **LIMITS[kernel])


@pytest.mark.parametrize("scale", [1e-100, 1e100, 1e150])
@pytest.mark.parametrize("way", ["all rows", "landmarks", "stream"])
def test_rows_whose_kernel_values_cannot_be_squared_are_refused(iris, scale, way):
    model = HebbianKernelPCA(2, kernel="linear", landmarks=None if way == "all rows" else 20, random_state=0)
    with pytest.raises(ValueError, match=r"largest kernel value .* Scale the rows"):
        (model.partial_fit if way == "stream" else model.fit)(scale * iris)


def test_a_stream_accepts_tiny_rows_among_others_and_refuses_enormous_ones(iris):
    model = HebbianKernelPCA(2, kernel="linear", landmarks=20, random_state=0).partial_fit(iris)
    model.partial_fit(1e-100 * iris[:3])
    with pytest.raises(ValueError, match="largest kernel value"):
        model.partial_fit(1e100 * iris[:3])
    assert model.n_samples_seen_ == len(iris) + 3


def test_more_components_than_rows_are_cut_with_a_warning_that_names_the_caller(iris):
    with pytest.warns(UserWarning, match="n_components=9, but the data allow only 4"):
        model = HebbianKernelPCA(9, random_state=0).fit(iris[::40])
    assert model.transform(iris).shape == (150, 4)
    assert HebbianKernelPCA(random_state=0, max_iter=2).fit(iris).transform(iris).shape == (150, 10)


# -- the guard ---------------------------------------------------------------------------------------------------------


def _guarded(iris, **parameters):
    model, caught = warned(lambda: HebbianKernelPCA(3, random_state=0, **{**MEDIAN, **parameters}).fit(iris))
    scores = model.transform(iris)
    assert np.isfinite(scores).all()
    assert_allclose(model.expansion_.gram, np.eye(3), atol=1e-8)
    return caught


@pytest.mark.parametrize("eta0", [1e3, 1e10, 1e300])
@pytest.mark.parametrize("gain", GAINS)
def test_absurd_gains_give_a_finite_model_and_a_warning(iris, gain, eta0):
    caught = _guarded(iris, gain=gain, eta0=eta0)
    assert len(caught) == 1
    assert "eta0" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("rate", [1e3, 1e10])
def test_an_absurd_meta_rate_warns(iris, rate):
    assert _guarded(iris, smd_rate=rate)


@pytest.mark.parametrize("gain", GAINS)
def test_absurd_gains_on_landmarks_warn_as_well(iris, gain):
    assert _guarded(iris, gain=gain, eta0=1e10, landmarks=30)


def test_absurd_gains_in_a_stream_warn(blobs):
    model = HebbianKernelPCA(3, random_state=0, landmarks=blobs[:20], gamma=0.01, eta0=1e5)
    _, caught = warned(lambda: stream(model, blobs, 100))
    assert caught
    assert np.isfinite(model.transform(blobs)).all()


def test_warnings_in_a_stream_name_the_caller(blobs):
    model = HebbianKernelPCA(3, random_state=0, landmarks=blobs[:20], gamma=0.01, eta0=1e5)
    _, caught = warned(lambda: stream(model, blobs, 100))
    assert {w.filename for w in caught} == {__file__}


# -- history, stopping, going on, observers ----------------------------------------------------------------------------


@pytest.mark.parametrize("gain", GAINS)
def test_history_tells_what_happened(iris, gain):
    options = {"gain": gain, "random_state": 0, "tol": 0, "orthonormalize": False, **MEDIAN}
    model = HebbianKernelPCA(3, max_iter=6, monitor="excess", **options).fit(iris)
    history = model.history_
    assert set(history) == {"change", "unexplained", "seconds", "excess", "excess_orthonormal"}
    assert {len(values) for values in history.values()} == {6}
    assert (np.diff(history["seconds"]) > 0).all()
    assert history["excess"][-1] == pytest.approx(excess_reconstruction_error(model, iris), rel=1e-6)
    basis = HebbianKernelPCA(3, max_iter=6, **{**options, "orthonormalize": True}).fit(iris)
    assert history["excess_orthonormal"][-1] == pytest.approx(excess_reconstruction_error(basis, iris), rel=1e-4)
    assert history["unexplained"][-1] == pytest.approx(1 - basis.explained_variance_ratio_.sum(), rel=1e-9)
    assert set(basis.history_) == {"change", "unexplained", "seconds"}
    before = HebbianKernelPCA(3, max_iter=5, **options).fit(iris)
    a, b = before.expansion_, model.expansion_
    K = centred(np.exp(-model.gamma_ * ((iris[:, None] - iris) ** 2).sum(-1)))
    moved = np.einsum("ij,ij->i", (b.coef - a.coef) @ K, b.coef - a.coef)
    share = np.minimum(moved / np.diag(b.gram), 1)
    assert history["change"][-1] == pytest.approx(np.sqrt(share.mean()), rel=1e-6)


def test_excess_where_the_components_can_explain_all(blobs):
    options = {"kernel": "linear", "random_state": 0, "max_iter": 20}
    raw = HebbianKernelPCA(6, monitor="excess", orthonormalize=False, **options).fit(blobs)
    basis = HebbianKernelPCA(6, **options).fit(blobs)
    assert raw.history_["excess"][-1] == excess_reconstruction_error(raw, blobs) == np.inf
    assert raw.history_["excess_orthonormal"][-1] == excess_reconstruction_error(basis, blobs) == 0


def test_tol_stops_early_and_zero_never_does(iris):
    model = HebbianKernelPCA(2, tol=0.02, random_state=0, **MEDIAN).fit(iris)
    change = model.history_["change"]
    assert 1 < model.n_iter_ < 50
    assert model.n_iter_ == len(change)
    assert change[-1] <= 0.02 < change[:-1].min()
    assert HebbianKernelPCA(2, tol=0, max_iter=60, random_state=0, **MEDIAN).fit(iris).n_iter_ == 60
    assert HebbianKernelPCA(1, tol=0, max_iter=7, random_state=0).fit(iris[:1]).n_iter_ == 7
    for tol, passes in ((0.02, range(2, 100)), (0, [100])):
        assert HebbianKernelPCA(2, tol=tol, landmarks=40, random_state=0, **MEDIAN).fit(iris).n_iter_ in passes


@pytest.mark.parametrize("gain", GAINS)
def test_a_warm_start_goes_on_exactly(iris, gain):
    init = np.random.default_rng(1).standard_normal((3, 150)) / 20
    options = {
        "gain": gain,
        "init": init,
        "tol": 0,
        "shuffle": False,
        "random_state": 0,
        "orthonormalize": False,
        **MEDIAN,
    }
    once = HebbianKernelPCA(3, max_iter=10, **options).fit(iris)
    twice = HebbianKernelPCA(3, max_iter=5, warm_start=True, **options).fit(iris)
    half = twice.transform(iris)
    twice.fit(iris)
    assert np.abs(half - once.transform(iris)).max() > 1e-5
    assert_array_equal(twice.transform(iris), once.transform(iris))
    assert twice.n_iter_ == 5
    assert_array_equal(twice.history_["change"], once.history_["change"][5:])
    cold = HebbianKernelPCA(3, max_iter=5, **options).fit(iris).fit(iris)
    assert_array_equal(cold.transform(iris), half)


@pytest.mark.parametrize("how", ["pickle", "save"])
def test_a_warm_start_survives_files(iris, how, tmp_path):
    model = HebbianKernelPCA(3, max_iter=3, warm_start=True, random_state=0, tol=0, **MEDIAN).fit(iris)
    other = reloaded(model, how, tmp_path)
    assert_array_equal(model.fit(iris).transform(iris), other.fit(iris).transform(iris))


def test_a_warm_start_on_other_rows_learns_these(blobs):
    options = {"kernel": "linear", "gain": "constant", "eta0": 1e-4, "random_state": 0, "tol": 0}
    model = HebbianKernelPCA(3, warm_start=True, orthonormalize=False, **options)
    X = blobs[150:]
    model.fit(blobs[:150][:, ::-1]).fit(X)
    C = X - X.mean(axis=0)
    W = model.expansion_.coef @ C
    assert_allclose(model.expansion_.gram, W @ W.T, atol=1e-8)


def test_a_warm_start_on_landmarks(iris):
    options = {"landmarks": iris[::4], "tol": 0, "shuffle": False, "random_state": 0, **MEDIAN}
    once = HebbianKernelPCA(3, max_iter=10, **options).fit(iris)
    twice = HebbianKernelPCA(3, max_iter=5, warm_start=True, **options).fit(iris).fit(iris)
    close(twice.transform(iris), once.transform(iris))


@pytest.mark.parametrize("landmarks", [None, 30])
@pytest.mark.parametrize("wanted", [2, 4])
def test_a_warm_start_with_another_number_of_components_has_that_number(iris, landmarks, wanted):
    model = HebbianKernelPCA(3, landmarks=landmarks, max_iter=3, tol=0, warm_start=True, random_state=0, **MEDIAN).fit(
        iris
    )
    assert model.set_params(n_components=wanted).fit(iris).n_components_ == wanted
    assert model.transform(iris).shape == (150, wanted)


@pytest.mark.parametrize("landmarks", [None, 40])
@pytest.mark.parametrize("gain", ["smd", "et"])
def test_a_warm_start_that_fails_leaves_the_last_fit_as_it_was(iris, gain, landmarks):
    def stop(event) -> None:
        if event.step == 2:
            raise KeyboardInterrupt

    options = {"gain": gain, "landmarks": landmarks, "warm_start": True, "random_state": 0, "tol": 0, **MEDIAN}
    model, same = (HebbianKernelPCA(3, max_iter=3, **options).fit(iris) for _ in range(2))
    for rows in (iris, 2 * iris[::-1]):
        model.observers = (stop,)
        with pytest.raises(KeyboardInterrupt):
            model.fit(rows)
        del model.observers
    assert_array_equal(model.fit(iris).transform(iris), same.fit(iris).transform(iris))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("landmarks", [None, 30])
def test_a_warm_start_with_another_centring_learns_with_it(iris, first, landmarks):
    options = {"max_iter": 2, "tol": 0, "random_state": 0, "landmarks": landmarks, **MEDIAN}
    model = HebbianKernelPCA(3, center=first, warm_start=True, **options).fit(iris)
    scores = model.set_params(center=not first).fit(iris).transform(iris)
    assert_allclose(np.sum(scores**2, axis=0), model.eigenvalues_)


def test_a_warm_start_keeps_its_gain(iris):
    model = HebbianKernelPCA(3, max_iter=2, warm_start=True, random_state=None).fit(iris)
    eta0 = model.eta0_
    assert model.fit(iris).eta0_ == eta0


@pytest.mark.parametrize("landmarks", [None, 40])
def test_observers_hear_of_each_pass(iris, landmarks):
    model, history = HebbianKernelPCA(3, max_iter=7, tol=0, landmarks=landmarks, random_state=0), History()
    model.observers = (history,)
    model.fit(iris)
    assert [(e.step, e.total) for e in history.events] == [(i, 7) for i in range(1, 8)]
    if landmarks is None:
        assert_array_equal([e.residual for e in history.events], model.history_["change"])


def test_history_on_landmarks(iris):
    model = HebbianKernelPCA(3, max_iter=4, tol=0, landmarks=40, random_state=0).fit(iris)
    assert len(model.history_["seconds"]) == model.n_iter_ == 4
    assert (np.diff(model.history_["seconds"]) > 0).all()
    residuals = HebbianKernelPCA(3, max_iter=4, tol=1e-9, landmarks=40, random_state=0).fit(iris).history_["residual"]
    assert len(residuals) == 4
    assert (residuals > 0).all()


# -- landmarks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", LIMITS)
def test_all_rows_as_landmarks_lead_to_kernel_pca(iris, kernel):
    model = HebbianKernelPCA(3, landmarks=iris, random_state=0, **LIMITS[kernel]).fit(iris)
    exact = KernelPCA(3, **LIMITS[kernel]).fit(iris)
    assert subspace_distance(model, exact) < 0.02
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-4)
    assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-4)
    assert_allclose(model.expansion_.gram, np.eye(3), atol=1e-9)


def test_as_many_landmarks_as_rows_lead_to_kernel_pca(iris):
    model, caught = warned(lambda: HebbianKernelPCA(3, landmarks=150, random_state=0, **MEDIAN).fit(iris))
    assert caught or subspace_distance(model, KernelPCA(3, **MEDIAN).fit(iris)) < 0.1


def test_signs_on_landmarks_are_those_of_kernel_pca(blobs):
    for parameters in ({"kernel": "rbf", "gamma": 0.01}, {"kernel": "linear"}):
        model = HebbianKernelPCA(3, landmarks=blobs[:100], random_state=0, **parameters).fit(blobs)
        exact = KernelPCA(3, **parameters).fit(blobs)
        assert (np.einsum("ij,ij->j", model.transform(blobs), exact.transform(blobs)) > 0).all()


@pytest.mark.parametrize("selection", ["auto", "uniform", "kmeans", "rpcholesky", "ald"])
def test_a_number_of_landmarks(blobs, selection):
    model = HebbianKernelPCA(3, landmarks=60, selection=selection, random_state=0, **MEDIAN).fit(blobs)
    assert model.expansion_.n_points <= 60
    exact = KernelPCA(3, **MEDIAN).fit(blobs)
    assert subspace_distance(model, exact) < 0.3
    assert_allclose(model.expansion_.trace, exact.expansion_.trace, rtol=0.01)  # what they miss is counted
    assert model.n_samples_seen_ == 300


def test_wrong_shapes_are_explained(iris):
    with pytest.raises(ValueError, match=r"init must be of shape \(3, 150\)"):
        HebbianKernelPCA(3, init=np.zeros((3, 5))).fit(iris)
    with pytest.raises(ValueError, match="landmarks have 2 features; X has 4"):
        HebbianKernelPCA(3, landmarks=iris[:9, :2]).fit(iris)
    with pytest.raises(ValueError, match="precomputed"):
        HebbianKernelPCA(3, kernel="precomputed").partial_fit(np.eye(4))
    with pytest.raises(ValueError, match="precomputed"):
        HebbianKernelPCA(3, kernel="precomputed", landmarks=3).fit(np.eye(4))


# -- streams -----------------------------------------------------------------------------------------------------------


def spanned(rng, m=9, n=230):
    """Landmarks that are far apart, so that K_mm is well conditioned, rows, and coefficients."""
    L = 3.0 * np.vstack([np.eye(4), -np.eye(4), np.zeros((1, 4))])[:m]
    return L, rng.normal([1.0, 0.0, 0.5, 0.0], 1.0, (n, 4)), rng.standard_normal((3, m)) / 4


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("gain", GAINS)
def test_a_stream_is_the_generalised_hebbian_algorithm_on_the_landmarks(gain, center, rng):
    L, X, init = spanned(rng)
    function = KERNELS["rbf"][1]
    values, vectors = np.linalg.eigh(function(L, L))
    root = (vectors * np.sqrt(values)) @ vectors.T  # K_mm^(1/2), symmetric
    F, W = function(X, L) @ np.linalg.inv(root), init @ root
    new = rng.standard_normal((20, 4))
    if gain == "smd":
        W, mean = naive.linear_smd(F, W, 0.05, len(L), center, 0.3, 0.99), F.mean(axis=0) * center
    else:
        W, mean, _, _ = naive.linear(F, W, "gha", gain, 0.05, len(L), center)
    expected = (function(new, L) @ np.linalg.inv(root) - mean) @ W.T
    for size in (1, 7, 100, 230):
        model = HebbianKernelPCA(
            3,
            gain=gain,
            eta0=0.05,
            smd_rate=0.3,
            landmarks=L,
            init=init,
            gamma=0.1,
            center=center,
            orthonormalize=False,
        )
        stream(model, X, size)
        close(model.transform(new), expected)
        assert model.n_samples_seen_ == 230
        assert model.expansion_.n_points == len(L)
        total = (1 - (mean @ mean)) if center else 1.0  # k(x, x) = 1; the mean of what landmarks miss is not known
        assert model.expansion_.trace == pytest.approx(230 * total, rel=0.05)


@pytest.mark.parametrize("gain", GAINS)
def test_chunks_make_no_difference_to_the_orthonormal_model(gain, rng):
    L, X, init = spanned(rng)
    models = [
        stream(HebbianKernelPCA(3, gain=gain, eta0=0.05, smd_rate=0.3, landmarks=L, init=init, gamma=0.1), X, size)
        for size in (230, 1, 7, 100)
    ]
    for model in models[1:]:
        close(model.transform(X), models[0].transform(X), 1e-9)
        close(model.eigenvalues_, models[0].eigenvalues_, 1e-9)
    assert_allclose(models[0].expansion_.gram, np.eye(3), atol=1e-9)


def exact_scores(X, new, r, center):
    """Scores of `new` on the leading components of X, and the eigenvalues, by an eigendecomposition of K'."""
    function = KERNELS["rbf"][1]
    K, Kx = function(X / 3, X / 3), function(new / 3, X / 3)
    K, Kx = (centred(K), centred(K, Kx)) if center else (K, Kx)
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1][:r], vectors[:, ::-1][:, :r]
    scale = np.where(values > 1e-12, 1 / np.sqrt(np.maximum(values, 1e-12)), 0)
    return Kx @ (vectors * scale), np.maximum(values, 0)


@pytest.mark.parametrize("center", [True, False])
def test_before_there_are_enough_rows_the_model_is_exact(blobs, center):
    model, n = HebbianKernelPCA(5, landmarks=80, gamma=0.1 / 9, center=center, random_state=0), 0
    for size in (1, 1, 1, 7, 30, 39):
        model.partial_fit(blobs[n : n + size])
        n += size
        scores, values = exact_scores(blobs[:n], blobs, min(5, n), center)
        assert_allclose(np.abs(model.transform(blobs)), np.abs(scores), atol=1e-8)
        assert_allclose(model.eigenvalues_, values, atol=1e-10)
        assert model.n_samples_seen_ == n
    before, added = model.transform(blobs), blobs[n : n + 1]
    model.partial_fit(added)  # the eightieth: now there are landmarks, and it is as exact
    scores, values = exact_scores(blobs[:80], blobs, 5, center)
    assert np.abs(before - model.transform(blobs)).max() > 1e-3
    assert_allclose(np.abs(model.transform(blobs)), np.abs(scores), atol=1e-6)
    assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    assert model.expansion_.n_points == 80


def test_a_buffer_may_be_used_again_for_each_chunk(blobs):
    model, buffer = HebbianKernelPCA(3, gamma=0.01, landmarks=100), np.empty((20, 6))
    for rows in chunks(blobs[:60], 20):
        buffer[:] = rows
        model.partial_fit(buffer)
    exact = KernelPCA(3, kernel="rbf", gamma=0.01).fit(blobs[:60])
    assert_allclose(model.transform(blobs), exact.transform(blobs), atol=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("size", [1, 50])
def test_automatic_gains_of_a_stream_suit_its_scale(blobs, scale, size):
    X = blobs * scale
    model = HebbianKernelPCA(2, kernel="linear", landmarks=X[:30], random_state=0)
    for _ in range(3):
        stream(model, X, size)
    assert subspace_distance(model, KernelPCA(2, kernel="linear").fit(X)) < 0.05


def test_the_median_distance_of_a_stream_is_that_of_the_first_rows(blobs):
    model = stream(HebbianKernelPCA(2, landmarks=100, random_state=0, **MEDIAN), 1e-3 * blobs[:150], 1)
    assert model.gamma_ == pytest.approx(KernelPCA(2, **MEDIAN).fit(1e-3 * blobs[:150]).gamma_, rel=0.5)


def test_a_stream_goes_on_after_a_fit(blobs):
    model = HebbianKernelPCA(3, gamma=0.01, random_state=0).fit(blobs[:200])
    fitted = model.expansion_
    model.partial_fit(blobs[200:201])
    assert subspace_distance(model, fitted) < 0.05  # one row cannot turn it far
    assert model.n_samples_seen_ == 201
    stream(model, blobs[201:], 33)
    assert model.n_samples_seen_ == 300
    exact = KernelPCA(3, kernel="rbf", gamma=0.01).fit(blobs)
    assert subspace_distance(model, exact) < 0.3
    assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=0.1)
    fresh = HebbianKernelPCA(3, gamma=0.01, random_state=0).fit(blobs[:200])
    assert_array_equal(model.fit(blobs[:200]).transform(blobs), fresh.transform(blobs))  # and fit starts anew


STAGES = {
    "waiting": {"landmarks": 200},
    "on chosen landmarks": {"landmarks": 30},
    "on given landmarks": {"landmarks": np.random.default_rng(0).standard_normal((25, 6)) * 5},
    "by default": {},
}


@pytest.mark.parametrize("gain", ["constant", "smd"])
@pytest.mark.parametrize("how", ["pickle", "save"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_stream_survives_files_bit_by_bit(blobs, stage, how, gain, tmp_path):
    model = HebbianKernelPCA(3, gamma=0.01, random_state=0, gain=gain, **STAGES[stage])
    stream(model, blobs[:100], 33)
    other = reloaded(model, how, tmp_path)
    for rows in chunks(blobs[100:], 41):
        model.partial_fit(rows)
        other.partial_fit(rows)
        assert_array_equal(model.transform(blobs), other.transform(blobs))
        assert_array_equal(model.eigenvalues_, other.eigenvalues_)


@pytest.mark.parametrize("how", ["pickle", "save"])
def test_a_fit_goes_on_after_files(blobs, how, tmp_path):
    for landmarks in (None, 40):
        model = HebbianKernelPCA(3, gamma=0.01, landmarks=landmarks, random_state=0).fit(blobs[:200])
        other = reloaded(model, how, tmp_path)
        assert_array_equal(
            model.partial_fit(blobs[200:]).transform(blobs), other.partial_fit(blobs[200:]).transform(blobs)
        )


def test_a_stream_does_not_grow(rng):
    model = HebbianKernelPCA(3, landmarks=40, gamma=0.05, random_state=0)
    stream(model, rng.standard_normal((200, 5)), 50)
    size = len(pickle.dumps(model))
    stream(model, rng.standard_normal((3000, 5)), 250)
    assert abs(len(pickle.dumps(model)) - size) < 64
    assert model.n_samples_seen_ == 3200


def test_a_constant_gain_follows_components_that_turn(rng):
    spread = np.array([3.0, 2.0, 0.5, 0.5, 0.5])
    before, after = rng.standard_normal((1500, 5)) * spread, rng.standard_normal((4000, 5)) * spread[::-1]
    truth = KernelPCA(2, kernel="linear").fit(after)
    distances = {}
    for gain in ("constant", "t"):
        model = stream(HebbianKernelPCA(2, kernel="linear", gain=gain, landmarks=20, random_state=0), before, 100)
        assert subspace_distance(model, truth) > 2.0
        distances[gain] = subspace_distance(stream(model, after, 100), truth)
    assert distances["constant"] < 0.2
    assert distances["t"] > 2 * distances["constant"]


CHANGE_OF_GAIN = """
import numpy as np
from mercer import HebbianKernelPCA
X = np.random.default_rng(0).standard_normal((512, 4))
model = HebbianKernelPCA(3, gamma=0.1, random_state=0, landmarks=20).fit(X).set_params(gain="constant")
for _ in range(20):
    model.partial_fit(X)
    model.transform(X)
"""


def test_the_gain_may_change_in_a_stream():
    assert subprocess.run([sys.executable, "-c", CHANGE_OF_GAIN], capture_output=True).returncode == 0


def test_sparse_rows(rng):
    X = sp.random(200, 30, density=0.2, random_state=0, format="csr")
    dense = X.toarray()
    for parameters in ({}, {"landmarks": dense[:40]}, {"landmarks": 40, "selection": "uniform"}):
        options = {"gamma": 0.5, "random_state": 0, "max_iter": 5, **parameters}
        a, b = HebbianKernelPCA(3, **options).fit(X), HebbianKernelPCA(3, **options).fit(dense)
        close(a.transform(X), b.transform(dense), 1e-8)
        a, b = (stream(HebbianKernelPCA(3, **options), rows, 30) for rows in (X, dense))
        close(a.transform(X), b.transform(dense), 1e-8)


def test_single_precision(blobs):
    single = blobs.astype(np.float32)
    for parameters in ({}, {"landmarks": 40}):
        options = {"gamma": 0.01, "random_state": 0, "max_iter": 10, **parameters}
        a, b = HebbianKernelPCA(3, **options).fit(single), HebbianKernelPCA(3, **options).fit(blobs)
        assert a.transform(single).dtype == np.float32
        close(a.transform(single), b.transform(blobs), 1e-3)
        assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-4)
        a, b = (stream(HebbianKernelPCA(3, **options), rows, 60) for rows in (single, blobs))
        assert a.transform(single).dtype == np.float32
        close(a.transform(single), b.transform(blobs), 1e-3)


# -- plots -------------------------------------------------------------------------------------------------------------


def test_curves_of_convergence(iris):
    options = {"max_iter": 4, "tol": 0, "monitor": "excess", "random_state": 0}
    runs = {gain: HebbianKernelPCA(3, gain=gain, **options).fit(iris) for gain in GAINS}
    for quantity in ("excess", "excess_orthonormal", "change", "unexplained"):
        axes = plots.convergence(runs, quantity).axes[0]
        assert axes.get_yscale() == "log"
        for line, model in zip(axes.lines, runs.values(), strict=True):
            assert_array_equal(line.get_xdata(), [1, 2, 3, 4])
            assert_array_equal(line.get_ydata(), model.history_[quantity])
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["KHA", "KHA/t", "KHA/et", "KHA-SMD"]
    (alone,) = plots.convergence(runs["et"]).axes
    assert len(alone.lines) == 1
    assert alone.get_legend() is None
    (given,) = plots.convergence({"mine": [0.5, 0.0, 0.1], "smd": runs["smd"]}).axes
    assert_array_equal(given.lines[0].get_ydata(), [0.5, np.nan, 0.1])


def test_what_was_not_recorded_cannot_be_drawn(iris):
    model = HebbianKernelPCA(3, max_iter=2, random_state=0).fit(iris)
    with pytest.raises(
        ValueError, match=r"no record of 'excess'; it has change, seconds, unexplained.*monitor='excess'"
    ):
        plots.convergence(model)
    with pytest.raises(ValueError, match=r"no record of 'loss'; it has change") as error:
        plots.convergence({"smd": model}, "loss")
    assert "monitor" not in str(error.value)
    landmarks = HebbianKernelPCA(3, max_iter=2, landmarks=20, random_state=0).fit(iris)
    with pytest.raises(ValueError, match="no record"):
        plots.convergence(landmarks, "change")
