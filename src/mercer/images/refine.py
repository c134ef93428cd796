"""The best candidate moved downhill: a few Gauss-Newton steps on the criterion of the model of appearance.

A few hundred random candidates in four dimensions leave an error in each frame. The model learns it, so that errors
add up, differently with each seed. The patch, and so its image in feature space, changes almost linearly with small
changes of the state, and the criterion is quadratic in this image, so few steps lead to its least value nearby.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mercer.arrays import Array
from mercer.images.kernel_view import KernelView
from mercer.images.linear_view import LinearView, Nearby
from mercer.images.search import Found, Judge

_STEPS = 4
_APART = 0.1  # standard deviations between a state and its neighbours, from which slopes are taken
_FARTHEST = 1.5  # standard deviations that one step goes at most
_SHARES = np.array([1.0, 0.5, 0.2])  # of a step, that are tried: farther away the patch does not change linearly
_ARRIVED = 0.05  # standard deviations; after a step that is shorter no other follows


class Valley(NamedTuple):
    """What the criterion looks like around a state."""

    model: LinearView | KernelView
    share: Array  # (r,), how much a squared score counts, of what a squared distance from the subspace counts
    hold: float  # how much a squared distance from the last place counts, in standard deviations, relative to the cost
    deviations: Array  # (4,), standard deviations of relative steps; 0 keeps a quantity as it is

    def step(self, nearby: Nearby, cost: float, from_last: Array) -> Array:
        """Return the Gauss-Newton step, (4,), in standard deviations; `from_last` is how far the state is already."""
        lighter, hold, inside = 1.0 - self.share, self.hold * cost, nearby.inside
        curvature = nearby.products - (inside * lighter) @ inside.T + hold * np.eye(len(inside))
        gradient = nearby.along - inside @ (lighter * nearby.scores) + hold * from_last
        step = -np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        return np.asarray(step * min(1.0, _FARTHEST / max(float(np.linalg.norm(step)), 1e-12)))


def refined(
    found: Found,
    valley: Valley,
    moved: Callable[[Array, Array], Array],  # state, relative steps -> states
    from_last: Callable[[Array], Array],  # state -> (4,), its relative step from the last place
    sample: Callable[[Array], Array],  # states -> patches
    judge: Judge,
) -> Found:
    """Return a candidate with a lower cost nearby, or the given one where there is none."""
    free = valley.deviations > 0
    units = np.diag(np.where(free, valley.deviations, 0.0))
    scale = np.where(free, valley.deviations, 1.0)
    for _ in range(_STEPS):
        patches = sample(moved(found.state, _APART * np.vstack([units, -units])))
        nearby = valley.model.nearby(found.patch, patches[:4], patches[4:], _APART)
        step = valley.step(nearby, found.cost, from_last(found.state) / scale)
        states = moved(found.state, _SHARES[:, None] * step * valley.deviations)
        patches, residuals, costs = judge(states)
        i = int(np.argmin(costs))
        if not costs[i] < found.cost:
            break
        found = found._replace(state=states[i], patch=patches[i], residual=float(residuals[i]), cost=float(costs[i]))
        if np.linalg.norm(step) < _ARRIVED:
            break
    return found
