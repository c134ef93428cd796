"""Texts that people have: other encodings, decimal commas, blank first lines, and JSON lines that differ."""

import gzip
import io
import json
import sys
import warnings

import numpy as np
import pytest

from mercer.errors import MissingCellError
from mercer.io.dialect import sniff
from mercer.io.readers import DataFileError, Selection, chunks, read


def given_stdin(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def both_ways(tmp_path, monkeypatch, content: bytes, suffix=".csv", **options):
    """Read bytes as a file, and from standard input."""
    (tmp_path / f"x{suffix}").write_bytes(content)
    given_stdin(monkeypatch, content)
    return read(tmp_path / f"x{suffix}", **options), read("-", **options)


# -- thousands separators --------------------------------------------------------------------------------------------


def test_points_that_separate_thousands_are_no_decimal_points(tmp_path, monkeypatch):
    text = b"id;a;b;c\nx;1.234;0,5;0,25\ny;12.345;0,5;0,25\n"
    with pytest.warns(UserWarning, match=r"Column a of .* thousands separators, such as 1\.234,"):
        tables = both_ways(tmp_path, monkeypatch, text)
    for table in tables:
        assert (table.names, table.left_out) == (("b", "c"), ("id", "a"))


@pytest.mark.parametrize("cell", ["1.234", "-12.345.678", "1.234,5", "1'234,5", "1 234,5"])
def test_one_number_with_thousands_separators_among_others_is_named(tmp_path, monkeypatch, cell):
    text = f"id;a;b\nx;1,5;0,5\ny;{cell};0,5\n".encode()
    given_stdin(monkeypatch, text)
    (tmp_path / "x.csv").write_bytes(text)
    for source in (tmp_path / "x.csv", "-"):
        with pytest.raises(DataFileError, match=r"line 3, column 2 \(a\) holds .* thousands separators"):
            read(source)


def test_a_first_row_with_thousands_separators_is_no_row_of_names(tmp_path):
    (tmp_path / "x.csv").write_text("1.234;0,5\n5,5;0,7\n6,5;0,7\n")
    with pytest.raises(DataFileError, match=r"line 1, column 1 holds '1\.234'"):
        read(tmp_path / "x.csv")


@pytest.mark.parametrize("cells", [["1.234,5", "12.345,75"], ["1'234,5", "NA"], ["1.234.567", "12.345.678"]])
@pytest.mark.parametrize("head", [["a;big"], []])
def test_columns_of_decimal_commas_with_separators_are_told(cells, head):
    with pytest.warns(UserWarning, match="Column (big|1) .*thousands"):
        found = sniff([*head, *(f"0,5;{cell}" for cell in cells)], "file")
    assert found.numeric == (True, False)


@pytest.mark.parametrize("cell", ["0.250", "1.5", "12.34", "1.23456"])
def test_decimal_points_beside_decimal_commas_stay_numbers(tmp_path, cell):
    (tmp_path / "x.csv").write_text(f"a;b;c\n{cell};0,5;2,5\n{cell};0,25;1,5\n")
    np.testing.assert_array_equal(read(tmp_path / "x.csv").values, [[float(cell), 0.5, 2.5], [float(cell), 0.25, 1.5]])


def test_three_decimals_after_a_point_stay_numbers_without_commas(tmp_path):
    (tmp_path / "x.csv").write_text("a;b\n1.234;2.345\n3.456;4.567\n")
    assert read(tmp_path / "x.csv").values[0].tolist() == [1.234, 2.345]


# -- encodings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["", "größe"])
@pytest.mark.parametrize("before", [3, 20_000])
@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_letters_of_western_windows_are_read_wherever_they_appear(tmp_path, monkeypatch, first, before, encoding):
    ids = [f"id{i}" for i in range(before)] + ["größe1", "grüße1", "10 €"]
    text = f"id{first},a\n" + "".join(f"{one},{i}.5\n" for i, one in enumerate(ids))
    selection = Selection(keep=(f"id{first}",))
    for table in both_ways(tmp_path, monkeypatch, text.encode(encoding), selection=selection):
        assert table.kept[:, 0].tolist() == ids
        assert table.values[-1, 0] == before + 2.5


def test_bytes_of_no_western_letter_stay_distinct(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"id,a\n\x81,1\n\x8d,2\n")
    assert len(set(read(tmp_path / "x.csv", selection=Selection(keep=("id",))).kept[:, 0])) == 2


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_late_letters_of_western_windows_in_json_lines(tmp_path, suffix):
    names = ["a"] * 8000 + ["größe", "grüße"]
    text = "".join(json.dumps({"id": name, "x": 1.5}, ensure_ascii=False) + "\n" for name in names).encode("cp1252")
    (tmp_path / f"x{suffix}").write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    found = read(tmp_path / f"x{suffix}", selection=Selection(keep=("id",)))
    assert found.kept[-2:, 0].tolist() == ["größe", "grüße"]


# -- first lines -----------------------------------------------------------------------------------------------------

FIRST_LINES = {
    "blank": "\nname,2020,2021\n",
    "three blank": "\n\r\n  \nname,2020,2021\n",
    "separator named, then blank": "sep=,\n\nname,2020,2021\n",
    "blank, then separator named": "\nsep=,\nname,2020,2021\n",
    "a hash": "\n# name,2020,2021\n",
    "a line break in a name": '"na\nme",2020,2021\n',
    "blank, and a line break in a name": '\n"na\nme",2020,2021\n',
}


@pytest.mark.parametrize("first", FIRST_LINES.values(), ids=FIRST_LINES)
def test_the_names_are_in_the_first_line_that_is_not_blank(tmp_path, monkeypatch, first):
    text = f"{first}x,1.5,2.5\ny,3.5,5.5\nz,1.25,4.5\n"
    for table in both_ways(tmp_path, monkeypatch, text.encode()):
        assert table.names == ("2020", "2021")
        np.testing.assert_array_equal(table.values, [[1.5, 2.5], [3.5, 5.5], [1.25, 4.5]])
    (tmp_path / "x.csv").write_text(text + "u,bad,1\n")
    with pytest.raises(DataFileError, match=f"line {text.count(chr(10)) + 1}, column 2"):
        read(tmp_path / "x.csv")


def test_names_in_brackets_are_no_json(tmp_path, monkeypatch):
    for names in (["[a]", "[b]", "[c]"], ["[1]", "[2]", "[3]"], ["[a]"]):
        row = ",".join(["1.5"] * len(names))
        for table in both_ways(tmp_path, monkeypatch, f"{','.join(names)}\n{row}\n{row}\n".encode()):
            assert table.names == tuple(names)
    for line in ("[1, 2", "[1, x]", "{1}"):
        given_stdin(monkeypatch, line.encode() + b"\n")
        with pytest.raises(DataFileError, match="is not JSON"):
            read("-")


# -- cells -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("true", "false"), [("true", "false"), ("True", "False"), ("TRUE", "FALSE")])
def test_true_and_false_are_one_and_zero_in_every_format(tmp_path, monkeypatch, true, false):
    text = f"id,a,on\nx,1.5,{true}\ny,2.5,{false}\nz,3.5,NA\n".encode()
    selection = Selection(missing="mark")
    for table in both_ways(tmp_path, monkeypatch, text, selection=selection):
        assert table.names == ("a", "on")
        np.testing.assert_array_equal(table.values, [[1.5, 1], [2.5, 0], [3.5, np.nan]])


def test_a_number_below_true_and_false_is_read(tmp_path):
    many = "".join(f"{i},{'True' if i % 2 else 'False'}\n" for i in range(200))
    (tmp_path / "x.csv").write_text(f"a,on\n{many}200,0.5\n")
    assert read(tmp_path / "x.csv").values[-2:].tolist() == [[199, 1], [200, 0.5]]


def test_digits_joined_by_underscores_are_text(tmp_path, monkeypatch):
    for table in both_ways(tmp_path, monkeypatch, b"a,b\n1,1_000\n2,2_000\n"):
        assert table.left_out == ("b",)


# -- JSON lines ------------------------------------------------------------------------------------------------------


def json_text(*records) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.mark.parametrize("rows", [1, 2, 1000])
def test_fields_of_all_first_lines_are_columns(tmp_path, rows):
    (tmp_path / "x.jsonl").write_bytes(json_text({"a": 1}, {"b": 2, "a": 3}, {"a": 4, "c": 5, "t": "x"}))
    tables = list(chunks(tmp_path / "x.jsonl", rows, selection=Selection(missing="mark")))
    assert tables[0].names == ("a", "b", "c")
    assert tables[0].left_out == ("t",)
    found = np.concatenate([table.values for table in tables])
    np.testing.assert_array_equal(found, [[1, np.nan, np.nan], [3, 2, np.nan], [4, np.nan, 5]])
    with pytest.raises(MissingCellError, match="line 1, field 'b' is missing"):
        read(tmp_path / "x.jsonl")


def test_a_field_that_appears_late_is_told_once(tmp_path):
    records = [{"a": i} for i in range(150)] + [{"a": 1, "late": 2}, {"a": 1, "later": 2}]
    (tmp_path / "x.jsonl").write_bytes(json_text(*records))
    with pytest.warns(UserWarning, match=r"line 151 has the field late.* not in the first 100 lines") as told:
        assert read(tmp_path / "x.jsonl").names == ("a",)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path / "x.jsonl", columns=["a"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1' + "0" * 400 + "}", "line 2, field 'a' holds 1000.*too large"),
        ('{"a": 1' + "0" * 5000 + "}", "line 2 .*digits"),
        ("[" * 100_000, "line 2 .*deep"),
        ('{"a": "' + "x" * 5000 + '"}', "line 2, field 'a' holds 'xxx"),
        ('{"a": ' + "x" * 5000 + "}", "line 2 is not JSON"),
    ],
    ids=["large", "digits", "deep", "long", "no JSON"],
)
def test_json_that_cannot_be_read_is_named_with_its_line(tmp_path, line, message):
    (tmp_path / "x.jsonl").write_text(f'{{"a": 1}}\n{line}\n')
    with pytest.raises(DataFileError, match=rf"x\.jsonl, {message}") as told:
        read(tmp_path / "x.jsonl")
    assert len(str(told.value)) < 400


@pytest.mark.parametrize(
    ("rows", "indent"),
    [([{"a": 1, "b": 2}, {"a": 3, "b": 4}], None), ([{"a": 1, "b": 2}], 2), ({"a": [1, 3], "b": [2, 4]}, 2)],
)
def test_json_that_is_not_by_lines_is_told(tmp_path, rows, indent):
    (tmp_path / "x.jsonl").write_text(json.dumps(rows, indent=indent))
    with pytest.raises(DataFileError, match="write JSON lines: one object per line, without brackets around them"):
        read(tmp_path / "x.jsonl")


def test_the_place_within_a_wrong_line_of_json_is_told(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n{"a": 2}\n{"a": x}\n')
    with pytest.raises(DataFileError, match=r"line 3 is not JSON \(Expecting value at letter 7\)"):
        read(tmp_path / "x.jsonl")


# -- quotes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [5, 50, 3000])
@pytest.mark.parametrize("keep", [(), ("note",)])
@pytest.mark.parametrize("wrong", ['{i},0.5,"open', '{i},"0.5,x', '"{i},0.5,x'])
def test_a_quote_that_is_not_closed_swallows_no_rows(tmp_path, monkeypatch, rows, keep, wrong):
    lines = [f"{i},0.5,x" for i in range(rows)]
    at = rows - 3
    lines[at] = wrong.format(i=at)
    text = "\n".join(["a,b,note", *lines]).encode()
    given_stdin(monkeypatch, text)
    (tmp_path / "x.csv").write_bytes(text)
    for source in (tmp_path / "x.csv", "-"):
        with pytest.raises(DataFileError, match=f"line {at + 2}: a quote that is opened there is not closed"):
            read(source, selection=Selection(keep=keep))


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_last_cell_of_several_lines_is_read(tmp_path, monkeypatch, end):
    text = f'a,note\n1,x\n2,"y\nz"\n3,5" pipe\n4,"y ""\nz"{end}'.encode()
    for table in both_ways(tmp_path, monkeypatch, text, selection=Selection(keep=("note",))):
        assert table.values.ravel().tolist() == [1, 2, 3, 4]
        assert table.kept[:, 0].tolist() == ["x", "y\nz", '5" pipe', 'y "\nz']
