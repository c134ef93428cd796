"""Peak memory and time of `transform`: 40,000 rows on 4,000 training points, beyond input and output."""

import json
import sys

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.measure import best_seconds, in_fresh_process, resident_growth, row
from mercer import KernelPCA

CLASSES = {"sklearn": Peer, "mercer": KernelPCA}


def main() -> None:
    row("class", "seconds", "growth MB")
    for name in CLASSES:
        result = in_fresh_process("projection", name)
        row(name, result["seconds"], result["MB"])


def measure(name: str) -> None:
    rng = np.random.default_rng(0)
    train, X = rng.standard_normal((4000, 50)), rng.standard_normal((40_000, 50))
    model = CLASSES[name](n_components=16, kernel="rbf", gamma=0.01, eigen_solver="arpack", random_state=0).fit(train)
    model.transform(X[:10])
    growth = resident_growth(lambda: model.transform(X)) - len(X) * 16 * 8 / 1e6
    print(json.dumps({"MB": growth, "seconds": best_seconds(lambda: model.transform(X), 2)[0]}))


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
