"""Peers of the monitor for several objectives: functions of normal rows that return a function of new rows.

A peer returns (score, limit function): high scores are unusual. Where its own limits need independent rows, they are
those of its textbook; the objectives show what this costs.
"""

from collections.abc import Callable

import numpy as np
from scipy.stats import chi2, f, norm
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from mercer import KernelOutlierDetector, ProcessMonitor

P_VALUES = Callable[[np.ndarray], np.ndarray]
Fit = Callable[[np.ndarray], P_VALUES]


def pca_statistics(X: np.ndarray, share: float = 0.9) -> Callable[[np.ndarray], np.ndarray]:
    """Return T2 and SPE of linear PCA, with the components that hold this share of the variance."""
    scaler = StandardScaler().fit(X)
    model = PCA(share, svd_solver="full").fit(scaler.transform(X))

    def statistics(new: np.ndarray) -> np.ndarray:
        Z = scaler.transform(new)
        Y = model.transform(Z)
        return np.column_stack(
            [(Y**2 / model.explained_variance_).sum(axis=1), ((Z - model.inverse_transform(Y)) ** 2).sum(axis=1)]
        )

    statistics.n_components = model.n_components_  # type: ignore[attr-defined]
    return statistics


def pca_t2_spe(X: np.ndarray) -> P_VALUES:
    """Return p-values of PCA by its usual limits, F for T2 and a scaled chi-square for SPE: twice the smaller."""
    statistics = pca_statistics(X)
    n, r = len(X), statistics.n_components  # type: ignore[attr-defined]
    spe = statistics(X)[:, 1]
    unit = spe.var() / (2.0 * spe.mean())
    freedom = 2.0 * spe.mean() ** 2 / spe.var()

    def p_values(new: np.ndarray) -> np.ndarray:
        found = statistics(new)
        of_t2 = f.sf(found[:, 0] * n * (n - r) / (r * (n * n - 1.0)), r, n - r)
        return np.minimum(1.0, 2.0 * np.minimum(of_t2, chi2.sf(found[:, 1] / unit, freedom)))

    return p_values


def by_rank(score: Callable[[np.ndarray], np.ndarray], reference: np.ndarray) -> P_VALUES:
    """Return p-values by the rank among the scores of the training rows."""
    ascending = np.sort(reference)
    return lambda new: (1.0 + len(ascending) - np.searchsorted(ascending, score(new))) / (len(ascending) + 1.0)


def local_outlier_factor(X: np.ndarray) -> P_VALUES:
    scaler = StandardScaler().fit(X)
    model = LocalOutlierFactor(novelty=True).fit(scaler.transform(X))
    return by_rank(lambda new: -model.score_samples(scaler.transform(new)), -model.negative_outlier_factor_)


def isolation_forest(X: np.ndarray) -> P_VALUES:
    model = IsolationForest(random_state=0).fit(X)
    return by_rank(lambda new: -model.score_samples(new), -model.score_samples(X))


def outlier_detector(X: np.ndarray) -> P_VALUES:
    return KernelOutlierDetector(alpha=0.01, random_state=0).fit(X).p_values


def monitor(**parameters: object) -> Fit:
    return lambda X: ProcessMonitor(**parameters).fit(X).p_values  # type: ignore[arg-type]


PEERS: dict[str, Fit] = {
    "linear PCA, T2 and SPE": pca_t2_spe,
    "scikit-learn LocalOutlierFactor": local_outlier_factor,
    "scikit-learn IsolationForest": isolation_forest,
}
OURS: dict[str, Fit] = {"mercer KernelOutlierDetector": outlier_detector, "mercer ProcessMonitor": monitor()}


def shewhart(X: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the largest standardised deviation of any variable."""
    mean, unit = X.mean(axis=0), X.std(axis=0)
    return lambda new: np.abs((new - mean) / unit).max(axis=1)


def mewma(X: np.ndarray, weight: float = 0.1) -> Callable[[np.ndarray], np.ndarray]:
    """Return the multivariate EWMA statistic [lowry1992]."""
    mean, inverse = X.mean(axis=0), np.linalg.pinv(np.cov(X.T))

    def statistic(new: np.ndarray) -> np.ndarray:
        out, z = np.empty(len(new)), np.zeros(X.shape[1])
        for i, row in enumerate(new - mean):
            z = (1.0 - weight) * z + weight * row
            out[i] = z @ inverse @ z
        return out

    return statistic


def linear_pca_chart(X: np.ndarray, weight: float = 1.0) -> Callable[[np.ndarray], np.ndarray]:
    """Return the larger of smoothed cube roots of T2 and SPE of linear PCA, in units of their spreads."""
    statistics = pca_statistics(X)

    def smoothed(new: np.ndarray) -> np.ndarray:
        out, z = [], np.zeros(2)
        for row in (np.cbrt(statistics(new)) - middle) / spread:
            z = (1.0 - weight) * z + weight * row
            out.append(z)
        return np.array(out)

    middle, spread = np.cbrt(statistics(X)).mean(axis=0), np.cbrt(statistics(X)).std(axis=0)
    unit = smoothed(X).std(axis=0)
    return lambda new: (smoothed(new) / unit).max(axis=1)


def surprise(p: np.ndarray) -> np.ndarray:
    """Return p-values as scores that rise with how unusual a row is."""
    return norm.isf(np.clip(p, 1e-300, 1.0 - 1e-12))


def rate_and_detection(alpha: float, faulty: int, _: object, alarms: np.ndarray) -> dict[str, float]:
    """Return the rate of false alarms relative to alpha, and the share of the last, faulty rows that was found."""
    normal = alarms[:, :-faulty].mean(axis=1) / alpha
    return {
        "rate / alpha": float(normal.mean()),
        "largest of a seed": float(normal.max()),
        "% of faulty rows found": 100.0 * float(alarms[:, -faulty:].mean()),
    }
