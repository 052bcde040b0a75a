"""Detectors: counted by hand, and recounted from the published tables of Network Dissection."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snellen.measure import concept_iou, detector_units

NAMES = ("intersect", "activation", "truth", "iou")  # of the columns of each category
KINDS = ("object", "part", "scene", "material", "texture", "color")
TABLES = (
    "caffe_reference_imagenet",
    "caffe_reference_places205",
    "caffe_reference_places365",
    "ResNet-152-model_imagenet",
    "ResNet-152-model_places365",
)


def test_a_unit_counts_for_its_best_concept_only_and_a_concept_once() -> None:
    iou = [[0.5, 0.3, 0.1], [0.2, 0.0, 0.1], [0.0, 0.04, 0.039], [np.nan, np.nan, np.nan]]
    measured = detector_units(iou, ["cat", "dog", "red"], ["object", "object", "colour"])
    assert measured.detectors.tolist() == [True, True, False, False]  # 0.04 itself is not above the threshold
    assert measured.unique == {"object": 1, "colour": 0}
    assert measured.units == {"object": 2, "colour": 0}
    assert measured.best.tolist() == [0, 0, 1, -1]


def test_one_name_in_two_categories_is_two_concepts() -> None:
    measured = detector_units([[0.5, 0.1], [0.1, 0.5]], ["orange", "orange"], ["object", "colour"])
    assert measured.unique == {"object": 1, "colour": 1}


def test_no_units_and_no_concepts() -> None:
    assert detector_units(np.zeros((0, 1)), ["cat"], ["object"]).unique == {"object": 0}
    assert detector_units(np.zeros((3, 0)), [], []).detectors.tolist() == [False] * 3


def test_names_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="a name and a category"):
        detector_units([[0.1]], ["cat", "dog"], ["object"])


def test_an_example_of_the_published_table() -> None:
    iou = concept_iou([[561458]], [1584597], [1540612])  # unit 198, wheel
    assert iou[0, 0] == pytest.approx(0.2189986469, abs=1e-10)
    assert np.isnan(concept_iou([[0]], [0], [0])[0, 0])


@pytest.mark.parametrize("table", TABLES)
def test_the_published_tables_are_recounted(shared: Path, table: str) -> None:
    """From the pixels counted for each unit and category; the best label and its score stand beside them."""
    with open(shared / "netdissect" / f"{table}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    concepts = sorted({(kind, row[f"{kind}-label"]) for row in rows for kind in KINDS})
    place = {concept: column for column, concept in enumerate(concepts)}
    counts = np.array([[[float(row[f"{kind}-{name}"]) for name in NAMES] for kind in KINDS] for row in rows])
    columns = np.array([[place[kind, row[f"{kind}-label"]] for kind in KINDS] for row in rows])
    both, active, true, published = np.moveaxis(counts, 2, 0)
    cells = concept_iou(both.reshape(-1, 1), (active + true).ravel(), [0]).reshape(both.shape)
    assert cells == pytest.approx(published, abs=1e-12, nan_ok=True)
    iou = np.zeros((len(rows), len(concepts)))
    np.put_along_axis(iou, columns, cells, 1)
    measured = detector_units(iou, [label for _, label in concepts], [kind for kind, _ in concepts])
    best = [(row["category"], row["label"]) for row in rows if float(row["score"]) > 0.04]
    assert int(measured.detectors.sum()) == len(best)
    assert measured.unique == {kind: len({one for one in best if one[0] == kind}) for kind in sorted(KINDS)}


def test_alexnet_on_imagenet_has_97_detectors_of_50_concepts(shared: Path) -> None:
    with open(shared / "netdissect" / "caffe_reference_imagenet.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    concepts = sorted({(row["category"], row["label"]) for row in rows})
    iou = np.zeros((len(rows), len(concepts)))
    for unit, row in enumerate(rows):
        iou[unit, concepts.index((row["category"], row["label"]))] = float(row["score"])
    measured = detector_units(iou, [label for _, label in concepts], [kind for kind, _ in concepts])
    assert int(measured.detectors.sum()) == 97
    expected = {"object": 17, "part": 8, "scene": 1, "material": 1, "texture": 21, "color": 2}
    assert {kind: count for kind, count in measured.unique.items() if count} == expected
    assert sum(measured.unique.values()) == 50


@settings(deadline=None, max_examples=50)
@given(arrays(np.int64, (5, 3, 40), elements=st.integers(0, 1)), arrays(np.int64, (4, 40), elements=st.integers(0, 1)))
def test_iou_of_counts_is_that_of_masks(units: np.ndarray, concepts: np.ndarray) -> None:
    masks = units[:, 0].astype(bool)
    truth = concepts.astype(bool)
    iou = concept_iou(masks.astype(int) @ truth.astype(int).T, masks.sum(1), truth.sum(1))
    for unit in range(len(masks)):
        for concept in range(len(truth)):
            either = (masks[unit] | truth[concept]).sum()
            expected = (masks[unit] & truth[concept]).sum() / either if either else np.nan
            assert iou[unit, concept] == pytest.approx(expected, nan_ok=True)
