"""Pre-images located by their distances to neighbours [Kwok and Tsang 2004].

The distances of P to mapped neighbours are known, the kernel turns them into distances in input space, and a
point with given distances to given points is found by linear algebra: no iteration, no local optimum.
"""

from functools import singledispatch

import numpy as np

from mercer.arrays import Array, is_sparse
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear, Polynomial
from mercer.kernels.threads import TILE_BYTES, available_threads, row_slices, run_over_rows
from mercer.preimage.anchors import Anchors, dense_rows, nearest
from mercer.preimage.target import components, target_norm

_SMALLEST = 1e-12  # smallest kernel value: keeps the logarithm finite for rows that are far away
_CANDIDATES = 3  # candidates per neighbour
_PRODUCTS = 20  # of numbers, for each entry of k rows and each of k columns, that singular values take
_RANK = 1e-4  # relative singular value; the neighbours do not span directions below it


@singledispatch
def input_distances(kernel: Kernel, squared: Array, own: Array, target: Array) -> Array:
    """Return squared distances in input space from those in feature space, (q, k).

    `squared` is |phi(x_j) - P|^2 and `own` k(x_j, x_j), both (q, k); `target` is |P|^2, (q, 1).
    """
    raise ValueError(
        f"preimage='kwok' needs kernel='rbf', 'linear' or 'poly'; this model has kernel={kernel.name!r}. "
        "Use 'auto', 'gradient' (smooth kernels) or 'ridge' (any)."
    )


@input_distances.register
def _(kernel: RBF, squared: Array, own: Array, target: Array) -> Array:
    _check_gamma(kernel.gamma)
    # |phi(z) - phi(x)|^2 = 2 - 2 exp(-gamma |z - x|^2), with P in the place of phi(z)
    return np.asarray(-np.log(np.clip(1.0 - 0.5 * squared, _SMALLEST, 1.0)) / kernel.gamma)


@input_distances.register
def _(kernel: Linear, squared: Array, own: Array, target: Array) -> Array:
    return np.maximum(squared, 0.0)


@input_distances.register
def _(kernel: Polynomial, squared: Array, own: Array, target: Array) -> Array:
    _check_gamma(kernel.gamma)
    inner = 0.5 * (own + target - squared)  # <phi(x_j), P>
    roots = [_root(values, kernel.degree) for values in (own, inner, target)]  # each gamma x . y + coef0
    return np.maximum(roots[0] - 2.0 * roots[1] + roots[2], 0.0) / kernel.gamma


def _check_gamma(gamma: float) -> None:
    if gamma <= 0:
        raise ValueError(f"preimage='kwok' needs gamma > 0; with gamma={gamma:g} the kernel ignores distances.")


def _root(values: Array, degree: float) -> Array:
    """Invert the power: with its sign for odd degrees; for others the base is not negative."""
    modulus = np.abs(values) if degree % 2 == 1 else np.maximum(values, 0.0)
    return np.asarray(np.copysign(modulus ** (1.0 / degree), values if degree % 2 == 1 else 1.0))


def _check_invertible(kernel: Kernel, anchors: Anchors) -> None:
    """Refuse an even power, which loses the sign, unless gamma x . y + coef0 cannot be negative."""
    if not isinstance(kernel, Polynomial) or kernel.degree % 2 != 0:
        return
    stored = anchors.points.data if is_sparse(anchors.points) else anchors.points
    if kernel.coef0 < 0 or (stored.size and stored.min() < 0):
        raise ValueError(
            f"preimage='kwok' inverts a polynomial kernel of even degree ({kernel.degree:g}) only where coef0 "
            "and all features are non-negative. Use preimage='gradient', or an odd degree."
        )


def kwok(
    expansion: Expansion, scores: Array, anchors: Anchors, *, n_neighbors: int = 10, rank_tol: float = _RANK
) -> Array:
    """Return the points whose distances to their nearest anchors are those of P.

    Each lies in the plane through its `n_neighbors` neighbours; directions whose extent is less than
    `rank_tol` of the widest one are not used, because they would magnify errors of the distances.
    """
    _check_invertible(expansion.kernel, anchors)
    near, squared = nearest(expansion, scores, anchors, n_neighbors, _CANDIDATES * n_neighbors)
    own = expansion.kernel.diagonal(anchors.points)[near]
    target = target_norm(expansion, components(expansion, scores))[:, None]
    distances = input_distances(expansion.kernel, squared, own, target)
    out = np.empty((len(scores), anchors.points.shape[1]))

    def work(rows: slice) -> None:
        flat = dense_rows(anchors.points, near[rows].ravel()).astype(np.float64, copy=False)
        out[rows] = locate(flat.reshape(*near[rows].shape, -1), distances[rows], rank_tol)

    k, threads = near.shape[1], available_threads()
    slices = row_slices(len(out), 5 * k * out.shape[1] * out.itemsize, TILE_BYTES // threads)
    run_over_rows(work, slices, _PRODUCTS * k * k * out.size, threads)
    return out


def locate(neighbours: Array, squared: Array, rank_tol: float = _RANK) -> Array:
    """Return the points (q, d) with given squared distances (q, k) to given neighbours (q, k, d).

    With neighbours v_j around their mean, |v_j|^2 - d_j^2 = 2 v_j . z - |z|^2. The columns of V sum to zero, so
    V^+ removes the part that is the same for all j: z = 1/2 V^+ (|v|^2 - d^2) [Kwok and Tsang 2004].
    """
    centre = neighbours.mean(axis=1)
    around = neighbours - centre[:, None]
    radii = np.einsum("qkd,qkd->qk", around, around)
    shift = 0.5 * np.einsum("qdk,qk->qd", np.linalg.pinv(around, rcond=rank_tol), radii - squared)
    # inconsistent distances can move a point far away; at distance d_j from v_j it is within |v_j| + d_j
    reach = (np.sqrt(radii) + np.sqrt(squared)).min(axis=1)
    length = np.linalg.norm(shift, axis=1)
    shrink = np.divide(reach, length, out=np.ones_like(length), where=length > reach)
    return np.asarray(centre + shrink[:, None] * shift)
