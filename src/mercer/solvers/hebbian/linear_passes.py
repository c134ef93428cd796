"""Passes of Hebbian learning over a fixed set of rows, and the model that a run has found."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array, IntArray, Points, n_rows
from mercer.engine.gains import Gain
from mercer.engine.principal_axes import principal_axes
from mercer.engine.row_blocks import Rows, less_mean
from mercer.events import SILENT, Channel
from mercer.expansion.build import in_input_space
from mercer.expansion.model import Expansion
from mercer.kernels.threads import one_blas_thread, row_slices
from mercer.solvers.hebbian.guard import DivergedError
from mercer.solvers.hebbian.linear_blocks import LinearState, StepOptions, learn

_ROUNDING = 1e-10  # share of the total; smaller variances are too near to rounding for a relative accuracy


@dataclass(frozen=True)
class Certificate:
    """Measures of the weights from one reading of all rows."""

    second_moment: Array  # (r, r), of the outputs
    residual: float  # largest |C q - lambda q| / lambda among the principal axes q


def count_rows(state: LinearState, X: Points, center: bool) -> None:
    """Store mean, number and total variation of a fixed set of rows in the state."""
    state.mean = mean_row(X) if center else np.zeros_like(state.mean)
    state.n, state.total, state.quartic = n_rows(X), 0.0, 0.0
    for rows in _blocks(X, state.mean):
        state.total += float(rows.norms.sum())
        state.quartic += float(rows.norms @ rows.norms)


def certify(state: LinearState, X: Points, center: bool) -> Certificate:
    """Compute the outputs' second moment over all rows, and how far the principal axes are from eigenvectors."""
    r = len(state.W)
    moment, image = np.zeros((r, r)), np.zeros_like(state.W)  # sums of y y^T and of y x^T
    for rows in _blocks(X, state.mean):
        Y = rows.against(state.W)
        moment += Y.T @ Y
        image += rows.combined(np.ascontiguousarray(Y.T))
    if not np.isfinite(image).all():
        return Certificate(np.zeros((r, r)), np.inf)
    degrees = max(state.n - center, 1)
    axes = principal_axes(state.W, moment / degrees)
    away = axes.mixing @ image / degrees - axes.variances[:, None] * axes.components
    scale = np.maximum(axes.variances, _ROUNDING * state.total / degrees)
    residuals = np.divide(np.linalg.norm(away, axis=1), scale, out=np.zeros(r), where=scale > 0)
    return Certificate(moment / degrees, float(residuals.max()))


@dataclass(frozen=True)
class Outcome:
    """How passes over a fixed set ended."""

    passes: int
    residual: float
    diverged: bool = False


def run_passes(
    state: LinearState,
    X: Points,
    gain: Gain,
    options: StepOptions,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.RandomState | None,  # None: rows in their order
    channel: Channel = SILENT,
    outside: float = 0.0,  # sum of the squared lengths that the features lack
) -> Outcome:
    """Learn in passes until the residual is at most tol > 0, or a block diverges for any gain.

    Then the state's second moment and variation are those of all rows, with the weights as they are.
    """
    center = options.center
    with one_blas_thread():  # the products are small, and idle BLAS threads would use processor time
        count_rows(state, X, center)
        done, found, diverged = 0, None, False
        while done < max_iter and not diverged and not (found is not None and found.residual <= tol):
            try:
                for rows in _in_order(X, None if rng is None else rng.permutation(n_rows(X))):
                    learn(state, rows, gain, options, counted=True)
            except DivergedError:
                diverged = True
            done += 1
            if tol > 0 or diverged or done == max_iter:
                found = certify(state, X, center)
            channel.emit("Hebbian passes", done, max_iter, None if found is None else found.residual)
    assert found is not None
    state.weight = max(state.weight, 1.0)
    state.second_moment, state.frame = found.second_moment, None
    state.energy = (state.total + outside) / max(state.n - center, 1) * state.weight
    return Outcome(done, found.residual, diverged)


@dataclass(frozen=True)
class Presented:
    """What a model shows of a state; late rows of a stream count more in all variances, also in their total."""

    components: Array  # (r, p), the weights or the principal axes of their span
    eigenvalues: Array  # (r,)
    trace: float  # the total that the eigenvalues are shares of


def presented(state: LinearState, center: bool, orthonormal: bool) -> Presented:
    """Return the weights, or the principal axes of their span, with eigenvalues and their total."""
    components, variances = state.W.copy(), np.diag(state.second_moment)
    if orthonormal:
        axes = principal_axes(state.W, state.second_moment)
        components, variances = axes.components, axes.variances
    degrees = max(state.n - center, 0)
    eigenvalues, trace = variances * degrees, state.variation * degrees
    if orthonormal and eigenvalues.sum() > trace:  # by rounding
        eigenvalues = eigenvalues * (trace / eigenvalues.sum())
    return Presented(components, eigenvalues, trace)


def linear_expansion(state: LinearState, center: bool, orthonormal: bool) -> Expansion:
    """Return x -> W (x - mean) as an expansion on the weights and the mean themselves."""
    model = presented(state, center, orthonormal)
    mean = state.mean if center else np.zeros_like(state.mean)
    return in_input_space(model.components, mean, model.eigenvalues, n_seen=state.n, trace=model.trace, center=center)


def mean_row(X: Points) -> Array:
    """Return the mean row, computed relative to the first row: accurate for data far from the origin."""
    first = np.asarray(X[:1].toarray() if hasattr(X, "toarray") else X[:1], np.float64).ravel()
    total = np.zeros_like(first)
    for rows in row_slices(n_rows(X), 8 * X.shape[1]):
        part = X[rows]
        if hasattr(part, "toarray"):
            total += np.asarray(part.sum(axis=0, dtype=np.float64)).ravel() - part.shape[0] * first
        else:
            total += (part - first).sum(axis=0)
    return np.asarray(first + total / n_rows(X))


def _blocks(X: Points, mean: Array) -> Iterator[Rows]:
    for rows in row_slices(n_rows(X), 8 * X.shape[1]):
        yield less_mean(X[rows], mean)


def _in_order(X: Points, order: IntArray | None) -> Iterator[Points]:
    if order is None:
        yield X
        return
    for rows in row_slices(len(order), 8 * X.shape[1]):
        yield X[order[rows]]
