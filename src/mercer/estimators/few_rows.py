"""Learning from few rows runs on one thread.

Threads that share little work mostly wait for each other. On a busy machine that takes up to twenty times as long as
the work itself; on an idle one, one thread is as fast.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any, TypeVar, cast

from mercer.kernels.threads import one_thread

Method = TypeVar("Method", bound=Callable[..., Any])

_MOST_ROWS = 700
_MOST_PRODUCTS = 2**28  # of numbers, in the inner products of all pairs of rows: about ten milliseconds


def few_rows_on_one_thread(method: Method) -> Method:
    """Return a method that runs on one thread where its first argument is a table of few rows.

    This holds for BLAS, for scikit-learn's loops, and for all work whose number of threads is that of BLAS
    (`n_jobs=None`).
    """

    @wraps(method)
    def on_one_thread(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        with one_thread() if _is_small(X) else nullcontext():
            return method(self, *args, **kwargs)

    return cast(Method, on_one_thread)


def _is_small(X: Any) -> bool:
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return len(shape) == 2 and shape[0] <= _MOST_ROWS and shape[0] ** 2 * shape[1] <= _MOST_PRODUCTS
