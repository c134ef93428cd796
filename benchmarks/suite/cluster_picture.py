"""Draw what the cost model of a cluster predicts: `python -m benchmarks dask_cost`, then with the costs that it prints

python -m benchmarks.suite.cluster_picture --made 1 --read .1 --exact 1.5 --latency 6 --task .6 --rate .5 --driver 20
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.suite.cluster_costs import Measured, Plan, predicted

ROWS, FEATURES, PASSES = 1_000_000, 50, 17
WORKERS = [2**k for k in range(2, 11)]
TILE_BYTES = 4 * 512 * 512
KEPT_SHARE, MEMORY = 0.55, 32 * 2**30  # of a worker


def seconds(costs: Measured, workers: int, kept: bool | None = None) -> float:
    """Return the predicted seconds; by default the workers keep their tiles where these fit."""
    plan = Plan(ROWS, FEATURES, PASSES, False)
    fits = plan.tiles * TILE_BYTES <= KEPT_SHARE * MEMORY * workers
    return predicted(costs, Plan(ROWS, FEATURES, PASSES, fits if kept is None else kept), workers)


def draw(costs: Measured, path: Path) -> None:
    """Write the picture."""
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    hours = [seconds(costs, workers) / 3600 for workers in WORKERS]
    axes.loglog(WORKERS, hours, "o-", label="predicted")
    axes.loglog(WORKERS, [hours[0] * WORKERS[0] / workers for workers in WORKERS], "k:", label="half for twice as many")
    axes.set(xlabel="workers with one thread and 32 GiB each", ylabel="hours", xticks=WORKERS)
    axes.set_xticklabels([str(workers) for workers in WORKERS])
    axes.set_title(f"Predicted, not measured: exact KernelPCA, {ROWS:,} x {FEATURES}, {PASSES} passes", fontsize=10)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=240)


def main() -> None:
    """Read the costs from the command line, draw, and print the predictions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    units = {
        "made": "ms",
        "read": "ms",
        "exact": "ms",
        "latency": "ms",
        "task": "ms",
        "rate": "GB/s",
        "driver": "us per row",
    }
    for name, unit in units.items():
        parser.add_argument(f"--{name}", type=float, required=True, help=unit)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images/cluster_predicted.png"))
    given = parser.parse_args()
    costs = Measured(
        made=given.made / 1e3,
        read=given.read / 1e3,
        exact=given.exact / 1e3,
        latency=given.latency / 1e3,
        task=given.task / 1e3,
        byte=1e-9 / given.rate,
        driver=given.driver / 1e6,
    )
    draw(costs, given.output)
    for workers in WORKERS:
        print(f"{workers:5d} workers: {seconds(costs, workers) / 3600:8.3f} hours")


if __name__ == "__main__":
    main()
