"""Textbook twins of the Hebbian algorithms: one sample at a time, from the formulas of [guenter2006]."""

import numpy as np


def gha_step(W, x, gain):
    """[eq. 2] with a gain vector."""
    y = W @ x
    return W + gain[:, None] * (np.outer(y, x) - np.tril(np.outer(y, y)) @ W)


def oja_step(W, x, gain):
    """Oja's subspace rule; for one row Oja's rule [lecture_notes]."""
    y = W @ x
    return W + gain[:, None] * (np.outer(y, x) - np.outer(y, y) @ W)


def kha(K, A, order, gain_rule, eta0):
    """[eqs. 8, 11, 12, 13]; `order` holds the visited indices, one array a pass; K is K'."""
    A, length, t = A.copy(), K.shape[0], 0
    for visits in order:
        eigenvalues = np.linalg.norm(A @ K, axis=1) / np.linalg.norm(A, axis=1)
        for p in visits:
            t += 1
            gain = gains(gain_rule, eta0, t, length, eigenvalues)
            y = A @ K[:, p]
            hebb = np.zeros_like(A)
            hebb[:, p] = y
            A = A + gain[:, None] * (hebb - np.tril(np.outer(y, y)) @ A)
    return A


def gains(rule, eta0, t, length, eigenvalues):
    if rule == "constant":
        return np.full(len(eigenvalues), eta0)
    decay = length / (t + length)
    if rule == "t":
        return np.full(len(eigenvalues), eta0 * decay)
    floored = np.maximum(eigenvalues, 1e-6 * eigenvalues.max())
    return np.linalg.norm(eigenvalues) / floored * decay * eta0


def kha_smd(K, A, order, eta0, rate, decay):
    """[Algorithm 1], literally, with the change of a log-gain limited to log 2 a step."""
    A, length, t = A.copy(), K.shape[0], 0
    B, rho = np.zeros_like(A), np.ones(len(A))
    for visits in order:
        eigenvalues = np.linalg.norm(A @ K, axis=1) / np.linalg.norm(A, axis=1)
        for p in visits:
            t += 1
            eta = gains("et", eta0, t, length, eigenvalues)
            k = K[:, p]
            y, u = A @ k, B @ k
            unit = np.zeros(length)
            unit[p] = 1.0
            gamma = np.outer(y, unit) - np.tril(np.outer(y, y)) @ A  # [eq. 9]
            change = rate * np.diag(gamma @ K @ B.T)  # [eq. 16]
            rho = rho + np.clip(change, -np.log(2), np.log(2))
            d_gamma = (
                np.outer(u, unit) - np.tril(np.outer(y, y)) @ B - np.tril(np.outer(u, y) + np.outer(y, u)) @ A
            )  # [eq. 20]
            scale = (np.exp(rho) * eta)[:, None]
            B = decay * B + scale * (gamma + decay * d_gamma)  # [eq. 19]
            A = A + scale * gamma  # [eq. 15]
    return A


# -- linear: one row at a time, on the weights themselves --------------------------------------------------------------


def normalised_step(W, x, gain):
    """(w + gain y x) / |w + gain y x| [lecture_notes]; several rows by Gram-Schmidt, the first row first."""
    W = W + (gain * (W @ x))[:, None] * x
    for i in range(len(W)):
        for j in range(i):
            W[i] -= (W[i] @ W[j]) * W[j]
        W[i] /= np.linalg.norm(W[i])
    return W


LINEAR_STEPS = {"gha": gha_step, "oja": oja_step, "normalised": normalised_step}


def linear(X, W, rule, gain_rule, eta0, length, center, clip=np.inf):
    """Learn the rows of X in order; return W, the mean, the sum of |x - mean|^2, and the running means of y_i^2."""
    W, squares = W.copy(), np.zeros(len(W))
    for t, row in enumerate(X, start=1):
        if t % length == 1 or length == 1:
            eigenvalues = squares / (t - 1) if squares.any() else np.ones(len(W))
        x = row - X[:t].mean(axis=0) if center else row
        squares += (W @ x) ** 2
        W = LINEAR_STEPS[rule](W, x, gains(gain_rule, eta0, t, length, eigenvalues))
        W = np.clip(W, -clip, clip)  # condition 2 of the stability theorem [lecture_notes]
    mean = X.mean(axis=0) if center else np.zeros(X.shape[1])
    return W, mean, ((X - mean) ** 2).sum(), squares / len(X)


def linear_smd(X, W, eta0, length, center, rate, decay):
    """[Algorithm 1] with W for A Phi' and B Phi' kept as dW: K' becomes the inner product of rows."""
    W, B, rho, squares = W.copy(), np.zeros_like(W), np.ones(len(W)), np.zeros(len(W))
    for t, row in enumerate(X, start=1):
        if t % length == 1 or length == 1:
            eigenvalues = squares / (t - 1) if squares.any() else np.ones(len(W))
        eta = gains("et", eta0, t, length, eigenvalues)
        x = row - X[:t].mean(axis=0) if center else row
        y, u = W @ x, B @ x
        squares += y**2
        gamma = np.outer(y, x) - np.tril(np.outer(y, y)) @ W
        rho = rho + np.clip(rate * np.diag(gamma @ B.T), -np.log(2), np.log(2))
        d_gamma = np.outer(u, x) - np.tril(np.outer(y, y)) @ B - np.tril(np.outer(u, y) + np.outer(y, u)) @ W
        scale = (np.exp(rho) * eta)[:, None]
        B = decay * B + scale * (gamma + decay * d_gamma)
        W = W + scale * gamma
    return W


def adaptive_gains(X, W, rule, gain_rule, relative, length):
    """The same with gains relative to the mean of |x|^2 so far, and at most 1 / |x|^2."""
    W, squares, energies = W.copy(), np.zeros(len(W)), 0.0
    for t, row in enumerate(X, start=1):
        if t % length == 1 or length == 1:
            eigenvalues = squares / (t - 1) if squares.any() else np.ones(len(W))
            eigenvalues = np.maximum(eigenvalues, 0.01 * eigenvalues.max())
        x = row - X[:t].mean(axis=0)
        squares += (W @ x) ** 2
        energies = ((X[:t] - X[:t].mean(axis=0)) ** 2).sum() / max(t - 1, 1)
        if energies == 0:
            continue
        gain = gains(gain_rule, relative, t, length, eigenvalues) / energies
        highest = gains(gain_rule, relative, 0, length, eigenvalues).max()  # without the decay
        gain = np.minimum(gain, gains(gain_rule, relative, 0, length, eigenvalues) / (highest * (x @ x)))
        W = LINEAR_STEPS[rule](W, x, gain)
    return W
