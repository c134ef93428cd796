"""Textbook twins of outlier scores and of their p-values: loops over the formulas, nothing from the package."""

import math

import numpy as np

from textbook.kernel_pca import linear, matrix, rbf_matrix


def kernel_matrix(A, B, gamma):
    """exp(-gamma |a - b|^2), or a . b where gamma is None."""
    return matrix(linear(), A, B) if gamma is None else rbf_matrix(A, B, gamma)


def t2_and_spe(X, new, gamma, n_components, explained):
    """T2 by rule (28) of [kim2019] and SPE [Hoffmann 2007] of new rows, for L2 kernel PCA of X."""
    n = len(X)
    K, k = kernel_matrix(X, X, gamma), kernel_matrix(new, X, gamma)
    J = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(J @ K @ J)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    variances = values / (n - 1)
    kept = 0
    while sum(variances[:kept]) < explained * sum(variances) * (1 - 1e-12):
        kept += 1
    t2, spe = [], []
    for q, row in enumerate(k):
        centred = row - row.mean() - K.mean(axis=0) + K.mean()
        own = kernel_matrix(new[q : q + 1], new[q : q + 1], gamma)[0, 0] - 2 * row.mean() + K.mean()
        y = [centred @ vectors[:, j] / math.sqrt(values[j]) for j in range(kept)]
        t2.append(sum(y[j] ** 2 / variances[j] for j in range(kept)))
        spe.append(own - sum(value**2 for value in y))
    return np.array(t2), np.array(spe)


def scores_of_parts(X, parts, gamma, n_components, explained):
    """T2 and SPE of the rows of each part, by kernel PCA fitted to all rows but these."""
    return [t2_and_spe(np.delete(X, part, axis=0), X[part], gamma, n_components, explained) for part in parts]


def cv_plus_p_values(folds, new_scores):
    """CV+: folds[k] holds the scores of fold k, new_scores[k][i] the score of new row i by the model without fold k."""
    n = sum(len(scores) for scores in folds)
    p = []
    for i in range(len(new_scores[0])):
        count = 0
        for scores, new in zip(folds, new_scores, strict=True):
            for score in scores:
                count += score >= new[i]
        p.append((1 + count) / (n + 1))
    return np.array(p)


def combined_index(pooled, scores):
    """z(SPE) + max(z(T2), 0) / 2, z the distance from the median by that of the ninth decile from there."""
    out = []
    for row in scores:
        z = []
        for j in range(2):
            middle = np.quantile(pooled[:, j], 0.5)
            z.append((row[j] - middle) / (np.quantile(pooled[:, j], 0.9) - middle))
        out.append(z[1] + max(z[0], 0.0) / 2)
    return np.array(out)


def with_distance(pooled, scores):
    """max(z(combined index), 0.7 z(distance)), z as in `combined_index`; the third column has squared distances."""
    indices, distances = combined_index(pooled, pooled), [math.sqrt(row[2]) for row in pooled]
    out = []
    for index, row in zip(combined_index(pooled, scores), scores, strict=True):
        z = []
        for value, reference in ((index, indices), (math.sqrt(row[2]), distances)):
            middle = np.quantile(reference, 0.5)
            z.append((value - middle) / (np.quantile(reference, 0.9) - middle))
        out.append(max(z[0], 0.7 * z[1]))
    return np.array(out)


def mahalanobis(X, new):
    """z^T C^-1 z of new rows, z scaled by means and deviations of X, C their shrunk covariance [Ledoit, Wolf 2004]."""
    n, d = X.shape
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    Z = (X - mean) / deviation
    S = sum(np.outer(z, z) for z in Z) / n
    target = np.trace(S) / d * np.eye(d)
    apart = ((S - target) ** 2).sum()
    uncertain = sum(((np.outer(z, z) - S) ** 2).sum() for z in Z) / n**2
    shrinkage = min(uncertain / apart, 1.0) if apart > 0 else 0.0
    C = (1 - shrinkage) * S + (shrinkage + 1e-9) * target
    return np.array([z @ np.linalg.solve(C, z) for z in (new - mean) / deviation])


def chosen_components(variances, explained):
    """{j: lambda_j >= alpha}, alpha the largest variance for which these hold the share [kim2019, below (28)]."""
    for alpha in sorted(variances, reverse=True):
        kept = [j for j, value in enumerate(variances) if value >= alpha]
        if sum(variances[j] for j in kept) >= explained * sum(variances) * (1 - 1e-12):
            return kept
    return list(range(len(variances)))


def neighbours_alike(scores: np.ndarray) -> tuple[float, float]:
    """rho_1 of the ranks (ties share their mean rank), and (rho_1 - c) / (1 - c); c = line of rho_5..20 at lag 1."""
    n = len(scores)
    ranks = np.array([(scores < x).sum() + ((scores == x).sum() + 1) / 2 for x in scores])
    d = ranks - ranks.mean()
    rho = [sum(d[i] * d[i + k] for i in range(n - k)) / sum(d * d) for k in range(21)]
    c = max(0.0, float(np.polyval(np.polyfit(range(5, 21), rho[5:21], 1), 1.0)))
    return rho[1], (rho[1] - c) / (1 - c)
