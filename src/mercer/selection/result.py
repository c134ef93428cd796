"""`Selection`: the settings that were found, with all that were compared."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from mercer.criteria.judged import Judged

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Selection:
    """The settings that `mercer.select` found, with all candidates and their scores.

    Parameters
    ----------
    purpose : str
        What the settings are for.
    estimator : estimator
        An estimator with these settings, ready to fit.
    table : pandas.DataFrame or list of dict
        One row per candidate, the best first, with the entries kernel, gamma, width (gamma as a multiple of the gamma
        of the median distance), n_components, standardize, score, standard_error and chosen. A list where pandas is not
        installed. A higher score is better.
    why : str
        The choice and its reason in words.
    measured : str
        What the score measures.
    n_rows : int
        Number of rows that were looked at.

    See Also
    --------
    select : Chooses kernel, width and number of components.
    mercer.plots.selection : Scores of all candidates for a setting.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mercer
    >>> found = mercer.select(load_iris().data, random_state=0)
    >>> model = found.estimator.fit(load_iris().data)
    >>> print(type(model).__name__, len(found.table) > 20)
    KernelPCA True
    """

    purpose: str
    estimator: Any
    table: Any
    why: str
    measured: str
    n_rows: int

    def __repr__(self) -> str:
        return f"Selection(purpose={self.purpose!r}, estimator={self.estimator!r})\n{self.why}"

    def __sklearn_clone__(self) -> "Selection":
        return Selection(self.purpose, clone(self.estimator), self.table, self.why, self.measured, self.n_rows)

    def plot(self, figure: "Figure | None" = None) -> "Figure":
        """Draw the score over the width, one line per number of components, with the choice marked.

        Parameters
        ----------
        figure : matplotlib.figure.Figure or None, default=None
            The figure to draw in. None: a new one, which needs no display.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; `figure.savefig(path)` writes it to a file.
        """
        from mercer.plots import selection  # matplotlib is needed only here

        return selection(self, figure=figure)


def records_of(judged: Judged) -> list[dict[str, Any]]:
    """Return one record per candidate, the best first."""
    order = sorted(range(len(judged.candidates)), key=lambda i: (-judged.scores[i], i))
    return [_record(judged, i) for i in order]


def _record(judged: Judged, i: int) -> dict[str, Any]:
    candidate = judged.candidates[i]
    family = candidate.family
    return {
        "kernel": family.kernel,
        "gamma": candidate.gamma,
        "width": family.width,
        "n_components": candidate.n_components,
        "standardize": family.standardize,
        "score": float(judged.scores[i]),
        "standard_error": float(judged.errors[i]),
        "chosen": i == judged.chosen,
    }


def table_of(judged: Judged) -> Any:
    """Return the records as a data frame, or as they are where pandas is not installed."""
    records = records_of(judged)
    try:
        import pandas as pd
    except ImportError:
        return records
    return pd.DataFrame.from_records(records)
