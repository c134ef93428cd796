"""The reason of a choice in words."""

import math

from mercer.criteria.judged import Judged
from mercer.estimators.chosen import MANY_ROWS

_NOTHING = 0.005  # a share of the variation that is told as 0 %
_LITTLE = 0.25  # share of the variation that is not predicted, up to which nothing needs to be said about it
_CELLS = "predicts {percent:.0%} of the variation of hidden cells"
_DID = {
    "reconstruction": _CELLS,
    "denoising": f"{_CELLS}, and noise cannot be predicted",
    "features": _CELLS,
    "outliers": "has a mean rank of {score:.2f} (1: always the best) in finding pretended outliers",
}

_AS_WELL = 0.0005  # a difference of scores of cells that is printed as 0

_GOOD = "settings that were good on many other tables"
_AMONG_TRUSTED = f" The choice is made among {{linear}}few {_GOOD}, so a higher score did not decide."
_NEAREST = f" The choice is made among the candidates nearest to {_GOOD}, so a higher score did not decide."
NEAREST_TO_DEFAULT = (
    " The choice is made among the candidates nearest to the detector's default, so a higher score did not decide."
)
ONE_TRUSTED = " Only these settings are trusted here, so a higher score did not decide."


def reason(judged: Judged, purpose: str, n_rows: int, *, among: str = "", note: str = "") -> str:
    """Return two sentences, and further ones where columns are scaled or not everything was looked at.

    `among` tells why a higher score did not decide; it is said where there is one.
    """
    candidate = judged.candidate
    best = _best_of_family(judged) if purpose == "features" else judged.chosen
    what = str(candidate)
    who = "it" if best == judged.chosen else f"with {_counted(judged.candidates[best].n_components)} it"
    score = _shown(judged, best)
    did = _DID[purpose].format(score=score, percent=_rounded_down(score))
    text = f"{what[0].upper()}{what[1:]}: {who} {did}."
    if candidate.family.standardize is not False:
        text += f" Columns are scaled (standardize={candidate.family.standardize!r})."
    beside = _found_beside_linear if purpose == "outliers" else _explained_beside_linear
    if judged.best_linear is not None and any(one.family.kernel != "linear" for one in judged.candidates):
        text += beside(judged, judged.best_linear, best)
    if judged.scores[judged.chosen] < judged.scores.max():
        text += among
    return text + note + _notes(judged, n_rows)


def _best_of_family(judged: Judged) -> int:
    """Return the best candidate with the chosen kernel; for features one with more components is chosen.

    Later methods can ignore components that they do not need, so that the best number of them counts.
    """
    family = judged.candidate.family
    own = [i for i, candidate in enumerate(judged.candidates) if candidate.family == family]
    return max(own, key=lambda i: (judged.scores[i], i == judged.chosen))


def _explained_beside_linear(judged: Judged, linear: int, best: int) -> str:
    gain = float(judged.scores.max() - judged.scores[linear])
    useless = judged.scores[best] < _NOTHING
    if useless and judged.scores.max() < _NOTHING:
        return " No candidate predicts them better than the means of the columns do."
    text = " It predicts them no better than the means of the columns do." if useless else ""
    if judged.candidate.family.kernel != "linear":
        return text + _compared(judged, linear, best, "explains the held-out rows", ".3f")
    if gain < _AS_WELL:
        return " A kernel does not help here: linear PCA explains the held-out rows as well as any."
    error = judged.lead_error
    return f"{text} The best kernel is better by {gain:.3f}, which is not more than the standard error, {error:.3f}."


def _found_beside_linear(judged: Judged, linear: int, best: int) -> str:
    if judged.candidate.family.kernel != "linear":
        return _compared(judged, linear, best, "finds them", ".2f")
    if judged.scores[best] >= judged.scores.max():
        return " A kernel does not help here: linear PCA finds them as well as any."
    return " No kernel among which the choice is made finds them better than linear PCA."


def _compared(judged: Judged, linear: int, best: int, what: str, digits: str) -> str:
    """Compare a kernel that is chosen with the best linear candidate."""
    score, own = (format(_shown(judged, i), digits) for i in (linear, best))
    count = _counted(judged.candidates[linear].n_components)
    if float(score) > float(own):
        return f" The best linear PCA, with {count}, has a higher score, {score} instead of {own}."
    if judged.scores[linear] >= judged.scores[best] - judged.errors[best]:
        return f" Linear PCA {what} about as well (score {score})."
    return f" The best linear PCA, with {count}, has the score {score} instead of {own}."


def _shown(judged: Judged, i: int) -> float:
    """Return a score as it is told: one below 0 is as useless as 0."""
    return max(float(judged.scores[i]), 0.0)


def _rounded_down(score: float) -> float:
    """Return whole percents that are not more than the score: 99.5 % is not told as 100 %."""
    return math.floor(100.0 * score + 1e-6) / 100.0


def _counted(number: int) -> str:
    return f"{number} component{'' if number == 1 else 's'}"


def taken_for_noise(judged: Judged) -> str:
    """Say what denoising removes: signal, too, where columns tell little about each other."""
    unpredicted = 1.0 - _rounded_down(_shown(judged, judged.chosen))
    if unpredicted < _LITTLE:
        return ""
    return f" The other {unpredicted:.0%} count as noise: rows with much less noise than that lose more than they gain."


def among_few(judged: Judged) -> str:
    """Say that the choice was made among few trusted settings, or among those nearest to them."""
    linear = "linear PCA and " if judged.candidate.family.kernel == "linear" else ""
    return _AMONG_TRUSTED.format(linear=linear) if judged.trusted else _NEAREST


def _notes(judged: Judged, n_rows: int) -> str:
    text = ""
    if n_rows > MANY_ROWS and judged.candidate.family.kernel != "linear":
        text += " The model has landmarks, because an exact one of so many rows would take long."
    if judged.n_rows < n_rows:
        text += f" {judged.n_rows:,} of {n_rows:,} rows were looked at."
    if judged.skipped:
        were = "kernel was" if judged.skipped == 1 else "kernels were"
        text += f" {judged.skipped} {were} not tried, because the time was over."
    return text
