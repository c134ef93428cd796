"""Estimators after scikit-learn's conventions: they declare and check parameters, and call the solvers."""
