"""The reason of a choice in words."""

import math

from mercer.criteria.judged import Judged
from mercer.estimators.chosen import MANY_ROWS

_NOTHING = 0.005  # a share of the variation that is told as 0 %
_LITTLE = 0.25  # share of the variation that is not predicted, up to which nothing needs to be said about it
_CELLS = "predicts {score:.0%} of the variation of hidden cells"
_DID = {
    "reconstruction": _CELLS,
    "denoising": f"{_CELLS}, and noise cannot be predicted",
    "features": _CELLS,
    "outliers": "has a mean rank of {score:.2f} (1: always the best) in finding pretended outliers",
}

_AMONG_TRUSTED = " The choice is made among few settings that were good on many other tables."


def reason(judged: Judged, purpose: str, n_rows: int, *, few: bool = False, note: str = "") -> str:
    """Return two sentences, and further ones where columns are scaled or not everything was looked at."""
    candidate, best = judged.candidate, _best_of_family(judged)
    what = str(candidate)
    who = "it" if best == judged.chosen else f"with {_counted(judged.candidates[best].n_components)} it"
    text = f"{what[0].upper()}{what[1:]}: {who} {_DID[purpose].format(score=_rounded_down(_shown(judged, best)))}."
    if candidate.family.standardize is not False:
        text += f" Columns are scaled (standardize={candidate.family.standardize!r})."
    return text + _beside_linear(judged, purpose, best) + _notes(judged, purpose, n_rows, few, note)


def _best_of_family(judged: Judged) -> int:
    """Return the best candidate with the chosen kernel; for features another one, with more components, is chosen."""
    family = judged.candidate.family
    own = [i for i, candidate in enumerate(judged.candidates) if candidate.family == family]
    return max(own, key=lambda i: (judged.scores[i], i == judged.chosen))


def _beside_linear(judged: Judged, purpose: str, best: int) -> str:
    linear = judged.best_linear
    if linear is None or all(candidate.family.kernel == "linear" for candidate in judged.candidates):
        return ""  # there is nothing to compare with
    if purpose != "outliers" and judged.scores.max() < _NOTHING:
        return " No candidate predicts them better than the means of the columns do."
    what = "finds them" if purpose == "outliers" else "explains the held-out rows"
    if judged.candidate.family.kernel == "linear":
        return f" A kernel does not help here: linear PCA {what} as well as any."
    digits = ".2f" if purpose == "outliers" else ".3f"
    score = format(_shown(judged, linear), digits)
    if judged.scores[linear] >= judged.scores[best] - judged.errors[best]:
        return f" Linear PCA {what} about as well (score {score})."
    count = _counted(judged.candidates[linear].n_components)
    return f" The best linear PCA, with {count}, has the score {score} instead of {_shown(judged, best):{digits}}."


def _shown(judged: Judged, i: int) -> float:
    """Return a score as it is told: one below 0 is as useless as 0."""
    return max(float(judged.scores[i]), 0.0)


def _rounded_down(score: float) -> float:
    """Return whole percents that are not more than the score: 99.5 % is not told as 100 %."""
    return math.floor(100.0 * score + 1e-6) / 100.0


def _counted(number: int) -> str:
    return f"{number} component{'' if number == 1 else 's'}"


def _taken_for_noise(judged: Judged) -> str:
    """Say what denoising removes: signal, too, where columns tell little about each other."""
    unpredicted = 1.0 - _rounded_down(_shown(judged, judged.chosen))
    if unpredicted < _LITTLE:
        return ""
    return f" The other {unpredicted:.0%} count as noise: rows with much less noise than that lose more than they gain."


def _notes(judged: Judged, purpose: str, n_rows: int, few: bool, note: str) -> str:
    text = _taken_for_noise(judged) if purpose == "denoising" else note
    if few and judged.scores[judged.chosen] < judged.scores.max():
        text = _AMONG_TRUSTED + text
    if n_rows > MANY_ROWS and judged.candidate.family.kernel != "linear":
        text += " The model has landmarks, because an exact one of so many rows would take long."
    if judged.n_rows < n_rows:
        text += f" {judged.n_rows:,} of {n_rows:,} rows were looked at."
    if judged.skipped:
        were = "kernel was" if judged.skipped == 1 else "kernels were"
        text += f" {judged.skipped} {were} not tried, because the time was over."
    return text
