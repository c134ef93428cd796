"""Learning from few rows runs on one thread, since threads that share little work mostly wait for each other."""

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_info, threadpool_limits

from mercer import KernelPCA, KernelSpectralClustering, LandmarkKernelPCA
from mercer.estimators.few_rows import few_rows_on_one_thread
from mercer.kernels.threads import available_threads, one_thread


def threads() -> set[int]:
    """The numbers of threads that BLAS and scikit-learn's loops may use."""
    return {library["num_threads"] for library in threadpool_info()}


class Learner:
    """Remembers on how many threads it learned."""

    @few_rows_on_one_thread
    def fit(self, X, y=None):
        self.threads, self.workers = threads(), available_threads()
        return self


@pytest.fixture
def several_threads():
    with threadpool_limits(2):
        yield


@pytest.mark.parametrize(
    ("X", "alone"),
    [
        (np.zeros((700, 10)), True),
        (scipy.sparse.csr_matrix((20, 50)), True),
        (np.zeros((701, 10)), False),
        (np.zeros((700, 1000)), False),  # few rows, but long ones
        ([[0.0, 1.0]], False),  # without a shape nobody knows
        (np.zeros(3), False),
    ],
)
def test_tables_of_few_rows_are_learned_on_one_thread(several_threads, X, alone):
    for learner in (Learner().fit(X), Learner().fit(X=X)):
        assert (learner.threads == {1}, learner.workers == 1) == (alone, alone)
    assert threads() == {2}


def test_threads_are_as_before_where_learning_fails(several_threads):
    with pytest.raises(ValueError, match="NaN"):
        KernelPCA(2).fit(np.full((5, 3), np.nan))
    assert threads() == {2}


@pytest.mark.parametrize("estimator", [KernelPCA(2), LandmarkKernelPCA(2), KernelSpectralClustering(2)])
def test_estimators_learn_few_rows_on_one_thread(several_threads, estimator):
    seen = []
    estimator.set_params(kernel=lambda x, y: seen.append(threads()) or float(x @ y) ** 2)
    estimator.fit(np.random.default_rng(0).uniform(1, 2, (30, 3)))
    assert seen
    assert all(found == {1} for found in seen)


def test_one_thread_counts_for_blas_and_for_openmp(several_threads):
    assert {library["user_api"] for library in threadpool_info()} == {"blas", "openmp"}
    with one_thread():
        assert threads() == {1}
    assert threads() == {2}
