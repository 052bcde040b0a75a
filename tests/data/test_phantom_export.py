"""Exports of the phantom world: read back with other people's readers, they say what the world says."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as oracle
from pycocotools.coco import COCO

from snellen.build.phantom.conflict import conflicting
from snellen.build.phantom.voc import voc_palette
from snellen.data import load_data
from snellen.data.phantom import Thing, Truth, World, export, marks
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES, class_tree
from snellen.data.phantom.textures import TEXTURES

CLASSES = list(SHAPES)
CROWD = World("test", n=80, size=40, clutter=0.5, occlusion=0.6, label_noise=0.2, object_size=(0.3, 0.7), seed=4)
CLIPS = World("train", n=44, frames=8, size=40, clutter=0.5, occlusion=0.8, label_noise=0.2, object_size=(0.3, 0.5))


@pytest.fixture(scope="module")
def crowd() -> Truth:
    return CROWD.truth(range(CROWD.n))


def pixels(file: Path) -> np.ndarray:
    with Image.open(file) as image:
        return np.asarray(image)


def shown(truth: Truth, row: int) -> list[tuple[Thing, str]]:
    """The things of an image that an annotator could see, each with the name it is given."""
    seen = [thing for thing in truth.things[row] if thing.visible.any()]
    return [(thing, CLASSES[truth.label[row] if thing.role == "object" else thing.shape]) for thing in seen]


def sides(mask: np.ndarray) -> tuple[int, int, int, int]:
    """The first and last column and row of a mask, counted from 0: left, top, right, bottom."""
    rows, columns = np.nonzero(mask)
    return columns.min(), rows.min(), columns.max(), rows.max()


def test_a_folder_is_read_back_with_the_same_pixels_labels_and_boxes(tmp_path):
    export(CROWD, "folder", tmp_path / "f")
    back, made, listing = load_data(f"folder:{tmp_path / 'f'}"), CROWD.render(range(CROWD.n)), CROWD.samples()
    by_file = {Path(name).stem: (row, name.split("/")[0]) for row, name in enumerate(back.samples.ids)}
    assert len(back) == CROWD.n
    for number, sample in enumerate(listing.ids):
        row, label = by_file[sample.replace("/", "-")]
        assert label == back.classes[back.samples.labels[row]] == CLASSES[listing.labels[number]]
        np.testing.assert_array_equal(back.read([row])[0].image, made.images[number])
    rows = load_data(f"manifest:{tmp_path / 'f' / 'listing.csv'}")
    assert rows.samples.ids == listing.ids
    assert rows.samples.columns["level"].tolist() == listing.columns["level"].tolist()
    assert rows.samples.columns["true_class"].tolist() == listing.columns["true_class"].tolist()
    np.testing.assert_array_equal(rows.samples.columns["hidden"].astype(float), listing.columns["hidden"])
    np.testing.assert_array_equal([photo.boxes[0] for photo in rows.read(range(len(rows)))], made.boxes)


def test_voc_says_what_the_truth_says(tmp_path, crowd):
    export(CROWD, "voc", tmp_path)
    stems = (tmp_path / "ImageSets/Main/test.txt").read_text().split()
    assert stems == [f"test-s4-{number:06d}" for number in range(CROWD.n)]
    listed = {name: [] for name in CLASSES}
    for row, stem in enumerate(stems):
        root = ElementTree.parse(tmp_path / f"Annotations/{stem}.xml").getroot()
        image = pixels(tmp_path / "JPEGImages" / root.findtext("filename"))
        np.testing.assert_array_equal(image, crowd.images[row])
        assert [int(root.findtext(f"size/{side}")) for side in ("height", "width", "depth")] == list(image.shape)
        classes, objects = (pixels(tmp_path / f"Segmentation{kind}/{stem}.png") for kind in ("Class", "Object"))
        things = shown(crowd, row)
        assert len(root.findall("object")) == len(things) == objects.max()
        for number, (element, (thing, name)) in enumerate(zip(root.findall("object"), things), 1):
            left, top, right, bottom = sides(thing.visible)
            corners = [int(element.findtext(f"bndbox/{end}")) for end in ("xmin", "ymin", "xmax", "ymax")]
            assert corners == [left + 1, top + 1, right + 1, bottom + 1]
            assert (element.findtext("name"), element.findtext("role")) == (name, thing.role)
            assert element.findtext("texture") == list(TEXTURES)[thing.texture]
            assert float(element.findtext("hidden")) == 1 - thing.visible.sum() / thing.full.sum()
            assert element.findtext("occluded") == str(int((thing.full & ~thing.visible).any()))
            np.testing.assert_array_equal(objects == number, thing.visible)
            assert set(classes[thing.visible]) == {CLASSES.index(name) + 1}
            if thing.role == "object":
                assert element.findtext("truncated") == str(int(sides(thing.full) != sides(thing.visible)))
        np.testing.assert_array_equal(classes == 0, crowd.instance[row] == 0)
        for name in CLASSES:
            listed[name].append(1 if name in [given for _, given in things] else -1)
    for name in CLASSES:
        lines = (tmp_path / f"ImageSets/Main/{name}_test.txt").read_text().splitlines()
        assert [int(line.split()[1]) for line in lines] == listed[name]


def test_label_maps_have_the_palette_of_pascal_voc(tmp_path):
    published = [(0, 0, 0), (128, 0, 0), (0, 128, 0), (128, 128, 0), (0, 0, 128), (128, 0, 128), (0, 128, 128)]
    assert [tuple(colour) for colour in voc_palette()[:7].tolist()] == published
    assert tuple(voc_palette()[15].tolist()) == (192, 128, 128)  # person
    assert tuple(voc_palette()[255].tolist()) == (224, 224, 192)  # the void border
    export(CROWD, "voc", tmp_path, limit=1)
    with Image.open(next((tmp_path / "SegmentationClass").iterdir())) as image:
        assert image.mode == "P"
        assert image.getpalette()[: 3 * 7] == [value for colour in published for value in colour]


def test_coco_loads_in_pycocotools_and_says_what_the_truth_says(tmp_path, crowd):
    export(CROWD, "coco", tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(tmp_path / "annotations/instances_test.json"))
    assert [c["name"] for c in coco.loadCats(coco.getCatIds())] == CLASSES
    assert {c["name"]: c["supercategory"] for c in coco.dataset["categories"]} == {k: class_tree()[k] for k in CLASSES}
    assert coco.dataset["info"]["description"].startswith("the phantom world, phantom:")
    assert len(coco.imgs) == CROWD.n
    levels = CROWD.samples().columns["level"]
    for row in range(CROWD.n):
        image = coco.imgs[row + 1]
        np.testing.assert_array_equal(pixels(tmp_path / "test" / image["file_name"]), crowd.images[row])
        told, things = coco.imgToAnns[row + 1], shown(crowd, row)
        assert len(told) == len(things)
        assert told[0]["level"] == levels[row]
        assert (image["label"], image["true_class"]) == (CLASSES[crowd.label[row]], CLASSES[crowd.true_class[row]])
        for one, (thing, name) in zip(told, things):
            np.testing.assert_array_equal(coco.annToMask(one), thing.visible)
            np.testing.assert_array_equal(oracle.decode(one["full_segmentation"]), thing.full)
            assert one["area"] == oracle.area(one["segmentation"]) == thing.visible.sum()
            assert one["bbox"] == oracle.toBbox(one["segmentation"]).tolist()
            assert one["full_bbox"] == oracle.toBbox(one["full_segmentation"]).tolist()
            assert coco.cats[one["category_id"]]["name"] == name
            assert (one["role"], one["true_class"], one["iscrowd"]) == (thing.role, CLASSES[thing.shape], 0)
    assert {one["role"] for one in coco.anns.values()} == {"object", "clutter", "occluder"}


def test_ovis_says_what_the_truth_says_in_every_frame(tmp_path):
    export(CLIPS, "ovis", tmp_path)
    told = json.loads((tmp_path / "annotations_train.json").read_text())
    truth, levels = CLIPS.truth(range(CLIPS.n)), CLIPS.samples().columns["level"]
    assert [video["length"] for video in told["videos"]] == [8, 8, 8, 8, 8, 4]
    assert set(told["videos"][0]) == {"id", "width", "height", "length", "file_names"}
    words = {"none": "no_occlusion", "slight": "slight_occlusion", "severe": "severe_occlusion"}
    nulls = 0
    for video in told["videos"]:
        rows = np.flatnonzero(truth.clip == video["id"] - 1)
        for row, file in zip(rows, video["file_names"]):
            assert file == f"{truth.clip[row]:06d}/img_{truth.frame[row] + 1:07d}.png"
            np.testing.assert_array_equal(pixels(tmp_path / "train" / file), truth.images[row])
        of_video = [one for one in told["annotations"] if one["video_id"] == video["id"]]
        seen = {thing.instance_id for row in rows for thing, _ in shown(truth, row)}
        assert sorted(one["instance_id"] for one in of_video) == sorted(seen)
        for one in of_video:
            lists = ("segmentations", "bboxes", "areas", "occlusion", "hidden", "full_segmentations")
            assert {len(one[name]) for name in lists} == {video["length"]} == {one["length"]}
            assert (one["width"], one["height"], one["iscrowd"]) == (40, 40, 0)
            for place, row in enumerate(rows):
                thing, name = next(
                    ((t, n) for t, n in shown(truth, row) if t.instance_id == one["instance_id"]), (None, None)
                )
                if thing is None:
                    assert [one[name][place] for name in lists] == [None] * len(lists)
                    nulls += 1
                    continue
                np.testing.assert_array_equal(oracle.decode(one["segmentations"][place]), thing.visible)
                np.testing.assert_array_equal(oracle.decode(one["full_segmentations"][place]), thing.full)
                left, top, right, bottom = sides(thing.visible)
                assert one["bboxes"][place] == [left, top, right + 1 - left, bottom + 1 - top]
                assert one["areas"][place] == thing.visible.sum()
                assert told["categories"][one["category_id"] - 1]["name"] == name
                share = 1 - thing.visible.sum() / thing.full.sum()
                assert one["hidden"][place] == share
                assert (
                    one["occlusion"][place] == words["none" if share == 0 else "slight" if share <= 0.5 else "severe"]
                )
                if thing.role == "object":
                    assert one["occlusion"][place] == words[levels[row]]
    assert nulls > 0
    assert {word for one in told["annotations"] for word in one["occlusion"] if word} == set(words.values())


def test_cue_conflicts_are_named_as_published_and_are_true_conflicts(tmp_path):
    world = World("test", n=24, size=32)
    made = export(world, "cue-conflict", tmp_path)
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.png"))
    assert len(files) == made.images == 12 * 11 * 2
    rows = load_data(f"manifest:{tmp_path / 'listing.csv'}").samples
    listed = {path: (rows.columns["texture"][i], rows.columns["pattern"][i]) for i, path in enumerate(rows.ids)}
    pairs: dict[tuple[str, str], int] = {}
    for file in files:
        folder, name = file.split("/")
        before, after = name.removesuffix(".png").split("-")
        shape, texture = re.sub("[^a-z]", "", before), re.sub("[^a-z]", "", after)  # letters only, as published
        assert folder == shape != texture
        assert listed[file] == (texture, list(TEXTURES)[CLASSES.index(texture)])
        pairs[shape, texture] = pairs.get((shape, texture), 0) + 1
        number = CLASSES.index(shape) + 12 * (int(before.removeprefix(shape)) - 1)
        image, truth = pixels(tmp_path / file), world.truth([number])
        codes = marks.read(image[None])[0]  # what the pixels themselves say
        assert set(codes[truth.full[0]]) == {marks.MAIN + CLASSES.index(texture)}
        assert set(codes[~truth.full[0]]) == {len(SCENES)}
    assert set(pairs.values()) == {2}


def test_conflicts_differ_from_the_world_only_in_the_texture(tmp_path):
    world = World("test", n=12, size=48, clutter=0.5, occlusion=0.5)
    truth = world.truth(range(12))
    same = conflicting(world, np.arange(12), truth.texture, "night")
    np.testing.assert_array_equal(same.full, truth.full)
    np.testing.assert_array_equal(same.images[truth.instance > 0], truth.images[truth.instance > 0])
    assert set(same.scene_class) == {list(SCENES).index("night")}
    other = conflicting(world, np.arange(12), (np.arange(12) + 5) % 12)
    assert (other.texture != other.true_class).all()
    np.testing.assert_array_equal(other.instance, truth.instance)
