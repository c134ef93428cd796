"""KernelPCA beside scikit-learn's on 50 to 1797 rows."""

from benchmarks.suite.fit_grid import objective

OBJECTIVE = objective("small_fit", (50, 100, 200, 300, 600, 1000, 1797), rounds=9)
