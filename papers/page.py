"""`summary.html`: all results on one page that needs no other file and no network."""

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from mercer.version import __version__
from papers import catalogue
from papers.comparison import FAILS, GOOD, OPEN, WORSE, Comparison, Value, count_good
from papers.experiment import Experiment
from papers.report import HEAD, shown
from papers.result import DONE, Result, load_result
from papers.resume import write_whole

_WIDE = 900  # pixels: two pictures of this width do not fit side by side
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1200px; margin: auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; } h2 { border-top: 3px solid #222; padding-top: .6rem; margin-top: 3rem; }
h3 { margin: 2.5rem 0 .3rem; } h4 { margin: 1rem 0 .2rem; font-size: .95rem; }
p { margin: .3rem 0; } .pale { color: #666; font-size: .9rem; }
.texts { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 0 2rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
figure { margin: .8rem 0; flex: 0 1 540px; } figure.wide { flex: 1 1 100%; }
figure img { max-width: 100%; height: auto; border: 1px solid #ddd; }
figcaption { font-size: .88rem; color: #444; }
table { border-collapse: collapse; margin: .6rem 0; font-size: .9rem; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: #17692f; font-weight: 600; } .bad { color: #a3182c; font-weight: 600; }
.state { background: #fff3d6; padding: .4rem .7rem; } ul { margin: .2rem 0; padding-left: 1.2rem; }
"""


def write_summary(out: Path) -> Path:
    """Write the page of all results in the folder, and return its path."""
    path = out / "summary.html"
    write_whole(path, summary(out).encode())
    return path


def summary(out: Path) -> str:
    """Return the page as HTML."""
    found = {(key, one.name): load_result(out / key / one.name) for key, one in catalogue.find()}
    body = "".join(_work(key, out, found) for key in catalogue.KEYS if any(k == key for k, _ in found))
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Mercer: the papers, run again</title><style>{_STYLE}</style></head><body>"
        f"<h1>The papers, run again</h1>{_opening(found)}{_coverage()}{body}</body></html>\n"
    )


def _opening(found: dict[tuple[str, str], Result | None]) -> str:
    done = [result for result in found.values() if result is not None and result.state == DONE]
    lines = [line for result in done for line in result.judged]
    replaced = sum(bool(result.substitutes) for result in done)
    note = f" {replaced} of them on substitute data, without verdicts." if replaced else ""
    good = count_good(lines)
    scales = sorted({result.scale for result in done}) or ["none"]
    links = "".join(
        f"<tr><td><a href='#{key}-{name}'>{escape(key)}:{escape(name)}</a></td>"
        f"<td>{escape('not run yet' if result is None else result.summary)}</td>"
        f"<td class='number'>{'' if result is None else f'{result.seconds:.1f} s'}</td></tr>"
        for (key, name), result in found.items()
    )
    return (
        f"<p>Made by <code>python -m papers</code>, version {__version__}; sizes: {', '.join(scales)}. {len(done)} of "
        f"{len(found)} experiments have been run.{note} The papers give {len(lines)} values and claims to compare "
        f"with: {good} hold, agree within what is tolerated, or are exceeded; the others are marked and "
        f"explained below.</p><table><tr><th>experiment</th><th>verdicts</th><th>time</th></tr>{links}</table>"
    )


def _coverage() -> str:
    rows = "".join(
        f"<tr><td>{escape(row.key)}</td><td>{escape(row.item)}</td><td>{escape(row.what)}</td>"
        f"<td>{escape(row.experiment or '-')}</td><td>{escape(row.status)}</td></tr>"
        for key in catalogue.KEYS
        for row in catalogue.coverage(key)
    )
    head = "<tr><th>work</th><th>item</th><th>what it shows</th><th>experiment</th><th>status</th></tr>"
    title = "What is covered: every figure, table and claim"
    return f"<details><summary>{title}</summary><table>{head}{rows}</table></details>"


def _work(key: str, out: Path, found: dict[tuple[str, str], Result | None]) -> str:
    parts = "".join(_experiment(key, one, found[key, one.name], out) for one in catalogue.experiments(key))
    return f"<h2 id='{key}'>{escape(key)}: {escape(catalogue.paper(key).title)}</h2>{parts}"


def _experiment(key: str, one: Experiment, result: Result | None, out: Path) -> str:
    head = f"<section id='{key}-{one.name}'><h3>{escape(', '.join(one.items))}: {escape(one.title)}</h3>"
    pieces = [head, f"<p class='pale'><code>python -m papers {key}:{one.name}</code>{_circumstances(result)}</p>"]
    if result is None or result.state != DONE:
        pieces.append(f"<p class='state'>{escape('not run yet' if result is None else result.summary)}</p>")
    if result is not None and result.state == DONE and result.substitutes:
        pieces.append(f"<p class='state'>{escape(result.summary)}</p>")
    pieces.append(f"<div class='texts'>{''.join(_texts(one))}</div>")
    if result is not None and result.state == DONE:
        pieces += [_figures(result, out / key / one.name), *_tables(result.comparisons)]
        pieces += [_list("What this run showed", result.remarks), _folded("Warnings of this run", result.warnings)]
    return "".join(pieces) + "</section>"


def _circumstances(result: Result | None) -> str:
    if result is None or result.state != DONE:
        return ""
    data = "; ".join(result.sources.values()) or "made by the experiment, or shipped with scikit-learn"
    sizes = ", ".join(f"{name} {value}" for name, value in result.settings.items())
    return escape(f" - {result.scale} size ({sizes}); data: {data}; {result.seconds:.1f} s")


def _texts(one: Experiment) -> Iterator[str]:
    yield f"<div><h4>What the paper did</h4><p>{_prose(one.paper_did)}</p></div>"
    yield f"<div><h4>What is done here</h4><p>{_prose(one.we_do)}</p></div>"
    yield f"<div>{_list('Choices that the paper leaves open', one.open_choices)}</div>"
    yield f"<div>{_list('Where we differ, and why', one.differences)}</div>"


def _figures(result: Result, folder: Path) -> str:
    def one(name: str, caption: str) -> str:
        picture = (folder / f"{name}.png").read_bytes()
        source = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        return (
            f"<figure class='{'wide' if _is_wide(picture) else ''}'><img alt='{escape(name)}' src='{source}'>"
            f"<figcaption>{_prose(caption)}</figcaption></figure>"
        )

    return f"<div class='figures'>{''.join(one(*pair) for pair in result.captions.items())}</div>"


def _is_wide(png: bytes) -> bool:
    """Tell from the header of a PNG whether it needs a row of its own on the page."""
    return int.from_bytes(png[16:20], "big") > _WIDE


def _tables(lines: Sequence[Comparison]) -> Iterator[str]:
    """Yield the table of comparisons with the paper, then the table of other measurements."""
    compared = [line for line in lines if line.verdict != OPEN]
    beside = [line for line in lines if line.verdict == OPEN]
    if compared:
        yield _table("Compared with the paper", HEAD, (_line(line) for line in compared))
    if beside:
        rows = (
            f"<tr><td>{_prose(line.quantity)}</td>{_cell(line.ours)}<td>{_prose(line.note)}</td></tr>"
            for line in beside
        )
        yield _table("Also measured", ("quantity", "ours", "note"), rows)


def _table(title: str, head: Iterable[str], rows: Iterable[str]) -> str:
    cells = "".join(f"<th>{name}</th>" for name in head)
    return f"<h4>{title}</h4><table><tr>{cells}</tr>{''.join(rows)}</table>"


def _line(line: Comparison) -> str:
    mark = "good" if line.verdict in GOOD else "bad" if line.verdict in (FAILS, WORSE) else ""
    values = "".join(_cell(value) for value in (line.paper, line.ours, line.difference, line.within))
    verdict = f"<td class='{mark}'>{escape(line.verdict)}</td><td>{_prose(line.note)}</td>"
    return f"<tr><td>{_prose(line.quantity)}</td>{values}{verdict}</tr>"


def _cell(value: Value) -> str:
    return f"<td class='{'' if isinstance(value, str) else 'number'}'>{_prose(shown(value))}</td>"


def _prose(text: str) -> str:
    """Return text as HTML, with texts between backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _list(title: str, texts: Iterable[str]) -> str:
    points = "".join(f"<li>{_prose(text)}</li>" for text in texts)
    return f"<h4>{escape(title)}</h4><ul>{points}</ul>" if points else ""


def _folded(title: str, texts: Iterable[str]) -> str:
    points = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<details><summary>{escape(title)}</summary><ul>{points}</ul></details>" if points else ""
