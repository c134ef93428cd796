"""The longer part of `tracking`: all other starts, the videos of the choice, and those of the first comparison."""

from functools import partial

from benchmarks.suite.passes import figures
from benchmarks.suite.plan import Objective
from benchmarks.suite.trackers import HALF, TRACKERS, david, earlier, hard, solvers, started_otherwise
from benchmarks.suite.videos.stock import CHOOSING, JUDGING

OBJECTIVE = Objective(
    name="tracking_more",
    question="how well are objects followed through more videos, and from all other starts?",
    datasets={
        "choosing, one pass": partial(hard, CHOOSING, [1, 2, 3]),
        "validation, all other starts": partial(started_otherwise, partial(hard, JUDGING, [101])),
        "earlier videos, one pass": partial(earlier, [101, 102, 103]),
        "David, second half": partial(david, 6, slice(HALF, None)),
        "David, other starts": partial(started_otherwise, partial(david, 1)),
    },
    solvers=solvers(list(TRACKERS)),
    quality=figures,
    rounds=0,
    default=False,
)
