"""`mercer demo`: clean noisy handwritten digits by kernel PCA, and draw a picture."""

import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from mercer.cli import console, options, targets, waiting
from mercer.events import Channel

if TYPE_CHECKING:
    from mercer.cli.digits import Cleaned, Digits
    from mercer.estimators.kernel_pca import KernelPCA

_NOISE = 0.3  # standard deviation for grey values from 0 to 1: a person can still read most digits
_COMPONENTS = 48


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the model.")] = Path("demo-out"),
    verbose: options.Verbose = False,
) -> None:
    """Clean noisy handwritten digits, and compare with linear PCA and with scikit-learn."""
    from mercer.cli import digits  # imports scikit-learn, which other commands do not need for --help

    targets.check_folder(out, "--out")
    out.mkdir(parents=True, exist_ok=True)
    data = digits.digits(_NOISE)
    picture, saved = out / "digits.png", out / "digits.mercer"
    with waiting.watch(verbose) as observers:
        channel = Channel(observers)
        model, cleaned = digits.compare(data, _COMPONENTS, channel)
        _draw(model, data, cleaned, picture)
        model.save(saved)
        ours, theirs = digits.race(model, data, channel)
    console.show(f"{len(data.clean)} digits that no model has seen, with noise added", _table(cleaned))
    best = min(theirs, key=lambda solver: theirs[solver])
    _print(
        f"Time to fit and project all {len(data.train) + len(data.clean):,} digits: {ours:.2f} s; scikit-learn's "
        f"KernelPCA {theirs['auto']:.2f} s by default, {theirs[best]:.2f} s with its fastest solver ({best})."
    )
    _print(_result(cleaned, picture, saved))


def _print(text: str) -> None:
    console.out.print(text, soft_wrap=True, highlight=False)


def _table(cleaned: "Sequence[Cleaned]") -> Table:
    table = console.grid("", "components", "mean squared error", "signal to noise")
    for one in cleaned:
        count = "" if one.components is None else str(one.components)
        table.add_row(one.method, count, f"{one.error:.4f}", f"{one.decibels:.1f} dB")
    return table


def _draw(model: "KernelPCA", data: "Digits", cleaned: "Sequence[Cleaned]", picture: Path) -> None:
    from mercer import plots
    from mercer.cli import digits

    shown = [int((data.labels == digit).argmax()) for digit in range(10)]
    rows = {"original": data.clean[shown]}
    for one in cleaned:
        count = "" if one.components is None else f"{one.components} components, "
        rows[f"{one.method}\n{count}error {one.error:.3f}"] = one.images[shown]
    title = "Handwritten digits with noise, cleaned by linear PCA and by kernel PCA"
    figure = plots.denoising(rows, digits.SHAPE, model, data.clean, data.labels, title=title)
    figure.savefig(picture, dpi=150)


def _result(cleaned: "Sequence[Cleaned]", picture: Path, saved: Path) -> str:
    noisy, same, best, kernel = (one.error for one in cleaned)
    return (
        f"Kernel PCA brings the error of the noisy digits from {noisy:.3f} down to {kernel:.3f}; linear PCA "
        f"reaches {same:.3f} with as many components and {best:.3f} with the best number of them. "
        f"The picture is {picture}, the model {saved}; show it with: {_own_name()} info {saved}"
    )


def _own_name() -> str:
    """Return how a user calls this command: by its path, where it was started so and is not found by its name."""
    started = Path(sys.argv[0])
    return str(started) if started.stem == "mercer" and which("mercer") is None else "mercer"
