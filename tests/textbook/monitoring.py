"""Monitoring of processes, as the formulas stand in books: plain loops, nothing from the package."""

import numpy as np


def autocorrelations(x: np.ndarray) -> np.ndarray:
    """rho_k = sum_t (x_t - m)(x_{t+k} - m) / sum_t (x_t - m)^2."""
    m, n = x.mean(), len(x)
    total = sum((x[t] - m) ** 2 for t in range(n))
    return np.array([sum((x[t] - m) * (x[t + k] - m) for t in range(n - k)) / total for k in range(n)])


def spaced_autocorrelations(x: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Mean products of the known pairs at each lag, by the mean square, falling with the lag as those of all values do.

    Where a lag has less than half of the pairs that gaps at random leave, the neighbouring lags are interpolated.
    """
    length, n, c = int(place[-1] - place[0]) + 1, len(x), x - x.mean()
    known = {}
    for lag in range(length):
        pairs = [c[i] * c[j] for i in range(n) for j in range(n) if place[j] - place[i] == lag]
        if len(pairs) >= 0.5 * max(n * n / length * (1 - lag / length), 1.0):
            known[lag] = np.mean(pairs) / np.mean(c**2) * (1 - lag / length)
    return np.interp(np.arange(length), list(known), list(known.values()))


def correlation_time(x: np.ndarray) -> float:
    """1 + 2 sum of rho_k up to the smallest W >= 5 tau(W), divided by 1 - (2 W + 1) / n."""
    rho, n = autocorrelations(x), len(x)
    tau, window = 1.0, n // 2 - 1
    for W in range(1, n):
        tau = 1.0 + 2.0 * rho[1 : W + 1].sum()
        if max(tau, 1.0) * 5.0 <= W:
            window = W
            break
    tau = 1.0 + 2.0 * rho[1 : window + 1].sum()
    return max(tau / max(1.0 - (2 * window + 1) / n, 0.3), 1.0)


def dickey_fuller(x: np.ndarray) -> float:
    """t statistic of a in  dx_t = a x_{t-1} + b + sum_i c_i dx_{t-i} + e_t."""
    p = int(np.ceil(4 * (len(x) / 100) ** 0.25))
    left, right = [], []
    for t in range(p + 1, len(x)):
        left.append(x[t] - x[t - 1])
        right.append([x[t - 1], 1.0] + [x[t - i] - x[t - i - 1] for i in range(1, p + 1)])
    y, Z = np.array(left), np.array(right)
    b = np.linalg.lstsq(Z, y, rcond=None)[0]
    s2 = ((y - Z @ b) ** 2).sum() / (len(y) - Z.shape[1])
    return b[0] / np.sqrt(s2 * np.linalg.inv(Z.T @ Z)[0, 0])


def with_lags(X: np.ndarray, lags: int, starts: np.ndarray) -> np.ndarray:
    """(x_t, x_{t-1}, ...), with NaN for rows of another segment."""
    out = []
    for t in range(len(X)):
        row, s = list(X[t]), t
        for _ in range(lags):
            s = -1 if s < 0 or starts[s] else s - 1
            row += list(X[s]) if s >= 0 else [np.nan] * X.shape[1]
        out.append(row)
    return np.array(out)


def smoothed(z: np.ndarray, weight: float) -> np.ndarray:
    """m_t = (1 - w) m_{t-1} + w z_t, m_0 = 0, for each column."""
    out, m = [], np.zeros(z.shape[1])
    for row in z:
        m = (1.0 - weight) * m + weight * row
        out.append(m)
    return np.array(out)


def kth_largest(values: np.ndarray, k: int, m: int) -> np.ndarray:
    """The k-th largest of the last m values; -inf where there are fewer than k."""
    out = []
    for t in range(len(values)):
        last = sorted(values[max(0, t - m + 1) : t + 1], reverse=True)
        out.append(last[k - 1] if len(last) >= k else -np.inf)
    return np.array(out)


def t2_and_spe(X: np.ndarray, new: np.ndarray, n_components: int) -> np.ndarray:
    """T2 and SPE of linear PCA, of rows in units of the training rows' standard deviations."""
    mean, unit = X.mean(axis=0), X.std(axis=0)
    Z, N = (X - mean) / unit, (new - mean) / unit
    values, axes = np.linalg.eigh(np.cov(Z.T))
    axes, values = axes[:, ::-1][:, :n_components], values[::-1][:n_components]
    Y = N @ axes
    return np.column_stack([(Y**2 / values).sum(axis=1), ((N - Y @ axes.T) ** 2).sum(axis=1)])


def split_t2_and_spe(X: np.ndarray, new: np.ndarray, n_components: int, share: float = 0.9) -> np.ndarray:
    """T2 of the components that hold a share of the variance; SPE of all else in units of its spread [hawkins1974].

    What is left by all components is in units of the last one.
    """
    mean, unit = X.mean(axis=0), X.std(axis=0)
    Z, N = (X - mean) / unit, (new - mean) / unit
    values, axes = np.linalg.eigh(np.atleast_2d(np.cov(Z.T)))
    values, axes = values[::-1], axes[:, ::-1]
    main, total = 1, values.sum()
    while values[:main].sum() < share * total and main < n_components - 1:
        main += 1
    t2, spe = np.zeros(len(N)), np.zeros(len(N))
    for j in range(X.shape[1]):
        square = (N @ axes[:, j]) ** 2
        if j < main:
            t2 += square / values[j]
        else:
            spe += square / values[min(j, n_components - 1)]
    return np.column_stack([t2, spe])


def reduction_of_square(M: np.ndarray, x: np.ndarray, variable: int) -> float:
    """The largest fall of x^T M x by a change of one variable: (e^T M x)^2 / (e^T M e) [alcala2009]."""
    return float((M[variable] @ x) ** 2 / M[variable, variable])


def level_p_value(x: float, mean: float, spread: float, independent: float, density) -> float:
    """Two-sided probability of Student's distribution beyond (x - mean) / (s (1 + 1 / m)^(1/2)), by summation."""
    z = abs(x - mean) / (spread * np.sqrt(1.0 + 1.0 / independent))
    grid = np.linspace(0.0, z, 20001)
    return 1.0 - 2.0 * float(np.trapezoid(density(grid, independent - 1.0), grid))


def run_lengths(X: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For how many rows each value has been the same, 0 where missing, and for how many it has been missing."""
    equal, absent = np.zeros(X.shape, int), np.zeros(X.shape, int)
    for j in range(X.shape[1]):
        for t in range(len(X)):
            if np.isnan(X[t, j]):
                absent[t, j] = 1 if t == 0 or starts[t] else absent[t - 1, j] + 1
            else:
                same = t > 0 and not starts[t] and X[t, j] == X[t - 1, j]
                equal[t, j] = equal[t - 1, j] + 1 if same else 1
    return equal, absent


def conditional_mean(x: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """E[x_M | x_O] of a normal distribution, by the partitioned inverse: m_M - (P_MM)^-1 P_MO (x_O - m_O), P = S^-1."""
    missing, precision, found = np.isnan(x), np.linalg.inv(covariance), x.copy()
    if missing.any():
        left, right = precision[np.ix_(missing, missing)], precision[np.ix_(missing, ~missing)]
        found[missing] = mean[missing] - np.linalg.solve(left, right @ (x - mean)[~missing])
    return found


def gaussian_index(Z, points, coef, offset, nu, mean_norm, variances, gamma, noise) -> np.ndarray:
    """T2 + SPE / noise of rows, term by term, for orthonormal components on points with a Gaussian kernel."""
    out = []
    for z in Z:
        k = np.array([np.exp(-gamma * ((z - x) ** 2).sum()) for x in points])
        y = np.array([a @ k - o for a, o in zip(coef, offset, strict=True)])
        spe = 1.0 - 2.0 * nu @ k + mean_norm - (y**2).sum()
        out.append((y**2 / variances).sum() + spe / noise)
    return np.array(out)


def betting(p: np.ndarray, bets: np.ndarray, smallest: float) -> np.ndarray:
    """The mean over bets e of S_t = max(1, S_{t-1}) e p_t^(e - 1), S_0 = 0, with p at least `smallest`."""
    out, S = [], [0.0 for _ in bets]
    for value in p:
        value = max(value, smallest)
        S = [max(1.0, s) * e * value ** (e - 1.0) for s, e in zip(S, bets, strict=True)]
        out.append(sum(S) / len(S))
    return np.array(out)


def adjusted(X: np.ndarray, new: np.ndarray, ridge: float) -> np.ndarray:
    """Errors of the ridge regression of each standardised column on the others, in units of the root of its criterion.

    The criterion of column j is min_b mean (z_j - b z_others)^2 + ridge (1 + |b|^2).
    """
    Z, N, d = (X - X.mean(axis=0)) / X.std(axis=0), (new - X.mean(axis=0)) / X.std(axis=0), X.shape[1]
    out = np.empty(new.shape)
    for j in range(d):
        others = [k for k in range(d) if k != j]
        rows = np.vstack([Z[:, others], np.sqrt(ridge * len(Z)) * np.eye(d - 1)])
        b = np.linalg.lstsq(rows, np.concatenate([Z[:, j], np.zeros(d - 1)]), rcond=None)[0]
        criterion = ((Z[:, j] - Z[:, others] @ b) ** 2).mean() + ridge * (1.0 + b @ b)
        out[:, j] = (N[:, j] - N[:, others] @ b) / np.sqrt(criterion)
    return out
