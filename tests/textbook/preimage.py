"""Textbook twins of the pre-image code: plain loops over the formulas, nothing from the package."""

import numpy as np

from textbook.kernel_pca import rbf as gaussian


def rbf(x, y, gamma):
    return gaussian(gamma)(x, y)


def kernel_matrix(k, A, B):
    return np.array([[k(a, b) for b in B] for a in A])


def kernel_pca(K, r, *, center=True):
    """Return coef, offset, eigenvalues, nu and mean_norm of kernel PCA by a dense eigendecomposition."""
    n = len(K)
    nu = np.full(n, 1.0 / n) if center else np.zeros(n)
    means, norm = K @ nu, nu @ K @ nu
    values, vectors = np.linalg.eigh(K - means[:, None] - means[None, :] + norm)
    order = [i for i in np.argsort(-values)[:r] if values[i] > 1e-12 * np.trace(K)]  # the rest is rounding
    coef = (vectors[:, order] / np.sqrt(values[order])).T
    if center:
        coef = coef - coef.mean(axis=1, keepdims=True)  # eigenvectors of K' sum to zero; keep that to rounding
    return coef, coef @ means, values[order], nu, norm


def reconstruction(coef, gram, nu, y):
    """Return the coefficients of P on the points, for one row of scores."""
    c = np.linalg.pinv(gram) @ y
    return [sum(c[k] * coef[k, i] for k in range(len(c))) + nu[i] for i in range(coef.shape[1])]


def residual(k, points, coef, gram, nu, y, z):
    """Return |phi(z) - P|^2 with the whole kernel matrix."""
    g = reconstruction(coef, gram, nu, y)
    m = range(len(points))
    inner = sum(g[i] * k(points[i], z) for i in m)
    norm = sum(g[i] * g[j] * k(points[i], points[j]) for i in m for j in m)
    return k(z, z) - 2.0 * inner + norm


def mika_step(points, g, z, gamma):
    """Return the next place of the plain fixed point."""
    weights = [g[i] * rbf(z, points[i], gamma) for i in range(len(points))]
    return sum(w * x for w, x in zip(weights, points, strict=True)) / sum(weights)


def kwok(neighbours, squared):
    """Return the point at given squared distances to the rows of `neighbours`, in the paper's notation."""
    n = len(neighbours)
    H = np.eye(n) - np.ones((n, n)) / n
    U, s, Vt = np.linalg.svd(neighbours.T @ H, full_matrices=False)
    q = int(np.sum(s > 1e-4 * s[0])) if s[0] > 0 else 0
    U, s, Vt = U[:, :q], s[:q], Vt[:q]
    Z = s[:, None] * Vt
    d0 = (Z**2).sum(axis=0)
    z = 0.5 * np.diag(1.0 / s) @ Vt @ H @ (d0 - squared)
    return U @ z + neighbours.mean(axis=0)


def ridge(k, S, X, alpha, s):
    """Return kernel ridge regression's answer for one row of scores."""
    dual = np.linalg.inv(kernel_matrix(k, S, S) + alpha * np.eye(len(S))) @ X
    return sum(k(s, S[i]) * dual[i] for i in range(len(S)))


def finite_difference(f, z, h=1e-6):
    """Return the central differences of a function of a vector."""
    out = np.zeros(len(z))
    for j in range(len(z)):
        step = np.zeros(len(z))
        step[j] = h * max(1.0, abs(z[j]))
        out[j] = (f(z + step) - f(z - step)) / (2.0 * step[j])
    return out
