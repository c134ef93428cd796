"""The benchmark suite: every objective is whole, ratios are what they claim, failures are shown with their reason."""

import json
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import benchmarks
import mercer
from benchmarks.__main__ import main
from benchmarks.suite import measure, progress, report, runner, store
from benchmarks.suite.data import load
from benchmarks.suite.measure import on_processors
from benchmarks.suite.plan import CannotRunError, Objective, Record, SelfTimed, Solver
from benchmarks.suite.progress import run_and_show
from mercer import datasets


@pytest.mark.parametrize("name", runner.names())
def test_an_objective_asks_a_question_of_data_and_of_peers(name):
    objective = runner.load(name)
    assert objective.name == name
    assert objective.question.endswith("?")
    assert objective.datasets
    assert any(solver.peer for solver in objective.solvers)
    assert any(not solver.peer for solver in objective.solvers)
    assert len({solver.name for solver in objective.solvers}) == len(objective.solvers)
    assert set(objective.skip) <= {(data, s.name) for data in objective.datasets for s in objective.solvers}
    if objective.growth:
        assert [float(size) for size in objective.datasets]


def record(solver, seconds, peer=False, dataset="d", **more):
    return Record("o", dataset, solver, peer, seconds, **more)


def test_ratios_are_taken_round_by_round_against_the_fastest_peer():
    slow, fast = record("slow", [9.0, 9.0], peer=True), record("fast", [4.0, 6.0], peer=True)
    elsewhere, ours = record("other", [1.0], peer=True, dataset="e"), record("ours", [2.0, 2.0])
    assert report.ratios(ours, [slow, fast, elsewhere, ours]) == [2.0, 3.0]
    assert report.ratios(fast, [slow, fast, ours]) == []
    assert report.ratios(ours, [ours]) == []
    assert report.ratios(record("ours", [1.0, 5.0]), [record("once", [5.0], peer=True)]) == [5.0, 1.0]


def test_the_slowest_can_stand_first():
    objective = Objective("o", "how long?", {"d": list}, [], worst_first=True)
    records = [record("ours", [2.0]), record("peer", [1.0], peer=True), record("slow", [9.0])]
    *table, _, ours, slow = report.lines(objective, records)[-6:]
    assert ours == "- ours: median of 1 ratios 0.50, least 0.50, 1 below 1"
    assert slow.startswith("- slow: median of 1 ratios 0.11")
    assert [line.split("|")[2].strip() for line in table] == ["slow", "ours", "peer (peer)"]
    *_, listed, _, ours, _, left_out = report.lines(objective, records, 1)
    assert listed.split("|")[2].strip() == "slow"
    assert ours.startswith("- ours: median of 1 ratios")
    assert left_out == "- not listed: 2 rows with larger ratios, and peers"


def test_exponents_are_slopes_of_logarithms():
    records = [record("square", [1e-6 * n**2], dataset=str(n)) for n in (100, 200, 400)]
    assert report.exponents(records)["square"] == pytest.approx(2.0)
    assert report.exponents(records[:2]) == {}


def test_a_number_that_a_solver_does_not_have_is_a_dash_and_is_not_in_the_mean():
    objective = Objective("o", "how long?", {"d": list}, [], means=True)
    records = [
        record("peer", [1.0], peer=True, qualities={"distance": float("nan")}),
        record("ours", [1.0], qualities={"distance": 0.5}),
    ]
    text = report.lines(objective, records)
    assert "| d | peer (peer) | 1 |  | - |  |" in text
    assert text[-1] == '- mean of "distance" over 1 data sets: 0.500 (median 0.500)'


def test_an_exponent_of_nearly_zero_has_no_sign():
    objective = Objective("o", "how long?", {"d": list}, [], growth=True)
    records = [record("flat", [1.0 - 1e-7 * n], dataset=str(n)) for n in (100, 200, 400)]
    assert report.lines(objective, records)[-1] == "- flat: seconds grow as size^0.00"


def sums(data):
    return lambda: float(np.sum(data))


def missing(data):
    raise CannotRunError("it is not installed")


def broken(data):
    def call():
        raise ValueError("no such thing")

    return call


OBJECTIVE = Objective(
    "o",
    "how long?",
    {"ones": lambda: np.ones(3)},
    [
        Solver("peer", lambda data: lambda: SelfTimed(8.0, data.sum()), peer=True, steps=2),
        Solver("ours", sums),
        Solver("missing", missing),
        Solver("broken", broken),
        Solver("skipped", sums),
    ],
    quality=lambda data, result: result - data.sum(),
    quality_name="error",
    skip={("ones", "skipped"): "left out"},
)


def test_every_solver_has_times_or_a_reason():
    found = {r.solver: r for r in runner.measure(OBJECTIVE, "ones", list(OBJECTIVE.solvers))}
    assert found["peer"].seconds == [4.0] * OBJECTIVE.rounds  # its own time, for one of two steps
    assert len(found["ours"].seconds) == OBJECTIVE.rounds
    assert found["ours"].qualities == {"error": 0.0}
    assert found["missing"].failure == "it is not installed"
    assert found["broken"].failure == "ValueError: no such thing"
    assert found["skipped"].failure == "left out"
    text = "\n".join(report.lines(OBJECTIVE, list(found.values())))
    assert "| ones | missing | it is not installed |" in text
    assert "error" in text


def test_an_objective_of_quality_is_called_once_and_gives_several_numbers():
    calls = []

    def counted(data):
        return lambda: calls.append(1) or 3.0

    solvers = [Solver("peer", sums, peer=True), Solver("ours", counted)]
    objective = replace(
        OBJECTIVE, solvers=solvers, rounds=0, skip={}, quality=lambda data, result: {"a": result, "b": -result}
    )
    records = runner.measure(objective, "ones", solvers)
    assert calls == [1]
    assert records[1].qualities == {"a": 3.0, "b": -3.0}
    assert report.ratios(records[1], records) == []  # the call also compiled
    head, *_, last = report.lines(objective, records)[1:]
    assert head == "| data | solver | seconds | times the fastest peer | a | b | MB |"
    assert last.endswith("|  | 3 | -3 |  |")


def test_long_objectives_run_only_if_asked_for(monkeypatch, capsys, tmp_path):
    ran = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "run", lambda name, only, solver: ran.append(name) or [])
    monkeypatch.setattr(report, "write", lambda *_: None)
    for arguments in ([], ["--all"], ["tracking"], ["--list"]):
        monkeypatch.setattr("sys.argv", ["benchmarks", *arguments])
        main()
        ran.append("|")
    default, everything, named, listed = " ".join(ran).split("|")[:4]
    assert set(default.split()) < set(everything.split()) == set(runner.names())
    assert "tracking" not in default.split()
    assert (named.split(), listed.split()) == (["tracking"], [])
    assert len(capsys.readouterr().out.strip().splitlines()[-len(runner.names()) :]) == len(runner.names())


def test_only_named_solvers_run(monkeypatch):
    asked = []
    monkeypatch.setattr(runner, "run_in_fresh_process", lambda *given: asked.append(given) or [])
    runner.run("which_estimator", "100,000", "Online")
    runner.run("exact_fit", "2000", "mixed")
    assert runner._parts(runner.load("which_estimator"), "KernelPCA") == ["KernelPCA"]  # a whole name means one solver
    assert asked[0] == ("which_estimator", ["clean, 100,000 rows"], "OnlineRobustKernelPCA")
    assert [(name, data) for name, data, _ in asked[1:]] == [("exact_fit", ["usps 2000"])]
    assert "mixed" in asked[1][2]


def test_only_named_data_sets_run(monkeypatch):
    asked = []
    monkeypatch.setattr(runner, "run_in_fresh_process", lambda name, data, part="": asked.append(list(data)) or [])
    runner.run("small_fit", "50 x 10, rbf, 2,")
    runner.run("exact_fit", "2000")
    runner.run("small_fit", "no such data")
    assert asked == [[f"50 x 10, rbf, 2, {work}" for work in ("fit", "fit_transform", "transform")], ["usps 2000"]]


@pytest.mark.parametrize(("patience", "expected"), [(np.inf, 5), (1e9, 5), (1e-9, 2)])
def test_slow_solvers_have_fewer_rounds_but_two_at_least(patience, expected):
    solvers = [Solver("ours", lambda data: lambda: sum(range(1000)))]
    objective = Objective("o", "how long?", {"d": list}, solvers, rounds=5, patience=patience)
    assert len(runner.measure(objective, "d", solvers)[0].seconds) == expected


def test_nothing_but_the_suite_is_in_the_folder():
    folder = Path(benchmarks.__file__).parent
    assert {path.name for path in folder.glob("*.py")} == {"__init__.py", "__main__.py", "results_page.py"}


def test_a_reason_that_stops_all_solvers_is_given_once():
    failed = [record(name, [], failure="no data") for name in ("a", "b")]
    text = report.lines(
        OBJECTIVE, [*failed, record("a", [1.0], dataset="e"), record("b", [], dataset="e", failure="x")]
    )
    assert [line.split(" | ")[:3] for line in text[-3:]] == [
        ["| d", "none of the solvers", "no data"],
        ["| e", "a", "1"],
        ["| e", "b", "x"],
    ]


def test_results_are_written_as_table_data_and_picture(tmp_path):
    records = runner.measure(OBJECTIVE, "ones", list(OBJECTIVE.solvers))
    report.write(tmp_path, {"o": (OBJECTIVE, records)})
    assert len(json.loads((tmp_path / "results.json").read_text())["records"]) == 5
    assert "how long?" in (tmp_path / "results.md").read_text()
    assert (tmp_path / "ratios.png").read_bytes().startswith(b"\x89PNG")


def test_only_the_loader_that_names_stand_ins_reads_data_sets():
    for path in Path(runner.objectives.__file__).parent.glob("*.py"):
        assert "mercer.datasets" not in path.read_text()
        assert not re.search(r"from mercer import .*\bdatasets\b", path.read_text()), path.name


def test_rows_of_a_table_name_what_the_loader_really_returned(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    objective = replace(runner.load("exact_fit"), solvers=[Solver("ours", lambda X: X.sum)], quality=None)
    (record,) = runner.measure(objective, "usps 7291", list(objective.solvers))
    name = "scikit-learn's 8 x 8 digits, 1500 x 64 (in place of usps 7291)"
    assert f"| {name} | ours |" in "\n".join(report.lines(objective, [record]))
    (record,) = runner.measure(objective, "usps 2000", list(objective.solvers))
    assert "2000 rows are needed; scikit-learn's 8 x 8 digits has 1500 and replaces usps" in record.failure
    missing = replace(objective, datasets={"frey": lambda: load("frey")})
    (record,) = runner.measure(missing, "frey", list(objective.solvers))
    assert "frey_faces.npz" in record.failure
    assert (record.seconds, record.stand_in) == ([], "")


@pytest.mark.skipif(datasets.archive("usps") is None, reason="usps.npz is not on this machine (set MERCER_DATA)")
def test_the_data_asked_for_keep_their_name():
    objective = replace(runner.load("exact_fit"), solvers=[Solver("ours", lambda X: X.sum)], quality=None)
    (record,) = runner.measure(objective, "usps 2000", list(objective.solvers))
    assert report.data_name(record) == "usps 2000"


# -- the page of results ---------------------------------------------------------------------------------------------


def test_the_page_takes_each_experiment_from_the_first_folder_that_has_it(tmp_path):
    from benchmarks.results_page import page
    from papers import catalogue
    from papers.comparison import claim, number, reading
    from papers.result import Result

    Image = pytest.importorskip("PIL.Image")
    key, one = catalogue.find()[0]
    for name, size, value in (("full", "full", 1.5), ("quick", "quick", 2.5)):
        folder = tmp_path / name / key / one.name
        folder.mkdir(parents=True)
        table = [number("a | b", 1.0, value, within=0.1, best="high"), claim("c", "so", "so", False), reading("d", 3.0)]
        Result(key, one.name, size, "mark", comparisons=table, captions={"fig": "A caption."}).save(folder)
        Image.new("RGB", (2000, 900), "white").save(folder / "fig.png")
    text = page([tmp_path / "full", tmp_path / "quick"], tmp_path / "bench", tmp_path)
    assert "| a \\| b | 1 | 1.5 | better |" in text
    assert "1 of 2 comparisons agree, hold or are exceeded (full size" in text
    assert "2.5" not in text.split("#### ")[1]
    assert "*A caption.*" in text
    assert "`make bench` has not been run." in text
    assert f"`python -m papers {catalogue.find()[1][0]}:{catalogue.find()[1][1].name}` has not been run." in text
    with Image.open(tmp_path / "images" / "results" / f"{key}_{one.name}.png") as picture:
        assert picture.width <= 1230


def test_a_table_has_no_empty_columns():
    from benchmarks.suite.narrow import narrow

    table = "| a | b | c |\n|---|---|---|\n| 1 |  | x \\| y |\n| 2 | | |\n"
    assert narrow(f"before\n\n{table}\nafter\n") == (
        "before\n\n| a | c |\n|---|---|\n| 1 | x \\| y |\n| 2 |  |\n\nafter\n"
    )
    full = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert narrow(full) == full
    assert narrow("| a | b |\n|---|---|\n") == "| a | b |\n|---|---|\n"


def test_a_star_in_a_caption_does_not_end_the_slanted_text():
    from benchmarks.results_page import _plain

    assert _plain("the distance from x*") == "the distance from x\\*"


def measured(day, seconds=1.0):
    """The records of a short objective, as if they were measured on a day."""
    objective = runner.load("tile")
    pairs = [(data, solver) for data in objective.datasets for solver in objective.solvers]
    told = {"measured": day, "version": "9.9", "machine": "a machine"}
    return [Record("tile", data, one.name, one.peer, [seconds], **told) for data, one in pairs]


def test_results_of_an_objective_are_kept_until_it_is_measured_again(tmp_path):
    objective, first = runner.load("tile"), measured("2026-01-01")
    gone = Record("tile", "a set that is no longer there", "x", False, [1.0])
    assert store.save(tmp_path, objective, [*first, gone]) == first
    again = measured("2026-02-02", 2.0)[:1]
    assert store.save(tmp_path, objective, again) == [*again, *first[1:]]
    assert store.load(tmp_path, "tile") == [*again, *first[1:]]
    assert store.load(tmp_path, "transform") == []
    assert "2026-01-01 to 2026-02-02 with Mercer 9.9 (a machine)" in store.stamp(store.load(tmp_path, "tile"))
    assert store.stamp([gone]) == ""


def test_the_page_is_renewed_objective_by_objective(tmp_path):
    from benchmarks.results_page import page

    old = "# Results\n\n## Against the peers\n\n### {0}: how?\n\nold {0}\n\n### {1}: how?\n\nold {1}\n"
    (tmp_path / "results.md").write_text(old.format("tile", "transform"))
    store.save(tmp_path / "bench", runner.load("tile"), measured("2026-03-03"))
    text = page([], tmp_path / "bench", tmp_path)
    assert "old tile" not in text
    assert "*Measured 2026-03-03 with Mercer 9.9 (a machine).*" in text
    assert text.count("### transform: how?\n\nold transform") == 1
    (tmp_path / "results.md").write_text(text)
    assert page([], tmp_path / "bench", tmp_path) == text


def test_the_page_keeps_experiments_that_have_no_stored_result(tmp_path):
    from benchmarks.results_page import page
    from papers import catalogue

    key, one = catalogue.find()[0]
    shown = f"![x](images/results/{key}_{one.name}.png)"
    part = f"#### An old heading\n\n{shown}\n\n<details><summary>3 of 4 comparisons agree</summary>\n"
    (tmp_path / "results.md").write_text(f"# Results\n\n### {key}\n\n{part}\n#### Other\n\n## Against the peers\n")
    text = page([], tmp_path / "bench", tmp_path)
    assert f": {one.title}\n\n{shown}\n" in text
    assert "An old heading" not in text
    count = len(catalogue.find([key]))
    assert f" | 1 of {count} | 4 | 3 | 1 |" in text


def test_a_run_says_when_and_with_which_version_it_was_measured(monkeypatch, capsys):
    monkeypatch.setattr(runner, "measure", lambda objective, data, solvers: [Record("tile", data, "x", False, [1.0])])
    monkeypatch.setattr("sys.argv", ["runner", "tile", '["d"]', ""])
    runner.main()
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["dataset"], found["version"]) == ("d", mercer.__version__)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["measured"])
    assert "Python" in found["machine"]


def test_time_on_processors_does_not_count_waiting():
    found = on_processors(lambda: time.sleep(0.2) or 7)
    assert found.value == 7
    assert 0 <= found.seconds < 0.2


def test_a_call_begins_when_the_threads_of_the_one_before_are_idle(monkeypatch):
    class Clock:
        waited, busy = 0.0, 0.06

        def sleep(self, seconds):
            self.waited += seconds

        def process_time(self):
            return min(self.waited, self.busy)

    clock = Clock()
    monkeypatch.setattr(measure, "time", clock)
    measure.settle()
    assert clock.busy <= clock.waited < clock.busy + 0.02
    clock.busy = float("inf")
    measure.settle()  # a process that is never idle does not wait for ever
    assert clock.waited < 1.0


@pytest.mark.parametrize(("first", "expected", "calls"), [(0.001, 0.5, 2), (0.2, 0.2, 1)])
def test_a_short_call_is_timed_when_processors_are_awake(first, expected, calls):
    seconds = [first, 0.5]  # of the calls, one after the other
    assert runner._timed(lambda: SelfTimed(seconds.pop(0), None)) == expected
    assert len(seconds) == 2 - calls


# -- progress --------------------------------------------------------------------------------------------------------


def test_a_process_shows_its_progress_and_keeps_all_else(tmp_path, capfd):
    code = "import sys; from benchmarks.suite.progress import tell; tell('half'); print('x' * 10**6); sys.exit('bad')"
    done = run_and_show([sys.executable, "-c", code], Path(benchmarks.__file__).parent.parent)
    assert (done.returncode, done.stdout, done.stderr) == (1, "x" * 10**6 + "\n", "bad\n")
    assert capfd.readouterr().err == "half\n"


def test_work_tells_now_and_then_how_far_it_is(monkeypatch, capsys):
    clock = iter(np.arange(0.0, 1000.0, 7.0))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    assert list(progress.counted("abcdefgh", "letters")) == list("abcdefgh")
    assert capsys.readouterr().err == "progress: letters: 3 of 8\nprogress: letters: 6 of 8\n"


def test_every_solver_tells_what_it_gave(capsys):
    runner.measure(OBJECTIVE, "ones", list(OBJECTIVE.solvers))
    told = capsys.readouterr().err.splitlines()
    assert told[1:3] == ["progress: o, ones, ours: error 0", "progress: o, ones, missing: it is not installed"]
