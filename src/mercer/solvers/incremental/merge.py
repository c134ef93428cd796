"""Two models of different rows, joined into the model of all of them [chin2007, eq. 11]."""

import numpy as np

from mercer.kernels.functions import Kernel
from mercer.kernels.tiles import PointBlocks
from mercer.solvers.incremental.model import IncrementalModel, StreamOptions
from mercer.solvers.incremental.update import joined, within_size


def merged(
    first: IncrementalModel, second: IncrementalModel, kernel: Kernel, options: StreamOptions
) -> IncrementalModel:
    """Return the model that saw the rows of the first and then those of the second.

    The covariance of all rows is that of [U1 S1, U2 S2, sqrt(n1 n2 / (n1 + n2)) (mean1 - mean2)]: (11) with the
    second model's scaled components instead of new rows. Then the common library is compressed.
    """
    cross = PointBlocks(kernel, second.points, np.float64).against(first.points)
    faded = first.faded(options.forgetting**second.seen)
    found = joined(faded, second.scaled(), cross, options.rank_after(first.seen + second.seen))
    return within_size(found, kernel, options)
