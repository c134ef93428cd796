"""Textbook twins of incremental kernel PCA [chin2007]: the printed equations, with the whole kernel matrix at hand.

Columns are vectors, as in the paper. Nothing here is fast, and nothing is imported from the package.
"""

import numpy as np


def poly2(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.array([[(a @ b + 1.0) ** 2 for b in B] for a in A])


def weighted_kpca(K: np.ndarray, w: np.ndarray, center: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues, coefficients (n, r) and the mean's coefficients of sum w (phi - mean)(phi - mean)^T."""
    n = len(K)
    mean = w / w.sum() if center else np.zeros(n)
    T = np.diag(np.sqrt(w)) - np.outer(mean, np.sqrt(w)) if center else np.diag(np.sqrt(w))
    values, vectors = np.linalg.eigh(T.T @ K @ T)  # (4)
    values, vectors = values[::-1], vectors[:, ::-1]
    keep = values > 1e-10 * values[0]
    return values[keep], (T @ vectors[:, keep]) / np.sqrt(values[keep]), mean  # (6)


def update(K, alpha, sigma, nu, n, i, rank, center=True):
    """One update, equations 8 to 26: K is the kernel matrix of the n old and the i new rows.

    alpha (n, r), sigma (r,), nu (n,); returns the same for all rows.
    """
    r = alpha.shape[1]
    A = slice(0, n)
    omega = np.full(i, 1.0 / i)  # (8)
    if center:
        gamma = np.zeros((n + i, i + 1))  # (11)
        gamma[n:, :i] = np.eye(i) - np.outer(omega, np.ones(i))  # (10)
        gamma[:n, i] = np.sqrt(n * i / (n + i)) * nu
        gamma[n:, i] = -np.sqrt(n * i / (n + i)) * omega
    else:
        gamma = np.vstack([np.zeros((n, i)), np.eye(i)])
    L = alpha.T @ K[A] @ gamma  # (20)
    beta = gamma.copy()
    beta[A] -= alpha @ L  # (22)
    M_H = beta.T @ K @ beta  # (23)
    delta, Q = np.linalg.eigh(M_H)
    keep = delta > 1e-11 * np.diag(K).max()
    Omega = beta @ Q[:, keep] / np.sqrt(delta[keep])  # (24)
    K_part = np.sqrt(delta[keep])[:, None] * Q[:, keep].T  # (25)
    F = np.block([[np.diag(sigma), L], [np.zeros((int(keep.sum()), r)), K_part]])  # (12)
    U, S, _ = np.linalg.svd(F)
    kept = min(rank, int((1e-7 * S[0] < S).sum()))
    extended = np.vstack([alpha, np.zeros((i, r))])
    Psi = extended @ U[:r] + Omega @ U[r:]  # (26)
    mean = np.concatenate([n * nu, i * omega]) / (n + i)  # (9)
    return Psi[:, :kept], S[:kept], mean if center else np.zeros(n + i)


def run(K: np.ndarray, sizes: list[int], rank: int, center: bool = True, first_rank: int | None = None):
    """Start with kernel PCA of the first rows and update with the others; `sizes` are rows of each step."""
    n = sizes[0]
    values, alpha, nu = weighted_kpca(K[:n, :n], np.ones(n), center)
    limit = rank if first_rank is None else first_rank
    alpha, sigma = alpha[:, :limit], np.sqrt(values[:limit])
    for i in sizes[1:]:
        block = K[: n + i, : n + i]
        limit = rank if first_rank is None or n + i > first_rank else first_rank
        alpha, sigma, nu = update(block, alpha, sigma, nu, n, i, limit, center)
        n += i
    return alpha, sigma, nu


def reorthogonalised(M_YY: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """pi and the orthonormal basis of (32) to (34), before normalising columns; sigma (m, r) are coefficients."""
    D, Q = np.linalg.eigh(sigma.T @ M_YY @ sigma)  # (32)
    basis = sigma @ Q / np.sqrt(D)
    P = basis.T @ M_YY @ sigma  # (33)
    return basis @ P, basis  # (34)


def compressed_covariance(coef: np.ndarray, singular: np.ndarray, M_YY: np.ndarray) -> np.ndarray:
    """Eigenvalues of sum_k s_k^2 u_k u_k^T for vectors u_k = Y coef_k, descending."""
    scaled = coef * singular
    return np.linalg.eigvalsh(scaled.T @ M_YY @ scaled)[::-1]
