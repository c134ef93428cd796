"""Prediction of hidden cells equals its textbook twin, and falls again with too many components."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA
from mercer.criteria import hidden_cells
from mercer.criteria.hidden_cells import hide, predicted_share, predictions, size_of
from textbook import criteria as naive


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@given(st.integers(1, 40), st.integers(2, 60), st.integers(0, 99))
def test_a_fifth_of_the_cells_of_each_row_is_hidden_one_at_least_and_never_all(n, d, seed):
    hidden = hide((n, d), np.random.RandomState(seed))
    count = hidden.sum(axis=1)
    assert (count == min(max(1, round(0.2 * d)), d - 1)).all()


def test_all_columns_are_hidden_equally_often():
    share = hide((20_000, 5), np.random.RandomState(0)).mean(axis=0)
    assert_allclose(share, 0.2, atol=0.02)


@pytest.mark.parametrize("shift", [0.0, 50.0])
@pytest.mark.parametrize("r", [1, 3, 4])
def test_linear_predictions_are_least_squares_fits_to_the_known_cells(r, shift):
    X, new = rows(30, 6) + shift, rows(7, 6, 1) + shift
    hidden = hide(new.shape, np.random.RandomState(2))
    model = KernelPCA(4).fit(X).expansion_
    got = predictions(model, new, hidden, [1, r])
    expected = [naive.predicted_by_least_squares(X, row, h, r) for row, h in zip(new, hidden, strict=True)]
    assert_allclose(got[1], expected, rtol=1e-6, atol=1e-6)


def test_as_many_components_as_cells_predict_the_means():
    # the known cells say nothing then: the shortest solution keeps the hidden ones at their means
    X, new = rows(40, 5), rows(9, 5, 1)
    hidden = hide(new.shape, np.random.RandomState(0))
    got = predictions(KernelPCA(5).fit(X).expansion_, new, hidden, [5])[0]
    assert_allclose(got[hidden], np.broadcast_to(X.mean(axis=0), new.shape)[hidden], atol=1e-5)
    assert_allclose(got[~hidden], new[~hidden], atol=1e-5)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("gamma", [0.05, 0.3, 1.5])
def test_gaussian_predictions_are_the_filling_iteration(gamma, scale):
    X, new = rows(25, 5), rows(8, 5, 1) * 0.8
    hidden = hide(new.shape, np.random.RandomState(2))
    model = KernelPCA(6, kernel="rbf", gamma=gamma / scale**2).fit(X * scale).expansion_
    got = predictions(model, new * scale, hidden, [2, 6]) / scale
    for place, r in enumerate([2, 6]):
        for i in range(len(new)):
            expected = naive.predicted_by_filling(X, new[i], hidden[i], gamma, r)
            if np.abs(expected).max() < 10:  # where the plain iteration divides by almost zero, ours takes a short step
                assert_allclose(got[place, i], expected, rtol=2e-3, atol=2e-4)


def test_the_plain_iteration_is_usual():
    X, new = rows(25, 5), rows(8, 5, 1) * 0.8
    hidden = hide(new.shape, np.random.RandomState(2))
    found = [naive.predicted_by_filling(X, new[i], hidden[i], 0.3, 6) for i in range(8)]
    assert (np.abs(found).max(axis=1) < 10).sum() >= 7  # so that the test above tests something


def test_the_share_is_that_of_the_variation_around_the_training_means():
    X, new = rows(40, 6) + 3, rows(12, 6, 1) + 3
    model = KernelPCA(3).fit(X).expansion_
    hidden = hide(new.shape, np.random.RandomState(5))
    predicted = np.array([naive.predicted_by_least_squares(X, x, h, 3) for x, h in zip(new, hidden, strict=True)])
    expected = naive.share_predicted(predicted, new, hidden, X.mean(axis=0))
    assert_allclose(predicted_share(model, new, np.random.RandomState(5)), expected, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_share_of_many_rows_is_computed_in_parts(kernel, monkeypatch):
    """Together, the kernel values of all rows may need more memory than there is."""
    X, new, parts = rows(40, 6), rows(700, 6, 1), []

    def counted(expansion, X, hidden, counts):
        parts.append(len(X))
        return predictions(expansion, X, hidden, counts)

    monkeypatch.setattr(hidden_cells, "predictions", counted)
    model = KernelPCA(3, kernel=kernel).fit(X).expansion_
    hidden = hide(new.shape, np.random.RandomState(5))
    found = predictions(model, new, hidden, [3])[0]
    expected = naive.share_predicted(found, new, hidden, X.mean(axis=0))
    assert_allclose(predicted_share(model, new, np.random.RandomState(5)), expected, atol=1e-6)
    assert sorted(parts) == [188, 256, 256]


@pytest.mark.parametrize("kernel", ["poly", "laplacian", "cosine"])
def test_other_kernels_predict_by_their_pre_images(kernel):
    X = rows(60, 2) @ rows(2, 6, 3) + 0.05 * rows(60, 6, 4)
    params = {"gamma": 0.01, "coef0": 1.0} if kernel != "cosine" else {}
    model = KernelPCA(4, kernel=kernel, **params).fit(X[:45]).expansion_
    hidden = hide((15, 6), np.random.RandomState(0))
    got = predictions(model, X[45:], hidden, [2, 4])
    assert got.shape == (2, 15, 6)
    assert np.isfinite(got).all()


def test_inputs_stay_as_they_are():
    X = rows(30, 5)
    before, hidden = X.copy(), hide((30, 5), np.random.RandomState(0))
    for kernel in ("linear", "rbf", "poly"):
        predictions(KernelPCA(3, kernel=kernel).fit(X).expansion_, X, hidden, [1, 3])
    assert_array_equal(X, before)


@pytest.mark.parametrize(("largest", "size"), [(0.0, 1.0), (1.0, 1.0), (3.0, 2.0), (-5.0, 4.0), (0.3, 0.25)])
def test_the_size_is_the_power_of_two_below_the_largest_number(largest, size):
    assert size_of(np.array([[0.0, largest]])) == size


def test_a_kernel_narrower_than_float32_can_tell_predicts_without_warnings(recwarn):
    X = rows(30, 4)
    model = KernelPCA(2, kernel="rbf", gamma=1e300).fit(X).expansion_
    assert np.isfinite(predictions(model, X, hide(X.shape, np.random.RandomState(0)), [2])).all()
    assert not recwarn.list


@pytest.mark.parametrize("far", [0.0, 1e4])
def test_a_row_far_away_takes_no_digits_from_the_others(far):
    X, new = rows(25, 5), rows(8, 5, 1) * 0.8
    X[0] += far  # float32 has not enough digits for distances beside such a row
    hidden = hide(new.shape, np.random.RandomState(2))
    model = KernelPCA(4, kernel="rbf", gamma=0.3).fit(X).expansion_
    got = predictions(model, new, hidden, [4, 2])
    for place, r in enumerate([4, 2]):
        expected = np.array([naive.predicted_by_filling(X, x, h, 0.3, r) for x, h in zip(new, hidden, strict=True)])
        usual = np.abs(expected).max(axis=1) < 10
        assert usual.sum() >= 6
        assert_allclose(got[place][usual], expected[usual], rtol=2e-3, atol=2e-3)
