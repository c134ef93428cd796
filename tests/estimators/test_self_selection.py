"""`KernelPCA(gamma="select", n_components="select")` and `KernelPCA.score`."""

import logging
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import KernelPCA
from selection_data import curve, low_rank

X = curve(120)


def test_both_are_selected_as_mercer_select_does_it_for_gaussian_kernels():
    model = KernelPCA("select", kernel="rbf", gamma="select", random_state=0).fit(X)
    found = mercer.select(X, candidates={"kernel": ["rbf"]}, random_state=0).estimator
    assert (model.n_components_, model.gamma_) == (found.n_components, found.gamma)
    assert (model.n_components, model.gamma) == ("select", "select")
    peer = clone(found).fit(X)
    assert_allclose(np.abs(model.transform(X)), np.abs(peer.transform(X)), atol=1e-9)


def test_without_a_seed_the_result_is_always_the_same():
    a, b = (KernelPCA("select", kernel="rbf", gamma="select").fit(X) for _ in range(2))
    assert (a.n_components_, a.gamma_) == (b.n_components_, b.gamma_)
    assert_array_equal(a.transform(X), b.transform(X))


@pytest.mark.parametrize("n_components", [3, 0.9, None])
def test_what_is_given_stays(n_components):
    model = KernelPCA(n_components, kernel="rbf", gamma="select").fit(X)
    peer = KernelPCA(n_components, kernel="rbf", gamma=model.gamma_).fit(X)
    assert model.n_components_ == peer.n_components_
    assert_allclose(model.eigenvalues_, peer.eigenvalues_)


@pytest.mark.parametrize("gamma", [None, 0.3, "median"])
def test_a_given_gamma_stays(gamma):
    model = KernelPCA("select", kernel="rbf", gamma=gamma).fit(X)
    assert model.gamma_ == KernelPCA(1, kernel="rbf", gamma=gamma).fit(X).gamma_
    assert model.n_components_ > 4


@pytest.mark.parametrize("gamma", [None, 2.0, "median", "select"])
def test_the_linear_kernel_ignores_gamma_and_takes_the_rank(gamma):
    model = KernelPCA("select", gamma=gamma).fit(low_rank(rank=4, d=20))
    assert model.n_components_ == 4
    assert np.isfinite(model.gamma_)
    assert KernelPCA(3, gamma="select").fit(X[:5]).n_components_ == 3  # nothing is left to select


@pytest.mark.parametrize("scale", [1e-150, 1e150, 3.0])
def test_the_scale_of_the_rows_does_not_matter(scale):
    small, large = (KernelPCA("select", kernel="rbf", gamma="select").fit(rows) for rows in (X, X * scale))
    assert small.n_components_ == large.n_components_
    assert_allclose(small.gamma_, large.gamma_ * scale * scale, rtol=1e-9)


@pytest.mark.parametrize(
    ("params", "rows", "error", "message"),
    [
        ({"kernel": "poly", "n_components": "select"}, X, ValueError, "mercer.select compares kernels"),
        ({"kernel": "precomputed", "n_components": "select"}, X @ X.T, ValueError, "pass the rows themselves"),
        ({"kernel": "precomputed", "n_components": "select"}, X @ X.T, ValueError, "got kernel='precomputed'"),
        ({"kernel": lambda x, y: x @ y, "gamma": "select"}, X, ValueError, "'select' chooses the width"),
        (
            {"kernel": "rbf", "gamma": "select"},
            X[:19],
            ValueError,
            "20 rows and 2 columns; got n_samples = 19",
        ),
        ({"kernel": "rbf", "gamma": "select"}, X[:, :1], ValueError, "n_features = 1"),
        ({"kernel": "rbf", "gamma": "select"}, np.ones((30, 3)), ValueError, "all rows are equal"),
        ({"kernel": "rbf", "gamma": "select"}, np.repeat(X[:19], 9, axis=0), ValueError, "got 19 among 171 rows"),
        ({"kernel": "rbf", "gamma": "select"}, sparse.csr_array(X), TypeError, "needs dense rows"),
        ({"kernel": "rbf", "gamma": "selected"}, X, ValueError, "gamma"),
    ],
)
def test_what_cannot_be_selected_is_refused(params, rows, error, message):
    with pytest.raises(error, match=message):
        KernelPCA(**params).fit(rows)


def test_the_model_is_saved_pickled_cloned_and_named_as_any_other(tmp_path):
    model = KernelPCA("select", kernel="rbf", gamma="select", preimage="auto").fit(X)
    model.save(tmp_path / "model")
    for other in (mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.transform(X), model.transform(X))
        assert other.gamma_ == model.gamma_
    assert clone(model).get_params() == model.get_params()
    assert model.set_output(transform="pandas").transform(X).shape == (120, model.n_components_)


def test_rows_stay_as_they_are_and_nothing_is_warned_of(recwarn):
    before = X.copy()
    KernelPCA("select", kernel="rbf", gamma="select").fit(X)
    assert_array_equal(X, before)
    assert not recwarn.list


def test_progress_is_shown(caplog):
    with caplog.at_level(logging.INFO, "mercer"):
        KernelPCA("select", kernel="rbf", gamma="select", verbose=2).fit(X)
    assert "kernels compared: step 7 of 7" in caplog.text


# -- score -----------------------------------------------------------------------------------------------------------


def test_the_score_of_exactly_low_rank_rows_is_1():
    rows = low_rank(80, rank=3, d=15, noise=0.0)
    assert_allclose(KernelPCA(3).fit(rows[:60]).score(rows[60:]), 1.0, atol=1e-6)
    assert KernelPCA(2).fit(rows[:60]).score(rows[60:]) < 0.99


def test_the_score_of_new_rows_falls_again_with_too_many_components():
    rows = low_rank(200, rank=4, d=40, noise=0.5)
    scores = [KernelPCA(r).fit(rows[:150]).score(rows[150:]) for r in (1, 2, 4, 8, 16, 32)]
    assert int(np.argmax(scores)) == 2
    assert scores[2:] == sorted(scores[2:], reverse=True)


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e150])
def test_the_score_does_not_depend_on_the_scale(scale):
    for kernel in ("rbf", "linear"):
        model = KernelPCA(4, kernel=kernel, gamma="median")
        assert_allclose(model.fit(X * scale).score(X * scale), model.fit(X).score(X), atol=1e-5)


def test_the_score_is_a_number_that_repeats_and_leaves_the_rows_alone():
    model, before = KernelPCA(8, kernel="rbf", gamma="median").fit(X), X.copy()
    score = model.score(X)
    assert isinstance(score, float)
    assert model.score(X, None) == score
    assert_array_equal(X, before)


def test_rows_without_variation_are_predicted():
    assert_allclose(KernelPCA(1).fit(np.full((20, 3), 0.1)).score(np.full((5, 3), 0.1)), 1.0, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "laplacian"])
def test_every_kernel_with_rows_has_a_score(kernel):
    model = KernelPCA(3, kernel=kernel, gamma=0.01, coef0=0.0).fit(X)
    assert -5 < model.score(X) < 1


def test_grid_search_finds_the_kernel_and_the_number_of_components():
    grid = {"kernel": ["linear", "rbf"], "n_components": [1, 4, 16]}
    search = GridSearchCV(KernelPCA(gamma=0.25), grid, cv=3).fit(X)
    assert search.best_params_ == {"kernel": "rbf", "n_components": 16}
    search = GridSearchCV(KernelPCA(gamma="median"), grid, cv=3).fit(low_rank(120, rank=4, d=20))
    assert search.best_params_ == {"kernel": "linear", "n_components": 4}


def test_cross_validation_scores_a_pipeline():
    scores = cross_val_score(
        make_pipeline(StandardScaler(), KernelPCA("select", kernel="rbf", gamma="select")), X, cv=3
    )
    assert scores.shape == (3,)
    assert (scores > 0.5).all()


@pytest.mark.parametrize(
    ("model", "rows", "error", "message"),
    [
        (KernelPCA(2, kernel="precomputed").fit(X @ X.T), X @ X.T, AttributeError, "no attribute 'score'"),
        (KernelPCA(1).fit(X[:, :1]), X[:, :1], ValueError, "With one feature there is nothing"),
        (KernelPCA(2).fit(X), sparse.csr_array(X), TypeError, "score needs dense rows"),
        (KernelPCA(2).fit(sparse.csr_array(X)), X, TypeError, "score needs dense rows"),
        (KernelPCA(2).fit(X), X[:, :3], ValueError, "features"),
        (KernelPCA(2).fit(X), np.full((3, 8), np.nan), ValueError, "NaN"),
        (KernelPCA(2), X, NotFittedError, "not fitted"),
    ],
)
def test_rows_without_a_score_are_refused(model, rows, error, message):
    with pytest.raises(error, match=message):
        model.score(rows)
