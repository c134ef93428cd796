"""How functions are compiled, and hints for the compiler and the processor: vector width, data needed soon."""

from collections.abc import Callable
from typing import Any, TypeVar

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """Compile a function on its first call, without the interpreter lock; keep the result on disk where that works.

    Where neither the package's folder, nor the user's, nor NUMBA_CACHE_DIR can be written to, numba has no place for
    the result and refuses. Then the function is compiled again in every process.
    """

    def decorate(function: _Function) -> _Function:
        try:
            found: _Function = njit(nogil=True, cache=True, **options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            found = njit(nogil=True, **options)(function)
        return found

    return decorate


@intrinsic  # type: ignore[untyped-decorator]
def prefer_wide_vectors(typingctx: Any) -> Any:
    """Let LLVM use 512-bit registers where the processor has them; it avoids them by default."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # llvmlite's checked `add` knows only enum attributes; this is a string attribute.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typingctx: Any, array: Any, row: Any, column: Any) -> Any:
    """Ask the processor to load array[row, column] into its cache; this is only a hint, so any address is harmless."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type = signature.args[0]
        view = context.make_array(array_type)(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, array_type, view, args[1:], wraparound=False)
        byte_pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer.type, number, number, number])
        hint = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        builder.call(hint, [byte_pointer, number(0), number(2), number(1)])  # for reading, into the second level
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), codegen
