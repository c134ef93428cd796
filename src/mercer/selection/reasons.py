"""The reason of a choice in words."""

from mercer.criteria.judged import Judged

_DID = {
    "reconstruction": "predicts {score:.0%} of the variation of hidden cells",
    "denoising": "predicts {score:.0%} of the variation of hidden cells, and noise cannot be predicted",
    "features": "predicts {score:.0%} of the variation of hidden cells",
    "outliers": "has a mean rank of {score:.2f} (1: always the best) in finding pretended outliers",
}


def reason(judged: Judged, purpose: str, n_rows: int) -> str:
    """Return two sentences, and a third where not everything was looked at."""
    candidate, score = judged.candidate, judged.scores[judged.chosen]
    what = str(candidate)
    text = f"{what[0].upper()}{what[1:]}: it {_DID[purpose].format(score=max(float(score), 0.0))}."
    if candidate.family.standardize is not False:
        text += f" Columns are scaled (standardize={candidate.family.standardize!r})."
    return text + _beside_linear(judged, purpose) + _notes(judged, n_rows)


def _beside_linear(judged: Judged, purpose: str) -> str:
    linear, chosen = judged.best_linear, judged.chosen
    if linear is None or len(judged.candidates) == 1:
        return ""
    what = "finds them" if purpose == "outliers" else "explains the held-out rows"
    if judged.candidate.family.kernel == "linear":
        return f" A kernel does not help here: linear PCA {what} as well as any."
    if judged.scores[linear] >= judged.scores[chosen] - judged.errors[chosen]:
        return f" Linear PCA {what} about as well (score {judged.scores[linear]:.2f})."
    return f" The best linear PCA, with {judged.candidates[linear].n_components} components, has the score " + (
        f"{judged.scores[linear]:.2f} instead of {judged.scores[chosen]:.2f}."
    )


def _notes(judged: Judged, n_rows: int) -> str:
    text = ""
    if judged.n_rows < n_rows:
        text += f" {judged.n_rows:,} of {n_rows:,} rows were looked at."
    if judged.skipped:
        text += f" {judged.skipped} kernels were not tried, because the time was over."
    return text
