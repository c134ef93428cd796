"""Algorithm 1 against the other L1-norm methods: all components."""

from functools import partial

from benchmarks.suite.objectives.l1 import fit, rows
from benchmarks.suite.plan import Objective, Solver
from mercer import L1KernelPCA, R1KernelPCA

OBJECTIVE = Objective(
    name="l1_rivals",
    question="how much longer do the other robust methods take for all components, Gaussian, sigma = d?",
    bar="the rivals take 5 to 1000 times as long",
    datasets={name: partial(rows, name, "float64") for name in ("ionosphere", "cardio")},
    solvers=[
        Solver("projection trick (KPCA-L1)", lambda X: fit(L1KernelPCA, X, algorithm="projection_trick"), peer=True),
        Solver("linear system (L1-KPCA)", lambda X: fit(L1KernelPCA, X, algorithm="linear_system"), peer=True),
        Solver("R1-KPCA", lambda X: fit(R1KernelPCA, X), peer=True),
        Solver("mercer L1, Algorithm 1", lambda X: fit(L1KernelPCA, X)),
    ],
)
