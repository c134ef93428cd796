"""Contributions of rows at any distance sum to the statistic less that of the mean row."""

import numpy as np
import pytest

from mercer import KernelOutlierDetector, KernelPCA, L1KernelPCA
from mercer.outliers.scores import score_model


@pytest.mark.parametrize("which", ["spe", "t2"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "cosine"])
@pytest.mark.parametrize("distance", [0.5, 5.0, 50.0, 5e3, 1e6, 1e12])
def test_contributions_sum_to_the_statistic(which, kernel, distance, rng):
    X = rng.normal(size=(150, 4))
    model = KernelPCA(2, kernel=kernel, gamma="median")
    detector = KernelOutlierDetector(model, random_state=0).fit(X)
    rows = np.array([[0.0, distance, 0.0, 0.0], [distance, -distance, 0.1, 0.0]])
    judge = score_model(detector.estimator_.expansion_, detector._explained)
    place = int(which == "spe")
    scaled = detector._scaling.bounded(rows)
    true = judge(scaled)[:, place] - judge(np.zeros((1, 4)))[:, place]
    found = detector.contributions(rows, which)
    np.testing.assert_allclose(found.sum(axis=1), true, rtol=1e-6, atol=1e-9 * np.abs(found).max())
    if which == "spe" and distance > 1:
        assert np.abs(found[0]).argmax() == 1


def test_contributions_of_directions_name_the_column():
    X = np.random.default_rng(0).normal(size=(300, 4)) * [3.0, 2.0, 0.3, 0.3]
    model = KernelPCA(2, kernel="cosine")
    detector = KernelOutlierDetector(model, statistic="both", standardize=False, random_state=0).fit(X)
    assert detector.contributions([[0.1, 0.1, 5.0, 0.1], [0.1, 0.1, 0.1, -5.0]]).argmax(axis=1).tolist() == [2, 3]


@pytest.mark.parametrize("model", [KernelPCA(3, kernel="rbf", center=False), L1KernelPCA(3, center=False)])
def test_contributions_of_a_model_that_is_not_centred_are_to_deviations_from_the_mean_scores(model, rng):
    X, new = rng.normal(size=(120, 4)), rng.normal([0.0, 2.0, 0.0, 0.0], size=(5, 4))
    detector = KernelOutlierDetector(model, statistic="t2", standardize=False, random_state=0).fit(X)
    scores, own = (detector.estimator_.transform(detector._scaling.bounded(rows)) for rows in (X, new))
    origin = detector.estimator_.transform(np.zeros((1, 4)))
    kept = np.argsort(-scores.var(axis=0))[: len(detector._judges.judges[0].model.variances)]

    def t2(Y):
        return ((Y - scores.mean(axis=0)) ** 2 / scores.var(axis=0, ddof=1))[:, kept].sum(axis=1)

    np.testing.assert_allclose(detector.contributions(new, "t2").sum(axis=1), t2(own) - t2(origin), rtol=1e-6)
