"""Textbook twins of moments and of kernel PCA on landmarks: loops and whole matrices, nothing of the package."""

from typing import NamedTuple

import numpy as np


def moments(rows, weights) -> tuple[float, np.ndarray, np.ndarray]:
    """Sum of weights, weighted mean and centred weighted scatter, one row after the other."""
    mean = sum(w * row for w, row in zip(weights, rows, strict=True)) / sum(weights)
    scatter = sum(w * np.outer(row - mean, row - mean) for w, row in zip(weights, rows, strict=True))
    return float(sum(weights)), mean, scatter


class Model(NamedTuple):
    eigenvalues: np.ndarray  # (r,)
    scores: np.ndarray  # (t, r), of the test rows; signs are open
    errors: np.ndarray  # (t,)
    trace: float


def landmark_kpca(K_xm, K_mm, own, K_tm, own_t, weights, r: int, center: bool = True) -> Model:
    """Weighted PCA of phi_hat(x) = K_mm^(-1/2) k_m(x), with what the landmarks miss in errors and trace."""
    values, vectors = np.linalg.eigh(K_mm)
    root = (vectors / np.sqrt(values)) @ vectors.T
    F, T = K_xm @ root, K_tm @ root
    weight, mean, scatter = moments(F, weights)
    if not center:
        scatter, mean = scatter + weight * np.outer(mean, mean), np.zeros_like(mean)
    lam, U = np.linalg.eigh(scatter)
    lam, U = lam[::-1][:r], U[:, ::-1][:, :r]
    scores = (T - mean) @ U
    missed = own_t - np.sum(T**2, axis=1)
    errors = missed + np.sum((T - mean) ** 2, axis=1) - np.sum(scores**2, axis=1)
    trace = sum(w * k for w, k in zip(weights, own, strict=True)) - weight * float(mean @ mean)
    return Model(lam, scores, errors, trace)


def weighted_kpca(K, K_t, weights, r: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of D K' D, D the roots of the weights, and the scores of test rows; the mean is the weighted one."""
    w = np.asarray(weights) / np.sum(weights)
    one = np.ones(len(w))
    C = np.eye(len(w)) - np.outer(one, w)
    D = np.sqrt(weights)
    lam, U = np.linalg.eigh(D[:, None] * (C @ K @ C.T) * D)
    lam, U = lam[::-1][:r], U[:, ::-1][:, :r]
    centred = (K_t - w @ K) @ C.T
    return lam, centred @ (D[:, None] * U) / np.sqrt(lam)
