"""Simulated processes whose rows follow each other, with faults: for objectives and tests of monitoring.

Every process is a function of the number of rows, a seed, the name of a fault and its first row. The same seed gives
the same process and the same normal rows before the fault.
"""

from collections.abc import Callable

import numpy as np

from benchmarks.suite.closed_loop import FAULTS as LOOP_FAULTS
from benchmarks.suite.closed_loop import closed_loop

BURN_IN = 300  # rows that are simulated before the first one
Process = Callable[..., np.ndarray]


def vector_autoregression(n: int, seed: int, fault: str | None = None, start: int = 0, size: float = 1.0) -> np.ndarray:
    """Return x_t = A x_{t-1} + e_t of 10 variables, whose modes decay at rates from 0 to .95.

    Faults: "sensor", "innovation" (the mean of one e), "dynamics" (A halves).
    """
    rng, d = np.random.default_rng([1, seed]), 10
    axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A = axes @ np.diag(rng.uniform(0.0, 0.95, d)) @ axes.T
    mixing = rng.standard_normal((d, d)) / np.sqrt(d) + 0.5 * np.eye(d)
    noise = rng.standard_normal((n + BURN_IN, d)) @ mixing.T
    variable = int(rng.integers(d))
    x, rows = np.zeros(d), np.empty((n + BURN_IN, d))
    for t in range(n + BURN_IN):
        on = fault is not None and t - BURN_IN >= start
        x = (0.5 if on and fault == "dynamics" else 1.0) * (A @ x) + noise[t]
        if on and fault == "innovation":
            x[variable] += size
        rows[t] = x
        if on and fault == "sensor":
            rows[t, variable] += 2.0 * size
    return rows[BURN_IN:]


TANK_FAULTS = ("feed", "fouling", "catalyst", "sensor", "valve", "leak")
_MEASURED = np.array([0.005, 0.003, 0.005, 0.005, 0.003, 0.003, 0.005, 0.01, 0.01])  # noise of the 9 sensors
_DISTURBED = np.array([0.03, 0.015, 0.012, 0.03])  # feed concentration and temperature, coolant temperature, feed flow


def stirred_tank(n: int, seed: int, fault: str | None = None, start: int = 0, size: float = 1.0) -> np.ndarray:
    """Return 9 variables of an exothermic stirred tank with a jacket, in units of its operating point.

    Concentration c, temperature T, jacket temperature J and level h follow

        c' = f (c_f - c) / h - r,    T' = f (T_f - T) / h + r / 2 - U (T - J),
        J' = 5 u (T_c - J) + 3 U (T - J) / 2,    h' = f - v h^(1/2),    r = k exp(8 - 8 / T) c (1 + c / 2),

    with four disturbances that are autoregressive, and two PI controllers: of T by the coolant valve u, and of h by the
    outlet valve v. Faults: "feed" (concentration), "fouling" (U falls), "catalyst" (k falls), "sensor" (of T),
    "valve" (the coolant valve sticks), "leak" (of the level).
    """
    rng = np.random.default_rng([2, seed])
    c, T, J, h = 0.3, 1.1, 0.93, 1.0
    sums, disturbance, u, rows = np.zeros(2), np.zeros(4), 1.0, np.empty((n + BURN_IN, 9))
    for t in range(n + BURN_IN):
        now = fault if t - BURN_IN >= start else None
        disturbance = 0.85 * disturbance + rng.standard_normal(4) * _DISTURBED
        feed, feed_T, coolant, flow = np.array([1.0, 1.0, 0.85, 1.0]) + disturbance
        feed += 0.06 * size * (now == "feed")
        U, k = 1.5 * (1.0 - 0.25 * size * (now == "fouling")), 1.05 * (1.0 - 0.15 * size * (now == "catalyst"))
        noise = rng.standard_normal(9) * _MEASURED
        shown_T, shown_h = T + noise[4] + 0.02 * size * (now == "sensor"), h + noise[6]
        errors = np.array([shown_T - 1.1, shown_h - 1.0])
        sums += errors * [0.3, 0.15]
        u = u if now == "valve" else float(np.clip(1.0 + 8.0 * errors[0] + 8.0 * sums[0], 0.0, 3.0))
        v = float(np.clip(1.0 + 2.0 * errors[1] + sums[1], 0.0, 3.0))
        for _ in range(4):
            r = k * np.exp(8.0 - 8.0 / max(T, 0.2)) * c * (1.0 + 0.5 * c)
            dc, dT = flow * (feed - c) / max(h, 0.1) - r, flow * (feed_T - T) / max(h, 0.1) + 0.5 * r - U * (T - J)
            dJ = 5.0 * u * (coolant - J) + 1.5 * U * (T - J)
            dh = flow - v * np.sqrt(max(h, 0.0)) - 0.05 * size * (now == "leak")
            c, T, J, h = c + 0.05 * dc, T + 0.05 * dT, J + 0.05 * dJ, h + 0.05 * dh
        rows[t] = np.array([feed, feed_T, flow, c, 0.0, J, 0.0, u, v]) + noise
        rows[t, [4, 6]] = shown_T, shown_h
    return rows[BURN_IN:]


PLANT_FAULTS = ("factor", "spread", "sensor", "relation")


def plant(n: int, seed: int, fault: str | None = None, start: int = 0, size: float = 1.0) -> np.ndarray:
    """Return 50 variables that 12 autoregressive factors drive, with products of neighbours and sensors' own noise.

    Faults: "factor" (a factor's mean), "spread" (a factor's variance), "sensor" (an offset), "relation" (one sensor
    shows the value of another).
    """
    rng, d, k = np.random.default_rng([4, seed]), 50, 12
    decay = rng.uniform(0.3, 0.97, k)
    loadings = rng.standard_normal((d, k)) * (rng.random((d, k)) < 0.3)
    own, own_decay = rng.uniform(0.3, 1.2, d), rng.choice([0.0, 0.0, 0.5, 0.8], d)
    variable, factor = int(rng.integers(d)), int(rng.integers(k))
    s, e, rows = np.zeros(k), np.zeros(d), np.empty((n + BURN_IN, d))
    for t in range(n + BURN_IN):
        on = fault is not None and t - BURN_IN >= start
        s = decay * s + np.sqrt(1.0 - decay**2) * rng.standard_normal(k)
        e = own_decay * e + np.sqrt(1.0 - own_decay**2) * rng.standard_normal(d)
        shown = s.copy()
        shown[factor] = (
            shown[factor] * (1.0 + 1.5 * size * (fault == "spread") * on) + 2.0 * size * (fault == "factor") * on
        )
        x = loadings @ shown
        rows[t] = x + 0.125 * np.tanh(x) * np.roll(x, 1) + own * e
        if on and fault == "sensor":
            rows[t, variable] += 1.5 * size * own[variable]
        if on and fault == "relation":
            rows[t, variable] = rows[t, (variable + 7) % d]
    return rows[BURN_IN:]


def bend(n: int, seed: int, fault: str | None = None, start: int = 0, size: float = 1.0) -> np.ndarray:
    """Return 8 nonlinear functions of two states of a nonlinear autoregression, with autocorrelated noise.

    The states visit some regions rarely, so few rows tell little of what is normal. Faults: "sensor" (an offset) and
    "relation" (one variable responds to the states with the wrong sign).
    """
    rng, d = np.random.default_rng([3, seed]), 8
    W, b = rng.standard_normal((d, 2)), rng.uniform(-1, 1, d)
    variable = int(rng.integers(d))
    s, e, rows = np.zeros(2), np.zeros(d), np.empty((n + BURN_IN, d))
    for t in range(n + BURN_IN):
        on = fault is not None and t - BURN_IN >= start
        s = np.array([0.9 * s[0] + 0.3 * np.sin(2 * s[1]), 0.8 * s[1] - 0.3 * s[0]]) + 0.4 * rng.standard_normal(2)
        e = 0.5 * e + 0.1 * rng.standard_normal(d)
        y = W @ s
        if on and fault == "relation":
            y[variable] = -y[variable]
        rows[t] = np.tanh(y + b) + 0.3 * y**2 / (1.0 + np.abs(y)) + e
        if on and fault == "sensor":
            rows[t, variable] += 0.3 * size
    return rows[BURN_IN:]


PROCESSES: dict[str, Process] = {
    "VAR": vector_autoregression,
    "stirred tank": stirred_tank,
    "plant": plant,
    "bend": bend,
    "closed loop": closed_loop,
}
FAULTS: dict[str, tuple[str, ...]] = {
    "VAR": ("sensor", "innovation", "dynamics"),
    "stirred tank": TANK_FAULTS,
    "plant": PLANT_FAULTS,
    "bend": ("sensor", "relation"),
    "closed loop": LOOP_FAULTS,
}
