"""Write `docs/results.md` from the results of `python -m papers` and `python -m benchmarks`: `make results`, or

    python -m benchmarks.results_page [--reproduced FOLDER ...] [--bench FOLDER] [-o docs]

The page can be renewed in parts: run some experiments or objectives, then this. What has no stored result keeps the
section that it has on the page, with the day on which it was measured. If several folders of reproductions are
given, an experiment is taken from the first one that has it. Pictures are made small enough to commit.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from PIL import Image

from benchmarks.suite import report, runner, store
from benchmarks.suite.narrow import narrow
from benchmarks.suite.old_page import OldPage, counted
from papers import catalogue
from papers.comparison import count_good
from papers.experiment import Experiment
from papers.report import markdown_row, shown
from papers.result import DONE, Result, load_result

_WIDTH = 1230  # pixels of a committed picture, at most: sharp where a page shows it 820 wide
_COLOURS = 96
_MOST = 20  # rows of a table whose slowest rows come first
_PICTURES = "images/results"

Found = tuple[Experiment, Result | None, Path | None]


def page(reproduced: Sequence[Path], bench: Path, docs: Path) -> str:
    """Return the page, and write its pictures beside it."""
    found = {(key, one.name): _find(key, one, reproduced) for key, one in catalogue.find()}
    pictures = docs / _PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    old = OldPage(docs / "results.md")
    parts = [*_opening(found, old), *_papers(found, old, pictures), *_peers(bench, old, pictures)]
    return "\n".join(parts).rstrip() + "\n"


def _find(key: str, one: Experiment, folders: Iterable[Path]) -> Found:
    for folder in folders:
        result = load_result(folder / key / one.name)
        if result is not None and result.state == DONE and not result.substitutes:
            return one, result, folder / key / one.name
    return one, None, None


def _opening(found: dict[tuple[str, str], Found], old: OldPage) -> Iterator[str]:
    yield "# Results\n"
    yield (
        "This page has two parts. First, the experiments of five papers are run again, and our numbers are compared "
        "with the printed ones. Then Mercer is measured against other programs (its *peers*) on the same data. "
        "Each section tells when it was measured, with which version and on which machine; sections that "
        "were not run again are older.\n"
    )
    yield (
        "```\n# the papers; all their figures are then in build/reproduced/summary.html\n"
        "python -m papers -o build/reproduced\n"
        "# the benchmarks; --list shows their names, --all runs the long ones too\n"
        "python -m benchmarks\n# this page from what was run; all else stays as it is\n"
        "python -m benchmarks.results_page\n```\n"
    )
    yield "## The papers, run again\n"
    yield (
        "Numbers and statements of each paper are compared with our results. An experiment can be run at two sizes: "
        "*full size* is that of the paper, *quick size* is smaller (`python -m papers --quick`). Each section tells at "
        'which size it was run. A sentence that begins with "Quick size" tells what is smaller in a quick run.\n'
    )
    yield "| work | experiments run | compared | agree, hold or exceed | do not |\n|---|---|---|---|---|"
    for key in catalogue.KEYS:
        own = [(one, result) for (k, _), (one, result, _) in found.items() if k == key]
        counts = [count for one, result in own if (count := _compared(key, one, result, old)) is not None]
        good, every = sum(one for one, _ in counts), sum(two for _, two in counts)
        yield (
            f"| [{catalogue.paper(key).title}](#{_anchor(_title(key))}) | {len(counts)} of {len(own)} | {every} | "
            f"{good} | {every - good} |"
        )
    yield "\nWhat is covered, item by item:\n"
    yield "<details><summary>every figure, table and claim</summary>\n"
    yield "| work | item | what it shows | experiment | status |\n|---|---|---|---|---|"
    for key in catalogue.KEYS:
        for row in catalogue.coverage(key):
            cells = (key, row.item, row.what, row.experiment or "-", row.status)
            yield markdown_row(cells)
    yield "\n</details>\n"


def _compared(key: str, one: Experiment, result: Result | None, old: OldPage) -> tuple[int, int] | None:
    """Return how many comparisons of an experiment are good and how many there are; None if it was never run."""
    if result is not None:
        return count_good(result.judged), len(result.judged)
    kept = old.experiment(_heading(one), _picture(key, one))
    return counted(kept) if kept else None


def _heading(one: Experiment) -> str:
    return f"{', '.join(one.items)}: {one.title}"


def _picture(key: str, one: Experiment) -> str:
    return f"{key}_{one.name}.png"


def _title(key: str) -> str:
    return f"{key}: {catalogue.paper(key).title}"


def _anchor(title: str) -> str:
    """Return the name by which links find a heading, on GitHub and on the site."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _papers(found: dict[tuple[str, str], Found], old: OldPage, pictures: Path) -> Iterator[str]:
    for key in catalogue.KEYS:
        yield f"### {_title(key)}\n"
        for (k, _), (one, result, folder) in found.items():
            if k == key and result is None and (kept := old.experiment(_heading(one), _picture(key, one))):
                yield kept
            elif k == key:
                yield from _experiment(key, one, result, folder, pictures)


def _experiment(key: str, one: Experiment, result: Result | None, folder: Path | None, pictures: Path) -> Iterator[str]:
    yield f"#### {_heading(one)}\n"
    if result is None or folder is None:
        yield f"`python -m papers {key}:{one.name}` has not been run.\n"
        return
    yield f"{one.we_do}\n"
    yield f"*Run {result.measured or 'on a day that was not noted'} with Mercer {result.version}.*\n"
    for name, caption in list(result.captions.items())[:1]:
        _shrink(folder / f"{name}.png", pictures / _picture(key, one))
        yield f"![{one.title}]({_PICTURES}/{_picture(key, one)})\n\n*{_plain(caption)}*\n"
    lines = result.judged
    good = count_good(lines)
    yield (
        f"<details><summary>{good} of {len(lines)} comparisons agree, hold or are exceeded "
        f"({result.scale} size, {result.seconds:.0f} s)</summary>\n"
    )
    yield "| quantity | paper | ours | verdict | note |\n|---|---|---|---|---|"
    for line in lines:
        cells = (line.quantity, shown(line.paper), shown(line.ours), line.verdict, line.note)
        yield markdown_row(cells)
    yield from (f"\n- {text}" for text in (*one.differences, *result.remarks))
    yield "\n</details>\n"


def _plain(caption: str) -> str:
    """Return a caption whose stars are stars, not the end of slanted text."""
    return caption.replace("*", "\\*")


def _peers(bench: Path, old: OldPage, pictures: Path) -> Iterator[str]:
    yield "## Against the peers\n"
    stored = {name: records for name in runner.names() if (records := store.load(bench, name))}
    shown = [name for name in runner.names() if name in stored or old.objective(name)]
    if not shown:
        yield "`make bench` has not been run.\n"
        return
    yield (
        "All solvers of a section run in turn on the same rows. Before each call the process waits until it is idle, "
        "since BLAS keeps processors busy for up to 0.1 seconds after a call. A call of less than 0.05 seconds is "
        "timed right after another one, since idle processors start slowly. *Seconds* are medians. *Times the "
        "fastest peer*: 2 is twice as fast as the fastest peer, and a number below 1 is slower; in brackets, the "
        "least and the largest ratio. *MB* is the growth of memory. *Expected* is the aim that was set; it is not "
        "always reached. A dash stands for a number that a solver does not have: for example, exact kernel PCA has no"
        " distance from itself.\n"
    )
    yield from _pictures(bench, pictures, whole=set(shown) == set(stored), old=old)
    for name in shown:
        if name in stored:
            yield narrow("\n".join(report.lines(runner.load(name), stored[name], _MOST)).strip() + "\n")
        else:
            yield narrow(old.objective(name))


def _pictures(bench: Path, pictures: Path, *, whole: bool, old: OldPage) -> Iterator[str]:
    """Yield the pictures of all objectives: new ones if all were measured, else those of the old page."""
    for name, text in (("ratios", "How many times faster than the fastest peer"), ("growth", "Seconds against size")):
        shown = f"![{text}]({_PICTURES}/{name}.png)"
        if whole and (bench / f"{name}.png").exists():
            _shrink(bench / f"{name}.png", pictures / f"{name}.png")
            yield f"{shown}\n"
        elif shown in old.peers:
            yield f"{shown}\n"


def _shrink(source: Path, target: Path) -> None:
    """Write a picture with fewer pixels and colours."""
    with Image.open(source) as picture:
        small = picture.convert("RGB")
        small.thumbnail((_WIDTH, 4 * _WIDTH))
        small.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results_page")
    parser.add_argument("--reproduced", type=Path, nargs="+", default=[Path("build/reproduced"), Path("build/quick")])
    parser.add_argument("--bench", type=Path, default=Path("build/bench"))
    parser.add_argument("-o", "--output", type=Path, default=Path("docs"))
    given = parser.parse_args()
    text = page(given.reproduced, given.bench, given.output)
    (given.output / "results.md").write_text(text, encoding="utf-8")
    print(f"Written: {given.output / 'results.md'}")


if __name__ == "__main__":
    main()
