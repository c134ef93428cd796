"""Settings that `mercer.select` finds for outliers, on tables of KEEL that were kept apart when rules were chosen."""

from functools import partial

from benchmarks.suite.keel_tables import outlier_cases
from benchmarks.suite.plan import Objective, Solver, as_found
from benchmarks.suite.selection import beside_the_default, peer

OBJECTIVE = Objective(
    name="selection_tables",
    question="how high is the average precision for outliers, by default and with selected settings?",
    bar="on average above the default, and worse by 5 % on at most one case in ten",
    datasets=outlier_cases(),
    solvers=[peer("outliers"), Solver("mercer.select", lambda case: partial(beside_the_default, case))],
    quality=as_found,
    rounds=0,
    default=False,
    means=True,
)
