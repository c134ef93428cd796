"""Model files: safetensors with a versioned JSON header, a checksum over all bytes, and atomic writes."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import safetensors.numpy as tensors
from safetensors import SafetensorError

from mercer.errors import MissingExtraError, ModelFileError, NotSaveableError
from mercer.io.codec import Arrays, decode, encode, is_allowed, resolve
from mercer.io.whole_file import check_folder_of, whole_file
from mercer.registry import ESTIMATORS, PREPARED
from mercer.version import __version__

FORMAT, VERSION = "mercer", "1"
MAX_BYTES = 16 * 2**30
MAX_HEADER = 64 * 2**20  # the parsed header takes many times this; a file cannot ask for more memory
_MAX_MODELS = 4  # that hold each other
_OUTPUTS = ("default", "pandas", "polars")  # what `set_output` takes
_UNKNOWN = "0" * 64  # in place of the checksum
_AGAIN = "Restore the file from a backup, or save the model again."

Path = str | os.PathLike[str]


def save(estimator: Any, path: Path) -> None:
    """Write a fitted estimator to a file; after a failure the file holds either the old or the new model."""
    arrays: Arrays = {}
    node = _encode_model(estimator, arrays)
    write_model(path, {**node, "mercer": __version__}, arrays)


def _encode_model(estimator: Any, arrays: Arrays, *, fitted: bool = True) -> dict[str, Any]:
    """Convert an estimator to a node: one that it holds as a parameter without state, a fitted one with state."""
    name = type(estimator).__name__
    if not is_allowed(estimator, ESTIMATORS | PREPARED):
        raise NotSaveableError(
            f"{type(estimator).__module__}.{name} cannot be saved; a model file holds {', '.join(ESTIMATORS)}, "
            "and no subclass of these. Save an instance of one of these classes."
        )

    def encoded(values: dict[str, Any], fitted: bool) -> dict[str, Any]:
        return {
            key: {"$": "model", **_encode_model(value, arrays, fitted=fitted)}
            if is_allowed(value, ESTIMATORS | PREPARED)
            else encode(value, arrays, key)
            for key, value in values.items()
        }

    node = {"class": name, "params": encoded(estimator.get_params(deep=False), False), **_output_of(estimator)}
    return {**node, "state": encoded(estimator._saved_state(), True)} if fitted else node


def _output_of(estimator: Any) -> dict[str, str]:
    """Return the container that `set_output` has chosen for the results of `transform`; nothing where it was not used.

    scikit-learn has no public name for it; its `clone` reads the same attribute.
    """
    chosen = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    return {} if chosen is None else {"output": str(chosen)}


def load(path: Path, max_bytes: int = MAX_BYTES) -> Any:
    """Read an estimator that its method `save` wrote.

    The file cannot run code: it holds arrays and JSON, and only the classes of this package are created. Every byte is
    checked against a checksum.

    Parameters
    ----------
    path : str or path
        The file.
    max_bytes : int, default=17179869184
        The largest size of a file that is read; by default 16 GiB.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    ModelFileError
        If the file is truncated, altered, too large, or no model file. The message says what is wrong.
    OSError
        If the file cannot be opened, for example `FileNotFoundError`.

    See Also
    --------
    KernelPCA : Exact kernel PCA of rows in memory.
    mercer.tables.prepared.PreparedModel : A model with the preparation of its columns.
    mercer.errors.ModelFileError : A model file cannot be read or written.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = mercer.KernelPCA(2, kernel="rbf").fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.mercer")
    ...     model.save(path)
    ...     same = mercer.load(path)
    >>> np.array_equal(same.transform(X), model.transform(X))
    True
    """
    header, arrays = read_model(path, max_bytes)
    with _about(path):
        return _decode_model(header, arrays, str(header.get("mercer")))


def _decode_model(node: dict[str, Any], arrays: Arrays, version: str, depth: int = 0) -> Any:
    """Create the estimator that a node describes."""
    if depth > _MAX_MODELS:
        raise ModelFileError(f"its models are nested deeper than {_MAX_MODELS} levels. {_AGAIN}")
    cls = resolve(node.get("class"), ESTIMATORS | PREPARED)
    params = _decoded(node, "params", arrays, version, depth)
    state = _decoded(node, "state", arrays, version, depth) if depth == 0 or "state" in node else None
    output = _known_output(node.get("output"))
    try:
        estimator = cls(**params)
        if output is not None:
            estimator.set_output(transform=output)
        if state is not None:
            estimator._restore_state(state)
    except MissingExtraError:
        raise
    except Exception as error:
        raise ModelFileError(
            f"its {node['class']}, saved by mercer {version}, does not fit mercer "
            f"{__version__}: {error}. Load it with that version, or fit and save the model again."
        ) from error
    return estimator


def _known_output(name: Any) -> str | None:
    """Return the name of a container that scikit-learn knows, or None for none, or fail."""
    if name is not None and name not in _OUTPUTS:
        raise ModelFileError(f"its scores are {name!r}; they can be {', '.join(_OUTPUTS)}. {_AGAIN}")
    return None if name is None else str(name)


def write_model(path: Path, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a header that JSON can hold and named arrays to a file, atomically.

    A temporary file beside the target is written, synced and renamed over it, see `whole_file`.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        raise ModelFileError(f"Cannot save to {path}: it is no regular file. Choose the name of a file.")
    check_folder_of(path)
    prefix, data = _serialise(header, arrays)
    if len(prefix) > MAX_HEADER:
        raise NotSaveableError(
            f"Cannot save to {path}: names and parameters take {len(prefix)} bytes, and {MAX_HEADER} fit. "
            "Fit on an array without feature names."
        )
    before, after = _around_checksum(prefix, prefix, _UNKNOWN)
    with whole_file(target) as file:
        for piece in (before, _digest(before, after, data).encode(), after, data):
            file.write(piece)


def read_model(path: Path, max_bytes: int = MAX_BYTES) -> tuple[dict[str, Any], Arrays]:
    """Read the header and the arrays of a model file, after a check of all its bytes."""
    if not stat.S_ISREG(os.stat(os.fspath(path)).st_mode):  # opening a pipe would wait for its writer
        raise ModelFileError(f"Cannot load {path}: it is no regular file. Give the path of a saved model.")
    with _about(path), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        prefix = _read_prefix(file, size, max_bytes)
        metadata = _metadata(prefix, size)
        file.seek(0)
        data = file.read(size)  # only now: the header accounts for each of these bytes
        if len(data) != size or not data.startswith(prefix):
            raise ModelFileError("it changed while it was read. Load it when its writer is done.")
        if _digest(*_around_checksum(data, prefix, metadata["checksum"])) != metadata["checksum"]:
            raise ModelFileError(f"its checksum does not match, so some byte was altered. {_AGAIN}")
        return _header(metadata["header"]), _arrays(data)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Put the path in front of the message of a ModelFileError."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {os.fspath(path)}: {error}") from error


def _serialise(header: Mapping[str, Any], arrays: Arrays) -> tuple[bytes, memoryview]:
    """Return the prefix of the file, with an unknown checksum, and the bytes of the arrays."""
    try:
        text = json.dumps(header, allow_nan=False)
        # safetensors writes the memory as it is, so arrays must be in C order.
        raw = tensors.save({name: np.asarray(array, order="C") for name, array in arrays.items()})
    except (TypeError, ValueError, SafetensorError) as error:
        raise NotSaveableError(f"The model does not fit in a file: {error}") from error
    start = 8 + int.from_bytes(raw[:8], "little")
    return _prefix(text, raw[8:start].strip()), memoryview(raw)[start:]


def _prefix(text: str, described: bytes) -> bytes:
    """Return the length of the header and the header, in a fixed order."""
    # safetensors would write the metadata in random order; with a fixed order the same model gives the same file.
    metadata = {"format": FORMAT, "version": VERSION, "checksum": _UNKNOWN, "header": text}
    comma = b"" if described == b"{}" else b","
    first = b'{"__metadata__":' + json.dumps(metadata, separators=(",", ":")).encode()
    head = first + comma + described[1:]
    head += b" " * (-len(head) % 8)  # the arrays start aligned
    return len(head).to_bytes(8, "little") + head


def _around_checksum(data: bytes, prefix: bytes, checksum: str) -> tuple[memoryview, memoryview]:
    """Return the bytes before and after the checksum."""
    # A quote inside a JSON string is escaped, so this text can only be the key and its value.
    field = f'"checksum":"{checksum}"'.encode()
    if prefix.count(field) != 1:
        raise ModelFileError(f"its checksum is written in a way that mercer does not use. {_AGAIN}")
    end = prefix.index(field) + len(field) - 1
    view = memoryview(data)
    return view[: end - len(checksum)], view[end:]


def _digest(*pieces: memoryview) -> str:
    """Return the SHA-256 checksum of some pieces."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _read_prefix(file: BinaryIO, size: int, max_bytes: int) -> bytes:
    """Read the header of a file, after a check of its size."""
    if size > max_bytes:
        raise ModelFileError(f"it has {size} bytes, the limit is {max_bytes}. To load it, pass max_bytes={size}.")
    first = file.read(8)
    if len(first) < 8:
        raise ModelFileError(f"it has {size} bytes, too few for a model: it is empty or truncated. {_AGAIN}")
    length = int.from_bytes(first, "little")
    if length > MAX_HEADER:
        raise ModelFileError(
            "it does not begin as a model does: it is a file of another kind, or damaged. Give a file that `save` or "
            "`mercer fit` has written."
        )
    if length > size - 8:
        raise ModelFileError(
            f"it announces a header of {length} bytes, but {size - 8} follow: it is truncated, damaged or no "
            f"model file. {_AGAIN}"
        )
    return first + file.read(length)


def _metadata(prefix: bytes, size: int) -> dict[str, str]:
    """Return the metadata of a header, after a check of format, version and size."""
    head = _json_object(prefix[8:], "its header")
    metadata = head.pop("__metadata__", None)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ModelFileError("it is a safetensors file, but no model of mercer. Give the path of a saved model.")
    if metadata.get("version") != VERSION:
        raise ModelFileError(
            f"it has the format version {metadata.get('version')!r}; mercer {__version__} reads version "
            f"{VERSION!r}. Update with: pip install -U mercer"
        )
    checksum, text = metadata.get("checksum"), metadata.get("header")
    if not re.fullmatch("[0-9a-f]{64}", str(checksum)) or not isinstance(text, str):
        raise ModelFileError(f"its checksum or its header is missing or malformed. {_AGAIN}")
    expected = len(prefix) + _data_bytes(head)
    if size != expected:
        kind = "truncated" if size < expected else "followed by foreign bytes"
        raise ModelFileError(f"it has {size} bytes where its header needs {expected}: it is {kind}. {_AGAIN}")
    return metadata


def _data_bytes(head: dict[str, Any]) -> int:
    """Return how many bytes the arrays take, as the header says."""
    try:
        return max((int(entry["data_offsets"][1]) for entry in head.values()), default=0)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"its header describes the arrays in an unknown way. {_AGAIN}") from error


def _json_object(text: str | bytes, what: str) -> dict[str, Any]:
    """Parse a JSON object, or say that the file is damaged."""
    try:
        value = json.loads(text.decode("utf-8") if isinstance(text, bytes) else text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is not JSON, so it is damaged or no model file. {_AGAIN}") from error
    if not isinstance(value, dict):
        raise ModelFileError(f"{what} is a JSON {type(value).__name__}, not an object. {_AGAIN}")
    return value


def _header(text: str) -> dict[str, Any]:
    """Return the description of the model."""
    return _json_object(text, "the description of its model")


def _arrays(data: bytes) -> Arrays:
    """Return the arrays of the file."""
    try:
        return dict(tensors.load(data))
    except Exception as error:  # of any type: the file may have any origin
        raise ModelFileError(f"safetensors cannot read its arrays: {error!r}. {_AGAIN}") from error


def _decoded(header: dict[str, Any], part: str, arrays: Arrays, version: str, depth: int) -> dict[str, Any]:
    """Return the values of one part of a node: its parameters or its state."""
    nodes = header.get(part)
    if not isinstance(nodes, dict):
        raise ModelFileError(f"the description of its model has no {part}. {_AGAIN}")
    return {
        key: _decode_model(node, arrays, version, depth + 1)
        if isinstance(node, dict) and node.get("$") == "model"
        else decode(node, arrays, key)
        for key, node in nodes.items()
    }
