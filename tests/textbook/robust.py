"""Textbook twins of robust kernel PCA: dense matrices, one row at a time, with nothing from the package."""

import math

import numpy as np

from textbook.kernel_pca import centred as weighted_centring


def psi(name: str, z: float, beta: float, xi: float) -> float:
    """The loss functions on paper [huang2011, section 2.1]; Huber's and Tukey's in terms of r = sqrt(2 z)."""
    r, c = math.sqrt(2.0 * max(z, 0.0)), math.sqrt(2.0 * xi)
    if name == "exp":
        return (1.0 - math.exp(-beta * z)) / beta
    if name == "logistic":
        return -math.log((1.0 + math.exp(-beta * (z - xi))) / 2.0) / beta
    if name == "huber":
        return r**2 / 2.0 if r <= c else c * r - c**2 / 2.0
    if name == "tukey":
        return c**2 / 6.0 * (1.0 - (1.0 - min(r / c, 1.0) ** 2) ** 3)
    return z


def psi_dot(name: str, z: float, beta: float, xi: float) -> float:
    """Their derivatives: for Huber and Tukey the weight functions of iterated least squares."""
    r, c = math.sqrt(2.0 * max(z, 0.0)), math.sqrt(2.0 * xi)
    if name == "exp":
        return math.exp(-beta * z)
    if name == "logistic":
        return 1.0 - 1.0 / (1.0 + math.exp(-beta * (z - xi)))
    if name == "huber":
        return 1.0 if r <= c else c / r
    if name == "tukey":
        return (1.0 - (r / c) ** 2) ** 2 if r <= c else 0.0
    return 1.0


def centred(K: np.ndarray, w: np.ndarray) -> np.ndarray:
    """<phi_i - mu, phi_j - mu> with mu = sum w_k phi_k / sum w_k [eq. 21]; w = None: mu = 0."""
    if w is None:
        return K.copy()
    return weighted_centring(K, w / w.sum())


def residuals(Kc: np.ndarray, A: np.ndarray) -> np.ndarray:
    """z of each row for directions sum_i A[k, i] (phi_i - mu), by least squares on their span [eq. 2]."""
    n = len(Kc)
    gram = A @ Kc @ A.T
    z = np.empty(n)
    for i in range(n):
        against = A @ Kc[:, i]
        best = np.linalg.lstsq(gram, against, rcond=1e-11)[0]
        z[i] = max(0.0, (Kc[i, i] - against @ best) / 2.0)
    return z


def robust_kernel_pca(K, init, name, beta, xi, rounds, center=True):
    """[eqs. 21, 22] in turn: n times the eigenvalues, coefficients (r, n), weights, and the objective by round."""
    n, r = len(K), len(init)
    z = residuals(centred(K, np.ones(n) if center else None), np.asarray(init))
    objective = [math.fsum(psi(name, v, beta, xi) for v in z)]
    for _ in range(rounds):
        w = np.array([psi_dot(name, v, beta, xi) for v in z])
        Kc = centred(K, w if center else None)
        # (22) has the eigenvectors u = sum_i sqrt(w_i) v_i (phi_i - mu), v those of sqrt(w_i w_j) k'_ij
        root = np.sqrt(w / w.sum())
        values, vectors = np.linalg.eigh(root[:, None] * Kc * root)
        values, vectors = values[::-1][:r], vectors[:, ::-1][:, :r]
        A = (root[:, None] * vectors / np.sqrt(values)).T
        z = residuals(Kc, A)
        objective.append(math.fsum(psi(name, v, beta, xi) for v in z))
    return n * values, A, w, np.array(objective)


def scores(K_new, K, A, w):
    """<phi(x) - mu, u_k> for new rows."""
    mean = np.zeros(len(K)) if w is None else w / w.sum()
    return np.array([[(row - row @ mean - K @ mean + mean @ K @ mean) @ a for a in A] for row in K_new])


def geometric_median(F: np.ndarray, steps: int = 2000) -> np.ndarray:
    """The point with the least sum of distances to the rows, by Weiszfeld's iteration in plain coordinates."""
    m = F.mean(axis=0)
    for _ in range(steps):
        weights = np.array([1.0 / math.dist(f, m) for f in F])
        m = weights @ F / weights.sum()
    return m
