"""The tracker of Ross, Lim, Lin and Yang, "Incremental learning for robust visual tracking", IJCV 77 (2008), compact.

A particle filter over centre, size, turn and aspect; patches of 32 x 32 pixels, not smoothed; incremental
PCA with a mean that is updated too; the likelihood of a patch from its distance to the subspace and from its scores
inside it. The settings are those of the authors for a car and a face, relative to the size of the object.
"""

import math

import numpy as np

from mercer.images.warp import sample_boxes

_PARTICLES, _PATCH, _BASIS, _BATCH = 600, 32, 16, 5
_SPREAD = np.array([0.05, 0.05, 0.02, 0.02, 0.005])  # x and y relative to the size, log size, turn, log aspect
_CONCENTRATION = 0.25  # variance of the likelihood, of grey values from 0 to 1 in all of a patch


class SubspaceModel:
    """Mean and leading directions of the patches so far; section 3.2 of the paper."""

    def __init__(self, forgetting: float = 1.0) -> None:
        self.forgetting, self.n = forgetting, 0.0
        self.mean, self.basis, self.scale = np.zeros(0), np.zeros((0, 0)), np.zeros(0)

    def learn(self, rows: np.ndarray) -> None:
        mean, m = rows.mean(axis=0), len(rows)
        parts = [rows - mean]
        if self.n > 0:
            n = self.forgetting * self.n
            parts += [math.sqrt(n * m / (n + m)) * (self.mean - mean)[None]]
            parts += [self.forgetting * self.scale[:, None] * self.basis] if len(self.scale) else []
            mean = (n * self.mean + m * mean) / (n + m)
            m += n  # type: ignore[assignment]
        _, scale, basis = np.linalg.svd(np.vstack(parts), full_matrices=False)
        keep = scale[:_BASIS] > 1e-9 * max(scale[0], 1e-30)
        self.mean, self.n, self.scale, self.basis = mean, m, scale[:_BASIS][keep], basis[:_BASIS][keep]

    def log_likelihood(self, rows: np.ndarray) -> np.ndarray:
        centred = rows - self.mean
        scores = centred @ self.basis.T
        outside = (centred**2).sum(axis=1) - (scores**2).sum(axis=1)
        inside = (scores**2 / (self.scale**2 / self.n + _CONCENTRATION)).sum(axis=1) * _CONCENTRATION
        return np.asarray(-(outside + inside) / _CONCENTRATION)


class RossTracker:
    """Particle filter with that model; `track` returns one box per frame."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)

    def track(self, frames: np.ndarray, box: np.ndarray) -> np.ndarray:
        x, y, w, h = box
        self.size, model = (float(w), float(h)), SubspaceModel()
        states = np.tile([x + 0.5 * w, y + 0.5 * h, 0.0, 0.0, 0.0], (_PARTICLES, 1))
        model.learn(self._patches(frames[0], states[:1]))
        weights, waiting, boxes = np.full(_PARTICLES, 1 / _PARTICLES), [], [np.asarray(box, float)]
        for frame in frames[1:]:
            states = states[self.random.choice(_PARTICLES, _PARTICLES, p=weights)]
            extent = np.sqrt(w * h) * np.exp(states[:, 2:3])
            reach = np.hstack([extent, extent, np.ones((_PARTICLES, 3))])
            states = states + self.random.standard_normal(states.shape) * _SPREAD * reach
            patches = self._patches(frame, states)
            heights = model.log_likelihood(patches)
            best = int(np.argmax(heights))
            weights = np.exp(heights - heights[best])
            weights /= weights.sum()
            waiting.append(patches[best])
            if len(waiting) == _BATCH:
                model.learn(np.array(waiting))
                waiting = []
            boxes.append(self._box(states[best]))
        return np.array(boxes)

    def _patches(self, frame: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Return patches of grey values from 0 to 1; states of one aspect are sampled together."""
        grey = np.asarray(frame, np.float32) / np.float32(255)
        patches = np.empty((len(states), _PATCH**2))
        shares = np.round(states[:, 4] / 0.005).astype(int)  # the aspect in steps of half a percent
        for share in np.unique(shares):
            chosen = shares == share
            flat = np.column_stack([states[chosen, :2], np.exp(states[chosen, 2]), states[chosen, 3]])
            size = (self.size[0], self.size[1] * math.exp(0.005 * share))
            patches[chosen] = sample_boxes(grey, flat, size, (_PATCH, _PATCH))
        return patches

    def _box(self, state: np.ndarray) -> np.ndarray:
        w = self.size[0] * math.exp(state[2])
        h = self.size[1] * math.exp(state[2] + 0.005 * round(state[4] / 0.005))
        return np.array([state[0] - 0.5 * w, state[1] - 0.5 * h, w, h])
