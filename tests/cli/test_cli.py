"""The command line from end to end: every command, every format, and failures that end in one line."""

import gzip
import io
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import mercer
from commands import failure, run
from mercer.cli import app as entry
from mercer.cli import demo, methods, values
from mercer.cli.digits import Cleaned
from mercer.cli.root import app
from mercer.cli.system import facts
from mercer.io import readers, writers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
NAMES = ["a", "b", "c", "d"]


@pytest.fixture
def data(tmp_path) -> Path:
    writers.write(tmp_path / "data.csv", [X], NAMES)
    return tmp_path / "data.csv"


@pytest.fixture
def model(tmp_path, data) -> Path:
    run("fit", data, "-o", tmp_path / "model.mercer", "--components", 3)
    return tmp_path / "model.mercer"


def expected(**params):
    return mercer.KernelPCA(**{"n_components": 3, "kernel": "rbf", "gamma": "median"} | params).fit(X)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".tsv", ".parquet", ".jsonl"])
def test_fit_and_transform_in_every_format(tmp_path, suffix):
    data, model, out = tmp_path / f"x{suffix}", tmp_path / "m.mercer", tmp_path / f"y{suffix}"
    writers.write(data, [X], NAMES)
    told = run("fit", data, "-o", model, "--components", "3").stderr
    assert "Fitted KernelPCA to 60 rows of 4 columns" in told
    assert str(model) in told
    run("transform", model, data, "-o", out, "--chunk-rows", 7)
    table = readers.read(out)
    np.testing.assert_allclose(table.values, expected().transform(X), atol=1e-8)
    if suffix != ".npy":
        assert table.names == ("kernelpca0", "kernelpca1", "kernelpca2")


def test_models_saved_for_frames_write_the_same_rows(tmp_path, data):
    for container in ("default", "pandas"):
        expected(preimage="auto").set_output(transform=container).save(tmp_path / container)
    for command in ("transform", "denoise"):
        assert run(command, tmp_path / "pandas", data).stdout == run(command, tmp_path / "default", data).stdout


def test_parameters_reach_the_estimator(tmp_path, data):
    out = tmp_path / "m"
    run("fit", data, "-o", out, "--kernel", "poly", "--gamma", 0.5, "--degree", 2, "--coef0", 1,
        "--components", 2, "--set", "alpha=0.25", "--set", "eigen_solver=dense")  # fmt: skip
    got = mercer.load(out).get_params()
    wanted = {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1, "n_components": 2, "alpha": 0.25}
    assert got | wanted | {"eigen_solver": "dense"} == got
    run("fit", data, "-o", out, "--components", "0.5", "--kernel", "linear")
    assert mercer.load(out).get_params()["gamma"] is None  # the median belongs to the default kernel
    assert mercer.load(out).n_components == 0.5


def test_fit_on_a_random_sample_and_on_chosen_columns(tmp_path, data):
    out = tmp_path / "m"
    run("fit", data, "-o", out, "--rows", 20, "--seed", 5, "--columns", "c, a", "--components", 2, "-v")
    loaded = mercer.load(out)
    assert loaded.n_samples_seen_ == 20
    assert list(loaded.feature_names_in_) == ["c", "a"]


def test_columns_are_matched_by_name(tmp_path, data, model):
    swapped = tmp_path / "swapped.csv"
    writers.write(swapped, [np.column_stack([X[:, 3], X[:, 0] * 0, X[:, :3]])], ["d", "other", "a", "b", "c"])
    assert run("transform", model, swapped).stdout == run("transform", model, data).stdout
    writers.write(swapped, [X[:, :3]], NAMES[:3])
    assert "no column 'd'; it has a, b, c" in failure("transform", model, swapped)
    np.save(tmp_path / "nameless.npy", X)
    assert run("transform", model, tmp_path / "nameless.npy").stdout == run("transform", model, data).stdout


def test_pipes(data, model, monkeypatch):
    text = run("transform", model, "-", stdin=data.read_bytes()).stdout
    assert text.splitlines()[0] == "kernelpca0,kernelpca1,kernelpca2"
    assert len(text.splitlines()) == 61
    buffer = io.BytesIO()
    np.save(buffer, X)
    assert run("transform", model, "-", stdin=buffer.getvalue()).stdout == text


def test_score_writes_one_value_a_row_and_a_summary(tmp_path, data, model):
    out = tmp_path / "spe.csv"
    shown = run("score", model, data, "-o", out, "--top", 2, "--chunk-rows", 9).stdout
    table = readers.read(out)
    spe = expected().reconstruction_error(X)
    assert table.names == ("spe",)
    np.testing.assert_allclose(table.values[:, 0], spe, atol=1e-8)
    assert "Reconstruction error of 60 rows" in shown
    assert re.search(rf"│ {spe.argmax()} +│ +{spe.max():.4g} │", shown)
    assert run("score", model, data, "--top", 2).stdout == shown
    piped = run("score", model, data, "-o", "-", "--chunk-rows", 9).stdout
    assert piped == out.read_text()


def test_denoise_returns_rows_like_those_given(tmp_path, data, model):
    out = tmp_path / "clean.csv"
    run("denoise", model, data, "-o", out, "--chunk-rows", 60)
    table = readers.read(out)
    assert table.names == tuple(NAMES)
    fitted = expected(preimage="auto")
    np.testing.assert_allclose(table.values, fitted.inverse_transform(fitted.transform(X)), atol=1e-6)


def test_info_shows_the_installation():
    shown = run("info", "--system").stdout
    for name in ("Python", "numpy", "scipy", "scikit-learn", "numba", "BLAS", "threads", "compiled functions"):
        assert re.search(rf"│ {name} +│ \S", shown), name
    assert np.__version__ in shown
    assert "needs a model file, or --system" in failure("info")


@pytest.mark.parametrize(("given", "told"), [("", "for Haswell"), ("Haswell", "for Haswell (by OPENBLAS_CORETYPE)")])
def test_info_tells_for_which_processors_blas_is(monkeypatch, given, told):
    library = {"user_api": "blas", "internal_api": "openblas", "version": "1.2", "num_threads": 3}
    found = [{**library, "architecture": "Haswell"}, {**library, "internal_api": "mkl"}]
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: found)
    monkeypatch.setenv("OPENBLAS_CORETYPE", given)
    assert facts()["BLAS"] == f"openblas 1.2 {told}, 3 threads; mkl 1.2, 3 threads"


@pytest.mark.parametrize(
    ("found", "told"),
    [((None, False), "kept nowhere"), ((Path("x"), False), "x (not writable)"), ((Path("x"), True), "x (writable)")],
)
def test_info_tells_where_compiled_functions_are_kept(monkeypatch, found, told):
    monkeypatch.setattr("mercer.kernels.compile_cache.used_folder", lambda: found)
    assert told in run("info", "--system").stdout


def test_info_shows_what_a_model_holds(model):
    shown = run("info", model).stdout
    for fact in ["KernelPCA", "n_components=3", "a, b, c, d", f"mercer {mercer.__version__}", "eigenvalue"]:
        assert fact in shown
    assert f"{mercer.load(model).eigenvalues_[0]:.6g}" in shown


def test_version_and_help():
    assert run("--version").stdout == f"mercer {mercer.__version__}\n"
    for command in ["fit", "transform", "score", "denoise", "info", "demo"]:
        assert command in run("--help").stdout
        assert "--help" in run(command, "--help").stdout
    assert "kernel-pca" in run("fit", "--help").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "nothing"], "no method 'nothing'; use one of auto, kernel-pca"),
        (["--set", "alpha"], "name=value"),
        (["--set", "depth=3"], "no parameter 'depth'; it has alpha"),
        (["--gamma", "wide"], "--gamma is 'wide'; give a number"),
        (["--components", "many"], "--components is 'many'"),
        (["--components", "-3"], "--components must be a whole number of at least 1"),
        (["--kernel", "nothing"], "kernel"),
        (["--rows", "0"], "at least 1"),
        (["--columns", "z"], "no column 'z'"),
    ],
)
def test_wrong_parameters_end_in_one_line(tmp_path, data, options, message):
    assert message in failure("fit", data, "-o", tmp_path / "m", *options)
    assert not (tmp_path / "m").exists()


def test_wrong_files_end_in_one_line(tmp_path, data, model):
    assert "does not exist" in failure("fit", tmp_path / "none.csv", "-o", tmp_path / "m")
    assert "create it first" in failure("fit", data, "-o", tmp_path / "none" / "m")
    assert "is a folder" in failure("fit", data, "-o", tmp_path)
    assert "is not known" in failure("fit", tmp_path / "x.doc", "-o", tmp_path / "m")
    assert "give a model" in failure("info", tmp_path / "none")
    assert "Cannot load" in failure("info", data)
    assert "cannot be written" in failure("transform", model, data, "-o", tmp_path / "y.doc")
    (tmp_path / "bad.csv").write_text("a,b,c,d\n1,2,3,4\n1,2,x,4\n")
    assert "line 3, column 3 (c) holds 'x'" in failure("fit", tmp_path / "bad.csv", "-o", tmp_path / "m")
    np.save(tmp_path / "narrow.npy", X[:, :2])
    assert "the model needs 4" in failure("transform", model, tmp_path / "narrow.npy")
    assert "Standard input is empty" in failure("transform", model, "-", stdin=b"")
    np.save(tmp_path / "nan.npy", np.full((4, 4), np.nan))
    assert "NaN" in failure("transform", model, tmp_path / "nan.npy")


def test_debug_shows_the_error_itself_wherever_it_stands(tmp_path):
    for args in (["--debug", "info", "none"], ["info", "none", "--debug"]):
        assert isinstance(CliRunner().invoke(app, args).exception, FileNotFoundError)


def test_a_defect_ends_in_one_line_too(data, tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise KeyError("lost")

    monkeypatch.setattr(mercer.KernelPCA, "fit", broken)
    told = run("fit", data, "-o", tmp_path / "m", code=1).stderr
    assert told.splitlines() == [
        "Error: KeyError: 'lost'. This is a defect of mercer; please report it with the output of --debug."
    ]
    assert isinstance(CliRunner().invoke(app, ["fit", str(data), "-o", "m", "--debug"]).exception, KeyError)


def test_wrong_commands_and_options_show_the_usage():
    for args in (["nothing"], ["fit"], ["fit", "x.csv", "-o", "m", "--missing", "guess"]):
        told = run(*args, code=2).stderr
        assert "Usage" in told
        assert "defect" not in told


def test_a_cut_off_gzip_file_ends_in_one_line(tmp_path):
    whole = gzip.compress(b"a,b\n" + b"1.5,2.5\n" * 5000)
    (tmp_path / "x.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert "ended before" in failure("fit", tmp_path / "x.csv.gz", "-o", tmp_path / "m")


def test_the_command_says_what_to_install(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("mercer.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stopped:
        entry.main()
    assert stopped.value.code == 2
    assert "pip install 'mercer[cli]'" in capsys.readouterr().err


def test_the_installed_command_runs(model):
    script = "from mercer.cli.app import main; main()"
    done = subprocess.run([sys.executable, "-c", script, "info", str(model)], capture_output=True, text=True)
    assert done.returncode == 0
    assert "KernelPCA" in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path, model):
    np.save(tmp_path / "long.npy", np.tile(X, (2000, 1)))
    script = "from mercer.cli.app import main; main()"
    args = [sys.executable, "-c", script, "transform", str(model), str(tmp_path / "long.npy")]
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""


class Counting:
    """A streaming method that learns only how many rows it got at a time."""

    def __init__(self, verbose=False):
        self.sizes = []

    def get_params(self, deep=True):
        return {"verbose": False}

    def set_params(self, **params):
        return self

    def partial_fit(self, rows):
        self.sizes.append(len(rows))
        self.n_features_in_ = rows.shape[1]
        return self

    n_samples_seen_ = property(lambda self: sum(self.sizes))
    eigenvalues_ = explained_variance_ratio_ = np.ones(1)

    def save(self, path):
        Path(path).write_text(" ".join(map(str, self.sizes)))


def test_every_decomposition_is_a_method():
    assert {method.cls for method in methods._METHODS.values()} == set(methods.DECOMPOSITIONS)
    assert all(type(method.make({})).__name__ == method.cls for method in methods._METHODS.values())


def test_a_registered_method_that_streams_is_fed_by_chunks(tmp_path, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "counting", types.SimpleNamespace(Counting=Counting))
    monkeypatch.setitem(methods.DECOMPOSITIONS, "Counting", "counting")
    monkeypatch.setitem(methods._METHODS, "counting", methods.Method("Counting", "counts", {}))
    assert "counting: counts" in methods.overview()
    run("fit", data, "-o", tmp_path / "m", "--method", "counting", "--chunk-rows", 25)
    assert (tmp_path / "m").read_text() == "25 25 10"
    assert "counting" in failure("fit", data, "-o", tmp_path / "m", "--method", "other")


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("true", True), ("[1, 2]", [1, 2]), ("rbf", "rbf"), ("a b", "a b")],
)
def test_values_are_read_as_what_they_look_like(text, value):
    assert values.value(text) == value
    assert type(values.value(text)) is type(value)


def test_words_for_components_and_gamma():
    assert values.components("all") is None
    assert values.gamma("median") == "median"
    assert values.gamma("none") is None
    assert values.gamma("2") == 2.0


@pytest.mark.parametrize(
    ("started", "found", "called"),
    [
        (".venv/bin/mercer", None, ".venv/bin/mercer"),  # as `make demo` does
        (".venv/bin/mercer", "/usr/bin/mercer", "mercer"),
        ("/usr/lib/mercer/__main__.py", None, "mercer"),
    ],
)
def test_the_demo_names_a_command_that_a_shell_finds(monkeypatch, started, found, called):
    monkeypatch.setattr(sys, "argv", [started, "demo"])
    monkeypatch.setattr(demo, "which", lambda _: found)
    cleaned = [Cleaned("some", None, np.zeros((1, 64)), 0.1, 1.0)] * 4
    assert demo._result(cleaned, Path("p.png"), Path("m.mercer")).endswith(f"show it with: {called} info m.mercer")


def test_the_demo_makes_a_picture_and_a_model(tmp_path, caplog):
    with caplog.at_level("INFO", "mercer"):
        shown = run("demo", "--out", tmp_path / "out", "-v").stdout
    assert "ways to clean: step 4 of 4" in caplog.text
    assert "solvers timed: step 5 of 5" in caplog.text
    assert (tmp_path / "out" / "digits.png").read_bytes().startswith(b"\x89PNG")
    errors = [float(e) for e in re.findall(r"│ +(0\.\d{4}) │", shown)]
    noisy, same, best, kernel = errors
    assert kernel < best < same < noisy
    assert mercer.load(tmp_path / "out" / "digits.mercer").n_samples_seen_ == 899
    assert re.search(r"scikit-learn.s KernelPCA \d+\.\d\d s by default, \d+\.\d\d s with its fastest solver", shown)
    assert shown.strip().endswith(f"mercer info {tmp_path / 'out' / 'digits.mercer'}")


@pytest.mark.parametrize(("rows", "told"), [(50, "No row can raise an alarm"), (150, "No training row can")])
def test_outliers_tells_that_the_rows_are_too_few_for_an_alarm(tmp_path, rows, told):
    path = tmp_path / "few.npy"
    np.save(path, np.random.default_rng(1).standard_normal((rows, 3)))
    result = run("outliers", path, "--alpha", 0.01)
    assert told in result.stderr
    assert f"0 of {rows} rows raise an alarm" in result.stderr
