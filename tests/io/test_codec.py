"""Values survive the way into a file and back bit by bit; what cannot is refused by name."""

import dataclasses
import json
import math
import random
import struct
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import safetensors.numpy as tensors
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mercer.errors import ModelFileError, NotSaveableError
from mercer.io import codec

NUMERIC = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMERIC += ["float16", "float32", "float64"]


@dataclasses.dataclass(frozen=True)
class Sample:
    points: Any
    power: float = 2.0
    cache: list[int] = dataclasses.field(default_factory=list, init=False)


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(codec.TYPES, "Sample", Sample.__module__)
    monkeypatch.setattr(codec, "import_module", lambda name: import_module(__name__))


def there_and_back(value: Any) -> Any:
    """Pass a value through JSON text and safetensors bytes, as a file would."""
    arrays: codec.Arrays = {}
    text = json.dumps(codec.encode(value, arrays), allow_nan=False)
    return codec.decode(json.loads(text), tensors.load(tensors.save(arrays)))


def same(a: Any, b: Any) -> bool:
    """Compare types and bits, so that nan equals nan and 0.0 differs from -0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        bits = a.tolist() == b.tolist() if a.dtype.kind in "OU" else a.tobytes() == b.tobytes()
        return (a.dtype, a.shape) == (b.dtype, b.shape) and bits
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


shapes = hnp.array_shapes(min_dims=0, min_side=0, max_side=4)
arrays_strategy = hnp.arrays(st.sampled_from([np.dtype(name) for name in NUMERIC]), shapes)
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | arrays_strategy
    | hnp.from_dtype(np.dtype("float32")) | hnp.from_dtype(np.dtype("int16"))
)  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.just("$"), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(values)
def test_any_nested_value_comes_back_bit_equal(value: Any) -> None:
    assert same(there_and_back(value), value)


@pytest.mark.parametrize(
    "value",
    [
        math.inf,
        -math.inf,
        -0.0,
        5e-324,
        struct.unpack("<d", bytes.fromhex("010000000000f8ff"))[0],  # a nan with sign and payload
        2**2048 - 1,
        "lone surrogate \ud800",
        {"\ud800": np.ones(2)},
        {"$": "array", "key": "0:value"},  # looks like a node, is a dict
        np.bool_(True),
        np.float64(0.1),
        np.uint64(2**64 - 1),
        np.array(3.5),
        np.zeros((0, 3), dtype=np.int32),
        np.array([np.nan, -np.inf, -0.0]),
        np.array(["b", "aé", ""], dtype=object),
        np.array([["b", "aaa"]], dtype="U5"),
        np.array([], dtype=object),
    ],
    ids=repr,
)
def test_corner_values_come_back_bit_equal(value: Any) -> None:
    assert same(there_and_back(value), value)


@pytest.mark.parametrize("dtype", NUMERIC)
def test_arrays_come_back_writable_aligned_native(dtype: str) -> None:
    odd = {"odd": np.ones(3, dtype=np.uint8), "a": np.arange(5).astype(dtype)}
    for array in there_and_back(odd).values():
        assert array.flags.writeable
        assert array.flags.aligned
        assert array.flags.c_contiguous
        assert array.dtype.isnative


def test_read_only_and_misaligned_arrays_are_mended() -> None:
    raw = np.frombuffer(b"x" + np.arange(4.0).tobytes(), dtype=np.uint8)
    array = codec.decode({"$": "array", "key": "k"}, {"k": raw[1:].view(np.float64)})
    array += 1
    assert array.flags.aligned
    assert array.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("value", [np.arange(6.0).reshape(2, 3).T, np.arange(9)[::-2], np.arange(3, dtype=">i4")])
def test_any_memory_layout_keeps_its_values(value: Any) -> None:
    back = there_and_back(value)
    np.testing.assert_array_equal(back, value)
    assert back.dtype == value.dtype.newbyteorder("=")


def test_arrays_keep_their_order_of_memory() -> None:
    rows = np.arange(6.0).reshape(2, 3)
    assert there_and_back(rows).flags.c_contiguous
    assert there_and_back(rows.T).flags.f_contiguous
    assert there_and_back(rows.T).flags.writeable
    assert there_and_back(rows[:, ::2]).flags.c_contiguous


def test_an_unknown_order_of_memory_is_refused() -> None:
    with pytest.raises(ModelFileError, match="order of memory"):
        codec.decode({"$": "array", "key": "k", "order": "K"}, {"k": np.eye(2)})


def test_memmap_is_stored_as_an_array(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=(3,))
    mapped[:] = [1, 2, 3]
    assert same(there_and_back(mapped), np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("shape", [(4, 7), (0, 5), (3, 0)])
def test_sparse_rows_keep_kind_and_content(kind: Any, shape: tuple[int, int]) -> None:
    matrix = kind(sp.random(*shape, density=0.4, random_state=0).tocsr().astype(np.float32))
    back = there_and_back(matrix)
    assert type(back) is kind
    assert back.shape == shape
    for part in ("data", "indices", "indptr"):
        assert same(getattr(back, part), getattr(matrix, part))


BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


@pytest.mark.parametrize("name", BIT_GENERATORS)
def test_generators_go_on_where_they_were(name: str) -> None:
    original = np.random.Generator(getattr(np.random, name)(5))
    original.integers(0, 9, size=7, dtype=np.int32)  # half of a 64-bit number is kept
    back = there_and_back(original)
    assert type(back.bit_generator).__name__ == name
    for _ in range(2):
        np.testing.assert_array_equal(back.integers(0, 99, 700, np.int32), original.integers(0, 99, 700, np.int32))
        np.testing.assert_array_equal(back.normal(size=700), original.normal(size=700))


def test_a_random_state_goes_on_where_it_was() -> None:
    original = np.random.RandomState(3)
    original.normal(size=3)  # the fourth is drawn already
    back = there_and_back([original])[0]
    assert type(back) is np.random.RandomState
    np.testing.assert_array_equal(back.normal(size=1500), original.normal(size=1500))


class OwnBits(np.random.PCG64):
    """A bit generator that is not on the list."""


@pytest.mark.parametrize(
    "value", [np.random.Generator(OwnBits(0)), np.random.RandomState(np.random.PCG64(0))], ids=["own", "legacy"]
)
def test_other_bit_generators_are_refused_with_advice(value: Any) -> None:
    with pytest.raises(NotSaveableError, match=r"random_state is a random generator on .* Pass an int"):
        codec.encode(value, {}, "random_state")


@pytest.mark.parametrize(("name", "key"), [("MT19937", "pos"), ("Philox", "buffer_pos")])
@pytest.mark.parametrize("position", [-1, 10**6, 10**30, 2.0, "1"])
def test_positions_outside_of_a_buffer_are_refused(name: str, key: str, position: Any) -> None:
    arrays: dict[str, Any] = {}
    node = codec.encode(np.random.Generator(getattr(np.random, name)(0)), arrays)
    items = node["state"]["items"]
    (items["state"]["items"] if key == "pos" else items)[key] = position
    with pytest.raises(ModelFileError, match="malformed"):
        codec.decode(node, arrays)


def test_a_random_state_of_a_wrong_size_or_name_is_refused() -> None:
    arrays: dict[str, Any] = {}
    node = codec.encode(np.random.RandomState(0), arrays)
    for wrong in (lambda key: key[:5], np.zeros_like):  # zeros would be drawn for ever
        with pytest.raises(ModelFileError, match="needs 624 numbers"):
            codec.decode(node, {name: wrong(key) for name, key in arrays.items()})
    node["state"]["items"]["bit_generator"] = "os.system"
    with pytest.raises(ModelFileError, match="unknown random generator"):
        codec.decode(node, arrays)


@pytest.mark.usefixtures("sample")
def test_allowed_dataclass_comes_back_by_its_init_fields() -> None:
    original = Sample(points=np.eye(2), power=math.inf)
    original.cache.append(1)
    back = there_and_back({"kernel": original})["kernel"]
    assert type(back) is Sample
    assert same((back.points, back.power, back.cache), (np.eye(2), math.inf, []))


def test_dataclass_outside_the_list_is_refused() -> None:
    with pytest.raises(NotSaveableError, match=r"kernel.deep\[1\] is a Sample"):
        codec.encode({"deep": [0, Sample(1)]}, {}, "kernel")


def test_namesake_of_an_allowed_class_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(codec.TYPES, "Sample", "elsewhere")
    with pytest.raises(NotSaveableError, match="Sample"):
        codec.encode(Sample(1), {})


def test_callable_kernel_is_refused_with_advice() -> None:
    with pytest.raises(NotSaveableError, match=r"kernel is a function.*dot.*kernel name such as 'rbf'"):
        codec.encode(np.dot, {}, "kernel")


cycle: list[Any] = []
cycle.append(cycle)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.ones(2, dtype=np.longdouble), "dtype"),
        (np.ones(2, dtype=complex), "complex128"),
        (np.datetime64("2020-01-01"), "datetime64"),
        (np.zeros(2, dtype="V3"), "dtype"),
        (np.ma.masked_array([1.0, 2.0], mask=[True, False]), "MaskedArray"),
        (np.array(["a", None], dtype=object), "not only of strings"),
        (sp.csc_matrix(np.eye(2)), "tocsr"),
        (sp.csr_array(np.eye(2, dtype=complex)), "data has the dtype complex128"),
        ({1: 2}, "key 1"),
        (2**2048, "2048 bits"),
        (b"bytes", "bytes"),
        (object(), "object"),
        (cycle, "deeper than 32"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_no_file_can_carry_is_refused(value: Any, text: str) -> None:
    with pytest.raises(NotSaveableError, match=text):
        codec.encode(value, {})


def csr_node(indices: list[int], indptr: list[int], shape: Any) -> tuple[Any, codec.Arrays]:
    arrays: codec.Arrays = {"d": np.ones(2), "i": np.array(indices), "p": np.array(indptr)}
    keys = {"data": "d", "indices": "i", "indptr": "p"}
    parts = {name: {"$": "array", "key": key} for name, key in keys.items()}
    return {"$": "csr", "kind": "matrix", "shape": shape, **parts}, arrays


@pytest.mark.parametrize(
    ("indices", "indptr", "shape"),
    [
        ([0, 10**6], [0, 1, 2], [2, 3]),
        ([0, -1], [0, 1, 2], [2, 3]),
        ([0, 1], [0, 2, 1], [2, 3]),
        ([0, 1], [0, 1, 900], [2, 3]),
        ([0, 1], [0, 1, 2], [2, -3]),
        ([0, 1], [0, 1, 2], 5),
    ],
)
def test_sparse_indices_out_of_range_are_refused(indices: list[int], indptr: list[int], shape: Any) -> None:
    with pytest.raises(ModelFileError):
        codec.decode(*csr_node(indices, indptr, shape))


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 0


@pytest.mark.parametrize(
    "node",
    [
        {},
        {"$": "nonsense"},
        {"$": ["array"]},
        {"$": "array"},
        {"$": "array", "key": "absent"},
        {"$": "array", "key": {}},
        {"$": "float", "bits": "00"},
        {"$": "float", "bits": 5},
        {"$": "scalar", "dtype": "object", "bits": "0000000000000000"},
        {"$": "scalar", "dtype": "float64", "bits": "00" * 16},
        {"$": "tuple", "items": {"$": "tuple"}},
        {"$": "tuple", "items": "text"},
        {"$": "dict", "items": [1]},
        {"$": "strings", "width": None, "shape": [2], "items": ["a"]},
        {"$": "strings", "width": None, "shape": [-1], "items": ["a"]},
        {"$": "strings", "width": codec.MAX_TEXT + 1, "shape": [1], "items": ["a"]},
        {"$": "strings", "width": None, "shape": [1], "items": [["a"]]},
        {"$": "object", "class": "Popen", "fields": {"args": "true"}},
        {"$": "object", "class": "os.system", "fields": {}},
        {"$": "object", "class": ["Sample"], "fields": {}},
        {"$": "object", "class": "Sample", "fields": {"unknown": 1}},
        {"$": "object", "class": "Sample", "fields": {}},
        nested(codec.MAX_DEPTH + 1),
    ],
    ids=lambda node: json.dumps(node)[:60],
)
@pytest.mark.usefixtures("sample")
def test_malformed_node_is_a_model_file_error(node: Any) -> None:
    with pytest.raises(ModelFileError, match="'gamma_' is malformed"):
        codec.decode(node, {}, "gamma_")


def mutations(node: Any, rng: random.Random) -> Any:
    """Replace one random part of a node by something that does not belong there."""
    if isinstance(node, dict | list) and node and rng.random() < 0.8:
        copy = dict(node) if isinstance(node, dict) else list(node)
        key = rng.choice(list(copy) if isinstance(copy, dict) else range(len(copy)))
        copy[key] = mutations(copy[key], rng)
        return copy
    tags = [{"$": tag, "items": [0]} for tag in ("tuple", "dict", "strings", "csr", "array", "object")]
    return rng.choice([None, -1, 2**70, 1e308, "", "x", [], [[]], {}, *tags])


@pytest.mark.usefixtures("sample")
def test_mutated_nodes_decode_or_raise_model_file_error() -> None:
    arrays: codec.Arrays = {}
    rich = [Sample(sp.eye(3).tocsr()), {"n": np.array(["a"])}, (np.float32(1), math.nan), np.eye(2)]
    node, refused = codec.encode(rich, arrays), 0
    for seed in range(1000):
        try:
            codec.decode(mutations(node, random.Random(seed)), arrays)
        except ModelFileError:
            refused += 1
    assert refused > 500


@pytest.mark.parametrize("name", codec.TYPES)
def test_every_allowed_type_is_a_frozen_dataclass_where_the_list_says(name: str) -> None:
    pytest.importorskip(codec.TYPES[name], reason="its module is not there yet")
    cls = codec.resolve(name, codec.TYPES)
    assert cls.__module__ == codec.TYPES[name]
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen


def test_every_public_kernel_can_be_saved() -> None:
    kernels = pytest.importorskip("mercer.kernels")
    assert set(kernels.__all__) - {"Kernel"} <= set(codec.TYPES)


@pytest.mark.parametrize("name", sorted(set(codec.TYPES) - {"Expansion"}))
def test_kernel_objects_come_back_equal(name: str) -> None:
    pytest.importorskip(codec.TYPES[name], reason="its module is not there yet")
    kernel = codec.resolve(name, codec.TYPES)()
    assert there_and_back(kernel) == kernel


def test_expansion_comes_back_field_by_field() -> None:
    expansion = pytest.importorskip("mercer.expansion.model", reason="its module is not there yet")
    kernels = pytest.importorskip("mercer.kernels")
    rows, numbers = np.arange(6.0).reshape(3, 2), np.ones(1)
    original = expansion.Expansion(rows, rows.T[:1].copy(), numbers, numbers, kernels.RBF(0.3), 3, np.eye(1))
    back = there_and_back(original)
    assert type(back) is expansion.Expansion
    for field in dataclasses.fields(original):
        assert same(getattr(back, field.name), getattr(original, field.name)), field.name
