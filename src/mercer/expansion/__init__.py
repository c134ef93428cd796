"""The model form that every algorithm ends in, and how solvers build it."""
