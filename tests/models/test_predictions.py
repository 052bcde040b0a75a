"""Recorded answers: ids as they are written, classes that the data have, and one line for anything else."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from snellen.errors import UserError
from snellen.models import load_model
from snellen.models.adapters.predictions import recorded_answers

CLASSES = ("cat", "dog")


def answers(
    place: Path, content: str | bytes, classes: tuple[str, ...] = CLASSES, samples: tuple = ("000000", "01")
) -> list:
    (place / "people.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    model = load_model(f"predictions:{place}/people.csv")
    return recorded_answers(model, "none()", 0, samples, classes)["pred"].tolist()


def test_ids_with_leading_zeros_are_found(tmp_path: Path) -> None:
    assert answers(tmp_path, "sample,pred\n01,dog\n000000,cat\n") == [0, 1]
    assert answers(tmp_path, "sample,pred,seed,distortion\n000000,1,0,none()\n01,-1,,\n") == [1, -1]
    assert answers(tmp_path, b"sample,pred\ncaf\xe9,dog\n", samples=(r"caf\xe9",)) == [1]


def test_numbers_are_names_where_classes_are_numbers(tmp_path: Path) -> None:
    assert answers(tmp_path, "sample,pred\n000000,02\n01,01\n", ("01", "02")) == [1, 0]
    assert answers(tmp_path, "sample,pred\n000000,1.0\n01,0\n", ("0", "1")) == [1, 0]
    with pytest.raises(UserError, match="unknown class in .* '1'; did you mean '01'"):
        answers(tmp_path, "sample,pred\n000000,1\n01,01\n", ("01", "02"))


@pytest.mark.parametrize(
    ("pred", "words"),
    [
        ("99", "answers class 99; expected one of the data's 2 classes by name, their number from 0 to 1, or -1"),
        ("-2", "answers class -2; expected"),
        ("1e30", "unknown class in .* '1e30'; known: cat, dog"),
        ("ct", "unknown class in .* 'ct'; did you mean 'cat'"),
        ("", "line 2: 'pred' is empty"),
        ("nan", "unknown class"),
        ("9" * 40, "unknown class"),
    ],
)
def test_a_class_that_the_data_do_not_have_is_refused(tmp_path: Path, pred: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        answers(tmp_path, f"sample,pred\n000000,{pred}\n01,cat\n")


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("seed", "first", "people.csv line 2: expected a whole number in 'seed' from 0 to .*, got 'first'"),
        ("seed", "1e30", "line 2: expected a whole number in 'seed'"),
        ("seed", "0.5", "line 2: expected a whole number in 'seed'"),
        ("confidence", "high", "line 2: expected a number in 'confidence' from 0 to 1, got 'high'"),
        ("confidence", "95", "line 2: expected a number in 'confidence' from 0 to 1, got '95'"),
        ("label_prob", "inf", "line 2: expected a number in 'label_prob' from 0 to 1"),
        ("distortion", "oclude(0.3)", "line 2: unknown distortion 'oclude'; did you mean 'occlude'"),
        ("distortion", "occlude(2)", r"line 2: occlude: expected area in \[0, 1\], got 2"),
    ],
)
def test_a_wrong_cell_is_told_by_its_line(tmp_path: Path, column: str, value: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        answers(tmp_path, f"sample,pred,{column}\n000000,cat,{value}\n01,cat,\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("sample,pred\n01,cat\n01,dog\n", r"line 3 answers sample '01' under none\(\) twice"),
        ("sample,pred\n01,cat\n", "has no answer for sample '000000' under"),
        ("sample,class\n01,cat\n", r"has no column 'pred' \(or 'answer'\); it has: sample, class"),
        ("", "is empty"),
        (b"\x80\x81\0" * 50, "people.csv"),
    ],
)
def test_bad_files_are_told(tmp_path: Path, content: str | bytes, words: str) -> None:
    with pytest.raises(UserError, match=words):
        answers(tmp_path, content)


def test_parquet_answers_keep_their_words(tmp_path: Path) -> None:
    pd.DataFrame({"sample": ["000000", "01"], "pred": [1, 0]}).to_parquet(tmp_path / "people.parquet")
    model = load_model(f"predictions:{tmp_path}/people.parquet")
    assert recorded_answers(model, "none()", 0, ("01", "000000"), CLASSES)["pred"].tolist() == [0, 1]


@pytest.mark.parametrize("path", ["", "/dev/zero", "x" * 400, "a\0b", "."])
def test_what_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(UserError, match="no predictions file"):
        load_model(f"predictions:{path}")


def test_the_export_of_a_study_is_what_most_people_answered(tmp_path: Path) -> None:
    head = "observer,sample,label,answer,level,distortion,seed,x,y,on_target,response_ms"
    said = [("p1", "a", "dog"), ("p2", "a", "dog"), ("p3", "a", "cat"), ("p1", "b", "cat")]
    rows = [f"{who},{sample},cat,{answer},0,none(),0,0.5,0.5,1,800" for who, sample, answer in said]
    (tmp_path / "export.csv").write_text("\n".join([head, *rows]))
    model = load_model(f"predictions:{tmp_path}/export.csv")
    found = recorded_answers(model, "none()", 0, ["a", "b"], CLASSES)
    assert found["pred"].tolist() == [1, 0]
    assert found["confidence"].tolist() == pytest.approx([2 / 3, 1])
    (tmp_path / "export.csv").write_text("\n".join([head, *rows, rows[0]]))
    with pytest.raises(UserError, match=r"line 6 answers sample 'a' under none\(\) twice"):
        load_model(f"predictions:{tmp_path}/export.csv")


def test_of_answers_that_as_many_gave_no_class_is_preferred(tmp_path: Path) -> None:
    rows = [f"p{who},i{image},{CLASSES[who]}" for image in range(200) for who in range(2)]
    (tmp_path / "export.csv").write_text("\n".join(["observer,sample,answer", *rows]))
    model = load_model(f"predictions:{tmp_path}/export.csv")
    pred = recorded_answers(model, "none()", 0, [f"i{image}" for image in range(200)], CLASSES)["pred"]
    assert 70 < pred.sum() < 130
