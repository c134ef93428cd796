"""`KernelPCA` in use: conventions, pre-images and files."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import KernelPCA
from mercer.errors import NotSaveableError, PreImageWarning
from mercer.events import History
from mercer.kernels import RBF, Polynomial
from textbook import kernel_pca as naive

quiet = pytest.mark.filterwarnings("ignore::mercer.errors.IndefiniteKernelWarning")


def rows(rng: np.random.Generator, n: int = 30, d: int = 5) -> np.ndarray:
    return rng.uniform(0.1, 3, (n, d))


# -- conventions ----------------------------------------------------------------------------------


def test_frames_in_and_out(rng):
    X = pd.DataFrame(rng.standard_normal((20, 3)), columns=["a", "b", "c"], index=np.arange(100, 120))
    model = KernelPCA(2, kernel="rbf").set_output(transform="pandas")
    scores = model.fit_transform(X)
    assert list(scores.columns) == ["kernelpca0", "kernelpca1"]
    assert list(scores.index) == list(X.index)
    assert list(model.transform(X).columns) == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    plain = KernelPCA(2, kernel="rbf").fit_transform(X.to_numpy())
    assert_array_equal(scores.to_numpy(), plain)


def test_the_target_is_ignored(rng):
    X = rng.standard_normal((20, 3))
    plain = KernelPCA(2, kernel="rbf").fit_transform(X)
    for y in (np.arange(20), ["a"] * 20, "nonsense"):
        assert_array_equal(KernelPCA(2, kernel="rbf").fit(X, y).fit_transform(X, y), plain)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", RBF(0.7), Polynomial(0.1, 1.0, 2), naive.dot])
def test_clones_and_pickles(kernel, rng):
    X = rng.standard_normal((15, 4))
    X = X @ X.T if kernel == "precomputed" else X
    model = KernelPCA(2, kernel=kernel, gamma=0.3, precision="float64", tol=1e-9)
    twin = clone(model)
    assert twin.get_params().keys() == model.get_params().keys()
    if not callable(kernel) or isinstance(kernel, RBF | Polynomial):
        assert twin.get_params() == model.get_params()
    scores = model.fit_transform(X)
    assert_array_equal(twin.fit_transform(X), scores)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(X), model.transform(X))
    assert not hasattr(clone(model), "expansion_")


def test_repr_shows_what_was_chosen():
    text = repr(KernelPCA(3, kernel="rbf", gamma="median"))
    assert text == "KernelPCA(gamma='median', kernel='rbf', n_components=3)"
    assert "RBF(gamma=0.5)" in repr(KernelPCA(kernel=RBF(0.5)))


def test_in_a_pipeline_with_a_grid_search(rng):
    X = rng.standard_normal((90, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)  # a ring: no straight line separates it
    pipeline = make_pipeline(StandardScaler(), KernelPCA(4, kernel="linear"), LogisticRegression())
    grid = {"kernelpca__kernel": ["linear", "rbf"], "kernelpca__gamma": [0.5, "median"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["kernelpca__kernel"] == "rbf"
    assert search.best_score_ > 0.85
    assert list(search.best_estimator_[:-1].get_feature_names_out()) == [f"kernelpca{i}" for i in range(4)]


def test_cross_validation_cuts_a_precomputed_matrix_both_ways(rng):
    X = rng.standard_normal((60, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)
    K = naive.rbf_matrix(X, X, 0.5)
    pipeline = make_pipeline(KernelPCA(4, kernel="precomputed"), LogisticRegression())
    search = GridSearchCV(pipeline, {"kernelpca__n_components": [2, 4]}, cv=3, error_score="raise").fit(K, y)
    assert search.best_score_ > 0.8


def test_refitting_forgets_the_first_fit(rng):
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((30, 5))
    model = KernelPCA(2, kernel="rbf").fit(X)
    scores = model.fit(Y).transform(Y)
    assert_array_equal(scores, KernelPCA(2, kernel="rbf").fit(Y).transform(Y))
    assert model.n_features_in_ == 5
    assert model.n_samples_seen_ == 30
    assert model.gamma_ == pytest.approx(0.2)


@pytest.mark.parametrize("verbose", [True, 1, 2])
def test_verbose_shows_progress_and_changes_nothing(verbose, rng, capfd):
    X = rng.standard_normal((400, 5))
    quiet_model = KernelPCA(3, kernel="rbf").fit(X)
    assert capfd.readouterr() == ("", "")
    loud = KernelPCA(3, kernel="rbf", verbose=verbose).fit(X)
    assert np.array_equal(loud.eigenvalues_, quiet_model.eigenvalues_)


def test_observers_hear_of_a_fit(rng):
    model = KernelPCA(3, kernel="rbf", eigen_solver="krylov")
    history = History()
    model.observers = (history,)
    model.fit(rng.standard_normal((400, 5)))
    assert len(history.events) == model.n_iter_ > 1


@pytest.mark.parametrize(
    ("asked", "n", "used"),
    [
        ("auto", 50, "dense"),
        ("auto", 500, "lanczos"),
        ("auto", 1500, "lanczos"),
        ("auto", 2100, "krylov"),
        ("krylov", 500, "krylov"),
        ("arpack", 50, "arpack"),
    ],
)
def test_the_solver_that_ran_is_told(asked, n, used, rng):
    model = KernelPCA(3, kernel="rbf", eigen_solver=asked).fit(rng.standard_normal((n, 4)))
    assert model.solver_ == used
    assert model.n_iter_ >= 1


@pytest.mark.parametrize(("n", "used"), [(400, "dense"), (1200, "krylov")])
def test_steps_that_do_not_converge_are_followed_by_another_solver(n, used, rng, monkeypatch):
    import mercer.solvers.exact.eigen as eigen

    X = rng.standard_normal((n, 4))
    quick = KernelPCA(3, kernel="rbf").fit(X)
    monkeypatch.setattr(eigen, "leading_pairs_by_lanczos", lambda *given, **options: None)
    model = KernelPCA(3, kernel="rbf").fit(X)
    assert (quick.solver_, model.solver_) == ("lanczos", used)
    np.testing.assert_allclose(quick.eigenvalues_, model.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(quick.transform(X[:5]), model.transform(X[:5]), atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_components", [2, 9, 0.9, None])  # there are six features: three of nine have no variation
def test_few_features_are_solved_without_a_kernel_matrix(kernel, center, n_components, rng):
    X = rng.standard_normal((80, 6)) * np.arange(1, 7) + 3.0
    quick, dense = (
        KernelPCA(n_components, kernel=kernel, center=center, eigen_solver=solver).fit(X)
        for solver in ("auto", "dense")
    )
    assert (quick.solver_, dense.solver_) == ("svd", "dense")
    assert_allclose(quick.eigenvalues_, dense.eigenvalues_, rtol=1e-10, atol=1e-12 * dense.eigenvalues_[0])
    kept = int((dense.eigenvalues_ > 0).sum())
    assert kept == min(6, quick.n_components_)
    assert_allclose(quick.eigenvectors_[:, :kept], dense.eigenvectors_[:, :kept], atol=1e-9)
    unit = np.eye(quick.n_components_)
    assert_allclose(quick.eigenvectors_.T @ quick.eigenvectors_, unit, atol=1e-12)
    assert_allclose(quick.expansion_.trace, dense.expansion_.trace, rtol=1e-12)
    Y = rng.standard_normal((20, 6))
    assert_allclose(quick.transform(Y), dense.transform(Y), atol=1e-9)
    assert_allclose(quick.reconstruction_error(Y), dense.reconstruction_error(Y), atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_components", [2, None])
@pytest.mark.parametrize("n", [50, 300, 1200])
def test_kernel_values_that_overflow_are_refused_by_every_solver(n, n_components, center, rng):
    X = 1e120 * rng.standard_normal((n, 4))
    with pytest.raises(ValueError, match="not finite"):
        KernelPCA(n_components, kernel="poly", center=center).fit(X)


@pytest.mark.filterwarnings("ignore:The Krylov solver stopped")
@pytest.mark.parametrize(
    ("few", "steps"),
    [({"eigen_solver": "krylov", "max_iter": 1}, 1), ({"eigen_solver": "randomized", "iterated_power": 0}, 2)],
)
def test_few_steps_still_give_all_components(few, steps, rng):
    X = rng.standard_normal((300, 30))
    model = KernelPCA(20, kernel="rbf", **few).fit(X)
    assert model.n_components_ == 20
    assert model.n_iter_ == steps
    exact = KernelPCA(20, kernel="rbf", eigen_solver="dense").fit(X)
    assert 0.2 * exact.eigenvalues_.sum() < model.eigenvalues_.sum() <= exact.eigenvalues_.sum()


def test_rows_whose_squares_overflow_are_refused_by_name():
    X = np.full((10, 2), 1e200)
    X[0] = 0
    with pytest.raises(ValueError, match="not finite"):
        KernelPCA(1).fit(X)


# -- pre-images through the estimator -------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "method"),
    [
        ("rbf", "ridge"), ("rbf", "mika"), ("rbf", "kwok"), ("rbf", "gradient"), ("rbf", "auto"),
        ("linear", "exact"), ("linear", "auto"), ("poly", "gradient"), ("poly", "auto"), ("cosine", "auto"),
        ("laplacian", "auto"),
    ],
)  # fmt: skip
def test_every_preimage_method_runs_and_reports(kernel, method, rng):
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 4)) + 0.01 * rng.standard_normal((60, 4))
    X += 3.0
    model = KernelPCA(
        10, kernel=kernel, gamma=0.05, degree=2, preimage=method, fit_inverse_transform=True, alpha=1e-3,
        remove_zero_eig=True,
    ).fit(X)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PreImageWarning)
        found, residual = model.inverse_transform(model.transform(X[:7]), return_residual=True)
        assert np.array_equal(model.inverse_transform(model.transform(X[:7])), found)
    assert found.shape == (7, 4)
    assert residual.shape == (7,)
    assert (residual >= 0).all()
    # what is reported is the squared distance in feature space between phi(z) and the projection of phi(x)
    kernel_object = model.expansion_.kernel
    K, K_z = kernel_object(X), kernel_object(found, X)
    c = model.transform(X[:7])
    to_components = model.transform(found)
    norms = naive.centred_norms(K_z, kernel_object.diagonal(found), K)
    expected = norms - 2 * (c * to_components).sum(axis=1) + (c**2).sum(axis=1)
    assert_allclose(residual, expected, atol=1e-9 * max(1.0, np.abs(K).max()))


def test_linear_preimages_are_exact(rng):
    X = rng.standard_normal((30, 4)) + 2
    model = KernelPCA(4, preimage="exact").fit(X)
    found, residual = model.inverse_transform(model.transform(X), return_residual=True)
    assert_allclose(found, X, atol=1e-10)
    assert_allclose(residual, 0, atol=1e-9)
    rough = KernelPCA(2, preimage="exact").fit(X)
    pca = PCA(2).fit(X)
    got = rough.inverse_transform(rough.transform(X))
    assert_allclose(got, pca.inverse_transform(pca.transform(X)), atol=1e-9)


def test_good_preimages_do_not_warn(rng):
    X = rng.standard_normal((80, 3))
    model = KernelPCA(20, kernel="rbf", gamma=0.1, preimage="auto").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.inverse_transform(model.transform(X))
    assert np.abs(found - X).max() < 0.5


def test_bad_preimages_warn_with_advice(rng):
    X = rng.standard_normal((60, 5)) * 4
    model = KernelPCA(3, kernel="rbf", gamma=20.0, fit_inverse_transform=True, alpha=100.0).fit(X)
    with pytest.warns(PreImageWarning, match=r"another `preimage` method.*return_residual=True"):
        model.inverse_transform(model.transform(X))


# -- files ----------------------------------------------------------------------------------------

SAVED = [
    *({**parameters, "n_components": 3} for parameters, _ in naive.TWINS.values()),
    {"kernel": RBF(0.4)},
    {"kernel": "rbf", "gamma": "median", "n_components": 0.8},
    {"kernel": "rbf", "fit_inverse_transform": True, "n_components": 2},
    {"kernel": "precomputed", "n_components": 2},
    {"kernel": "wavelet", "kernel_params": {"level": 1, "shape": (2, 2)}},
]


@quiet
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("parameters", SAVED, ids=str)
def test_saved_models_give_the_same_bits(parameters, dtype, rng, tmp_path):
    if parameters["kernel"] == "wavelet":
        pytest.importorskip("pywt")
    X = rows(rng, 20, 4).astype(dtype)
    X = X @ X.T if parameters["kernel"] == "precomputed" else X
    new = X[:6] if parameters["kernel"] == "precomputed" else rows(rng, 6, 4).astype(dtype)
    model = KernelPCA(**parameters).fit(X)
    model.save(tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert type(again) is KernelPCA
    assert repr(again) == repr(model)
    assert np.array_equal(again.transform(new), model.transform(new))
    assert again.transform(new).dtype == dtype
    if parameters["kernel"] != "precomputed":
        assert np.array_equal(again.reconstruction_error(new), model.reconstruction_error(new))
    for name in ("eigenvalues_", "eigenvectors_", "explained_variance_ratio_", "X_fit_"):
        assert np.array_equal(getattr(again, name), getattr(model, name)), name
    assert again.gamma_ == model.gamma_
    if parameters.get("fit_inverse_transform"):
        scores = model.transform(new)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PreImageWarning)
            assert_allclose(again.inverse_transform(scores), model.inverse_transform(scores), rtol=1e-6)


def test_sparse_models_are_saved_sparse(rng, tmp_path):
    X = sp.random(20, 30, 0.2, format="csr", random_state=0)
    model = KernelPCA(3, kernel="rbf").fit(X)
    model.save(tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert sp.issparse(again.X_fit_)
    assert np.array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize("kernel", [naive.dot, lambda x, y: float(x @ y), np.dot])
def test_functions_cannot_be_saved(kernel, rng, tmp_path):
    model = KernelPCA(2, kernel=kernel).fit(rng.standard_normal((8, 4)))
    with pytest.raises(NotSaveableError, match="kernel"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
