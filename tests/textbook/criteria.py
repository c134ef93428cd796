"""Textbook twins of criteria without labels: one row after the other, nothing from the package."""

import math

import numpy as np

from textbook.kernel_pca import matrix, rbf, rbf_matrix
from textbook.preimage import kernel_pca, mika_step

ROUNDS = 3  # first from the known cells, then twice from the filled row


def predicted_by_least_squares(X, row, hidden, r):
    """mean + U c, with c the least-squares fit of the principal axes of X to the known cells of the row."""
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean, full_matrices=False)[2][:r]  # (r, d)
    known = ~hidden
    c = np.linalg.lstsq(axes[:, known].T, (row - mean)[known], rcond=None)[0]
    return mean + c @ axes


def predicted_by_filling(X, row, hidden, gamma, r):
    """Scores from distances over known cells, one step to the pre-image, fill, project again."""
    coef, offset, _, nu, _ = kernel_pca(rbf_matrix(X, X, gamma), r)
    known = [j for j in range(X.shape[1]) if not hidden[j]]
    share = X.shape[1] / len(known)
    values = [math.exp(-gamma * share * sum((row[j] - x[j]) ** 2 for j in known)) for x in X]
    scores = coef @ values - offset
    own = [coef @ [rbf(gamma)(x, p) for p in X] - offset for x in X]
    z = X[min(range(len(X)), key=lambda i: ((own[i] - scores) ** 2).sum())]
    for turn in range(ROUNDS):
        if turn:
            filled = np.where(hidden, z, row)
            scores = coef @ matrix(rbf(gamma), X, [filled])[:, 0] - offset
        z = mika_step(X, scores @ coef + nu, z, gamma)
    return z


def share_predicted(predicted, X, hidden, means):
    """1 - sum of squared errors / sum of squared deviations from the means, over the hidden cells."""
    errors = deviations = 0.0
    for i, j in zip(*np.nonzero(hidden), strict=True):
        errors += (predicted[i, j] - X[i, j]) ** 2
        deviations += (means[j] - X[i, j]) ** 2
    return 1.0 - errors / deviations


def area(normal, pretended):
    """The probability that a pretended outlier has a larger value than a normal row; equal values count half."""
    won = sum(1.0 if p > n else 0.5 if p == n else 0.0 for p in pretended for n in normal)
    return won / (len(pretended) * len(normal))


def mean_ranks(areas):
    """The mean over the columns of each row's rank, from 0 for the worst to 1 for the best; ties share their rank."""
    ranks = []
    for own in areas:
        places = []
        for k, value in enumerate(own):
            column = [other[k] for other in areas]
            below, same = sum(v < value for v in column), sum(v == value for v in column)
            places.append(below + (same - 1) / 2)
        ranks.append(sum(places) / len(places) / (len(areas) - 1))
    return ranks


def statistics(X, others, gamma, r):
    """T2 = sum of y_j^2 / lambda_j, and SPE = |phi(x) - mean|^2 - |y|^2, of rows that kernel PCA was not fitted to."""
    coef, offset, values, _, _ = kernel_pca(rbf_matrix(X, X, gamma), r)
    K = rbf_matrix(X, X, gamma)
    t2, spe = [], []
    for x in others:
        k = np.array([rbf(gamma)(x, p) for p in X])
        y = coef @ k - offset
        t2.append(sum(y[j] ** 2 / values[j] for j in range(r)))
        spe.append(1.0 - 2.0 * k.mean() + K.mean() - sum(value**2 for value in y))
    return t2, spe


def combined_of(t2, spe, n_held):
    """z(SPE) + max(z(T2), 0) / 2; z by the median and the ninth decile of the first rows, which are held ones."""
    pairs = zip(spe, t2, strict=True)
    return [in_units(spe[:n_held], s) + 0.5 * max(in_units(t2[:n_held], t), 0.0) for s, t in pairs]


def in_units(all_values, value):
    middle, high = np.quantile(all_values, 0.5), np.quantile(all_values, 0.9)
    return (value - middle) / (high - middle)
