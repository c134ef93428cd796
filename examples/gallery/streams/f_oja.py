"""
One neuron finds the first component
====================================

Oja's rule is the oldest algorithm of this kind: a neuron with a small gain turns its weights to the first principal
component. Every other mode decays, as a differential equation predicts.
"""

# %%
# `mercer.HebbianPCA` with one component and a constant gain, on random samples with known eigenvalues.
import numpy as np

from mercer import HebbianPCA, plots

gain, steps, every = 0.002, 6000, 20
eigenvalues = np.array([1.0, 0.6, 0.35, 0.15])
rng = np.random.default_rng(3)
axes = np.linalg.qr(rng.standard_normal((4, 4)))[0]
samples = rng.standard_normal((steps, 4)) * np.sqrt(eigenvalues) @ axes.T
start = np.array([0.15, 0.45, 0.5, 0.55]) @ axes.T  # nearly orthogonal to the first axis

neuron = HebbianPCA(1, rule="oja", gain="constant", eta0=gain, init=start[None], center=False, orthonormalize=False)
weights, times = [start], [0]
for first in range(0, steps, every):
    neuron.partial_fit(samples[first : first + every])
    weights.append(neuron.components_[0])
    times.append(first + every)

# %%
# Solid: the run. Dashed: the solution of the equation.
figure = plots.mode_decay(weights, times, eigenvalues, axes, gain)
