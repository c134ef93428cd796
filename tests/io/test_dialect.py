"""The format of a text table, found from its first lines."""

import warnings

import pytest

from mercer.io.dialect import sniff

COUNTED = {
    "a data frame without names": ["0,1,2", "2.0,2.0,2.5", "1.5,0.5,3.0"],
    "a data frame with its index": [",0,1,2", "0,3,2,5", "1,4,0,3"],
    "years over countries": ["country,2019,2020,2021", "Chile,18,21,20", "Peru,33,30,34"],
    "years, an empty corner": [",2019,2020", "Chile,1.5,2.5", "Peru,0.5,1"],
    "years alone": ["1999;2000", "1,5;2,5", "0,5;3,25"],
    "counted from 1": ["1,2,3", "0.1,0.2,0.3"],
}
ROWS = {
    "numbers that count": ["0,1,2", "3,4,5", "6,7,8"],
    "whole numbers": ["1,2,3", "9,4,7", "6,0,8"],
    "ids beside counts": ["m1,3,4,5", "m2,9,4,2", "m3,4,4,1"],
    "a step of two": ["2018,2020", "1.5,2.5"],
    "decimals": ["1.0,2.0", "1.5,2.5"],
    "one column": ["0", "1.5", "2.5"],
    "one line": ["0,1,2"],
}


@pytest.mark.parametrize("lines", COUNTED.values(), ids=COUNTED)
def test_numbers_that_count_the_columns_are_names(lines):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = sniff(lines, "file")
    no_word = not any(cell == "" or cell.isalpha() for cell in lines[0].replace(";", ",").split(","))
    assert ["is taken as names" in str(warning.message) for warning in told] == [True] * no_word
    cells = lines[0].split(found.delimiter)
    assert found.names == tuple(cell or f"column{i}" for i, cell in enumerate(cells))


@pytest.mark.parametrize("lines", ROWS.values(), ids=ROWS)
def test_other_numbers_in_the_first_line_are_a_row(lines):
    assert sniff(lines, "file").names is None


@pytest.mark.parametrize(
    "cells", [["1,037", "-12,345,678", ""], ["1 037", "20 000", "300 000"], ["1'037", "2'000.5", "NA"]]
)
def test_thousands_separators_are_told(cells):
    with pytest.warns(UserWarning, match="big .*thousands") as told:
        found = sniff(["a,big", *(f'0.5,"{cell}"' for cell in cells)], "file")
    assert cells[0] in str(told[0].message)
    assert found.numeric == (True, False)


@pytest.mark.parametrize(
    "cells", [["M1,037", "x"], ["1,2345", "1,5,6"], ["2024-01-01", "2024-01-02"], ["192.168.1.1", ""]]
)
def test_other_texts_are_not_taken_for_numbers(cells):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sniff(["a,big", *(f'0.5,"{cell}"' for cell in cells)], "file").numeric == (True, False)
