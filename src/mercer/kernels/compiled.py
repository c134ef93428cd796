"""What all compiled kernels share: a hint to the compiler to use the widest registers."""

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def prefer_wide_vectors(typingctx: Any) -> Any:
    """Let LLVM use 512-bit registers where the processor has them; it avoids them by default."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # llvmlite's checked `add` knows only enum attributes; this is a string attribute.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen
