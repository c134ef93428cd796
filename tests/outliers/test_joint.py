"""Models and ellipsoids put together: the same statistics as each of them alone."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelOutlierDetector, KernelPCA, LandmarkKernelPCA
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.joint import JointEllipsoids
from mercer.outliers.panel import Panel


def table(rng, n=330, d=5):
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.3 * rng.standard_normal((n, d))


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(4, kernel="rbf", gamma="median"),
        KernelPCA(6, kernel="rbf", gamma="median", center=False),
        KernelPCA(3, kernel="poly", degree=2),
        LandmarkKernelPCA(4, gamma="median", landmarks=40, random_state=0),
    ],
)
@pytest.mark.parametrize("explained", [0.7, 1.0])
def test_a_panel_judges_as_its_judges_do(model, explained, rng):
    X = table(rng)
    detector = KernelOutlierDetector(model, explained=explained, random_state=0).fit(X)
    panel = detector._judges
    assert panel._joint is not None
    rows = np.vstack([X[:20], 3.0 * table(rng, 50), np.full((1, 5), 1e6), np.zeros((1, 5))])
    assert_allclose(panel(rows), np.stack([judge(rows) for judge in panel]), rtol=1e-8, atol=1e-10)
    assert panel(rows[:1]).shape == (5, 1, 3)
    assert panel(rows[:0]).shape == (5, 0, 3)


def test_models_with_different_numbers_of_components_are_put_together(rng):
    X, model = table(rng), KernelPCA(6, kernel="rbf", gamma="median")
    many, few = (KernelOutlierDetector(model, random_state=0, explained=e).fit(X)._judges.judges for e in (1.0, 0.5))
    points = many[0].model.expansion.points  # one object, as in a fit

    def shared(judge):
        expansion = replace(judge.model.expansion, points=points)
        return replace(judge, scaling=many[0].scaling, model=replace(judge.model, expansion=expansion))

    panel = Panel([*many[:2], *(shared(judge) for judge in few[2:])])
    assert len({judge.model.expansion.n_components for judge in panel}) == 2
    assert panel._joint is not None
    assert_allclose(panel(X), np.stack([judge(X) for judge in panel]), rtol=1e-8, atol=1e-10)


def test_distances_of_ellipsoids_in_different_units(rng):
    X = table(rng, 400) + 1e6
    X[:200, 1] *= 1e3
    X[200:, 2] = 5.0  # constant there: its unit is 1
    each = [Ellipsoid.of(X), Ellipsoid.of(X[:200]), Ellipsoid.of(X[200:]), Ellipsoid.of(X[100:300], "common")]
    assert len({float(one.scaling.unit[1]) for one in each}) == 4
    assert_allclose(JointEllipsoids.of(each)(X), np.stack([one(X) for one in each]), rtol=1e-6)


def test_distances_where_one_ellipsoid_learned_an_enormous_row(rng):
    X = table(rng, 400)
    spoiled = X.copy()
    spoiled[7] = 1e20
    each = [Ellipsoid.of(spoiled), Ellipsoid.of(X[:300]), Ellipsoid.of(X[100:])]
    assert_allclose(JointEllipsoids.of(each)(X), np.stack([one(X) for one in each]), rtol=1e-8)


@pytest.mark.parametrize("factor", [1e-250, 1e250])
def test_distances_in_units_that_differ_without_measure_are_computed_apart(factor, rng):
    first, second, *others = KernelOutlierDetector(random_state=0).fit(table(rng))._judges.judges
    other = replace(second.ellipsoid.scaling, unit=second.ellipsoid.scaling.unit * factor)
    panel = Panel([first, replace(second, ellipsoid=replace(second.ellipsoid, scaling=other)), *others])
    rows = np.vstack([table(rng, 5), np.full((1, 5), 1e300)])
    expected = np.stack([judge(rows) for judge in panel])
    assert np.isfinite(expected).all()
    assert_allclose(panel(rows), expected, rtol=1e-9)
