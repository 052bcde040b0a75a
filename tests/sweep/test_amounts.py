"""Amounts of data: nested, balanced, by ids; and the sweep over them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.data import load_data
from snellen.data.arrays import from_arrays
from snellen.errors import UserError
from snellen.sweep import amount
from snellen.sweep.by_amount import balanced_subset
from snellen.train import Recipe

RECIPE = Recipe(epochs=4, batch_size=32)
TESTS = {"mixed_same": "phantom:test?size=24&n=150&background_bias=1", "mixed_rand": "phantom:test?size=24&n=150"}


def labelled(labels):
    held = {"images": np.zeros((len(labels), 4, 4, 3), np.uint8), "labels": np.array(labels)}
    return from_arrays(held, "arrays:x.npz", "x")


@settings(max_examples=60)
@given(labels=st.lists(st.integers(0, 3), min_size=8, max_size=60), data=st.data())
def test_subsets_are_balanced_and_part_of_larger_ones(labels, data):
    held = labelled(labels)
    present, counts = np.unique(labels, return_counts=True)
    most = len(present) * int(counts.min())
    small, large = sorted(data.draw(st.tuples(*[st.integers(len(present), most)] * 2)))
    first, second = balanced_subset(held, small), balanced_subset(held, large)
    assert (len(first), len(second)) == (small, large)
    assert set(first.samples.ids) <= set(second.samples.ids)
    found = np.bincount(second.samples.labels)[present]
    assert found.max() - found.min() <= 1
    assert first.classes == held.classes


def test_the_order_of_the_listing_does_not_matter():
    held = load_data("phantom:train?size=16&n=200")
    turned = held.at(np.arange(200)[::-1])
    assert set(balanced_subset(held, 40).samples.ids) == set(balanced_subset(turned, 40).samples.ids)


def test_a_class_with_too_few_images_is_named():
    with pytest.raises(UserError) as caught:
        balanced_subset(labelled([0] * 9 + [1] * 3), 8)
    assert "class '1' has 3 images, 8 in all need 4 of it; at most 6 are possible with as many of each class" in str(
        caught.value
    )
    with pytest.raises(UserError, match="expected an amount of at least 2, one image per class"):
        balanced_subset(labelled([0, 1, 1]), 1)


def test_more_data_of_scenes_make_the_gap(tmp_path):
    found = amount(RECIPE, "phantom:train?size=24&n=600&background_bias=1", [480, 24], TESTS, tmp_path)
    table = found.table()
    assert table["x"].unique().tolist() == [24, 480]
    gaps = table.query("measure == 'bg_gap'").set_index("x")["value"]
    assert gaps[480] > gaps[24] + 0.3
    few = (tmp_path / "ids" / "24.txt").read_text().split()
    assert len(few) == 24
    assert set(few) < set((tmp_path / "ids" / "480.txt").read_text().split())
    html = (tmp_path / "sweep.html").read_text()
    assert html.count("<svg") == 3  # accuracies, gaps, one against the other
    (command,) = [text for text in found.page.commands if "ids/24.txt" in text]
    text = command.split("--data ")[1].split(" --runs")[0].strip("'")
    same = load_data(text)  # the command's data are those that were learnt from
    assert (
        same.fingerprint == balanced_subset(load_data("phantom:train?size=24&n=600&background_bias=1"), 24).fingerprint
    )
