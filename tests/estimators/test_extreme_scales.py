"""Numbers far outside of the ordinary: an estimator is right, or says what is wrong; it never returns NaN or zeros."""

import warnings

import numpy as np
import pytest

import mercer
from mercer.kernels.resolve import median_gamma

SCALES = (1e-150, 1e-100, 1e-85, 1e-72, 1e-60, 1e60, 1e72, 1e78, 1e100, 1e150)
NAMES = (
    "KernelPCA", "R1KernelPCA", "LandmarkKernelPCA", "HebbianPCA", "HebbianKernelPCA", "OnlineRobustKernelPCA",
    "L1KernelPCA", "RobustKernelPCA", "IncrementalKernelPCA",
)  # fmt: skip


def linear_model(name: str):
    more = {} if name == "HebbianPCA" else {"kernel": "linear"}
    if name in ("HebbianPCA", "HebbianKernelPCA", "OnlineRobustKernelPCA"):
        more["random_state"] = 0
    if name == "LandmarkKernelPCA":
        more["landmarks"] = 30
    return getattr(mercer, name)(2, **more)


def fitted_or_reason(name: str, X: np.ndarray):
    try:
        return "", linear_model(name).fit(X).transform(X)
    except ValueError as error:
        return str(error), None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", SCALES)
def test_components_do_not_depend_on_the_unit_or_an_error_says_why(name, scale, rng):
    X = rng.standard_normal((60, 5)) * [9.0, 5.0, 1.0, 1.0, 1.0]
    ordinary = linear_model(name).fit(X).transform(X)
    reason, found = fitted_or_reason(name, X * scale)
    if found is None:
        assert any(word in reason for word in ("Rescale", "Scale the rows", "Divide X")), reason
    else:
        assert np.abs(np.abs(found / scale) - np.abs(ordinary)).max() < 1e-3 * np.abs(ordinary).max()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("solver", ["dense", "arpack", "randomized", "krylov"])
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-72, 1e72, 1e100, 1e150])
def test_every_eigensolver_finds_components_in_any_unit(solver, scale, rng):
    X = rng.standard_normal((60, 40))
    ordinary = mercer.KernelPCA(3, eigen_solver=solver).fit(X)
    scaled = mercer.KernelPCA(3, eigen_solver=solver).fit(X * scale)
    np.testing.assert_allclose(scaled.eigenvalues_ / scale / scale, ordinary.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(scaled.transform(X * scale) / scale, ordinary.transform(X), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-140, 1e-60, 1e60, 1e140])
def test_median_gamma_of_small_and_large_numbers(scale, rng):
    X = rng.standard_normal((40, 3))
    assert median_gamma(X * scale) * scale * scale == pytest.approx(median_gamma(X), rel=1e-12)


@pytest.mark.parametrize("scale", [5e-324, 1e-170, 1e160, 1e300])
def test_a_median_gamma_that_no_number_can_hold_is_refused(scale):
    X = np.array([[0.0], [1.0], [2.0], [4.0]]) * scale
    with pytest.raises(ValueError, match="median distance between rows"):
        median_gamma(X)


def test_one_enormous_cell_does_not_change_the_median_gamma(rng):
    X = rng.standard_normal((40, 3))
    one_cell = X.copy()
    one_cell[7, 1] = 1e200
    assert median_gamma(one_cell) == pytest.approx(median_gamma(X), rel=0.2)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("method", ["transform", "reconstruction_error"])
@pytest.mark.parametrize(("degree", "row"), [(3, 1e120), (2.5, -9.0)])
def test_kernel_values_that_are_no_numbers_are_refused(method, degree, row, rng):
    model = mercer.KernelPCA(2, kernel="poly", degree=degree).fit(np.abs(rng.standard_normal((50, 3))))
    with pytest.raises(ValueError, match="Kernel values of these rows are not finite"):
        getattr(model, method)(np.full((2, 3), row))


# -- rows near each other, and far from all others ----------------------------------------------------------------


@pytest.mark.parametrize("distance", [1e4, 1e6, 1e8, 1e10, 1e12])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_gaussian_of_rows_far_from_the_others(distance, dtype, rng):
    near = rng.integers(-8, 8, (20, 3)) * 0.25
    X = np.vstack([near, near[:8] + 2.0 ** np.round(np.log2(distance))])  # exact in float64
    true = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    if dtype == np.float32:
        X = X.astype(dtype)
        true = np.exp(-0.5 * ((X[:, None].astype(float) - X) ** 2).sum(axis=2))
    K = mercer.kernels.RBF(0.5)(X)
    np.testing.assert_allclose(K, true, atol=1e-7 if dtype == np.float32 else 1e-14)
    assert (np.diag(K) == 1.0).all()


def test_scores_of_far_training_rows_are_those_of_the_fit(rng):
    near = rng.standard_normal((30, 3))
    X = np.vstack([near, near[:15] + 1e8])
    model = mercer.KernelPCA(4, kernel="rbf", gamma=0.25)
    scores = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), scores, atol=1e-12)
    K = np.exp(-0.25 * ((X[:, None] - X) ** 2).sum(axis=2))
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(centred)[::-1][:4], rtol=1e-7)


def test_a_sparse_gaussian_of_long_rows(rng):
    from scipy import sparse

    X = rng.standard_normal((12, 4)) + 1e7
    K = mercer.kernels.RBF(0.5)(sparse.csr_matrix(X))
    np.testing.assert_allclose(K, np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)), atol=1e-12)


@pytest.mark.parametrize("name", ["LandmarkKernelPCA", "IncrementalKernelPCA", "OnlineRobustKernelPCA"])
def test_streams_say_that_rows_are_too_far_from_the_origin(name, rng):
    X = rng.standard_normal((60, 3))
    with pytest.warns(UserWarning, match="Subtract the mean of each column"):
        linear_model(name).fit(X + 1e5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        linear_model(name).fit(X + 1e2)
        linear_model(name).partial_fit(np.full((60, 3), 3.7))  # rows that are all the same have no small components


# -- a fit that fails ---------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*NAMES, "KernelOutlierDetector", "ProcessMonitor", "KernelSpectralClustering"])
def test_a_fit_that_fails_leaves_the_model_as_it_was(name, rng):
    X, other = rng.standard_normal((80, 5)), rng.standard_normal((80, 3))
    model = getattr(mercer, name)().fit(X)
    before = dict(vars(model))
    other[3, 1] = 1e300 if name != "HebbianPCA" else 1e90
    model.set_params(**_kernel_that_overflows(model))
    with pytest.raises(ValueError):
        model.fit(other if name != "ProcessMonitor" else other[:1])
    assert model.n_features_in_ == 5
    fitted = {key for key in before if key.endswith("_")}
    assert fitted == {key for key in vars(model) if key.endswith("_")}
    assert all(vars(model)[key] is before[key] for key in fitted)


def _kernel_that_overflows(model) -> dict:
    names = model.get_params()
    if "kernel" in names:
        return {"kernel": mercer.kernels.Polynomial(1.0, 1.0, 3.0)}
    if "estimator" in names:
        plain = {"standardize": False} if "standardize" in names else {}
        return {"estimator": mercer.KernelPCA(2, kernel="poly"), **plain}
    return {}


def test_the_error_of_an_overflow_names_the_number_that_causes_it(rng):
    model = mercer.IncrementalKernelPCA(2, gamma=0.1).fit(rng.standard_normal((50, 3)))
    with pytest.raises(ValueError, match=r"the data reach 1e\+200"):
        model.partial_fit(np.full((3, 3), 1e200))


@pytest.mark.parametrize(
    ("kernel", "offset", "gamma"),
    [("linear", 1e5, None), ("cosine", 1e5, None), ("poly", 1e5, None), ("rbf", 0.0, 1e-10), ("sigmoid", 0.0, 1e-10)],
)
@pytest.mark.parametrize("name", ["LandmarkKernelPCA", "IncrementalKernelPCA", "OnlineRobustKernelPCA"])
def test_rows_whose_kernel_values_lose_digits_are_told(name, kernel, offset, gamma, rng):
    """The second eigenvalue of `LandmarkKernelPCA` is 0 or wrong by more than 1e-6 in all of these cases."""
    X = rng.standard_normal((200, 4)) * [3.0, 2.0, 1.0, 0.5] + offset
    with pytest.warns(UserWarning, match="times as far from the origin as from their mean") as told:
        getattr(mercer, name)(2, kernel=kernel, gamma=gamma).fit(X)
    asked = {"linear": "mean of each column", "rbf": "Raise gamma", "sigmoid": "raise gamma"}
    assert any(asked.get(kernel, "mean of each column") in str(one.message) for one in told)


@pytest.mark.parametrize("kernel", ["linear", "cosine", "poly", "rbf", "laplacian", "sigmoid"])
def test_nothing_is_told_of_rows_a_hundred_spreads_away_from_zero(kernel, rng, recwarn):
    X = rng.standard_normal((200, 4)) + 100.0
    model = mercer.LandmarkKernelPCA(2, kernel=kernel, gamma=0.01, landmarks=50, random_state=0).fit(X)
    assert model.n_samples_seen_ == 200
    assert not [one for one in recwarn if "far from the origin" in str(one.message)]
