"""Which class an image is of in ImageNet-9 and its finer sets, and how its files are called."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from snellen.build.in9.grouping import group_classes
from snellen.build.in9.request import read_fine
from snellen.data import load_data
from snellen.data.in9 import build
from snellen.data.in9.layout import file_name, folders, foreground_of
from snellen.errors import UserError
from snellen.models.label_maps.imagenet9 import nine

from .test_boxed import write_image, write_voc


def test_the_nine_classes_have_the_published_sizes() -> None:
    assert [len(held) for held in nine().values()] == [116, 52, 42, 36, 35, 27, 26, 20, 16]
    assert list(nine())[2] == "wheeled vehicle"
    places = [place for held in nine().values() for place in held.values()]
    assert len(set(places)) == 370  # of 1,000: the other 630 are of none
    assert not {171, 172, 281, 282, 283, 284, 285} & set(places)


def test_classes_by_wordnet_id_by_table_and_finer(tmp_path: Path) -> None:
    words = [*list(nine()["dog"])[:4], *list(nine()["fish"])[:4], "n02123045"]  # the last, a tabby, is of none
    for word in words:
        write_image(tmp_path, f"{word}/a")
        write_voc(tmp_path, f"{word}/a", [(word, 1, 1, 4, 3)], (8, 6))
    data = load_data(f"voc:{tmp_path}")
    by_word = {data.classes[k]: row for row, k in enumerate(data.samples.labels)}
    coarse = group_classes(data, "nine")
    assert coarse.classes[0] == "dog"
    assert [int(coarse.labels[by_word[word]]) for word in words] == [0, 0, 0, 0, 8, 8, 8, 8, -1]
    table = tmp_path / "groups.csv"
    table.write_text("class,group\n" + "".join(f"{w},{'pet' if n < 4 else 'food'}\n" for n, w in enumerate(words[:8])))
    named = group_classes(data, table)
    assert named.classes == ("pet", "food")
    assert [int(named.labels[by_word[word]]) for word in words] == [0] * 4 + [1] * 4 + [-1]
    finer = group_classes(data, table, (4, 2), seed=1)
    assert finer.classes == ("pet 1", "pet 2", "food 1", "food 2")
    assert finer.coarse == ("pet", "pet", "food", "food")
    assert np.bincount(finer.labels[finer.labels >= 0]).tolist() == [2, 2, 2, 2]
    fewer = group_classes(data, table, (2, 2), seed=1)
    assert fewer.classes == ("pet", "food")
    assert (fewer.labels == -1).sum() == 5
    assert len(group_classes(data, "all").classes) == 9
    assert group_classes(data).classes == data.classes  # not all nine are there
    with pytest.raises(UserError, match="class 'pet' has 4 sub-classes in the data, fine wants 8"):
        group_classes(data, table, (8, 2))
    table.write_text("class,group\na,\n")
    with pytest.raises(UserError, match="line 2: class or group is empty"):
        group_classes(data, table)
    with pytest.raises(UserError, match="expected fine as k:n with k a multiple of n"):
        read_fine("5:2")


def test_every_class_is_cut_to_the_smallest_at_random_by_the_seed(tmp_path: Path) -> None:
    """Of 30 phantoms six classes have three and six have two; the third to go depends on the seed, not on the order."""
    world = "phantom:test?n=30&size=32&object_size=0.4..0.6"
    how: dict[str, Any] = {"size": 32, "workers": 1, "masks": "data"}
    kept = build(world, tmp_path / "all", "all", balance=False, **how)
    assert (kept.images, kept.rejected) == (30, {})
    assert sorted(kept.classes.values()) == [2] * 6 + [3] * 6
    gone = []
    for seed in range(2):
        made = build(world, tmp_path / str(seed), "all", seed=seed, **how)
        assert set(made.classes.values()) == {2}
        assert made.rejected == {"over-represented": 6}
        gone.append((made.out / "rejected.csv").read_text())
        assert "the smallest class has 2" in gone[-1]
    assert gone[0] != gone[1]


def test_the_seed_of_a_set_chooses_the_sub_classes(tmp_path: Path) -> None:
    """Two of four sub-classes of each class: six ways each, of which seeds take several; the others are left out."""
    world = "phantom:test?n=24&size=32&object_size=0.4..0.6"
    data, table = load_data(world), tmp_path / "groups.csv"
    table.write_text("class,group\n" + "".join(f"{name},{'ab'[n // 4]}\n" for n, name in enumerate(data.classes[:8])))
    chosen = {seed: group_classes(data, table, (2, 2), seed).labels for seed in range(8)}
    for labels in chosen.values():
        assert [len({data.classes[k] for k in data.samples.labels[labels == own]}) for own in (0, 1)] == [2, 2]
    assert len({tuple(labels.tolist()) for labels in chosen.values()}) > 3
    for seed in (0, next(seed for seed in chosen if (chosen[seed] != chosen[0]).any())):
        made = build(data, tmp_path / str(seed), table, fine=(2, 2), seed=seed, size=32, workers=1, all_images=True)
        with (made.out / "provenance.csv").open(newline="") as file:
            sources = {row["source"] for row in csv.DictReader(file)}
        assert sources <= {data.samples.ids[row] for row in np.flatnonzero(chosen[seed] >= 0)}
        assert sources


def test_file_names_are_safe_and_numbers_keep_the_order() -> None:
    assert file_name("train/dog/n02.94 é_1.JPEG") == "train-dog-n02.94-_1"
    assert file_name("..") == "image"
    assert folders([f"c/{n}" for n in range(101)])[7] == "007_c-7"
    assert foreground_of("fg_n01_2_bg_n03_4") == ("n01_2", "n03_4")
