"""What is covered, and the lines of a table."""

import csv
import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from mercer import datasets
from papers import catalogue, report
from papers.comparison import claim, number, reading
from papers.experiment import SCALES, Item, Paper

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
    with pytest.raises(ValueError, match="use one of lecture_notes"):
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
