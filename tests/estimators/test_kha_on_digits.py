"""What the paper claims of its algorithms, on its data: USPS digits, excess reconstruction error a pass."""

import pytest

from mercer import HebbianKernelPCA, KernelPCA
from mercer.metrics import excess_reconstruction_error, subspace_distance

GAINS = ("constant", "t", "et", "smd")


@pytest.fixture(scope="module")
def curves(usps_hundred):
    """Recorded runs, one for each kernel and gain."""
    found = {}

    def run(kernel: str, gain: str) -> HebbianKernelPCA:
        if (kernel, gain) not in found:
            model = HebbianKernelPCA(
                16, kernel=kernel, gamma=1 / 128, gain=gain, max_iter=50, tol=0, monitor="excess", random_state=0
            )
            found[kernel, gain] = model.fit(usps_hundred)
        return found[kernel, gain]

    return run


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_order_of_figure_1(curves, kernel):
    constant, t, et, smd = (curves(kernel, gain).history_["excess"][-1] for gain in GAINS)
    assert smd <= et < t < constant


def test_the_defaults_reach_what_hand_tuning_reaches(curves):
    et, smd = curves("rbf", "et").history_, curves("rbf", "smd").history_
    assert et["excess"][19] <= 3e-3
    assert smd["excess"][19] <= 1.5e-3
    assert smd["excess_orthonormal"][19] <= 2e-4
    assert curves("linear", "smd").history_["excess"][19] <= 5e-3


def test_the_excess_of_the_history_is_that_of_the_model(curves, usps_hundred):
    smd = curves("rbf", "smd")
    measured = excess_reconstruction_error(smd, usps_hundred)
    assert measured == pytest.approx(smd.history_["excess_orthonormal"][-1], rel=1e-3)


def test_the_model_is_kernel_pca(curves, usps_hundred):
    exact = KernelPCA(16, kernel="rbf", gamma=1 / 128).fit(usps_hundred)
    smd = curves("rbf", "smd")
    assert subspace_distance(smd, exact, 8) < 0.02
    assert smd.eigenvalues_ == pytest.approx(exact.eigenvalues_, rel=1e-3)


@pytest.mark.slow
def test_all_digits_for_spectral_clustering(usps):
    model = HebbianKernelPCA(10, gamma=1 / 128, max_iter=10, tol=0, monitor="excess", random_state=0).fit(usps)
    assert model.history_["excess"][-1] <= 1e-2
