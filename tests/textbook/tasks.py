"""Textbook versions of the tasks: loops over the formulas, nothing from the package."""

import numpy as np


def starts(size: int, window: int, stride: int) -> list[int]:
    """Every stride-th place where a window fits, and the last place where one fits."""
    places = [i for i in range(size) if i % stride == 0 and i + window <= size]
    return places if places[-1] + window == size else [*places, size - window]


def cut_windows(image: np.ndarray, window: int, stride: int) -> np.ndarray:
    """All windows of an image (height, width, channels), one per row."""
    rows = []
    for i in starts(image.shape[0], window, stride):
        for j in starts(image.shape[1], window, stride):
            rows.append(image[i : i + window, j : j + window].ravel())
    return np.array(rows)


def overlap_add(windows: np.ndarray, shape: tuple[int, int, int], window: int, stride: int, weights) -> np.ndarray:
    """The weighted mean of all windows that cover a pixel, pixel by pixel."""
    total, weight = np.zeros(shape), np.zeros(shape)
    rows = iter(windows)
    for i in starts(shape[0], window, stride):
        for j in starts(shape[1], window, stride):
            patch = next(rows).reshape(window, window, shape[2])
            for a in range(window):
                for b in range(window):
                    total[i + a, j + b] += weights[a, b] * patch[a, b]
                    weight[i + a, j + b] += weights[a, b]
    return total / weight


def patch_pca(image: np.ndarray, window: int, stride: int, r: int) -> np.ndarray:
    """A grey image rebuilt from the first r principal components of its windows."""
    X = cut_windows(image[:, :, None], window, stride)
    mean = X.mean(axis=0)
    V = np.linalg.svd(X - mean, full_matrices=False)[2][:r]
    clean = np.array([mean + V.T @ (V @ (x - mean)) for x in X])
    return overlap_add(clean, (*image.shape, 1), window, stride, np.ones((window, window)))[:, :, 0]


def scaled_affinity(K: np.ndarray) -> np.ndarray:
    """L_ij = K_ij / sqrt(d_i d_j) with d_i = sum_j |K_ij| [Ng, Jordan, Weiss 2002, step 2]."""
    n = len(K)
    d = [sum(abs(K[i, j]) for j in range(n)) for i in range(n)]
    return np.array([[K[i, j] / np.sqrt(d[i] * d[j]) for j in range(n)] for i in range(n)])


def spectral_coordinates(K: np.ndarray, r: int) -> np.ndarray:
    """Rows of the r leading eigenvectors of L, each of unit length [Ng, Jordan, Weiss 2002, steps 3 and 4]."""
    values, vectors = np.linalg.eigh(scaled_affinity(K))
    V = vectors[:, np.argsort(-values)[:r]]
    return np.array([row / np.sqrt(sum(v * v for v in row)) for row in V])


def extended_coordinates(K: np.ndarray, k_new: np.ndarray, r: int) -> np.ndarray:
    """The same for new rows with kernel values k_new, (m, n): sum_j k(x, x_j) V_j / sqrt(d(x) d_j) / lambda."""
    values, vectors = np.linalg.eigh(scaled_affinity(K))
    order = np.argsort(-values)[:r]
    d = np.abs(K).sum(axis=1)
    out = []
    for k in k_new:
        own = np.abs(k).sum()
        u = [sum(k[j] * vectors[j, c] / np.sqrt(own * d[j]) for j in range(len(d))) / values[c] for c in order]
        out.append(np.array(u) / np.linalg.norm(u))
    return np.array(out)
