"""Spectral clustering: coordinates against loops, any solver, new rows, digits, and what is refused."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer import KernelSpectralClustering
from mercer.clustering.embedding import (
    HebbianEmbedding,
    PassSettings,
    make_affinity,
    solve_embedding,
    unit_rows,
)
from mercer.kernels import RBF
from mercer.metrics import variation_of_information
from mercer.solvers.exact.eigen import EigenOptions
from textbook import tasks as naive_tasks


@pytest.fixture
def blobs() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(240, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.5, random_state=0)


def model(**more) -> KernelSpectralClustering:
    return KernelSpectralClustering(**{"n_clusters": 3, "gamma": 0.5, "random_state": 0} | more)


def same_up_to_rotation(U: np.ndarray, V: np.ndarray, atol: float) -> None:
    """Inner products between rows tell coordinates apart whatever signs and order of equal eigenvectors are."""
    assert_allclose(U @ U.T, V @ V.T, atol=atol)


# -- coordinates --------------------------------------------------------------------------------------------------


@given(n=st.integers(4, 25), r=st.integers(1, 4), gamma=st.sampled_from([0.05, 1.0]), seed=st.integers(0, 99))
def test_coordinates_are_those_of_loops(n, r, gamma, seed):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((n, 3)), rng.standard_normal((5, 3))
    K = rbf_kernel(X, X, gamma)
    values = np.linalg.eigvalsh(naive_tasks.scaled_affinity(K))[::-1]
    if values[r - 1] < 1e-6 or (r < n and values[r - 1] - values[r] < 1e-6):
        return  # the subspace itself is not defined to more digits
    found = solve_embedding(make_affinity(RBF(gamma), X), r, EigenOptions("dense"))
    assert_allclose(found.expansion.eigenvalues, values[:r], atol=1e-10)
    same_up_to_rotation(found.coordinates, naive_tasks.spectral_coordinates(K, r), 1e-7)
    both = np.vstack([found.coordinates, unit_rows(found.expansion.project(new))])
    expected = naive_tasks.extended_coordinates(K, np.vstack([K, rbf_kernel(new, X, gamma)]), r)
    same_up_to_rotation(both, expected, 1e-6)


@pytest.mark.parametrize("kernel", ["sigmoid", "linear"])
def test_negative_affinities_count_by_their_size(rng, kernel):
    X = rng.standard_normal((30, 3))
    K = np.tanh(X @ X.T / 3 + 1) if kernel == "sigmoid" else X @ X.T
    fitted = model(kernel=kernel, gamma=None, n_components=3, eigen_solver="dense", tol=0).fit(X)
    same_up_to_rotation(fitted.embedding_, naive_tasks.spectral_coordinates(K, 3), 1e-7)
    assert np.abs(fitted.eigenvalues_).max() <= 1 + 1e-12


@pytest.mark.parametrize("solver", ["krylov", "dense", "arpack", "hebbian"])
def test_eigenvectors_come_from_any_solver(blobs, solver):
    X, y = blobs
    fitted = model(eigen_solver=solver).fit(X)
    L = naive_tasks.scaled_affinity(rbf_kernel(X, X, 0.5))
    assert_allclose(fitted.eigenvalues_, np.linalg.eigvalsh(L)[::-1][:3], rtol=1e-3 if solver == "hebbian" else 1e-9)
    assert_allclose(np.linalg.norm(fitted.embedding_, axis=1), 1.0)
    assert adjusted_rand_score(fitted.labels_, y) == 1.0
    assert np.array_equal(fitted.predict(X), fitted.labels_)
    assert fitted.solver_ == solver
    assert bool(fitted.history_) == (solver == "hebbian")


@pytest.mark.parametrize("gain", ["constant", "t", "et", "smd"])
def test_passes_of_every_gain_come_near_the_eigenvectors(blobs, gain):
    X, _ = blobs
    affinity = make_affinity(RBF(0.5), X)
    exact = solve_embedding(affinity, 3, EigenOptions("dense"))
    run = HebbianEmbedding(affinity, 3, PassSettings(gain, "auto", 0.0), np.random.RandomState(0))
    found = run.run(3).run(40, excess=True).embedding()
    assert found.n_iter == 43
    assert len(run.history["change"]) == 43
    assert run.history["excess"][-1] < run.history["excess"][0]
    assert ((found.coordinates @ found.coordinates.T - exact.coordinates @ exact.coordinates.T) ** 2).mean() < 1e-3
    # the extension is exact for the rows it was learned from, converged or not
    early = HebbianEmbedding(affinity, 3, PassSettings(gain, "auto", 0.0), np.random.RandomState(0)).run(1).embedding()
    assert_allclose(unit_rows(early.expansion.project(X)), early.coordinates, atol=1e-9)


def test_tiles_that_are_not_held_give_the_same(rng):
    X = rng.standard_normal((1100, 4))
    kept = make_affinity(RBF(0.3), X)
    made = make_affinity(RBF(0.3), X, hold=False)
    assert kept.operator.source.held
    assert not made.operator.source.held
    assert_allclose(kept.scale, rbf_kernel(X, X, 0.3).sum(axis=1) ** -0.5, rtol=1e-12)
    assert_allclose(made.scale, kept.scale, rtol=1e-12)
    V = rng.standard_normal((1100, 3))
    assert_allclose(made.operator.matmul(V), kept.operator.matmul(V), atol=1e-12)


# -- clusters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "solver"), [(make_circles, "krylov"), (make_moons, "krylov"), (make_moons, "hebbian")]
)
def test_shapes_that_k_means_cannot_part(make, solver):
    more = {"factor": 0.3} if make is make_circles else {}
    X, y = make(400, noise=0.05, random_state=0, **more)
    new, y_new = make(200, noise=0.05, random_state=1, **more)
    fitted = KernelSpectralClustering(2, gamma=20, eigen_solver=solver, max_iter=200, random_state=0).fit(X)
    assert adjusted_rand_score(fitted.labels_, y) > 0.97
    assert variation_of_information(np.r_[fitted.labels_, fitted.predict(new)], np.r_[y, y_new]) < 0.1


def test_new_rows_one_by_one_or_together(blobs, rng):
    X, _ = blobs
    fitted = model().fit(X)
    new = rng.uniform(-3, 6, (12, 2))
    assert np.array_equal(np.concatenate([fitted.predict(row[None]) for row in new]), fitted.predict(new))


def test_rows_far_away_get_the_label_of_the_nearest(blobs):
    X, y = blobs
    fitted = model().fit(X)
    labels = [fitted.labels_[y == k][0] for k in range(3)]
    for distance in (20.0, 30.0, 1e6):  # kernel values that are small, tiny, and zero
        assert fitted.predict([[-distance, -distance], [distance, 0], [0, distance]]).tolist() == labels


def test_a_given_matrix_of_affinities(blobs, rng):
    X, _ = blobs
    K = rbf_kernel(X, X, 0.5)
    kept, new = K.copy(), rng.uniform(-1, 5, (20, 2))
    for solver in ("krylov", "hebbian"):
        rows, given = model(eigen_solver=solver).fit(X), model(kernel="precomputed", eigen_solver=solver).fit(K)
        assert adjusted_rand_score(rows.labels_, given.labels_) == 1.0
        assert np.array_equal(K, kept)
        assert adjusted_rand_score(given.predict(rbf_kernel(new, X, 0.5)), rows.predict(new)) == 1.0


def test_one_sided_affinities_count_in_both_directions(blobs):
    X, _ = blobs
    K = rbf_kernel(X, gamma=0.5)
    one_sided = np.where(rbf_kernel(X) >= np.sort(rbf_kernel(X), axis=1)[:, -8:-7], K, 0.0)  # neighbours, not mutual
    with pytest.warns(UserWarning, match="not symmetric"):
        found = model(kernel="precomputed").fit(one_sided)
    both = model(kernel="precomputed").fit((one_sided + one_sided.T) / 2)
    assert_allclose(found.embedding_, both.embedding_, atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(kernel="precomputed").fit(K.astype(np.float32))


def test_rows_that_are_all_far_apart_are_told(rng):
    X = 100.0 * rng.standard_normal((30, 3))
    for params, rows in (({"gamma": 5.0}, X), ({"kernel": "precomputed"}, np.eye(30))):
        with pytest.warns(UserWarning, match="30 of the 30 rows are far from all others"):
            model(**params).fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(gamma=5.0, n_clusters=30).fit(X)
        model(gamma="median").fit(X)


def test_sparse_and_single_precision_rows(blobs):
    X, y = blobs
    for rows in (sp.csr_matrix(X), X.astype(np.float32)):
        fitted = model().fit(rows)
        assert adjusted_rand_score(fitted.labels_, y) == 1.0
        assert adjusted_rand_score(fitted.predict(rows), y) == 1.0


def test_more_or_fewer_components_than_clusters(blobs):
    X, _ = blobs
    assert model(n_components=6).fit(X).embedding_.shape == (240, 6)
    assert model(n_components=2).fit(X).cluster_centers_.shape == (3, 2)
    assert KernelSpectralClustering(3, n_components=10, gamma=0.5).fit(X[:5]).embedding_.shape == (5, 5)


def test_a_row_without_any_affinity_does_not_spoil_the_rest(blobs):
    X, y = blobs
    K = rbf_kernel(X, X, 0.5)
    K[7] = K[:, 7] = 0
    fitted = model(kernel="precomputed").fit(K)
    assert not fitted.embedding_[7].any()
    assert adjusted_rand_score(np.delete(fitted.labels_, 7), np.delete(y, 7)) == 1.0


def test_as_many_clusters_as_rows_and_repeated_rows(rng):
    X = 10 * np.arange(4.0)[:, None]
    assert sorted(KernelSpectralClustering(4, gamma=1.0, random_state=0).fit_predict(X)) == [0, 1, 2, 3]
    repeated = np.repeat(X, 5, axis=0)
    labels = KernelSpectralClustering(4, gamma=1.0, random_state=0).fit_predict(repeated)
    assert adjusted_rand_score(labels, np.repeat(np.arange(4), 5)) == 1.0


def test_one_cluster_holds_everything(blobs):
    fitted = KernelSpectralClustering(1, random_state=0).fit(blobs[0])
    assert not fitted.labels_.any()
    assert not fitted.predict([[100.0, 100.0]]).any()


def test_a_saved_model_predicts_the_same(blobs, tmp_path):
    X, _ = blobs
    fitted = model(eigen_solver="hebbian").fit(X)
    fitted.save(tmp_path / "clusters")
    again = mercer.load(tmp_path / "clusters")
    assert np.array_equal(again.predict(X), fitted.labels_)
    assert np.array_equal(again.labels_, fitted.labels_)
    assert np.array_equal(again.history_["change"], fitted.history_["change"])


# -- digits -------------------------------------------------------------------------------------------------------


def test_passes_cluster_digits_as_eigenvectors_do(data_set):
    """KHA-SMD within 10 passes is as good as kernel PCA [guenter2006, sec. 5.3], on a part of the digits."""
    digits = data_set("usps")
    X, y = digits["X"][:1500], digits["y"][:1500]
    known = {"n_clusters": 10, "gamma": 1 / 128, "random_state": 0}
    exact = KernelSpectralClustering(**known).fit(X)
    passes = KernelSpectralClustering(**known, eigen_solver="hebbian", max_iter=10, tol=0).fit(X)
    assert passes.n_iter_ == 10
    quality = [variation_of_information(fitted.labels_, y) for fitted in (exact, passes)]
    assert max(quality) < 2.6  # labels at random: about 4.5
    assert abs(quality[0] - quality[1]) < 0.15
    new = variation_of_information(exact.predict(digits["X_test"][:1000]), digits["y_test"][:1000])
    assert new < 2.8


# -- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "X", "text"),
    [
        ({"n_clusters": 0}, np.eye(5), "n_clusters"),
        ({"n_clusters": 2.5}, np.eye(5), "n_clusters"),
        ({"n_clusters": 6}, np.eye(5), "n_clusters=6 needs at least as many rows; n_samples=5"),
        ({"n_components": 0}, np.eye(5), "n_components"),
        ({"eigen_solver": "lanczos"}, np.eye(5), "eigen_solver"),
        ({"gain": "fast"}, np.eye(5), "gain"),
        ({"tol": -1}, np.eye(5), "tol"),
        ({}, np.full((5, 2), np.nan), "NaN"),
        ({}, np.full((5, 2), np.inf), "infinity"),
        ({}, np.zeros(5), "2D"),
        ({}, np.zeros((2, 3, 4)), "dim 3"),
        ({}, np.zeros((0, 3)), "0 sample"),
        ({"kernel": "precomputed"}, np.ones((5, 4)), "square"),
        ({"kernel": "poly", "degree": 200, "gamma": 1.0}, 1e3 * np.eye(5), "not finite"),
    ],
)
def test_bad_input_is_refused_with_advice(params, X, text):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=text):
        KernelSpectralClustering(**{"n_clusters": 3} | params).fit(X)


def test_a_gain_that_diverges_is_told(blobs):
    with pytest.warns(ConvergenceWarning, match="eta0=1e\\+300"):
        fitted = model(eigen_solver="hebbian", gain="constant", eta0=1e300).fit(blobs[0])
    assert np.isfinite(fitted.embedding_).all()


def test_new_rows_are_checked(blobs):
    with pytest.raises(NotFittedError):
        model().predict(blobs[0])
    fitted = model().fit(blobs[0])
    with pytest.raises(ValueError, match="3 features"):
        fitted.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict([[0.0, np.nan]])


def test_a_matrix_beyond_the_budget_is_refused_for_passes_only(blobs):
    with config_context(working_memory=0), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn cannot adhere to it
        with pytest.raises(ValueError, match="Use 'krylov'"):
            model(eigen_solver="hebbian").fit(blobs[0])
        assert adjusted_rand_score(model().fit(blobs[0]).labels_, blobs[1]) == 1.0


@pytest.mark.parametrize("solver", ["krylov", "dense", "arpack"])
def test_clusters_far_from_each_other_are_found_by_every_solver(solver, rng):
    labels = np.arange(80) % 8
    X = 30.0 * labels[:, None] + 0.3 * rng.standard_normal((80, 2))  # the largest eigenvalue occurs eight times
    model = KernelSpectralClustering(8, gamma=0.5, eigen_solver=solver, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, labels) == 1.0
