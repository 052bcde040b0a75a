"""voc:, coco: and boxes: data: the phantom world's exports are read back to the pixel, and bad files are told by line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.build.phantom.instances import CLASSES, instances
from snellen.data import Dataset, Photo, Unreadable, load_data
from snellen.data.phantom import export
from snellen.data.phantom.world import read_world
from snellen.data.segmentation import filled_runs, pack, run_lengths, unpacked
from snellen.errors import UserError

WORLD = "phantom:test?n=24&size=48&clutter=0.5&occlusion=0.5&object_size=0.3..0.6"


def photo(data: Dataset, row: int) -> Photo:
    held = data.read([row])[0]
    assert isinstance(held, Photo), held
    return held


@pytest.mark.parametrize("format", ["voc", "coco"])
def test_an_export_is_read_back_exactly(tmp_path: Path, format: str) -> None:
    """Images, all boxes, the class and mask of the largest object: as the world itself has them."""
    world = read_world(WORLD)
    export(world, format, tmp_path / "set")
    text = {
        "voc": f"voc:{tmp_path / 'set'}?masks=true",
        "coco": f"coco:{tmp_path / 'set' / 'annotations' / 'instances_test.json'}?images={tmp_path / 'set' / 'test'}",
    }
    data = load_data(text[format])
    assert data.facts == {"boxes", "masks"}
    assert len(data) == 24
    truth = world.truth(np.arange(24))
    several = 0
    for row in range(24):
        found = photo(data, row)
        things = instances(truth, row)
        areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (thing.box for thing in things)]
        largest = things[int(np.argmax(areas))]
        assert np.array_equal(found.image, truth.images[row])
        assert found.boxes is not None
        assert found.boxes.tolist() == [thing.box for thing in things]
        assert np.array_equal(found.maps["mask"], largest.thing.visible)
        assert data.classes[data.samples.labels[row]] == CLASSES[largest.category]
        several += len(things) > 1
    assert several > 3


def test_coco_finds_its_images_and_reads_polygons_and_plain_runs(tmp_path: Path) -> None:
    Image.new("RGB", (6, 4)).save(tmp_path / "a.png")
    Image.new("RGB", (6, 4)).save(tmp_path / "b.png")
    mask = np.zeros((4, 6), bool)
    mask[1:3, 2:5] = True
    held = {
        "images": [{"id": n, "file_name": f"{name}.png", "width": 6, "height": 4} for n, name in enumerate("ab")],
        "categories": [{"id": 7, "name": "cat"}, {"id": 3, "name": "dog"}],
        "annotations": [
            {"image_id": 0, "category_id": 7, "bbox": [2, 1, 3, 2], "segmentation": {"counts": run_lengths(mask)}},
            {"image_id": 1, "category_id": 3, "bbox": [2, 1, 3, 2], "segmentation": [[2, 1, 5, 1, 5, 3, 2, 3]]},
        ],
    }
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "instances.json").write_text(json.dumps(held))
    data = load_data(f"coco:{tmp_path}/annotations/instances.json")
    assert data.classes == ("dog", "cat")  # by number
    assert data.samples.labels.tolist() == [1, 0]
    for row in (0, 1):
        assert np.array_equal(photo(data, row).maps["mask"], mask)


@pytest.mark.parametrize("seed", range(5))
def test_run_lengths_are_read_as_they_are_written(seed: int) -> None:
    mask = np.random.default_rng(seed).random((17, 23)) < 0.3
    assert np.array_equal(filled_runs(unpacked(pack(run_lengths(mask))), 17, 23), mask)


def write_voc(
    root: Path, name: str, boxes: list[tuple[str, float, float, float, float]], size: tuple[int, int]
) -> None:
    objects = "".join(
        f"<object><name>{n}</name><bndbox><xmin>{a}</xmin><ymin>{b}</ymin><xmax>{c}</xmax><ymax>{d}</ymax></bndbox></object>"
        for n, a, b, c, d in boxes
    )
    file = root / "Annotations" / f"{name}.xml"
    file.parent.mkdir(parents=True, exist_ok=True)
    stated = f"<size><width>{size[0]}</width><height>{size[1]}</height></size>"
    file.write_text(f"<annotation>{stated}{objects}</annotation>")


def write_image(root: Path, name: str, size: tuple[int, int] = (8, 6)) -> None:
    file = root / "JPEGImages" / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (9, 99, 199)).save(file)


def test_voc_says_what_is_wrong_with_an_image(tmp_path: Path) -> None:
    for name in ("broken", "good", "missing", "nameless", "other", "two"):
        write_image(tmp_path, name)
    write_voc(tmp_path, "good", [("cat", 1, 1, 4, 3)], (8, 6))
    write_voc(tmp_path, "two", [("cat", 1, 1, 2, 2), ("dog", 1, 1, 8, 6)], (8, 6))
    write_voc(tmp_path, "other", [("cat", 1, 1, 4, 3)], (500, 375))
    (tmp_path / "Annotations" / "broken.xml").write_text("<annotation>\n<object>\n</annotation>")
    (tmp_path / "Annotations" / "nameless.xml").write_text("<annotation><object><name/></object></annotation>")
    data = load_data(f"voc:{tmp_path}")
    told = dict(zip(data.samples.ids, data.read(range(6))))
    assert isinstance(told["good.png"], Photo)
    assert told["good.png"].boxes is not None
    assert told["good.png"].boxes.tolist() == [[0, 0, 4, 3]]  # counted from 1, both ends included
    broken, nameless = told["broken.png"], told["nameless.png"]
    assert broken == Unreadable("Annotations/broken.xml line 3: not well-formed XML at column 3", "broken annotation")
    assert isinstance(nameless, Unreadable)
    assert nameless.reason == "Annotations/nameless.xml: object 1 has no name or no whole bndbox"
    assert told["other.png"] == Unreadable(
        "Annotations/other.xml says 500x375 pixels, the image has 8x6", "size differs"
    )
    assert data.samples.columns["annotated"].tolist() == [True, True, False, True, True, True]
    named = [data.classes[label] if label >= 0 else "" for label in data.samples.labels]
    assert named == ["", "cat", "", "", "cat", "dog"]  # the largest of two is a dog


def test_splits_are_those_of_the_task(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_image(tmp_path, name)
        write_voc(tmp_path, name, [("cat", 1, 1, 4, 3)], (8, 6))
    for task, names in (("Layout", "c"), ("Main", "a\nb"), ("Segmentation", "b")):
        (tmp_path / "ImageSets" / task).mkdir(parents=True)
        (tmp_path / "ImageSets" / task / "val.txt").write_text(f"{names}\n")
    assert load_data(f"voc:{tmp_path}?split=val").samples.ids == ("a.png", "b.png")
    assert load_data(f"voc:{tmp_path}?split=val&masks=true").samples.ids == ("b.png",)
    with pytest.raises(UserError, match="no list 'test.txt' below"):
        load_data(f"voc:{tmp_path}?split=test")


def test_folders_named_by_wordnet_id_are_classes_and_count_from_0(tmp_path: Path) -> None:
    for name in ("n02084071/n02084071_1", "n02084071/n02084071_2"):
        write_image(tmp_path, name)
    write_voc(tmp_path, "n02084071/n02084071_1", [("n02084071", 0, 0, 3, 2)], (8, 6))
    data = load_data(f"voc:{tmp_path}")
    assert data.samples.labels.tolist() == [0, 0]
    boxes = photo(data, 0).boxes
    assert boxes is not None
    assert boxes.tolist() == [[0, 0, 4, 3]]
    again = photo(load_data(f"voc:{tmp_path}?first=1"), 0).boxes
    assert again is not None
    assert again.tolist() == [[-1, -1, 3, 2]]


def test_boxes_of_a_table(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        Image.new("RGB", (8, 6)).save(tmp_path / f"{name}.png")
    (tmp_path / "boxes.csv").write_text(
        "file,class,xmin,ymin,xmax,ymax,split\na.png,cat,1,1,3,4,x\nb.png,dog,0,0,2,2,y\na.png,dog,0,0,8,6,x\nc.png,dog,,,,,y\n"
    )
    data = load_data(f"boxes:{tmp_path}/boxes.csv")
    assert data.samples.ids == ("a.png", "b.png", "c.png")
    assert [data.classes[label] for label in data.samples.labels] == ["dog", "dog", "dog"]
    assert [photo(data, row).boxes.tolist() for row in range(3)] == [[[1, 1, 3, 4], [0, 0, 8, 6]], [[0, 0, 2, 2]], []]  # type: ignore[union-attr]
    included = photo(load_data(f"boxes:{tmp_path}/boxes.csv?max=inclusive"), 1).boxes
    assert included is not None
    assert included.tolist() == [[0, 0, 3, 3]]
    assert load_data(f"boxes:{tmp_path}/boxes.csv?split=y").samples.ids == ("b.png", "c.png")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("path,label,x0,y0,x1\na.png,c,1,1,2\n", r"has no column 'y1' \(or 'ymax'\); it has: path, label, x0, y0, x1"),
        (
            "path,label,x0,y0,x1,y1\na.png,c,1,1,2,3\nb.png,c,1,nix,2,3\n",
            r"line 3: expected a number in 'y0' from -1e\+09 to 1e\+09, got 'nix'",
        ),
        (
            "path,label,x0,y0,x1,y1\na.png,c,1,1,2,\n",
            "line 2: a box needs all of x0, y0, x1, y1; it has 1, 1, 2, nothing",
        ),
        ("path,label,x0,y0,x1,y1\n,c,1,1,2,3\n", "line 2: 'path' is empty"),
        ("path,label,x0,y0,x1,y1\na.png,,1,1,2,3\n", "no image has an object with a class"),
        ("path,label,x0,y0,x1,y1\n../a.png,c,1,1,2,3\n", "line 2: path '../a.png' leaves"),
        ("path,label,x0,y0,x1,y1\n", "lists no boxes"),
    ],
)
def test_bad_tables_are_told_by_line(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "boxes.csv").write_text(content)
    with pytest.raises(UserError, match=told):
        load_data(f"boxes:{tmp_path}/boxes.csv")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"images": [\n', "a.json cannot be read as JSON: input data was truncated"),
        ("[]", "a.json: expected object, got array"),
        (
            '{"images": [{"id": 1}], "annotations": [], "categories": []}',
            r"images\[0\]: object missing required field 'file_name'",
        ),
        (
            '{"images": [{"id": 1, "file_name": "a.png"}], "annotations": [{"category_id": 2, "bbox": [1, 1, 2, 2]}],'
            '"categories": []}',
            r"annotations\[0\] has category_id '2', which 'categories' does not list",
        ),
        (
            '{"images": [{"id": 1, "file_name": "a.png"}], "annotations": [{"category_id": 2, "bbox": [1]}],'
            '"categories": [{"id": 2, "name": "x"}]}',
            r"annotations\[0\].bbox: expected array of length 4",
        ),
        (
            '{"images": [{"id": 1, "file_name": "../x.png"}], "annotations": [{"category_id": 2, "bbox": [1, 1, 2, 2]}],'
            '"categories": [{"id": 2, "name": "x"}]}',
            r"images\[0\]: path '../x.png' leaves .*; add \?images=DIR",
        ),
    ],
)
def test_bad_json_is_told(tmp_path: Path, content: str, told: str) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(UserError, match=told):
        load_data(f"coco:{tmp_path}/a.json?images={tmp_path}")


def test_missing_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no folder '.*JPEGImages'; name it, as in voc:.*\?images=FOLDER"):
        load_data(f"voc:{tmp_path}")
    with pytest.raises(UserError, match="no file"):
        load_data(f"coco:{tmp_path}/none.json")
    write_image(tmp_path, "a")
    write_voc(tmp_path, "a", [], (8, 6))
    with pytest.raises(UserError, match="no image has an object with a class"):
        load_data(f"voc:{tmp_path}")
    with pytest.raises(UserError, match=r"expected \?masks= one of false, true, got 'maybe'"):
        load_data(f"voc:{tmp_path}?masks=maybe")


def test_a_box_that_ends_before_it_begins_is_named_and_never_dropped(tmp_path: Path) -> None:
    """Corners in the wrong order, or x, y, width, height in their place: as no box the image would have no object."""
    Image.new("RGB", (6, 4)).save(tmp_path / "a.png")
    (tmp_path / "boxes.csv").write_text("path,label,x0,y0,x1,y1\na.png,cat,0,0,2,2\na.png,cat,5,1,2,3\n")
    with pytest.raises(
        UserError, match=r"boxes.csv line 3: 1 of 2 boxes end before they begin, this one is 5, 1, 2, 3"
    ):
        load_data(f"boxes:{tmp_path / 'boxes.csv'}")
    (tmp_path / "list.csv").write_text("path,label,x0,y0,x1,y1\na.png,cat,0,3,2,2\n")
    with pytest.raises(UserError, match=r"list.csv line 2: 1 of 1 boxes end before they begin"):
        load_data(f"manifest:{tmp_path / 'list.csv'}")
    arrays = {"images": np.zeros((1, 4, 6, 3), np.uint8), "labels": [0], "boxes": [[5, 1, 2, 3]]}
    np.savez(tmp_path / "a.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"box 0 of image 0 is 5, 1, 2, 3; expected .* the smaller first"):
        load_data(f"arrays:{tmp_path / 'a.npz'}")
    image = {"id": 1, "file_name": "a.png", "width": 6, "height": 4}
    thing = {"image_id": 1, "category_id": 1, "bbox": [5, 1, -3, 2]}
    listing = {"images": [image], "annotations": [thing], "categories": [{"id": 1, "name": "cat"}]}
    (tmp_path / "coco.json").write_text(json.dumps(listing))
    (held,) = load_data(f"coco:{tmp_path / 'coco.json'}?images={tmp_path}").read([0])
    assert isinstance(held, Unreadable)
    assert held.reason == "its box 0 ends before it begins: x0, y0, x1, y1 are 5, 1, 2, 3"
