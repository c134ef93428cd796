"""HebbianPCA finds what PCA finds, on fixed sets and streams, at every scale; and says so where it does not."""

import io
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import mercer
from mercer import HebbianPCA, LandmarkKernelPCA
from mercer.cli import methods
from mercer.events import History
from mercer.plots.hebbian import mode_decay, oja_solution
from textbook import hebbian as naive


def cosines(model, X, r, center=True):
    """|cos| of the angles between the leading components of model and data."""
    X = X.toarray() if sp.issparse(X) else X
    rows = np.linalg.svd(X - X.mean(axis=0) if center else X, full_matrices=False)[2][:r]
    return np.abs((model.components_[:r] * rows).sum(axis=1))


def captured(model, X):
    """Share of the variance that the best subspace of this dimension holds, which the model's holds."""
    X = X - X.mean(axis=0)
    best = np.linalg.svd(X, compute_uv=False)[: len(model.components_)]
    return np.linalg.norm(X @ model.components_.T) ** 2 / (best**2).sum()


def correlated(n, p, ratio, seed=0):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((p, p)))[0]
    return rng.standard_normal((n, p)) * ratio ** (np.arange(p) / 2) @ axes.T + rng.standard_normal(p)


def counts(n=1000, p=300, topics=6, seed=0):
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(p, 0.05), topics)
    return sp.csr_matrix(rng.poisson(40 * rng.dirichlet(np.full(topics, 0.2), n) @ words).astype(float))


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):  # small problems: threads of BLAS would mostly wait for each other
        yield


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)[0]


@pytest.fixture
def X():
    return correlated(300, 6, 0.5)


# -- it is PCA ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["gha", "oja"])
def test_digits_with_the_defaults(digits, rule):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HebbianPCA(5, rule=rule, random_state=0).fit(digits)
    assert cosines(model, digits, 5).min() > 0.999
    exact = PCA(5).fit(digits)
    assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-3)
    assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-3)
    assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-12)
    assert_allclose(model.mean_, digits.mean(axis=0), atol=1e-12)
    assert model.n_iter_ < 100


@pytest.mark.parametrize("gain", ["et", "t", "constant"])
@pytest.mark.parametrize(("n", "p", "ratio"), [(300, 3, 0.5), (500, 20, 0.7), (1000, 200, 0.9)])
def test_correlated_gaussians_need_no_tuning(gain, n, p, ratio):
    X = correlated(n, p, ratio)
    model = HebbianPCA(2, gain=gain, random_state=0, max_iter=400).fit(X)
    assert cosines(model, X, 2).min() > 0.98
    assert captured(model, X) > 0.999


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_the_scale_makes_no_difference(X, scale):
    expected = HebbianPCA(2, random_state=0).fit(X)
    model = HebbianPCA(2, random_state=0).fit(scale * X)
    assert_allclose(model.components_, expected.components_, atol=1e-10)
    assert_allclose(model.eigenvalues_, scale**2 * expected.eigenvalues_, rtol=1e-10)
    assert model.eta0_ == pytest.approx(expected.eta0_ / scale**2)
    stream = HebbianPCA(2, random_state=0).partial_fit(scale * X[:7]).partial_fit(scale * X[7:])
    assert_allclose(stream.components_, HebbianPCA(2, random_state=0).partial_fit(X).components_, atol=1e-10)


@pytest.mark.parametrize("options", [{"normalize": True}, {"clip": 1.0}, {"normalize": True, "rule": "oja"}])
def test_normalised_and_limited_weights_find_it_too(X, options):
    model = HebbianPCA(3, random_state=0, **options).fit(X)
    assert cosines(model, X, 3).min() > 0.999


def test_sparse_counts(digits):
    X = counts()
    model = HebbianPCA(4, random_state=0).fit(X)
    assert cosines(model, X, 4).min() > 0.998
    dense = HebbianPCA(4, random_state=0).fit(X.toarray())
    assert_allclose(model.components_, dense.components_, atol=1e-9)
    assert_allclose(model.transform(X), dense.transform(X.toarray()), atol=1e-8)


def test_without_centring_it_is_the_correlation_matrix(X):
    model = HebbianPCA(2, center=False, random_state=0).fit(X)
    assert cosines(model, X, 2, center=False).min() > 0.999
    assert not model.mean_.any()
    assert_allclose(model.explained_variance_ratio_.sum(), np.sum((X @ model.components_.T) ** 2) / np.sum(X**2))
    assert_allclose(model.transform(X), X @ model.components_.T, atol=1e-12)


# -- streams -----------------------------------------------------------------------------------------------------------


def test_a_stream_ends_near_pca_and_does_not_depend_on_its_chunks():
    X = correlated(6000, 10, 0.6)
    whole = HebbianPCA(2, random_state=0).partial_fit(X)
    assert captured(whole, X) > 0.99
    assert_allclose(whole.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=0.1)
    for chunk in (1, 37, 1000):
        model = HebbianPCA(2, random_state=0)
        for start in range(0, 1000, chunk):
            model.partial_fit(X[start : min(start + chunk, 1000)])
        model.partial_fit(X[1000:])
        assert_allclose(model.components_, whole.components_, atol=1e-9)
        assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
        assert model.n_samples_seen_ == 6000
        assert model.eta0_ == pytest.approx(whole.eta0_)


def test_two_conclusions_of_the_stability_analysis():
    """The weights tend to +-q_1 and the variance of the output to lambda_1 [lecture_notes]."""
    X = correlated(20000, 5, 0.4)
    model = HebbianPCA(1, rule="oja", gain="t", orthonormalize=False, random_state=0).partial_fit(X)
    first = PCA(1).fit(X)
    w = model.components_[0]
    assert abs(w @ first.components_[0]) == pytest.approx(1, abs=2e-3)
    assert np.linalg.norm(w) == pytest.approx(1, abs=2e-3)
    assert model.transform(X).var() == pytest.approx(first.explained_variance_[0], rel=5e-3)
    assert model.explained_variance_[0] == pytest.approx(first.explained_variance_[0], rel=2e-2)


def test_a_constant_gain_follows_change(rng):
    X = rng.standard_normal((2000, 3)) * [3, 1, 0.3]
    model = HebbianPCA(1, gain="constant", eta0=0.003, center=False, random_state=0)
    assert abs(model.partial_fit(X).components_[0, 0]) > 0.99
    assert abs(model.partial_fit(X[:, ::-1]).components_[0, 2]) > 0.99


@pytest.mark.parametrize("gain", ["et", "t", "constant"])
@pytest.mark.parametrize("scale", [1e-2, 1e-6])
def test_after_a_fall_in_scale_it_stays_near_pca_of_all_rows(gain, scale, rng):
    before, after = rng.standard_normal((2, 1500, 6)) * [[[5, 3, 1, 1, 1, 1]], [[1, 1, 1, 1, 3, 5]]]
    X = np.vstack([before, scale * after])
    assert captured(HebbianPCA(2, gain=gain, random_state=0).partial_fit(X), X) > 0.99
    follower = LandmarkKernelPCA(2, kernel="linear", landmarks=50, window=1000, random_state=0)
    for rows in np.split(X, 10):
        follower.partial_fit(rows)
    assert follower.transform(np.eye(6)[4:] * scale).std() > 5 * follower.transform(np.eye(6)[:2] * scale).std()


def test_a_growing_stream_never_explains_more_than_the_whole(rng):
    X = rng.standard_normal((800, 3)) * np.linspace(0, 1, 800)[:, None]
    model = HebbianPCA(3, random_state=0).partial_fit(X)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)


def test_long_passes_take_smaller_gains(X):
    for gain, relative, length in (("et", 0.1, 500), ("et", 0.05, 8000), ("t", 0.15, 8000), ("constant", 0.004, 8000)):
        model = HebbianPCA(2, gain=gain, length=length, tol=0, max_iter=1, random_state=0).fit(X)
        assert model.eta0_ * X.var(axis=0, ddof=1).sum() == pytest.approx(relative)
        assert model.length_ == length


def test_a_fit_can_go_on_as_a_stream(X):
    model = HebbianPCA(2, random_state=0).fit(X[:200])
    model.partial_fit(X[200:])
    assert model.n_samples_seen_ == 300
    assert_allclose(model.mean_, X.mean(axis=0), atol=1e-12)
    assert captured(model, X) > 0.999
    assert model.explained_variance_ratio_.sum() <= 1


# -- to the letter -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["gha", "oja", "normalised"])
@pytest.mark.parametrize("gain", ["constant", "t", "et"])
def test_given_everything_it_is_the_textbook_loop(X, rng, rule, gain):
    init = rng.standard_normal((2, 6)) / 3
    options = {"rule": rule} if rule != "normalised" else {"normalize": True}
    for block in (7, 256):
        model = HebbianPCA(
            2, gain=gain, eta0=0.02, init=init, orthonormalize=False, block_size=block, length=100, **options
        )
        model.partial_fit(X[:120]).partial_fit(X[120:])
        W, mean, total, _ = naive.linear(X, init, rule, gain, 0.02, 100, True)
        assert_allclose(model.components_, W, atol=1e-10)
        assert_allclose(model.transform(X), (X - mean) @ W.T, atol=1e-9)
        assert model._state.total == pytest.approx(total)
        assert model.eta0_ == 0.02
        model = HebbianPCA(2, gain=gain, eta0=0.02, init=init, orthonormalize=False, length=100, clip=0.3, **options)
        W = naive.linear(X, init, rule, gain, 0.02, 100, True, 0.3)[0]
        assert_allclose(model.partial_fit(X).components_, W, atol=1e-10)


def test_two_passes_of_fit_are_the_textbook_loop_on_centred_rows(X, rng):
    init = rng.standard_normal((2, 6)) / 3
    model = HebbianPCA(2, gain="t", eta0=0.02, init=init, shuffle=False, tol=0, max_iter=2, orthonormalize=False).fit(X)
    rows = np.vstack([X, X]) - X.mean(axis=0)
    assert_allclose(model.components_, naive.linear(rows, init, "gha", "t", 0.02, 300, False)[0], atol=1e-10)
    assert model.n_iter_ == 2
    scores = model.transform(X)
    assert_allclose(model.eigenvalues_, (scores**2).sum(axis=0), rtol=1e-9)


def test_raw_weights_and_axes_are_the_same_subspace(X):
    raw = HebbianPCA(3, orthonormalize=False, random_state=0).fit(X)
    axes = HebbianPCA(3, random_state=0).fit(X)
    assert_allclose(raw.reconstruction_error(X), axes.reconstruction_error(X), atol=1e-8)
    assert_allclose(raw.inverse_transform(raw.transform(X)), axes.inverse_transform(axes.transform(X)), atol=1e-8)


def test_block_size_makes_no_difference(X):
    expected = HebbianPCA(3, random_state=0, block_size=1).fit(X)
    for block in (7, 64, 256):
        model = HebbianPCA(3, random_state=0, block_size=block).fit(X)
        assert_allclose(model.components_, expected.components_, atol=1e-9)


def test_a_warm_start_begins_with_the_weights_of_the_last_fit(X):
    model = HebbianPCA(3, random_state=0, warm_start=True, orthonormalize=False).fit(X)
    kept = model.components_
    model.set_params(eta0=1e-12, max_iter=1, tol=0).fit(X)
    assert_allclose(model.components_, kept, atol=1e-8)
    assert model.n_samples_seen_ == 300
    assert not np.allclose(model.set_params(warm_start=False).fit(X).components_, kept, atol=1e-2)
    assert model.set_params(warm_start=True).fit(X[:, :4]).components_.shape == (3, 4)
    assert model.set_params(n_components=2).fit(X[:, :4]).components_.shape == (2, 4)


def test_reconstruction_is_exact_with_all_components(X):
    model = HebbianPCA(6, random_state=0).fit(X)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)
    assert model.reconstruction_error(X).max() < 1e-9
    single = HebbianPCA(2, random_state=0).fit(X.astype(np.float32))
    assert single.inverse_transform(single.transform(X.astype(np.float32))).dtype == np.float32


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"normalize": True, "gain": "t"}, {"gain": "constant", "eta0": 0.01}])
def test_saved_and_pickled_models_learn_on(X, tmp_path, options):
    model = HebbianPCA(2, random_state=0, length=64, **options).partial_fit(X[:111])
    model._state.guard.scale = 0.25  # as after steps that diverged
    model.save(tmp_path / "model")
    copies = [mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[111:])
    for copy in copies:
        assert copy.n_samples_seen_ == 111
        copy.partial_fit(X[111:])
        for name in ("components_", "mean_", "eigenvalues_", "eta0_", "length_"):
            assert np.array_equal(getattr(copy, name), getattr(model, name)), name


def test_no_rows_are_kept(digits):
    model = HebbianPCA(3, random_state=0).fit(digits)
    assert len(pickle.dumps(model)) < 10 * 4 * 64 * 8


def test_the_command_line_offers_it():
    assert isinstance(methods.find("hebbian-pca").make({"rule": "oja"}), HebbianPCA)


# -- at the edges ------------------------------------------------------------------------------------------------------


def finite(model, X):
    scores = model.transform(X)
    parts = (model.components_, model.eigenvalues_, model.explained_variance_ratio_, scores, [model.eta0_])
    back = (model.inverse_transform(scores), model.reconstruction_error(X), model.mean_)
    return all(np.isfinite(part).all() for part in (*parts, *back))


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("rows", "r", "rank"),
    [
        (correlated(1, 6, 0.5), 2, 0),
        (correlated(2, 6, 0.5), 2, 1),
        (correlated(3, 6, 0.5), 5, 2),
        (np.full((40, 4), 7.0), 2, 0),
        (np.repeat(correlated(4, 6, 0.5), 50, axis=0), 4, 3),
        (correlated(200, 6, 0.5) * [1, 1, 0, 1, 1, 1] + 3, 3, 3),
        (np.zeros((30, 3)), 1, 0),
    ],
    ids=["one row", "two rows", "fewer rows than components", "constant", "duplicates", "constant feature", "zeros"],
)
def test_degenerate_data(rows, r, rank, way):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=.*, but the data allow only")
        model = getattr(HebbianPCA(r, random_state=0), way)(rows)
    assert finite(model, rows)
    most = len(rows) if way == "fit" else r  # more rows of a stream can follow
    assert model.components_.shape == (min(r, most), rows.shape[1])
    values = model.explained_variance_
    total = ((rows - rows.mean(axis=0)) ** 2).sum()
    beyond = 1e-12 if way == "fit" else 1e-4  # a stream remembers what its weights were
    assert (values[rank:] <= beyond * total).all()
    if rank and way == "fit":
        assert captured(model, rows) > 0.999


def test_a_first_chunk_of_one_row(X):
    model = HebbianPCA(2, random_state=0).partial_fit(X[:1])
    assert finite(model, X)
    assert model.eta0_ == 0
    for row in X[1:]:
        model.partial_fit(row[None])
    assert captured(model, X) > 0.9
    assert HebbianPCA().partial_fit(X[:1]).components_.shape == (1, 6)


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_gigantic_rows_are_reported(X, way):
    X[17] = 1e6
    with pytest.warns(ConvergenceWarning, match="about 1 of them"):
        model = getattr(HebbianPCA(2, random_state=0), way)(X)
    assert finite(model, X)


def test_data_far_from_the_origin(X):
    expected = HebbianPCA(2, random_state=0).fit(X)
    model = HebbianPCA(2, random_state=0).fit(X + 1e6)
    assert_allclose(model.components_, expected.components_, atol=1e-6)
    assert_allclose(model.transform(X + 1e6), expected.transform(X), atol=1e-5)


def test_too_large_a_gain_is_tamed_and_reported(X):
    with pytest.warns(ConvergenceWarning, match="eta0='auto'"):
        model = HebbianPCA(2, eta0=1e3, random_state=0, max_iter=20).fit(X)
    assert finite(model, X)
    with pytest.warns(ConvergenceWarning, match="halved"):
        assert finite(HebbianPCA(2, eta0=1e3, random_state=0).partial_fit(X), X)


def test_what_cannot_be_learned_keeps_the_last_good_weights(X):
    model = HebbianPCA(2, eta0=0.01, random_state=0).partial_fit(X)
    kept = model.components_
    X[3] = 1e60
    with pytest.warns(ConvergenceWarning, match="last good weights"):
        model.partial_fit(X)
    assert np.array_equal(model.components_, kept)
    with pytest.warns(ConvergenceWarning, match="last good weights|about 1 of them"):
        assert np.isfinite(HebbianPCA(2, eta0=0.01, random_state=0).fit(X).components_).all()


def test_unfinished_learning_is_reported(digits):
    with pytest.warns(ConvergenceWarning, match="After 1 passes"):
        HebbianPCA(5, max_iter=1, random_state=0).fit(digits)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert HebbianPCA(5, max_iter=3, tol=0, random_state=0).fit(digits).n_iter_ == 3


def test_wrong_parameters(X):
    with pytest.raises(ValueError, match=r"init must be of shape \(2, 6\)"):
        HebbianPCA(2, init=np.ones((3, 6))).fit(X)
    with pytest.raises(ValueError, match="Divide X by a constant"):
        HebbianPCA(2).fit(X * 1e80)
    with pytest.warns(UserWarning, match="n_components=9, but the data allow only 6"):
        assert HebbianPCA(9).fit(X).components_.shape == (6, 6)
    assert HebbianPCA(tol=0, max_iter=1).fit(correlated(50, 20, 0.9)).components_.shape == (10, 20)


def test_progress_is_told(X):
    model, history = HebbianPCA(2, random_state=0), History()
    model.observers = (history,)
    model.fit(X)
    assert [event.step for event in history.events] == list(range(1, model.n_iter_ + 1))
    assert history.events[-1].residual <= model.tol


# -- the figure --------------------------------------------------------------------------------------------------------


def test_the_modes_follow_the_differential_equation():
    values, theta, step = np.array([1.0, 0.5, 0.2]), np.array([0.3, 0.8, 0.9]), 1e-4
    path = theta.copy()
    for _ in range(20000):
        path = path + step * (values * path - path * (values @ path**2))
    assert_allclose(oja_solution(theta, values, np.array([0.0, 2.0]))[1], path, atol=1e-3)
    assert_allclose(oja_solution(theta, values, np.array([1e4]))[0], [1, 0, 0], atol=1e-12)


def test_the_figure_draws_each_mode_and_its_decay():
    values, gain, times = np.array([1.0, 0.5, 0.2]), 0.01, np.arange(0, 500, 10)
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    weights = oja_solution(np.array([0.3, 0.8, 0.5]), values, gain * times) @ axes.T
    figure = mode_decay(weights, times, values, axes, gain)
    ratios, lyapunov = figure.axes
    assert len(ratios.lines) == 4
    assert_allclose(ratios.lines[0].get_ydata(), 0.8 / 0.3 * np.exp(-0.5 * gain * times), rtol=1e-9)
    assert_allclose(ratios.lines[3].get_ydata()[-1], 0.5 / 0.3 * np.exp(-0.8 * gain * times[-1]), rtol=1e-9)
    assert (np.diff(lyapunov.lines[0].get_ydata()) < 0).all()
    figure.savefig(io.BytesIO(), format="png", dpi=40)


def test_passes_that_cannot_finish_among_equal_directions_are_told_with_what_is_exact():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 40)) + 0.1 * rng.standard_normal((300, 40))
    with pytest.warns(
        ConvergenceWarning, match="fewer components.*KernelPCA.*exact"
    ):  # all directions of noise are alike
        HebbianPCA(10, max_iter=5, random_state=0).fit(X)
