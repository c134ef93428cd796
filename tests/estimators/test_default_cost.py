"""What bounds the cost of defaults: the number of points that a model works on, or a warning that tells how."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    HebbianKernelPCA,
    IncrementalKernelPCA,
    KernelPCA,
    KernelSpectralClustering,
    L1KernelPCA,
    LandmarkKernelPCA,
    OnlineRobustKernelPCA,
    R1KernelPCA,
    RobustKernelPCA,
    denoise,
)
from mercer.errors import SlowFitWarning
from mercer.estimators import (
    denoising,
    hebbian_kernel_pca,
    l1_kernel_pca,
    learning_warnings,
    r1_kernel_pca,
    robust_kernel_pca,
)
from mercer.metrics import subspace_distance
from mercer.solvers.exact import eigen


@pytest.fixture(scope="module")
def digits() -> np.ndarray:
    return load_digits(return_X_y=True)[0]


@pytest.mark.parametrize("cls", [OnlineRobustKernelPCA, LandmarkKernelPCA, IncrementalKernelPCA])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_streams_work_on_a_bounded_number_of_points(cls, method, digits):
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowFitWarning)
        model = getattr(cls(), method)(digits)
    assert model.expansion_.n_points <= 256


def test_the_bounded_default_finds_the_robust_components(digits):
    exact = RobustKernelPCA(5, gamma="median", landmarks=600, random_state=0).fit(digits)
    bounded = OnlineRobustKernelPCA(5, gamma="median", random_state=0).fit(digits)
    plain = KernelPCA(5, kernel="rbf", gamma="median").fit(digits)
    assert subspace_distance(bounded, exact) < 0.35
    assert bounded.reconstruction_error(digits).mean() < 1.05 * plain.reconstruction_error(digits).mean()


def test_clustering_with_too_narrow_a_kernel_says_so(digits):
    with pytest.warns(SlowFitWarning, match="gamma='median'"):
        KernelSpectralClustering(random_state=0).fit(digits)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowFitWarning)
        KernelSpectralClustering(gamma="median", random_state=0).fit(digits)


@pytest.mark.parametrize("cls", [HebbianKernelPCA, RobustKernelPCA])
def test_fits_on_many_rows_say_how_to_be_faster(cls, digits):
    with pytest.warns(SlowFitWarning, match="all 1797 rows.*landmarks=256") as caught:
        cls(random_state=0).fit(digits)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowFitWarning)
        cls(random_state=0, landmarks=256).fit(digits)
        cls(random_state=0).fit(digits[:300])
        cls(random_state=0, kernel="precomputed").fit(digits[:1000] @ digits[:1000].T / 1e3)


class StoppedError(Exception):
    """Ends a fit where its work begins."""


def stop(*_, **__):
    raise StoppedError


@pytest.mark.parametrize(
    ("cls", "module", "work"),
    [(RobustKernelPCA, robust_kernel_pca, "fit_from_start"), (HebbianKernelPCA, hebbian_kernel_pca, "run_passes")],
)
def test_the_advice_comes_before_work_of_many_minutes(monkeypatch, cls, module, work, digits):
    monkeypatch.setattr(hebbian_kernel_pca, "_VERY_MANY_ROWS", 1500)
    monkeypatch.setattr(module, work, stop)
    with pytest.warns(SlowFitWarning, match="all 1797 rows.*landmarks=256"), pytest.raises(StoppedError):
        cls(random_state=0).fit(digits)


@pytest.mark.parametrize(
    ("cls", "module", "work"),
    [(L1KernelPCA, l1_kernel_pca, "fit_l1"), (R1KernelPCA, r1_kernel_pca, "fit_r1")],
)
def test_kernel_matrices_that_every_step_makes_again_are_told_before_the_work(monkeypatch, cls, module, work, digits):
    monkeypatch.setattr(module, work, stop)
    told = pytest.warns(SlowFitWarning, match="all 1797 rows.*working_memory.*landmarks=256")
    with config_context(working_memory=1), told as caught, pytest.raises(StoppedError):
        cls().fit(digits)
    assert caught[0].filename == __file__
    quick = [(1024, {}, digits), (1, {"kernel": "linear"}, digits), (1, {"kernel": "precomputed"}, digits @ digits.T)]
    for memory, parameters, X in quick:
        with config_context(working_memory=memory), warnings.catch_warnings():
            warnings.simplefilter("error", SlowFitWarning)
            with pytest.raises(StoppedError):
                cls(**parameters).fit(X)


def test_the_projection_trick_is_refused_before_the_work_where_its_matrix_does_not_fit(monkeypatch, digits):
    monkeypatch.setattr(l1_kernel_pca, "fit_projection_trick", stop)
    model = L1KernelPCA(algorithm="projection_trick")
    with config_context(working_memory=1), pytest.raises(ValueError, match="holds the kernel matrix of 1797 rows"):
        model.fit(digits)
    with pytest.warns(SlowFitWarning, match="all eigenvectors of.*'fixed_point'"), pytest.raises(StoppedError):
        model.fit(digits)


def test_many_rows_are_denoised_on_landmarks(monkeypatch):
    angle = np.linspace(0, 6, 800)
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)])
    noisy = circle + 0.2 * np.random.default_rng(0).standard_normal(circle.shape)
    exact = denoise(noisy)
    assert type(denoising.default_estimator(noisy)) is KernelPCA
    monkeypatch.setattr(denoising, "MANY_ROWS", 799)
    assert type(denoising.default_estimator(noisy)) is LandmarkKernelPCA
    on_landmarks = denoise(noisy)
    assert ((on_landmarks - circle) ** 2).mean() < 1.05 * ((exact - circle) ** 2).mean()
    assert not np.array_equal(on_landmarks, exact)


def test_warnings_of_solvers_point_to_the_line_of_the_user(digits):
    with pytest.warns(ConvergenceWarning, match="Krylov solver stopped") as caught:
        KernelSpectralClustering(max_iter=2, random_state=0).fit(digits)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("n_components", [None, 0.9999, 200])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_many_eigenvectors_of_many_rows_are_told_before_the_work(n_components, kernel, digits, monkeypatch):
    monkeypatch.setattr(eigen, "_SLOW_ROWS", 1200)  # a test of 5,000 rows would take a minute
    monkeypatch.setattr(eigen, "_dense", stop)
    told = pytest.warns(SlowFitWarning, match="eigenvectors of the kernel matrix of 1500 rows.*at most 187")
    with told, pytest.raises(StoppedError):
        KernelPCA(n_components, kernel=kernel, gamma=0.01).fit(digits[:1500])


def test_few_eigenvectors_and_those_asked_for_by_a_solver_are_not_told(digits, monkeypatch):
    monkeypatch.setattr(eigen, "_SLOW_ROWS", 250)
    X = digits[:300]
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowFitWarning)
        monkeypatch.setattr(eigen, "_DENSE_ROWS", 100)
        KernelPCA(10, kernel="rbf", gamma="median").fit(X)
        KernelPCA(kernel="rbf", gamma="median", eigen_solver="dense").fit(X)
        KernelPCA().fit(X)  # of few columns there are few components
    with pytest.warns(SlowFitWarning, match="All eigenvectors of the kernel matrix of 300 rows"):
        KernelPCA(kernel="rbf", gamma="median").fit(X)


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        (KernelPCA(2, kernel="rbf", gamma="median"), "LandmarkKernelPCA"),
        (KernelSpectralClustering(2, gamma="median"), "sample.*predict"),
    ],
)
def test_all_pairs_of_very_many_rows_are_told(model, advice, digits, monkeypatch):
    monkeypatch.setattr(learning_warnings, "_TOO_MANY_ROWS", 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowFitWarning)
        model.fit(digits[:399])
        KernelPCA(2).fit(digits[:900])  # linear kernels of few columns compare no pairs
    with pytest.warns(SlowFitWarning, match=f"pairs of 400 rows.*{advice}"):
        model.fit(digits[:400])
