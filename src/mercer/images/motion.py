"""Where an object can be in the next frame: candidates around a state, and how far the object usually goes.

A state is (x, y, scale, angle), see `mercer.images.warp`. A step between two states is relative: x and y in units of
the object's size, the logarithm of the ratio of scales, and the difference of angles.
"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array

_SMALLEST = 4.0  # pixels that a side of the box keeps
_RATE = 0.1  # weight of the newest step in what is learned: about the last ten frames count
_WIDER = 2.0  # standard deviation of candidates, of the usual step: objects speed up
_LIMITS = (0.6, 2.0)  # least and largest standard deviation, of the given one


@dataclass(frozen=True)
class Field:
    """The size of the first box, (width, height), and that of the frame, (height, width)."""

    size: tuple[float, float]
    shape: tuple[int, int]

    def extent(self, state: Array) -> float:
        """Return the side of a square as large as the box."""
        return float(np.sqrt(self.size[0] * self.size[1]) * state[2])

    def moved(self, state: Array, steps: Array) -> Array:
        """Return the states after steps, (n, 4): centres in the frame, sizes between a few pixels and all of it."""
        extent = self.extent(state)
        states = state + steps * [extent, extent, 0.0, 1.0]
        states[:, 2] = state[2] * np.exp(steps[:, 2])
        height, width = self.shape
        most = max(min(width / self.size[0], height / self.size[1]), 1.0)
        least = min(_SMALLEST / min(self.size), 1.0)
        return np.clip(states, [0.0, 0.0, least, -np.inf], [width, height, most, np.inf])

    def steps(self, state: Array, states: Array) -> Array:
        """Return the steps from a state to others, (n, 4)."""
        extent = self.extent(state)
        steps = (states - state) / [extent, extent, 1.0, 1.0]
        steps[:, 2] = np.log(states[:, 2] / state[2])
        return np.asarray(steps)


@dataclass(frozen=True)
class MotionPrior:
    """Standard deviations of the next step, learned from the last ones."""

    given: Array  # (4,), before anything is known; 0 keeps that quantity as it is
    variances: Array  # (4,)

    @classmethod
    def of(cls, spread: tuple[float, float, float]) -> "MotionPrior":
        """Return the prior of a spread: position, size, turn."""
        given = np.array([spread[0], *spread])
        return cls(given, given**2)

    @property
    def deviations(self) -> Array:
        """Standard deviations of x, y, log size and angle, relative."""
        return np.asarray(np.sqrt(self.variances))

    def after(self, step: Array) -> "MotionPrior":
        """Return the prior after a step; x and y share theirs."""
        squares = np.array([np.mean(step[:2] ** 2), np.mean(step[:2] ** 2), step[2] ** 2, step[3] ** 2])
        variances = (1 - _RATE) * self.variances + _RATE * _WIDER**2 * squares
        low, high = (limit**2 * self.given**2 for limit in _LIMITS)
        return MotionPrior(self.given, np.clip(variances, low, high))

    def distances(self, steps: Array) -> Array:
        """Return squared lengths of steps in standard deviations."""
        deviations = self.deviations
        return np.asarray(np.sum((steps / np.where(deviations > 0, deviations, 1.0)) ** 2, axis=1))
