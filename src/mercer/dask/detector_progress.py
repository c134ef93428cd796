"""How far the fit of a detector is: the sample, the moments of the folds, and the scores of rows held out so far."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.dask.checkpoints import decoded_moments, encoded_moments, read_checked
from mercer.dask.partitions import Names
from mercer.dask.sample import Look, Shape
from mercer.engine.moments import Moments
from mercer.io.persist import write_model


@dataclass
class Progress:
    """What a fit has found so far."""

    seed: int
    look: Look
    names: Names = None  # of the columns
    points: Array | None = None  # landmarks
    moments: list[Moments] = field(default_factory=list)  # one for each fold, and for the reference
    measured: int = 0  # groups of partitions in the moments
    scores: list[Array] = field(default_factory=list)  # of each fold
    judged: int = 0  # groups of partitions in the scores
    digests: dict[str, str] = field(default_factory=dict)  # of the rows of some partitions
    keep: Callable[["Progress"], None] | None = None  # is called after every group

    def add_moments(self, number: int, found: list[Moments]) -> None:
        """Take the moments of all groups up to a number."""
        self.measured, self.moments = number, found
        self._keep()

    def add_scores(self, number: int, found: list[Array]) -> None:
        """Take the scores of all groups up to a number."""
        self.judged, self.scores = number, found
        self._keep()

    def _keep(self) -> None:
        if self.keep is not None:
            self.keep(self)


class ProgressFile:
    """The progress of a fit in one file, replaced as a whole."""

    def __init__(self, path: Any, identity: str) -> None:
        self.path, self.identity = Path(path), identity

    def read(self) -> Progress | None:
        """Return what is there; None if there is no file."""
        if not self.path.exists():
            return None
        header, arrays = read_checked(self.path, self.identity)
        sizes = {number: Shape(int(n), int(d)) for number, (n, d) in enumerate(arrays["sizes"])}
        found = [decoded_moments(sums, arrays, f"moments{k}.") for k, sums in enumerate(header["sums"])]
        return Progress(
            header["seed"],
            Look(arrays["rows"], arrays["keys"], arrays["places"].astype(np.intp), sizes),
            None,
            arrays.get("points"),
            [moments for moments in found if moments is not None],
            header["measured"],
            [arrays[f"scores{k}"] for k in range(header["scores"])],
            header["judged"],
            header.get("digests", {}),
            self.write,
        )

    def write(self, progress: Progress) -> None:
        """Replace the file."""
        look, sums = progress.look, []
        sizes = np.array([look.sizes[number][:2] for number in range(len(look.sizes))])
        arrays: dict[str, Any] = {"rows": look.rows, "keys": look.keys, "places": look.places, "sizes": sizes}
        if progress.points is not None:
            arrays["points"] = progress.points
        for k, moments in enumerate(progress.moments):
            numbers, held = encoded_moments(moments, f"moments{k}.")
            sums.append(numbers)
            arrays |= held
        arrays |= {f"scores{k}": scores for k, scores in enumerate(progress.scores)}
        counts = {"measured": progress.measured, "judged": progress.judged, "scores": len(progress.scores)}
        header = {"identity": self.identity, "seed": progress.seed, "digests": progress.digests, "sums": sums, **counts}
        write_model(self.path, header, arrays)

    def remove(self) -> None:
        """Delete the file: the fit is complete."""
        self.path.unlink(missing_ok=True)
