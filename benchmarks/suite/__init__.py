"""Benchmarks as plug-ins: an objective has data sets and solvers; all solvers meet the same data in one process run."""
