"""A model file is read back bit by bit, or refused with a reason; a save is there in full or not at all."""

import hashlib
import json
import os
import pickle
import random
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy as tensors
from safetensors import safe_open

from mercer import __version__
from mercer.errors import ModelFileError, NotSaveableError
from mercer.io import codec, persist


class Model:
    """The least that an estimator must offer to be saved."""

    def __init__(self, n_components: int = 2, kernel: Any = "rbf") -> None:
        self.n_components = n_components
        self.kernel = kernel

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        assert not deep
        return {"n_components": self.n_components, "kernel": self.kernel}

    def _saved_state(self) -> dict[str, Any]:
        return {"gamma_": self.gamma_, "names_": self.names_, "points_": self.points_}

    def _restore_state(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


def fitted(fill: float = 0.5, **params: Any) -> Model:
    model = Model(**params)
    points = np.random.default_rng(0).normal(size=(16, 8)) + fill
    model._restore_state({"gamma_": fill, "names_": np.array(["a", "b"], dtype=object), "points_": points})
    return model


@pytest.fixture(autouse=True)
def _allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persist, "ESTIMATORS", {"Model": Model.__module__})
    monkeypatch.setattr(codec, "import_module", lambda name: sys.modules.get(name) or sys.modules[__name__])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.mercer"


def saved(path: Path, model: Model | None = None) -> bytes:
    persist.save(model or fitted(), path)
    return path.read_bytes()


def forge(metadata: dict[str, str], arrays: codec.Arrays | None = None) -> bytes:
    """Make a safetensors file with a right checksum, whatever else it says."""
    mark = "0" * 64
    raw = tensors.save(arrays or {}, {"format": "mercer", "version": "1", "checksum": mark, **metadata})
    digest = hashlib.sha256(raw.replace(mark.encode(), b"")).hexdigest()
    return raw.replace(mark.encode(), digest.encode())


def test_model_comes_back_bit_equal(path: Path) -> None:
    model = fitted(np.inf, n_components=3, kernel="poly")
    persist.save(model, path)
    back = persist.load(path)
    assert type(back) is Model
    assert back.get_params(deep=False) == {"n_components": 3, "kernel": "poly"}
    assert back.gamma_ == np.inf
    assert back.names_.tolist() == ["a", "b"]
    assert back.names_.dtype == object
    assert back.points_.tobytes() == model.points_.tobytes()
    assert back.points_.flags.writeable


def test_a_container_of_scores_that_nobody_knows_is_refused(path: Path) -> None:
    persist.save(fitted(), path)
    header, arrays = persist.read_model(path)
    persist.write_model(path, {**header, "output": ["os"]}, arrays)
    with pytest.raises(ModelFileError, match="default, pandas, polars"):
        persist.load(path)


def test_header_names_class_version_and_parameters(path: Path) -> None:
    saved(path)
    header, arrays = persist.read_model(path)
    assert header["class"] == "Model"
    assert header["mercer"] == __version__
    assert header["params"] == {"n_components": 2, "kernel": "rbf"}
    assert header["state"]["gamma_"] == 0.5
    assert list(arrays) == ["0:points_"]


def test_file_is_safetensors_with_the_documented_checksum(path: Path) -> None:
    raw = saved(path)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        points = file.get_tensor("0:points_")
    np.testing.assert_array_equal(points, fitted().points_)
    assert (metadata["format"], metadata["version"]) == ("mercer", "1")
    rest = raw.replace(metadata["checksum"].encode(), b"")
    assert len(rest) == len(raw) - 64
    assert hashlib.sha256(rest).hexdigest() == metadata["checksum"]
    assert json.loads(metadata["header"])["class"] == "Model"


def test_same_model_is_the_same_file(path: Path) -> None:
    assert saved(path) == saved(path.with_name("second"))


def test_arrays_start_aligned_whatever_the_header_length(path: Path) -> None:
    for length in range(9):
        persist.write_model(path, {"x": "y" * length}, {"a": np.arange(3.0)})
        raw = path.read_bytes()
        assert int.from_bytes(raw[:8], "little") % 8 == 0
        assert tensors.load(raw)["a"].tolist() == [0, 1, 2]
    persist.write_model(path, {}, {})
    assert persist.read_model(path) == ({}, {})


def test_arrays_of_any_memory_order_are_written_in_c_order(path: Path) -> None:
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    persist.write_model(path, {}, {"a": array, "empty": np.zeros((0, 2)), "scalar": np.array(7)})
    arrays = persist.read_model(path)[1]
    np.testing.assert_array_equal(arrays["a"], array)
    assert arrays["empty"].shape == (0, 2)
    assert arrays["scalar"].shape == ()


def test_text_that_looks_like_a_checksum_does_no_harm(path: Path) -> None:
    kernel = '"checksum":"' + "0" * 64 + '"'
    saved(path, fitted(kernel=kernel))
    assert persist.load(path).kernel == kernel


def test_callable_kernel_is_refused_and_nothing_is_written(path: Path) -> None:
    old = saved(path)
    with pytest.raises(NotSaveableError, match=r"^kernel is a function"):
        persist.save(fitted(kernel=np.dot), path)
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


def test_class_outside_the_list_is_refused(path: Path) -> None:
    class Other(Model):
        pass

    with pytest.raises(NotSaveableError, match=r"Other cannot be saved; a model file holds Model"):
        persist.save(Other(), path)


def test_unstorable_header_or_array_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for header, arrays in [
        ({"a": np.nan}, {}),
        ({"a": object()}, {}),
        ({}, {"a": np.ones(2, dtype=np.longdouble)}),
    ]:
        with pytest.raises(NotSaveableError):
            persist.write_model(path, header, arrays)
    monkeypatch.setattr(persist, "MAX_HEADER", 100)
    with pytest.raises(NotSaveableError, match="feature names"):
        persist.write_model(path, {}, {})


def flipped(raw: bytes, bit: int) -> bytes:
    damaged = bytearray(raw)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


class Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.marker),)


def damaged_files(raw: bytes, other: bytes, marker: Path) -> Iterator[bytes]:
    """Yield files that must not load, from a model's bytes and those of a model of the same shape."""
    rng = random.Random(0)
    start = 8 + int.from_bytes(raw[:8], "little")
    mark = raw.index(b'"checksum":"') + 12
    for length in [*range(12), start - 1, start, start + 1, len(raw) - 1, *rng.sample(range(len(raw)), 84)]:
        yield raw[:length]
    bits = [*range(64), *(rng.randrange(8 * mark, 8 * (mark + 64)) for _ in range(80))]
    bits += [rng.randrange(64, 8 * start) for _ in range(80)]
    bits += [rng.randrange(8 * len(raw)) for _ in range(200)]
    for bit in bits:
        yield flipped(raw, bit)
    yield from (raw + extra for extra in (b"\0", b" ", b"x" * 4096, raw))
    yield from (rng.randbytes(rng.randrange(1, 5000)) for _ in range(20))
    yield from (other[:start] + raw[start:], raw[:start] + other[start:])
    yield from (size.to_bytes(8, "little") + raw[8:] for size in (2**60, 2**63, 2**64 - 1, len(raw), 0))
    yield from (tensors.save({"a": np.ones(9)}), tensors.save({}, {"format": "pt"}))
    yield pickle.dumps(Bomb(marker))
    yield from foreign_json()


def foreign_json() -> Iterator[bytes]:
    """Yield safetensors-like files with headers that no release has written."""
    meta = f'"__metadata__":{{"format":"mercer","version":"1","checksum":"{"a" * 64}","header":"{{}}"}}'
    texts = ["[" * 100_000, '{"a":' * 100_000, "[]", "null", "1" * 5000, '{"__metadata__":[]}']
    texts += ["{" + meta + "}", '{"__metadata__":{"format":"mercer"}}']
    for entry in (
        "7",
        "{}",
        '{"data_offsets":[]}',
        '{"data_offsets":[0,1e999]}',
        '{"data_offsets":[0,null]}',
    ):
        texts.append("{" + meta + ',"t":' + entry + "}")
    texts.append("{" + meta + f',"t":{{"dtype":"F64","shape":[{2**60}],"data_offsets":[0,{2**63}]}}}}')
    for text in texts:
        yield len(text).to_bytes(8, "little") + text.encode()


def test_500_damaged_files_are_refused(path: Path, tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    raw, other = saved(path, fitted(0.5)), saved(path, fitted(0.7))
    assert len(raw) == len(other)
    files = [file for file in damaged_files(raw, other, marker) if file not in (raw, other)]
    assert len(files) >= 500
    tracemalloc.start()
    began = time.perf_counter()
    for file in files:
        path.write_bytes(file)
        with pytest.raises(ModelFileError, match=r"^Cannot load .*model\.mercer: it"):
            persist.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 * 2**20
    assert time.perf_counter() - began < 60
    assert not marker.exists()


def test_every_bit_of_a_small_file_counts(path: Path) -> None:
    persist.write_model(path, {}, {"a": np.ones(2, dtype=np.uint8)})
    raw = path.read_bytes()
    for bit in range(8 * len(raw)):
        path.write_bytes(flipped(raw, bit))
        with pytest.raises(ModelFileError):
            persist.read_model(path)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda raw: b"", r"0 bytes.*empty or truncated.*save the model again"),
        (lambda raw: raw[:100], r"announces a header of \d+ bytes, but 92 follow.*truncated"),
        (lambda raw: raw[:-1], r"has \d+ bytes where its header needs \d+: it is truncated"),
        (lambda raw: raw + b"x", r"followed by foreign bytes"),
        (lambda raw: flipped(raw, 8 * len(raw) - 1), r"checksum does not match.*backup"),
        (lambda raw: tensors.save({"a": np.ones(2)}), r"safetensors file, but no model of mercer"),
        (
            lambda raw: raw.replace(b'"version":"1"', b'"version":"2"'),
            r"version '2'; .* reads version '1'. Update",
        ),
        (lambda raw: forge({"format": "other", "header": "{}"}), r"safetensors file, but no model of mercer"),
        (lambda raw: forge({"header": "[]"}), r"JSON list, not an object"),
        (lambda raw: forge({"header": '{"class": "Popen"}'}), r"class 'Popen'; a model file may hold Model"),
        (lambda raw: forge({"header": '{"class": ["Model"]}'}), r"class \['Model'\]"),
        (lambda raw: forge({"header": '{"class": "Model"}'}), r"has no params"),
        (lambda raw: forge({"header": '{"class": "Model", "params": {}, "state": []}'}), r"has no state"),
        (
            lambda raw: forge({"header": '{"class": "Model", "params": {"new": 1}, "state": {}, "mercer": "9"}'}),
            r"saved by mercer 9, does not fit.*new.*Load it with that version",
        ),
        (
            lambda raw: forge({"header": '{"class": "Model", "params": {"kernel": {"$": "x"}}, "state": {}}'}),
            r"'kernel' is malformed: unknown kind 'x'",
        ),
    ],
)
def test_errors_say_what_is_wrong(path: Path, damage: Any, text: str) -> None:
    path.write_bytes(damage(saved(path)))
    with pytest.raises(ModelFileError, match=rf"model\.mercer: .*{text}"):
        persist.load(path)


def test_oversized_file_is_refused_unless_allowed(path: Path) -> None:
    size = len(saved(path))
    with pytest.raises(ModelFileError, match=rf"{size} bytes, the limit is {size - 1}.*max_bytes={size}"):
        persist.load(path, max_bytes=size - 1)
    assert persist.load(path, max_bytes=size).gamma_ == 0.5


@pytest.mark.parametrize("header", [2**40, 2**33, 0])
def test_large_foreign_file_is_refused_before_it_is_read(path: Path, header: int) -> None:
    raw = saved(path)
    path.write_bytes(header.to_bytes(8, "little") + raw[8:] if header else raw)
    os.truncate(path, 2**33 + 8)  # a sparse file: no disk is used
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        persist.read_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_header_with_two_checksums_is_refused(path: Path) -> None:
    raw = forge({"header": "{}"}, {"checksum": np.ones(1)})
    path.write_bytes(raw)
    assert persist.read_model(path)[0] == {}
    field = raw[raw.index(b'"checksum":"') :][:77]
    head = raw[8 : 8 + int.from_bytes(raw[:8], "little")].rstrip()[:-1] + b',"t":{' + field + b',"data_offsets":[0,8]}}'
    path.write_bytes(len(head).to_bytes(8, "little") + head + raw[-8:])
    with pytest.raises(ModelFileError, match="in a way that mercer does not use"):
        persist.read_model(path)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome: list[Exception] = []

    def attempt() -> None:
        for target in (tmp_path, pipe):
            for action in (persist.load, lambda target: persist.save(fitted(), target)):
                try:
                    action(target)
                except ModelFileError as error:
                    outcome.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "waits for the pipe"
    assert len(outcome) == 4
    assert all("no regular file" in str(error) for error in outcome)


def test_missing_file_is_the_usual_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        persist.load(path)


def test_data_is_on_disk_before_the_name_changes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    fsync, replace = os.fsync, os.replace

    def record_sync(descriptor: int) -> None:
        calls.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    def record_replace(source: str, target: str) -> None:
        assert os.path.dirname(source) == os.path.dirname(target)
        calls.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_replace)
    saved(path)
    assert calls == ["file", "rename", "folder"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failed_save_keeps_the_old_model_and_no_litter(path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*args: Any) -> None:
        raise OSError("no space left")

    saved(path, fitted(0.5))
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        persist.save(fitted(0.25), path)
    assert persist.load(path).gamma_ == 0.5
    assert os.listdir(path.parent) == [path.name]


def test_mode_follows_the_umask(path: Path) -> None:
    old = os.umask(0o027)
    try:
        saved(path)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o640


def test_symbolic_link_is_followed(path: Path) -> None:
    link = path.with_name("latest")
    link.symlink_to(path.name)
    persist.save(fitted(), link)
    assert link.is_symlink()
    assert persist.load(path).gamma_ == 0.5


def test_stale_temporary_files_of_this_path_are_removed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_litter(target: Path, age: float) -> Path:
        monkeypatch.setattr(os, "unlink", lambda name: None)
        monkeypatch.setattr(os, "replace", lambda *names: 1 / 0)
        before = set(target.parent.iterdir())
        with pytest.raises(ZeroDivisionError):
            persist.save(fitted(), target)
        monkeypatch.undo()
        monkeypatch.setattr(persist, "ESTIMATORS", {"Model": Model.__module__})
        (litter,) = set(target.parent.iterdir()) - before
        os.utime(litter, (time.time() - age,) * 2)
        return litter

    old, young = leave_litter(path, 7200), leave_litter(path, 600)
    foreign = leave_litter(path.with_name("other.mercer"), 7200)
    assert old.name.startswith(".mercer-")
    persist.save(fitted(), path)
    assert (old.exists(), young.exists(), foreign.exists()) == (False, True, True)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"The folder .*nothing does not exist; create it first"):
        persist.write_model(tmp_path / "nothing" / "a.mercer", {}, {})


def test_very_long_name_can_be_saved(tmp_path: Path) -> None:
    saved(tmp_path / ("m" * 255))
    assert persist.load(tmp_path / ("m" * 255)).gamma_ == 0.5


def test_module_imports_neither_sklearn_nor_numba() -> None:
    code = "import sys, mercer.io.persist; sys.exit(' '.join({'sklearn', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


WRITER = """
import itertools, sys
import numpy as np
from mercer.io.persist import write_model
sys.stdout.write("ready\\n")
sys.stdout.flush()
for name in itertools.cycle("AB"):
    write_model(sys.argv[1], {"name": name}, {"x": np.full(100_000, ord(name), dtype=np.float64)})
"""


def kill_while_saving(path: Path, times: int) -> set[str]:
    """Kill a process that saves models A and B in turn; return the models found after the kills."""
    persist.write_model(path, {"name": "A"}, {"x": np.full(100_000, ord("A"), dtype=np.float64)})
    rng, found = random.Random(0), set()
    for _ in range(times):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            time.sleep(rng.uniform(0, 0.05))
            writer.kill()
        header, arrays = persist.read_model(path)
        assert arrays["x"].shape == (100_000,)
        assert (arrays["x"] == ord(header["name"])).all()
        found.add(header["name"])
    return found


def test_kill_during_save_leaves_a_whole_model(path: Path) -> None:
    assert kill_while_saving(path, 10) <= {"A", "B"}


@pytest.mark.slow
def test_100_kills_during_save_leave_a_whole_model(path: Path) -> None:
    assert kill_while_saving(path, 100) == {"A", "B"}
    litter = [name for name in os.listdir(path.parent) if name.startswith(".mercer-")]
    assert litter, "no process was killed during a save, so this test has shown nothing"
