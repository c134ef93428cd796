"""Every experiment, at its smallest size."""

import numpy as np
import pytest

from mercer import KernelPCA, datasets
from papers import catalogue, comparison, runner
from papers.chin2007._letter import Letter
from papers.chin2007._preimages import strategies
from papers.chin2007._streams import GAUSS, KERNELS, distance, mean_angle, parabola
from papers.chin2007.figure1 import library
from papers.kim2019._points import input_space
from papers.result import DONE, NOT_RUN
from papers.stand_ins import STAND_INS

ALL = catalogue.find()


# -- the experiments themselves ------------------------------------------------------------------------------------

EVERY = [pytest.param(key, one, id=f"{key}:{one.name}") for key, one in ALL]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A function that runs an experiment at its smallest size, once for all tests that ask for it."""
    out = tmp_path_factory.mktemp("tiny")

    def run(key, one):
        for name in one.data:
            if datasets.archive(name) is None:
                pytest.skip(f"the data set {name} is not on this machine; set MERCER_DATA")
        return runner.run_one(key, one, out, scale="tiny")[0]

    return run


WITHOUT_DATA = [p for p in EVERY if {*p.values[1].data} and {*p.values[1].data} <= {*STAND_INS, "usps"}]


@pytest.mark.parametrize(("key", "one"), WITHOUT_DATA)
def test_experiment_runs_without_data(key, one, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.datasets.openml.SETS", {})
    result, _ = runner.run_one(key, one, tmp_path, scale="tiny", home=tmp_path)
    assert result.state == DONE, result.reason
    assert len(result.substitutes) == len(one.data)
    assert not any(line.is_judged for line in result.comparisons)


def test_only_tables_of_outliers_cannot_do_without_data():
    missing = [f"{key}:{one.name}" for key, one in ALL if not {*one.data} <= {*STAND_INS, "usps", "wbc"}]
    assert missing == ["kim2019:table2", "kim2019:preprocessing", "kim2019:table3"]


@pytest.mark.parametrize(("key", "one"), EVERY)
def test_experiment_runs_at_tiny_size(key, one, tiny):
    result = tiny(key, one)
    assert result.state == DONE, result.reason
    assert result.captions
    assert result.comparisons
    verdicts = {value for name, value in vars(comparison).items() if name.isupper() and isinstance(value, str)}
    assert {line.verdict for line in result.comparisons} <= verdicts


def line_of(result, start):
    return next(line for line in result.comparisons if line.quantity.startswith(start))


@pytest.mark.parametrize("name", ["kernel_eigenvalues", "hebb_and_oja", "bounded"])
def test_claims_of_the_lecture_notes_hold(name, tiny):
    result = tiny(*catalogue.find([f"lecture_notes:{name}"])[0])
    assert {line.verdict for line in result.comparisons} <= {"holds", "agrees"}, result.comparisons


def test_table_1_of_huang_is_reached(tiny):
    result = tiny(*catalogue.find(["huang2011:example2"])[0])
    assert all(line_of(result, f"iterative rKPCA, |cos| of component {k}").verdict == "better" for k in (1, 2, 3))


def test_chance_level_of_guenter_is_met(tiny):
    result = tiny(*catalogue.find(["guenter2006:figure3"])[0])
    assert line_of(result, "variation of information of random clusters").verdict == "agrees"


def test_exact_updates_of_chin_reach_batch(tiny):
    result = tiny(*catalogue.find(["chin2007:figure2"])[0])
    assert all(line_of(result, f"{kernel}, IKPCA: final distance").verdict == "holds" for kernel in KERNELS)
    for kernel in KERNELS:
        assert line_of(result, f"{kernel}, IKPCA-RS, pre-images: final distance").verdict == "better"


def test_chin_to_the_letter_is_batch_while_nothing_is_compressed():
    X = parabola(0, 60)
    letter = Letter(20, 3, GAUSS["gamma"]).start(X[:30])
    for first in (30, 45):  # (20 + 1) 3 = 63 points are more than the rows
        letter.update(X[first : first + 15])
    batch = KernelPCA(3, **GAUSS).fit(X).expansion_
    assert letter.seen == letter.expansion_.n_points == 60
    assert distance(letter.expansion_, batch, 3) < 1e-5
    assert mean_angle(letter.expansion_, batch) < 1e-6


def test_strategies_of_chin_are_ordered_as_algebra_has_it():
    vectors = library(parabola(1, 60), 3, GAUSS)
    lost = strategies(vectors, 2)
    assert np.all(lost["c"] <= lost["b"] + 1e-9)  # (31): more points never hurt
    assert lost["a"][0] == pytest.approx(lost["b"][0])  # the first vector has none before it
    assert all(np.all((one >= 0) & (one <= 1)) for one in lost.values())


@pytest.mark.parametrize("name", ["figure1", "theorem2"])
def test_what_kim_proves_holds(name, tiny):
    result = tiny(*catalogue.find([f"kim2019:{name}"])[0])
    assert {line.verdict for line in result.comparisons} <= {"holds", "no number given"}, result.comparisons


@pytest.mark.slow
@pytest.mark.parametrize(("key", "one"), EVERY)
def test_experiment_runs_at_quick_size(key, one, tmp_path):
    result, _ = runner.run_one(key, one, tmp_path, scale="quick")
    assert result.state in (DONE, NOT_RUN), result.reason


def test_points_are_drawn_by_kind_with_first_directions(rng):
    X, kinds = rng.standard_normal((30, 2)), np.repeat([0, 1, 2], 10)
    models = {"linear": KernelPCA(1, kernel="linear").fit(X), "rbf": KernelPCA(1, kernel="rbf").fit(X)}
    (axes,) = input_space(X, kinds, models).axes
    assert len(axes.collections) == 3
    assert [line.get_label() for line in axes.lines] == ["linear"]  # only a linear kernel has directions here
