"""Leading eigenpairs of a matrix in memory, by LAPACK, with the checks that its subset drivers need."""

import numpy as np
from scipy.linalg import LinAlgError, eigh

from mercer.arrays import Array

_PROBE_STEPS = 24


def leading_pairs(K: Array, n_pairs: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues, descending, and their vectors; K is overwritten.

    The subset driver can fail, or return too few pairs for matrices near the identity. Then the full driver is used.
    """
    n = len(K)
    if n_pairs < n:
        kept = K.copy() if n <= 2000 else None  # a second try needs the matrix; large ones are not copied
        try:
            values, vectors = eigh(K, subset_by_index=(n - n_pairs, n - 1), overwrite_a=kept is not None)
            if len(values) == n_pairs and np.isfinite(vectors).all():
                return values[::-1], vectors[:, ::-1]
        except LinAlgError:
            pass
        K = K if kept is None else kept
    values, vectors = eigh(K, driver="evd", overwrite_a=True)
    return values[::-1][:n_pairs], vectors[:, ::-1][:, :n_pairs]


def lowest_ritz_value(K: Array, seed: int = 0) -> float:
    """Return an upper bound of the smallest eigenvalue from a few Lanczos steps: fast, and tight at the extremes."""
    v = np.random.default_rng(seed).standard_normal(len(K))
    basis = [v / np.linalg.norm(v)]
    for _ in range(min(_PROBE_STEPS, len(K)) - 1):
        w = K @ basis[-1]
        Q = np.array(basis)
        w -= Q.T @ (Q @ w)
        w -= Q.T @ (Q @ w)
        norm = float(np.linalg.norm(w))
        if norm <= 1e-12 * len(K) * float(np.abs(K[0]).max() or 1.0):
            break
        basis.append(w / norm)
    Q = np.array(basis)
    return float(np.linalg.eigvalsh(Q @ (K @ Q.T))[0])
