"""Values to JSON nodes and arrays, and back. Nothing is pickled, so a file cannot run code of its author."""

import dataclasses
import math
import struct
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.errors import MissingExtraError, ModelFileError, NotSaveableError

Arrays = dict[str, npt.NDArray[Any]]

_PRODUCTS, _DISTANCES = "mercer.kernels.inner_product", "mercer.kernels.distance"
TYPES: dict[str, str] = {
    "Expansion": "mercer.expansion.model",
    "Linear": _PRODUCTS,
    "Polynomial": _PRODUCTS,
    "Sigmoid": _PRODUCTS,
    "Cosine": _PRODUCTS,
    "RBF": _DISTANCES,
    "Laplacian": _DISTANCES,
    "Chi2": _DISTANCES,
    "Precomputed": "mercer.kernels.user_given",
    "Wavelet": "mercer.kernels.wavelet",
}
"""The dataclasses that a file may hold, by name, with the module that defines each."""

MAX_DEPTH = 32
MAX_INT_BITS = 2048  # 617 digits: below the smallest limit that Python can set on reading integers
MAX_TEXT = 2**28  # characters in one fixed-width array of strings, 1 GiB of memory
_INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_DTYPES = frozenset(["bool", "float16", "float32", "float64", *_INTEGERS])
_MT_NUMBERS, _PHILOX_NUMBERS = 624, 4  # in the buffers of random generators of these names
_BIT_GENERATORS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}
_PARTS = ("data", "indices", "indptr")
_SPARSE = {"matrix": sp.csr_matrix, "array": sp.csr_array}


def encode(value: Any, arrays: Arrays, path: str = "value") -> Any:
    """Convert a value to a node that JSON can hold; numeric arrays are added to `arrays`, which nothing else fills.

    A random generator is stored as the name and the state of its bit generator. `path` names the value in errors.
    """
    return _encode(value, arrays, path, 0)


def decode(node: Any, arrays: Mapping[str, npt.NDArray[Any]], path: str = "value") -> Any:
    """Convert a node to the value that `encode` was given; a malformed node raises a ModelFileError."""
    try:
        return _decode(node, arrays, 0)
    except MissingExtraError:  # the file is correct; a package is missing
        raise
    except ModelFileError as error:
        raise ModelFileError(f"its entry {path!r} is malformed: {error}") from error
    except Exception as error:  # a crafted node can fail in any constructor that it reaches
        raise ModelFileError(f"its entry {path!r} is malformed: {type(error).__name__}: {error}") from error


def resolve(name: Any, allowed: Mapping[str, str]) -> Any:
    """Import a class by its name, if it is on the list of allowed classes."""
    if not isinstance(name, str) or name not in allowed:
        raise ModelFileError(f"it names the class {name!r}; a model file may hold {', '.join(allowed)}")
    return getattr(import_module(allowed[name]), name)


def is_allowed(value: Any, allowed: Mapping[str, str]) -> bool:
    """Tell whether a value is an instance of an allowed class itself, not of a subclass or a class of the same name."""
    cls = type(value)
    return allowed.get(cls.__name__) == cls.__module__


def _encode(value: Any, arrays: Arrays, path: str, depth: int) -> Any:
    """Convert a value by the function for its type, or fail for a type that a file cannot hold."""
    if depth > MAX_DEPTH:
        raise NotSaveableError(f"{path} is nested deeper than {MAX_DEPTH} levels. Flatten it before saving.")
    if value is None or type(value) in (bool, str):
        return value
    # By exact type: a subclass would be read as another type than the one saved.
    encoder = _ENCODERS.get(type(value))
    if encoder is None and isinstance(value, np.generic):
        encoder = _encode_scalar
    if encoder is None and is_allowed(value, TYPES):
        encoder = _encode_object
    if encoder is None:
        raise _refusal(value, path)
    return encoder(value, arrays, path, depth)


def _refusal(value: Any, path: str) -> NotSaveableError:
    """Return the error for a value that a file cannot hold."""
    kind = type(value).__name__
    if callable(value):
        name = getattr(value, "__qualname__", kind)
        return NotSaveableError(
            f"{path} is a function or other callable ({name}), and a model file holds data only. "
            "Use a kernel name such as 'rbf', or a kernel object such as mercer.kernels.RBF(gamma=0.1)."
        )
    return NotSaveableError(
        f"{path} is a {kind}; a model file holds numbers, strings, lists, tuples, dicts, numpy arrays, "
        "CSR matrices and Mercer's own kernels. Convert it to one of these (a sparse matrix: .tocsr())."
    )


def _encode_int(value: int, arrays: Arrays, path: str, depth: int) -> int:
    if value.bit_length() > MAX_INT_BITS:
        raise NotSaveableError(f"{path} is an integer of more than {MAX_INT_BITS} bits. Save it as a string.")
    return value


def _encode_float(value: float, arrays: Arrays, path: str, depth: int) -> Any:
    # JSON has no nan and inf; the bits also keep the sign and payload of a nan.
    return value if math.isfinite(value) else {"$": "float", "bits": struct.pack("<d", value).hex()}


def _encode_list(value: list[Any], arrays: Arrays, path: str, depth: int) -> list[Any]:
    return [_encode(item, arrays, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]


def _encode_tuple(value: tuple[Any, ...], arrays: Arrays, path: str, depth: int) -> Any:
    return {"$": "tuple", "items": _encode_list(list(value), arrays, path, depth)}


def _encode_dict(value: dict[Any, Any], arrays: Arrays, path: str, depth: int) -> Any:
    for key in value:
        if type(key) is not str:
            raise NotSaveableError(f"{path} has the key {key!r}; only strings can be keys. Use str(key).")
    items = {key: _encode(item, arrays, f"{path}.{key}", depth + 1) for key, item in value.items()}
    return {"$": "dict", "items": items}


def _encode_object(value: Any, arrays: Arrays, path: str, depth: int) -> Any:
    """Convert a dataclass to its name and its fields."""
    fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    nodes = {name: _encode(item, arrays, f"{path}.{name}", depth + 1) for name, item in fields.items()}
    return {"$": "object", "class": type(value).__name__, "fields": nodes}


def _encode_scalar(value: Any, arrays: Arrays, path: str, depth: int) -> Any:
    name = _numeric(value.dtype, path)
    bits = value.astype(value.dtype.newbyteorder("<")).tobytes().hex()
    return {"$": "scalar", "dtype": name, "bits": bits}


def _encode_array(value: npt.NDArray[Any], arrays: Arrays, path: str, depth: int) -> Any:
    """Put a numeric array into `arrays`, and return a node that refers to it."""
    if value.dtype.kind in "OU":
        return _encode_strings(value, path)
    native = np.dtype(_numeric(value.dtype, path))
    # The path makes the file readable for people; the number makes the key unique.
    key = f"{len(arrays)}:{path}".encode("ascii", "backslashreplace").decode("ascii")
    arrays[key] = np.asarray(value, dtype=native, order="C")
    node = {"$": "array", "key": key}
    by_columns = value.flags.f_contiguous and not value.flags.c_contiguous
    return {**node, "order": "F"} if by_columns else node  # BLAS rounds products differently in another order


def _numeric(dtype: np.dtype[Any], path: str) -> str:
    """Return the name of a numeric dtype, or fail for others."""
    if dtype.name not in _DTYPES:
        raise NotSaveableError(
            f"{path} has the dtype {dtype}; a model file holds booleans, integers of 8 to 64 bits and "
            "floats of 16 to 64 bits. Convert it with .astype(numpy.float64)."
        )
    return dtype.name


def _encode_strings(value: npt.NDArray[Any], path: str) -> Any:
    """Convert an array of strings to a list of them, with the shape."""
    items = [str(item) if isinstance(item, np.str_) else item for item in value.ravel().tolist()]
    width = value.dtype.itemsize // 4 if value.dtype.kind == "U" else None
    if any(type(item) is not str for item in items):
        raise NotSaveableError(f"{path} is an array of objects, not only of strings. Convert it with .astype(str).")
    if (width or 0) * len(items) > MAX_TEXT:
        raise NotSaveableError(f"{path} holds more than {MAX_TEXT} characters. Convert it with .astype(object).")
    return {"$": "strings", "width": width, "shape": list(value.shape), "items": items}


def _encode_csr(value: Any, arrays: Arrays, path: str, depth: int) -> Any:
    """Convert a CSR matrix to its three arrays, with the shape."""
    if value.ndim != 2:
        raise NotSaveableError(f"{path} is a sparse array with ndim={value.ndim}; 2 is needed. Reshape it.")
    parts = {part: _encode_array(getattr(value, part), arrays, f"{path}.{part}", depth) for part in _PARTS}
    kind = "array" if isinstance(value, sp.sparray) else "matrix"
    return {"$": "csr", "kind": kind, "shape": [int(n) for n in value.shape], **parts}


def _encode_random_state(value: np.random.RandomState, arrays: Arrays, path: str, depth: int) -> Any:
    """Convert a RandomState to its state, with the normal number that it drew in advance."""
    state = value.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":  # numpy can set no other state of a RandomState
        raise _unknown_generator(state["bit_generator"], path)
    return _random_node("RandomState", state, arrays, path, depth)


def _encode_generator(value: np.random.Generator, arrays: Arrays, path: str, depth: int) -> Any:
    """Convert a Generator to the state of its bit generator."""
    state = value.bit_generator.state
    if type(value.bit_generator) is not _BIT_GENERATORS.get(state["bit_generator"]):
        raise _unknown_generator(type(value.bit_generator).__name__, path)
    return _random_node("Generator", dict(state), arrays, path, depth)


def _random_node(kind: str, state: dict[str, Any], arrays: Arrays, path: str, depth: int) -> Any:
    return {"$": "random", "kind": kind, "state": _encode_dict(state, arrays, path, depth + 1)}


def _unknown_generator(name: str, path: str) -> NotSaveableError:
    return NotSaveableError(
        f"{path} is a random generator on {name}; a model file holds numpy's RandomState on MT19937, and its Generator "
        f"on {', '.join(_BIT_GENERATORS)}. Pass an int: model.set_params(random_state=0)."
    )


_ENCODERS: dict[type, Callable[..., Any]] = {
    int: _encode_int,
    float: _encode_float,
    list: _encode_list,
    tuple: _encode_tuple,
    dict: _encode_dict,
    np.str_: lambda value, *_: str(value),
    np.ndarray: _encode_array,
    np.memmap: _encode_array,
    sp.csr_matrix: _encode_csr,
    sp.csr_array: _encode_csr,
    np.random.RandomState: _encode_random_state,
    np.random.Generator: _encode_generator,
}


def _decode(node: Any, arrays: Mapping[str, npt.NDArray[Any]], depth: int) -> Any:
    """Convert a node by the function for its kind, or fail for an unknown kind."""
    if depth > MAX_DEPTH:
        raise ModelFileError(f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(node, list):
        return [_decode(item, arrays, depth + 1) for item in node]
    if not isinstance(node, dict):
        return node
    decoder = _DECODERS.get(str(node.get("$")))
    if decoder is None:
        raise ModelFileError(f"unknown kind {node.get('$')!r}; known are {', '.join(_DECODERS)}")
    return decoder(node, arrays, depth)


def _decode_float(node: Any, arrays: Any, depth: int) -> float:
    return float(struct.unpack("<d", bytes.fromhex(node["bits"]))[0])


def _decode_tuple(node: Any, arrays: Any, depth: int) -> tuple[Any, ...]:
    return tuple(_decode(_plain(node["items"], list), arrays, depth))


def _decode_dict(node: Any, arrays: Any, depth: int) -> dict[str, Any]:
    return {key: _decode(item, arrays, depth + 1) for key, item in _plain(node["items"], dict).items()}


def _decode_object(node: Any, arrays: Any, depth: int) -> Any:
    cls = resolve(node["class"], TYPES)
    fields = _plain(node["fields"], dict)
    return cls(**{name: _decode(item, arrays, depth + 1) for name, item in fields.items()})


def _decode_scalar(node: Any, arrays: Any, depth: int) -> Any:
    if node["dtype"] not in _DTYPES:
        raise ModelFileError(f"unknown dtype {node['dtype']!r}")
    dtype = np.dtype(node["dtype"])
    bits = np.frombuffer(bytes.fromhex(node["bits"]), dtype=dtype.newbyteorder("<"))
    return bits.reshape(()).astype(dtype)[()]


def _decode_array(node: Any, arrays: Mapping[str, npt.NDArray[Any]], depth: int) -> npt.NDArray[Any]:
    """Return the array that a node refers to, in native byte order, in its order of memory, and writeable."""
    key, order = _plain(node["key"], str), node.get("order", "C")
    if key not in arrays:
        raise ModelFileError(f"it refers to the array {key!r}, which the file does not have")
    if order not in ("C", "F"):
        raise ModelFileError(f"unknown order of memory {order!r}")
    array = arrays[key]
    return np.require(array, array.dtype.newbyteorder("="), [order, "A", "W"])


def _decode_strings(node: Any, arrays: Any, depth: int) -> npt.NDArray[Any]:
    items, width, shape = _plain(node["items"], list), node["width"], _shape(node["shape"])
    if any(not isinstance(item, str) for item in items):
        raise ModelFileError("an array of strings holds something else")
    if width is None:
        return np.array(items, dtype=object).reshape(shape)
    if not 0 <= _plain(width, int) * len(items) <= MAX_TEXT:
        raise ModelFileError(f"an array of {len(items)} strings claims {width} characters each")
    return np.array(items, dtype=f"U{width}").reshape(shape)


def _decode_csr(node: Any, arrays: Any, depth: int) -> Any:
    """Return a CSR matrix, after a check of its indices."""
    parts = tuple(_decode_array(node[part], arrays, depth) for part in _PARTS)
    matrix = _SPARSE[node["kind"]](parts, shape=_shape(node["shape"]))
    # Compiled code trusts these indices: one out of range would read foreign memory.
    matrix.check_format(full_check=True)
    return matrix


def _decode_random(node: Any, arrays: Any, depth: int) -> Any:
    """Return a generator in the state of a node, after a check of the positions in that state."""
    state = _decode_dict(_plain(node["state"], dict), arrays, depth + 1)
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS or node["kind"] not in ("RandomState", "Generator"):
        raise ModelFileError(f"unknown random generator {node['kind']!r} on {name!r}")
    _check_positions(state)
    if node["kind"] == "RandomState":
        legacy = np.random.RandomState(0)
        legacy.set_state(state)
        return legacy
    bits = _BIT_GENERATORS[name](0)
    bits.state = state
    return np.random.Generator(bits)


def _check_positions(state: dict[str, Any]) -> None:
    """Fail if a position is outside of its buffer: compiled code would read foreign memory there."""
    inner = _plain(state["state"], dict)
    for position, size in ((inner.get("pos", 0), _MT_NUMBERS), (state.get("buffer_pos", 0), _PHILOX_NUMBERS)):
        if not 0 <= _plain(position, int) <= size:
            raise ModelFileError(f"the position {position} of a random generator is not in 0 to {size}")
    if "pos" in inner:
        key = _plain(inner["key"], np.ndarray)
        if key.shape != (_MT_NUMBERS,) or not key.any():  # of zeros, normal numbers would be drawn for ever
            raise ModelFileError(f"a random generator needs {_MT_NUMBERS} numbers, of which at least one is not zero")


def _plain(value: Any, kind: type) -> Any:
    """Return a value of exactly this type, or fail."""
    if type(value) is not kind:
        raise ModelFileError(f"expected a {kind.__name__}, found a {type(value).__name__}")
    return value


def _shape(value: Any) -> tuple[int, ...]:
    """Return a shape without negative sizes, or fail."""
    shape = tuple(_plain(n, int) for n in _plain(value, list))
    if any(n < 0 for n in shape):
        raise ModelFileError(f"the shape {shape} has a negative size")
    return shape


_DECODERS: dict[str, Callable[..., Any]] = {
    "float": _decode_float,
    "tuple": _decode_tuple,
    "dict": _decode_dict,
    "object": _decode_object,
    "scalar": _decode_scalar,
    "array": _decode_array,
    "strings": _decode_strings,
    "csr": _decode_csr,
    "random": _decode_random,
}
