"""Online robust kernel PCA: equal to its twins, at the batch fixed point in the limit, and unmoved by outliers."""

import pickle
import warnings
from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import KernelPCA, OnlineRobustKernelPCA
from mercer.events import History
from mercer.kernels import RBF, Linear
from mercer.solvers.robust import online as solver
from mercer.solvers.robust.online import OnlineOptions, given_start, learn
from textbook import online_robust as naive
from textbook.robust import psi_dot

PSI = {"none": (1.0, 1.0), "exp": (0.5, 1.0), "logistic": (2.0, 0.5), "huber": (1.0, 0.3), "tukey": (1.0, 4.0)}
UPDATES = ("svd", "ccipca", "hebbian")

every_psi = pytest.mark.parametrize("psi", PSI)
every_update = pytest.mark.parametrize("update", UPDATES)


def rows(rng, n=150, q=9, at=0.4):
    return rng.standard_normal((n, q)) * np.linspace(0.6, 0.1, q) + at


def contaminated(rng, n=400, d=6, share=20):
    """Rows with three strong directions, every `share`-th of them an outlier along another one."""
    X = rng.standard_normal((n, d)) * [5, 3, 2, 0.3, 0.3, 0.3][:d] + 1
    C = X.copy()
    C[share // 2 :: share, 3] += 30 + rng.standard_normal(len(C[share // 2 :: share]))
    return X, C


def weight_of(psi):
    return lambda z: psi_dot(psi, z, *PSI[psi])


def in_chunks(state, F, missing, options, cuts):
    weights = np.empty(len(F))
    for part in np.split(np.arange(len(F)), cuts):
        out = np.empty(len(part))
        learn(state, F[part], missing[part], options, out)
        weights[part] = out
    return weights


def cosines(A, B):
    """|cos| of equally numbered columns, about their means."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    return np.abs((A * B).sum(axis=0)) / np.sqrt((A * A).sum(axis=0) * (B * B).sum(axis=0))


# -- against the twins -------------------------------------------------------------------------------------------------


@every_psi
@pytest.mark.parametrize("block", [1, 16, 64])
@pytest.mark.parametrize("cuts", [[], [1, 2, 40, 41, 130]], ids=["whole", "cut"])
def test_the_hebbian_update_is_algorithm_1_to_the_letter(psi, block, cuts, rng):
    F, missing = rows(rng), rng.uniform(0, 0.2, 150)
    mu, Gamma = np.zeros(9), 0.05 * np.eye(9, 3)  # the paper's starts 0 and delta I
    options = OnlineOptions(3, "hebbian", psi, *PSI[psi], safeguard=False, block_size=block)
    state = given_start(mu, Gamma.T, options)
    weights = in_chunks(state, F, missing, options, cuts)
    mean, expected, z, w = naive.literal(F, mu, Gamma, weight_of(psi), missing=missing)
    assert_allclose(state.mean, mean, atol=1e-10)
    assert_allclose(state.W.T, expected, atol=1e-10)
    assert_allclose(weights, w, atol=1e-10)
    assert_allclose(state.recent, z[-100:], atol=1e-10)


def test_the_literal_z_can_be_negative_and_the_guarded_one_cannot(rng):
    F, missing = rows(rng), np.zeros(150)
    start = (np.zeros(9), 1.5 * np.linalg.qr(rng.standard_normal((9, 3)))[0])
    for safeguard in (False, True):
        options = OnlineOptions(3, "hebbian", "exp", 0.5, 1.0, safeguard, 16)
        state = given_start(start[0], start[1].T, options)
        weights = in_chunks(state, F[:100], missing[:100], options, [])
        assert (state.recent.min() >= 0) == safeguard
        assert (weights.max() <= 1) == safeguard


@every_psi
@pytest.mark.parametrize("block", [1, 16, 64])
def test_the_safeguarded_rule_equals_its_twin(psi, block, rng):
    F, missing = rows(rng, at=30.0), rng.uniform(0, 0.2, 150)
    mu, Gamma = F[:5].mean(axis=0), np.linalg.qr(rng.standard_normal((9, 3)))[0]
    options = OnlineOptions(3, "hebbian", psi, *PSI[psi], block_size=block)
    state = given_start(mu, Gamma.T, options)
    weights = in_chunks(state, F, missing, options, [70])
    mean, expected, _, w = naive.guarded(F, mu, Gamma, weight_of(psi), missing, solver._RATE)
    assert_allclose(state.mean, mean, atol=1e-10)
    assert_allclose(state.W.T, expected, atol=1e-10)
    assert_allclose(weights, w, atol=1e-10)


@every_psi
def test_ccipca_equals_its_twin(psi, rng):
    F, missing = rows(rng), rng.uniform(0, 0.2, 150)
    mean, V = F[:5].mean(axis=0), rng.standard_normal((3, 9))
    options = OnlineOptions(3, "ccipca", psi, *PSI[psi], block_size=16)
    state = given_start(mean, V, options)
    state.W, state.weight = V.copy(), 4.0
    weights = in_chunks(state, F, missing, options, [1, 77])
    expected = naive.ccipca(F, mean, V, 4.0, weight_of(psi), missing)
    for got, wanted in zip((state.mean, state.W, state.weight, weights), expected, strict=True):
        assert_allclose(got, wanted, atol=1e-10)


@every_psi
@pytest.mark.parametrize("block", [1, 16])
def test_the_svd_update_equals_whole_moments_cut_to_rank_2r(psi, block, rng):
    F, missing = rows(rng, n=144), rng.uniform(0, 0.2, 144)
    mean, B = F[:5].mean(axis=0), np.linalg.svd(rng.standard_normal((4, 9)), full_matrices=False)[2] * 3
    options = OnlineOptions(2, "svd", psi, *PSI[psi], block_size=block)
    state = given_start(mean, B, options)
    state.W, state.weight = B * [[4], [3], [2], [1]], 4.0
    scatter = state.W.T @ state.W
    weights = in_chunks(state, F, missing, options, [1, 50, 77])
    mean, scatter, weight, w = naive.svd_blocks(F, mean, scatter, 4.0, weight_of(psi), missing, block, 2, 4)
    assert_allclose(weights, w, atol=1e-9)
    assert_allclose(state.W.T @ state.W, scatter, atol=1e-9)
    assert_allclose(state.mean, mean, atol=1e-10)
    assert state.weight == pytest.approx(weight)


# -- the estimator and the paper -------------------------------------------------------------------------------------


@every_psi
def test_with_init_and_without_safeguard_transform_is_the_papers(psi, rng):
    X, U, new = rng.uniform(-1, 1, (60, 2)), rng.uniform(-1, 1, (7, 2)), rng.uniform(-1, 1, (5, 2))
    mu, Gamma = np.zeros(7), 0.1 * np.eye(7, 2)
    model = OnlineRobustKernelPCA(
        kernel="poly",
        degree=2,
        gamma=1,
        coef0=0,
        psi=psi,
        beta=PSI[psi][0],
        xi=PSI[psi][1],
        update="hebbian",
        feature_map="empirical",
        landmarks=U,
        init=(mu, Gamma),
        safeguard=False,
    )
    for part in np.split(X, [1, 30]):
        model.partial_fit(part)
    mean, expected, _, w = naive.literal((X @ U.T) ** 2, mu, Gamma, weight_of(psi))
    h = (new @ U.T) ** 2
    assert_allclose(model.transform(new), (h - mean) @ expected, atol=1e-10)
    assert_allclose(model.weights_, w[30:], atol=1e-10)
    y = (h - mean) @ expected
    left = ((h - mean) ** 2).sum(axis=1) - np.einsum("ij,ij->i", y @ np.linalg.inv(expected.T @ expected), y)
    assert_allclose(model.reconstruction_error(new), left, atol=1e-10)
    again = OnlineRobustKernelPCA(**model.get_params()).fit(X)
    assert_allclose(again.transform(new), model.transform(new), atol=1e-10)


def test_all_rows_are_the_kernel_basis_when_no_landmarks_are_given(rng):
    X = rng.uniform(-0.3, 0.3, (40, 2))
    X[3] = X[4]  # a repeated row stays a basis function, as in the paper
    init = (np.zeros(40), 0.1 * np.eye(40, 1))
    given = {"kernel": "linear", "beta": 0.5, "psi": "exp", "update": "hebbian", "feature_map": "empirical"}
    model = OnlineRobustKernelPCA(init=init, safeguard=False, **given).fit(X)
    mean, Gamma, _, _ = naive.literal(X @ X.T, *init, lambda z: np.exp(-0.5 * z))
    assert_allclose(model.transform(X), (X @ X.T - mean) @ Gamma, atol=1e-10)


def test_where_the_paper_diverges_a_warning_comes_and_numbers_stay_finite(rng):
    X = 100 * rng.uniform(-1, 1, (80, 2))
    given = {"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 0, "psi": "exp", "beta": 0.07}
    init = (np.zeros(80), 0.01 * np.eye(80, 1))
    H = (X @ X.T) ** 2
    with np.errstate(all="ignore"):
        assert not np.isfinite(naive.literal(H, *init, lambda z: 1.0)[1]).all()
    literal = OnlineRobustKernelPCA(
        update="hebbian", feature_map="empirical", init=init, safeguard=False, **{**given, "psi": "none"}
    )
    with pytest.warns(ConvergenceWarning, match="safeguard=True"):
        literal.fit(X)
    assert np.isfinite(literal.transform(X)).all()
    assert literal.n_samples_seen_ < 80
    assert not literal.weights_[literal.n_samples_seen_ :].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarded = OnlineRobustKernelPCA(1, update="hebbian", **{**given, "beta": "auto"}).fit(X)
    assert np.isfinite(guarded.transform(X)).all()


@every_update
@pytest.mark.parametrize("feature_map", ["whitened", "empirical"])
def test_many_passes_end_at_the_batch_fixed_point(update, feature_map):
    """Theorems 1 and 2: mean and components tend to those of the weighted covariance, eqs. 21 and 22."""
    rng = np.random.default_rng(3)
    X, C = contaminated(rng, 2000, 4, share=20)
    U = rng.standard_normal((4, 4)) if feature_map == "empirical" else np.eye(4)
    scale = {"whitened": 1.0, "empirical": 0.2}[feature_map]
    U = U * scale
    F = C @ U.T
    D = X @ U.T - (X @ U.T).mean(axis=0)
    start = np.linalg.svd(D, full_matrices=False)[2][:2].T
    z = 0.5 * ((D**2).sum(axis=1) - ((D @ start) ** 2).sum(axis=1))
    beta, xi = float(4 / np.median(z)), float(np.quantile(z, 0.9))
    mean, V = naive.batch_fixed_point(F, 2, lambda z: psi_dot("logistic", z, beta, xi), (X @ U.T).mean(axis=0), start)
    model = OnlineRobustKernelPCA(
        2, kernel="linear", update=update, feature_map=feature_map, landmarks=U, beta=beta, xi=xi, block_size=64
    )
    for _ in range(25):
        model.partial_fit(C[rng.permutation(len(C))])
    assert (cosines(model.transform(X), (X @ U.T - mean) @ V) >= 0.999).all()
    offset = model.transform(X).mean(axis=0) - ((X @ U.T - mean) @ V).mean(axis=0) * np.sign(
        (model.transform(X) * ((X @ U.T - mean) @ V)).sum(axis=0)
    )
    assert np.abs(offset).max() < 0.02 * np.abs(model.transform(X)).max()
    assert model.weights_.min() < 1e-6  # outliers
    assert np.median(model.weights_) > 0.5


# -- streams -----------------------------------------------------------------------------------------------------------


@every_update
@pytest.mark.parametrize("feature_map", ["whitened", "empirical"])
def test_how_a_stream_is_cut_makes_no_difference(update, feature_map, rng):
    _, C = contaminated(rng, 300)
    given = {"gamma": 0.02, "update": update, "feature_map": feature_map, "landmarks": 40, "random_state": 0}
    whole = OnlineRobustKernelPCA(3, **given).partial_fit(C)
    cut = OnlineRobustKernelPCA(3, **given)
    seen = []
    for part in np.split(C, [1, 2, 30, 59, 61, 100, 101, 250]):
        seen.append(cut.partial_fit(part).weights_)
        assert len(cut.weights_) == len(part)
        assert np.isfinite(cut.transform(C[:3])).all()
    assert_allclose(cut.transform(C), whole.transform(C), atol=1e-8)
    assert_allclose(np.concatenate(seen)[61:], whole.weights_[61:], atol=1e-8)
    assert cut.n_samples_seen_ == whole.n_samples_seen_ == 300
    assert (cut.beta_, cut.xi_) == pytest.approx((whole.beta_, whole.xi_))
    assert_allclose(cut.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    assert_allclose(cut.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("safeguard", [True, False])
def test_shares_of_the_variation_do_not_depend_on_the_size_of_hebbian_blocks(kernel, safeguard, rng):
    _, C = contaminated(rng, 300)
    C = C / np.abs(C).max()  # the literal rule diverges where kernel values are large
    given = {"kernel": kernel, "gamma": 1.0, "update": "hebbian", "landmarks": 40, "xi": 0.1, "beta": 10.0}
    models = [
        OnlineRobustKernelPCA(3, **given, safeguard=safeguard, block_size=size, random_state=0).fit(C)
        for size in (1, 7, 64)
    ]
    for model in models[1:]:
        assert_allclose(model.explained_variance_ratio_, models[0].explained_variance_ratio_, rtol=1e-8)
        assert_allclose(model.eigenvalues_, models[0].eigenvalues_, rtol=1e-8)


@every_update
@pytest.mark.parametrize("when", [1, 20, 61, 75, 100])
def test_learning_goes_on_after_a_file_or_a_pickle_bit_by_bit(update, when, rng, tmp_path):
    _, C = contaminated(rng, 130)
    model = OnlineRobustKernelPCA(3, gamma=0.02, update=update, landmarks=30, random_state=0).partial_fit(C[:when])
    model.save(tmp_path / "model")
    copies = [mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    model.partial_fit(C[when:])
    for copy in copies:
        copy.partial_fit(C[when:])
        assert np.array_equal(copy.transform(C), model.transform(C))
        assert np.array_equal(copy.weights_, model.weights_)
        assert copy.xi_ == model.xi_


@pytest.mark.parametrize(
    "change", [{"block_size": 3}, {"psi": "none"}, {"update": "hebbian"}, {"feature_map": "empirical"}, {"xi": 1e-9}]
)
def test_a_file_goes_on_with_the_options_of_the_start(change, rng, tmp_path):
    """A block that had begun never ended with a smaller size; other options made it differ from the model itself."""
    _, C = contaminated(rng, 180)
    model = OnlineRobustKernelPCA(3, gamma=0.02, landmarks=30, random_state=0).partial_fit(C[:75])
    plain = pickle.loads(pickle.dumps(model)).partial_fit(C[75:])
    model.set_params(**change).save(tmp_path / "model")
    for one in (mercer.load(tmp_path / "model"), model):
        assert np.array_equal(one.partial_fit(C[75:]).transform(C), plain.transform(C))


def test_a_fit_that_leaves_out_most_rows_is_told(rng):
    iris = load_iris().data  # three groups of equal size
    with pytest.warns(UserWarning, match="of 90 rows have a weight below 0.5"):
        model = OnlineRobustKernelPCA(3, gamma=0.08, random_state=0).fit(iris)
    assert np.sum(model.weights_ < 0.5) > 60
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OnlineRobustKernelPCA(3, gamma=0.02, landmarks=30, random_state=0).fit(contaminated(rng, 180)[1])


def _told(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]


def test_fewer_components_than_wanted_are_told_once(rng):
    """In a stream nothing was told; in `fit` on equal rows it was told twice, once in words for streams."""
    X = rng.standard_normal((200, 4))
    model = OnlineRobustKernelPCA(20, landmarks=8, random_state=0)
    assert _told(lambda: model.partial_fit(X[:40])) == []  # the model is preliminary, and more rows can follow
    texts = _told(lambda: model.partial_fit(X[40:120])) + _told(lambda: model.partial_fit(X[120:]))
    assert texts == ["n_components=20, but the data allow only 8: the model has n_components_=8."]
    repeated = np.repeat(X[:3], 300, axis=0)
    [text] = _told(lambda: OnlineRobustKernelPCA(5, landmarks=20, random_state=0).partial_fit(repeated))
    assert "first 600 rows are so alike" in text
    [text] = _told(lambda: OnlineRobustKernelPCA(5, random_state=0).fit(repeated))
    assert text.startswith("n_components=5, but")


@every_update
def test_an_expansion_once_given_out_does_not_change(update, rng):
    _, C = contaminated(rng, 200)
    model = OnlineRobustKernelPCA(2, gamma=0.02, update=update, feature_map="empirical", landmarks=10, random_state=0)
    expansion = model.partial_fit(C[:100]).expansion_
    before = expansion.project(C), expansion.residual(C)
    model.partial_fit(C[100:])
    assert np.array_equal(before[0], expansion.project(C))
    assert np.array_equal(before[1], expansion.residual(C))


@every_update
def test_the_state_does_not_grow(update, rng):
    model = OnlineRobustKernelPCA(3, gamma=0.05, update=update, landmarks=20, random_state=0)
    model.partial_fit(rows(rng, 200, 6))

    def size():
        return sum(value.size for value in asdict(model._learning.run.state).values() if isinstance(value, np.ndarray))

    sizes = []
    for _ in range(30):
        model.partial_fit(rows(rng, 32, 6))
        sizes.append(size())
    assert len(set(sizes)) == 1
    assert model.expansion_.n_points == 20
    assert model._learning.pending is None


def test_fit_starts_afresh(rng):
    _, C = contaminated(rng, 200)
    given = {"gamma": 0.02, "landmarks": 30, "random_state": 0}
    model = OnlineRobustKernelPCA(3, **given).fit(C * 3 + 5).fit(C)
    assert np.array_equal(model.transform(C), OnlineRobustKernelPCA(3, **given).fit(C).transform(C))
    assert len(model.weights_) == model.n_samples_seen_ == 200


def test_gamma_is_frozen_only_when_the_first_rows_are_there(rng):
    _, C = contaminated(rng, 200)
    model = OnlineRobustKernelPCA(2, gamma="median", landmarks=50, random_state=0).partial_fit(C[:1])
    model.partial_fit(C[1:40])
    assert model.gamma_ == pytest.approx(KernelPCA(gamma="median", kernel="rbf").fit(C[:40]).gamma_)
    model.partial_fit(C[40:100])
    frozen = model.gamma_
    assert frozen == pytest.approx(KernelPCA(gamma="median", kernel="rbf").fit(C[:60]).gamma_)
    assert model.partial_fit(C[100:] * 10).gamma_ == frozen


def test_observers_hear_of_the_tiles(rng):
    model, history = OnlineRobustKernelPCA(2, gamma=0.1, landmarks=20, random_state=0), History()
    model.observers = (history,)
    model.fit(rows(rng, 200, 6))
    assert [(event.step, event.total) for event in history.events] == [(140, 140)]


# -- robustness --------------------------------------------------------------------------------------------------------


@every_update
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("where", ["spread", "first"])
def test_outliers_lose_their_weight_and_the_components_stay(update, scale, where, rng):
    X, C = contaminated(rng)
    if where == "first":  # a third of the warm-up is bad
        bad = np.flatnonzero(C[:, 3] > 20)
        order = np.concatenate([bad, np.setdiff1d(np.arange(400), bad)])
        X, C = X[order], C[order]
    model = OnlineRobustKernelPCA(2, kernel="linear", update=update).fit(C * scale)
    clean = KernelPCA(2, kernel="linear").fit(X * scale)
    assert (cosines(model.transform(X * scale), clean.transform(X * scale)) > 0.97).all()
    assert model.weights_[C[:, 3] > 20].max() < 1e-3
    assert np.median(model.weights_) > 0.8
    plain = OnlineRobustKernelPCA(2, kernel="linear", update=update, psi="none").fit(C * scale)
    assert cosines(plain.transform(X * scale), clean.transform(X * scale)).min() < 0.9


def test_residuals_count_what_the_landmarks_miss(rng):
    """A row far from all landmarks has phi_hat = 0, the middle of nothing; only k(x, x) tells that it is far."""
    X = rng.standard_normal((300, 3)) * 0.3
    X[200:220] += 50
    model = OnlineRobustKernelPCA(4, kernel="rbf", gamma=1.0, landmarks=X[:60]).partial_fit(X)
    assert model.weights_[200:220].max() < 0.01
    assert np.median(model.weights_) > 0.5
    assert model.reconstruction_error(X[200:201])[0] > 1.0


def test_without_weights_a_fit_that_loses_nothing_is_kernel_pca(rng):
    X = rng.standard_normal((90, 4)) * [4, 3, 2, 1] + 10
    exact = KernelPCA(2, kernel="linear").fit(X)
    for given in ({"block_size": 7}, {"warm_up": 500}, {"block_size": 1, "feature_map": "whitened", "landmarks": 20}):
        model = OnlineRobustKernelPCA(2, kernel="linear", psi="none", **given).fit(X)
        assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
        assert_allclose(np.abs(model.transform(X)), np.abs(exact.transform(X)), atol=1e-7)
        assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-9)
        assert_allclose(model.weights_, 1.0)


@pytest.mark.parametrize("update", UPDATES)
def test_the_wavelet_kernel_and_exact_pre_images(update, rng):
    pytest.importorskip("pywt")
    basis = np.cos(np.outer(np.arange(1, 3), np.linspace(0, np.pi, 16)))
    X = (rng.standard_normal((200, 2)) * [4, 2]) @ basis + 0.05 * rng.standard_normal((200, 16)) + 2
    C = X.copy()
    C[7::20] = 40.0
    model = OnlineRobustKernelPCA(2, kernel="wavelet", update=update).fit(C)
    back = model.inverse_transform(model.transform(X))
    smooth = KernelPCA(2, kernel="wavelet", preimage="auto").fit(X)
    best = smooth.inverse_transform(smooth.transform(X))
    assert back.shape == X.shape
    assert ((back - X) ** 2).sum() < 1.1 * ((best - X) ** 2).sum()


# -- edges -------------------------------------------------------------------------------------------------------------


@every_update
@pytest.mark.parametrize("feature_map", ["whitened", "empirical"])
def test_from_the_first_row_on_transform_works(update, feature_map, rng):
    X = rows(rng, 70, 3)
    model = OnlineRobustKernelPCA(4, kernel="rbf", update=update, feature_map=feature_map, random_state=0)
    for i in range(70):
        model.partial_fit(X[i : i + 1])
        scores = model.transform(X[:5])
        assert np.isfinite(scores).all()
        assert scores.shape[1] == min(4, i + 1)
        assert model.weights_.shape == (1,)
        assert model.n_samples_seen_ == i + 1


@every_update
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_constant_rows_then_others(update, kernel, rng):
    same = np.ones((100, 3)) * 2.5
    model = OnlineRobustKernelPCA(2, kernel=kernel, update=update, landmarks=20, random_state=0).fit(same)
    assert_allclose(model.transform(same), 0.0, atol=1e-7)
    assert_allclose(model.weights_, 1.0, atol=0.05)
    repeated = np.repeat(rng.standard_normal((5, 3)), 40, axis=0)
    model = OnlineRobustKernelPCA(2, kernel=kernel, update=update, random_state=0).fit(repeated)
    assert np.isfinite(model.transform(repeated)).all()


@every_update
@every_psi
def test_any_scale_stays_finite_and_says_the_same(update, psi, rng):
    X = rng.standard_normal((150, 5)) * [3, 2, 1, 1, 1]
    scores = [
        OnlineRobustKernelPCA(2, kernel="linear", psi=psi, update=update).fit(X * c).transform(X * c) / c
        for c in (1e-3, 1.0, 1e6)
    ]
    for other in (scores[0], scores[2]):
        assert_allclose(other, scores[1], atol=1e-5)


def test_sparse_rows_and_frames_of_float32(rng):
    X = rows(rng, 100, 6)
    dense = OnlineRobustKernelPCA(2, gamma=0.1, selection="uniform", landmarks=20, random_state=0).fit(X)
    sparse = OnlineRobustKernelPCA(2, gamma=0.1, selection="uniform", landmarks=20, random_state=0)
    for part in (slice(0, 30), slice(30, 100)):
        sparse.partial_fit(sp.csr_matrix(X[part]))
    assert sparse.transform(X).shape == dense.transform(X).shape
    single = OnlineRobustKernelPCA(2, gamma=0.1, landmarks=20).fit(X.astype(np.float32))
    assert single.expansion_.points.dtype == np.float64


def test_bad_input_is_refused_with_advice(rng):
    X = rows(rng, 80, 3)
    model = OnlineRobustKernelPCA(2, kernel="linear").partial_fit(X)
    before = model.transform(X)
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad)
    assert np.array_equal(model.transform(X), before)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2])
    with pytest.raises(ValueError, match="precomputed"):
        OnlineRobustKernelPCA(kernel="precomputed").fit(X @ X.T)
    with pytest.raises(ValueError, match="landmarks have 2 features"):
        OnlineRobustKernelPCA(landmarks=X[:5, :2]).fit(X)
    for init in ((np.zeros(5),), (np.zeros(4), np.zeros((5, 2))), (np.zeros(5), np.zeros((5, 3)))):
        with pytest.raises(ValueError, match=r"init must be .*\(5,\) and \(5, 2\)"):
            OnlineRobustKernelPCA(2, landmarks=X[:5], init=init).fit(X)
    with pytest.raises(ValueError, match="Divide X"):
        OnlineRobustKernelPCA(2, kernel="linear", feature_map="empirical").fit(X * 1e90)
    with pytest.raises(ValueError, match="update"):
        OnlineRobustKernelPCA(update="sgd").fit(X)


def test_given_components_weigh_the_first_rows_and_no_more(rng):
    X, C = contaminated(rng, 400)
    U = np.eye(6)
    for update in UPDATES:
        init = (np.ones(6), np.eye(6, 2))
        model = OnlineRobustKernelPCA(2, kernel="linear", update=update, landmarks=U, init=init, beta=2.0, xi=20.0)
        model.fit(C)
        clean = KernelPCA(2, kernel="linear").fit(X)
        assert model.n_samples_seen_ == 400
        assert (cosines(model.transform(X), clean.transform(X)) > 0.98).all()


@every_update
@every_psi
def test_with_given_components_automatic_weights_do_not_depend_on_the_chunks(update, psi, rng):
    X, init = rows(rng, 90, 4), (np.zeros(4), np.eye(4, 2))
    model = OnlineRobustKernelPCA(2, kernel="linear", psi=psi, update=update, landmarks=np.eye(4), init=init).fit(X)
    assert (model.weights_[:20] == 1.0).all()
    parts = OnlineRobustKernelPCA(**model.get_params())
    weights = np.concatenate([parts.partial_fit(part).weights_ for part in np.split(X, 9)])
    assert_allclose(weights, model.weights_, atol=1e-9)
    assert_allclose(parts.transform(X), model.transform(X), atol=1e-9)


@every_update
def test_the_length_of_given_components_does_not_matter(update, rng):
    X = rng.standard_normal((2000, 5)) * [3, 2, 1, 0.3, 0.3]
    exact = KernelPCA(2, kernel="linear").fit(X)
    for Gamma in (1000.0 * np.eye(5, 2)[::-1], rng.normal(250, 1, (5, 2))):  # the second is of [huang2011, example 3]
        given = {"update": update, "landmarks": np.eye(5), "init": (np.zeros(5), Gamma)}
        model = OnlineRobustKernelPCA(2, kernel="linear", psi="none", **given).fit(X)
        assert (cosines(model.transform(X), exact.transform(X)) > 0.97).all()


@pytest.mark.parametrize("update", ["svd", "ccipca"])
@pytest.mark.parametrize("seed", range(4))
def test_components_of_any_direction_are_a_start(update, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((600, 4)) * [3, 2, 1, 0.3]
    init = (np.zeros(4), np.linalg.qr(rng.standard_normal((4, 3)))[0])
    given = {"kernel": "linear", "psi": "none", "update": update, "landmarks": np.eye(4)}
    model, exact = OnlineRobustKernelPCA(3, init=init, **given).fit(X), KernelPCA(3, kernel="linear").fit(X)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=0.15)
    assert (cosines(model.transform(X), exact.transform(X)) > 0.98).all()


@pytest.mark.parametrize("update", ["svd", "ccipca"])
@pytest.mark.parametrize("feature_map", ["whitened", "empirical"])
def test_first_weights_are_of_distances_from_the_span_of_given_components(update, feature_map, rng):
    X, U = rows(rng, 20, 3), rows(rng, 6, 3)
    H, root = RBF(0.5)(X, U), RBF(0.5)(U, U)
    mean, Gamma = 0.1 * rng.standard_normal(6), rng.standard_normal((6, 3))
    Gamma[:, 2] = Gamma[:, 0] + 1e-3 * Gamma[:, 2]  # far from orthogonal
    model = OnlineRobustKernelPCA(
        3, gamma=0.5, psi="exp", beta=2.0, update=update, feature_map=feature_map, landmarks=U, init=(mean, Gamma)
    ).fit(X[:1])
    d, gram = H[0] - mean, Gamma.T @ Gamma
    norm, y = d @ d, Gamma.T @ d
    if feature_map == "whitened":  # <phi - mu, gamma> with coefficients on the landmarks
        y, gram = Gamma.T @ (H[0] - root @ mean), Gamma.T @ root @ Gamma
        norm = 1.0 - 2.0 * H[0] @ mean + mean @ root @ mean
    z = 0.5 * (norm - y @ np.linalg.solve(gram, y))
    assert_allclose(model.weights_, [np.exp(-2.0 * z)], rtol=1e-6)


# -- the metric of the empirical map -----------------------------------------------------------------------------------


def test_an_empirical_expansion_measures_in_its_own_metric(rng, tmp_path):
    X = rows(rng, 120, 4)
    model = OnlineRobustKernelPCA(3, gamma=0.5, feature_map="empirical", landmarks=X[:10]).fit(X)
    expansion = model.expansion_
    assert expansion.empirical
    H = RBF(0.5)(X, X[:10])
    scores, norms = expansion.project_with_norm(X)
    assert_allclose(scores, H @ expansion.coef.T - expansion.offset, atol=1e-12)
    assert_allclose(norms, ((H - expansion.nu) ** 2).sum(axis=1), atol=1e-12)
    assert_allclose(model.reconstruction_error(X), norms - (scores**2).sum(axis=1), atol=1e-10)
    assert_allclose(expansion.with_gram().gram, expansion.gram, atol=1e-12)
    model.save(tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert again.expansion_.empirical
    assert np.array_equal(again.reconstruction_error(X), model.reconstruction_error(X))
    whitened = OnlineRobustKernelPCA(3, gamma=0.5, landmarks=X[:10]).fit(X)
    assert not whitened.expansion_.empirical
    with pytest.raises(ValueError, match="empirical"):
        expansion.inner(whitened.expansion_)


def test_pre_images_of_an_empirical_model_live_in_feature_space(rng):
    X = rng.standard_normal((200, 4)) * [4, 2, 0.1, 0.1] + 3
    model = OnlineRobustKernelPCA(2, kernel="linear", feature_map="empirical", landmarks=rng.standard_normal((8, 4)))
    back, residual = model.fit(X).inverse_transform(model.transform(X), return_residual=True)
    assert_allclose(back, X, atol=0.6)
    assert_allclose(model.transform(back), model.transform(X), atol=1e-6)
    assert (residual >= 0).all()
    assert isinstance(model.expansion_.kernel, Linear)


# -- figures -----------------------------------------------------------------------------------------------------------


def test_paths_are_drawn_with_a_panel_a_component_and_a_line_a_run():
    pytest.importorskip("matplotlib")
    times = np.arange(10, 60, 10)
    runs = {"robust": np.linspace(0.5, 1, 10).reshape(5, 2), "plain": np.full((5, 2), 0.3)}
    runs["plain"][2, 1] = np.nan
    figure = mercer.plots.cosine_paths(runs, times, outliers=[15, 35], title="Nearness")
    assert len(figure.axes) == 2
    for axes in figure.axes:
        assert [line.get_label() for line in axes.lines] == ["robust", "plain"]
        assert_allclose(axes.lines[0].get_xdata(), times)
        assert len(axes.collections[0].get_segments()) == 2
    assert_allclose(figure.axes[1].lines[0].get_ydata(), runs["robust"][:, 1])
    single = mercer.plots.cosine_paths({"one": np.ones(5)}, times, title="Nearness")
    assert single.axes[0].get_title(loc="left") == "Nearness"
    with pytest.raises(ValueError, match=r"'one'.*5 times"):
        mercer.plots.cosine_paths({"one": np.ones(4)}, times)
    with pytest.raises(ValueError, match="nothing to draw"):
        mercer.plots.cosine_paths({}, times)
