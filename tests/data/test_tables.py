"""Tables of images: text stays as it is written, columns have types by schema only, and names may have any bytes."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from snellen.data import Dataset, Photo, Unreadable, load_data
from snellen.data.dataset import number_labels
from snellen.data.names import storable
from snellen.errors import UserError

any_file = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with three images of 8 × 6 pixels and a mask of the same size."""
    for name in "abc":
        Image.new("RGB", (8, 6), (9, 99, 199)).save(tmp_path / f"{name}.png")
    Image.new("L", (8, 6), 255).save(tmp_path / "mask.png")
    return tmp_path


def listed(place: Path, content: str | bytes, scheme: str = "manifest") -> Dataset:
    (place / "list.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_data(f"{scheme}:{place}/list.csv")


def parquet(place: Path, **columns: Any) -> Dataset:
    pq.write_table(pa.table(columns), place / "list.parquet")
    return load_data(f"manifest:{place}/list.parquet")


@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        (["01", "02", "10"], ("01", "02", "10"), [0, 1, 2]),
        (["1", "0", "3"], ("0", "1", "2", "3"), [1, 0, 3]),
        (["-1", "2"], ("-1", "2"), [0, 1]),
        (["-0", "1"], ("-0", "1"), [0, 1]),
        (["1.0", "2.0"], ("1.0", "2.0"), [0, 1]),
        (["1", "", "0"], ("0", "1"), [1, -1, 0]),
        (["1", "x"], ("1", "x"), [0, 1]),
        (["", " "], (), [-1, -1]),
    ],
)
def test_labels_are_numbers_only_where_all_are_written_plainly(labels: list, classes: tuple, numbers: list) -> None:
    indices, names = number_labels(labels)
    assert names == classes
    assert indices.tolist() == numbers


def test_ids_and_classes_with_leading_zeros_stay_what_they_are(place: Path) -> None:
    data = listed(place, "id,path,label,level\n000000,a.png,01,007\n000001,b.png,02,1e5\n000010,c.png,03,NA\n")
    assert data.samples.ids == ("000000", "000001", "000010")
    assert data.classes == ("01", "02", "03")
    assert data.samples.labels.tolist() == [0, 1, 2]
    assert data.samples.columns["level"].tolist() == ["007", "1e5", "NA"]
    assert load_data(f"manifest:{place}/list.csv?level=007").samples.ids == ("000000",)


def test_groups_are_words_whatever_they_are_written_as(place: Path) -> None:
    data = listed(place, "path,label,group\na.png,x,1\nb.png,y,a\nc.png,x,\n")
    assert data.samples.columns["group"].tolist() == ["1", "a", ""]
    data = parquet(place, path=["a.png", "b.png"], label=["x", "y"], group=pa.array([1, None]))
    assert data.samples.columns["group"].tolist() == ["1", ""]


def test_a_row_without_a_box_or_a_mask_is_an_image_without_an_object(place: Path) -> None:
    data = listed(place, "path,label,mask,x0,y0,x1,y1\na.png,x,mask.png,1,1,4,4\nb.png,y,,,,,\nc.png,y,no.png,,,,\n")
    first, second, third = data.read([0, 1, 2])
    assert isinstance(first, Photo)
    assert isinstance(second, Photo)
    assert isinstance(third, Unreadable)
    assert first.maps["mask"].all()
    assert not second.maps["mask"].any()
    assert second.boxes is not None
    assert second.boxes.shape == (0, 4)
    assert "its mask no.png" in third.reason


def test_types_of_parquet_columns_that_no_schema_names_are_the_files(place: Path) -> None:
    data = parquet(
        place,
        path=["a.png", "b.png"],
        label=pa.array([3.0, None]),  # whole numbers, made floats by what is missing
        level=[1, 2],
        when=[datetime.datetime(2020, 1, 1)] * 2,
        half=pa.array(np.array([1, 2], np.float16)),
        box=[[1], [2]],
        raw=[b"\xff", b""],
    )
    assert data.samples.labels.tolist() == [3, -1]
    assert data.samples.columns["level"].tolist() == [1, 2]
    assert not {"box", "raw"} & set(data.samples.columns)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"path": [["a"], ["b"]], "label": ["x", "y"]}, r"column 'path' holds list<.*>; expected text"),
        ({"path": ["a", "b"], "label": [b"x", b"y"]}, "column 'label' holds binary; expected text"),
        ({"path": ["a", "b"], "label": ["x", "y"], "group": [{"a": 1}] * 2}, "column 'group' holds struct<"),
        (
            {"path": ["a", "b"], "label": ["x", "y"], "x0": ["1", "w"]},
            "list.parquet row 2: expected a number in 'x0' from .*, got 'w'",
        ),
    ],
)
def test_columns_of_another_type_are_refused_by_name(place: Path, columns: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parquet(place, **columns)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("path,label\na\0b.png,x\n", r"list.csv line 2: 'a\\x00b.png' is not a path"),
        ("path,label\n,x\n", "list.csv line 2: 'path' is empty"),
        ("path,label\na.png,\n", "no image has a label"),
        ("id,path,label\n,a.png,x\n", "list.csv line 2: 'id' is empty"),
        ("path,label,x0,y0,x1,y1\na.png,x,1,2,,\n", "line 2: a box needs all of x0, y0, x1, y1; it has 1, 2, nothing"),
        ("path,label,x0,y0,x1,y1\na.png,x,1,2,inf,3\n", "line 2: expected a number in 'x1' from"),
        ("path,label,x0,y0,x1,y1\na.png,x,1,2,1e30,3\n", "line 2: expected a number in 'x1' from"),
        ("path,label,mask\na.png,x,../../etc/passwd\n", "line 2: path '../../etc/passwd' leaves"),
        ("path,label,box_share\na.png,x,wide\n", "line 2: expected a number in 'box_share'"),
        ("path,label\na.png,x\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (",".join(f"c{n}" for n in range(20_000)), "more than 10,000 columns"),
    ],
)
def test_bad_manifests_are_told_by_line(place: Path, content: str | bytes, words: str) -> None:
    with pytest.raises(UserError, match=words):
        listed(place, content)


def test_a_name_too_long_is_an_image_that_cannot_be_read(place: Path) -> None:
    data = listed(place, f"path,label\n{'x' * 300}.png,x\na.png,y\n")
    long, whole = data.read([0, 1])
    assert isinstance(long, Unreadable)
    assert isinstance(whole, Photo)


def test_trailing_commas_of_a_spreadsheet_are_columns_without_a_name(place: Path) -> None:
    assert listed(place, "path,label,,\na.png,x,,\n").samples.ids == ("a.png",)


@pytest.mark.parametrize("scheme", ["manifest", "boxes"])
def test_names_that_are_not_utf8_reach_their_files_and_can_be_stored(place: Path, scheme: str) -> None:
    os.rename(place / "a.png", os.fsencode(place) + b"/caf\xe9.png")
    head = b"path,label,x0,y0,x1,y1,na\xefve\n"
    data = listed(place, head + b"caf\xe9.png,\xff\xfe,1,1,2,2,\xe9\nb.png,b,1,1,2,2,x\n", scheme)
    assert all(isinstance(one, Photo) for one in data.read([0, 1]))
    assert data.samples.ids == (r"caf\xe9.png", "b.png")
    assert r"\xff\xfe" in data.classes
    assert data.samples.columns[r"na\xefve"].tolist() == [r"\xe9", "x"]
    pa.array([*data.samples.ids, *data.classes])  # as the store does
    assert len(data.samples.keys) == 2


@given(st.text(), st.binary())
@any_file
def test_storable_keeps_ordinary_names_and_makes_any_other_storable(text: str, name: bytes) -> None:
    assert storable(text) == text  # hypothesis draws no surrogates
    storable(name.decode("utf-8", "surrogateescape")).encode()
    assert storable("\ud800\udcff") == r"\ud800\xff"


cells = st.text(max_size=6) | st.sampled_from(
    ["a.png", "0", "01", "-0", "1e400", "nan", "", '"', "../x", "/etc", "\0", "x" * 300, "=1", "\ufeff"]
)
COLUMNS = ["path", "label", "id", "mask", "group", "video", "x0", "y0", "x1", "y1", "box_share", "level", ""]


@given(st.data(), st.sampled_from(["manifest", "boxes"]))
@any_file
def test_any_table_is_read_or_told_in_one_line(place: Path, data: st.DataObject, scheme: str) -> None:
    names = (
        data.draw(st.permutations(COLUMNS)) if data.draw(st.booleans()) else COLUMNS[: data.draw(st.integers(1, 13))]
    )
    rows = data.draw(st.lists(st.lists(cells, min_size=len(names), max_size=len(names)), max_size=4))
    text = "\n".join(",".join(row) for row in [names, *rows])
    try:
        dataset = listed(place, text, scheme)
    except UserError as error:
        assert len(str(error).splitlines()) == 1
        return
    dataset.read(range(len(dataset)))
    pa.array([*dataset.samples.ids, *dataset.classes])
