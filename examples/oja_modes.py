"""Watch a single neuron find the first principal component: python examples/oja_modes.py modes.png

Oja's rule with a small constant gain follows a differential equation in which every mode of the weights except the
first decays to zero [lecture_notes]. The figure compares a run on random samples with the solution of that equation.
"""

import sys

import numpy as np

from mercer import HebbianPCA
from mercer.plots.hebbian import mode_decay

GAIN = 0.002
EVERY, STEPS = 20, 6000
EIGENVALUES = np.array([1.0, 0.6, 0.35, 0.15])


def main(path: str) -> None:
    """Run Oja's rule on random samples, and draw its modes over time."""
    rng = np.random.default_rng(3)
    p = len(EIGENVALUES)
    axes = np.linalg.qr(rng.standard_normal((p, p)))[0]
    samples = rng.standard_normal((STEPS, p)) * np.sqrt(EIGENVALUES) @ axes.T
    start = np.array([0.15, 0.45, 0.5, 0.55]) @ axes.T  # nearly orthogonal to the first axis
    neuron = HebbianPCA(1, rule="oja", gain="constant", eta0=GAIN, init=start[None], center=False, orthonormalize=False)
    weights, times = [start], [0]
    for first in range(0, STEPS, EVERY):
        neuron.partial_fit(samples[first : first + EVERY])
        weights.append(neuron.components_[0])
        times.append(first + EVERY)
    mode_decay(weights, times, EIGENVALUES, axes, GAIN).savefig(path, dpi=120)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "oja_modes.png")
