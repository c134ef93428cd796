"""Arrays in, arrays out: the arithmetic of the solvers."""
