"""What commands show: text of the user as it is, and the contents of every kind of model file."""

import re

import numpy as np
import pytest

import mercer
from commands import failure, run
from mercer.io.writers import Labelled, write

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
X[17] += 40
UNITS = ["p [bar]", "p [psi]", "T :warning:"]
IDS = np.array([f"[/x{i}]" for i in range(60)], object)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    write("x.csv", [Labelled((IDS,), X)], ["[b]id[/b]", *UNITS])


def test_brackets_and_colons_in_names_and_ids_are_shown_as_they_are(files):
    spiked = X.copy()
    spiked[30, 2] += 60
    write("x.csv", [Labelled((IDS,), spiked)], ["[b]id[/b]", *UNITS])
    shown = run("outliers", "x.csv", "--id", "[b]id[/b]", "--save", "d").stdout
    assert "[b]id[/b]" in shown
    assert re.search(r"│ +\[/x30\] │.*│ +T :warning: │", shown)
    run("fit", "x.csv", "-o", "m", "--components", 2)
    for model in "md":
        assert "p [bar], p [psi], T :warning:" in run("info", model).stdout
    assert "[/x30]" in run("score", "m", "x.csv", "--id", "[b]id[/b]").stdout


def saved(kind: str, path: str):
    """Save a fitted model of a class that is no decomposition, no detector and no monitor."""
    if kind == "KernelSpectralClustering":
        model = mercer.KernelSpectralClustering(2, gamma=1.0, random_state=0).fit(X)
    elif kind == "KernelMutualSubspace":
        model = mercer.KernelMutualSubspace().fit([X[:30], X[30:]], ["one", "other"])
    elif kind == "PatchDenoiser":
        model = mercer.PatchDenoiser(5, 3)
        model.denoise(RNG.uniform(size=(20, 24)))
    else:
        model = mercer.AppearanceTracker(random_state=0)
        model.start(RNG.uniform(0, 255, (40, 50)), (5, 5, 16, 16))
    model.save(path)
    return model


KINDS = ["KernelSpectralClustering", "KernelMutualSubspace", "PatchDenoiser", "AppearanceTracker"]


@pytest.mark.parametrize("kind", KINDS)
def test_info_shows_every_kind_of_model(files, kind):
    model = saved(kind, "m")
    shown = run("info", "m").stdout
    assert re.search(rf"│ class +│ {kind} ", shown)
    assert f"mercer {mercer.__version__}" in shown
    if kind == "KernelSpectralClustering":
        assert "gamma=1.0" in shown
        assert f"{model.eigenvalues_[0]:.6g}" in shown
        assert "variance held" not in shown


@pytest.mark.parametrize("command", ["transform", "score", "denoise"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_without_scores_is_refused_in_one_line(files, kind, command):
    saved(kind, "m")
    told = failure(command, "m", "x.csv", "-o", "y.csv")
    assert f"m holds a model of the class {kind}, which has no scores" in told
    assert "--detector" not in told


@pytest.mark.parametrize("command", [["outliers", "odd.csv"], ["monitor", "odd.csv", "odd.csv"]])
def test_a_warning_about_a_column_calls_it_by_its_name_in_the_file(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(60, 3))
    rows[17, 1] = 1e6
    lines = [f"m{i},{a},{b},{c}" for i, (a, b, c) in enumerate(rows)]
    (tmp_path / "odd.csv").write_text("\n".join(["id,temperature,flow,level", *lines]) + "\n")
    told = run(*command).stderr
    assert "(row 17 in column 'flow'; rows are counted from 0)" in told
