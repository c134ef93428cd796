"""`select`: which kernel, how wide, and how many components, from the rows alone."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from mercer.arrays import Array, is_sparse, varying_columns
from mercer.criteria.dominant_column import warn_of_one_column
from mercer.criteria.judged import FEWEST_ROWS, Judged, Watch
from mercer.estimators.chosen import MANY_ROWS
from mercer.estimators.validation import check_table, generator
from mercer.events import Channel
from mercer.progress import channel_to
from mercer.selection.given import grid_of
from mercer.selection.purposes import PURPOSES, purpose_of
from mercer.selection.reasons import reason
from mercer.selection.result import Selection, table_of


def select(
    X: Any,
    purpose: str = "reconstruction",
    *,
    candidates: Mapping[str, Sequence[Any]] | None = None,
    contaminated: bool | None = None,
    random_state: Any = None,
    seconds: float | None = None,
    verbose: bool | int = False,
) -> Selection:
    """Choose the kernel, its width and the number of components from the rows, without labels.

    For "reconstruction", "denoising" and "features", candidates predict hidden cells of rows that they were not fitted
    to [batson2019]_. This error, in the space of the rows, can be compared between kernels and grows again with too
    many components. For "outliers", candidates find pretended outliers. Linear PCA is always compared.

    For "reconstruction" and "denoising" the best candidate is chosen, and linear PCA where no kernel is better by more
    than one standard error. For "features" and "outliers" no error tells how good a setting is without labels; there
    the choice is made among few settings that were good on many other tables. Where `candidates` has none of these, it
    is made among those nearest to them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, at least 20. Of more than 500 rows, 500 random ones are looked at. Equal rows count once, because a copy
        of a row that a model has learned tells nothing about new rows; so at least 20 rows must be different. For
        outliers there may be fewer: then all rows are looked at as they are. For "reconstruction" and "denoising"
        columns are taken as they are, and there is a warning if one of them has nearly all of the variance.
    purpose : {"reconstruction", "denoising", "features", "outliers"}, default="reconstruction"
        What the model is for. "reconstruction" and "denoising": rows are recovered from their scores, and noise that is
        independent from cell to cell is left out; both use the same criterion. "features": scores are the input of
        another method; the scaling and one of the widths 1/4 and 1 are chosen by the same criterion, with as many
        components as there are candidates for, since later methods can ignore what they do not need. "outliers": a
        `KernelOutlierDetector`.
    candidates : mapping or None, default=None
        What to compare, by lists for some of the keys "kernel" ("linear", "rbf", and "poly" for outliers), "width"
        (multiples of the gamma of the median distance), "gamma" (instead of widths), "n_components" and, for features
        and outliers, "standardize". None: widths from 1/64 to 64, 1 to 64 components, and all kernels and scalings that
        the purpose allows. More components than a third of the rows that models learn from are not tried: of 500 rows
        and more these are 400, so at most 133. For outliers it is a third of all rows that are looked at, at most 166.
    contaminated : bool or None, default=None
        Only for outliers: whether outliers are among these rows. The rows do not tell it, and it decides what is best.
        False: many components, which describe clean rows best. True: the detector's default, because many components
        describe a group of outliers, too, and no other rule was better on tables that were kept apart. None: nobody
        knows. With 16 columns and more that are not constant, many components, and every model leaves out a twentieth
        of its rows (`trim`); with fewer columns, the detector's default.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for drawing rows, hidden cells and pretended outliers. Pass an int for the same result in each
        call.
    seconds : float or None, default=None
        Time after which no further kernel is tried; the most likely ones come first, and at least two are tried, the
        linear and a Gaussian one. None: all are tried, which takes about as long as some tens of fits to 500 rows.
    verbose : bool or int, default=False
        Show the kernels as they are compared. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line
        per kernel.

    Returns
    -------
    Selection
        The settings as an unfitted `estimator`, the `table` of all candidates, and the reason in words (`why`). For
        more than 10,000 rows the model of a Gaussian or polynomial kernel has landmarks (`LandmarkKernelPCA`).

    Raises
    ------
    TypeError
        If X is sparse, or `candidates` is not a mapping.
    ValueError
        If there are fewer than 20 rows, or only one column or fewer than 20 different rows where cells are hidden, if
        all rows are equal, if X contains NaN or infinity, if `purpose` or `candidates` are not among the allowed ones,
        if `contaminated` is given for another purpose than "outliers", or if `seconds` is negative.

    See Also
    --------
    Selection : What `mercer.select` returns.
    KernelPCA : Exact kernel PCA of rows in memory.
    mercer.plots.selection : Scores of all candidates for a setting.

    References
    ----------
    .. [batson2019] J. Batson and L. Royer, Noise2Self: blind denoising by self-supervision, International Conference on
       Machine Learning, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> angle = np.random.default_rng(0).uniform(0, 6.3, 300)
    >>> curve = np.column_stack([np.sin(k * angle + k) for k in range(1, 9)])
    >>> noisy = curve + 0.2 * np.random.default_rng(1).standard_normal(curve.shape)
    >>> found = mercer.select(noisy, purpose="denoising", random_state=0)
    >>> found.estimator.kernel
    'rbf'
    >>> clean = mercer.denoise(noisy, found.estimator)
    """
    return compared(
        X,
        purpose,
        channel_to((), verbose),
        candidates=candidates,
        contaminated=contaminated,
        random_state=random_state,
        seconds=seconds,
    )


def compared(
    X: Any,
    purpose: str,
    channel: Channel,
    *,
    candidates: Mapping[str, Sequence[Any]] | None = None,
    contaminated: bool | None = None,
    random_state: Any = None,
    seconds: float | None = None,
) -> Selection:
    """Return what `select` does, and tell the channel about each kernel."""
    if not isinstance(purpose, str) or purpose not in PURPOSES:
        raise ValueError(f"purpose must be one of {', '.join(map(repr, PURPOSES))}; got {purpose!r}.")
    contaminated = _checked_contaminated(contaminated, purpose)
    grid, watch = grid_of(purpose, PURPOSES[purpose].grid, candidates), Watch(_checked_seconds(seconds))
    rows = _checked(X, purpose)
    if purpose in ("reconstruction", "denoising"):
        warn_of_one_column(rows)
    how = purpose_of(purpose, contaminated, int(varying_columns(rows).sum()))
    judged: Judged = how.judge(rows, grid, generator(random_state), watch=watch, channel=channel)
    estimator = how.made(judged, len(rows) > MANY_ROWS)
    return Selection(
        purpose,
        estimator,
        table_of(judged),
        reason(judged, purpose, len(rows), among=how.among(judged), note=how.note(judged)),
        how.measured,
        judged.n_rows,
    )


def _checked_contaminated(contaminated: Any, purpose: str) -> bool | None:
    if contaminated not in (None, True, False):
        raise ValueError(f"contaminated must be True, False or None; got {contaminated!r}.")
    if contaminated is not None and purpose != "outliers":
        raise ValueError(f"contaminated is only for purpose='outliers'; got purpose={purpose!r}.")
    return None if contaminated is None else bool(contaminated)


def _checked_seconds(seconds: Any) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, int | float | Real) and float(seconds) >= 0:
        return float(seconds)
    raise ValueError(f"seconds must be a number that is not negative, or None for no limit; got {seconds!r}.")


def _checked(X: Any, purpose: str) -> Array:
    if is_sparse(X):
        raise TypeError("select needs dense rows, because it hides and changes single cells. Pass X.toarray().")
    rows = check_table(X)
    if len(rows) < FEWEST_ROWS:
        raise ValueError(f"select needs at least {FEWEST_ROWS} rows to compare settings; got n_samples = {len(rows)}.")
    if purpose != "outliers" and rows.shape[1] < 2:
        raise ValueError("With one column there is nothing from which a hidden cell could be predicted; pass more.")
    if (rows == rows[0]).all():
        raise ValueError("All rows are equal, so no setting is better than another.")
    return rows
