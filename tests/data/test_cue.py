"""Cue-conflict data in the published layout, and the sixteen categories behind it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.data import load_data
from snellen.errors import UserError
from snellen.models.label_maps.geirhos16 import categories, sixteen_targets
from snellen.models.labels import LabelMap, match_classes


def place(root: Path, *names: str) -> str:
    for name in names:
        (root / name).parent.mkdir(exist_ok=True)
        Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(root / name)
    return f"cue:{root}"


def test_names_tell_shape_and_texture(tmp_path: Path) -> None:
    data = load_data(place(tmp_path, "cat/cat7-elephant1.png", "cat/cat10-cat2.jpg", "bear/bear-cat.png"))
    assert data.classes == ("bear", "cat")
    told = dict(zip(data.samples.ids, zip(data.samples.columns["texture"], data.samples.columns["conflict"])))
    assert told == {
        "bear/bear-cat.png": ("cat", True),
        "cat/cat7-elephant1.png": ("elephant", True),
        "cat/cat10-cat2.jpg": ("cat", False),
    }
    assert len(load_data(f"cue:{tmp_path}?conflict=True")) == 2
    assert data.fingerprint != load_data(f"folder:{tmp_path}").fingerprint


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cat/cat1.png", r"'cat/cat1.png' names no two cues; name it as in cat1-cat2.png"),
        ("cat/dog1-cat2.png", "is named after the shape 'dog' but lies in 'cat'; move it"),
    ],
)
def test_other_names_are_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_data(place(tmp_path, name))


def test_the_published_images_are_read_as_their_table_says(shared: Path) -> None:
    import pandas as pd

    folder = shared / "cue_conflict"
    data = load_data(f"cue:{folder}/images")
    table = pd.read_csv(folder / "labels.csv").set_index("file")
    for sample, label, texture in zip(data.samples.ids, data.samples.labels, data.samples.columns["texture"]):
        assert table.loc[f"images/{sample}", ["shape", "texture"]].tolist() == [data.classes[label], texture]
    assert data.samples.columns["conflict"].sum() == 240


def test_the_sets_are_the_published_ones(shared: Path) -> None:
    published = json.loads((shared / "cue_conflict" / "categories_to_imagenet.json").read_text())
    assert {name: sorted(held.values()) for name, held in categories().items()} == {
        name: sorted(places) for name, places in published.items()
    }
    assert sum(map(len, categories().values())) == 207


def test_wordnet_ids_are_those_of_imagenet() -> None:
    from timm.data import ImageNetInfo

    info = ImageNetInfo("imagenet-1k")
    for held in categories().values():
        assert all(info.index_to_label_name(place) == wnid for wnid, place in held.items())


THOUSAND = ["x"] * 404 + ["airliner, jet"] + ["x"] * 595


def test_a_thousand_classes_are_known_by_place_and_a_thousand_and_one_shifted() -> None:
    wanted = sorted(categories())
    plain, shifted = sixteen_targets(THOUSAND, wanted), sixteen_targets(["background", *THOUSAND], wanted)
    assert plain is not None
    assert shifted == (-1, *plain)
    assert plain[404] == wanted.index("airplane")
    assert plain[499] == wanted.index("knife")
    assert sum(target >= 0 for target in plain) == 207
    assert sixteen_targets(["x"] * 1000, wanted) is None  # not ImageNet's order


def test_wordnet_ids_are_intersected_whatever_the_model() -> None:
    """As for Tiny ImageNet: persian cat and sports car among classes that are none of the sixteen."""
    known = ["n02123394", "sports car, n04285008", "n01443537"]
    label_map, told = match_classes(known, ["car", "cat", "oven"], "m")
    assert label_map == LabelMap(3, "mean", (1, 0, -1))
    assert told == [
        "2 of the 3 classes of model 'm' are read as 3 categories, by their mean",
        "1 categories are unknown to model 'm' and can never be right: oven",
    ]


def test_models_with_these_very_classes_and_other_data_are_left_alone() -> None:
    assert match_classes(["cat", "dog"], ["cat", "dog"], "m") == (LabelMap(2), [])
    assert sixteen_targets(THOUSAND, ["cat", "unicorn"]) is None


def test_a_phantom_export_of_the_same_layout_is_read(tmp_path: Path) -> None:
    data = load_data(place(tmp_path, "disc/disc1-heart4.png", "heart/heart1-disc2.png"))
    assert data.samples.columns["texture"].tolist() == ["heart", "disc"]
    shutil.rmtree(tmp_path / "heart")
    assert len(load_data(f"cue:{tmp_path}")) == 1
