"""Textbook twins of the metrics: explicit features, whole matrices, nothing from the package."""

import math
from collections import Counter

import numpy as np


def quadratic_features(X):
    """Return the feature map of k(x, y) = (x . y + 1)^2."""
    rows = np.hstack([X, np.ones((len(X), 1))])
    return np.array([np.outer(x, x).ravel() for x in rows])


def basis(vectors):
    """Return an orthonormal basis (columns) of the span of some rows."""
    U, s, _ = np.linalg.svd(np.asarray(vectors).T, full_matrices=False)
    return U[:, s > 1e-6 * s.max(initial=0.0)]


def subspace_distance(A, B):
    """Return sqrt(sum theta_i^2) for the row spans of A and B; what one has more counts as pi / 2 each."""
    P, Q = basis(A), basis(B)
    cosines = np.linalg.svd(P.T @ Q, compute_uv=False)
    total = sum(math.acos(min(1.0, c)) ** 2 for c in cosines)
    return math.sqrt(total + abs(P.shape[1] - Q.shape[1]) * (math.pi / 2) ** 2)


def centred(K, means, norm):
    n = len(K)
    return np.array([[K[i, j] - means[i] - means[j] + norm for j in range(n)] for i in range(n)])


def reconstruction_error(K, Y):
    """Return || K' - Y Y^T ||_F, entry by entry."""
    n = len(K)
    return math.sqrt(sum((K[i, j] - sum(a * b for a, b in zip(Y[i], Y[j], strict=True))) ** 2
                         for i in range(n) for j in range(n)))  # fmt: skip


def minimal_error(K, r):
    """Return what the r best non-negative eigenvalues leave of K'."""
    values = np.sort(np.linalg.eigvalsh(K))[::-1]
    return math.sqrt(sum(v**2 for v in values) - sum(max(v, 0.0) ** 2 for v in values[:r]))


def explained_variation(components, F):
    """Return the variation of F within the span, in percent of the most that as many directions have."""
    F = F - F.mean(axis=0)
    Q = basis(components)
    explained = sum(float(f @ Q[:, j]) ** 2 for f in F for j in range(Q.shape[1]))
    best = np.linalg.svd(F, compute_uv=False)[: len(components)]
    return 100.0 * explained / sum(s**2 for s in best)


def variation_of_information(a, b):
    """Return 2 H(A, B) - H(A) - H(B)."""
    n = len(a)

    def entropy(items):
        return -sum(c / n * math.log(c / n) for c in Counter(items).values())

    return 2.0 * entropy(list(zip(a, b, strict=True))) - entropy(a) - entropy(b)


def snr(signal, estimate):
    mean = sum(signal) / len(signal)
    power = sum((s - mean) ** 2 for s in signal)
    noise = sum((s - e) ** 2 for s, e in zip(signal, estimate, strict=True))
    return 10.0 * math.log10(power / noise)
