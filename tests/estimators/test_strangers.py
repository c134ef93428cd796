"""What people did who moved their code from scikit-learn, and what went wrong then."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

import mercer
from mercer import KernelPCA, L1KernelPCA, R1KernelPCA, RobustKernelPCA
from mercer.solvers.exact import eigen


@pytest.mark.parametrize("cls", [KernelPCA, L1KernelPCA, R1KernelPCA, RobustKernelPCA])
def test_a_precomputed_kernel_has_no_rows_to_go_back_to(cls, rng):
    X = rng.standard_normal((20, 3))
    model = cls(2, kernel="precomputed").fit(X @ X.T)
    with pytest.raises(ValueError, match="the rows behind the kernel values are not known"):
        model.inverse_transform(model.transform(X @ X.T))


@pytest.mark.filterwarnings("ignore:n_components:UserWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("cls", [KernelPCA, L1KernelPCA, R1KernelPCA])
def test_equal_rows_come_back_from_a_model_without_components(cls, kernel):
    model = cls(2, kernel=kernel, preimage="auto").fit(np.full((10, 3), 2.0))
    scores = model.transform(np.full((4, 3), 2.0))
    np.testing.assert_allclose(model.inverse_transform(scores), np.full((4, 3), 2.0), atol=1e-12)


def test_equal_rows_raise_no_warning_about_their_preimages():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(kernel="rbf", preimage="auto").fit(np.full((10, 3), 0.3))
        found = model.inverse_transform(model.transform(np.full((4, 3), 0.3)))
    assert np.isfinite(found).all()


def test_what_a_later_fit_does_not_learn_is_gone(rng):
    X = rng.standard_normal((30, 3))
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    model.set_params(fit_inverse_transform=False).fit(X)
    assert not hasattr(model, "dual_coef_")
    model.set_params(fit_inverse_transform=True)
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        model.inverse_transform(model.transform(X))


def test_few_components_are_not_advised_where_none_would_help():
    K = -np.eye(6)
    K[0, 0] = 0.1
    with pytest.raises(ValueError, match="Use other parameters of the kernel"):
        KernelPCA(1, kernel="precomputed", eigen_solver="dense").fit(K)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_share_takes_few_attempts(share, rng, monkeypatch):
    X, calls = rng.standard_normal((600, 30)), []
    solve = eigen.solve
    monkeypatch.setattr(eigen, "solve", lambda *given: calls.append(given[1]) or solve(*given))
    model = KernelPCA(share, kernel="rbf", gamma="median").fit(X)
    everything = KernelPCA(kernel="rbf", gamma="median").fit(X).eigenvalues_
    sums = np.cumsum(everything) / everything.sum()
    assert model.n_components_ == int(np.searchsorted(sums, share * (1.0 - 1e-10))) + 1
    assert len(calls) <= 3


def test_denoising_is_not_left_to_a_model_that_changes_nothing():
    X = load_wine().data
    for seed in (0, 1, 4):
        model = mercer.select(X, "denoising", random_state=seed).estimator.fit(X)
        changed = np.abs(model.inverse_transform(model.transform(X)) - X).max(axis=0)
        assert (changed > 1e-6 * X.std(axis=0)).all()


def test_plots_say_what_they_need(rng):
    X = rng.standard_normal((30, 3))
    model = KernelPCA(2).fit(X)
    with pytest.raises(ValueError, match="one value for each of the 30 rows"):
        mercer.plots.scores(model, X, [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mercer.plots.scores(model, X, np.r_[np.nan, np.ones(14), np.zeros(15)])
    with pytest.raises(NotFittedError):
        mercer.plots.spectrum(KernelPCA(2))
    with pytest.raises(ValueError, match="no components"):
        mercer.plots.spectrum(KernelPCA().fit(np.ones((5, 2))))
    with pytest.raises(TypeError, match="no weights of rows"):
        mercer.plots.sample_weights(model)
