"""Exact kernel PCA with the tiles on a cluster: the driver runs the same eigensolver as on one machine."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.dask.checkpoints import Journal, digest, same_text
from mercer.dask.cluster import Here, Workers
from mercer.dask.cluster_tiles import ClusterTiles, Costs
from mercer.events import Channel
from mercer.kernels.base import Kernel
from mercer.kernels.operator import CentredOperator
from mercer.kernels.tiles import available_threads
from mercer.solvers.exact.eigen import EigenOptions, choose_solver, solve, solve_share
from mercer.solvers.exact.fit import Fit, finished, fit_exact
from mercer.solvers.exact.primal import has_few_features
from mercer.solvers.exact.start import sampled_start


def solver_on(runs: Here | Workers, costs: Costs, checkpoint: str | PathLike[str] | None) -> Callable[..., Fit]:
    """Return a function that stands for `fit_exact` and lets the cluster visit the tiles."""
    return partial(_fit, runs, costs, checkpoint)


def _fit(
    runs: Here | Workers,
    costs: Costs,
    checkpoint: str | PathLike[str] | None,
    kernel: Kernel,
    X: Array,
    n_components: int | float,
    *,
    dtype: Any,
    options: EigenOptions,
    drop_zeros: bool,
    center: bool,
    n_jobs: int | None,
    channel: Channel,
) -> Fit:
    if _is_small(kernel, X, n_components, options):  # quicker than to send anything
        given: dict[str, Any] = {"dtype": dtype, "drop_zeros": drop_zeros, "center": center, "n_jobs": n_jobs}
        return fit_exact(kernel, X, n_components, options=options, channel=channel, **given)
    journal = None
    if checkpoint is not None:
        plain = replace(options, rng=None)
        known = (same_text(kernel), np.dtype(dtype).name, plain, n_components, center)
        journal = Journal(checkpoint, digest(X, *known))
    with ExitStack() as ended:
        place = partial(_operator, ended, runs, kernel, X, costs, journal, center)
        operator = place(dtype)
        options = replace(options, positive=kernel.positive, costly=not costs.kept)
        if options.costly:
            improve = partial(sampled_start, kernel=kernel, X=X, threads=available_threads(n_jobs))
            options = replace(options, improve=improve, rough=_rough(operator, place, costs))
        if isinstance(n_components, float):
            spectrum = solve_share(operator, n_components, options, channel)
        else:
            spectrum = solve(operator, n_components, options, channel)
        fit = finished(kernel, X, operator, spectrum, drop_zeros)
    if journal is not None:
        journal.remove()
    return fit


def _is_small(kernel: Kernel, X: Array, n_components: int | float, options: EigenOptions) -> bool:
    """Tell whether this process does it: by singular values of rows with few features, or with the whole matrix."""
    if options.solver == "auto" and has_few_features(kernel, X):
        return True
    pairs = 1 if isinstance(n_components, float) else n_components
    return choose_solver(options.solver, len(X), pairs, kernel.positive) == "dense"


def _operator(
    ended: ExitStack,
    runs: Here | Workers,
    kernel: Kernel,
    X: Array,
    costs: Costs,
    journal: Journal | None,
    center: bool,
    dtype: Any,
) -> CentredOperator:
    """Return the centred matrix, whose tiles the workers keep until `ended` is closed."""
    tiles = ClusterTiles(runs, kernel, X, dtype, costs, journal)
    ended.callback(tiles.release)
    return CentredOperator(tiles, kernel.diagonal(X), center=center)


def _rough(operator: CentredOperator, place: Callable[[Any], CentredOperator], costs: Costs) -> CentredOperator | None:
    """Return the operator with kernel values in float32; None where they lose too much, or are float32 anyway."""
    if operator.dtype != np.float64:
        return None
    kept = replace(costs)
    rough = place(np.float32)
    costs.kept, costs.tile_bytes = kept.kept, kept.tile_bytes  # those of the final passes
    return rough if rough.dtype == np.float32 else None
