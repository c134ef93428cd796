"""
Four ways to learn one sample at a time
=======================================

`mercer.HebbianKernelPCA` changes its components with every sample. The gain is the size of these steps; it decides
how fast the components are learned.
"""

# %%
# Four gain rules on the same digits. The excess is the reconstruction error beyond the smallest possible one.
from sklearn.datasets import load_digits

from mercer import HebbianKernelPCA, plots

X, _ = load_digits(return_X_y=True)
runs = {
    gain: HebbianKernelPCA(
        8, kernel="rbf", gamma=5e-4, gain=gain, max_iter=30, tol=0, monitor="excess", random_state=0
    ).fit(X[:1000])
    for gain in ("constant", "t", "et", "smd")
}
figure = plots.convergence(runs, title="Eight components of 1000 digits")

# %%
# KHA has a constant gain. It falls with time in KHA/t; in KHA/et each component has its own, which follows its
# eigenvalue; KHA-SMD learns the gains as well. None of them needed tuning: `eta0="auto"` measures the scale of the
# data.
for gain, model in runs.items():
    print(f"{gain:9} eta0 = {model.eta0_:.3g}, excess after {model.n_iter_} passes: {model.history_['excess'][-1]:.1e}")
