"""Write `docs/results.md` from the results of `python -m papers` and `make bench`: `make results`, or

    python -m benchmarks.results_page [--reproduced FOLDER ...] [--bench FOLDER] [-o docs]

If several folders of reproductions are given, an experiment is taken from the first one that has it. Pictures are
made small enough to commit.
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from PIL import Image

from mercer.version import __version__
from papers import catalogue
from papers.comparison import count_good
from papers.experiment import Experiment
from papers.report import markdown_row, shown
from papers.result import DONE, Result, load_result

_WIDTH = 820  # pixels of a committed picture, at most
_COLOURS = 96
_PICTURES = "images/results"

Found = tuple[Experiment, Result | None, Path | None]


def page(reproduced: Sequence[Path], bench: Path, docs: Path) -> str:
    """Return the page, and write its pictures beside it."""
    found = {(key, one.name): _find(key, one, reproduced) for key, one in catalogue.find()}
    pictures = docs / _PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    return "\n".join([*_opening(found), *_papers(found, pictures), *_peers(bench, pictures)]) + "\n"


def _find(key: str, one: Experiment, folders: Iterable[Path]) -> Found:
    for folder in folders:
        result = load_result(folder / key / one.name)
        if result is not None and result.state == DONE and not result.substitutes:
            return one, result, folder / key / one.name
    return one, None, None


def _opening(found: dict[tuple[str, str], Found]) -> Iterator[str]:
    yield "# Results\n"
    yield (
        f"Made by `make results` (Mercer {__version__}): `python -m papers` runs the papers' experiments again, `make "
        "bench` measures Mercer against its peers, and this page shows the results. The former also writes a page "
        "with all figures, tables, choices and explanations, `summary.html`; times are those of one machine with two "
        "cores.\n"
    )
    yield "## The papers, run again\n"
    yield "Numbers and statements of each paper, compared with our results:\n"
    yield "| work | experiments run | compared | agree, hold or exceed | do not |\n|---|---|---|---|---|"
    for key in catalogue.KEYS:
        results = [result for (k, _), (_, result, _) in found.items() if k == key and result is not None]
        lines = [line for result in results for line in result.judged]
        good = count_good(lines)
        count = sum(k == key for k, _ in found)
        yield (
            f"| [{catalogue.paper(key).title}](#{_anchor(_title(key))}) | {len(results)} of {count} | {len(lines)} | "
            f"{good} | {len(lines) - good} |"
        )
    yield "\nWhat is covered, item by item:\n"
    yield "<details><summary>every figure, table and claim</summary>\n"
    yield "| work | item | what it shows | experiment | status |\n|---|---|---|---|---|"
    for key in catalogue.KEYS:
        for row in catalogue.coverage(key):
            cells = (key, row.item, row.what, row.experiment or "-", row.status)
            yield markdown_row(cells)
    yield "\n</details>\n"


def _title(key: str) -> str:
    return f"{key}: {catalogue.paper(key).title}"


def _anchor(title: str) -> str:
    """Return the name by which links find a heading, on GitHub and on the site."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _papers(found: dict[tuple[str, str], Found], pictures: Path) -> Iterator[str]:
    for key in catalogue.KEYS:
        yield f"### {_title(key)}\n"
        for (k, _), (one, result, folder) in found.items():
            if k == key:
                yield from _experiment(key, one, result, folder, pictures)


def _experiment(key: str, one: Experiment, result: Result | None, folder: Path | None, pictures: Path) -> Iterator[str]:
    yield f"#### {', '.join(one.items)}: {one.title}\n"
    if result is None or folder is None:
        yield f"`python -m papers {key}:{one.name}` has not been run.\n"
        return
    yield f"{one.we_do}\n"
    for name, caption in list(result.captions.items())[:1]:
        _shrink(folder / f"{name}.png", pictures / f"{key}_{one.name}.png")
        yield f"![{one.title}]({_PICTURES}/{key}_{one.name}.png)\n\n*{caption}*\n"
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


def _peers(bench: Path, pictures: Path) -> Iterator[str]:
    yield "## Against the peers\n"
    table = bench / "results.md"
    if not table.exists():
        yield "`make bench` has not been run.\n"
        return
    machine = json.loads((bench / "results.json").read_text(encoding="utf-8"))["machine"]
    yield f"{machine}, two cores. A ratio says how many times faster a solver is than the fastest peer.\n"
    for name, text in (("ratios", "How many times faster than the fastest peer"), ("growth", "Seconds against size")):
        if (bench / f"{name}.png").exists():
            _shrink(bench / f"{name}.png", pictures / f"{name}.png")
            yield f"![{text}]({_PICTURES}/{name}.png)\n"
    yield table.read_text(encoding="utf-8").strip()


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
