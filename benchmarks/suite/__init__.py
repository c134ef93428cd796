"""Benchmarks as plug-ins: an objective has data sets and solvers; all solvers run on the same data in one process."""
