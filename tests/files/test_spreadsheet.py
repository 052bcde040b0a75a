"""CSV that people open: no cell of ours is run as a formula, and numbers stay numbers."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.cli import main
from snellen.files.spreadsheet import plain_cell, to_csv


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=", "-"])
def test_text_that_begins_as_a_formula_gets_an_apostrophe(text: str) -> None:
    assert plain_cell(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["a=b", "", "none()", "-1", "+1.5", "-2e-3", -1.5, 7, None, "1-2", "−3"])
def test_other_cells_and_numbers_stay(cell: object) -> None:
    assert plain_cell(cell) == cell


def test_a_table_keeps_its_numbers_and_neutralises_words_and_headings() -> None:
    frame = pd.DataFrame({"=x": ["=1", "b"], "n": [-1.5, 2], "mixed": [None, -3], "truth": [True, False]})
    again = pd.read_csv(io.StringIO(to_csv(frame)))
    assert list(again.columns) == ["'=x", "n", "mixed", "truth"]
    assert again["'=x"].tolist() == ["'=1", "b"]
    assert again["n"].tolist() == [-1.5, 2]
    assert again["mixed"].tolist()[1] == -3


def test_sql_and_findings_are_written_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [f"=HYPERLINK({row})" for row in range(12)]
    labels = np.arange(12) % 3
    images = np.broadcast_to((60 * (labels + 1))[:, None, None], (12, 8, 8)).astype(np.uint8)
    np.savez(tmp_path / "a.npz", images=images, labels=labels, ids=ids, classes=["=a", "@b", "c"])
    model = snellen.models.from_callable(lambda images: np.full((len(images), 3), [0.8, 0.1, 0.1]), size=8, version="1")
    snellen.audit(
        {"=model": model}, f"arrays:{tmp_path}/a.npz", "interference([shuffle(2)])", tmp_path / "run", quiet=True
    )
    capsys.readouterr()
    query = "select sample, class, -1 as n from samples where label = 0 order by sample limit 1"
    with pytest.raises(SystemExit):
        main(["sql", str(tmp_path / "run"), query, "--csv"])
    assert capsys.readouterr().out.splitlines() == ["sample,class,n", "'=HYPERLINK(0),'=a,-1"]
    assert set(pd.read_csv(tmp_path / "run" / "findings.csv")["model"]) == {"'=model"}
