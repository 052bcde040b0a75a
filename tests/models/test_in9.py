"""ImageNet-9 from finer classes: the published counts, the holes, 1,001 outputs, and the published table itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from snellen.models.label_maps.imagenet9 import classes, in9_targets, plain_name
from snellen.models.labels import LabelMap, match_classes

NINE = ["dog", "bird", "vehicle", "reptile", "carnivore", "insect", "instrument", "primate", "fish"]
FOLDERS = [
    *("00_dog", "01_bird", "02_wheeled vehicle", "03_reptile", "04_carnivore", "05_insect", "06_musical instrument"),
    *("07_primate", "08_fish"),
]


@pytest.fixture(scope="module")
def imagenet() -> list[str]:
    """ImageNet's classes as models name them here: words, then the WordNet id."""
    from timm.data import ImageNetInfo

    info = ImageNetInfo()
    return [f"{info.index_to_description(i)}, {info.index_to_label_name(i)}" for i in range(1000)]


def test_the_nine_in_their_order_with_the_published_number_of_classes() -> None:
    assert list(classes()) == NINE
    assert [len(held) for held in classes().values()] == [116, 52, 42, 36, 35, 27, 26, 20, 16]
    places = [place for held in classes().values() for place in held.values()]
    assert len(places) == len(set(places)) == 370


def test_the_map_is_the_published_one(shared: Path, imagenet: list[str]) -> None:
    published = json.loads((shared / "tiny_imagenet_boxes" / "imagenet_to_in9.json").read_text())
    targets = in9_targets(imagenet, FOLDERS)
    assert targets == tuple(published[str(i)] for i in range(1000))


def test_the_holes_and_a_few_classes_by_name(imagenet: list[str]) -> None:
    targets = in9_targets(imagenet, NINE)
    assert targets is not None
    named = {name.split(",")[0]: target for name, target in zip(imagenet, targets)}
    for hole in ("Italian greyhound", "whippet", "tabby", "Persian cat", "Siamese cat", "Egyptian cat"):
        assert named[hole] == -1
    for name, label in [("goldfish", 8), ("tiger shark", 8), ("giant schnauzer", 0), ("Irish terrier", 0)]:
        assert named[name] == label  # the paper's own examples, appendix C
    assert [targets[i] for i in (170, 171, 172, 173, 280, 281, 285, 286)] == [0, -1, -1, 0, 4, -1, -1, 4]


def test_1001_outputs_are_one_further_with_ids_or_by_place(imagenet: list[str]) -> None:
    targets = in9_targets(imagenet, NINE)
    assert targets is not None
    with_background = ["background", *imagenet]
    assert in9_targets(with_background, NINE) == (-1, *targets)
    words = [name.rpartition(",")[0] for name in with_background]
    assert in9_targets(words, NINE) == (-1, *targets)


def test_the_answer_is_the_class_of_the_best_output_not_of_the_largest_sum(imagenet: list[str]) -> None:
    label_map, told = match_classes(imagenet, FOLDERS, "m")
    assert (label_map.rule, label_map.classes) == ("argmax", 9)
    assert told == ["370 of the 1000 classes of model 'm' are read as 9 classes, any other answer as wrong"]
    probabilities = torch.zeros(2, 1000)
    probabilities[0, 389], probabilities[0, 151:155] = 0.4, 0.15  # a fish, though dogs have more together
    probabilities[1, 281], probabilities[1, 0] = 0.6, 0.4  # a tabby: outside
    reading = label_map.read(probabilities, torch.tensor([8, 8]))
    assert reading.pred.tolist() == [8, -1]
    assert reading.raw.tolist() == [389, 281]


def test_the_nine_in_another_spelling_or_order_match_by_name() -> None:
    assert match_classes(FOLDERS, NINE, "m") == (LabelMap(9, "argmax", tuple(range(9))), [])
    by_alphabet = sorted(NINE)
    label_map, told = match_classes(FOLDERS, by_alphabet, "m")
    assert label_map.targets == tuple(by_alphabet.index(name) for name in NINE)
    assert told == []
    assert match_classes(NINE, NINE, "m") == (LabelMap(9), [])


def test_some_of_the_nine_are_enough_and_other_classes_are_left_alone(imagenet: list[str]) -> None:
    targets = in9_targets(imagenet, ["fish", "insect"])
    assert targets is not None
    assert (targets.count(0), targets.count(1)) == (16, 27)
    assert in9_targets(imagenet, ["fish", "chair"]) is None
    assert in9_targets(["a", "b"], NINE) is None


def test_full_labels_need_no_map_of_groups(imagenet: list[str]) -> None:
    """1,000 folders named by WordNet id, as the full version of the sets has."""
    ids = [name.rpartition(", ")[2] for name in imagenet]
    assert match_classes(imagenet, ids, "m") == (LabelMap(1000), [])


@pytest.mark.parametrize(
    ("name", "which"),
    [("00_dog", "dog"), ("Musical Instrument", "instrument"), ("02_wheeled vehicle", "vehicle"), ("cat", None)],
)
def test_names_of_the_nine(name: str, which: str | None) -> None:
    assert plain_name(name) == which
