"""Compression of a library of points: time of a call and what is lost, by strategy [chin2007, IV-B, figure 1]."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.suite.data import load
from benchmarks.suite.library_chain import Chain, Library, batch, share_lost
from benchmarks.suite.plan import Objective, Solver
from mercer.kernels import RBF, Kernel, Polynomial
from mercer.solvers.incremental.reduced_preimages import Variant
from mercer.solvers.incremental.reduced_set import ReducedSet, compress

GAUSS, POLY = RBF(1.0 / (2.0 * 2000.0**2)), Polynomial(1.0 / (784 * 255.0**2), 1.0, 2.0)
VARIANTS: dict[str, dict[str, Any]] = {
    "mercer, subset": {"method": "subset"},
    "mercer, preimage": {},
    "library only": {"variant": Variant(steps=0)},
    "(a) own": {"variant": Variant("own")},
    "(b) sequential": {"variant": Variant("sequential")},
    "shared": {"variant": Variant("shared")},
    "(a) pre-images only": {"variant": Variant("own", library=False)},
    "(b) pre-images only": {"variant": Variant("sequential", library=False)},
    "shared, pre-images only": {"variant": Variant("shared", library=False)},
}


class Case(NamedTuple):
    library: Library
    kernel: Kernel
    size: int  # points that may be left


def threes(n: int) -> np.ndarray:
    return load("mnist3", n).X[:n].reshape(n, -1).astype(np.float64)


def update(kernel: Kernel, r: int, p: int, i: int) -> Case:
    """Return what the last update of a stream has to compress."""
    chain = Chain(kernel, r, p, {"method": "subset"}).feed(threes(600), i)
    return Case(chain.library, kernel, (r + 1) * p)


def at_once(size: int) -> Case:
    """Return the components and the mean of 1000 images."""
    X = threes(1000)
    coef, sigma = batch(GAUSS, X, 20)
    vectors = np.vstack([coef, np.full(len(X), 1.0 / len(X))])
    return Case((X, GAUSS(X), vectors, np.append(sigma, np.sqrt(len(X)))), GAUSS, size)


def by(**options: Any) -> Any:
    def call(case: Case) -> ReducedSet:
        with threadpool_limits(1):
            return compress(*case.library, case.kernel, case.size, **options)

    return lambda case: lambda: call(case)


OBJECTIVE = Objective(
    name="reduced_set",
    question="how long does it take to compress a library of images of a 3, and what share of the components is lost?",
    datasets={
        "Gaussian, r=20, p=10, i=30": partial(update, GAUSS, 20, 10, 30),
        "Gaussian, r=5, p=10, i=5": partial(update, GAUSS, 5, 10, 5),
        "polynomial, r=20, p=10, i=30": partial(update, POLY, 20, 10, 30),
        "polynomial, r=5, p=10, i=5": partial(update, POLY, 5, 10, 5),
        **{f"1000 images to {size} points": partial(at_once, size) for size in (210, 105, 42)},
    },
    solvers=[
        Solver("(c) pre-images only, as published", by(variant=Variant(library=False)), peer=True),
        *(Solver(name, by(**options)) for name, options in VARIANTS.items()),
    ],
    quality=lambda case, made: share_lost(case.library, made),
    quality_name="share lost",
    default=False,
)
