"""Textbook twins of L1-norm kernel PCA and its rivals, in plain loops on whole matrices; nothing from the package."""

from itertools import product

import numpy as np

EXHAUSTED = 1e-12


def signs(v: np.ndarray, zero: float = 0.0) -> np.ndarray:
    """sgn with sgn(0) = +1."""
    return np.array([-1.0 if x < -zero else 1.0 for x in v])


def first_largest(values: list[float]) -> int:
    """The first of the largest, where rounding makes no difference."""
    largest = max(values)
    return next(j for j, value in enumerate(values) if value >= largest - 1e-8 * abs(largest))


def start_objective(K: np.ndarray, alive: np.ndarray, zero: float) -> np.ndarray:
    """[kim2019, eq. 19]."""
    n = len(K)
    values = [sum(abs(K[i, j]) for i in range(n)) / K[j, j] ** 0.5 if alive[j] else -np.inf for j in range(n)]
    return signs(K[:, first_largest(values)], zero)


def start_norm(K: np.ndarray, alive: np.ndarray, zero: float) -> np.ndarray:
    """The row of largest norm [Kwak 2008]."""
    return signs(K[:, first_largest([K[j, j] if alive[j] else -np.inf for j in range(len(K))])], zero)


def leading(K: np.ndarray) -> np.ndarray:
    """The leading eigenvector, with its first largest entry positive."""
    vector = np.linalg.eigh(K)[1][:, -1]
    sizes = np.abs(vector)
    return vector * np.sign(vector[int(np.argmax(sizes >= sizes.max() * (1 - 1e-6)))])


def start_eigen(K: np.ndarray, alive: np.ndarray, zero: float) -> np.ndarray:
    return signs(leading(K))


def fixed_point(K: np.ndarray, c: np.ndarray, zero: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Algorithm 1: c <- sgn(K c) until the step has no K-seminorm; also the values c^T K c on the way."""
    values = [float(c @ K @ c)]
    while True:
        new = np.array([-1.0 if x < -z else 1.0 for x, z in zip(K @ c, zero, strict=True)])
        step = new - c
        c = new
        values.append(float(c @ K @ c))
        if step @ K @ step <= np.abs(step) @ np.minimum(zero, 1.0):
            return c, values


def l1(K: np.ndarray, r: int, start=start_objective) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[list[float]]]:
    """Signs, training scores, objectives and histories of up to r components, by explicit deflation."""
    K = np.array(K, float)
    n, limit = len(K), EXHAUSTED * K.diagonal().max()
    norms = np.sqrt(np.maximum(K.diagonal(), 0.0))
    noise = 8 * np.finfo(float).eps * norms * norms.sum()
    found = []
    for _ in range(min(r, n)):
        alive = K.diagonal() > limit
        if not alive.any():
            break
        c0 = start(K, alive, noise.max() / n)
        c0[~alive] = 1.0
        c, history = fixed_point(K, c0, np.where(alive, noise, np.inf))
        u = K @ c / np.sqrt(c @ K @ c)
        found.append((c, u, np.sqrt(c @ K @ c), history))
        K = K - np.outer(u, u)
    columns = list(zip(*found, strict=True)) or [(), (), (), ()]
    return np.array(columns[0]).reshape(-1, n), np.array(columns[1]).reshape(-1, n), np.array(columns[2]), columns[3]


def l1_by_linear_systems(K: np.ndarray, r: int) -> np.ndarray:
    """L1-KPCA [Xiao 2013], to the letter: K eta = K c is solved in every step; training scores, (r, n)."""
    K, scores = np.array(K, float), []
    for _ in range(r):
        alpha = leading(K)
        last = None
        while last is None or not np.array_equal(signs(K @ alpha), last):
            last = signs(K @ alpha)
            eta = np.linalg.lstsq(K, K @ last, rcond=1e-10)[0]
            alpha = eta / np.sqrt(eta @ K @ eta)
        scores.append(K @ alpha)
        K = K - np.outer(scores[-1], scores[-1])
    return np.array(scores)


def l1_of_features(Z: np.ndarray, r: int) -> np.ndarray:
    """PCA-L1 [Kwak 2008] of explicit features, from the row of largest norm; training scores, (r, n)."""
    Z, scores = np.array(Z, float), []
    for _ in range(r):
        w = Z[first_largest([float(z @ z) for z in Z])]
        last = None
        while last is None or not np.allclose(w, last, atol=1e-14):
            last = w
            w = sum((1.0 if z @ w >= 0 else -1.0) * z for z in Z)
            w = w / np.linalg.norm(w)
        scores.append(Z @ w)
        Z = Z - np.outer(Z @ w, w)
    return np.array(scores)


def projection_features(K: np.ndarray) -> np.ndarray:
    """U Lambda^(1/2) [Kwak 2013]."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-12 * values[-1]
    return vectors[:, keep] * np.sqrt(values[keep])


def best_signs(K: np.ndarray) -> float:
    """The largest c^T K c over all sign vectors, by trying each."""
    n = len(K)
    every = np.array([(1.0, *rest) for rest in product((-1.0, 1.0), repeat=n - 1)])
    return float(np.einsum("ij,ij->i", every @ K, every).max())


def r1(Z: np.ndarray, r: int, steps: int) -> tuple[np.ndarray, list[float]]:
    """R1-PCA [Ding 2006] of explicit centred rows: an orthonormal basis (d, r) and the objectives on the way."""
    U = np.linalg.svd(Z, full_matrices=False)[2][:r].T
    distances = [float(np.linalg.norm(z - U @ (U.T @ z))) for z in Z]
    cutoff, objectives = float(np.median(distances)), []
    for _ in range(steps):
        C = np.zeros((Z.shape[1], Z.shape[1]))
        for z in Z:
            distance = float(np.linalg.norm(z - U @ (U.T @ z)))
            C += np.outer(z, z) * (1.0 if distance <= cutoff else cutoff / distance)
        U = np.linalg.qr(C @ U)[0]
        distances = [float(np.linalg.norm(z - U @ (U.T @ z))) for z in Z]
        objectives.append(sum(d * d / 2 if d <= cutoff else cutoff * (d - cutoff / 2) for d in distances))
    return U, objectives


def power_iteration(K: np.ndarray, alpha: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        alpha = K @ alpha
        alpha = alpha / np.sqrt(alpha @ K @ alpha)
    return alpha
