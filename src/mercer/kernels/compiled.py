"""What compiled functions can tell the compiler and the processor beyond Python: vector width, data to come."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


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
    """Ask the processor to bring array[row, column] near; a hint, so any address is harmless."""

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
