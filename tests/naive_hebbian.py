"""Textbook twins of the Hebbian algorithms: one sample at a time, from the formulas of [guenter2006]."""

import numpy as np


def gha_step(W, x, gain):
    """[eq. 2] with a gain vector."""
    y = W @ x
    return W + gain[:, None] * (np.outer(y, x) - np.tril(np.outer(y, y)) @ W)


def oja_step(W, x, gain):
    """Oja's subspace rule; for one row Oja's rule [lecture_notes]."""
    y = W @ x
    return W + gain[:, None] * (np.outer(y, x) - np.outer(y, y) @ W)


def kha(K, A, order, gain_rule, eta0):
    """[eqs. 8, 11, 12, 13]; `order` holds the visited indices, one array a pass; K is K'."""
    A, length, t = A.copy(), K.shape[0], 0
    for visits in order:
        eigenvalues = np.linalg.norm(A @ K, axis=1) / np.linalg.norm(A, axis=1)
        for p in visits:
            t += 1
            gain = gains(gain_rule, eta0, t, length, eigenvalues)
            y = A @ K[:, p]
            hebb = np.zeros_like(A)
            hebb[:, p] = y
            A = A + gain[:, None] * (hebb - np.tril(np.outer(y, y)) @ A)
    return A


def gains(rule, eta0, t, length, eigenvalues):
    if rule == "constant":
        return np.full(len(eigenvalues), eta0)
    decay = length / (t + length)
    if rule == "t":
        return np.full(len(eigenvalues), eta0 * decay)
    floored = np.maximum(eigenvalues, 1e-6 * eigenvalues.max())
    return np.linalg.norm(eigenvalues) / floored * decay * eta0


def kha_smd(K, A, order, eta0, rate, decay):
    """[Algorithm 1], literally, with the change of a log-gain limited to log 2 a step."""
    A, length, t = A.copy(), K.shape[0], 0
    B, rho = np.zeros_like(A), np.ones(len(A))
    for visits in order:
        eigenvalues = np.linalg.norm(A @ K, axis=1) / np.linalg.norm(A, axis=1)
        for p in visits:
            t += 1
            eta = gains("et", eta0, t, length, eigenvalues)
            k = K[:, p]
            y, u = A @ k, B @ k
            unit = np.zeros(length)
            unit[p] = 1.0
            gamma = np.outer(y, unit) - np.tril(np.outer(y, y)) @ A  # [eq. 9]
            change = rate * np.diag(gamma @ K @ B.T)  # [eq. 16]
            rho = rho + np.clip(change, -np.log(2), np.log(2))
            d_gamma = (
                np.outer(u, unit) - np.tril(np.outer(y, y)) @ B - np.tril(np.outer(u, y) + np.outer(y, u)) @ A
            )  # [eq. 20]
            scale = (np.exp(rho) * eta)[:, None]
            B = decay * B + scale * (gamma + decay * d_gamma)  # [eq. 19]
            A = A + scale * gamma  # [eq. 15]
    return A
