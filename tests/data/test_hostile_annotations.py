"""COCO and VOC files that nobody should have written: told in one line, or by image."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from snellen.data import Dataset, Photo, Unreadable, load_data
from snellen.errors import UserError

LISTING = {
    "images": [
        {"id": 1, "file_name": "a.png", "width": 8, "height": 6},
        {"id": 2, "file_name": "b.png", "width": 8, "height": 6},
    ],
    "annotations": [
        {"image_id": 1, "category_id": 1, "bbox": [1, 1, 3, 3], "segmentation": [[1, 1, 4, 1, 4, 4]]},
        {"image_id": 2, "category_id": 2, "bbox": [1, 1, 3, 3], "segmentation": [[1, 1, 4, 1, 4, 4]]},
    ],
    "categories": [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}],
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in "ab":
        Image.new("RGB", (8, 6)).save(tmp_path / f"{name}.png")
    return tmp_path


def coco(place: Path, edit: Callable[[dict[str, Any]], object]) -> Dataset:
    """The listing after an edit of it."""
    listing = copy.deepcopy(LISTING)
    edit(listing)
    (place / "c.json").write_text(json.dumps(listing))
    return load_data(f"coco:{place}/c.json")


def setting(kind: str, field: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda listing: listing[kind][0].__setitem__(field, value)


@pytest.mark.parametrize(
    ("kind", "field", "value", "words"),
    [
        ("images", "width", "wide", r"c.json: images\[0\].width: expected float | null, got str"),
        ("images", "width", 10**30, r"images\[0\].width: expected float <= 1000000000"),
        ("images", "id", [1], r"images\[0\].id: expected int"),
        ("images", "file_name", 5, r"images\[0\].file_name: expected str, got int"),
        ("images", "file_name", "../../etc/passwd", r"images=DIR|leaves"),
        ("images", "id", 2, r"images\[1\] has the id '2', as an image before it"),
        ("annotations", "bbox", [1, 2, 10**400, 3], r"annotations\[0\].bbox\[2\]: number out of range"),
        ("annotations", "bbox", [1, 2, 1e30, 3], r"annotations\[0\].bbox\[2\]: expected float <= 1000000000"),
        ("annotations", "bbox", [1, "a", 2, 3], r"annotations\[0\].bbox\[1\]: expected float, got str"),
        ("annotations", "category_id", None, r"annotations\[0\].category_id: expected int"),
        ("annotations", "category_id", 9, r"annotations\[0\] has category_id '9', which 'categories' does not list"),
        ("annotations", "image_id", {}, r"annotations\[0\].image_id: expected int"),
        ("categories", "name", "", r"categories\[0\].name: expected str matching regex"),
        ("categories", "id", 2, "two categories have the id '2'"),
    ],
)
def test_a_wrong_field_is_told_by_its_place(place: Path, kind: str, field: str, value: object, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        coco(place, setting(kind, field, value))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("entry", [None, [], "text", 5, {}])
@pytest.mark.parametrize("kind", ["images", "annotations", "categories"])
def test_an_entry_of_another_kind_is_told(place: Path, kind: str, entry: object) -> None:
    with pytest.raises(UserError, match=rf"{kind}\[0\]: (expected object|object missing)"):
        coco(place, lambda listing: listing[kind].__setitem__(0, entry))
    with pytest.raises(UserError, match=f"{kind}: expected array, got null"):
        coco(place, lambda listing: listing.__setitem__(kind, None))


def test_category_ids_may_be_numbers_and_words_and_share_a_name(place: Path) -> None:
    def mixed(listing: dict[str, Any]) -> None:
        listing["categories"][1]["id"] = listing["annotations"][1]["category_id"] = "two"

    assert coco(place, mixed).samples.labels.tolist() == [0, 1]
    data = coco(place, lambda listing: listing["categories"][1].__setitem__("name", "x"))
    assert data.classes == ("x",)
    assert data.samples.labels.tolist() == [0, 0]


def test_a_file_with_a_byte_order_mark_is_read_and_one_nested_too_deep_is_not(place: Path) -> None:
    (place / "c.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(LISTING).encode())
    assert len(load_data(f"coco:{place}/c.json")) == 2
    (place / "c.json").write_text('{"images": [{"id": 1, "file_name": "a.png", "x": ' + "[" * 100_000)
    with pytest.raises(UserError, match="nested too deeply"):
        load_data(f"coco:{place}/c.json")


@pytest.mark.parametrize(
    ("segmentation", "words"),
    [
        ([[1, 1, 4, 1, 4]], "has 5 numbers; expected pairs"),
        ([[1, 1]], "length >= 4"),
        ([[1, 1, 1e7, 1, 4, 4]], r"\[0\]\[2\]: expected float <= 1000000"),
        ([None], r"\[0\]: expected array, got null"),
        ("text", "got str"),
        ({"counts": [10**12]}, "run lengths do not make the 8x6 pixels"),
        ({"counts": [47]}, "run lengths do not make the 8x6 pixels"),
        ({"counts": [-1, 49]}, r"counts\[0\]: expected int >= 0"),
        ({"counts": "zzzz"}, "are not COCO's text"),
        ({"counts": "o" * 10_000}, "are not COCO's text"),
        ({"counts": [48], "size": [8, 6]}, "its segmentation is of"),
        ({"size": [6, 8]}, "missing required field 'counts'"),
    ],
)
def test_a_wrong_segmentation_is_told_by_its_image(place: Path, segmentation: object, words: str) -> None:
    data = coco(place, setting("annotations", "segmentation", segmentation))
    wrong, whole = data.read([0, 1])
    assert isinstance(whole, Photo)
    assert isinstance(wrong, Unreadable)
    assert wrong.sort == "broken annotation"
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(wrong.reason)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["counts", "size", "id"]), inner),
    max_leaves=6,
)
FIELDS = [(kind, field) for kind, entries in LISTING.items() for field in (*entries[0], "group", "iscrowd")]


@given(st.sampled_from(FIELDS), plain)
@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_value_in_any_field_is_read_or_told_in_one_line(place: Path, where: tuple[str, str], value: object) -> None:
    try:
        data = coco(place, setting(*where, value))
    except UserError as error:
        assert len(str(error).splitlines()) == 1
    else:
        data.read(range(len(data)))


@pytest.fixture
def voc(place: Path) -> Path:
    """Pascal VOC's layout with two images, of which `b` is annotated as a dog."""
    for folder in ("JPEGImages", "Annotations", "ImageSets/Main", "SegmentationObject"):
        (place / folder).mkdir(parents=True)
    for name in "ab":
        (place / f"{name}.png").rename(place / "JPEGImages" / f"{name}.png")
    (place / "Annotations" / "b.xml").write_text(xml(name="dog"))
    return place


def xml(width: str = "8", left: str = "1", name: str = "cat", head: str = "") -> str:
    return (
        f"{head}<annotation><size><width>{width}</width><height>6</height></size><object><name>{name}</name>"
        f"<bndbox><xmin>{left}</xmin><ymin>1</ymin><xmax>4</xmax><ymax>4</ymax></bndbox></object></annotation>"
    )


ENTITIES = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (xml(head='<?xml version="1.0" encoding="nonsense"?>'), "cannot be read as XML: unknown encoding"),
        (xml(head='<?xml version="1.0" encoding="shift_jis"?>'), "cannot be read as XML: multi-byte encodings"),
        (xml(head='<?xml version="1.0" encoding="rot13"?>'), "cannot be read as XML: 'rot13'"),
        (xml(name="&b;", head=ENTITIES), "declares entities"),
        (xml(name="&b;", head='<?xml version="1.0" encoding="utf-16"?>' + ENTITIES).encode("utf-16"), "declares ent"),
        (xml(name="&x;", head='<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), "declares entities"),
        (xml(width="wide"), "its size is no number of pixels: 'wide' x '6'"),
        (xml(width="9" * 5000), "its size is no number of pixels"),
        (xml(left="1e400"), "a corner of object 1 is no place in an image: inf"),
        (xml(left="1e300"), "a corner of object 1 is no place in an image: 1e\\+300"),
        (xml(left="x"), "a corner of object 1 is no number: x, 1, 4, 4"),
        ("<a>" * 100_000, "not well-formed XML"),
        (b"", "not well-formed XML"),
    ],
)
def test_a_wrong_xml_file_is_told_by_its_image(voc: Path, content: str | bytes, words: str) -> None:
    (voc / "Annotations" / "a.xml").write_bytes(content if isinstance(content, bytes) else content.encode())
    wrong, whole = load_data(f"voc:{voc}").read([0, 1])
    assert isinstance(whole, Photo)
    assert isinstance(wrong, Unreadable)
    assert "Annotations/a.xml" in wrong.reason
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(wrong.reason)


def test_an_xml_file_that_is_a_pipe_or_a_folder_holds_nobody_up(voc: Path) -> None:
    os.mkfifo(voc / "Annotations" / "a.xml")
    (read,) = load_data(f"voc:{voc}").read([0])
    assert isinstance(read, Unreadable)
    assert "is a pipe" in read.reason


def test_a_list_of_a_split_must_be_one(voc: Path) -> None:
    file = voc / "ImageSets" / "Main" / "val.txt"
    for make, words in (
        (lambda: file.mkdir(), "val.txt' is a folder; expected a list of images"),
        (lambda: file.write_bytes(bytes(range(256))), "val.txt is not a list of images"),
        (lambda: file.write_text("nothing\n"), "val.txt names none of the 2 images"),
    ):
        make()
        with pytest.raises(UserError, match=words):
            load_data(f"voc:{voc}?split=val")
        file.rmdir() if file.is_dir() else file.unlink()
    for split in ("../../etc/passwd", "/etc/passwd", "**", "%00", "x" * 300):
        with pytest.raises(UserError, match="no list"):
            load_data(f"voc:{voc}?split={split}")


def test_masks_of_several_channels_are_told(voc: Path) -> None:
    (voc / "Annotations" / "a.xml").write_text(xml())
    for name in "ab":
        Image.new("RGB", (8, 6)).save(voc / "SegmentationObject" / f"{name}.png")
    (read, _) = load_data(f"voc:{voc}?masks=true").read([0, 1])
    assert isinstance(read, Unreadable)
    assert "it has 3 channels; expected one" in read.reason
