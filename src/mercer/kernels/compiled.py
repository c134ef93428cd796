"""How functions are compiled, and a hint for the compiler: the width of vectors."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from numba import config, njit, types
from numba.core import event
from numba.extending import intrinsic

from mercer.events import COMPILATION, Channel
from mercer.kernels.compile_cache import temporary_cache

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(*, inner: bool = False, **options: Any) -> Callable[[_Function], _Function]:
    """Compile a function on its first call, without the interpreter lock; keep the result on disk where that works.

    The result is kept in the package's folder, or where that cannot be written to in the user's cache folder, or else
    in a temporary folder; NUMBA_CACHE_DIR names another one. Where no folder works, the function is compiled again in
    every process. `inner` functions are called by compiled functions only: they need no entry from Python, and take
    less time to compile.
    """

    given: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": inner, "no_cfunc_wrapper": True, **options}

    def decorate(function: _Function) -> _Function:
        for place in (nullcontext, temporary_cache):
            try:
                with place():
                    kept: _Function = njit(cache=True, **given)(function)
            except RuntimeError as error:
                if "no locator available" not in str(error):
                    raise
            else:
                return kept
        found: _Function = njit(**given)(function)
        return found

    return decorate


class _Told(event.Listener):  # type: ignore[misc]
    """Tells the displays of progress when a function of this package is compiled."""

    def __init__(self) -> None:
        self.open = 0  # functions that are being compiled, each of them for the one before
        self.count = 0

    def on_start(self, given: Any) -> None:
        """Report the start, unless it is part of another compilation."""
        if self.open == 0 and given.data["dispatcher"].py_func.__module__.startswith("mercer."):
            self.count += 1
            Channel(tuple(COMPILATION)).emit(COMPILING, self.count)
        self.open += 1

    def on_end(self, given: Any) -> None:
        """Report the end."""
        self.open -= 1
        if self.open == 0 and given.data["dispatcher"].py_func.__module__.startswith("mercer."):
            Channel(tuple(COMPILATION)).emit(COMPILING, self.count, self.count)


COMPILING = "compiling functions, once"
event.register("numba:compile", _Told())  # numba holds its compiler lock meanwhile: one thread at a time


def _hint(function: Callable[..., Any]) -> Any:
    """Return a hint for compiled code; where NUMBA_DISABLE_JIT lets Python run that code, it does nothing."""
    return _nothing if config.DISABLE_JIT else intrinsic(function)


def _nothing(*given: Any) -> None:
    """Do nothing."""


@_hint
def prefer_wide_vectors(typingctx: Any) -> Any:
    """Let LLVM use 512-bit registers where the processor has them; it avoids them by default."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # llvmlite's checked `add` knows only enum attributes; this is a string attribute.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen
