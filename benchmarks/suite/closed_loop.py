"""A simulated plant in closed loop, with 52 variables: nothing was chosen on it, so that it can be a judge."""

from dataclasses import dataclass
from typing import Self

import numpy as np

BURN_IN = 300  # rows that are simulated before the first one
FAULTS = ("feed", "unrest", "kinetics", "valve", "sensor", "coolant")
_STATES, _LOOPS, _DISTURBANCES, _QUICK, _ASSAYS = 16, 9, 8, 22, 19


@dataclass(frozen=True, eq=False)
class Design:
    """What differs between plants."""

    pace: np.ndarray  # (16,), of the states, per row
    mixing: np.ndarray  # (16, 16), how states drive each other
    response: np.ndarray  # (16, 9), of states to valves
    enters: np.ndarray  # (16, 8), where disturbances enter
    decay: np.ndarray  # (8,), of the disturbances
    shown: np.ndarray  # (22, 16), what quick sensors measure
    assays: np.ndarray  # (19, 16), what is analysed in a laboratory
    noise: np.ndarray  # (22,)
    assay_noise: np.ndarray  # (19,)
    faulty: tuple[int, int, int]  # disturbance, loop and sensor of the faults

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Self:
        k, m, q = _STATES, _LOOPS, _DISTURBANCES
        pace = 1.0 / np.exp(rng.uniform(np.log(2.0), np.log(25.0), k))
        pace[:m] = 1.0 / rng.uniform(1.5, 4.0, m)  # those under control
        mixing = rng.standard_normal((k, k)) * (rng.random((k, k)) < 0.2)
        response = np.zeros((k, m))
        response[np.arange(m), np.arange(m)] = rng.uniform(0.8, 1.5, m)
        response[m:] = 0.4 * rng.standard_normal((k - m, m)) * (rng.random((k - m, m)) < 0.3)
        enters = rng.standard_normal((k, q)) * (rng.random((k, q)) < 0.35)
        decay = rng.choice([0.0, 0.5, 0.8, 0.9], q)
        extra = rng.standard_normal((_QUICK - k, k)) * (rng.random((_QUICK - k, k)) < 0.3)
        assays = rng.standard_normal((_ASSAYS, k)) * (rng.random((_ASSAYS, k)) < 0.25)
        noise, assay_noise = rng.uniform(0.7, 3.0, _QUICK), rng.uniform(0.5, 2.5, _ASSAYS)
        faulty = int(rng.integers(q)), int(rng.integers(m)), int(rng.integers(_QUICK))
        shown = np.vstack([np.eye(k), extra])
        return cls(pace, mixing, response, enters, decay, shown, assays, noise, assay_noise, faulty)


@dataclass(eq=False)
class Plant:
    """A plant that runs: states, disturbances, controllers and the last values of its sensors."""

    design: Design
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.x, self.w, self.sums = np.zeros(_STATES), np.zeros(_DISTURBANCES), np.zeros(_LOOPS)
        self.u, self.quick, self.assayed = np.zeros(_LOOPS), np.zeros(_QUICK), np.zeros(_ASSAYS)

    def step(self, t: int, fault: str | None, age: int, size: float) -> np.ndarray:
        """Return the next row; a fault has lasted for `age` rows."""
        design, (disturbance, _, _) = self.design, self.design.faulty
        shocks = self.rng.standard_normal(_DISTURBANCES)
        shocks[disturbance] *= 3.0 if fault == "unrest" else 1.0
        self.w = design.decay * self.w + np.sqrt(1.0 - design.decay**2) * shocks
        self._control(fault)
        self._move(fault, age, size)
        self._measure(t, fault, size)
        valves = np.tanh(0.5 * self.u) * 2.0 + 0.02 * self.rng.standard_normal(_LOOPS)
        return np.concatenate([self.quick, self.assayed, valves, 0.1 * self.rng.standard_normal(2)])

    def _control(self, fault: str | None) -> None:
        """Move the valves by PI controllers of the first sensors."""
        self.sums = np.clip(self.sums + 0.08 * self.quick[:_LOOPS], -6.0, 6.0)
        u = -(0.3 * self.quick[:_LOOPS] + self.sums)
        if fault == "valve":
            u[self.design.faulty[1]] = self.u[self.design.faulty[1]]
        self.u = u

    def _move(self, fault: str | None, age: int, size: float) -> None:
        design, (disturbance, loop, _) = self.design, self.design.faulty
        push, x = self.w.copy(), self.x
        push[disturbance] += 2.0 * size * (fault == "feed")
        weaker = 1.0 - 0.5 * size * (fault == "kinetics")
        drive = 0.25 * design.mixing @ np.tanh(x) * weaker + design.response @ (np.tanh(0.5 * self.u) * 2.0)
        if fault == "coolant":
            drive[loop] -= 0.8 * size * np.sin(age / 20.0)
        bent = 0.15 * x * np.roll(x, 1) / (1.0 + np.abs(x))
        self.x = x + design.pace * (-x + drive + design.enters @ push + bent)

    def _measure(self, t: int, fault: str | None, size: float) -> None:
        """Read the quick sensors, and those analyses that are ready: every second or every fifth row."""
        design, y = self.design, self.design.shown @ self.x
        self.quick = y + 0.2 * y * np.tanh(np.roll(y, 3)) + design.noise * self.rng.standard_normal(_QUICK)
        if fault == "sensor":
            self.quick[design.faulty[2]] += 2.0 * size
        z, ready = design.assays @ self.x, t % np.where(np.arange(_ASSAYS) < 14, 2, 5) == 0
        bent = 0.3 * np.tanh(z) * np.roll(z, 1) / (1.0 + np.abs(z))
        self.assayed = np.where(ready, z + bent + design.assay_noise * self.rng.standard_normal(_ASSAYS), self.assayed)


def closed_loop(n: int, seed: int, fault: str | None = None, start: int = 0, size: float = 1.0) -> np.ndarray:
    """Return 52 variables of a plant with 16 states, 8 disturbances and 9 controllers; the median lag-1 value is .55.

    22 quick sensors, 19 analyses that hold their values for 2 or 5 rows, 9 valves and 2 idle signals. Faults: "feed" (a
    disturbance's mean), "unrest" (its variance), "kinetics" (states drive each other less), "valve" (one sticks),
    "sensor" (an offset), "coolant" (a slow wave that a controller answers).
    """
    rng = np.random.default_rng([5, seed])
    running = Plant(Design.drawn(rng), rng)
    rows = np.empty((n + BURN_IN, 52))
    for t in range(n + BURN_IN):
        age = t - BURN_IN - start
        rows[t] = running.step(t, fault if age >= 0 else None, age, size)
    return rows[BURN_IN:]
