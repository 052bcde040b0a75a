"""`panoptic:` and `openimages:`: boxes, masks and classes are those of the files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from snellen.data import Photo, Unreadable, load_data
from snellen.errors import UserError

SKY, CAT, DOG = 3, 70_000, 258  # numbers of segments, which need one, three and two bytes


def panoptic(place: Path, **changes: Any) -> Path:
    """Two images of 12 × 10 pixels: sky with a cat and a larger dog, and nothing but sky."""
    numbers = np.full((10, 12), SKY)
    numbers[1:3, 2:5], numbers[4:9, 3:9] = CAT, DOG
    for name in ("photos", "annotations/set"):
        (place / name).mkdir(parents=True, exist_ok=True)
    for number, segments in enumerate([numbers, np.full((10, 12), SKY)]):
        colours = np.stack([segments % 256, segments // 256 % 256, segments // 65_536], 2).astype(np.uint8)
        Image.fromarray(colours).save(place / "annotations" / "set" / f"{number}.png")
        Image.new("RGB", (12, 10), (50 * number, 9, 9)).save(place / "photos" / f"{number}.jpg")
    sky = {"id": SKY, "category_id": 40, "bbox": [0, 0, 12, 10], "area": 84, "iscrowd": 0}
    content = {
        "images": [{"id": n, "file_name": f"{n}.jpg", "width": 12, "height": 10} for n in (0, 1)],
        "annotations": [
            {"image_id": 0, "file_name": "0.png", "segments_info": [
                sky, {"id": CAT, "category_id": 2, "bbox": [2, 1, 3, 2]}, {"id": DOG, "category_id": 1, "bbox": [3, 4, 6, 5]}]},
            {"image_id": 1, "file_name": "1.png", "segments_info": [sky]},
        ],
        "categories": [{"id": 1, "name": "dog", "isthing": 1}, {"id": 2, "name": "cat", "isthing": 1},
                       {"id": 40, "name": "sky", "isthing": 0}],
    }  # fmt: skip
    (place / "annotations" / "set.json").write_text(json.dumps(content | changes))
    return place / "annotations" / "set.json"


def test_things_of_panoptic_images_have_boxes_and_the_mask_of_the_largest(tmp_path: Path) -> None:
    file = panoptic(tmp_path)
    data = load_data(f"panoptic:{file}")
    assert load_data(str(file)).fingerprint == data.fingerprint
    assert (data.classes, data.samples.labels.tolist(), data.samples.ids) == (
        ("dog", "cat"),
        [0, -1],
        ("0.jpg", "1.jpg"),
    )
    assert data.facts == {"boxes", "masks"}
    first, second = data.read([0, 1])
    assert first.boxes.tolist() == [[2, 1, 5, 3], [3, 4, 9, 9]]
    assert np.argwhere(first.maps["mask"]).min(0).tolist() == [4, 3]
    assert first.maps["mask"].sum() == 30
    assert not second.maps["mask"].any()
    stuff = load_data(f"panoptic:{file}?stuff=true&images={tmp_path}/photos&segments={tmp_path}/annotations/set")
    assert [stuff.classes[label] for label in stuff.samples.labels] == ["sky", "sky"]
    assert stuff.read([1])[0].maps["mask"].all()
    os.utime(tmp_path / "annotations" / "set" / "0.png", (1, 1))
    assert len({data.fingerprint, stuff.fingerprint, load_data(f"panoptic:{file}").fingerprint}) == 3


@pytest.mark.parametrize(
    ("changes", "query", "message"),
    [
        ({"images": []}, "", "lists no images"),
        ({"categories": [{"id": 2, "name": "cat"}]}, "", "has category_id '40', which 'categories' does not list"),
        ({"categories": [{"id": 40, "name": "sky", "isthing": 0}]}, "", "no category is a thing; add .stuff=true"),
        ({"annotations": [], "categories": [{"id": 40, "name": "sky", "isthing": 0}]}, "", "no category is a thing; add"),
        ({}, "?segments=nowhere", "no folder 'nowhere'; give the folder of the PNG files"),
        ({}, "?images=nowhere", "no folder 'nowhere'; give the folder of the images"),
        ({"annotations": [{"image_id": 0, "file_name": "../0.png", "segments_info": []}]}, "", "leaves .*; add .segments=DIR"),
        ({"annotations": [{"image_id": 0, "file_name": "0.png", "segments_info": []}] * 2}, "", "is the second of its image"),
        ({"annotations": 3}, "", "annotations: expected array, got int"),
    ],
)  # fmt: skip
def test_panoptic_files_that_lie_are_refused(tmp_path: Path, changes: dict, query: str, message: str) -> None:
    file = panoptic(tmp_path, **changes)
    with pytest.raises(UserError, match=message):
        load_data(f"panoptic:{file}{query}")


def test_a_segment_without_pixels_is_told(tmp_path: Path) -> None:
    file = panoptic(tmp_path)
    Image.new("RGB", (12, 10)).save(tmp_path / "annotations" / "set" / "0.png")
    assert load_data(f"panoptic:{file}").read([0]) == [
        Unreadable(f"its mask cannot be read: 0.png has no pixel of segment {DOG}", "broken annotation")
    ]


def openimages(place: Path, row: str = "b,xclick,/m/2,1,0,1,0,1,0,0,1,0,0") -> Path:
    for name in "ab":
        Image.new("RGB", (20, 10)).save(place / f"{name}.jpg")
    header = (
        "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside"
    )
    rows = ["a,xclick,/m/1,1,0.1,0.3,0.2,0.4,0,0,0,0,0", "a,xclick,/m/2,1,0.5,1,0,1,0,0,0,0,0", row]
    (place / "boxes.csv").write_text("\n".join([header, *rows]))
    return place / "boxes.csv"


def test_boxes_of_open_images_are_shares_of_the_image(tmp_path: Path) -> None:
    file = openimages(tmp_path)
    plain = load_data(f"openimages:{file}")
    assert (plain.classes, plain.samples.ids) == (("/m/2",), ("a", "b"))
    (tmp_path / "class-descriptions-boxable.csv").write_text('/m/1,Cat\n/m/2,"Dog, small"\n')
    data = load_data(str(file))
    assert [data.classes[label] for label in data.samples.labels] == ["Dog, small", "Dog, small"]
    (photo,) = data.read([0])
    assert isinstance(photo, Photo)
    np.testing.assert_allclose(photo.boxes, [[2, 2, 6, 4], [10, 0, 20, 10]])
    alone = load_data(f"openimages:{file}?groups=false&images={tmp_path}")
    assert alone.samples.labels.tolist() == [0, -1]
    assert len({plain.fingerprint, data.fingerprint, alone.fingerprint}) == 3


@pytest.mark.parametrize(
    ("row", "query", "message"),
    [
        ("b,xclick,/m/2,1,0,17,0,1,0,0,0,0,0", "", "line 4: expected a number in 'XMax' from -1 to 2, got '17'"),
        ("b,xclick,,1,0,1,0,1,0,0,0,0,0", "", "line 4: 'LabelName' is empty"),
        ("../b,xclick,/m/2,1,0,1,0,1,0,0,0,0,0", "", "line 4: path '../b.jpg' leaves .*; add .images=DIR"),
        ("b,xclick,/m/2,1,0,1,0,1,0,0,0,0,0", "?images=nowhere", "no folder 'nowhere'; give the folder of the images"),
        ("b,xclick,/m/2,1,0,1,0,1,0,0,0,0,0", "?names=wrong.csv", "wrong.csv line 2: expected a label and its name"),
    ],
)  # fmt: skip
def test_tables_of_open_images_that_lie_are_refused(
    tmp_path: Path, row: str, query: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.csv").write_text("/m/1,Cat\n/m/2\n")
    with pytest.raises(UserError, match=message):
        load_data(f"openimages:{openimages(tmp_path, row)}{query}")
