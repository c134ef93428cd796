"""Tables and figures of one experiment as files: CSV, Markdown, PNG and SVG."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from pathlib import Path

from papers.comparison import Comparison, Value
from papers.experiment import Drawing
from papers.resume import write_whole

HEAD = ("quantity", "paper", "ours", "difference", "tolerated", "verdict", "note")
_DPI = 130


def write_figures(drawings: Mapping[str, Drawing], folder: Path) -> None:
    """Write every figure as PNG and as SVG."""
    for name, drawing in drawings.items():
        for suffix in ("png", "svg"):
            buffer = BytesIO()
            extra = {"metadata": {"Date": None}} if suffix == "svg" else {"dpi": _DPI}
            drawing.figure.savefig(buffer, format=suffix, **extra)
            write_whole(folder / f"{name}.{suffix}", buffer.getvalue())


def write_table(lines: Sequence[Comparison], folder: Path) -> None:
    """Write the comparisons as CSV, with all digits, and as Markdown."""
    write_whole(folder / "table.csv", csv_table(lines).encode())
    write_whole(folder / "table.md", markdown_table(lines).encode())


def csv_table(lines: Sequence[Comparison]) -> str:
    """Return the comparisons as CSV, numbers with all their digits."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for line in lines:
        writer.writerow([_exact(cell) for cell in _cells(line)])
    return text.getvalue()


def markdown_table(lines: Sequence[Comparison]) -> str:
    """Return the comparisons as a Markdown table."""
    rows: list[Sequence[str]] = [HEAD, ("---", "---:", "---:", "---:", "---:", "---", "---")]
    rows += [[shown(cell) for cell in _cells(line)] for line in lines]
    return "".join(f"{markdown_row(row)}\n" for row in rows)


def markdown_row(cells: Iterable[str]) -> str:
    """Return one row of a Markdown table; bars and line ends within the cells do not end them."""
    texts = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(texts)} |"


def shown(value: Value) -> str:
    """Return the text of a cell: numbers with four digits, and a dash for nothing."""
    if value is None or value == "":
        return "-"
    return value if isinstance(value, str) else f"{value:.4g}"


def _cells(line: Comparison) -> tuple[Value, ...]:
    return line.quantity, line.paper, line.ours, line.difference, line.within, line.verdict, line.note


def _exact(value: Value) -> str:
    return "" if value is None else str(value)
