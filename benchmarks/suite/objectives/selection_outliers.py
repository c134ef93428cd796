"""Settings that `mercer.select` finds for outliers, on data that were not used to choose its rules."""

from functools import partial

from benchmarks.suite.plan import Objective, Solver, as_found
from benchmarks.suite.selection import judged, peer
from benchmarks.suite.selection_sets import outlier_cases

OBJECTIVE = Objective(
    name="selection_outliers",
    question="how high is the average precision for outliers, by default and with selected settings?",
    bar="on average, at least .35 of the way from the default to the best setting gained, in at most 15 fits",
    datasets=outlier_cases(),
    solvers=[peer("outliers"), Solver("mercer.select", lambda case: partial(judged, "outliers", case))],
    quality=as_found,
    rounds=0,
    default=False,
    means=True,
)
