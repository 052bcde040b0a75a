"""Sources of concepts: masks, label maps, the phantom's own truth, colours, folders of label images and models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.concepts.direct import dissect
from snellen.concepts.label_folder import read_label_folder
from snellen.concepts.probes import Probes
from snellen.concepts.sources import check_sources, fingerprint_of, name_colours, open_sources
from snellen.data import load_data
from snellen.data.canvas import Canvas
from snellen.data.colour_names import colour_terms
from snellen.data.dataset import Dataset
from snellen.data.phantom import COLOURS, read_world
from snellen.engine.requests.survey import Ground
from snellen.errors import UserError
from snellen.models.model import from_torch

WORLD = "phantom:test?size=24&n=12&clutter=0.5&occlusion=0.5"


def labels_of(data: Dataset, sources: list[str], size: int = 24) -> tuple[list[str], np.ndarray]:
    """The names of the concepts and the labels [n, maps, size, size] of all images."""
    model = from_torch(torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3), torch.nn.Flatten()))
    ground = Ground(model, data, Canvas(24, 24, "crop", 24), 5, 2)
    probes = Probes(ground, open_sources(sources, data), size)
    return list(map(str, probes.concepts)), np.concatenate([one.labels.numpy() for one in probes.batches()])


def test_the_phantom_world_knows_objects_parts_materials_and_scenes() -> None:
    names, labels = labels_of(load_data(WORLD), ["data", "colours"])
    truth = read_world(WORLD).truth(range(12))
    assert labels.shape == (12, 4, 24, 24)
    objects = np.array(["", *(name.partition(" (")[0] for name in names)])
    assert (objects[labels[:, 0]] == np.array(["", *load_data(WORLD).classes])[truth.object]).all()
    assert (objects[labels[:, 3]] == np.array(["", *COLOURS])[truth.colour]).all()
    assert {name.partition(" (")[2][:-1] for name in names} == {"object", "part", "material", "scene", "colour"}
    assert ((labels[:, 2] > 0) & (labels[:, 3] > 0)).all()  # every pixel has a material or scene, and a colour


def test_colours_of_the_data_agree_with_those_of_the_rule() -> None:
    levels = torch.randint(0, 256, (2, 3, 40, 40), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    assert (name_colours(levels).numpy() == colour_terms(levels.permute(0, 2, 3, 1).numpy())).all()
    red = torch.tensor([230, 20, 20], dtype=torch.uint8).view(1, 3, 1, 1)
    assert COLOURS[int(name_colours(red)) - 1] == "red"


@pytest.fixture
def photos_with_labels(tmp_path: Path) -> Callable[[str], Dataset]:
    """Six photos of random pixels with labels 0 to 3, as `pairs:` or as `folder:`."""
    random = np.random.default_rng(4)
    (tmp_path / "images" / "a").mkdir(parents=True)
    (tmp_path / "labels" / "a").mkdir(parents=True)
    for number in range(6):
        pixels = random.integers(0, 255, (24, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "images" / "a" / f"{number}.png")
        labels = random.integers(0, 4, (24, 24)).astype(np.uint8)
        Image.fromarray(labels).save(tmp_path / "labels" / "a" / f"{number}.png")
    (tmp_path / "labels" / "classes.txt").write_text("sky\nroad\ncar\ntree\n")
    pairs = f"pairs:{tmp_path}/images,{tmp_path}/labels?ignore=2"
    return lambda kind: load_data(pairs if kind == "pairs" else f"folder:{tmp_path}/images")


def test_label_maps_of_the_data_are_objects(photos_with_labels: Callable[[str], Dataset], tmp_path: Path) -> None:
    names, labels = labels_of(photos_with_labels("pairs"), ["data"])
    stored = np.asarray(Image.open(tmp_path / "labels" / "a" / "3.png")).astype(int)
    assert names == ["sky (object)", "road (object)", "car (object)", "tree (object)"]
    assert (labels[3, 0] == np.where(stored == 2, 0, stored + 1)).all()


def test_masks_of_the_data_are_of_the_class_of_the_image() -> None:
    data = load_data("phantom:test?size=24&n=30&task=presence")
    names, labels = labels_of(data, ["data"])
    assert names == ["absent (object)", "present (object)"]
    for row, photo in enumerate(data.read(range(30))):
        assert (labels[row, 0] == photo.maps["mask"] * (data.samples.labels[row] + 1)).all()  # type: ignore[union-attr]
    assert set(np.unique(labels)) == {0, 2}


def write_folder(root: Path, coloured: bool = False) -> None:
    """Label images of objects and parts for the photos a/0 … a/5: object 300 in the upper half, part 2 in the left one."""
    root.mkdir(exist_ok=True)
    (root / "concepts.csv").write_text("number,name,category\n0,none,none\n300,dog,object\n2,ear,part\n7,eye,part\n")
    for folder, number, region in (("object", 300, np.s_[:12]), ("part", 2, np.s_[:, :12])):
        (root / folder / "a").mkdir(parents=True, exist_ok=True)
        numbers = np.zeros((24, 24), np.uint16)
        numbers[region] = number
        pixels = np.stack([numbers % 256, numbers // 256, 0 * numbers], 2).astype(np.uint8) if coloured else numbers
        for photo in range(6):
            Image.fromarray(pixels).save(root / folder / "a" / f"{photo}.png")


@pytest.mark.parametrize("coloured", [False, True])
def test_a_folder_of_label_images(photos_with_labels: Callable[[str], Dataset], tmp_path: Path, coloured: bool) -> None:
    write_folder(tmp_path / "broden", coloured)
    names, labels = labels_of(photos_with_labels("folder"), [f"labels:{tmp_path}/broden", "colours"])
    assert names[:3] == ["dog (object)", "ear (part)", "eye (part)"]
    assert labels.shape[1] == 3
    assert (labels[:, 0, :12] == 1).all()
    assert not labels[:, 0, 12:].any()
    assert (labels[:, 1, :, :12] == 2).all()
    assert not labels[:, 1, :, 12:].any()
    assert labels[:, 2].min() >= 4


def test_what_is_wrong_with_a_folder_is_said(photos_with_labels: Callable[[str], Dataset], tmp_path: Path) -> None:
    data, root = photos_with_labels("folder"), tmp_path / "broden"
    with pytest.raises(UserError, match="no folder"):
        open_sources([f"labels:{root}"], data)
    write_folder(root)
    (root / "part" / "a" / "4.png").unlink()
    with pytest.raises(UserError, match=r"image 'a/4.png' has no label image part/a/4.png"):
        open_sources([f"labels:{root}"], data)
    write_folder(root)
    (root / "concepts.csv").write_text("number,name,category\n300,dog,object\n")
    (root / "part" / "a" / "4.png").unlink()
    check_sources([f"labels:{root}"], data)  # only the folder of the category object counts now
    (root / "concepts.csv").write_text("number,name,category\n300,dog,object\n300,cat,object\n")
    with pytest.raises(UserError, match="line 3: number 300 is also dog"):
        fingerprint_of(f"labels:{root}")
    (root / "concepts.csv").write_text("number,name\n1,dog\n")
    with pytest.raises(UserError, match="no column 'category'"):
        fingerprint_of(f"labels:{root}")


@pytest.mark.parametrize("sample", [".", "..", "/", "//", "../..", "a\0b"])
@pytest.mark.parametrize("sub_folders", [True, False])
def test_ids_that_name_no_file_stay_in_the_folder(tmp_path: Path, sample: str, sub_folders: bool) -> None:
    root = tmp_path / "broden"
    write_folder(root)
    if not sub_folders:
        (root / "concepts.csv").write_text("number,name,category\n300,dog,animal\n")
    for beside in (".png", "broden.png"):
        (tmp_path / beside).write_bytes(b"")
    with pytest.raises(UserError, match=r"has no label image \S*\.png in .*broden; add it, or leave the image out"):
        read_label_folder(str(root)).check([sample])


def test_a_label_image_of_another_time_or_size_is_another_source(tmp_path: Path) -> None:
    """Wherever the folder lies: copies that keep times are the same source."""
    write_folder(tmp_path / "first")
    copies = [Path(shutil.copytree(tmp_path / "first", tmp_path / name)) for name in ("same", "later", "other")]
    os.utime(copies[1] / "part" / "a" / "3.png", (1e9, 1e9))
    (copies[2] / "part" / "a" / "3.png").unlink()
    first, same, *others = (fingerprint_of(f"labels:{root}") for root in (tmp_path / "first", *copies))
    assert first == same
    assert len({first, *others}) == 3


def test_a_number_that_the_index_lacks_makes_the_image_unreadable(
    photos_with_labels: Callable[[str], Dataset], tmp_path: Path
) -> None:
    write_folder(tmp_path / "broden")
    Image.fromarray(np.full((24, 24), 9, np.uint8)).save(tmp_path / "broden" / "object" / "a" / "1.png")
    assert len(labels_of(photos_with_labels("folder"), [f"labels:{tmp_path}/broden"])[1]) == 5


def test_a_segmentation_model_is_shown_the_same_pixels(
    photos_with_labels: Callable[[str], Dataset], tmp_path: Path
) -> None:
    (tmp_path / "seg.py").write_text(
        "from snellen.models import from_callable\n"
        "def half():\n"
        "    classes = ['background', '', 'bright, lit', 'Void', 'dark', '__background__', 'unlabelled', 'unlabeled']\n"
        "    how = lambda images: 2 * ((images.mean(3) < 130).astype(int) + (images.mean(3) < 120))\n"
        "    return from_callable(how, classes, 12, version='1', task='segmentation', name='half')\n"
    )
    data = photos_with_labels("folder")
    names, labels = labels_of(data, [f"model:python:{tmp_path}/seg.py:half"], 12)
    assert names == ["bright (object)", "dark (object)"]
    assert set(np.unique(labels)) == {0, 1, 2}  # the background is no concept
    after = labels_of(data, ["colours", f"model:python:{tmp_path}/seg.py:half"], 12)[1][:, 1]
    assert (after == np.where(labels[:, 0] > 0, labels[:, 0] + len(COLOURS), 0)).all()
    with pytest.raises(UserError, match="not one model of the task segmentation"):
        check_sources(["model:observer:texture"], data)


SEGMENTER = """
from snellen.models import from_callable

def colours():
    classes = ["void", "red, crimson", "green", "Blue"]
    how = lambda images: 1 + images.argmax(3)
    return from_callable(how, classes, 24, version="1", task="segmentation", name="colours")
"""


@pytest.fixture
def segmenter(tmp_path: Path) -> str:
    """The brightest channel of each pixel."""
    (tmp_path / "seg.py").write_text(SEGMENTER)
    return f"model:python:{tmp_path}/seg.py:colours"


def table(folder: Path, *rows: str, head: str = "name,category") -> str:
    (folder / "kinds.csv").write_text("\n".join([head, *rows]) + "\n")
    return f"?categories={folder}/kinds.csv"


def test_a_table_gives_classes_of_a_segmenter_their_categories(segmenter: str, tmp_path: Path) -> None:
    data = load_data(WORLD)
    plain, labels = labels_of(data, [segmenter])
    assert plain == ["red (object)", "green (object)", "Blue (object)"]
    named, same = labels_of(data, [segmenter + table(tmp_path, "red,colour", "blue,material")])
    assert named == ["red (colour)", "green (object)", "Blue (material)"]
    assert (labels == same).all()
    whole = labels_of(data, [segmenter + table(tmp_path, '"red, crimson",part')])[0]
    assert whole == ["red (part)", "green (object)", "Blue (object)"]
    numbered = table(tmp_path, "1,red,colour", "2,green,colour", head="number,name,category")  # as beside label images
    assert labels_of(data, [segmenter + numbered])[0][:2] == ["red (colour)", "green (colour)"]


def test_what_a_table_says_is_in_the_key(segmenter: str, tmp_path: Path) -> None:
    prints = [fingerprint_of(segmenter)]
    for rows in (["red,colour"], ["red,part"], ["red,colour", "green,colour"]):
        prints.append(fingerprint_of(segmenter + table(tmp_path, *rows)))
    assert len(set(prints)) == 4
    assert fingerprint_of(segmenter + table(tmp_path, "green,colour", "red,colour")) == prints[-1]


@pytest.mark.parametrize(
    ("rows", "head", "message"),
    [
        (["rad,colour"], "name,category", r"kinds.csv: unknown class of model:.*'rad'; did you mean 'red'\?"),
        (["red,colour", "Red,part"], "name,category", "line 3: class 'red' is part, and colour above; keep one"),
        (["red,colour"], "class,category", "no column 'name'"),
        (["red,"], "name,category", "category.* empty"),
        ([], "name,category", "kinds.csv has no rows; give a name and a category for each class that is no object"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_before_anything_is_asked(
    segmenter: str, tmp_path: Path, rows: list[str], head: str, message: str
) -> None:
    source = segmenter + table(tmp_path, *rows, head=head)
    with pytest.raises(UserError, match=message):
        check_sources([source], load_data(WORLD))
    with pytest.raises(UserError, match="names no table; write it as .*categories=FILE, with the columns name and"):
        check_sources([f"{segmenter}?categories="], load_data(WORLD))


def test_label_maps_may_have_a_table_too(photos_with_labels: Callable[[str], Dataset], tmp_path: Path) -> None:
    data = photos_with_labels("pairs")
    first = data.classes[1]
    names = labels_of(data, ["data" + table(tmp_path, f"{first},material")])[0]
    assert f"{first} (material)" in names
    assert sum(name.endswith("(object)") for name in names) == len(data.classes) - 1
    with pytest.raises(UserError, match="knows the categories of its concepts; leave out"):
        check_sources(["data" + table(tmp_path, "x,part")], load_data(WORLD))


def test_concepts_are_counted_by_the_categories_of_the_table(tmp_path: Path) -> None:
    """Units of the planted network follow colours: with the table all that were objects are colours."""
    (tmp_path / "seg.py").write_text(SEGMENTER)
    network, data = "python:snellen.models.planted:concept_units@1", "phantom:test?size=24&n=40"
    source = f"model:python:{tmp_path}/seg.py:colours"
    plain = dissect(network, data, "units", [source], threshold=0.01)
    named = dissect(network, data, "units", [source + table(tmp_path, "red,colour", "green,part")], threshold=0.01)
    assert (plain.iou == named.iou).all()
    followed = {plain.concepts[place].name for place in plain.units.best[plain.units.detectors]}
    assert followed
    assert plain.units.unique == {"object": len(followed)}
    assert named.units.unique["colour"] == ("red" in followed)
    assert named.units.unique["part"] == ("green" in followed)
    assert named.units.unique["object"] == ("Blue" in followed)


def test_sources_that_do_not_exist_or_say_the_same_are_refused(photos_with_labels: Callable[[str], Dataset]) -> None:
    data = photos_with_labels("folder")
    with pytest.raises(UserError, match="unknown source of concepts 'colors'; did you mean 'colours'"):
        open_sources(["colors"], data)
    with pytest.raises(UserError, match="both know black"):
        open_sources(["colours", "colours"], data)
    with pytest.raises(UserError, match="neither masks nor label maps"):
        open_sources(["data"], data)
