"""Two states of online robust PCA in the same coordinates as one: what both have learned, by one eigendecomposition."""

from dataclasses import replace

import numpy as np

from mercer.engine.psi import strict_scale
from mercer.engine.robust_block import merged_root
from mercer.solvers.robust.online import ENOUGH, OnlineOptions, OnlineState, closed

_RECENT = 50  # residuals of each state from which the parameters of psi are taken again


def merged_states(first: OnlineState, second: OnlineState, options: OnlineOptions) -> OnlineState:
    """Return the state of the rows of both, with the weights that these have there; for the update "svd".

    Means, weights and scatters add up exactly, except for what 2 r directions cannot hold. The second scatter enters as
    rows about its mean whose weight is that of its rows together.
    """
    first, second = closed(first, options), closed(second, options)
    if not second.weight > 0:
        return replace(first, n=first.n + second.n)
    root, mean, weight, raised = merged_root(
        np.vstack([first.W, second.W]),
        first.mean,
        first.weight,
        second.mean[None],
        np.array([second.weight]),
        2 * options.r,
    )
    state = replace(
        first,
        W=root,
        mean=mean,
        weight=weight,
        n=first.n + second.n,
        total=first.total + second.total + raised,
        floor=max(first.floor, second.floor),
        recent=np.concatenate([first.recent[-_RECENT:], second.recent[-_RECENT:]]),
    )
    if options.automatic and len(state.recent):
        psi = options.rule.psi(state.recent, state.floor, strict_scale)
        state.beta, state.xi, state.settled = psi.beta, psi.xi, len(state.recent) >= ENOUGH
    return state
