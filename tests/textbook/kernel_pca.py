"""Textbook twins: every formula as it stands on paper, in plain loops, with nothing from the package."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Row = Sequence[float]
Pair = Callable[[Row, Row], float]


def rows_of(X: Any) -> list[list[float]]:
    """The rows of a dense or sparse matrix as lists of Python floats."""
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return dense.astype(np.float64).tolist()


# -- kernels of two rows ---------------------------------------------------------------------------


def dot(x: Row, y: Row) -> float:
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def squared_distance(x: Row, y: Row) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def linear() -> Pair:
    return dot


def poly(gamma: float = 1.0, coef0: float = 1.0, degree: float = 3) -> Pair:
    return lambda x, y: (gamma * dot(x, y) + coef0) ** degree


def rbf(gamma: float = 1.0) -> Pair:
    return lambda x, y: math.exp(-gamma * squared_distance(x, y))


def sigmoid(gamma: float = 1.0, coef0: float = 1.0) -> Pair:
    return lambda x, y: math.tanh(gamma * dot(x, y) + coef0)


def cosine() -> Pair:
    def pair(x: Row, y: Row) -> float:
        lengths = math.hypot(*x), math.hypot(*y)
        if 0.0 in lengths:
            return 0.0
        return math.fsum((a / lengths[0]) * (b / lengths[1]) for a, b in zip(x, y, strict=True))

    return pair


def laplacian(gamma: float = 1.0) -> Pair:
    return lambda x, y: math.exp(-gamma * math.fsum(abs(a - b) for a, b in zip(x, y, strict=True)))


def chi2(gamma: float = 1.0) -> Pair:
    def pair(x: Row, y: Row) -> float:
        terms = [(a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b != 0]
        return math.exp(-gamma * math.fsum(terms))

    return pair


def haar_signal(x: Row, level: int) -> list[float]:
    """Approximation coefficients: sums of neighbours over the root of two, again and again."""
    values = [float(v) for v in x]
    for _ in range(level):
        values = [(values[2 * i] + values[2 * i + 1]) / math.sqrt(2.0) for i in range(len(values) // 2)]
    return values


def haar_image(x: Row, shape: tuple[int, int], level: int) -> list[float]:
    """The same along the rows and then along the columns of an image."""
    image = [list(map(float, x[i * shape[1] : (i + 1) * shape[1]])) for i in range(shape[0])]
    for _ in range(level):
        image = [haar_signal(line, 1) for line in image]
        columns = [haar_signal([line[j] for line in image], 1) for j in range(len(image[0]))]
        image = [[column[i] for column in columns] for i in range(len(columns[0]))]
    return [value for line in image for value in line]


def haar(level: int, shape: tuple[int, int] | None = None) -> Pair:
    def smooth(x: Row) -> list[float]:
        return haar_signal(x, level) if shape is None else haar_image(x, shape, level)

    return lambda x, y: dot(smooth(x), smooth(y))


def matrix(pair: Pair, X: Any, Y: Any = None) -> np.ndarray:
    """k(x, y) for all rows, by a double loop."""
    left = rows_of(X)
    right = left if Y is None else rows_of(Y)
    return np.array([[pair(x, y) for y in right] for x in left]).reshape(len(left), len(right))


def diagonal(pair: Pair, X: Any) -> np.ndarray:
    return np.array([pair(x, x) for x in rows_of(X)])


def rbf_matrix(X: np.ndarray, Y: np.ndarray, gamma: float) -> np.ndarray:
    """The Gaussian kernel from plain differences, a row at a time, where a double loop is too slow."""
    X, Y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    return np.array([np.exp(-gamma * ((Y - x) ** 2).sum(axis=1)) for x in X]).reshape(len(X), len(Y))


def median_gamma(X: Any) -> float:
    """1 / (2 median squared distance) over pairs of different rows."""
    rows = rows_of(X)
    distances = [squared_distance(rows[i], rows[j]) for i in range(len(rows)) for j in range(i)]
    return 1.0 / (2.0 * float(np.median([d for d in distances if d > 0])))


# -- centring and what follows from it -------------------------------------------------------------


def equal_weights(n: int) -> np.ndarray:
    return np.full(n, 1.0 / n)


def centred(K: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """<phi_i - m, phi_j - m> with m = sum_k w_k phi_k, multiplied out."""
    n = len(K)
    w = equal_weights(n) if weights is None else weights
    to_mean = [math.fsum(w[k] * K[i, k] for k in range(n)) for i in range(n)]
    mean_norm = math.fsum(w[i] * to_mean[i] for i in range(n))
    return np.array([[K[i, j] - to_mean[i] - to_mean[j] + mean_norm for j in range(n)] for i in range(n)])


def centred_against(K_new: np.ndarray, K: np.ndarray) -> np.ndarray:
    """<phi(x) - m, phi_j - m> for new rows x, where m is the mean of the training rows."""
    n = len(K)
    to_mean = [math.fsum(K[i]) / n for i in range(n)]
    mean_norm = math.fsum(to_mean) / n
    answer = np.empty(K_new.shape)
    for q, row in enumerate(K_new):
        own = math.fsum(row) / n
        for j in range(n):
            answer[q, j] = row[j] - own - to_mean[j] + mean_norm
    return answer


def centred_norms(K_new: np.ndarray, own: np.ndarray, K: np.ndarray) -> np.ndarray:
    """|phi(x) - m|^2 for new rows x with own = k(x, x)."""
    n = len(K)
    mean_norm = math.fsum(K.ravel()) / n**2
    return np.array([own[q] - 2.0 * math.fsum(row) / n + mean_norm for q, row in enumerate(K_new)])


def trace(K: np.ndarray) -> float:
    return math.fsum(K[i, i] for i in range(len(K)))


def frobenius(K: np.ndarray) -> float:
    return math.sqrt(math.fsum(value**2 for value in K.ravel().tolist()))


# -- kernel PCA ------------------------------------------------------------------------------------


def eigenpairs(K: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray]:
    """The r largest eigenvalues and their vectors, by LAPACK's full solver."""
    values, vectors = np.linalg.eigh(K)
    return values[::-1][:r], vectors[:, ::-1][:, :r]


def kernel_pca(K: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (r,) of the centred matrix, and alpha (n, r) with alpha^T alpha = 1 / lambda."""
    return normalised(*eigenpairs(centred(K), r))


def normalised(values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (r,), and alpha (n, r) with alpha^T alpha = 1 / lambda; zeros where lambda is zero."""
    alphas = np.zeros_like(vectors)
    for k, value in enumerate(values):
        if value > 1e-10 * values[0]:
            alphas[:, k] = vectors[:, k] / math.sqrt(value)
    return values, alphas


def project(K_new: np.ndarray, K: np.ndarray, r: int) -> np.ndarray:
    """Scores of new rows, (q, r), up to the sign of each column."""
    return centred_against(K_new, K) @ kernel_pca(K, r)[1]


def residual(K_new: np.ndarray, own: np.ndarray, K: np.ndarray, r: int) -> np.ndarray:
    """Squared distance of each phi(x) from the affine subspace of the first r components."""
    return centred_norms(K_new, own, K) - (project(K_new, K, r) ** 2).sum(axis=1)


def distance_from_span(vectors: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Squared distances of the rows of `vectors` from the span of the rows of `directions`."""
    weights = np.linalg.lstsq(directions.T, vectors.T, rcond=None)[0]
    return ((vectors.T - directions.T @ weights) ** 2).sum(axis=0)


def quadratic_features(X: np.ndarray) -> np.ndarray:
    """phi with phi(x) . phi(y) = (x . y + 1)^2, written out."""
    features = []
    for x in rows_of(X):
        squares = [a * b for a in x for b in x]
        features.append([*squares, *(math.sqrt(2.0) * a for a in x), 1.0])
    return np.array(features)


def up_to_sign(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """The columns of `got`, each with the sign that suits the expected one."""
    signs = np.sign(np.einsum("ij,ij->j", got.astype(np.float64), expected))
    return got * np.where(signs == 0, 1, signs)


# parameters of an estimator, and the kernel that they stand for
TWINS = {
    "linear": ({"kernel": "linear"}, linear()),
    "poly": ({"kernel": "poly", "gamma": 0.4, "coef0": 0.7, "degree": 2}, poly(0.4, 0.7, 2)),
    "rbf": ({"kernel": "rbf", "gamma": 0.4}, rbf(0.4)),
    "sigmoid": ({"kernel": "sigmoid", "gamma": 1e-2, "coef0": 0.0}, sigmoid(1e-2, 0.0)),
    "cosine": ({"kernel": "cosine"}, cosine()),
    "laplacian": ({"kernel": "laplacian", "gamma": 0.4}, laplacian(0.4)),
    "chi2": ({"kernel": "chi2", "gamma": 0.4}, chi2(0.4)),
}
