"""People's own files: ids, dates, missing cells, equal names, other encodings, and models that know their columns."""

import gzip
import io
import os
import shlex
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mercer
from commands import failure, run
from mercer.engine.scaling import Scaling
from mercer.io.readers import DataFileError, Selection, chunks, drawn, read, row_count
from mercer.io.selection import distinct
from mercer.io.writers import Labelled, write
from mercer.outliers.judgement import judge_rows
from mercer.tables.columns import ColumnSummary, summary_of
from mercer.tables.prepared import PreparedModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * [1, 100, 3] + [0, 50, 1]
IDS = [f"m,{i}" for i in range(40)]  # the comma needs quotes
DAYS = [f"2024-01-{1 + i % 28:02d}" for i in range(40)]
HEADER = "machine,when,a,b,c"


def lines(cells=X, missing=()):
    """A table as text, with empty cells where `missing` says so."""
    rows = []
    for i, row in enumerate(cells):
        numbers = ["" if (i, j) in missing else repr(float(value)) for j, value in enumerate(row)]
        rows.append(",".join([f'"{IDS[i]}"', DAYS[i], *numbers]))
    return "\n".join([HEADER, *rows]) + "\n"


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.csv").write_text(lines())
    return tmp_path / "own.csv"


@pytest.fixture
def gaps(tmp_path):
    (tmp_path / "gaps.csv").write_text(lines(missing={(2, 0), (5, 2), (39, 1)}))
    return tmp_path / "gaps.csv"


@pytest.fixture
def model(tmp_path, own):
    run("fit", own, "-o", tmp_path / "model", "--components", 2)
    return tmp_path / "model"


# -- readers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "utf-16", "cp1252", "parquet", "jsonl", "jsonl.gz"])
def test_text_columns_are_left_out_and_kept_where_asked_for(tmp_path, kind):
    text = lines().replace("machine", "größe")
    path = tmp_path / ("x." + (kind if "." in kind or kind in ("parquet", "jsonl", "csv") else "csv"))
    columns = {"größe": IDS, "when": DAYS, **{name: X[:, i] for i, name in enumerate("abc")}}
    if kind == "parquet":
        pq.write_table(pa.table(columns), path)
    elif kind.startswith("jsonl"):
        plain = tmp_path / "plain.jsonl"
        write(plain, [Labelled((np.array(IDS, object), np.array(DAYS, object)), X)], list(columns))
        path.write_bytes(gzip.compress(plain.read_bytes()) if kind.endswith("gz") else plain.read_bytes())
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_bytes(text.encode("utf-8" if kind == "csv" else kind))
    table = read(path)
    assert (table.names, table.left_out) == (("a", "b", "c"), ("größe", "when"))
    np.testing.assert_array_equal(table.values, X)
    tables = list(chunks(path, 7, selection=Selection(("c", "a"), keep=("größe",))))
    assert [cell for table in tables for cell in table.kept[:, 0]] == IDS
    assert [row for table in tables for row in table.rows] == list(range(40))
    np.testing.assert_array_equal(np.concatenate([table.values for table in tables]), X[:, [2, 0]])


@pytest.mark.parametrize("kind", ["csv", "parquet", "gzip", "utf-16", "npy"])
def test_standard_input_takes_them_too(monkeypatch, kind):
    buffer = io.BytesIO()
    if kind == "parquet":
        pq.write_table(pa.table({"machine": IDS, "when": DAYS, "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}), buffer)
    elif kind == "npy":
        np.save(buffer, X)
    else:
        text = lines().encode("utf-16" if kind == "utf-16" else "utf-8")
        buffer.write(gzip.compress(text) if kind == "gzip" else text)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(buffer.getvalue())))
    table = read("-")
    np.testing.assert_array_equal(table.values, X)
    assert table.left_out == (() if kind == "npy" else ("machine", "when"))


@pytest.mark.parametrize(
    ("text", "names", "left_out", "values"),
    [
        ("id;name;x\nm1;p q;1,5\nm2;r s;2,5\n", ("x",), ("id", "name"), [[1.5], [2.5]]),
        ("id|x|y\nm1|1,5|2\nm2|2,5|3,25\n", ("x", "y"), ("id",), [[1.5, 2], [2.5, 3.25]]),
        ("m1,2024-01-01,1,2\nm2,2024-01-02,3,4\n", None, ("0", "1"), [[1, 2], [3, 4]]),
        ("a,b,\n1,2,\n3,4,\n", ("a", "b"), ("column2",), [[1, 2], [3, 4]]),
        ("sep=;\r\na;b\r\n1;2\r\n", ("a", "b"), (), [[1, 2]]),
        ("a,b\r\n1,2\n\n3,4\r\n", ("a", "b"), (), [[1, 2], [3, 4]]),
    ],
)
def test_what_spreadsheets_and_loggers_write(tmp_path, monkeypatch, text, names, left_out, values):
    (tmp_path / "x.csv").write_bytes(text.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    for table in (read(tmp_path / "x.csv"), read("-")):
        assert (table.names, table.left_out) == (names, left_out)
        np.testing.assert_array_equal(table.values, values)


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (gzip.compress(b"a,b\n1,2\n"), "x.csv is compressed by gzip; let its name end in .gz: x.csv.gz"),
        (b"PK\x03\x04 rest", "x.csv is a spreadsheet or a zip archive, not a text."),
        (b"\xd0\xcf\x11\xe0\xa1\xb1 rest", "x.csv is a spreadsheet of Excel, not a text."),
    ],
    ids=["gzip", "zip", "excel"],
)
def test_what_is_no_text_is_told(tmp_path, monkeypatch, start, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_bytes(start)
    assert told in failure("fit", "x.csv", "-o", "m.mercer")


def test_a_pipe_with_a_name_is_told_from_a_file_that_is_not_there(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    assert "x.csv is a pipe or a device; give it as standard input: - < " in failure("outliers", tmp_path / "x.csv")


def test_closed_input_and_output_are_told(model, own):
    """Some programs start commands without standard input or output; Python has None there."""
    command = [sys.executable, "-m", "mercer"]
    for args, closed, told in (
        (["outliers", "-"], "<&-", "Standard input is closed; a file or a pipe with rows is needed there."),
        (["watch", "-", "--headless"], "<&-", "Standard input is closed; a pipe with rows is needed there."),
        (["transform", model, own], ">&-", "Standard output is closed; name a file with --out."),
    ):
        line = f"exec {shlex.join([*command, *map(str, args)])} {closed}"
        done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr.strip()) == (2, f"Error: {told}")


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_equal_names_are_made_distinct_as_pandas_does(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    if kind == "csv":
        path.write_text("a,a,b\n1,2,3\n")
    elif kind == "parquet":
        pq.write_table(pa.table([[1], [2], [3]], names=["a", "a", "b"]), path)
    else:
        path.write_text('{"a": 1, "a": 2, "b": 3}\n')
    with pytest.warns(UserWarning, match=r"same name; the later ones are called a\.1"):
        table = read(path)
    assert table.names == ("a", "a.1", "b")
    np.testing.assert_array_equal(table.values, [[1, 2, 3]])
    with pytest.warns(UserWarning, match="same name"):
        np.testing.assert_array_equal(read(path, columns=["a.1"]).values, [[2]])


def test_a_name_that_is_taken_is_not_given_again():
    assert distinct(["a", "a", "a.1", "a"]) == ("a", "a.2", "a.1", "a.3")


@pytest.mark.parametrize("kind", ["csv", "plain", "parquet", "jsonl", "npy"])
def test_missing_cells_are_refused_dropped_or_marked(tmp_path, monkeypatch, kind):
    path = tmp_path / f"x.{'csv' if kind == 'plain' else kind}"
    holes = X.copy()
    holes[2, 0] = holes[5, 2] = np.nan
    if kind in ("csv", "plain"):
        path.write_text(lines(missing={(2, 0)}).replace(repr(float(X[5, 2])), "NA"))
    elif kind == "parquet":
        pq.write_table(pa.table({n: pa.array(holes[:, i], from_pandas=True) for i, n in enumerate("abc")}), path)
    elif kind == "jsonl":
        write(path, [holes], ["a", "b", "c"])
        path.write_text(path.read_text().replace("NaN", "null"))
    else:
        np.save(path, holes)
    if kind == "plain":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    place = {"csv": r"line 4, column 3 \(a\)", "plain": r"line 4, column 3 \(a\)", "jsonl": "line 3, field 'a'"}
    expected = {"npy": r"row 2, column 0 \(both counted from 0\)", "parquet": r"row 2 \(counted from 0\), column 'a'"}
    with pytest.raises(DataFileError, match=(place | expected)[kind]):
        read(path, selection=Selection(missing="error"))
    np.testing.assert_array_equal(read(path, selection=Selection(missing="mark")).values, holes)
    tables = list(chunks(path, 3, selection=Selection(missing="drop")))
    rest = np.delete(np.arange(40), [2, 5])
    assert [row for table in tables for row in table.dropped] == [2, 5]
    np.testing.assert_array_equal(np.concatenate([table.rows for table in tables]), rest)
    np.testing.assert_array_equal(np.concatenate([table.values for table in tables]), X[rest])


def test_infinite_values_are_named_in_every_way_of_reading(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,inf\n")
    for missing in ("error", "drop", "mark"):
        with pytest.raises(DataFileError, match=r"row 1 \(counted from 0\), column 'b' holds an infinite value"):
            read(tmp_path / "x.csv", selection=Selection(missing=missing))


def test_columns_of_files_without_names_are_chosen_by_position(tmp_path):
    np.save(tmp_path / "x.npy", X)
    table = read(tmp_path / "x.npy", selection=Selection(exclude=("1",), keep=("0",)))
    np.testing.assert_array_equal(table.values, X[:, 2:])
    assert float(table.kept[3, 0]) == X[3, 0]
    with pytest.raises(DataFileError, match="no column 'a'; it has 0, 1, 2"):
        read(tmp_path / "x.npy", columns=["a"])


@pytest.mark.parametrize(("suffix", "exact"), [(".npy", True), (".npz", True), (".parquet", True), (".csv", False)])
def test_the_number_of_rows_is_known_before_reading(tmp_path, suffix, exact):
    many = RNG.normal(size=(5000, 3))
    path = tmp_path / f"x{suffix}"
    np.savez(path, X=many) if suffix == ".npz" else write(path, [many])
    assert row_count(path) == pytest.approx(5000, rel=0 if exact else 0.05)
    assert row_count("-") is None
    assert row_count(tmp_path / "none.csv") is None


def test_drawn_rows_keep_their_numbers(tmp_path):
    np.save(tmp_path / "x.npy", X)
    table = drawn(chunks(tmp_path / "x.npy", 7), 10, seed=1)
    np.testing.assert_array_equal(table.values, X[table.rows])
    assert len(table) == 10


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_labels_are_written_before_numbers(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    pieces = [Labelled((np.arange(40)[part], np.array(IDS, object)[part]), X[part]) for part in (np.s_[:9], np.s_[9:])]
    assert write(path, pieces, ["row", "id", "a", "b", "c"]) == 40
    table = read(path, selection=Selection(keep=("id",)))
    assert table.kept[:, 0].tolist() == IDS
    np.testing.assert_array_equal(table.values, np.column_stack([np.arange(40), X]))


# -- columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["soft", "variance", False])
@pytest.mark.parametrize("factor", [1.0, 1e300])
def test_the_scaling_of_chunks_is_that_of_all_rows(kind, factor):
    rows = np.column_stack([X, np.full(40, 7.0)]) * factor
    found = summary_of(np.array_split(rows, [3, 4, 25])).scaling(kind)
    expected = Scaling.of(rows, kind)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.unit, expected.unit, rtol=1e-12)


def test_a_summary_leaves_missing_cells_aside():
    holes = X.copy()
    holes[:20, 1] = np.nan
    summary = summary_of(np.array_split(holes, 6))
    np.testing.assert_allclose(summary.filling("abc"), np.nanmean(holes, axis=0))
    np.testing.assert_allclose(summary.scaling("variance").unit, np.nanstd(holes, axis=0))
    holes[:, 1] = np.nan
    with pytest.raises(DataFileError, match="No row has a value in the column b"):
        summary_of([holes]).filling("abc")


def test_a_summary_finds_row_numbers_constants_and_a_column_that_drowns_the_others():
    numbers = np.arange(40.0)
    rows = np.column_stack([numbers + 7, -numbers, np.full(40, 2.0), X[:, 0], np.repeat(numbers[:20], 2)])
    summary = summary_of(np.array_split(rows, 5))
    assert summary.counting() == [0, 1]
    assert summary.constant() == [2]
    assert summary.dominant() is None
    assert ColumnSummary().update(X * [1, 10, 1]).dominant()[0] == 1
    assert ColumnSummary().update(rows[:3]).counting() == []  # three rows can rise by chance


# -- commands --------------------------------------------------------------------------------------------------------


def test_a_command_names_what_it_leaves_out_and_carries_ids_and_times_over(tmp_path, own, model):
    told = run("fit", own, "-o", tmp_path / "m", "--components", 2).stderr
    assert "not numbers: machine, when." in told
    out = tmp_path / "scores.csv"
    run("transform", model, own, "-o", out, "--id", "machine", "--time", "when", "--chunk-rows", 9)
    table = read(out, selection=Selection(keep=("machine", "when")))
    assert table.kept.tolist() == [list(pair) for pair in zip(IDS, DAYS, strict=True)]
    np.testing.assert_allclose(table.values, mercer.load(model).transform(X))
    for command in (["score", model, own, "--top", 2], ["outliers", own, "--top", 2]):
        shown = run(*command, "--id", "machine").stdout
        assert "machine" in shown
        assert "m," in shown
    assert "numbers only" in failure("transform", model, own, "-o", tmp_path / "s.npy", "--id", "machine")
    run("denoise", model, own, "-o", tmp_path / "clean.csv", "--id", "machine")
    assert read(tmp_path / "clean.csv", selection=Selection(keep=("machine",))).kept[:, 0].tolist() == IDS


def test_a_first_line_that_is_taken_as_a_row_is_told(tmp_path):
    (tmp_path / "x.csv").write_text("id,2020,2021\nx,1,2\ny,3,5\n")
    told = run("fit", tmp_path / "x.csv", "-o", tmp_path / "m", "--components", 2).stderr
    assert "not numbers: 0 (counted from 0; the first line is taken as a row, not as names)." in told


def test_columns_can_be_excluded(tmp_path, own):
    run("fit", own, "-o", tmp_path / "m", "--exclude", "b", "--components", 2)
    assert list(mercer.load(tmp_path / "m").feature_names_in_) == ["a", "c"]
    assert "no column 'z'" in failure("fit", own, "-o", tmp_path / "m", "--exclude", "z")


def test_a_column_can_be_both_an_id_and_a_time(tmp_path, own, model):
    out = tmp_path / "scores.csv"
    run("transform", model, own, "-o", out, "--id", "when,machine", "--time", "when")
    table = read(out, selection=Selection(keep=("when", "machine", "when.1")))
    assert table.kept.tolist() == [[day, machine, day] for machine, day in zip(IDS, DAYS, strict=True)]


@pytest.mark.parametrize("command", ["fit", "outliers", "select"])
def test_a_column_that_is_named_twice_is_refused(tmp_path, own, command):
    out = ["-o", tmp_path / "m.mercer"] if command == "fit" else []
    assert "--columns names 'b' twice" in failure(command, own, *out, "--columns", "a,b,b")


def test_hints_about_columns(tmp_path, own):
    told = run("fit", own, "-o", tmp_path / "m").stderr
    assert "Column b holds 100% of the variance" in told
    assert "--scale soft" in told
    assert "variance of all columns" not in run("fit", own, "-o", tmp_path / "m", "--scale", "soft").stderr
    write(tmp_path / "n.csv", [np.column_stack([np.arange(40), X])], ["n", "a", "b", "c"])
    for command in (["fit", tmp_path / "n.csv", "-o", tmp_path / "m"], ["outliers", tmp_path / "n.csv"]):
        told = run(*command).stderr
        assert "--exclude n" in told
        assert "--exclude a" not in told
    assert mercer.load(tmp_path / "m").n_features_in_ == 4
    write(tmp_path / "same.csv", [np.ones((20, 2))], ["a", "b"])
    assert "all columns are constant" in run("fit", tmp_path / "same.csv", "-o", tmp_path / "m").stderr


def test_missing_cells_name_the_option_and_dropped_rows_keep_their_numbers(tmp_path, gaps):
    message = failure("fit", gaps, "-o", tmp_path / "m")
    assert "line 4, column 3 (a) is empty" in message
    assert "--missing drop" in message
    told = run("fit", gaps, "-o", tmp_path / "m", "--missing", "drop", "--components", 2).stderr
    assert "Dropped 3 of 40 rows, which have missing cells: 2, 5, 39" in told
    rest = np.delete(np.arange(40), [2, 5, 39])
    fitted = mercer.load(tmp_path / "m")
    assert fitted.n_samples_seen_ == 37
    assert "--missing" in failure("transform", tmp_path / "m", gaps)
    out = tmp_path / "s.npy"
    run("transform", tmp_path / "m", gaps, "-o", out, "--missing", "drop", "--chunk-rows", 2)
    np.testing.assert_array_equal(np.load(out)[:, 0], rest)
    np.testing.assert_allclose(np.load(out)[:, 1:], fitted.transform(X[rest]))
    spiked = X.copy()
    spiked[30] += 1000
    (tmp_path / "spike.csv").write_text(lines(spiked, missing={(2, 0)}))
    for command in (["score", tmp_path / "m"], ["outliers"]):
        shown = run(*command, tmp_path / "spike.csv", "--missing", "drop", "--top", 1, "--id", "machine").stdout
        assert "m,30" in shown
    (tmp_path / "none.csv").write_text("a,b\n1,\n,2\n")
    assert "no row is left" in run("fit", tmp_path / "none.csv", "-o", "m", "--missing", "drop", code=2).stderr


def test_means_are_those_of_the_training_rows(tmp_path, gaps, own, model):
    run("fit", gaps, "-o", tmp_path / "m", "--missing", "mean", "--components", 2)
    holes = X.copy()
    holes[2, 0] = holes[5, 2] = holes[39, 1] = np.nan
    means = np.nanmean(holes, axis=0)
    whole = np.where(np.isnan(holes), means, holes)
    expected = mercer.KernelPCA(2, kernel="rbf", gamma="median").fit(whole)
    loaded = mercer.load(tmp_path / "m")
    np.testing.assert_allclose(np.abs(loaded.transform(holes)), np.abs(expected.transform(whole)), atol=1e-9)
    new = tmp_path / "new.csv"
    new.write_text("a,b,c\n5000,,7000\n")  # its own means would be something else
    shown = run("transform", tmp_path / "m", new).stdout.splitlines()[1]
    np.testing.assert_allclose(
        [float(cell) for cell in shown.split(",")], loaded.transform([[5000, means[1], 7000]])[0], atol=1e-12
    )
    assert "does not know the means" in failure("transform", model, gaps, "--missing", "mean")
    run("outliers", gaps, "--missing", "mean", "--save", tmp_path / "d")
    shown = run("outliers", new, "--detector", tmp_path / "d", "--missing", "mean", "-o", "-").stdout.splitlines()[1]
    assert float(shown.split(",")[3]) == mercer.load(tmp_path / "d").p_values([[5000, means[1], 7000]])[0]
    run("outliers", gaps, "--missing", "mean", "--scale", "none", "--save", tmp_path / "d")
    assert "does not know" in failure("outliers", new, "--detector", tmp_path / "d", "--missing", "mean")


def test_a_column_without_any_value_is_one_of_missing_cells_in_every_format(tmp_path, gaps):
    run("fit", gaps, "-o", tmp_path / "m", "--missing", "mean", "--components", 2)
    table = pa.table({"a": pa.nulls(40), "b": X[:, 1], "c": X[:, 2]})
    pq.write_table(table, tmp_path / "new.parquet")
    (tmp_path / "new.csv").write_text("a,b,c\n" + "".join(f",{float(b)!r},{float(c)!r}\n" for _, b, c in X))
    for kind in ("csv", "parquet"):
        run("transform", tmp_path / "m", tmp_path / f"new.{kind}", "-o", tmp_path / f"{kind}.npy")
        told = failure("score", tmp_path / "m", tmp_path / f"new.{kind}", "--missing", "error")
        assert "missing" in told
        assert "--missing mean" in told
    np.testing.assert_array_equal(np.load(tmp_path / "csv.npy"), np.load(tmp_path / "parquet.npy"))


@pytest.mark.parametrize("method", ["auto", "landmark"])
@pytest.mark.parametrize("kind", ["soft", "variance"])
def test_the_scaling_is_a_part_of_the_model(tmp_path, own, kind, method):
    run("fit", own, "-o", tmp_path / "m", "--scale", kind, "--components", 2, "--method", method, "--chunk-rows", 50)
    loaded = mercer.load(tmp_path / "m")
    assert isinstance(loaded, PreparedModel)
    scaled = Scaling.of(X, kind)(X)
    expected = mercer.KernelPCA(2, kernel="rbf", gamma="median").fit(scaled)
    np.testing.assert_allclose(np.abs(loaded.transform(X)), np.abs(expected.transform(scaled)), atol=1e-8)
    out = tmp_path / "s.npy"
    run("transform", tmp_path / "m", own, "-o", out)
    np.testing.assert_allclose(np.load(out), loaded.transform(X))
    run("score", tmp_path / "m", own, "-o", out)
    np.testing.assert_allclose(np.load(out)[:, 0], expected.reconstruction_error(scaled), atol=1e-8)
    run("denoise", tmp_path / "m", own, "-o", out)
    assert np.corrcoef(np.load(out)[:, 1], X[:, 1])[0, 1] > 0.5  # in its own units
    assert np.abs(np.load(out)[:, 1]).max() > 50
    assert kind in run("info", tmp_path / "m").stdout
    again = tmp_path / "again"
    loaded.save(again)
    assert again.read_bytes() == (tmp_path / "m").read_bytes()


def test_a_prepared_model_takes_arrays_and_frames_and_refuses_rows_of_another_width(tmp_path, own):
    run("fit", own, "-o", tmp_path / "m", "--scale", "soft")
    loaded = mercer.load(tmp_path / "m")
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = loaded.transform(X)
    frame = pd.DataFrame({"c": X[:, 2], "id": IDS, "a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_array_equal(loaded.transform(frame), scores)
    np.testing.assert_allclose(loaded.transform(X.tolist()), scores)
    with pytest.raises(ValueError, match="needs rows of 3 features"):
        loaded.transform(X[:, :2])
    with pytest.raises(ValueError, match="no column 'b'"):
        loaded.transform(frame.drop(columns="b"))


def test_a_scaled_model_is_fitted_to_standard_input_too(tmp_path, own):
    args = ["--scale", "soft", "--components", 2, "--chunk-rows", 7, "-o"]
    run("fit", own, *args, tmp_path / "file")
    run("fit", "-", *args, tmp_path / "pipe", stdin=own.read_bytes())
    np.testing.assert_array_equal(*(mercer.load(tmp_path / name).transform(X) for name in ("file", "pipe")))


def test_many_rows_take_landmarks_and_say_so(tmp_path, monkeypatch):
    from mercer.cli import methods, outliers
    from mercer.outliers import settings

    many = RNG.normal(size=(600, 3))
    np.save(tmp_path / "many.npy", many)
    monkeypatch.setattr(methods, "MANY", 500)
    for module in (outliers, settings):
        monkeypatch.setattr(module, "MANY_ROWS", 500)
    fit = ["fit", tmp_path / "many.npy", "-o", tmp_path / "m"]
    told = run(*fit, "--chunk-rows", 100).stderr
    assert "More than 500 rows: landmark-kernel-pca" in told
    assert "--method kernel-pca" in told
    assert type(mercer.load(tmp_path / "m")).__name__ == "LandmarkKernelPCA"
    assert mercer.load(tmp_path / "m").n_samples_seen_ == 600
    assert "needs all rows at once" in run(*fit, "--components", "0.9", code=2).stderr
    assert "More than 500 rows: landmark-kernel-pca" in run(*fit, "--rows", 550).stderr
    np.save(tmp_path / "few.npy", many[:100])  # so many are there, whatever --rows asks for
    told = run("fit", tmp_path / "few.npy", "-o", tmp_path / "m", "--rows", 550, "--components", 0.9).stderr
    assert "More than 500 rows" not in told
    assert type(mercer.load(tmp_path / "m")).__name__ == "KernelPCA"
    for more in (["--method", "kernel"], ["--rows", 300]):
        told = run(*fit, *more).stderr
        assert "More than" not in told
        assert type(mercer.load(tmp_path / "m")).__name__ == "KernelPCA"
    save = ["--save", tmp_path / "d", "--top", 1]
    assert "landmark-kernel-pca" in run("outliers", tmp_path / "many.npy", *save).stderr
    landmarks = mercer.load(tmp_path / "d")
    assert type(landmarks.estimator_).__name__ == "LandmarkKernelPCA"
    assert "More than" not in run("outliers", tmp_path / "many.npy", *save, "--method", "kernel").stderr
    exact = mercer.load(tmp_path / "d")
    assert type(exact.estimator_).__name__ == "KernelPCA"
    assert np.corrcoef(exact.score_samples(many), landmarks.score_samples(many))[0, 1] > 0.9
    run("outliers", tmp_path / "many.npy", *save, "--rows", 200)
    assert mercer.load(tmp_path / "d").n_samples_seen_ == 200


def test_equal_names_end_no_command(tmp_path):
    (tmp_path / "x.csv").write_text("a,a,b\n" + "\n".join(",".join(map(str, row)) for row in X.tolist()))
    told = run("fit", tmp_path / "x.csv", "-o", tmp_path / "m", "--components", 2).stderr
    assert "later ones are called a.1" in told
    assert "UserWarning" not in told
    run("transform", tmp_path / "m", tmp_path / "x.csv", "-o", tmp_path / "s.npy")
    np.testing.assert_allclose(np.load(tmp_path / "s.npy"), mercer.load(tmp_path / "m").transform(X))
    run("outliers", tmp_path / "x.csv")


def test_outliers_of_standard_input(own):
    assert run("outliers", "-", "-o", "-", stdin=own.read_bytes()).stdout == run("outliers", own, "-o", "-").stdout


def test_one_pass_judges_as_the_methods_of_the_detector_do():
    detector = mercer.KernelOutlierDetector(random_state=0).fit(X)
    found = judge_rows(detector, X)
    np.testing.assert_array_equal(found.statistics, detector.statistics(X))
    np.testing.assert_array_equal(found.p_values, detector.p_values(X))
    np.testing.assert_array_equal(found.scores, detector.score_samples(X))


def test_the_package_is_a_command(model):
    done = subprocess.run([sys.executable, "-m", "mercer", "info", str(model)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "KernelPCA" in done.stdout


def test_a_model_of_some_unnamed_columns_says_how_to_get_them(tmp_path):
    np.save(tmp_path / "x.npy", X)
    run("fit", tmp_path / "x.npy", "-o", tmp_path / "m", "--components", 2, "--columns", "0,2")
    told = run("transform", tmp_path / "m", tmp_path / "x.npy", code=2).stderr
    assert f"fitted on 2 columns, which have no names to find them by; {tmp_path / 'x.npy'} has 3" in told.replace(
        "\n", " "
    )
    run("transform", tmp_path / "m", tmp_path / "x.npy", "--exclude", "1", "-o", tmp_path / "s.npy")
    model = mercer.load(tmp_path / "m")
    np.testing.assert_array_equal(np.load(tmp_path / "s.npy"), model.transform(X[:, [0, 2]]))
