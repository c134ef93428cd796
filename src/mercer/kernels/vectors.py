"""Vector instructions for compiled functions, where the compiler's own choice is too slow.

Of a loop in Python the compiler makes one long chain of sums for each column, each waiting for the one before, and no
vector instructions at all where data are asked for in advance. So the innermost loops of `pairs` and `inner_products`
are written with this class.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import config
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features

_INDEX, _BYTE = ir.IntType(32), ir.IntType(8).as_pointer()
_ADD_TO_PRODUCT = ("contract",)  # a product and a sum may be one instruction


def _vector_bytes() -> int:
    """Return the size of the vector registers that numba uses, which NUMBA_CPU_FEATURES and others may limit."""
    given = config.CPU_FEATURES
    known = (get_host_cpu_features() if given is None else given).split(",")
    return 64 if "+avx512f" in known else 32 if "+avx" in known else 16


VECTOR_BYTES = _vector_bytes()
ROWS = 8 if VECTOR_BYTES == 64 else 4  # at a time: processors with longer vectors have more registers for sums


class Vectors:
    """Writes instructions for vectors of numbers of one precision, with the arrays among a function's arguments."""

    def __init__(self, context: Any, builder: Any, types: Sequence[Any], args: Sequence[Any], number: Any) -> None:
        self._context, self._builder, self._types, self._args = context, builder, types, args
        self.size = number.bitwidth // 8
        self.lanes = VECTOR_BYTES // self.size
        self.scalar = context.get_value_type(number)
        self.type = ir.VectorType(self.scalar, self.lanes)

    def entry(self, which: int, *index: Any) -> Any:
        """Return where an entry of an argument is."""
        array = self._array(which)
        return cgutils.get_item_pointer(
            self._context, self._builder, self._types[which], array, list(index), wraparound=False
        )

    def length(self, which: int, axis: int) -> Any:
        """Return how long an argument is along an axis."""
        return self._builder.extract_value(self._array(which).shape, axis)

    def _array(self, which: int) -> Any:
        return self._context.make_array(self._types[which])(self._context, self._builder, self._args[which])

    def constant(self, value: float) -> Any:
        """Return a vector of equal numbers."""
        return ir.Constant(self.type, [value] * self.lanes)

    def repeated(self, entry: Any) -> Any:
        """Return a vector of copies of the number that is there."""
        return self._copies(self._builder.load(entry))

    def below(self, count: Any) -> Any:
        """Return a vector that tells for each lane whether its number, from 0, is below a count."""
        numbers = ir.Constant(ir.VectorType(count.type, self.lanes), list(range(self.lanes)))
        return self._builder.icmp_signed("<", numbers, self._copies(count))

    def _copies(self, number: Any) -> Any:
        undefined = ir.Constant(ir.VectorType(number.type, self.lanes), ir.Undefined)
        first = self._builder.insert_element(undefined, number, _INDEX(0))
        zeros = ir.Constant(ir.VectorType(_INDEX, self.lanes), [0] * self.lanes)
        return self._builder.shuffle_vector(first, undefined, zeros)

    def load(self, entry: Any, offset: Any, mask: Any = None) -> Any:
        """Return the vector that begins so many numbers after an entry; zeros where there is a mask that is false."""
        return self._load(self._address(entry, offset, self.type), self.type, self.size, mask)

    def load_short(self, entry: Any, offset: Any, number: Any, mask: Any = None) -> Any:
        """Return a vector of numbers that are stored in another precision, for example float32 among float64."""
        given = ir.VectorType(self._context.get_value_type(number), self.lanes)
        vector = self._load(self._address(entry, offset, given), given, number.bitwidth // 8, mask)
        return vector if given == self.type else self._builder.fpext(vector, self.type)

    def _load(self, address: Any, kind: Any, size: int, mask: Any) -> Any:
        if mask is None:
            return self._builder.load(address, align=size)
        function = ir.FunctionType(kind, [address.type, _INDEX, mask.type, kind])
        load = self._intrinsic(f"llvm.masked.load.v{self.lanes}f{8 * size}.p0", function)
        return self._builder.call(load, [address, _INDEX(size), mask, ir.Constant(kind, [0.0] * self.lanes)])

    def store(self, vector: Any, entry: Any, offset: Any, mask: Any = None) -> None:
        """Write the vector that begins so many numbers after an entry; where there is a mask, only what it tells."""
        address = self._address(entry, offset, self.type)
        if mask is None:
            self._builder.store(vector, address, align=self.size)
            return
        function = ir.FunctionType(ir.VoidType(), [self.type, address.type, _INDEX, mask.type])
        store = self._intrinsic(f"llvm.masked.store.v{self.lanes}f{8 * self.size}.p0", function)
        self._builder.call(store, [vector, address, _INDEX(self.size), mask])

    def _address(self, entry: Any, offset: Any, kind: Any) -> Any:
        return self._builder.bitcast(self._builder.gep(entry, [offset]), kind.as_pointer())

    def sum(self, a: Any, b: Any) -> Any:
        """Return a + b."""
        return self._builder.fadd(a, b, flags=_ADD_TO_PRODUCT)

    def plus_product(self, a: Any, b: Any, c: Any) -> Any:
        """Return a + b c."""
        return self._builder.fadd(a, self._builder.fmul(b, c, flags=_ADD_TO_PRODUCT), flags=_ADD_TO_PRODUCT)

    def total(self, vector: Any) -> Any:
        """Return the sum of the numbers of a vector, added in pairs."""
        function = ir.FunctionType(self.scalar, [self.scalar, self.type])
        add = self._intrinsic(f"llvm.vector.reduce.fadd.v{self.lanes}f{8 * self.size}", function)
        return self._builder.call(add, [self.scalar(-0.0), vector], fastmath=("reassoc",))

    def ask_for(self, entry: Any, offset: Any) -> None:
        """Ask the processor to bring a line into its first-level cache; any address is harmless."""
        function = ir.FunctionType(ir.VoidType(), [_BYTE, _INDEX, _INDEX, _INDEX])
        hint = self._intrinsic("llvm.prefetch.p0", function)
        address = self._builder.bitcast(self._builder.gep(entry, [offset]), _BYTE)
        self._builder.call(hint, [address, _INDEX(0), _INDEX(2), _INDEX(1)])

    def _intrinsic(self, name: str, function: Any) -> Any:
        return cgutils.get_or_insert_function(self._builder.module, function, name)
