"""The shape audit: cue conflicts with observers of known bias, shuffled patches, and real networks."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.audits import Exam, parse_audits
from snellen.data.canvas import Canvas
from snellen.models import Model, from_callable, from_torch
from snellen.report.blocks import Table
from snellen.report.comparison import comparison
from snellen.report.results import Results

CLASSES = ("bear", "cat", "dog")


@pytest.fixture
def conflicts(tmp_path: Path) -> str:
    """All pairs of three shapes and three textures, four images each: red tells the shape, green the texture."""
    for s, shape in enumerate(CLASSES):
        (tmp_path / shape).mkdir()
        for t, texture in enumerate(CLASSES):
            for number in range(4):
                pixels = np.broadcast_to(np.array([80 * s, 80 * t, 20 * number]), (16, 16, 3)).astype(np.uint8)
                Image.fromarray(pixels).save(tmp_path / shape / f"{shape}{number}-{texture}{t + 2}.png")
    return f"cue:{tmp_path}"


def follows(shape_of_four: int) -> Model:
    """Answers the shape on so many of four images of a pair, the texture on the others; blue numbers them."""

    def answer(images: np.ndarray) -> np.ndarray:
        level = np.rint(images.mean((1, 2)) / [80, 80, 20]).astype(int).clip(0, [2, 2, 3])
        return np.eye(3)[np.where(level[:, 2] < shape_of_four, level[:, 0], level[:, 1])]

    return from_callable(answer, CLASSES, size=16, name="observer", version=str(shape_of_four))


@pytest.mark.parametrize("shape_of_four", [0, 1, 3, 4])
def test_an_observer_of_known_bias_is_measured_exactly(conflicts: str, shape_of_four: int) -> None:
    """Of 9 pairs 6 conflict: the shape is named on its share of those and on all that agree."""
    share = shape_of_four / 4
    run = snellen.audit(follows(shape_of_four), conflicts, "shape", quiet=True, report=False)
    found = run.findings().set_index("name")
    assert found.loc["shape_bias", "value"] == pytest.approx(share)
    assert found.loc["shape_accuracy", "value"] == pytest.approx((3 + 6 * share) / 9)
    assert found.loc["texture_accuracy", "value"] == pytest.approx((3 + 6 * (1 - share)) / 9)
    assert (found.loc["shape_bias", "conflicts"], found.loc["shape_bias", "decided"]) == (24, 24)
    assert found.loc["shuffled_accuracy", "value"] == found.loc["shape_accuracy", "value"]  # every pixel is alike
    assert found.loc["shuffled_accuracy", "di"] is not None
    assert found.loc["soft_shuffled_accuracy", "value"] == found.loc["shuffled_accuracy", "value"]


def test_the_models_side_by_side_have_their_shape_bias(conflicts: str) -> None:
    models = {name: follows(of_four) for name, of_four in (("textures", 1), ("shapes", 3))}
    run = snellen.audit(models, conflicts, "shape", quiet=True, report=False)
    (table,) = [block for block in comparison(Results.of(run)) if isinstance(block, Table)]
    column = [cell.text for cell in table.head].index(
        "Shape against texture (shape bias)"
    ) - 1  # the first has the models' names
    assert [row.cells[column].value for row in table.rows] == pytest.approx([0.25, 0.75])


def test_data_without_conflicts_says_so() -> None:
    model = from_callable(lambda images: np.eye(12)[images[:, 0, 0, 0] % 12], size=16, name="m", version="1")
    run = snellen.audit(model, "phantom:test?size=16&n=36", "shape", quiet=True, report=False)
    found = {one["name"]: one for one in run.results()["findings"]}
    assert found["shape_bias"]["value"] is None
    assert "its column 'texture' names none of its classes" in found["shape_bias"]["text"]
    assert found["shuffled_accuracy"]["value"] is not None


def test_the_di_of_both_shuffles_tells_seams_from_lost_shape() -> None:
    """One that takes straight edges for a class falls for the hard seams only, which the two numbers side by side show."""
    model = "observer:mixture(edges(texture), guess, 0.7)"  # guesses, because DI is about shares of the errors
    run = snellen.audit(model, "phantom:test?size=64&n=240&texture_bias=1", "shape", quiet=True, report=False)
    found = run.findings().set_index("name")
    hard, soft = found.loc["shuffled_accuracy"], found.loc["soft_shuffled_accuracy"]
    assert (hard["distortion"], soft["distortion"]) == ("shuffle(grid=4)", "soft_shuffle(grid=4, width=0.75)")
    assert hard["value"] < 0.5 < 0.65 < soft["value"]
    assert soft["di"] < 1 < hard["di"]


def test_the_grid_follows_the_image_size() -> None:
    (audit,) = parse_audits("shape")
    assert str(audit.shuffle_cell(Exam(classes={"test": "ab"}, side=28)).distortion) == "shuffle(grid=2)"
    assert str(audit.shuffle_cell(Exam(classes={"test": "ab"}, side=32)).distortion) == "shuffle(grid=4)"
    assert (
        str(audit.soft_shuffle_cell(Exam(classes={"test": "ab"}, side=28)).distortion)
        == "soft_shuffle(grid=2, width=0.75)"
    )
    (audit,) = parse_audits("shape(8)")
    assert str(audit.shuffle_cell(Exam(classes={"test": "ab"}, side=32)).distortion) == "shuffle(grid=8)"


def test_shape_suits_conflicts_alone(conflicts: str) -> None:
    (audit,) = parse_audits("shape")
    assert audit.suits(snellen.load_data(conflicts)) == "cue conflicts"
    assert not audit.suits(snellen.load_data("phantom:test?size=16&n=36"))  # textures that are no classes


def test_textures_that_all_agree_with_the_shape_are_no_conflicts(conflicts: str) -> None:
    """Nothing is in conflict where cat shapes have cat textures: there is no bias to measure, so shape is no default."""
    data = snellen.load_data(conflicts)
    agree = data.samples.columns["texture"] == np.array(data.classes)[data.samples.labels]
    assert agree.sum() == 3 * 4
    (audit,) = parse_audits("shape")
    assert not audit.suits(data.at(np.flatnonzero(agree)))
    one_conflict = np.append(np.flatnonzero(agree), np.flatnonzero(~agree)[0])
    assert audit.suits(data.at(one_conflict)) == "cue conflicts"


def mobilenet(shared: Path, name: str, size: int) -> Model:
    """One of the pack's ImageNet networks with its own 1,001 outputs."""
    spec = importlib.util.spec_from_file_location("qgraph", shared / "models" / "qgraph.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = (shared / "models" / "imagenet_labels_1001.txt").read_text().splitlines()
    canvas = Canvas(size, size, "crop", size, "bilinear")
    return from_torch(module.QGraph(shared / "models" / f"{name}.safetensors"), names, canvas=canvas, name=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "published"),
    [("mobilenet_v1_025_imagenet", 128, 0.46), ("mobilenet_v2_imagenet", 224, 0.23)],
)
def test_real_networks_have_the_bias_that_the_data_pack_states(
    shared: Path, name: str, size: int, published: float
) -> None:
    """Measured apart from this code on the same 240 conflicts, by the mean over the published 16 sets of classes."""
    model = mobilenet(shared, name, size)
    run = snellen.audit(model, f"cue:{shared}/cue_conflict/images", "shape", quiet=True, report=False)
    found = run.findings().set_index("name")
    assert round(found.loc["shape_bias", "value"], 2) == published
    assert found.loc["shape_bias", "conflicts"] == 240
    assert any("207 of the 1001 classes" in notice for notice in run.results()["notices"])
