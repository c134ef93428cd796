"""What must not be accepted: scikit-learn's own error class every time, and a text that helps."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.exceptions import NotFittedError

from mercer import KernelPCA
from mercer.kernels import Precomputed

rng = np.random.default_rng(0)
GOOD = rng.standard_normal((12, 4))


def spoiled(value: float) -> np.ndarray:
    X = GOOD.copy()
    X[3, 2] = value
    return X


def sparse_spoiled(value: float) -> sp.csr_matrix:
    return sp.csr_matrix(spoiled(value))


def text_array() -> np.ndarray:
    return np.array([["red", "1"], ["green", "2"]])


def categories() -> pd.DataFrame:
    frame = pd.DataFrame(GOOD)
    frame[3] = pd.Categorical(["red", "green"] * 6)
    return frame


MATRICES = {
    "a series of a frame": (lambda: pd.Series(GOOD[0]), "2-dimensional"),
    "categories": (categories, "encode text and categories"),
    "NaN": (lambda: spoiled(np.nan), r"SimpleImputer|isnan"),
    "sparse NaN": (lambda: sparse_spoiled(np.nan), r"SimpleImputer|isnan"),
    "infinity": (lambda: spoiled(np.inf), r"(?i)isfinite|drop|rescale"),
    "minus infinity": (lambda: spoiled(-np.inf), r"(?i)isfinite|drop|rescale"),
    "sparse infinity": (lambda: sparse_spoiled(np.inf), r"(?i)isfinite|drop|rescale"),
    "one dimension": (lambda: GOOD[0], r"(?i)reshape.*Rows are samples"),
    "three dimensions": (lambda: GOOD.reshape(3, 4, 4), r"(?i)dim 3.*(reshape|flatten)"),
    "a number": (lambda: 5.0, r"(?i)2D array"),
    "no rows": (lambda: np.empty((0, 4)), r"(?i)at least one row"),
    "no columns": (lambda: np.empty((5, 0)), r"(?i)at least one column"),
    "strings": (text_array, r"(?i)encode|every feature must be a number"),
    "a data frame of strings": (
        lambda: pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}),
        r"(?i)encode|must be a number",
    ),
    "objects": (
        lambda: np.array([[{}, 1.0], [2.0, 3.0]], dtype=object),
        r"(?i)single number|must be a number",
    ),
    "nested lists": (lambda: [[[1, 2], 3], [4, 5]], r"."),
    "ragged": (lambda: [[1.0, 2.0], [3.0]], r"(?i)same (length|number)"),
    "complex": (lambda: GOOD + 1j, r"(?i)real and imaginary"),
    "None": (lambda: None, r"."),
    "missing": (lambda: np.array([[None, 1.0], [2.0, 3.0]], dtype=object), r"SimpleImputer|isnan"),
    "digits as strings": (lambda: np.array([["1", "2"], ["3", "4"]]), r"(?i)encode|must be a number"),
    "bytes": (lambda: np.array([[b"1", b"2"], [b"3", b"4"]]), r"(?i)encode|must be a number"),
    "a list of strings": (lambda: [["1", "2"], ["3", "5"]], r"(?i)encode|must be a number"),
}


def failure(action) -> Exception:
    with pytest.raises(Exception) as caught:
        action()
    return caught.value


def assert_same_class(ours: Exception, theirs: Exception, advice: str) -> None:
    assert type(ours) is type(theirs), f"{type(ours).__name__}: {ours}, but scikit-learn: {theirs!r}"
    assert re.search(advice, str(ours), re.DOTALL), str(ours)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_fitting_refuses(name, method):
    make, advice = MATRICES[name]
    ours = failure(lambda: getattr(KernelPCA(2), method)(make()))
    theirs = failure(lambda: getattr(PeerKernelPCA(2), method)(make()))
    assert_same_class(ours, theirs, advice)


@pytest.mark.parametrize("name", sorted(MATRICES.keys() - {"no columns", "missing", "strings", "objects"}))
@pytest.mark.parametrize("method", ["transform", "reconstruction_error"])
def test_using_a_model_refuses(name, method):
    make, advice = MATRICES[name]
    ours = failure(lambda: getattr(KernelPCA(2).fit(GOOD), method)(make()))
    theirs = failure(lambda: PeerKernelPCA(2).fit(GOOD).transform(make()))
    assert type(ours) is type(theirs)
    if "frame" not in name:  # there, the feature names or their number may be looked at first
        assert_same_class(ours, theirs, advice)


@pytest.mark.parametrize("columns", [1, 3, 5])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_another_number_of_features(columns, storage):
    X = storage(np.ones((6, columns)))
    ours = failure(lambda: KernelPCA(2).fit(GOOD).transform(X))
    theirs = failure(lambda: PeerKernelPCA(2).fit(GOOD).transform(X))
    assert_same_class(ours, theirs, rf"{columns} features.*4 features.*same columns")


def test_other_feature_names():
    frame = pd.DataFrame(GOOD, columns=list("abcd"))
    other = frame.rename(columns={"a": "z"})
    ours = failure(lambda: KernelPCA(2).fit(frame).transform(other))
    theirs = failure(lambda: PeerKernelPCA(2).fit(frame).transform(other))
    assert_same_class(ours, theirs, "feature names")


@pytest.mark.parametrize("shape", [(4, 5), (5, 4), (1, 3)])
def test_a_precomputed_matrix_that_is_not_square(shape):
    K = np.ones(shape)
    ours = failure(lambda: KernelPCA(1, kernel="precomputed").fit(K))
    theirs = failure(lambda: PeerKernelPCA(1, kernel="precomputed").fit(K))
    assert_same_class(ours, theirs, rf"{shape[0]} x {shape[1]}.*Pass kernel\(X, X\)")


@pytest.mark.parametrize("width", [1, 11, 13])
def test_precomputed_rows_of_the_wrong_width(width):
    K = GOOD @ GOOD.T
    ours = failure(lambda: KernelPCA(1, kernel="precomputed").fit(K).transform(np.ones((3, width))))
    theirs = failure(lambda: PeerKernelPCA(1, kernel="precomputed").fit(K).transform(np.ones((3, width))))
    assert_same_class(ours, theirs, rf"{width} features.*12 features")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_precomputed_matrix_too_large_to_centre():
    K = np.full((5, 5), 1e308)
    with pytest.raises(ValueError, match="escale"):
        KernelPCA(1, kernel="precomputed").fit(K)


PARAMETERS = [
    {"n_components": 0},
    {"n_components": -1},
    {"n_components": 1.5},
    {"n_components": "all"},
    {"kernel": "rbff"},
    {"kernel": 3},
    {"kernel": None},
    {"kernel": "rbf", "gamma": -1.0},
    {"gamma": "medium"},
    {"gamma": np.nan},
    {"gamma": np.inf},
    {"degree": -1},
    {"coef0": "1"},
    {"kernel_params": 3},
    {"alpha": -1.0},
    {"eigen_solver": "lapack"},
    {"eigen_solver": None},
    {"tol": -1e-3},
    {"max_iter": 0},
    {"max_iter": 2.5},
    {"iterated_power": -1},
    {"iterated_power": "some"},
    {"fit_inverse_transform": "yes"},
    {"remove_zero_eig": 3},
    {"random_state": "seed"},
    {"copy_X": None},
    {"n_jobs": 1.5},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_parameters_that_scikit_learn_refuses_too(parameters):
    ours = failure(lambda: KernelPCA(**parameters).fit(GOOD))
    theirs = failure(lambda: PeerKernelPCA(**parameters).fit(GOOD))
    name = list(parameters)[-1]
    got = re.escape(repr(parameters[name]))
    assert_same_class(ours, theirs, rf"'{name}' parameter of KernelPCA must be .*Got {got} instead")
    assert isinstance(ours, ValueError)


@pytest.mark.parametrize(
    "parameters",
    [
        {"precision": "double"},
        {"preimage": "newton"},
        {"verbose": "loud"},
        {"n_components": 0.0},
        {"n_components": 1.0},
    ],
)
def test_parameters_of_our_own(parameters):
    with pytest.raises(ValueError, match=rf"'{next(iter(parameters))}' parameter of KernelPCA must be"):
        KernelPCA(**parameters).fit(GOOD)


def test_before_fit():
    for action in (
        lambda model: model.transform(GOOD),
        lambda model: model.reconstruction_error(GOOD),
        lambda model: model.inverse_transform(np.ones((3, 2))),
        lambda model: model.save("never.mercer"),
        lambda model: model.get_feature_names_out(),
    ):
        with pytest.raises(NotFittedError):
            action(KernelPCA(2))


def test_inverse_transform_without_having_asked_for_it():
    ours = failure(lambda: KernelPCA(2).fit(GOOD).inverse_transform(np.ones((3, 2))))
    theirs = failure(lambda: PeerKernelPCA(2).fit(GOOD).inverse_transform(np.ones((3, 2))))
    assert_same_class(ours, theirs, r"fit_inverse_transform.*preimage='auto'")


@pytest.mark.parametrize("columns", [1, 3])
def test_scores_of_the_wrong_width(columns):
    model = KernelPCA(2, fit_inverse_transform=True).fit(GOOD)
    with pytest.raises(ValueError, match=f"2 columns.*got {columns}"):
        model.inverse_transform(np.ones((3, columns)))


def test_scores_that_are_not_finite():
    model = KernelPCA(2, fit_inverse_transform=True).fit(GOOD)
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform(np.full((3, 2), np.nan))


def test_inverse_transform_of_what_has_no_inverse():
    for estimator, data in (
        ({"kernel": "precomputed"}, GOOD @ GOOD.T),
        ({"kernel": "linear"}, sp.csr_matrix(GOOD)),
    ):
        ours = failure(lambda e=estimator, X=data: KernelPCA(2, fit_inverse_transform=True, **e).fit(X))
        theirs = failure(lambda e=estimator, X=data: PeerKernelPCA(2, fit_inverse_transform=True, **e).fit(X))
        assert_same_class(ours, theirs, ".")


def test_a_precomputed_kernel_has_no_preimages_by_any_method():
    K = GOOD @ GOOD.T
    for method in ("auto", "mika", "kwok", "gradient", "exact"):
        model = KernelPCA(2, kernel="precomputed", preimage=method).fit(K)
        with pytest.raises(ValueError, match="Pass the data"):
            model.inverse_transform(model.transform(K))


def test_reconstruction_error_of_a_precomputed_kernel_needs_the_diagonal():
    K = GOOD @ GOOD.T
    model = KernelPCA(2, kernel="precomputed").fit(K)
    with pytest.raises(ValueError, match=r"k\(x, x\).*`diagonal`"):
        model.reconstruction_error(K)


@pytest.mark.parametrize(
    "diagonal",
    [np.ones(3), np.ones((12, 2)), np.full(12, np.nan)],
    ids=["short", "wide", "NaN"],
)
def test_a_diagonal_that_does_not_fit(diagonal):
    K = GOOD @ GOOD.T
    model = KernelPCA(2, kernel="precomputed").fit(K)
    with pytest.raises(ValueError):
        model.reconstruction_error(K, diagonal)


def test_a_failed_fit_leaves_the_old_model_usable():
    model = KernelPCA(2, kernel="rbf").fit(GOOD)
    before = model.transform(GOOD)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(spoiled(np.nan))
    assert np.array_equal(model.transform(GOOD), before)


def test_a_kernel_function_that_returns_nonsense():
    with pytest.raises(ValueError, match="not finite"):
        KernelPCA(2, kernel=lambda x, y: float("nan")).fit(GOOD)
    for bad in (lambda x, y: "text", lambda x, y: None, lambda x, y: x):
        with pytest.raises((ValueError, TypeError)):
            KernelPCA(2, kernel=bad).fit(GOOD)


def test_fractional_powers_of_negative_numbers_are_refused():
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="not finite"):
        KernelPCA(2, kernel="poly", degree=2.5, coef0=0).fit(GOOD)


def test_the_precomputed_kernel_as_an_object_is_checked_like_its_name():
    with pytest.raises(ValueError, match="square"):
        KernelPCA(2, kernel=Precomputed()).fit(GOOD)
    K = GOOD @ GOOD.T
    by_object = KernelPCA(2, kernel=Precomputed()).fit(K)
    assert np.array_equal(by_object.eigenvalues_, KernelPCA(2, kernel="precomputed").fit(K).eigenvalues_)
    assert np.array_equal(K, GOOD @ GOOD.T)


def test_sparse_rows_are_refused_before_the_work_is_done():
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True)
    with pytest.raises(NotImplementedError, match="mika"):
        model.fit(sp.csr_matrix(GOOD))
    assert not hasattr(model, "expansion_")


@pytest.mark.parametrize("n", [250, 900, 1500])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
@pytest.mark.parametrize("value", [0.0, 3.7])
def test_equal_rows_have_no_variation(n, kernel, value):
    model = KernelPCA(n_components=3, kernel=kernel).fit(np.full((n, 3), value))
    np.testing.assert_array_equal(model.eigenvalues_, 0.0)
    assert KernelPCA(kernel=kernel).fit(np.full((n, 3), value)).n_components_ == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_masked_cells_are_missing_and_an_empty_mask_is_none(dtype):
    rows = np.ma.masked_array(GOOD.astype(dtype))
    assert np.array_equal(KernelPCA(2).fit(rows).eigenvalues_, KernelPCA(2).fit(rows.data).eigenvalues_)
    rows[1, 0] = np.ma.masked
    with pytest.raises(ValueError, match="SimpleImputer"):
        KernelPCA(2).fit(rows)
    assert rows.dtype == dtype
    assert rows.mask.sum() == 1
