"""
On a Dask cluster
=================

`mercer.dask` has the same classes for rows that are spread over many machines. Each partition is summed where it is,
and only the sums travel.
"""

# %%
# A cluster of two workers inside this process. With ``Client("tcp://scheduler:8786")`` the same lines run on many
# machines.
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from mercer import LandmarkKernelPCA as Local
from mercer.dask import IncrementalKernelPCA, KernelOutlierDetector, KernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA
from mercer.metrics import subspace_distance

client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)


def made(block_info=None):
    """Return one partition: points near three rings in space."""
    number = block_info[None]["chunk-location"][0]
    rng = np.random.default_rng(number)
    turn, ring = rng.uniform(0, 2 * np.pi, 20_000), rng.integers(0, 3, 20_000)
    flat = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(20_000)])
    rows = np.stack([np.roll(flat, k, axis=1) for k in range(3)])[ring, np.arange(20_000)]
    return rows + [1.2, 0, 0] * ring[:, None] + 0.05 * rng.standard_normal(rows.shape)


X = da.map_blocks(made, chunks=((20_000,) * 15, (3,)), dtype=float)
model = LandmarkKernelPCA(4, kernel="rbf", gamma=0.5, landmarks=150, random_state=0).fit(X)
print(f"{model.to_local().n_samples_seen_:,} rows in {X.numblocks[0]} partitions")

# %%
# The result is the model that one machine would learn from all rows. Here they fit into memory, so we can compare.
landmarks = model.to_local().expansion_.points
local = Local(4, kernel="rbf", gamma=0.5, landmarks=landmarks).fit(X.compute())
print(f"distance from the local model: {subspace_distance(model.to_local().expansion_, local.expansion_):.1e}")

# %%
# `transform` gives an array of the same partitions, computed when it is needed.
scores = model.transform(X).compute()
figure, panels = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
for axes, (a, b) in zip(panels, ((0, 1), (1, 2), (2, 3)), strict=True):
    axes.hexbin(scores[:, a], scores[:, b], gridsize=110, bins="log", cmap="magma", linewidths=0)
    axes.set_title(f"components {a + 1} and {b + 1}", loc="left")
    axes.set(xticks=[], yticks=[])

# %%
# The other classes of `mercer.dask` work in the same way. `mercer.dask.KernelPCA` is exact; `to_local` gives ordinary
# models, which need no cluster. The robust class gives small weights to rows that it takes for outliers, so its mean
# error over all rows is larger. The detector learns from rows of one partition and
# judges those of another one.
few, others = (X.blocks[i][:1000].persist().rechunk((500, 3)) for i in range(2))
for estimator in (
    KernelPCA(4, kernel="rbf", gamma=0.5),
    IncrementalKernelPCA(4, kernel="rbf", gamma=0.5),
    OnlineRobustKernelPCA(4, kernel="rbf", gamma=0.5, landmarks=100, random_state=0),
):
    error = estimator.fit(few).reconstruction_error(few).mean().compute()
    print(f"{type(estimator).__name__}: mean error {error:.3f}")
detector = KernelOutlierDetector(alpha=0.01, random_state=0).fit(few)
print(f"rows of another partition with an alarm: {(detector.predict(others) == -1).mean().compute():.1%}")
client.close()
