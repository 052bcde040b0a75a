"""Answers exported as CSV and Parquet, and read again: the same findings, whatever names the images and classes have."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.errors import UserError
from snellen.export.answer_rows import COLUMNS
from snellen.files.spreadsheet import bare_cell, quoted_cell

AUDITS = "occlusion(areas=[0.3], fills=[black])"
DATA = "phantom:test?size=16&n=40"
ODD = ["=1+1", "plain", "a,b", 'he said "no"', "tab\tand\nline", "Größe 大", "-5", "'=x", "@cmd"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> snellen.Run:
    """Two models, one of them with two runs, of which one answers nothing known to the first image."""
    folder = tmp_path_factory.mktemp("export")
    first = snellen.audit(["observer:shape", "observer:texture"], DATA, AUDITS, folder / "first", quiet=True)
    answers = first.predictions()
    for number, model in enumerate(("shape", "texture")):
        rows = answers[answers["model"] == model][["sample", "distortion", "seed", "pred", "confidence", "label_prob"]]
        rows.assign(pred=[-1, *rows["pred"][1:]]).to_csv(folder / f"p-{number}.csv", index=False)
    models = ["observer:shape", f"p=predictions:{folder}/p-*.csv"]
    return snellen.audit(models, DATA, AUDITS, folder / "run", quiet=True)


def told(run: snellen.Run, model: str) -> list[dict[str, Any]]:
    """What a run says of a model, without what names its answers' origin."""
    findings = [one for one in run.results()["findings"] if one["model"] == model]
    return [{name: value for name, value in one.items() if name != "cells"} for one in findings]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_answers_read_again_give_the_same_findings(run: snellen.Run, tmp_path: Path, ending: str) -> None:
    file = run.export(tmp_path / f"answers.{ending}")
    models = [f"{name}=predictions:{file}#model={name}" for name in ("shape", "p")]
    again = snellen.audit(models, DATA, AUDITS, tmp_path / "again", quiet=True)
    for model in ("shape", "p"):
        assert len(told(run, model)) > 3
        assert told(again, model) == told(run, model)
    columns = ["model", "on", "distortion", "seed", "sample", "pred", "score", "confidence", "label_prob"]
    assert again.predictions()[columns].equals(run.predictions()[columns])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_table_is_that_of_the_stored_answers(run: snellen.Run, tmp_path: Path, ending: str) -> None:
    file = run.export(tmp_path / f"answers.{ending}")
    table = pd.read_csv(file) if ending == "csv" else pd.read_parquet(file)
    assert list(table.columns) == list(COLUMNS)
    stored = run.predictions()
    classes = [*run.facts["data"]["test"]["classes"], "-1"]
    assert len(table) == len(stored) == 3 * 3 * 40
    key = ["model", "run", "on", "distortion", "seed", "sample"]
    table, stored = (each.sort_values(key).reset_index(drop=True) for each in (table, stored))
    assert table[key].astype(str).equals(stored[key].astype(str))
    assert table["pred"].tolist() == [classes[number] for number in stored["pred"]]
    assert "-1" in set(table["pred"])
    assert table["class"].tolist() == stored["class"].tolist()
    assert np.array_equal(table["raw"], stored["raw"])
    for name in ("score", "confidence", "label_prob"):
        assert np.array_equal(table[name].astype(np.float32), stored[name], equal_nan=True)
    assert not table["excluded"].any()


def test_names_that_a_spreadsheet_would_run_or_a_table_would_break_come_back(tmp_path: Path) -> None:
    labels = np.repeat(np.arange(len(ODD)), 3)
    images = np.broadcast_to((25 * labels)[:, None, None, None], (len(labels), 16, 16, 3)).astype(np.uint8)
    ids = [f"{name}{copy}" for name in ODD for copy in range(3)]
    np.savez(tmp_path / "odd.npz", images=images, labels=labels, ids=np.array(ids), classes=np.array(ODD))
    data = f"arrays:{tmp_path}/odd.npz"

    def brightness(images: np.ndarray) -> np.ndarray:
        return np.eye(len(ODD))[np.round(images.mean((1, 2, 3)) / 25).astype(int)]

    model = snellen.models.from_callable(brightness, name="=brightness", version="1", classes=ODD, size=16)
    run = snellen.audit(model, data, AUDITS, tmp_path / "run", quiet=True)
    file = run.export(tmp_path / "answers.csv")
    with open(file, newline="") as lines:
        rows = list(csv.reader(lines))
    cells = {cell for row in rows for cell in row}
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t", "\n", "\r")]
    assert {"'=1+1", "''=x", "-5", "'@cmd", "'=brightness"} <= cells
    again = snellen.audit(f"predictions:{file}", data, AUDITS, tmp_path / "again", quiet=True)
    columns = ["distortion", "sample", "class", "pred", "score"]
    assert again.predictions()[columns].equals(run.predictions()[columns])
    assert set(again.predictions()["sample"]) == set(ids)


@pytest.mark.parametrize(
    "text", [*ODD, "", "'", "''", "'''=a", "+1", "-x", "\r", "'plain", "=" * 3, "'" * 40_000 + "="]
)
def test_every_text_comes_back_from_behind_its_apostrophe(text: str) -> None:
    assert bare_cell(quoted_cell(text)) == text
    assert not quoted_cell(text).startswith(("=", "@", "\t", "\r", "\n"))


def test_a_file_of_several_models_is_told_which(run: snellen.Run, tmp_path: Path) -> None:
    file = run.export(tmp_path / "answers.csv")
    for text, words in (
        ("", r"has answers of 2 models \(shape, p\); name one, as in 'predictions:.*#model=NAME'"),
        ("#model=q", "unknown model in .*answers.csv 'q'"),
        ("#model=p&run=p-7", "unknown run in .* 'p-7'; did you mean"),
        ("#modle=p", "unknown setting of .* 'modle'; did you mean 'model'"),
    ):
        with pytest.raises(UserError, match=words):
            snellen.audit(f"m=predictions:{file}{text}", DATA, AUDITS, tmp_path / "no", quiet=True)
    (tmp_path / "plain.csv").write_text("sample,pred\na,0\n")
    with pytest.raises(UserError, match="has no column 'model' to choose by; leave #model=p out"):
        snellen.load_model(f"predictions:{tmp_path}/plain.csv#model=p")


def test_which_model_is_chosen_is_in_its_key(run: snellen.Run, tmp_path: Path) -> None:
    file = run.export(tmp_path / "answers.parquet")
    texts = ["#model=shape", "#model=p&run=p-0", "#model=p&run=p-1"]
    prints = {snellen.load_model(f"predictions:{file}{text}").card.fingerprint for text in texts}
    assert len(prints) == 3


def test_answers_for_one_role_are_not_taken_for_another(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"train": "phantom:train?size=16&n=30", "quiet": True}
    run = snellen.audit("observer:shape", DATA, AUDITS, tmp_path / "run", **settings)
    table = pd.read_parquet(run.export(tmp_path / "answers.parquet"))
    assert set(table["on"]) == {"test", "train"}
    again = snellen.audit(f"shape=predictions:{tmp_path}/answers.parquet", DATA, AUDITS, tmp_path / "again", **settings)
    assert told(again, "shape") == told(run, "shape")
    table["on"] = table["on"].replace("train", "other")
    table.to_parquet(tmp_path / "answers.parquet")
    with pytest.raises(UserError, match="has no answer for sample"):
        snellen.audit(f"predictions:{tmp_path}/answers.parquet", DATA, AUDITS, tmp_path / "no", **settings)


@pytest.mark.parametrize(
    ("path", "format", "words"),
    [
        ("answers.xlsx", None, "'.*answers.xlsx' does not say in which format to write it; end it in .csv or .parquet"),
        ("answers", None, "does not say in which format"),
        ("answers.csv", "parquet", "ends in .csv, but the format is parquet; change one of them"),
        ("answers.csv", "cvs", "unknown format 'cvs'; did you mean 'csv'"),
    ],
)
def test_what_cannot_be_written_is_one_line(
    run: snellen.Run, tmp_path: Path, path: str, format: str | None, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        run.export(tmp_path / path, format)
    assert not list(tmp_path.iterdir())


def test_a_damaged_shard_is_refused_and_nothing_is_left(run: snellen.Run, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(run.path, tmp_path / "run")
    (shard,) = (tmp_path / "run" / "answers").glob("*/*.parquet")
    shard.write_bytes(shard.read_bytes()[:-9] + b"123456789")
    with pytest.raises(UserError, match="is damaged or missing"):
        snellen.load_run(tmp_path / "run").export(tmp_path / "answers.csv")
    assert not list(tmp_path.glob("answers*"))
