"""Fits of merged models and of detectors go on where they were stopped, also in another process."""

import os
import signal
import subprocess
import sys
import textwrap

import dask
import dask.array as da
import numpy as np
import pytest

import mercer
from mercer.dask import IncrementalKernelPCA, KernelOutlierDetector, KernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA
from mercer.dask.cluster import Here
from mercer.dask.compared_rows import check_same_rows
from mercer.dask.merged_models import Levels, ModelFolder
from mercer.dask.partitions import partitions_of
from mercer.dask.settings import WORK
from mercer.io.persist import save

pytestmark = pytest.mark.usefixtures("no_cluster")
KINDS = {
    "incremental": (IncrementalKernelPCA, {"n_components": 2, "gamma": "median", "rank": 8}),
    "robust": (OnlineRobustKernelPCA, {"n_components": 2, "gamma": "median", "landmarks": 15}),
    "landmark": (LandmarkKernelPCA, {"n_components": 2, "gamma": "median", "landmarks": 15}),
    "detector": (KernelOutlierDetector, {"alpha": 0.05}),
}


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(WORK, "group", 2)


def values():
    return np.random.default_rng(3).normal(size=(1100, 3)) * [3, 2, 1]


def rows():
    return da.from_array(values(), chunks=(100, 3))


def results(model):
    local = model.to_local()
    X = np.random.default_rng(4).normal(size=(40, 3)) * 2
    return local.p_values(X) if isinstance(local, mercer.KernelOutlierDetector) else local.transform(X)


class StoppedError(Exception):
    pass


def stopping(stage, step, act):
    def watch(event):
        if event.stage == stage and event.step >= step:
            act()

    return (watch,)


def stop():
    raise StoppedError


CASES = [
    ("incremental", "partitions learned", 6),
    ("robust", "partitions learned", 8),
    ("detector", "folds learned", 4),
    ("detector", "held-out rows judged", 6),
]


@pytest.mark.parametrize(("kind", "stage", "step"), CASES)
def test_a_fit_goes_on_where_it_stopped(kind, stage, step, tmp_path):
    cls, params = KINDS[kind]
    path = tmp_path / "kept"
    model = cls(**params, random_state=0, checkpoint=path) if kind != "incremental" else cls(**params, checkpoint=path)
    model.observers = stopping(stage, step, stop)
    with pytest.raises(StoppedError):
        model.fit(rows())
    assert path.exists()
    steps = []
    model.observers = (lambda event: steps.append((event.stage, event.step)),)
    model.fit(rows())
    assert "partitions looked at" not in {name for name, _ in steps}
    assert min(number for name, number in steps if name == stage) == step + 2
    assert not path.exists()
    whole = cls(**{**model.get_params(deep=False), "checkpoint": None}).fit(rows())
    np.testing.assert_allclose(results(model), results(whole), atol=1e-10)  # files may have another order of memory


def fit_until_stopped(kind, path, X):
    """Fit to the first two partitions, and leave the checkpoint."""
    cls, params = KINDS[kind]
    model = cls(**params, checkpoint=path)
    model.observers = stopping("folds learned" if kind == "detector" else "partitions learned", 2, stop)
    with pytest.raises(StoppedError):
        model.fit(X)


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_of_another_fit_is_refused(kind, tmp_path):
    cls, params = KINDS[kind]
    fit_until_stopped(kind, tmp_path / "kept", rows())
    other = "statistic" if kind == "detector" else "n_components"
    with pytest.raises(ValueError, match="belongs to a fit with other rows or parameters"):
        cls(**{**params, other: "spe" if kind == "detector" else 3}, checkpoint=tmp_path / "kept").fit(rows())
    with pytest.raises(ValueError, match="belongs to a fit with other rows or parameters"):
        cls(**params, checkpoint=tmp_path / "kept").fit(rows()[:700])


OTHER = {
    "all rows": lambda X: X * 5 + 50,
    "one cell of the last partition": lambda X: np.vstack([X[:-1], np.add(X[-1:], [0, 0, 1e-9])]),
    "type": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("change", OTHER)
@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_of_other_rows_is_refused_and_kept(kind, change, tmp_path):
    """Also where parameters, partitions and their sizes are the same."""
    cls, params = KINDS[kind]
    path = tmp_path / "kept"
    fit_until_stopped(kind, path, rows())
    others = da.from_array(OTHER[change](values()), chunks=(100, 3))
    with pytest.raises(ValueError, match="belongs to a fit with other rows or parameters"):
        cls(**params, checkpoint=path).fit(others)
    assert cls(**params, checkpoint=path).fit(rows()).n_features_in_ == 3
    assert not path.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_three_partitions_with_rows_are_compared_when_a_fit_goes_on(kind, tmp_path):
    cls, params = KINDS[kind]
    path, read = tmp_path / "kept", []
    sizes = [0, 0, 0, 0, *[100] * 9, 0]
    edges = np.cumsum([0, *sizes])

    def pieces(X):
        def piece(i):
            read.append(i)
            return X[edges[i] : edges[i + 1]]

        return [dask.delayed(piece)(i) for i in range(len(sizes))]

    fit_until_stopped(kind, path, pieces(values()))
    read.clear()
    with pytest.raises(ValueError, match="belongs to a fit with other rows or parameters"):
        cls(**params, checkpoint=path).fit(pieces(values() + 1))
    assert read == [4, 8, 12]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_to_rows_that_are_drawn_anew_each_time_does_not_go_on(kind, tmp_path):
    cls, params = KINDS[kind]
    draws = [dask.delayed(lambda: np.random.default_rng().normal(size=(100, 3)), pure=False)() for _ in range(11)]
    fit_until_stopped(kind, tmp_path / "kept", draws)
    with pytest.raises(ValueError, match="belongs to a fit with other rows or parameters"):
        cls(**params, checkpoint=tmp_path / "kept").fit(draws)


def test_a_cluster_goes_on_with_a_fit_of_threads(client, tmp_path):
    """Rows with the same values are the same rows, wherever and however they are read."""
    cls, params = KINDS["landmark"]
    path, steps = tmp_path / "kept", []
    fit_until_stopped("landmark", path, rows())
    model = cls(**params, client=client, checkpoint=path)
    model.observers = (lambda event: steps.append(event.stage),)
    model.fit([dask.delayed(np.asfortranarray)(values()[i : i + 100]) for i in range(0, 1100, 100)])
    assert set(steps) == {"partitions learned"}
    assert model.n_samples_seen_ == 1100


def test_a_checkpoint_that_tells_nothing_of_its_rows_is_refused(tmp_path):
    with pytest.raises(ValueError, match="belongs to a fit with other rows or parameters"):
        check_same_rows(Here(), partitions_of(rows(), 1), {}, tmp_path / "kept")


@pytest.mark.parametrize("kind", [*KINDS, "exact"])
@pytest.mark.parametrize("content", [b"my notes", b"", {"notes.txt": "mine"}, {"fit.json": "{"}, {"fit.json": "[]"}])
def test_what_is_no_checkpoint_is_refused_and_kept(kind, content, tmp_path):
    exact = (KernelPCA, {"n_components": 2, "kernel": "rbf", "eigen_solver": "krylov"})
    cls, params = KINDS.get(kind, exact)
    path = tmp_path / "there"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.mkdir()
        for name, text in content.items():
            (path / name).write_text(text)
    with pytest.raises(ValueError, match=r"there belongs to .*, or is no checkpoint of this class. Give another path"):
        cls(**params, checkpoint=path).fit(rows())
    if isinstance(content, bytes):
        assert path.read_bytes() == content
    else:
        assert {file.name: file.read_text() for file in path.iterdir()} == content


def test_a_detector_with_other_landmarks_does_not_go_on(tmp_path):
    def detector(points):
        return KernelOutlierDetector(
            mercer.LandmarkKernelPCA(2, gamma=0.1, landmarks=points), random_state=0, checkpoint=tmp_path / "done"
        )

    points = np.random.default_rng(5).normal(size=(500, 3))
    model = detector(points)
    model.observers = stopping("folds learned", 4, stop)
    with pytest.raises(StoppedError):
        model.fit(rows())
    points[250] += 1.0  # the text of the parameters leaves this row out
    with pytest.raises(ValueError, match="other rows or parameters"):
        detector(points).fit(rows())


def test_models_with_unknown_parameters_are_not_used(tmp_path):
    """If the file with the parameters of all partitions is lost, nothing tells of which rows the models are."""
    cls, params = KINDS["incremental"]
    path, steps = tmp_path / "kept", []
    fit_until_stopped("incremental", path, rows())
    (path / "settled").write_bytes(b"damaged")
    model = cls(**params, checkpoint=path)
    model.observers = (lambda event: steps.append((event.stage, event.step)),)
    model.fit(rows() + 7.0)
    assert ("partitions learned", 2) in steps
    assert model.n_samples_seen_ == 1100


def test_parts_of_a_merged_model_may_be_left_when_a_process_ends(tmp_path):
    """The merged model is written first; if its parts are not deleted any more, they are not used twice."""
    models = [mercer.IncrementalKernelPCA(2, gamma=0.1).fit(rows()[i : i + 100].compute()) for i in (0, 100, 200)]
    folder = ModelFolder(tmp_path / "kept", "a fit")
    levels = Levels(folder)
    for model in models:
        levels.add(model)
    save(models[1], folder._file(2, 2))
    again = Levels(ModelFolder(tmp_path / "kept", "a fit"))
    assert again.done == 3
    assert again.result().n_samples_seen_ == 300
    np.testing.assert_allclose(again.result().transform(np.eye(3)), levels.result().transform(np.eye(3)), atol=1e-10)
    (folder._file(3, 3)).write_bytes(b"damaged")
    assert Levels(folder).done == 2


KILLED = """
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    from cluster.test_checkpoints import KINDS, WORK, rows, stopping
    WORK.group = 2
    cls, params = KINDS[{kind!r}]
    model = cls(**params, checkpoint={path!r})
    model.observers = stopping({stage!r}, {step}, lambda: os.kill(os.getpid(), signal.SIGKILL))
    model.fit(rows())
"""


@pytest.mark.parametrize(("kind", "stage", "step"), [CASES[1], CASES[3]])
def test_another_process_goes_on_after_the_driver_was_killed(kind, stage, step, tmp_path):
    path = str(tmp_path / "kept")
    tests = os.path.dirname(os.path.dirname(__file__))
    code = textwrap.dedent(KILLED).format(kind=kind, stage=stage, step=step, path=path, tests=tests)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    cls, params = KINDS[kind]
    steps = []
    model = cls(**params, checkpoint=path)
    model.observers = (lambda event: steps.append((event.stage, event.step)),)
    model.fit(rows())
    assert min(number for name, number in steps if name == stage) == step + 2
    assert model.n_samples_seen_ == 1100
    assert not os.path.exists(path)
