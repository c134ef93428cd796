"""Textbook twins of online robust kernel PCA: one sample at a time, from the formulas of [huang2011]."""

import numpy as np


def literal(H, mu, Gamma, weight_of, t=0, missing=None):
    """[Algorithm 1]: rows of H are kernel data h_t; return mu, Gamma, z and weights, (m,), (m, r), (n,), (n,)."""
    mu, Gamma = mu.copy(), Gamma.copy()
    zs, weights = [], []
    for j, h in enumerate(H):
        t += 1
        d = h - mu
        y = Gamma.T @ d
        z = 0.5 * (d @ d - y @ y + (0.0 if missing is None else missing[j]))  # [eq. 2]
        w = weight_of(z)
        Lambda = np.outer(y, y)
        g_mu = -w * d
        g_Gamma = -w * (np.outer(d, y) - Gamma @ np.triu(Lambda))
        mu = mu - g_mu / t
        Gamma = Gamma - g_Gamma / t
        zs.append(z)
        weights.append(w)
    return mu, Gamma, np.array(zs), np.array(weights)


def guarded(H, mu, Gamma, weight_of, missing, rate, squares=None, weight=0.0, t=0):
    """The same with z >= 0, gains relative to the variance along each component, and no step beyond its bound."""
    mu, Gamma, r = mu.copy(), Gamma.copy(), Gamma.shape[1]
    squares = np.zeros(r) if squares is None else squares.copy()
    zs, weights = [], []
    for h, lost in zip(H, missing, strict=True):
        t += 1
        d = h - mu
        y = Gamma.T @ d
        explained = y @ np.linalg.solve(Gamma.T @ Gamma, y)
        z = 0.5 * (max(0.0, d @ d - explained) + lost)
        w = weight_of(z)
        squares, weight = squares + w * y * y, weight + w
        gain = np.zeros(r)
        if d @ d > 0 and squares.max() > 0 and w > 0:
            lam = np.maximum(squares / weight, 0.01 * squares.max() / weight)
            gain = w * np.minimum(rate / (weight * lam), 1.0 / (d @ d + y @ y))
        Gamma = Gamma + (np.outer(d, y) - Gamma @ np.triu(np.outer(y, y))) * gain
        mu = mu + w / t * d
        zs.append(z)
        weights.append(w)
    return mu, Gamma, np.array(zs), np.array(weights)


def ccipca(X, mean, V, weight, weight_of, missing):
    """v <- (W_old/W) v + (w/W) d d^T v/|v|, deflated component by component; about the running weighted mean."""
    mean, V = mean.copy(), V.copy()
    weights = []
    for x, lost in zip(X, missing, strict=True):
        d = x - mean
        rest = d.copy()
        for v in V:
            rest = rest - (rest @ v) * v / (v @ v)
        w = weight_of(0.5 * (rest @ rest + lost))
        new = weight + w
        rest = d.copy()
        for i in range(len(V)):
            unit = V[i] / np.linalg.norm(V[i])
            V[i] = weight / new * V[i] + w * weight / new**2 * (rest @ unit) * rest
            rest = rest - (rest @ V[i]) * V[i] / (V[i] @ V[i])
        mean, weight = mean + w / new * d, new
        weights.append(w)
    return mean, V, weight, np.array(weights)


def svd_blocks(X, mean, scatter, weight, weight_of, missing, block, r, rank):
    """Weighted moments, whole (q, q), cut to `rank` after each block, whose weights come from the model before it."""
    weights = []
    for first in range(0, len(X), block):
        rows = X[first : first + block]
        values, vectors = np.linalg.eigh(scatter)
        U = vectors[:, ::-1][:, :r]
        w = []
        for x, lost in zip(rows, missing[first : first + block], strict=True):
            d = x - mean
            y = U.T @ d
            w.append(weight_of(0.5 * (max(0.0, d @ d - y @ y) + lost)))
        for x, wj in zip(rows, w, strict=True):
            d = x - mean
            scatter = scatter + wj * weight / (weight + wj) * np.outer(d, d)
            mean, weight = mean + wj / (weight + wj) * d, weight + wj
        values, vectors = np.linalg.eigh(scatter)
        kept = vectors[:, ::-1][:, :rank]
        scatter = (kept * values[::-1][:rank]) @ kept.T
        weights.extend(w)
    return mean, scatter, weight, np.array(weights)


def batch_fixed_point(H, r, weight_of, start_mean, start_U, rounds=500):
    """[eqs. 21, 22]: the weighted mean and the leading eigenvectors of the weighted covariance, until both stay."""
    mean, U = start_mean, start_U
    for _ in range(rounds):
        D = H - mean
        z = 0.5 * np.maximum(((D**2).sum(axis=1) - ((D @ U) ** 2).sum(axis=1)), 0.0)
        w = np.array([weight_of(value) for value in z])
        new = w @ H / w.sum()
        D = H - new
        V = np.linalg.eigh((D * w[:, None]).T @ D / w.sum())[1][:, ::-1][:, :r]
        moved = np.abs(new - mean).max() + 1.0 - np.abs((U * V).sum(axis=0)).min()
        mean, U = new, V
        if moved < 1e-14:
            break
    return mean, U
