"""`IncrementalKernelPCA` against the printed equations, batch models, drifting streams, and streams that misbehave."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import mercer
from mercer import IncrementalKernelPCA, KernelPCA, LandmarkKernelPCA, plots
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Polynomial
from mercer.metrics import subspace_distance
from mercer.solvers.incremental import update as incremental
from mercer.solvers.incremental.model import StreamOptions
from mercer.solvers.incremental.update import compressed, nothing_yet, updated
from textbook import incremental as naive
from textbook.kernel_pca import rbf_matrix

POLY = {"kernel": "poly", "gamma": 1, "coef0": 1, "degree": 2}
GAUSS = {"kernel": "rbf", "gamma": 0.5}
SOLVERS = ["subset", "preimage"]


def parabola(seed: int = 0, n: int = 300) -> np.ndarray:
    """[chin2007, V-A1]."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return np.column_stack([x, x**2 + 0.2 * rng.standard_normal(n)])


@pytest.fixture
def X(rng) -> np.ndarray:
    return rng.standard_normal((150, 4)) * [3, 2, 1, 1] + 1


@pytest.fixture
def new(rng) -> np.ndarray:
    return rng.standard_normal((13, 4)) + 1


def fed(model: IncrementalKernelPCA, X, size: int) -> IncrementalKernelPCA:
    for first in range(0, X.shape[0], size):
        model.partial_fit(X[first : first + size])
    return model


def followed(X, kernel, options: StreamOptions, sizes) -> incremental.IncrementalModel:
    model, first = nothing_yet(X), 0
    for i in sizes:
        model = updated(model, kernel, X[first : first + i], options)
        first += i
    return model


def same_scores(a, b, new, tol: float) -> None:
    assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=tol, atol=tol * b.eigenvalues_[0])
    assert_allclose(a.transform(new), b.transform(new), atol=tol * max(1.0, np.abs(b.transform(new)).max()))
    assert_allclose(a.reconstruction_error(new), b.reconstruction_error(new), atol=tol * 10)
    assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, atol=tol)


# -- the printed equations -------------------------------------------------------------------------


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("sizes", [[12, 5, 1, 9], [3, 1, 1, 1, 1, 20]])
def test_updates_are_the_printed_ones(rng, center, sizes):
    X = rng.standard_normal((sum(sizes), 3))
    K = rbf_matrix(X, X, 0.3)
    alpha, sigma, nu = naive.run(K, sizes, 4, center)
    found = followed(X, RBF(0.3), StreamOptions(rank=4, size=0, compression=None, center=center), sizes)
    assert_allclose(found.singular, sigma, rtol=1e-9)
    cosines = np.abs(np.einsum("ik,ij,kj->k", alpha, K, found.vectors))
    assert_allclose(cosines, 1.0, atol=1e-8)
    assert_allclose(found.nu, nu, atol=1e-12)
    assert_allclose(found.values, found.vectors @ K, atol=1e-10)
    assert_allclose(found.mean_values, K @ nu, atol=1e-12)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.booleans(), st.sampled_from([1e-3, 1.0, 1e3]))
def test_any_chunks_of_nasty_rows_are_one_batch(sizes, center, scale):
    """Repeated rows, rows on a line and zero rows, in chunks of any size: batch kernel PCA where the rank suffices."""
    rng = np.random.default_rng(sum(sizes))
    n = sum(sizes)
    X = scale * rng.integers(-1, 2, (n, 2)).astype(float)
    kernel = Polynomial(1 / scale**2, 1.0, 2.0)
    found = followed(X, kernel, StreamOptions(rank=6, size=0, compression=None, center=center), sizes)
    expected, _, _ = naive.weighted_kpca(naive.poly2(X / scale, X / scale), np.ones(n), center)
    expected = expected[expected > 1e-9 * n]
    assert_allclose(found.singular[: len(expected)] ** 2, expected, rtol=1e-9)
    assert (found.singular[len(expected) :] ** 2 < 1e-9 * n).all()
    assert_allclose(found.vectors @ found.values.T, np.eye(len(found.singular)), atol=1e-9)


def test_rounding_does_not_bend_the_components(rng):
    """Two hundred updates by one row each, with components whose variance is 1e-10 of the first's."""
    X = parabola(0, 200)
    found = followed(X, RBF(0.5), StreamOptions(rank=30, size=0, compression=None), [1] * 200)
    K = np.asarray(RBF(0.5)(X, X))
    assert_allclose(found.vectors @ K @ found.vectors.T, np.eye(30), atol=5e-8)


def test_the_printed_reorthogonalisation_gives_back_what_it_got(rng):
    """(34) leaves the basis as it is; the weighted one is orthonormal and holds the whole covariance."""
    Y = rng.standard_normal((7, 2))
    M, sigma = rbf_matrix(Y, Y, 1.0), rng.standard_normal((7, 3))
    assert_allclose(naive.reorthogonalised(M, sigma)[0], sigma, atol=1e-10)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("method", SOLVERS)
def test_compression_keeps_the_covariance_of_what_the_points_can_express(rng, method, center):
    X = rng.standard_normal((60, 3))
    options = StreamOptions(rank=5, size=24, compression=method, center=center)
    model = followed(X, RBF(0.2), replace(options, size=1000, rank=5), [60])
    model = replace(model, vectors=model.vectors[:5], values=model.values[:5], singular=model.singular[:5])
    seen = {}
    original = incremental.compress

    def spy(*args):
        seen["found"], seen["coef"], seen["weights"] = original(*args), args[2], args[3]
        return seen["found"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incremental, "compress", spy)
        small = compressed(model, RBF(0.2), options)
    assert_allclose(seen["weights"], [*model.singular, 60**0.5] if center else model.singular)
    assert_allclose(seen["coef"], [*model.vectors, np.full(60, 1 / 60)] if center else model.vectors)
    assert len(small.gram) == len(small.points) <= 24
    assert_allclose(small.gram, rbf_matrix(small.points, small.points, 0.2), atol=1e-12)
    assert_allclose(small.vectors @ small.gram @ small.vectors.T, np.eye(5), atol=1e-9)
    assert_allclose(small.values, small.vectors @ small.gram, atol=1e-9)
    expected = naive.compressed_covariance(seen["found"].coef[:5].T, model.singular, small.gram)
    assert_allclose(small.singular**2, expected, rtol=1e-9)
    assert (np.diff(small.singular) <= 0).all()
    assert (small.weight, small.own, small.seen) == (model.weight, model.own, model.seen)


# -- equal to batch where the rank suffices ----------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 30, 1000])
@pytest.mark.parametrize("size", [1, 7, 30, 300])
def test_chunks_of_any_size_give_the_batch_model(size, batch_size):
    X, new = parabola(), parabola(1, 20)
    batch = KernelPCA(5, **POLY).fit(X)
    model = fed(IncrementalKernelPCA(5, rank=6, batch_size=batch_size, compression=None, **POLY), X, size)
    assert subspace_distance(model, batch) <= 1e-6
    same_scores(model, batch, new, 1e-8)


def test_without_centring_it_is_the_svd_of_the_kernel():
    X, new = parabola(), parabola(1, 20)
    K = np.asarray(Polynomial(1.0, 1.0, 2.0)(X, X))
    values, vectors = np.linalg.eigh(K)
    model = fed(IncrementalKernelPCA(6, rank=6, center=False, compression=None, **POLY), X, 13)
    assert_allclose(model.eigenvalues_, values[::-1][:6], rtol=1e-9)
    scores = model.transform(X)
    assert_allclose(np.abs(np.sum(scores * vectors[:, ::-1][:, :6], axis=0)), np.sqrt(values[::-1][:6]), rtol=1e-8)
    assert model.expansion_.nu is None
    assert_allclose(model.reconstruction_error(new), 0.0, atol=1e-8)


def test_the_first_rows_lose_nothing(X, new):
    """Until (rank + 1) * points_per_component rows have come, it is exact kernel PCA, whatever the rank."""
    batch = KernelPCA(3, kernel="rbf", gamma=0.2).fit(X[:60])
    for compression in ("subset", None):
        model = IncrementalKernelPCA(3, rank=5, gamma=0.2, batch_size=7, compression=compression)
        same_scores(fed(model, X[:60], 11), batch, new, 1e-9)
        assert subspace_distance(model, batch) < 1e-7


@pytest.mark.parametrize("method", SOLVERS)
def test_compressed_models_stay_near_batch(method):
    X = parabola(0, 600)
    for params, limit in ((GAUSS, {"subset": 0.005, "preimage": 0.1}), (POLY, {"subset": 1e-3, "preimage": 0.1})):
        batch = KernelPCA(3, **params).fit(X)
        model = IncrementalKernelPCA(3, rank=6, compression=method, **params)
        model.fit(X, reference=batch)
        assert subspace_distance(model, batch) <= limit[method]
        assert model.history_["distance"][-1] == pytest.approx(subspace_distance(model, batch), abs=1e-9)
        assert model.expansion_.n_points <= 70
        assert model.history_["points"].max() <= 70
        assert_allclose(model.eigenvalues_, batch.eigenvalues_, rtol=0.02)
        assert_allclose(model.explained_variance_ratio_, batch.explained_variance_ratio_, rtol=0.02)


def test_the_residual_of_the_history_is_that_of_the_rows(X):
    model = IncrementalKernelPCA(3, gamma=0.2, rank=60, compression=None).fit(X)
    history = model.history_
    assert history["residual"][-1] == pytest.approx(model.reconstruction_error(X).mean(), rel=1e-9)
    assert history["n_seen"].tolist() == [30, 60, 90, 120, 150]
    assert history["points"].tolist() == [30, 60, 90, 120, 150]
    assert (history["seconds"] > 0).all()
    assert np.isnan(history["distance"]).all()
    small = IncrementalKernelPCA(3, gamma=0.2, rank=8).fit(X)
    assert small.history_["residual"][-1] == pytest.approx(small.reconstruction_error(X).mean(), rel=0.02)


def test_a_long_history_is_thinned(monkeypatch):
    monkeypatch.setattr("mercer.estimators.update_history._MOST", 8)
    model = IncrementalKernelPCA(2, gamma=0.5, batch_size=5).fit(parabola(0, 200))
    assert model.history_["n_seen"].tolist() == [40, 80, 120, 160, 200]
    assert model.history_["update"].tolist() == [8, 16, 24, 32, 40]
    resumed = pickle.loads(pickle.dumps(model))
    for other in (model, resumed):
        assert other.partial_fit(parabola(0, 5)).history_["n_seen"].tolist() == [40, 80, 120, 160, 200, 205]
        assert other.partial_fit(parabola(0, 5)).history_["n_seen"].tolist() == [40, 80, 120, 160, 200, 210]


# -- drift -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", ["subset", None])
@pytest.mark.parametrize("center", [True, False])
def test_forgetting_is_a_weighted_batch_model(X, new, compression, center):
    """Each row weighs 0.97 ** (rows after it): the model of these weights, whatever the chunks."""
    f = 0.97
    w = f ** np.arange(149, -1, -1)
    K = rbf_matrix(X, X, 0.02)
    values, alpha, nu = naive.weighted_kpca(K, w, center)
    scores = (rbf_matrix(new, X, 0.02) - (K @ nu)) @ alpha[:, :3]
    for size in (1, 40):
        rank, p = (40, 3) if compression else (150, 1)
        params = {
            "rank": rank,
            "points_per_component": p,
            "forgetting": f,
            "center": center,
            "compression": compression,
        }
        model = fed(IncrementalKernelPCA(3, gamma=0.02, **params), X, size)
        tol = 1e-8 if compression is None else 1e-5
        assert_allclose(model.eigenvalues_, values[:3], rtol=tol)
        assert_allclose(np.abs(model.transform(new)), np.abs(scores), atol=10 * tol)
        assert model.expansion_.trace == pytest.approx(w.sum() - center * w.sum() * nu @ K @ nu, rel=tol)
        assert_allclose(model.explained_variance_, model.eigenvalues_ / (w.sum() - w @ w / w.sum()), rtol=1e-12)
        assert model.n_samples_seen_ == 150


def turning(n: int, jump: bool) -> np.ndarray:
    """An ellipse whose long axis turns by a right angle, slowly or at once after the middle."""
    rng = np.random.default_rng(5)
    angle = np.where(np.arange(n) < n // 2, 0.0, np.pi / 2) if jump else np.linspace(0, np.pi / 2, n)
    Z = rng.standard_normal((n, 2)) * [2.0, 0.4]
    return np.column_stack([np.cos(angle) * Z[:, 0] - np.sin(angle) * Z[:, 1],
                            np.sin(angle) * Z[:, 0] + np.cos(angle) * Z[:, 1]])  # fmt: skip


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("jump", [True, False])
def test_forgetting_follows_distributions_that_turn_and_jump(method, jump):
    X = turning(1200, jump)
    recent = KernelPCA(1, kernel="rbf", gamma=0.05).fit(X[-200:])
    params = {"gamma": 0.05, "rank": 6, "compression": method}
    forgets = IncrementalKernelPCA(1, forgetting=0.98, **params).fit(X)
    remembers = IncrementalKernelPCA(1, **params).fit(X)
    assert subspace_distance(forgets, recent) < 0.2
    assert subspace_distance(remembers, recent) > 2 * subspace_distance(forgets, recent)
    assert forgets.reconstruction_error(X[-200:]).mean() < remembers.reconstruction_error(X[-200:]).mean()


# -- merging -----------------------------------------------------------------------------------------


def test_merging_is_exact_where_the_rank_suffices():
    X, new = parabola(), parabola(1, 20)
    parts = [IncrementalKernelPCA(5, rank=6, compression=None, **POLY).fit(p) for p in np.split(X, [1, 40, 130])]
    before = [(p.eigenvalues_.copy(), p.expansion_, p.n_samples_seen_) for p in parts]
    joint = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    same_scores(joint, KernelPCA(5, **POLY).fit(X), new, 1e-8)
    assert joint.n_samples_seen_ == 300
    assert joint.history_["n_seen"][-1] == 300
    for part, (values, expansion, seen) in zip(parts, before, strict=True):
        assert np.array_equal(part.eigenvalues_, values)
        assert part.expansion_ is expansion
        assert part.n_samples_seen_ == seen == part.history_["n_seen"][-1]


def test_merging_forgets_the_first_as_a_stream_would(X, new):
    params = {"gamma": 0.02, "rank": 40, "forgetting": 0.98, "compression": None}
    a, b = (IncrementalKernelPCA(3, **params).fit(part) for part in (X[:70], X[70:]))
    same_scores(a.merge(b), IncrementalKernelPCA(3, **params).fit(X), new, 1e-8)


@pytest.mark.parametrize(("center", "times"), [(True, 1.2), (False, 2.0)])
def test_eight_compressed_models_merge_into_one(center, times):
    X = parabola(3, 1600)
    batch = KernelPCA(3, **GAUSS).fit(X) if center else IncrementalKernelPCA(3, rank=25, center=False, compression=None,
                                                                             **GAUSS).fit(X)  # fmt: skip
    params = {"rank": 6, "center": center, **GAUSS}
    single = subspace_distance(IncrementalKernelPCA(3, **params).fit(X), batch)
    level = [IncrementalKernelPCA(3, **params).fit(part) for part in np.split(X, 8)]
    while len(level) > 1:
        level = [a.merge(b) for a, b in zip(level[::2], level[1::2], strict=True)]
        assert max(model.expansion_.n_points for model in level) <= 70
    assert subspace_distance(level[0], batch) <= times * single
    assert level[0].n_samples_seen_ == 1600
    level[0].partial_fit(X[:100])
    assert level[0].n_samples_seen_ == 1700


def test_models_that_do_not_fit_together_are_not_merged(X):
    model = IncrementalKernelPCA(3, gamma=0.2).fit(X)
    for other, error, text in (
        (IncrementalKernelPCA(3, gamma=0.3).fit(X), ValueError, "different kernels"),
        (IncrementalKernelPCA(3, gamma=0.2).fit(X[:, :3]), ValueError, "numbers of features"),
        (IncrementalKernelPCA(3, gamma=0.2, center=False).fit(X), ValueError, "different centring"),
        (IncrementalKernelPCA(3, gamma=0.2, forgetting=0.9).fit(X), ValueError, "rates of forgetting"),
        (LandmarkKernelPCA(3, gamma=0.2).fit(X), TypeError, "got a LandmarkKernelPCA"),
    ):
        with pytest.raises(error, match=text):
            model.merge(other)


def test_a_model_that_kept_everything_can_be_compressed_later(X):
    kept = IncrementalKernelPCA(2, gamma=0.2, compression=None).fit(X)
    assert kept._model.gram is None
    small = IncrementalKernelPCA(2, gamma=0.2, points_per_component=6).fit(X)
    assert kept.merge(small).expansion_.n_points == 186
    assert small.merge(kept).expansion_.n_points <= 36
    kept.set_params(compression="subset", points_per_component=6).partial_fit(X[:1])
    assert kept.expansion_.n_points <= 36


# -- streams that misbehave ----------------------------------------------------------------------------


@pytest.mark.parametrize("compression", ["subset", "preimage", None])
def test_a_bad_chunk_is_refused_whole(X, new, compression):
    model = IncrementalKernelPCA(3, gamma=0.2, points_per_component=6, compression=compression).fit(X)
    before, scores = pickle.dumps(model), model.transform(new)
    bad = X[:70].copy()
    bad[66, 1] = np.nan
    far = X[:70].copy()
    far[66] = 1e200
    for rows, text in ((bad, "NaN"), (X[:0], "0 sample"), (X[:, :3], "3 features"), (far, "overflow")):
        with pytest.raises(ValueError, match=text):
            model.partial_fit(rows)
        assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="different kernels"):
        model.partial_fit(X[:40], reference=KernelPCA(3, kernel="linear").fit(X))
    assert pickle.dumps(model) == before
    assert np.array_equal(model.transform(new), scores)
    model.partial_fit(X[:1])
    assert model.n_samples_seen_ == 151


def test_from_the_very_first_row_on(X):
    model = IncrementalKernelPCA(3, gamma=0.2)
    for n in range(1, 6):
        model.partial_fit(X[n - 1 : n])
        assert model.n_samples_seen_ == n
        assert model.expansion_.n_components == min(n, 3)
        assert (model.eigenvalues_ > 0).sum() == min(n - 1, 3)
        assert_allclose(model.transform(X[:n]).sum(axis=0), 0.0, atol=1e-9)
    svd = IncrementalKernelPCA(1, gamma=0.2, center=False).partial_fit(X[:1])
    assert_allclose(svd.eigenvalues_, [1.0])
    assert_allclose(svd.transform(X[:1]), [[1.0]])


@pytest.mark.parametrize("compression", ["subset", "preimage", None])
@pytest.mark.parametrize(("kernel", "center"), [("rbf", True), ("rbf", False), ("linear", True), ("linear", False)])
def test_rows_that_are_all_equal(kernel, center, compression):
    for row in ([1.0, 2.0], [0.0, 0.0]):
        X = np.tile(row, (100, 1))
        model = IncrementalKernelPCA(
            2, kernel=kernel, gamma=1.0, center=center, compression=compression, points_per_component=3
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fed(model, X, 9)
        norm = 1.0 if kernel == "rbf" else np.dot(row, row)
        expected = [] if center or norm == 0 else [100 * norm]
        assert_allclose(model.eigenvalues_[model.eigenvalues_ > 0], expected, rtol=1e-9)
        assert_allclose(model.reconstruction_error(X), 0.0, atol=1e-9)
        assert compression is None or model.expansion_.n_points <= 18
        assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e70])
@pytest.mark.parametrize("compression", ["subset", None])
def test_units_do_not_matter(X, scale, compression):
    params = {"kernel": "linear", "rank": 4, "points_per_component": 2, "compression": compression}
    expected = IncrementalKernelPCA(3, **params).fit(X)
    model = IncrementalKernelPCA(3, **params).fit(scale * X)
    assert_allclose(np.abs(model.transform(scale * X)) / scale, np.abs(expected.transform(X)), atol=1e-8)
    assert_allclose(model.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-8)


def test_values_too_large_are_refused(X):
    with pytest.raises(ValueError, match="not finite"):
        IncrementalKernelPCA(2, kernel="poly", degree=3, gamma=1).fit(1e120 * X)


def test_kernels_that_cannot_do_are_refused(X):
    with pytest.raises(ValueError, match="needs rows of data"):
        IncrementalKernelPCA(2, kernel="precomputed").partial_fit(X @ X.T)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        IncrementalKernelPCA(2, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X)
    with pytest.raises(ValueError, match="rank=2 is too small for n_components=3"):
        IncrementalKernelPCA(3, rank=2).fit(X)


@pytest.mark.parametrize("compression", ["subset", "preimage", None])
def test_sparse_rows(rng, compression):
    S = sp.random(90, 12, 0.3, "csr", random_state=0)
    params = {"kernel": "poly", "degree": 2, "gamma": 0.5, "points_per_component": 8, "compression": compression}
    model = fed(IncrementalKernelPCA(3, **params), S, 20)
    if compression == "preimage":
        params["compression"] = "subset"  # pre-images would not be sparse: points of the library are taken
    dense = fed(IncrementalKernelPCA(3, **params), S.toarray(), 20)
    assert_allclose(np.abs(model.transform(S)), np.abs(dense.transform(S.toarray())), atol=1e-8)
    assert sp.issparse(model.expansion_.points)
    model.partial_fit(S.toarray()[:20])
    assert model.n_samples_seen_ == 110


def test_faint_rows_after_strong_ones_are_seen(rng):
    """Rounding is judged by a row's own length: directions a million times fainter still come in."""
    strong = np.column_stack([rng.standard_normal(40), np.zeros(40)])
    faint = np.column_stack([np.zeros(40), 1e-5 * rng.standard_normal(40)])
    model = IncrementalKernelPCA(2, kernel="linear", compression=None).partial_fit(strong).partial_fit(faint)
    batch = np.linalg.svd(np.vstack([strong, faint]) - np.vstack([strong, faint]).mean(axis=0), compute_uv=False)
    assert_allclose(np.sqrt(model.eigenvalues_), batch, rtol=1e-6)


# -- figures -------------------------------------------------------------------------------------------


def test_figures_show_the_stream():
    X = parabola(0, 200)
    batch = KernelPCA(2, **GAUSS).fit(X)
    model = IncrementalKernelPCA(2, **GAUSS).fit(X, reference=batch)
    figure = plots.distance_curves({"one": model, "many": np.ones((3, 7))})
    line = figure.axes[0].get_lines()[0]
    assert_allclose(line.get_xdata(), model.history_["n_seen"])
    assert_allclose(line.get_ydata(), model.history_["distance"])
    assert len(figure.axes[0].collections) == 1  # the band of the repeats
    titles = [axes.get_title(loc="left") for axes in plots.stream_history(model).axes]
    assert len(titles) == 3
    assert len(plots.stream_history(IncrementalKernelPCA(2, **GAUSS).fit(X)).axes) == 2
    assert len(plots.score_contours({"batch": batch, "stream": model}, X, 2).axes) == 4


def test_figures_say_what_they_lack():
    plain = IncrementalKernelPCA(2, **GAUSS).fit(parabola(0, 50))
    with pytest.raises(ValueError, match="reference="):
        plots.distance_curves({"plain": plain})
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.distance_curves({})
    with pytest.raises(ValueError, match="each of the 3 steps"):
        plots.distance_curves({"a": np.ones(4)}, [1, 2, 3])
    with pytest.raises(ValueError, match="two features"):
        plots.score_contours({"plain": plain}, np.ones((4, 3)))


# -- files and copies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", ["subset", "preimage", None])
@pytest.mark.parametrize("sparse", [False, True])
def test_learning_goes_on_from_a_file_and_a_copy_as_if_nothing_had_been(X, new, tmp_path, compression, sparse):
    rows = sp.csr_matrix(np.where(X > 1, X, 0.0)) if sparse else X
    params = {"gamma": 0.2, "points_per_component": 6, "compression": compression}
    model = IncrementalKernelPCA(2, **params).partial_fit(rows[:100])
    model.save(tmp_path / "model")
    loaded, copied = mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))
    for other in (model, loaded, copied):
        other.partial_fit(rows[100:])
    for other in (loaded, copied):
        assert np.array_equal(other.transform(new), model.transform(new))
        assert np.array_equal(other.history_["n_seen"], model.history_["n_seen"])


def test_real_digits_in_a_stream(data_set):
    X = data_set("mnist_digit3")["X"].reshape(-1, 784)[:400].astype(np.float64)
    gamma = 1 / (2 * 2000.0**2)
    batch = KernelPCA(6, kernel="rbf", gamma=gamma).fit(X)
    exact = IncrementalKernelPCA(6, rank=20, gamma=gamma, compression=None).fit(X)
    small = IncrementalKernelPCA(6, rank=20, gamma=gamma).fit(X, reference=batch)
    assert subspace_distance(exact, batch) < 0.06
    assert small.history_["distance"][-1] < 0.5
    errors = [model.reconstruction_error(X).mean() for model in (batch, exact, small)]
    assert errors[1] <= 1.01 * errors[0]
    assert errors[2] <= 1.03 * errors[0]
    assert small.expansion_.n_points == 210
