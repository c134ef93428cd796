"""`mercer reproduce`: what is covered, how results are kept, what is said when data are missing; every experiment."""

import csv
import importlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mercer import KernelPCA, datasets
from mercer.cli.root import app
from mercer.datasets.sources import SOURCES
from mercer.reproduce import catalogue, comparison, page, report, runner
from mercer.reproduce.chin2007._letter import Letter
from mercer.reproduce.chin2007._preimages import strategies
from mercer.reproduce.chin2007._streams import GAUSS, KERNELS, distance, mean_angle, one_blas_thread, parabola
from mercer.reproduce.chin2007.figure1 import library
from mercer.reproduce.comparison import Comparison, claim, number, reading
from mercer.reproduce.drawing import lines, panels
from mercer.reproduce.experiment import SCALES, Drawing, Experiment, Item, Outcome, Paper, Run
from mercer.reproduce.result import DONE, FAILED, NOT_RUN, Result, load_result
from mercer.reproduce.resume import Stages, fingerprint, write_whole
from mercer.reproduce.stand_ins import STAND_INS

ALL = catalogue.find()


# -- the catalogue -------------------------------------------------------------------------------------------------


def test_every_experiment_covers_items_that_its_paper_has():
    for key, one in ALL:
        known = {item.name for item in catalogue.paper(key).items}
        assert set(one.items) <= known
        assert set(one.scales) == set(SCALES)
        assert set(one.data) <= set(datasets.NAMES)
        assert one.paper_did
        assert one.we_do
        json.dumps(dict(one.scales["full"]))  # settings are plain values


def test_names_of_experiments_are_those_of_their_modules():
    for key in catalogue.KEYS:
        folder = Path(catalogue.__file__).parent / key
        modules = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
        assert {one.name for one in catalogue.experiments(key)} == modules


def test_coverage_lists_every_item_and_follows_from_the_experiments(monkeypatch):
    items = (Item("Figure 1", "a"), Item("Figure 2", "b", instead="c for d"), Item("Figure 3", "e"))
    paper = Paper("kim2019", "t", (*items, Item("Figure 4", "f", impossible="nothing to compute")))
    known = tuple(replace(ALL[0][1], name=f"e{k}", items=(f"Figure {k}",)) for k in (1, 2))
    monkeypatch.setattr(catalogue, "paper", lambda key: paper)
    monkeypatch.setattr(catalogue, "experiments", lambda key: known)
    states = {row.item: (row.experiment, row.status) for row in catalogue.coverage("kim2019")}
    assert states == {
        "Figure 1": ("e1", "reproduced"),
        "Figure 2": ("e2", "substitute data: c for d"),
        "Figure 3": ("", "not yet"),
        "Figure 4": ("", "nothing to compute"),
    }


@pytest.mark.parametrize("key", list(catalogue.KEYS))
def test_nothing_of_these_works_is_left_out(key):
    assert all(row.status != "not yet" for row in catalogue.coverage(key))


def test_choosing_experiments():
    assert [one.name for _, one in catalogue.find(["huang2011:example2"])] == ["example2"]
    assert {key for key, _ in catalogue.find(["huang2011", "huang2011:example2"])} == {"huang2011"}
    assert len(catalogue.find(["huang2011", "huang2011:example2"])) == len(catalogue.experiments("huang2011"))
    with pytest.raises(ValueError, match="known are lecture_notes"):
        catalogue.find(["huang"])
    with pytest.raises(ValueError, match="example1, example2"):
        catalogue.find(["huang2011:example9"])


# -- lines of a table ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paper", "ours", "best", "verdict"),
    [
        (1.0, 1.05, "high", "agrees"),
        (1.0, 1.2, "high", "better"),
        (1.0, 0.8, "high", "worse"),
        (1.0, 0.8, "low", "better"),
        (1.0, 1.2, "low", "worse"),
        (1.0, 1.2, None, "differs"),
        (1.0, float("nan"), "high", "differs"),
    ],
)
def test_verdict_on_numbers(paper, ours, best, verdict):
    line = number("q", paper, ours, within=0.1, best=best)
    assert line.verdict == verdict
    assert line.difference == pytest.approx(ours - paper, nan_ok=True)


def test_tables_as_csv_and_markdown():
    table = [number("a|b", 1.0, 1.23456789, within=0.1), claim("c", "holds always", "yes", False), reading("d, e", 2.0)]
    rows = list(csv.DictReader(StringIO(report.csv_table(table))))
    assert rows[0]["ours"] == "1.23456789"
    assert [row["verdict"] for row in rows] == ["differs", "does not hold", "no number given"]
    assert rows[2]["quantity"] == "d, e"
    assert rows[2]["paper"] == rows[1]["difference"] == ""
    text = report.markdown_table(table).splitlines()
    assert len(text) == 5
    assert text[2] == "| a\\|b | 1 | 1.235 | 0.2346 | 0.1 | differs | - |"
    assert all(len(re.split(r"(?<!\\)\|", line)) == 9 for line in text)


# -- files and resuming --------------------------------------------------------------------------------------------


def made(run, name="small", **given):
    scales = {scale: {"n": k} for k, scale in enumerate(SCALES)}
    return Experiment(name, "t", ("Claim 1",), run, "did <b>", "do", scales, ("open & shut",), ("differs",), **given)


def ordinary(run: Run) -> Outcome:
    figure, (axes,) = panels([("t", "x", "y")])
    lines(axes, {"line": ([0, 1], [0, run.settings["n"]])})
    return Outcome({"figure": Drawing(figure, "a < b")}, (number("q", 1.0, 1.0, within=0.1),), ("seen",))


def test_finished_experiment_is_not_run_again(tmp_path):
    calls = []

    def counting(run):
        calls.append(run.settings["n"])
        return ordinary(run)

    one = made(counting)
    result, fresh = runner.run_one("lecture_notes", one, tmp_path, scale="quick")
    assert (fresh, result.state, result.summary) == (True, DONE, "1 agrees")
    folder = tmp_path / "lecture_notes" / "small"
    written = {path.name for path in folder.iterdir()}
    assert {"figure.png", "figure.svg", "table.csv", "table.md", "result.json"} <= written
    assert not any(name.endswith(".tmp") for name in written)
    again, fresh = runner.run_one("lecture_notes", one, tmp_path, scale="quick")
    assert (fresh, again) == (False, result)
    runner.run_one("lecture_notes", one, tmp_path, scale="full")  # other settings
    runner.run_one("lecture_notes", one, tmp_path, scale="full", again=True)
    assert calls == [1, 0, 0]


def test_interrupted_experiment_goes_on_from_its_stages(tmp_path):
    computed = []

    def staged(run):
        for k in range(3):

            def compute(k=k):
                if k == 2 and len(computed) == 2:
                    computed.append("interrupted")
                    raise KeyboardInterrupt
                computed.append(k)
                return {"value": np.full(2, k)}

            assert run.stage(f"part {k}", compute)["value"].tolist() == [k, k]
        return Outcome()

    one = made(staged)
    with pytest.raises(KeyboardInterrupt):
        runner.run_one("lecture_notes", one, tmp_path)
    assert load_result(tmp_path / "lecture_notes" / "small") is None
    result, _ = runner.run_one("lecture_notes", one, tmp_path)
    assert result.state == DONE
    assert computed == [0, 1, "interrupted", 2]


def test_stages_of_other_settings_are_removed(tmp_path):
    Stages(tmp_path, "old").get("a", lambda: {"x": 1})
    new = Stages(tmp_path, "new")
    new.clear_others()
    assert list(tmp_path.iterdir()) == []


def test_fingerprint_follows_what_matters():
    base = ("a", {"n": 1}, {"usps": 5}, ordinary)
    same = fingerprint(*base)
    assert same == fingerprint(*base)
    others = [("b", *base[1:]), ("a", {"n": 2}, *base[2:]), ("a", {"n": 1}, {"usps": None}, ordinary)]
    assert same not in {fingerprint(*other) for other in others}
    assert same != fingerprint("a", {"n": 1}, {"usps": 5}, page.summary)


def test_fingerprint_follows_the_experiment_beneath_a_decorator():
    decorated = one_blas_thread(page.summary)
    assert fingerprint("a", {}, {}, decorated) == fingerprint("a", {}, {}, page.summary)
    assert fingerprint("a", {}, {}, decorated) != fingerprint("a", {}, {}, one_blas_thread(parabola))


def test_fingerprint_follows_the_modules_that_experiments_share(tmp_path, monkeypatch):
    (tmp_path / "some_experiment.py").write_text("def run():\n    pass\n")
    (tmp_path / "_shared.py").write_text("A = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    run = importlib.import_module("some_experiment").run
    before = fingerprint("a", {}, {}, run)
    (tmp_path / "_shared.py").write_text("A = 2\n")
    assert fingerprint("a", {}, {}, run) != before


def test_files_are_whole_or_absent(tmp_path, monkeypatch):
    write_whole(tmp_path / "a", b"old")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "a", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_damaged_record_counts_as_none(tmp_path):
    (tmp_path / "result.json").write_text('{"key": "a"')
    assert load_result(tmp_path) is None
    Result("k", "e", "full", "m", comparisons=[Comparison("q", None, float("nan"), "x")]).save(tmp_path)
    assert load_result(tmp_path).comparisons[0].ours == "nan"


# -- what cannot run -----------------------------------------------------------------------------------------------


def test_missing_data_are_named_and_tried_again(tmp_path):
    one = made(lambda run: run.load("frey"), data=("frey",))
    home = tmp_path / "data"
    home.mkdir()
    result, _ = runner.run_one("lecture_notes", one, tmp_path, home=home)
    assert result.state == NOT_RUN
    assert "frey_faces.npz" in result.summary
    np.savez(home / "frey_faces.npz", X=np.eye(2))
    one = made(lambda run: Outcome(remarks=(str(run.load("frey").X.shape),)), data=("frey",))
    result, _ = runner.run_one("lecture_notes", one, tmp_path, home=home)
    assert (result.state, result.remarks) == (DONE, ["(2, 2)"])
    assert "Frey" in result.sources["frey"]


def test_what_ran_on_substitute_data_says_so_and_is_not_judged(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.datasets.openml.SETS", {})

    def judging(run):
        run.load("frey")
        run.load("usps")
        return Outcome(comparisons=(number("q", 1.0, 1.0, within=0.1), reading("r", 2.0)))

    one = made(judging, data=("frey", "usps"))
    result, _ = runner.run_one("lecture_notes", one, tmp_path, scale="quick", home=tmp_path)
    assert result.state == DONE
    assert [line.verdict for line in result.comparisons] == ["not judged: substitute data", "no number given"]
    assert result.comparisons[0].difference is None
    assert "drawn faces" in result.summary
    assert "scikit-learn's 8 x 8 digits" in result.summary
    assert load_result(tmp_path / "lecture_notes" / "small") == result
    assert "agrees" not in (tmp_path / "lecture_notes" / "small" / "table.md").read_text()
    monkeypatch.setattr(catalogue, "experiments", lambda key: (one,) if key == "lecture_notes" else ())
    assert "have been run. 1 of them on substitute data, without verdicts" in page.summary(tmp_path)
    assert runner.run_one("lecture_notes", one, tmp_path, scale="full", home=tmp_path)[0].state == NOT_RUN


@pytest.mark.parametrize("name", list(STAND_INS))
def test_stand_ins_have_the_arrays_of_what_they_stand_in_for(name):
    found, described = STAND_INS[name].load(), "; ".join(SOURCES[name].arrays)
    shapes = re.findall(r"(\w+) \(([\d, ]+)\)", described)
    for array, shape in shapes:
        if not array.endswith("_test"):  # no experiment asks for test images
            assert found[array].ndim == len([size for size in shape.split(",") if size.strip()])
    assert np.isfinite(found.X).all()
    assert np.ptp(found.X) > 1
    if "uint8" in described:
        assert found.X.dtype == np.uint8


def test_one_that_fails_does_not_stop_the_others(tmp_path):
    def failing(run):
        raise ZeroDivisionError("by zero")

    chosen = [("lecture_notes", made(failing, "bad")), ("lecture_notes", made(ordinary, "good"))]
    heard = []
    results = runner.run_all(chosen, tmp_path, finished=lambda result, fresh: heard.append(result.experiment))
    assert [result.state for result in results] == [FAILED, DONE]
    assert "ZeroDivisionError: by zero (test_reproduce.py, line" in results[0].reason
    assert heard == ["bad", "good"]


def test_warnings_of_a_run_are_kept(tmp_path):
    import warnings

    def warning(run):
        warnings.warn("look", UserWarning, stacklevel=1)
        return Outcome()

    assert runner.run_one("lecture_notes", made(warning), tmp_path)[0].warnings == ["look"]


# -- the page ------------------------------------------------------------------------------------------------------


class Outline(HTMLParser):
    """Collects what a page shows, and checks that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.images, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.images.append(dict(attributes)["src"])
        if tag not in ("img", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_page_shows_everything_and_needs_no_other_file(tmp_path, monkeypatch):
    one = made(ordinary)
    monkeypatch.setattr(catalogue, "experiments", lambda key: (one,) if key == "lecture_notes" else ())
    runner.run_all([("lecture_notes", one)], tmp_path, scale="quick")
    text = (tmp_path / "summary.html").read_text()
    outline = Outline()
    outline.feed(text)
    assert outline.open == []
    assert len(outline.images) == 1
    assert outline.images[0].startswith("data:image/png;base64,")
    shown = " ".join(outline.text)
    for phrase in ("did <b>", "do", "open & shut", "differs", "a < b", "seen", "agrees", "Claim 1", "quick size"):
        assert phrase in shown
    assert not re.search(r"(src|href)='(?!data:|#)", text)


def test_page_says_what_has_not_run(tmp_path, monkeypatch):
    one = made(lambda run: run.load("frey"), data=("frey",))
    monkeypatch.setattr(catalogue, "experiments", lambda key: (one,) if key == "lecture_notes" else ())
    assert "not run yet" in page.summary(tmp_path)
    runner.run_all([("lecture_notes", one)], tmp_path, home=tmp_path)
    assert "not run: Frey faces" in (tmp_path / "summary.html").read_text()


# -- the command ---------------------------------------------------------------------------------------------------


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], env={"COLUMNS": "200"})


def test_list_prints_the_coverage():
    found = invoke("--list")
    assert found.exit_code == 0
    for key in catalogue.KEYS:
        assert key in found.output
    assert "camera image for Lena" in found.output
    assert "huang2011" not in invoke("--list", "kim2019").output


def test_command_runs_one_experiment_and_resumes(tmp_path):
    found = invoke("lecture_notes:kernel_eigenvalues", "--quick", "-o", tmp_path)
    assert found.exit_code == 0
    assert "summary.html" in found.output
    assert (tmp_path / "lecture_notes" / "kernel_eigenvalues" / "eigenvalues.svg").is_file()
    assert "done before" in invoke("lecture_notes:kernel_eigenvalues", "--quick", "-o", tmp_path).stderr


def test_command_without_data_says_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.datasets.openml.SETS", {})
    found = invoke("huang2011:example4", "--data", tmp_path, "-o", tmp_path / "out")
    assert found.exit_code == 0
    shown = " ".join(found.output.split())
    assert "not run: Frey faces" in shown
    assert "frey_faces.npz with X (1965, 560)" in shown
    assert "Public source: frey_rawface.mat" in shown


def test_command_fails_where_an_experiment_does(tmp_path, monkeypatch):
    def failing(run):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(catalogue, "find", lambda wanted=(): [("lecture_notes", made(failing))])
    assert invoke("-o", tmp_path).exit_code == 1


def test_command_tells_how_to_go_on_after_an_interruption(tmp_path, monkeypatch):
    def interrupted(run):
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "find", lambda wanted=(): [("lecture_notes", made(interrupted))])
    found = invoke("-o", tmp_path)
    assert found.exit_code == 130
    assert "same command again" in found.stderr


def test_unknown_key_is_one_line():
    found = invoke("nope")
    assert found.exit_code == 2
    assert "known are lecture_notes" in found.stderr


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
    assert missing == ["kim2019:table2", "kim2019:table3"]


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
