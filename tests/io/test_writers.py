"""What is written can be read by other programs."""

import json

import numpy as np
import pytest

from mercer.io.readers import Selection, read
from mercer.io.writers import Labelled, write

ROWS = np.array([[1.5, np.nan], [np.inf, -2.0], [-np.inf, 0.1]])


def refused(text: str) -> float:
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("names", [None, ["t2", "spe"]])
def test_json_lines_hold_null_where_there_is_no_number(tmp_path, dtype, names):
    write(tmp_path / "x.jsonl", [ROWS.astype(dtype)], names)
    found = [json.loads(line, parse_constant=refused) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    rows = found if names is None else [[row[name] for name in names] for row in found]
    assert rows == [[1.5, None], [None, -2.0], [None, float(dtype(0.1))]]
    np.testing.assert_array_equal(
        read(tmp_path / "x.jsonl", selection=Selection(missing="mark")).values,
        np.where(np.isfinite(ROWS), ROWS.astype(dtype), np.nan),
    )


def test_labels_stay_as_they_are_beside_null(tmp_path):
    labels = (np.arange(3), np.array(["NaN", "b", ""], object))
    write(tmp_path / "x.jsonl", [Labelled(labels, ROWS)], ["row", "id", "t2", "spe"])
    first = json.loads((tmp_path / "x.jsonl").read_text().splitlines()[0], parse_constant=refused)
    assert first == {"row": 0, "id": "NaN", "t2": 1.5, "spe": None}
