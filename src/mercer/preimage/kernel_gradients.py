"""Derivatives of kernels with respect to a row: one small function per smooth kernel."""

from functools import singledispatch

import numpy as np
from sklearn.preprocessing import normalize

from mercer.arrays import Array, Points
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid

ValueAndGradient = tuple[Array, Array]  # (q,) and (q, d)


def _no_gradient(kernel: Kernel) -> ValueError:
    return ValueError(
        f"preimage='gradient' needs a smooth kernel ('linear', 'poly', 'rbf', 'sigmoid', 'cosine'); "
        f"this model has kernel={kernel.name!r}. Use 'auto' or 'ridge', which work for any kernel."
    )


@singledispatch
def weighted_sum(kernel: Kernel, Z: Array, points: Points, weights: Array) -> ValueAndGradient:
    """Return sum_i w_qi k(x_i, z_q) and its gradient in z_q; Z is (q, d), points (m, d), weights (q, m)."""
    raise _no_gradient(kernel)


@singledispatch
def self_value(kernel: Kernel, Z: Array) -> ValueAndGradient:
    """Return k(z, z) and its gradient."""
    raise _no_gradient(kernel)


def is_smooth(kernel: Kernel) -> bool:
    """Tell whether this module knows the kernel's derivatives."""
    return self_value.dispatch(type(kernel)) is not self_value.dispatch(object)


@singledispatch
def _link(kernel: Kernel, dots: Array) -> tuple[Array, Array]:
    """Return k and its derivative as functions of x . y, for kernels that are such functions."""
    raise _no_gradient(kernel)


@_link.register
def _(kernel: Linear, dots: Array) -> tuple[Array, Array]:
    return dots, np.ones_like(dots)


@_link.register
def _(kernel: Polynomial, dots: Array) -> tuple[Array, Array]:
    base = kernel.gamma * dots + kernel.coef0
    slope = base ** (kernel.degree - 1.0)
    return slope * base, kernel.degree * kernel.gamma * slope


@_link.register
def _(kernel: Sigmoid, dots: Array) -> tuple[Array, Array]:
    values = np.tanh(kernel.gamma * dots + kernel.coef0)
    return values, kernel.gamma * (1.0 - values**2)


@weighted_sum.register(Linear)
@weighted_sum.register(Polynomial)
@weighted_sum.register(Sigmoid)
def _(kernel: Kernel, Z: Array, points: Points, weights: Array) -> ValueAndGradient:
    values, slopes = _link(kernel, Linear()(Z, points))
    return np.einsum("ij,ij->i", weights, values), np.asarray((weights * slopes) @ points)


@self_value.register(Linear)
@self_value.register(Polynomial)
@self_value.register(Sigmoid)
def _(kernel: Kernel, Z: Array) -> ValueAndGradient:
    values, slopes = _link(kernel, np.einsum("ij,ij->i", Z, Z))
    return values, 2.0 * slopes[:, None] * Z


@weighted_sum.register
def _(kernel: RBF, Z: Array, points: Points, weights: Array) -> ValueAndGradient:
    pull = weights * kernel(Z, points)
    values = pull.sum(axis=1)
    return values, 2.0 * kernel.gamma * (pull @ points - values[:, None] * Z)


@weighted_sum.register
def _(kernel: Cosine, Z: Array, points: Points, weights: Array) -> ValueAndGradient:
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    directions = Z * inverse
    pull = np.asarray(weights @ normalize(points))
    values = np.einsum("ij,ij->i", pull, directions)
    return values, inverse * (pull - values[:, None] * directions)  # a zero row is not moved: no direction is better


@self_value.register(RBF)
@self_value.register(Cosine)
def _(kernel: Kernel, Z: Array) -> ValueAndGradient:
    return kernel.diagonal(Z), np.zeros_like(Z)
