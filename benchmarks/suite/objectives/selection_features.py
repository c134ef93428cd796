"""Settings that `mercer.select` finds for features, on data that were not used to choose its rules."""

from functools import partial

from benchmarks.suite.plan import Objective, Solver, as_found
from benchmarks.suite.selection import judged, peer
from benchmarks.suite.selection_sets import feature_cases

OBJECTIVE = Objective(
    name="selection_features",
    question="how accurate are classifiers on the scores, by default and with selected settings?",
    bar="on average, at least .5 of the way from the default to the best setting gained, in at most 15 fits",
    datasets=feature_cases(),
    solvers=[peer("features"), Solver("mercer.select", lambda case: partial(judged, "features", case))],
    quality=as_found,
    rounds=0,
    default=False,
    means=True,
)
