"""Streams whose first rows say little, streams whose rows move away, and what is said where nothing can be done."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import mercer
from mercer import IncrementalKernelPCA, KernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA

MEDIAN = (LandmarkKernelPCA, IncrementalKernelPCA)


@pytest.fixture(scope="module")
def digits() -> np.ndarray:
    X, _ = load_digits(return_X_y=True)
    return X[np.random.default_rng(0).permutation(len(X))] / 16


def fed(model, X, cuts):
    for rows in np.split(X, cuts) if np.ndim(cuts) else np.array_split(X, cuts):
        model.partial_fit(rows)
    return model


# -- gamma="median" of few first rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", MEDIAN)
@pytest.mark.parametrize("first", [1, 2, 5])
def test_few_first_rows_do_not_fix_the_median(cls, first, digits):
    X = digits[:600]
    model = fed(cls(5, gamma="median"), X, [first, first + 1, 120, 240, 480])
    typical = fed(cls(5, gamma="median"), X, [120, 240, 480])
    assert model.gamma_ == typical.gamma_
    np.testing.assert_allclose(
        model.explained_variance_ratio_.sum(), typical.explained_variance_ratio_.sum(), rtol=0.05
    )
    assert model.gamma_ == model.expansion_.kernel.gamma


@pytest.mark.parametrize("cls", MEDIAN)
def test_equal_first_rows_do_not_fix_the_median(cls, digits):
    X = np.vstack([np.repeat(digits[:1], 100, axis=0), digits[:500]])
    model = fed(cls(5, gamma="median"), X, [100, 300, 500])
    exact = KernelPCA(5, kernel="rbf", gamma="median").fit(digits[:500])
    assert 0.7 < model.gamma_ / exact.gamma_ < 1.4


@pytest.mark.parametrize("cls", MEDIAN)
def test_single_rows_give_the_model_of_a_whole_first_chunk(cls, digits):
    X = digits[:90]
    singly, whole = (fed(cls(5, gamma="median"), X, n) for n in (90, 1))
    assert singly.gamma_ == whole.gamma_
    np.testing.assert_allclose(singly.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    assert singly.n_samples_seen_ == 90


@pytest.mark.parametrize("cls", MEDIAN)
def test_the_median_of_a_hundred_rows_stays(cls, digits):
    model = cls(5, gamma="median").partial_fit(digits[:100])
    gamma = model.gamma_
    assert model.partial_fit(10 * digits[100:150]).gamma_ == gamma


@pytest.mark.parametrize("cls", MEDIAN)
def test_the_median_of_fit_stays(cls, digits):
    model = cls(5, gamma="median").fit(digits[:20])
    gamma = model.gamma_
    assert model.partial_fit(10 * digits[100:150]).gamma_ == gamma


@pytest.mark.parametrize("cls", MEDIAN)
def test_a_saved_start_is_continued(cls, digits, tmp_path):
    model = cls(5, gamma="median").partial_fit(digits[:3])
    model.save(tmp_path / "m")
    again = mercer.load(tmp_path / "m").partial_fit(digits[3:200])
    model.partial_fit(digits[3:200])
    assert again.gamma_ == model.gamma_
    np.testing.assert_allclose(again.eigenvalues_, model.eigenvalues_, rtol=1e-12)


@pytest.mark.parametrize("cls", MEDIAN)
def test_sparse_first_rows(cls, digits):
    model = cls(3, gamma="median").partial_fit(sp.csr_matrix(digits[:1])).partial_fit(sp.csr_matrix(digits[1:60]))
    dense = cls(3, gamma="median").partial_fit(digits[:60])
    np.testing.assert_allclose(model.gamma_, dense.gamma_, rtol=1e-12)


def test_forgetting_goes_on_over_a_start_that_is_built_again(digits):
    X = digits[:60]
    for cls in MEDIAN:
        singly, whole = (fed(cls(5, gamma="median", forgetting=0.97), X, n) for n in (20, 1))
        np.testing.assert_allclose(singly.eigenvalues_, whole.eigenvalues_, rtol=1e-8)


def test_a_model_with_refresh_has_the_gamma_that_it_shows(digits):
    model = LandmarkKernelPCA(3, gamma="median", refresh=1000).partial_fit(digits[:1])
    assert model.expansion_.kernel.gamma == model.gamma_
    model.partial_fit(digits[1:60])
    assert model.expansion_.kernel.gamma == model.gamma_


def test_history_has_one_record_for_each_update(digits):
    model = fed(IncrementalKernelPCA(3, gamma="median"), digits[:60], [1, 10, 40])
    assert model.history_["n_seen"].tolist() == [1, 10, 40, 60]


def test_given_landmarks_help_to_measure_few_first_rows(digits):
    model = LandmarkKernelPCA(3, gamma="median", landmarks=digits[:50]).partial_fit(digits[50:51])
    exact = KernelPCA(3, kernel="rbf", gamma="median").fit(digits[:50])
    assert 0.7 < model.gamma_ / exact.gamma_ < 1.4


@pytest.mark.parametrize("cls", MEDIAN)
def test_rows_that_are_the_same_for_too_long_are_told_of_once(cls, digits):
    model = cls(3, gamma="median")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(10):
            model.partial_fit(np.repeat(digits[:1], 60, axis=0))
        model.partial_fit(digits[:100])
    found = [str(one.message) for one in seen if "gamma='median'" in str(one.message)]
    assert len(found) == 1
    assert "the same" in found[0]
    assert "Pass a number" in found[0]


# -- a warm-up on repeated rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", [None, 80])
def test_repeated_first_rows_do_not_cripple_the_robust_model(landmarks, digits):
    train, new = digits[:1000], digits[1400:]
    model = OnlineRobustKernelPCA(5, gamma=0.05, landmarks=landmarks, random_state=0)
    fed(model, np.vstack([np.repeat(digits[:1], 260, axis=0), train]), 17)
    plain = fed(OnlineRobustKernelPCA(5, gamma=0.05, landmarks=landmarks, random_state=0), train, 17)
    assert model.n_components_ == 5
    assert model.reconstruction_error(new).mean() < 1.1 * plain.reconstruction_error(new).mean()


def test_a_long_warm_up_does_not_depend_on_chunks(digits):
    X = np.vstack([np.repeat(digits[:1], 100, axis=0), digits[:300]])
    models = [fed(OnlineRobustKernelPCA(3, gamma=0.05, landmarks=40, random_state=0), X, n) for n in (3, 40)]
    np.testing.assert_allclose(*(model.transform(digits[300:400]) for model in models), atol=1e-9)


def test_a_model_is_there_during_a_long_warm_up(digits):
    model = OnlineRobustKernelPCA(3, gamma=0.05, random_state=0)
    for n in (1, 300, 300):
        model.partial_fit(np.repeat(digits[:1], n, axis=0))
        assert model.transform(digits[:4]).shape[0] == 4
        assert len(model.weights_) == n
    assert model.n_samples_seen_ == 601


def test_a_warm_up_has_an_end(digits):
    model = OnlineRobustKernelPCA(3, gamma=0.05, landmarks=20, warm_up=20, random_state=0)
    same = np.repeat(digits[:1], 150, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(same)
    with pytest.warns(UserWarning, match=r"first 200 rows .*only 1 .*landmarks"):
        model.partial_fit(same)
    assert model._learning.pending is None


def test_rows_of_few_values_are_no_reason_to_warn(rng):
    X = rng.integers(0, 3, size=(900, 3)).astype(float)  # at most 27 different rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fed(OnlineRobustKernelPCA(2, gamma=0.1, landmarks=60, random_state=0), X, 9)
    assert model.n_components_ == 2
    assert model._learning.pending is None


def test_fit_of_rows_that_begin_with_repeats(digits):
    X = np.vstack([np.repeat(digits[:1], 200, axis=0), digits[:1000]])
    model = OnlineRobustKernelPCA(5, gamma=0.05, random_state=0).fit(X)
    plain = OnlineRobustKernelPCA(5, gamma=0.05, random_state=0).fit(digits[:1000])
    errors = [m.reconstruction_error(digits[1400:]).mean() for m in (model, plain)]
    assert errors[0] < 1.1 * errors[1]


@pytest.mark.parametrize("X", [iter([np.eye(3)]), "rows.csv"], ids=["iterator", "file"])
def test_fit_of_chunks_points_to_partial_fit(X):
    with pytest.raises(ValueError, match="partial_fit"):
        OnlineRobustKernelPCA(2).fit(X)


# -- landmarks that follow rows with forgetting --------------------------------------------------------------------


def moved(shift: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(3000, 4)) * [3, 1, 0.2, 0.2]
    return before, rng.normal(size=(3000, 4)) * [0.2, 0.2, 1, 3] + [0, shift, 0, 0]


@pytest.mark.parametrize("chunks", [60, 6])
@pytest.mark.parametrize("shift", [2, 4, 8])
@pytest.mark.parametrize("selection", ["auto", "uniform", "rpcholesky", "ald"])
def test_landmarks_follow_rows_that_move(shift, selection, chunks):
    before, after = moved(shift)
    model = LandmarkKernelPCA(2, gamma=0.1, landmarks=100, forgetting=0.998, selection=selection, random_state=0)
    fed(model, np.vstack([before, after]), chunks)
    exact = KernelPCA(2, kernel="rbf", gamma=0.1).fit(after[-1000:])
    error, best = (m.reconstruction_error(after[-500:]).mean() for m in (model, exact))
    assert error < 1.1 * best
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), exact.explained_variance_ratio_.sum(), atol=0.05)
    assert model.expansion_.n_points <= 100


def test_renewed_landmarks_keep_what_is_not_forgotten():
    before, after = moved(8)
    model = LandmarkKernelPCA(4, gamma=0.1, landmarks=100, forgetting=0.9998, random_state=0)
    fed(model, np.vstack([before, after]), 60)
    weights = 0.9998 ** np.arange(5999, -1, -1.0)
    errors = model.reconstruction_error(np.vstack([before, after])) @ weights / weights.sum()
    both = KernelPCA(4, kernel="rbf", gamma=0.1).fit(np.vstack([before[::3], after[::2]]))
    best = both.reconstruction_error(np.vstack([before, after])) @ weights / weights.sum()
    assert errors < 1.1 * best


def test_landmarks_stay_where_rows_do(digits):
    """Rows that the landmarks never represented well, and outliers, are no reason to choose again."""
    X = digits.copy()
    X[::12] += 5 * np.random.default_rng(0).normal(size=X[::12].shape)
    model = LandmarkKernelPCA(5, gamma=0.2, landmarks=50, forgetting=0.99, random_state=0)
    model.partial_fit(X[:100])
    points = model.expansion_.points.copy()
    fed(model, X[100:], 30)
    np.testing.assert_array_equal(model.expansion_.points, points)


def test_given_landmarks_are_never_replaced():
    before, after = moved(8)
    model = LandmarkKernelPCA(2, gamma=0.1, landmarks=before[:50], forgetting=0.998)
    fed(model, np.vstack([before, after]), 60)
    np.testing.assert_array_equal(model.expansion_.points, before[:50])


def test_a_saved_model_renews_its_landmarks_as_one_that_was_not_saved(tmp_path):
    before, after = moved(8)
    one = fed(LandmarkKernelPCA(2, gamma=0.1, landmarks=60, forgetting=0.998, random_state=0), before, 30)
    one.partial_fit(after[:70])
    one.save(tmp_path / "m")
    two = mercer.load(tmp_path / "m")
    for model in (one, two):
        fed(model, after[70:], 30)
    np.testing.assert_array_equal(one.expansion_.points, two.expansion_.points)
    np.testing.assert_allclose(one.transform(after[:9]), two.transform(after[:9]), atol=1e-12)


@pytest.mark.parametrize(("landmarks", "most"), [(1, 1.7), (3, 1.3)])
def test_few_landmarks_and_single_rows(landmarks, most):
    before, after = moved(8)
    model = LandmarkKernelPCA(1, gamma=0.1, landmarks=landmarks, forgetting=0.9, random_state=0)
    for row in np.vstack([before[:200], after[:200]]):
        model.partial_fit(row[None])
    exact = KernelPCA(1, kernel="rbf", gamma=0.1).fit(after[:200])
    errors = [m.reconstruction_error(after[200:400]).mean() for m in (model, exact)]
    assert errors[0] < most * errors[1]


def test_a_random_state_is_saved_with_the_model(digits, tmp_path):
    def stream(save: bool) -> np.ndarray:
        model = LandmarkKernelPCA(5, gamma=0.05, landmarks=100, random_state=np.random.RandomState(0))
        model.partial_fit(digits[:50])
        if save:
            model.save(tmp_path / "m")
            model = mercer.load(tmp_path / "m")
        return fed(model, digits[50:], 10).transform(digits[:100])

    np.testing.assert_array_equal(stream(True), stream(False))
