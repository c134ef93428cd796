"""Textbook twins: angles between kernel subspaces from explicit maps, and patches sampled a pixel at a time."""

import math

import numpy as np


def explicit_quadratic(row):
    """The map of (x . y)^2: all products of two features."""
    return np.array([a * b for a in row for b in row])


def subspace(rows, r, feature_map):
    """An orthonormal basis of the r leading directions of the mapped rows, without centring, (dimension, r)."""
    mapped = np.array([feature_map(row) for row in rows]).T
    left, singular, _ = np.linalg.svd(mapped, full_matrices=False)
    keep = [k for k in range(min(r, len(singular))) if singular[k] > 1e-6 * singular[0]]
    return left[:, keep]


def principal_cosines(A, B):
    """Cosines of the principal angles one after the other, by deflation: the best pair of directions, then the next."""
    cosines, product = [], A.T @ B
    for _ in range(min(product.shape)):
        left, singular, right = np.linalg.svd(product)
        cosines.append(min(singular[0], 1.0))
        u, v = left[:, :1], right[:1].T
        product = product - u @ (u.T @ product)
        product = product - (product @ v) @ v.T
    return cosines


def similarity(query, reference, n_angles, measure):
    """[chin2007, eq. 36] or the mean squared cosine, angles that the reference lacks counted as right angles."""
    cosines = principal_cosines(query, reference)
    counted = min(n_angles, query.shape[1])
    cosines = (cosines + [0.0] * counted)[:counted]
    if measure == "cosines":
        return sum(c * c for c in cosines) / counted
    distance = math.sqrt(sum(math.acos(c) ** 2 for c in cosines))
    return 1.0 - distance / (math.sqrt(counted) * math.pi / 2)


def roc_area(similarities, genuine):
    """The share of pairs (genuine, impostor) of which the genuine one is the more similar; ties count half."""
    won = total = 0.0
    for s, g in zip(similarities, genuine, strict=True):
        for other, is_genuine in zip(similarities, genuine, strict=True):
            if g and not is_genuine:
                total += 1
                won += 1.0 if s > other else 0.5 if s == other else 0.0
    return won / total


def highest_refused(impostors, share):
    """The lowest impostor similarity such that at most this share of all impostors lie above it."""
    for value in sorted(impostors):
        above = 0
        for other in impostors:
            above += other > value
        if above / len(impostors) <= share:
            return value
    raise AssertionError("the highest has none above it")


def pixel(frame, x, y):
    """The value at (x, y), where pixel (i, j) has its value at x = j + 0.5, y = i + 0.5; the border goes on outside."""
    height, width = len(frame), len(frame[0])
    column, row = min(max(x - 0.5, 0.0), width - 1.0), min(max(y - 0.5, 0.0), height - 1.0)
    j, i = math.floor(column), math.floor(row)
    right, below = min(j + 1, width - 1), min(i + 1, height - 1)
    a, b = column - j, row - i
    upper = (1 - a) * frame[i][j] + a * frame[i][right]
    lower = (1 - a) * frame[below][j] + a * frame[below][right]
    return (1 - b) * upper + b * lower


def patch(frame, state, size, shape):
    """The patch under one box, pixel by pixel, as a list."""
    x, y, scale, angle = state
    values = []
    for i in range(shape[0]):
        for j in range(shape[1]):
            across = scale * size[0] * ((j + 0.5) / shape[1] - 0.5)
            down = scale * size[1] * ((i + 0.5) / shape[0] - 0.5)
            values.append(
                pixel(
                    frame,
                    x + across * math.cos(angle) - down * math.sin(angle),
                    y + across * math.sin(angle) + down * math.cos(angle),
                )
            )
    return values


def unit_contrast(patch):
    """A patch without its mean, of unit length; 0 where it has no contrast."""
    mean = sum(patch) / len(patch)
    length = math.sqrt(sum((value - mean) ** 2 for value in patch))
    return [(value - mean) / length if length > 0 else 0.0 for value in patch]
