"""Exact kernel PCA with the tiles on a cluster: the driver runs the same eigensolver as on one machine."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from mercer.arrays import Array, Points
from mercer.dask.checkpoints import Journal, digest, same_text
from mercer.dask.cluster import Here, Workers
from mercer.dask.cluster_tiles import ClusterTiles, Costs
from mercer.kernels.base import Kernel
from mercer.kernels.operator import CentredOperator
from mercer.solvers.exact.eigen import Spectrum, choose_solver
from mercer.solvers.exact.fit import (
    ExactPlan,
    Fit,
    eigenpairs,
    finished,
    fit_exact,
    fit_tiles,
    float32_pays,
    loses_sums,
)


def solver_on(
    runs: Here | Workers, costs: Costs, checkpoint: str | PathLike[str] | None
) -> Callable[[Kernel, Points, ExactPlan], Fit]:
    """Return a function that stands for `fit_exact` and lets the cluster visit the tiles."""
    return partial(fit_exact, by_tiles=partial(_fit_tiles, runs, costs, checkpoint))


def _fit_tiles(
    runs: Here | Workers,
    costs: Costs,
    checkpoint: str | PathLike[str] | None,
    kernel: Kernel,
    X: Array,
    points: Array,
    plan: ExactPlan,
    noise: float = 0.0,
) -> Fit:
    if _is_small(kernel, X, plan):  # quicker than to send anything
        return fit_tiles(kernel, X, points, plan, noise=noise)
    journal = None
    if checkpoint is not None:
        plain = replace(plan.options, rng=None)
        known = (same_text(kernel), np.dtype(plan.dtype).name, plain, plan.n_components, plan.center)
        journal = Journal(checkpoint, digest(X, *known))
    with ExitStack() as ended:
        place = partial(_operator, ended, runs, kernel, X, costs, journal, plan.center)
        operator, spectrum = _solved(place, kernel, X, plan, costs)
        if loses_sums(operator, spectrum):
            operator, spectrum = _solved(place, kernel, X, replace(plan, dtype=np.float64), costs)
        fit = finished(kernel, points, operator, spectrum, plan.drop_zeros, noise)
    if journal is not None:
        journal.remove()
    return fit


def _solved(
    place: Callable[..., CentredOperator], kernel: Kernel, X: Array, plan: ExactPlan, costs: Costs
) -> tuple[CentredOperator, Spectrum]:
    """Return the operator and its eigenpairs."""
    operator, rough = _operators(place, plan.dtype, float32_pays(kernel, X, plan.n_components, plan.options))
    source = _tiles_of(rough or operator)
    costs.kept, costs.tile_bytes = source.held, source.bytes  # of the tiles that most passes visit
    options = replace(plan.options, positive=kernel.positive, costly=not costs.kept, rough=rough)
    return operator, eigenpairs(kernel, X, operator, replace(plan, options=options))


def _is_small(kernel: Kernel, X: Array, plan: ExactPlan) -> bool:
    """Tell whether this process does it, with the whole matrix."""
    pairs = 1 if isinstance(plan.n_components, float) else plan.n_components
    return choose_solver(plan.options.solver, len(X), pairs, kernel.positive) == "dense"


def _operator(
    ended: ExitStack,
    runs: Here | Workers,
    kernel: Kernel,
    X: Array,
    costs: Costs,
    journal: Journal | None,
    center: bool,
    dtype: Any,
    keep: bool = True,
) -> CentredOperator:
    """Return the centred matrix, whose tiles the workers keep until `ended` is closed, if they keep them."""
    tiles = ClusterTiles(runs, kernel, X, dtype, costs, journal, keep)
    ended.callback(tiles.release)
    return CentredOperator(tiles, kernel.diagonal(X), center=center)


def _operators(
    place: Callable[..., CentredOperator], dtype: Any, halves: bool
) -> tuple[CentredOperator, CentredOperator | None]:
    """Return the operator, and the one with kernel values in float32 that most passes use, if there is one.

    There is one where the tiles of the first do not fit in memory, or where `halves` says that it saves time. Then the
    tiles of the first are needed once, and are not kept.
    """
    operator = place(dtype)
    if operator.dtype != np.float64 or (_tiles_of(operator).held and not halves):
        return operator, None
    rough = place(np.float32)
    if rough.dtype != np.float32:
        return operator, None
    return place(dtype, keep=False), rough


def _tiles_of(operator: CentredOperator) -> ClusterTiles:
    assert isinstance(operator.source, ClusterTiles)
    return operator.source
