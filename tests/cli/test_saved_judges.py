"""Saved detectors and monitors: the options that they take, those that they refuse, and missing cells."""

import numpy as np
import pytest

import mercer
from commands import failure, run
from mercer.io import writers

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(200, 3))
NEW = RNG.normal(size=(100, 3))
NEW[40:60] += 2.0


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in {"normal": NORMAL, "new": NEW}.items():
        writers.write(f"{name}.csv", [rows], list("abc"))
    with open("gaps.csv", "w") as stream:
        stream.write("a,b,c\n" + "1,2,3\n" * 3 + "1,,3\n")


@pytest.fixture
def detector(files):
    run("outliers", "normal.csv", "--save", "d", "--alpha", 0.1)
    return mercer.load("d")


@pytest.fixture
def monitor(files):
    run("monitor", "normal.csv", "--save", "m", "--missing", "mean")


def test_alpha_is_the_level_of_a_saved_detector_where_it_is_given(detector):
    p = detector.p_values(NEW)
    assert (p <= 0.1).sum() > (p <= 0.02).sum() > 0
    for given, alpha in (((), 0.1), (("--alpha", 0.02), 0.02)):
        told = run("outliers", "new.csv", "--detector", "d", *given).stderr
        assert f"{(p <= alpha).sum()} of 100 rows raise an alarm at {alpha}" in told


def test_an_alpha_that_a_saved_detector_cannot_use_is_told(detector):
    told = run("outliers", "new.csv", "--detector", "d", "--alpha", 0.001).stderr
    assert "No row can raise an alarm" in told
    assert "0 of 100 rows" in told
    for alpha in (0, 1, -0.1):
        assert "--alpha" in failure("outliers", "new.csv", "--detector", "d", "--alpha", alpha)


def test_a_detector_without_a_level_of_its_own_takes_the_usual_one(files):
    mercer.KernelOutlierDetector(random_state=0).fit(NORMAL).save("d")
    assert "at 0.05" in run("outliers", "new.csv", "--detector", "d").stderr


def test_a_saved_detector_raises_the_alarms_of_its_predict(files):
    detector = mercer.KernelOutlierDetector(contamination=0.3, random_state=0).fit(NORMAL)
    detector.save("d")
    alarms = int((detector.predict(NEW) == -1).sum())
    assert alarms != (detector.p_values(NEW) <= 0.05).sum()
    told = run("outliers", "new.csv", "--detector", "d").stderr
    assert f"{alarms} of 100 rows raise an alarm at the limit of contamination=0.3." in told
    told = run("outliers", "new.csv", "--detector", "d", "--alpha", 0.05).stderr
    assert f"{(detector.p_values(NEW) <= 0.05).sum()} of 100 rows raise an alarm at 0.05." in told


@pytest.mark.parametrize("statistic", ["all", "both"])
def test_a_saved_detector_with_a_kernel_without_derivatives_shows_the_column_that_moved(files, statistic):
    model = mercer.KernelPCA(3, kernel="laplacian", gamma=0.3)
    mercer.KernelOutlierDetector(model, statistic=statistic, random_state=0).fit(NORMAL).save("d")
    writers.write("far.csv", [np.array([[0.0, 9.0, 0.0]])], list("abc"))
    shown = run("outliers", "far.csv", "--detector", "d").stdout.splitlines()
    cells = next(line for line in shown if line.startswith("│")).split("│")[1:-1]
    assert [cell.strip() for cell in (cells[0], cells[-1])] == ["0", "1"]


@pytest.mark.parametrize(
    "given",
    [
        ("--train", "normal.csv"), ("--statistic", "spe"), ("--method", "landmark"), ("--scale", "none"),
        ("--rows", 50), ("--seed", 1), ("--columns", "a"),
    ],
)  # fmt: skip
def test_a_saved_detector_refuses_what_only_learning_uses(detector, given):
    told = failure("outliers", "new.csv", "--detector", "d", *given)
    assert f"With --detector nothing is learned, so {given[0]} has no effect" in told


@pytest.mark.parametrize(
    "given",
    [
        ("--alpha", 0.1), ("--false-alarms-per", "1D,1"), ("--confidence", 0.9), ("--statistic", "spe"), ("--lags", 1),
        ("--smoothing", 1), ("--persist", "2,3"), ("--set", "gap=3"), ("--scale", "soft"), ("--rows", 50),
        ("--seed", 0), ("--columns", "a"),
    ],
)  # fmt: skip
def test_a_saved_monitor_refuses_what_only_learning_uses(monitor, given):
    told = failure("monitor", "new.csv", "--monitor", "m", *given)
    assert f"With --monitor nothing is learned, so {given[0]} has no effect" in told


def test_all_refused_options_are_named_at_once(monitor):
    told = failure("monitor", "new.csv", "--monitor", "m", "--alpha", 0.1, "--set", "gap=3")
    assert "so --alpha and --set have no effect" in told


def test_columns_are_chosen_where_a_saved_judge_knows_no_names(files):
    mercer.KernelOutlierDetector(random_state=0).fit(NORMAL[:, :2]).save("d")
    mercer.ProcessMonitor().fit(NORMAL[:, :2]).save("m")
    assert "of 100 rows" in run("outliers", "new.csv", "--detector", "d", "--columns", "a,b").stderr
    assert "of 100 rows" in run("monitor", "new.csv", "--monitor", "m", "--columns", "a,b").stderr


def test_what_a_saved_judge_does_with_missing_cells(detector, monitor):
    assert "--missing drop" in failure("outliers", "gaps.csv", "--detector", "d")
    run("outliers", "gaps.csv", "--detector", "d", "--missing", "mean", "-o", "p.npy")
    filled = [[1, NORMAL[:, 1].mean(), 3]]
    np.testing.assert_allclose(np.load("p.npy")[3, 3], detector.p_values(filled)[0])
    told = failure("monitor", "gaps.csv", "--monitor", "m", "--missing", "mean")
    assert "A saved monitor does not know the means of its training rows. Use --missing keep or drop" in told
    run("outliers", "normal.csv", "--save", "d", "--scale", "none", "--missing", "mean")
    told = failure("outliers", "gaps.csv", "--detector", "d", "--missing", "mean")
    assert "Learn it with --scale soft" in told
    assert "Fit it" not in told


@pytest.mark.parametrize(
    ("command", "means"),
    [*((name, "detectors except with --scale none") for name in ("fit", "transform", "outliers")),
     ("monitor", "a saved monitor has no means")],
)  # fmt: skip
def test_the_help_tells_who_keeps_means(command, means, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    told = " ".join(run(command, "--help").stdout.replace("│", " ").split())
    assert means in told


def test_where_not_all_alarms_are_shown_it_is_told_how_to_see_them(detector):
    alarms = int((detector.p_values(NEW) <= 0.1).sum())
    told = run("outliers", "new.csv", "--detector", "d", "--top", alarms - 1).stderr
    assert "Not all are shown: --top shows more, and -o FILE writes every row." in told
    assert "shown" not in run("outliers", "new.csv", "--detector", "d", "--top", alarms).stderr
    assert "shown" not in run("outliers", "new.csv", "--detector", "d", "--top", 1, "-o", "all.csv").stderr


def test_where_not_all_alarms_of_a_monitor_are_shown_it_is_told(monitor, files):
    rows = NEW.copy()
    rows[[20, 60, 90]] += 50.0
    writers.write("three.csv", [rows], list("abc"))
    every = run("monitor", "three.csv", "--monitor", "m", "--top", 50).stderr
    assert "times" in every
    assert "shown" not in every
    assert "One is shown: --top shows more." in run("monitor", "three.csv", "--monitor", "m", "--top", 1).stderr
