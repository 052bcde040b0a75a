"""The fingerprint of a dataset covers everything an answer depends on: rewritten masks never give stale answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.data import load_data
from snellen.errors import UserError
from snellen.hashing import checksum, key_of
from snellen.models import from_callable

COUNT, SIDE = 12, 16


def write_images(place: Path) -> list[str]:
    """Images of noise, whose left half is bright in every other one."""
    place.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    for row in range(COUNT):
        pixels = random.integers(0, 100, (SIDE, SIDE, 3), dtype=np.uint8)
        pixels[:, : SIDE // 2] += 150 * (row % 2)
        Image.fromarray(pixels).save(place / f"{row}.png")
    return [f"{row}.png" for row in range(COUNT)]


def outline(left: int) -> np.ndarray:
    """The mask of an object of 6 × 6 pixels."""
    mask = np.zeros((SIDE, SIDE), np.uint8)
    mask[4:10, left : left + 6] = 1
    return mask


def manifest(place: Path, left: int) -> str:
    names = write_images(place) if not place.exists() else [f"{row}.png" for row in range(COUNT)]
    for name in names:
        Image.fromarray(255 * outline(left)).save(place / f"mask-{name}")
    rows = [f"{name},{'ab'[row % 2]},mask-{name}" for row, name in enumerate(names)]
    (place / "list.csv").write_text("\n".join(["path,label,mask", *rows]))
    return f"manifest:{place}/list.csv"


def boxes(place: Path, left: int) -> str:
    names = write_images(place) if not place.exists() else [f"{row}.png" for row in range(COUNT)]
    rows = [f"{name},{'ab'[row % 2]},{left},4,{left + 6},10" for row, name in enumerate(names)]
    (place / "list.csv").write_text("\n".join(["path,label,x0,y0,x1,y1", *rows]))
    return f"boxes:{place}/list.csv"


def coco(place: Path, left: int) -> str:
    names = write_images(place) if not place.exists() else [f"{row}.png" for row in range(COUNT)]
    polygon = [left, 4, left + 6, 4, left + 6, 10, left, 10]
    content = {
        "images": [{"id": row, "file_name": name, "width": SIDE, "height": SIDE} for row, name in enumerate(names)],
        "categories": [{"id": 0, "name": "a"}, {"id": 1, "name": "b"}],
        "annotations": [
            {"image_id": row, "category_id": row % 2, "bbox": [1, 1, 14, 14], "segmentation": [polygon]}
            for row in range(COUNT)
        ],
    }
    (place / "list.json").write_text(json.dumps(content))
    return f"coco:{place}/list.json"


def voc(place: Path, left: int) -> str:
    if not place.exists():
        write_images(place / "JPEGImages")
    for folder in ("Annotations", "SegmentationObject"):
        (place / folder).mkdir(exist_ok=True)
    for row in range(COUNT):
        box = "<xmin>2</xmin><ymin>2</ymin><xmax>15</xmax><ymax>15</ymax>"
        thing = f"<object><name>{'ab'[row % 2]}</name><bndbox>{box}</bndbox></object>"
        (place / "Annotations" / f"{row}.xml").write_text(f"<annotation>{thing}</annotation>")
        Image.fromarray(outline(left)).save(place / "SegmentationObject" / f"{row}.png")
    return f"voc:{place}?masks=true"


def values(run: snellen.exam.run.Run) -> dict[str, float]:
    return {one["name"]: one["value"] for one in run.results()["findings"] if one["audit"] == "background"}


def audit(text: str, out: Path, **settings: object) -> dict[str, float]:
    """The findings of a model that answers by how bright the left half is."""

    def left_half(images: np.ndarray) -> np.ndarray:
        bright = (images[:, :, : SIDE // 2].mean((1, 2, 3)) > 90).astype(int)
        return np.eye(2)[bright] * 0.8 + 0.1

    model = from_callable(left_half, size=SIDE, name="left", version="1", classes=["a", "b"])
    run = snellen.audit([model], text, "background", out, quiet=True, report=False, **settings)
    return values(run)


@pytest.mark.parametrize("write", [manifest, boxes, coco, voc])
def test_answers_about_rewritten_masks_are_never_stale(tmp_path: Path, write: Callable[[Path, int], str]) -> None:
    text = write(tmp_path / "data", 1)
    before = audit(text, tmp_path / "run")
    assert audit(text, tmp_path / "run") == before
    assert write(tmp_path / "data", 9) == text
    with pytest.raises(UserError, match="was made with other files in .* choose another out or pass fresh"):
        audit(text, tmp_path / "run")
    fresh = audit(text, tmp_path / "other")
    assert fresh != before
    assert audit(text, tmp_path / "run", fresh=True) == fresh


def test_a_mask_is_known_by_size_and_time_and_an_outline_by_its_content(tmp_path: Path) -> None:
    text = manifest(tmp_path / "a", 1)
    before = load_data(text).fingerprint
    os.utime(tmp_path / "a" / "mask-3.png", (1, 1))
    assert load_data(text).fingerprint != before
    text = voc(tmp_path / "b", 1)
    before, without = load_data(text).fingerprint, load_data(f"voc:{tmp_path}/b").fingerprint
    os.utime(tmp_path / "b" / "SegmentationObject" / "3.png", (1, 1))
    assert load_data(text).fingerprint != before
    assert load_data(f"voc:{tmp_path}/b").fingerprint == without  # which reads no masks
    text = coco(tmp_path / "c", 1)
    before = load_data(text).fingerprint
    coco(tmp_path / "c", 1)
    assert load_data(text).fingerprint == before
    coco(tmp_path / "c", 2)
    assert load_data(text).fingerprint != before


@pytest.mark.parametrize("scheme", ["manifest", "boxes"])
def test_groups_and_every_other_column_are_part_of_it(tmp_path: Path, scheme: str) -> None:
    write_images(tmp_path)
    prints = set()
    for column, value in (("group", "g"), ("group", "h"), ("texture", "g"), ("level", "g")):
        head, row = f"path,label,x0,y0,x1,y1,{column}", f"0.png,a,1,1,2,2,{value}"
        (tmp_path / "list.csv").write_text(f"{head}\n{row}\n")
        prints.add(load_data(f"{scheme}:{tmp_path}/list.csv").fingerprint)
    assert len(prints) == 4


def test_columns_of_coco_images_are_part_of_it(tmp_path: Path) -> None:
    text = coco(tmp_path / "a", 1)
    content = json.loads((tmp_path / "a" / "list.json").read_text())
    prints = {load_data(text).fingerprint}
    for group in ("g", "h"):
        for entry in content["images"]:
            entry["group"] = group
        (tmp_path / "a" / "list.json").write_text(json.dumps(content))
        prints.add(load_data(text).fingerprint)
    assert len(prints) == 3


def test_listings_without_masks_keep_the_fingerprint_of_before(tmp_path: Path) -> None:
    """As computed by the version before masks and columns counted; runs on such data resume."""
    Image.new("RGB", (8, 6)).save(tmp_path / "0.png")
    size = (tmp_path / "0.png").stat().st_size
    os.utime(tmp_path / "0.png", (1, 1))
    (tmp_path / "list.csv").write_text("path,label,x0,y0,x1,y1\n0.png,a,1,1,2,2\n")
    stamps = [(size, 10**9)]
    table = "path,label,x0,y0,x1,y1\n0.png,a,1,1,2,2\n"
    assert load_data(f"manifest:{tmp_path}/list.csv").fingerprint == key_of(["manifest", ["0.png"], [0], stamps, table])
    corners = checksum(np.array([[1, 1, 2, 2]], "<f8").tobytes())
    assert load_data(f"boxes:{tmp_path}/list.csv").fingerprint == key_of(
        ["boxed", ["0.png"], [0], [1], stamps, corners, [(None, "", ["a"])], ["a"]]
    )
