"""Objects followed through videos [chin2007, sec. V-C3], measured as the benchmark OTB does.

The defaults of `AppearanceTracker` were chosen on the stock `CHOOSING` and on the first half of David, by the rule in
docs/evidence_tracking.md; the stock `JUDGING` has other photographs, objects and people. "other starts" adds later
first frames (TRE) and wrong first boxes (SRE) for one video of each kind: three later starts and three of the twelve
wrong boxes, so that every wrong box occurs twice. `tracking_more` has all of them. Frames per second are those of one
processor.
"""

from functools import partial

from benchmarks.suite.passes import figures
from benchmarks.suite.plan import Objective
from benchmarks.suite.trackers import KERNEL, LINEAR, TRACKERS, david, hard, solvers, some_other_starts, with_threads
from benchmarks.suite.videos.stock import JUDGING

_THREADS = "David, 100 frames, 1 and 2 threads"

OBJECTIVE = Objective(
    name="tracking",
    question="how well are objects followed through videos (intersection over union of boxes)?",
    datasets={
        "validation, one pass": partial(hard, JUDGING, [101, 102, 103]),
        "validation, other starts": partial(some_other_starts, partial(hard, JUDGING, [101])),
        "David, six seeds": partial(david, 6),
        _THREADS: with_threads,
    },
    solvers=solvers(list(TRACKERS)),
    quality=figures,
    rounds=0,
    default=False,
    skip={(_THREADS, name): "compared on the other data" for name in TRACKERS if name not in (LINEAR, KERNEL)},
)
