"""Settings that `mercer.select` finds for denoising, on data that were not used to choose its rules."""

from functools import partial

from benchmarks.suite.plan import Objective, Solver, as_found
from benchmarks.suite.selection import judged, peer
from benchmarks.suite.selection_sets import denoising_cases

OBJECTIVE = Objective(
    name="selection_denoising",
    question="by how much does the squared error of noisy rows fall, by default and with selected settings?",
    bar="on average, at least .5 of the way from the default to the best setting gained, in at most 15 fits",
    datasets=denoising_cases(),
    solvers=[peer("denoising"), Solver("mercer.select", lambda case: partial(judged, "denoising", case))],
    quality=as_found,
    rounds=0,
    default=False,
    means=True,
)
