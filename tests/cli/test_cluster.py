"""`mercer fit` with several files, in one process and on a Dask cluster."""

import numpy as np
import pytest

import mercer
from commands import failure, run
from mercer.io import writers

X = np.random.default_rng(0).normal(size=(400, 3)) * [1, 2, 3]
SETTINGS = ("--method", "landmark", "--gamma", 0.1, "--components", 2, "--set", "landmarks=30")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, part in enumerate(np.split(X, [100, 150])):
        writers.write(f"{number}.csv", [part], list("abc"))
    return ["0.csv", "1.csv", "2.csv"]


def test_several_files_are_one_table(files):
    run("fit", *files, "-o", "model", "--method", "kernel-pca", "--gamma", 0.1, "--components", 2)
    model = mercer.load("model")
    expected = mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-6)
    assert list(model.feature_names_in_) == list("abc")


def test_files_are_fitted_on_a_cluster(files, client):
    told = run("fit", *files, "-o", "model", *SETTINGS, "--cluster", client.scheduler_info()["address"]).stderr
    assert "constant" not in told
    model = mercer.load("model")
    assert type(model) is mercer.LandmarkKernelPCA
    assert model.n_samples_seen_ == 400
    assert list(model.feature_names_in_) == list("abc")
    local = mercer.LandmarkKernelPCA(2, gamma=0.1, landmarks=model.expansion_.points).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, local.eigenvalues_, rtol=1e-6)


def test_what_a_cluster_cannot_do_is_said(files, client):
    address = client.scheduler_info()["address"]
    assert "no --scale" in failure("fit", *files, "-o", "model", "--cluster", address, "--scale", "soft")
    wrong = failure("fit", *files, "-o", "model", "--cluster", address, "--method", "l1-kernel-pca")
    assert "l1-kernel-pca cannot be fitted on a cluster; --method kernel-pca, " in wrong
    assert "KernelPCA" not in wrong
    assert "give one of them" in failure("fit", *files, "-o", "model", "--cluster", address, "--workers", 1)


def test_a_wrong_file_is_told_in_one_line(files, capfd):
    writers.write("1.csv", [np.full((5, 3), np.nan)], list("abc"))
    told = failure("fit", *files, "-o", "model", *SETTINGS, "--workers", 1)
    assert "1.csv, row 0 (counted from 0), column 'a' is missing" in told
    assert "1.csv" not in capfd.readouterr().err  # what the processes of the workers print


@pytest.mark.slow
def test_workers_of_this_machine(files):
    run("fit", *files, "-o", "model", *SETTINGS, "--workers", 2)
    assert mercer.load("model").n_samples_seen_ == 400
