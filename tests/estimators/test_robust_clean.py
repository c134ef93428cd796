"""R1 and robust kernel PCA of ordinary rows: wide spectra, rows far from the origin, and rows without outliers."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA, R1KernelPCA, RobustKernelPCA, load
from mercer.engine.psi import auto_scale
from mercer.solvers.robust.space import FeatureRows, as_if_left_out, weighted_subspace

BOTH = pytest.mark.parametrize("cls", [R1KernelPCA, RobustKernelPCA])


def quiet_fit(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def check_never_rises(objective) -> None:
    lowest = np.minimum.accumulate(objective)
    assert (objective <= lowest * (1 + 1e-9)).all()


# -- R1: eigenvalues that span many powers of ten ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make_rows", "r"), [(load_breast_cancer, 10), (load_wine, 10), (load_wine, 12)], ids=["cancer", "wine", "wine 12"]
)
def test_r1_keeps_the_small_components_of_tables_that_are_not_scaled(make_rows, r):
    X = make_rows().data
    model, plain = quiet_fit(R1KernelPCA(r, kernel="linear"), X), KernelPCA(r).fit(X)
    check_never_rises(model.objective_)
    assert model.objective_[-1] < model.objective_[0]
    assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=0.7)
    axes = model.expansion_.coef @ (X - X.mean(axis=0))
    assert_allclose(axes @ axes.T, np.eye(r), atol=1e-8)


@pytest.mark.parametrize("exponent", [3, 5, 7])
def test_r1_of_columns_whose_sizes_differ_by_many_powers_of_ten(exponent):
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, (120, 6)) * np.logspace(0, -exponent, 6)
    model = quiet_fit(R1KernelPCA(4, kernel="linear"), X)
    check_never_rises(model.objective_)
    axes = model.expansion_.coef @ (X - X.mean(axis=0))
    assert_allclose(axes @ axes.T, np.eye(len(axes)), atol=1e-7)


@pytest.mark.parametrize("kernel", ["poly", "rbf", "laplacian"])
def test_r1_never_gets_worse_with_heavy_tails(kernel):
    X = np.random.default_rng(0).standard_cauchy((150, 4))
    for r in (2, 5):
        model = quiet_fit(R1KernelPCA(r, kernel=kernel), X)
        check_never_rises(model.objective_)
        assert (np.diff(model.eigenvalues_) <= 0).all()


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_r1_of_large_rows_divides_without_overflow(offset):
    X = np.random.default_rng(0).standard_normal((60, 3)) * (1.0 if offset else 1e6) + offset
    for kernel in ("poly", "linear"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            model = R1KernelPCA(2, kernel=kernel).fit(X)
        check_never_rises(model.objective_)


def test_r1_in_single_precision_ends_where_double_precision_does():
    X = load_iris().data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = R1KernelPCA(6, kernel="rbf").fit(X.astype(np.float32))
    assert_allclose(single.eigenvalues_, R1KernelPCA(6, kernel="rbf").fit(X).eigenvalues_, rtol=1e-4)


# -- the linear kernel far from the origin -------------------------------------------------------------------------


def rows_with_outliers() -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(200, 3)) * [3, 1, 0.3]
    X[:10] += [0, 0, 20]
    return X


@BOTH
@pytest.mark.parametrize("offset", [1e5, 1e8, np.array([1e8, -3e5, 0.0])], ids=["1e5", "1e8", "by column"])
def test_the_offset_of_the_rows_does_not_matter(cls, offset, tmp_path):
    X = rows_with_outliers()
    near, far = cls(1, kernel="linear").fit(X), cls(1, kernel="linear").fit(X + offset)
    size = float(np.max(offset))
    tolerance = 1e-9 + 1e-14 * size
    assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=tolerance)
    assert_allclose(far.explained_variance_ratio_, near.explained_variance_ratio_, rtol=tolerance)
    assert_allclose(far.weights_, near.weights_, atol=10 * tolerance)
    assert_allclose(far.transform(X + offset), near.transform(X), atol=10 * tolerance)
    assert_allclose(far.reconstruction_error(X + offset), near.reconstruction_error(X), rtol=1e-5, atol=1e-5)
    far.save(tmp_path / "far.mercer")
    again = load(tmp_path / "far.mercer")
    assert_allclose(again.transform(X + offset), far.transform(X + offset), atol=1e-12 * size)
    assert_allclose(again.reconstruction_error(X + offset), far.reconstruction_error(X + offset), atol=1e-12 * size)


@BOTH
def test_wide_rows_far_from_the_origin(cls):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 50)) * np.linspace(3, 0.1, 50)
    near, far = quiet_fit(cls(2, kernel="linear"), X), quiet_fit(cls(2, kernel="linear"), X + 1e7)
    assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-6)
    assert_allclose(far.weights_, near.weights_, atol=1e-5)
    assert_allclose(far.transform(X + 1e7), near.transform(X), atol=1e-5)


@BOTH
def test_without_centring_the_offset_is_part_of_the_rows(cls):
    X = rows_with_outliers() + 50
    model = quiet_fit(cls(1, kernel="linear", center=False), X)
    axis = model.expansion_.coef @ X
    assert abs(axis @ np.full(3, 3**-0.5))[0] > 0.99


@BOTH
def test_single_precision_far_from_the_origin(cls):
    X = (rows_with_outliers() + 1000).astype(np.float32)
    single, double = cls(1, kernel="linear").fit(X), cls(1, kernel="linear").fit(X.astype(np.float64))
    assert_allclose(single.weights_, double.weights_, atol=2e-3)
    assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-3)


@BOTH
def test_equal_rows_far_away_have_no_components(cls):
    X = np.repeat(1e8 * np.random.default_rng(0).standard_normal((1, 4)), 50, axis=0)
    model = quiet_fit(cls(2, kernel="linear"), X)
    assert (model.eigenvalues_ == 0).all()
    assert (model.weights_ == 1).all()


def test_landmarks_of_rows_far_from_the_origin_are_told():
    with pytest.warns(UserWarning, match="as far from the origin"):
        RobustKernelPCA(1, kernel="linear", landmarks=20, random_state=0).fit(rows_with_outliers() + 1e6)


# -- rows without outliers -----------------------------------------------------------------------------------------


def one_hot_rows() -> np.ndarray:
    return np.eye(8)[np.random.default_rng(0).integers(0, 8, 400)][:200]


@pytest.mark.parametrize("psi", ["logistic", "exp", "tukey", "huber"])
@pytest.mark.parametrize("landmarks", [None, np.eye(8)], ids=["all rows", "landmarks"])
def test_where_the_ordinary_components_hold_every_row_all_rows_count(psi, landmarks):
    X = one_hot_rows()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*weight below.*")
        warnings.filterwarnings("ignore", "n_components")
        model = RobustKernelPCA(8, kernel="linear", psi=psi, landmarks=landmarks).fit(X)
    assert (model.weights_ == 1).all()
    assert model.n_iter_ == 1
    assert_allclose(model.eigenvalues_[:7], KernelPCA(7).fit(X).eigenvalues_, rtol=1e-9)
    assert np.abs(model.reconstruction_error(X)).max() < 1e-12


def test_as_many_components_as_columns_hold_tables_that_are_not_scaled():
    X = load_breast_cancer().data
    model = quiet_fit(RobustKernelPCA(30, kernel="linear"), X)
    assert (model.weights_ == 1).all()


def test_a_row_off_the_ordinary_components_is_still_an_outlier():
    X = one_hot_rows()
    X[3] = 0.0
    X[3, 0] = 50.0
    model = quiet_fit(RobustKernelPCA(6, kernel="linear"), X)
    assert model.weights_[3] < 0.01


@pytest.mark.parametrize("psi", ["logistic", "exp", "tukey"])
def test_many_rows_without_weight_are_told_once(psi):
    X = np.random.default_rng(0).standard_normal((160, 3)) * 0.1
    X[:70] += 20 * np.random.default_rng(1).standard_normal((70, 3))  # 44 % of the rows are far from all others
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = RobustKernelPCA(2, kernel="linear", psi=psi).fit(X)
    few = int((model.weights_ < (0.5 if psi == "logistic" else 0.05)).sum())
    texts = [str(w.message) for w in heard if "weight below" in str(w.message)]
    assert few > 64
    assert len(texts) == 1
    assert texts[0].startswith(f"{few} of 160 rows")
    assert "fewer components, a wider kernel (a smaller gamma), or KernelPCA" in texts[0]


def test_the_scale_is_that_of_cube_roots():
    """Squared residuals of ordinary rows are like chi-squared numbers: hardly any of them is beyond xi."""
    rng = np.random.default_rng(0)
    for freedom, most in ((1, 0.06), (2, 0.05), (10, 0.04)):
        z = rng.chisquare(freedom, 20_000)
        assert 0.005 < np.mean(z > auto_scale(z)[1]) < most


@pytest.mark.parametrize(("rows", "most"), [(load_wine, 0.15), (load_breast_cancer, 0.25)])
def test_many_components_of_few_ordinary_rows_leave_out_few(rows, most):
    """Residuals of the rows that the start was fitted to are too small to judge the others by."""
    X = StandardScaler().fit_transform(rows().data)[::2]
    for kernel in ({"kernel": "linear"}, {"kernel": "rbf", "gamma": "median"}):
        model = RobustKernelPCA(10, **kernel).fit(X)
        assert np.mean(model.weights_ < 0.5) < most


def test_residuals_as_if_a_row_were_left_out():
    X = np.random.default_rng(0).standard_normal((40, 12)) * np.linspace(4, 1, 12)
    found = weighted_subspace(FeatureRows(X), np.ones(40), 5)
    without = [KernelPCA(5).fit(np.delete(X, i, axis=0)).reconstruction_error(X[i : i + 1])[0] / 2 for i in range(40)]
    expected, mine = np.median(without), np.median(as_if_left_out(found, np.ones(40)))
    assert abs(mine / expected - 1) < 0.5 * abs(np.median(found.z) / expected - 1)
    w = np.ones(40)
    w[:20] = 0.0
    half = weighted_subspace(FeatureRows(X), w, 5)
    assert_allclose(as_if_left_out(half, w)[:20], half.z[:20])  # these rows were left out


def test_gross_outliers_alone_are_not_told():
    X = rows_with_outliers()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RobustKernelPCA(1, kernel="linear").fit(X)
    assert model.weights_[:10].max() < 0.01


def test_where_most_rows_are_equal_no_variation_is_left_and_that_is_told():
    X = np.random.default_rng(0).normal(size=(100, 4))
    X[:80] = X[0]
    with pytest.warns(UserWarning, match="20 of 100 rows count as outliers, and the others do not vary"):
        model = RobustKernelPCA(3, kernel="linear").fit(X)
    assert (model.eigenvalues_ == 0).all()
