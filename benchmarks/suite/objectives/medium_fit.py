"""KernelPCA beside scikit-learn's on 3000 and 5000 rows; scikit-learn's complete decompositions take long."""

from benchmarks.suite.fit_grid import objective

OBJECTIVE = objective("medium_fit", (3000, 5000), rounds=3)
