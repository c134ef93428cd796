"""Steps of a pre-image towards a maximum, compiled.

A pre-image y of some vectors r_v = sum_e a_ve phi(e) is moved to increase F(y) = sum_v w_v^2 <r_v, phi(y)>^2 / k(y, y),
which is [chin2007, eq. 27] for a single vector. A step leads towards the fixed point of F's gradient. The best length
of the step is found without using the rows again, because inner products with y + t step are linear in t. Serial,
without the interpreter lock.
"""

import numpy as np

from mercer.arrays import Array
from mercer.engine.reduced_points import combination, dot, products
from mercer.kernels.compiled import compiled, prefer_wide_vectors
from mercer.kernels.rbf import _exp64 as exp64

_FAST = {"contract", "reassoc", "nnan", "ninf", "nsz"}
_NO_REORDERING = {"contract", "nnan", "ninf", "nsz"}  # the exponential rounds by adding and subtracting
_LEAST = 1e-3  # where F is less than this share of its value without cancellation, the step is divided by that value
_DOUBLINGS, _HALVINGS = 5, 8


@compiled(inner=True, fastmath=_FAST)
def _heights(
    coef: Array,  # (v, N), times w_v
    values: Array,  # (N,), k(e, y)
    pull: Array,  # (N,), written: sum_v f_v a_ve
) -> tuple[float, float]:
    """Return sum_v f_v^2 with f_v = sum_e a_ve k(e, y), and its value if no terms cancelled."""
    prefer_wide_vectors()
    total, reach = 0.0, 0.0
    pull[:] = 0.0
    for v in range(len(coef)):
        row, height, size = coef[v], 0.0, 0.0
        for e in range(len(values)):
            part = row[e] * values[e]
            height += part
            size += abs(part)
        for e in range(len(values)):
            pull[e] += height * row[e]
        total += height * height
        reach += abs(height) * size
    return total, reach


@compiled(inner=True)
def _copy(source: Array, target: Array) -> None:
    """Copy a vector: values[:] = trial takes seconds to compile, for the text of its error."""
    for e in range(len(source)):
        target[e] = source[e]


@compiled(inner=True, fastmath=_NO_REORDERING)
def _gaussian_values(dots: Array, lean: Array, t: float, half: Array, half_own: float, values: Array) -> None:
    """Write the Gaussian kernel values at y + t step."""
    prefer_wide_vectors()
    for e in range(len(dots)):
        values[e] = exp64(min(dots[e] + t * lean[e] - half[e] - half_own, 0.0))


@compiled()
def climb_gaussian(
    rows: Array,  # (N, q), times sqrt(2 gamma)
    half: Array,  # (N,), half their squared norms
    coef: Array,  # (v, N), times w_v
    y: Array,  # (q,), moved
    values: Array,  # (N,), written: k(rows, y)
    most: int,
    rise: float,
) -> float:
    """Move y so that F increases, and return F(y); stop after `most` steps, or when a step raises F by a share below
    `rise`.

    The step is that of the fixed point of [Mika et al. 1999]. F never decreases.
    """
    n, q = rows.shape
    dots, lean, pull, trial, trial_pull = np.empty(n), np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
    step = np.empty(q)
    own = dot(y, y)
    products(rows, y, dots)
    _gaussian_values(dots, lean, 0.0, half, 0.5 * own, values)
    height, reach = _heights(coef, values, pull)
    t = 1.0
    for _ in range(most):
        if not height > 0.0:
            break
        combination(pull * values, rows, step)
        step -= height * y
        step /= height if height > _LEAST * reach else reach
        products(rows, step, lean)
        along, square = dot(y, step), dot(step, step)
        before, best_t = height, 0.0
        for turn in range(_DOUBLINGS + _HALVINGS):
            _gaussian_values(dots, lean, t, half, 0.5 * (own + t * (2.0 * along + t * square)), trial)
            new, new_reach = _heights(coef, trial, trial_pull)
            if new > height:
                height, reach, best_t = new, new_reach, t
                _copy(trial, values)
                _copy(trial_pull, pull)
                if turn >= _DOUBLINGS or t < 1.0:
                    break
                t *= 2.0
            elif best_t > 0.0:
                break
            else:
                t *= 0.5
        if best_t == 0.0:
            break
        y += best_t * step
        dots += best_t * lean
        own = dot(y, y)
        t = min(max(best_t, 2.0**-_HALVINGS), 1.0)
        if height - before < rise * height:
            break
    return height


@compiled(inner=True, fastmath=_FAST)
def _power_values(base: Array, degree: float, values: Array, slopes: Array) -> None:
    """Write base^degree, and base^(degree - 1), which the derivative needs."""
    prefer_wide_vectors()
    for e in range(len(base)):
        if degree == 1.0:
            slopes[e] = 1.0
        elif degree == 2.0:
            slopes[e] = base[e]
        elif degree == 3.0:
            slopes[e] = base[e] * base[e]
        else:
            slopes[e] = base[e] ** (degree - 1.0)
        values[e] = slopes[e] * base[e]


@compiled()
def climb_power(
    rows: Array,  # (N, q), times sqrt(gamma)
    coef0: float,
    degree: float,
    coef: Array,  # (v, N), times w_v
    y: Array,  # (q,), moved
    values: Array,  # (N,), written: k(rows, y)
    most: int,
    rise: float,
) -> float:
    """Move y so that F increases, for k(x, y) = (x . y + coef0)^degree, and return F(y); the rest as for the Gaussian.

    F is stationary where y = (y . y + coef0) sum_e pull_e base_e^(degree - 1) e / sum_v f_v^2.
    """
    n, q = rows.shape
    dots, lean, pull, trial_pull = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    slopes, trial, trial_slopes, step = np.empty(n), np.empty(n), np.empty(n), np.empty(q)
    own = dot(y, y)
    products(rows, y, dots)
    _power_values(dots + coef0, degree, values, slopes)
    squares, reach = _heights(coef, values, pull)
    height = squares / (own + coef0) ** degree if own + coef0 > 0.0 else 0.0
    t = 1.0
    for _ in range(most):
        if not (height > 0.0 and np.isfinite(height)):
            break
        combination(pull * slopes, rows, step)
        step *= own + coef0
        step -= squares * y
        step /= squares if squares > _LEAST * reach else reach
        products(rows, step, lean)
        along, square = dot(y, step), dot(step, step)
        before, best_t = height, 0.0
        for turn in range(_DOUBLINGS + _HALVINGS):
            base_own = own + t * (2.0 * along + t * square) + coef0
            _power_values(dots + t * lean + coef0, degree, trial, trial_slopes)
            new_squares, new_reach = _heights(coef, trial, trial_pull)
            new = new_squares / base_own**degree if base_own > 0.0 else 0.0
            if new > height and np.isfinite(new):
                height, squares, reach, best_t = new, new_squares, new_reach, t
                _copy(trial, values)
                _copy(trial_slopes, slopes)
                _copy(trial_pull, pull)
                if turn >= _DOUBLINGS or t < 1.0:
                    break
                t *= 2.0
            elif best_t > 0.0:
                break
            else:
                t *= 0.5
        if best_t == 0.0:
            break
        y += best_t * step
        dots += best_t * lean
        own = dot(y, y)
        t = min(max(best_t, 2.0**-_HALVINGS), 1.0)
        if height - before < rise * height:
            break
    return height
