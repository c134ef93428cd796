"""The law of refused chunks: after any exception in `partial_fit` the model is as if the call had not been made."""

import inspect
from itertools import count

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer import AppearanceTracker, KernelMutualSubspace, OnlineRobustKernelPCA
from mercer.kernels.user_given import MatrixFunction
from public_estimators import make
from stream_variants import POINTS, every_stream, outcome, same

pytestmark = pytest.mark.filterwarnings("ignore")

STAGES = (0, 2, 11, 40)  # rows before the refused chunk: none, waiting for landmarks or warm-up, on landmarks


def with_a_cell(value: float):
    def change(rows: np.ndarray) -> np.ndarray:
        rows[-1, 2] = value
        return rows

    return change


REFUSED = {
    "nan": with_a_cell(np.nan),
    "infinity": with_a_cell(np.inf),
    "other features": lambda rows: rows[:, :4],
    "strings": lambda rows: rows.astype(str),
    "no rows": lambda rows: rows[:0],
    "a frame of words": lambda rows: pd.DataFrame(rows, columns=list("abcde")).astype(str) + "x",
}


@pytest.fixture
def X(rng) -> np.ndarray:
    return rng.standard_normal((90, 5)) * [3, 2, 1, 1, 1] + 1


def after(model, X: np.ndarray, stage: int):
    """The model after the first rows, in two chunks."""
    for rows in (X[: stage // 2], X[stage // 2 : stage]):
        if len(rows):
            model.partial_fit(rows)
    return model


def assert_as_if_not_called(model, expected, X: np.ndarray, stage: int) -> None:
    assert sorted(vars(model)) == sorted(vars(expected))
    if stage == 0:
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
        narrow = X[:, :3]
        assert same(outcome(model.partial_fit(narrow), narrow), outcome(expected.partial_fit(narrow), narrow))
        return
    assert same(outcome(model, X), outcome(expected, X))
    for rows in (X[stage : stage + 9], X[stage + 9 :]):
        assert same(outcome(model.partial_fit(rows), X), outcome(expected.partial_fit(rows), X))


@every_stream
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("reason", REFUSED)
def test_rows_that_cannot_be_learned(cls, more, stage, reason, X):
    model, expected = (after(make(cls, **more), X, stage) for _ in range(2))
    if stage == 0 and more.get("landmarks") is POINTS:
        pytest.skip("landmarks fix the number of features")
    if stage == 0 and reason == "other features":
        pytest.skip("the first rows decide")
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(REFUSED[reason](X[40:60].copy()))
    assert_as_if_not_called(model, expected, X, stage)


@every_stream
@pytest.mark.parametrize("stage", STAGES[1:])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "chi2"])
def test_rows_that_the_kernel_refuses(cls, more, stage, kernel, X):
    if kernel == "chi2":
        X, more = np.abs(X), {**more, **({"landmarks": np.abs(POINTS)} if more.get("landmarks") is POINTS else {})}
    model, expected = (after(make(cls, kernel=kernel, **more), X, stage) for _ in range(2))
    rows = X[40:60].copy()
    rows[-1] = -1.0 if kernel == "chi2" else 1e200
    try:
        model.partial_fit(rows)
    except ValueError:
        assert_as_if_not_called(model, expected, X, stage)
    else:  # Hebbian rules skip what they cannot learn, with a warning; linear ones know no chi2
        assert hasattr(model, "eta0_")
        assert np.isfinite(model.transform(X)).all()


class Failing:
    """A Gaussian kernel of matrices, or an observer, that fails at a given call."""

    def __init__(self, left: int = -1) -> None:
        self.left = left

    def __call__(self, *given) -> np.ndarray:
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("as the test wants it")
        if len(given) == 2:
            A, B = (np.atleast_2d(rows) for rows in given)
            return np.exp(-0.2 * ((A[:, None] - B[None]) ** 2).sum(axis=2))
        return None


def fails_at(model, call: int, fault: Failing, rows: np.ndarray) -> bool:
    """Tell whether learning fails at this call of the kernel or observer; there are fewer where it does not."""
    fault.left = call
    try:
        model.partial_fit(rows)
    except RuntimeError:
        return True
    finally:
        fault.left = -1
    return False


@every_stream
@pytest.mark.parametrize("stage", STAGES)
def test_a_kernel_that_fails_at_any_of_its_calls(cls, more, stage, X):
    if "kernel" not in inspect.signature(cls).parameters:
        pytest.skip("has no kernel")
    fault = Failing()
    model = after(make(cls, kernel=MatrixFunction(fault, {}), **more), X[:, :5], stage)
    for call in count(1):
        expected = after(make(cls, kernel=MatrixFunction(fault, {}), **more), X, stage)
        if not fails_at(model, call, fault, X[stage : stage + 20]):
            break
        assert sorted(vars(model)) == sorted(vars(expected))
        assert stage == 0 or same(outcome(model, X), outcome(expected, X))
    assert call > 1
    assert same(outcome(model, X), outcome(expected.partial_fit(X[stage : stage + 20]), X))


@every_stream
@pytest.mark.parametrize("stage", STAGES)
def test_an_observer_that_fails(cls, more, stage, X):
    model, expected, fault = after(make(cls, **more), X, stage), after(make(cls, **more), X, stage), Failing()
    model.observers = expected.observers = (fault,)
    while fails_at(model, 1, fault, X[stage : stage + 20]):
        assert sorted(vars(model)) == sorted(vars(expected))
        assert stage == 0 or same(outcome(model, X), outcome(expected, X))
        model.observers = expected.observers = ()
    assert same(outcome(model, X), outcome(expected.partial_fit(X[stage : stage + 20]), X))


@every_stream
def test_a_generator_goes_on_as_if_the_refused_rows_had_not_come(cls, more, X):
    results = []
    for refused in (False, True):
        model = make(cls, **{**more, "kernel": "linear", "random_state": np.random.RandomState(3)})
        if refused:
            with pytest.raises(ValueError, match=r"1\.0e\+200|finite|range|overflow|large|NaN|infin"):
                model.partial_fit(np.vstack([X[:30], np.full((1, 5), 1e200), np.full((1, 5), np.nan)]))
        results.append(outcome(model.partial_fit(X), X))
    assert same(*results)


def test_a_refused_chunk_of_the_warm_up_does_not_end_it(rng):
    X = rng.standard_normal((2000, 4))
    model = OnlineRobustKernelPCA(3, random_state=0).partial_fit(X[:2])
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(np.full((5, 4), 1e200))
    model.partial_fit(X[2:])
    assert model.expansion_.n_points == 256
    assert model.expansion_.n_components == 3


# -- classes that hold estimators ----------------------------------------------------------------------------------


def test_references_of_mutual_subspaces_stay_as_they_were(X):
    model, expected = (KernelMutualSubspace() for _ in range(2))
    with pytest.raises(TypeError):
        KernelMutualSubspace.partial_fit(model, X[:4], label=["no key"])
    assert vars(model).keys() == vars(expected).keys()
    for label, rows in (("a", X[:10]), ("b", X[10:20])):
        model.partial_fit(rows, label)
        expected.partial_fit(rows, label)
    for label in ("a", "c"):
        with pytest.raises(ValueError, match="NaN"):
            model.partial_fit(np.full((2, 5), np.nan), label)
    assert np.array_equal(model.similarity([X[20:30]]), expected.similarity([X[20:30]]))
    assert list(model.references_) == ["a", "b"]


def test_a_tracker_that_fails_in_a_frame_goes_on_as_before(rng):
    scene = rng.uniform(0, 255, (40, 50))  # the object must be seen in every frame: a lost one is not learned
    frames, box = scene + rng.normal(0, 5, (12, 40, 50)), (10, 8, 16, 16)
    fault = Failing()
    trackers = [AppearanceTracker(random_state=0, n_candidates=20, update_every=2).start(frames[0], box) for _ in "ab"]
    model, expected = trackers
    for number, frame in enumerate(frames[1:]):
        model.estimator_.observers = (fault,)
        fault.left = 1
        if number % 2:  # every second frame the model of appearance learns
            with pytest.raises(RuntimeError):
                model.update(frame)
        model.estimator_.observers = ()
        assert np.array_equal(model.update(frame), expected.update(frame))
        assert model.residual_ == expected.residual_
        assert model.n_frames_ == expected.n_frames_
