"""How runs are kept, resumed and shown, and what is said when data are missing."""

import importlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer.datasets.sources import SOURCES
from papers import catalogue, page, runner
from papers.chin2007._streams import one_blas_thread, parabola
from papers.comparison import Comparison, number, reading
from papers.experiment import Outcome
from papers.result import DONE, FAILED, NOT_RUN, Result, load_result
from papers.resume import Stages, fingerprint, write_whole
from papers.stand_ins import STAND_INS
from papers_made import made, ordinary

ALL = catalogue.find()


# -- files and resuming --------------------------------------------------------------------------------------------


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
    assert "ZeroDivisionError: by zero (test_runs.py, line" in results[0].reason
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
