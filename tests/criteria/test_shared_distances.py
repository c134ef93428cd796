"""Models from shared distances are those of `KernelPCA`, and the grid tries the most likely kernels first."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.criteria.candidates import COUNTS, WIDTHS, Family, Grid
from mercer.criteria.judged import Watch, tried
from mercer.criteria.shared_distances import SharedDistances
from mercer.events import SILENT, Channel, History
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear, Polynomial
from textbook.kernel_pca import median_gamma, up_to_sign

X = np.random.default_rng(0).normal(size=(40, 5)) + 2


@pytest.mark.parametrize(
    ("kernel", "params"),
    [
        (Linear(), {"kernel": "linear"}),
        (RBF(gamma=0.3), {"kernel": "rbf", "gamma": 0.3}),
        (Polynomial(gamma=0.3, degree=2), {"kernel": "poly", "gamma": 0.3, "degree": 2}),
    ],
)
def test_a_model_is_that_of_kernel_pca(kernel, params):
    model, peer = SharedDistances(X).model(kernel, 4), KernelPCA(4, **params).fit(X)
    assert_allclose(model.eigenvalues, peer.eigenvalues_, rtol=1e-8)
    assert_allclose(up_to_sign(model.project(X), peer.transform(X)), peer.transform(X), atol=1e-6)


def test_the_median_is_that_of_different_rows():
    twice = np.vstack([X, X[:5], X[:5]])
    assert_allclose(SharedDistances(twice).median_gamma, median_gamma(twice), rtol=1e-9)
    assert SharedDistances(np.ones((9, 4))).median_gamma == 0.25


def test_components_that_are_rounding_errors_are_left_out():
    low = X[:, :2] @ np.random.default_rng(1).normal(size=(2, 6))
    assert SharedDistances(low).model(Linear(), 6).n_components == 2
    assert SharedDistances(np.repeat(X[:3], 9, axis=0)).model(RBF(gamma=1.0), 20).n_components == 2


def test_the_first_two_kernels_are_the_linear_and_the_gaussian_of_median_width():
    for grid in (Grid(), Grid(scalings=("variance", False)), Grid(("poly", "rbf", "linear"), scalings=("soft", False))):
        first, second, *_ = grid.families()
        assert (first.kernel, second.kernel, second.width) == ("linear", "rbf", 1.0)
        assert first.standardize == second.standardize


def test_all_combinations_are_tried_once():
    families = Grid(("linear", "poly", "rbf"), scalings=("soft", "variance", False)).families()
    assert len(families) == len(set(families)) == 3 * (2 + len(WIDTHS))
    assert len(Grid(("rbf", "rbf"), (1.0, 1.0), COUNTS).families()) == 1
    assert [family.gamma for family in Grid(("rbf",), gammas=(0.1, 0.2)).families()] == [0.1, 0.2]


def test_two_kernels_are_tried_when_there_is_no_time():
    families, history = Grid().families(), History()
    found = tried(families, lambda family: 1, Watch(0.0, -1e9), Channel((history,)))
    assert list(found) == families[:2]
    assert [(event.step, event.total) for event in history.events] == [(1, 8), (2, 8)]


def test_an_error_in_a_thread_is_not_lost():
    def fails(family: Family):
        raise ZeroDivisionError(family.kernel)

    with pytest.raises(ZeroDivisionError, match="linear"):
        tried(Grid().families(), fails, Watch(), SILENT)
