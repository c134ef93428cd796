"""`mercer.dask.KernelOutlierDetector`: its models are those without a fold, and its rate of false alarms is kept."""

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer.dask import KernelOutlierDetector
from mercer.dask.detector_folds import REFERENCE, Folds
from mercer.dask.sample import row_keys
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.scores import score_model

pytestmark = pytest.mark.usefixtures("no_cluster")


def rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_t(5, size=(n, 3)) @ [[1, 0.5, 0], [0, 1, 0.5], [0, 0, 0.3]]


MODEL = mercer.LandmarkKernelPCA(3, gamma=0.1, landmarks=40, random_state=0)


@pytest.mark.parametrize(("sizes", "center"), [((300, 0, 500, 100, 200, 250, 150), True), ((900, 600), False)])
def test_limits_come_from_models_that_did_not_see_the_rows(sizes, center, client):
    """The same as fitting one local model for each fold, to all other rows."""
    X, model = rows(), clone(MODEL).set_params(center=center)
    chunks = da.from_array(X, chunks=(sizes, 3))
    detector = KernelOutlierDetector(model, random_state=0, client=client).fit(chunks)
    local, seed = detector.to_local(), np.random.RandomState(0).randint(2**31)
    keys = [row_keys(seed, number, size) for number, size in enumerate(sizes)]
    reference = np.sort(np.concatenate(keys))[max(1500 // 6, 80) - 1]
    folds = Folds.of(sizes, 5, seed, reference)
    assert (folds.whole is None) == (len(sizes) < 5)
    numbers = np.concatenate([folds.numbers(number, own) for number, own in enumerate(keys)])
    assert (numbers == REFERENCE).sum() == 250
    scaled = local._scaling(X)
    points = local.estimator_.expansion_.points
    ellipsoid = Ellipsoid.of(X[numbers == REFERENCE])
    for k, (judge, scores) in enumerate(zip(local._judges, local.calibration_.folds, strict=True)):
        learned = clone(model).set_params(landmarks=points).fit(scaled[numbers != k])
        expected = score_model(learned.expansion_, 0.8, scaled[numbers != k])
        for found, of in ((judge(X), slice(None)), (scores, numbers == k)):
            np.testing.assert_allclose(found[:, :2], expected(scaled[of]), rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(found[:, 2], ellipsoid(X[of]), rtol=1e-9)
    whole = clone(model).set_params(landmarks=points).fit(scaled)
    np.testing.assert_allclose(local.estimator_.eigenvalues_, whole.eigenvalues_, rtol=1e-9)


def test_the_rate_of_false_alarms_is_that_of_the_local_detector():
    new = rows(4000, seed=99)
    rates = []
    for seed in range(6):
        X = rows(1500, seed=seed)
        detector = KernelOutlierDetector(clone(MODEL), alpha=0.05, random_state=seed)
        rates.append(np.mean(detector.fit(da.from_array(X, chunks=(150, 3))).predict(new) < 0))
    assert 0.025 < np.mean(rates) < 0.07


def test_results_are_lazy_and_those_of_the_local_detector(tmp_path):
    X = da.from_array(rows(), chunks=(200, 3))
    detector = KernelOutlierDetector(random_state=0).fit(X)
    for name in ("predict", "p_values", "score_samples", "decision_function"):
        lazy = getattr(detector, name)(X)
        assert isinstance(lazy, da.Array)
        np.testing.assert_allclose(lazy.compute(), getattr(detector.to_local(), name)(rows()), rtol=1e-9)
    detector.save(tmp_path / "detector.mercer")
    again = mercer.load(tmp_path / "detector.mercer")
    assert type(again) is mercer.KernelOutlierDetector
    np.testing.assert_allclose(again.p_values(rows()), detector.p_values(rows()))
    assert clone(detector).get_params().keys() == detector.get_params().keys()


def test_far_rows_raise_alarms_and_many_rows_are_thinned(monkeypatch):
    monkeypatch.setattr("mercer.dask.outlier_detector._CALIBRATION", 400)
    detector = KernelOutlierDetector(alpha=0.02, random_state=0).fit(da.from_array(rows(3000), chunks=(300, 3)))
    assert 300 < detector.calibration_.n < 450
    assert detector.n_samples_seen_ == 3000
    assert detector.predict([[30.0, 0, 0], [0.0, 0, 0]]).tolist() == [-1, 1]


def test_what_cannot_be_done_is_refused():
    X = rows(50)
    with pytest.raises(TypeError, match=r"mercer\.LandmarkKernelPCA"):
        KernelOutlierDetector(mercer.KernelPCA(2)).fit(X)
    with pytest.raises(ValueError, match=r"calibration='cv\+'"):
        KernelOutlierDetector(calibration="split").fit(X)
    with pytest.raises(ValueError, match="contamination=None"):
        KernelOutlierDetector(contamination=0.1).fit(X)
    with pytest.raises(ValueError, match="at least 12 rows"):
        KernelOutlierDetector().fit(X[:3])
    with pytest.raises(ValueError, match="window=None"):
        KernelOutlierDetector(mercer.LandmarkKernelPCA(window=5)).fit(X)
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="Partition 0, row 7, column 1"):
        KernelOutlierDetector().fit(da.from_array(bad, chunks=(10, 3)))
