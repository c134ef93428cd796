"""scikit-learn shells: parameters and validation in, solvers behind."""
