"""MAITE's models and datasets are taken as they are: by duck typing, and by the package's own types where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.data import as_data, load_data
from snellen.errors import UserError
from snellen.models import as_model, from_callable, from_maite, load_model

NAMES = ("dark", "middle", "bright")
INDEX = dict(enumerate(NAMES))
FILE = """
import numpy as np

class Rule:
    "The class of the mean of the first channel, in thirds."
    metadata = {"id": "thirds", "index2label": {0: "dark", 1: "middle", 2: "bright"}}

    def __call__(self, batch):
        return [np.eye(3)[int(np.asarray(image)[0].mean()) * 3 // 256] for image in batch]

class Shades:
    "Images [3, H, W] of one shade each."
    metadata = {"id": "shades", "index2label": {0: "dark", 1: "middle", 2: "bright"}}

    def __len__(self):
        return 12

    def __getitem__(self, position):
        label = position % 3
        return np.full((3, 8, 8), 20 + 85 * label, np.uint8), np.eye(3)[label], {"id": f"shade-{position}"}

model, data, number = Rule(), Shades(), 3
"""


class Rule:
    """A model as MAITE's documentation writes one: a list of images [C, H, W] in, a list of pseudo-probabilities out."""

    def __init__(self, names: Any = INDEX, tensors: bool = False) -> None:
        self.metadata = {"id": "thirds"} if names is None else {"id": "thirds", "index2label": names}
        self.seen: list[tuple[str, tuple[int, ...], float]] = []
        self.tensors = tensors

    def __call__(self, batch: Sequence[Any]) -> Sequence[Any]:
        assert isinstance(batch, list)
        self.seen += [(str(image.dtype), image.shape, float(image.max())) for image in batch]
        rows = [
            np.eye(3)[min(int(image[0].mean() * (3 if image.dtype != np.uint8 else 3 / 256)), 2)] for image in batch
        ]
        return [torch.from_numpy(row) for row in rows] if self.tensors else rows


class Shades:
    """A dataset as MAITE's documentation writes one: (image [C, H, W], one-hot target, metadata with id)."""

    def __init__(self, images: Any, targets: Any, names: Any = INDEX) -> None:
        self.images, self.targets = images, targets
        self.metadata = {"id": "shades"} if names is None else {"id": "shades", "index2label": names}

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, position: int) -> tuple[Any, Any, dict[str, Any]]:
        return self.images[position], self.targets[position], {"id": f"shade-{position}", "hour": 3.5}


IMAGES = np.stack([np.full((3, 6, 4), 20 + 85 * (row % 3), np.uint8) for row in range(9)])
IMAGES[:, 2] = 7  # so that a channel in the place of another, or of the height, is seen
TARGETS = np.eye(3)[np.arange(9) % 3]


def test_a_model_gets_a_list_of_images_with_channels_first() -> None:
    rule = Rule()
    model = as_model(rule)
    assert (model.name, model.classes) == ("thirds", NAMES)
    rule.seen.clear()
    answers = model(torch.from_numpy(IMAGES))
    assert answers.argmax(1).tolist() == [0, 1, 2] * 3
    assert {(kind, shape) for kind, shape, _ in rule.seen} == {("uint8", (3, 6, 4))}
    (notice,) = model.card.notices
    assert "uint8 RGB in 0…255" in notice
    assert "from_maite(model, floats=True" in notice


def test_a_model_of_floats_and_tensors_is_wrapped_by_one_call() -> None:
    rule = Rule(tensors=True)
    model = from_maite(rule, size=(6, 4), floats=True, name="mine")
    rule.seen.clear()
    assert model(torch.from_numpy(IMAGES)).argmax(1).tolist() == [0, 1, 2] * 3
    assert {kind for kind, _, _ in rule.seen} == {"float32"}
    assert max(highest for _, _, highest in rule.seen) == pytest.approx(190 / 255)
    assert (model.name, model.card.notices, str(model.canvas)[:3]) == ("mine", (), "6x4")


def test_the_source_and_the_answers_stand_for_a_model() -> None:
    class Other(Rule):
        def __call__(self, batch: Sequence[Any]) -> Sequence[Any]:
            return super().__call__(batch)

    prints = [as_model(one).card for one in (Rule(), Rule(), Other())]
    assert prints[0].fingerprint == prints[1].fingerprint != prints[2].fingerprint
    assert prints[0].probes is not None


def test_names_that_leave_out_a_number_and_models_without_names() -> None:
    assert as_model(Rule({0: "dark", 2: "bright"})).classes == ("dark", "1", "bright")
    assert as_model(Rule(None)).classes is None
    with pytest.raises(
        UserError, match="expected index2label as a dictionary from the number of each class to its name"
    ):
        as_model(Rule({"dark": 0}))


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (
            lambda batch: [np.eye(3)[0]],
            "answered 1 targets of shape \\[3\\] for 16 images; expected 16 of \\[classes\\]",
        ),
        (lambda batch: [np.ones((2, 3)) for _ in batch], "answered 16 targets of shape \\[2, 3\\] for 16 images"),
        (lambda batch: [-np.ones(3) for _ in batch], "answered negative probabilities"),
        (lambda batch: 1 / 0, "model 'odd' failed: ZeroDivisionError"),
    ],
)
def test_wrong_answers_are_told_in_one_line(answers: Any, reason: str) -> None:
    class Odd:
        metadata = {"id": "odd"}  # noqa: RUF012

        def __call__(self, batch: Any) -> Any:
            return answers(batch)

    with pytest.raises(UserError, match=reason):
        as_model(Odd())


@pytest.mark.parametrize("form", ["numpy", "tensors", "floats"])
def test_a_dataset_gives_pixels_labels_ids_and_names(form: str) -> None:
    images = {"numpy": IMAGES, "tensors": torch.from_numpy(IMAGES), "floats": IMAGES.astype(np.float32) / 255}[form]
    data = as_data(Shades(images, torch.from_numpy(TARGETS) if form == "tensors" else TARGETS))
    assert (data.text, data.classes, data.size) == ("maite:shades", NAMES, (6, 4))
    assert data.samples.labels.tolist() == [0, 1, 2] * 3
    assert data.samples.ids[4] == "shade-4"
    np.testing.assert_array_equal(data.read([4])[0].image, IMAGES[4].transpose(1, 2, 0))  # type: ignore[union-attr]


def test_a_target_in_which_no_class_stands_out_has_no_label() -> None:
    soft = np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0], [0, 0, 0]])
    assert as_data(Shades(IMAGES[:3], soft)).samples.labels.tolist() == [1, -1, -1]


@pytest.mark.parametrize(
    ("targets", "reason"),
    [
        (
            [{"boxes": [], "labels": []}] * 9,
            "expected targets with one value per class, as image classification has them",
        ),
        ([1] * 9, "expected targets with one value per class"),
        (np.ones((9, 2, 2)), "got ndarray of shape \\[2, 2\\]"),
    ],
)
def test_targets_of_another_task_are_refused(targets: Any, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        as_data(Shades(IMAGES, targets))


def test_ids_stand_in_the_fingerprint_and_must_differ() -> None:
    class Renamed(Shades):
        def __getitem__(self, position: int) -> tuple[Any, Any, dict[str, Any]]:
            return *super().__getitem__(position)[:2], {"id": 100 + position}

    class Same(Shades):
        def __getitem__(self, position: int) -> tuple[Any, Any, dict[str, Any]]:
            return *super().__getitem__(position)[:2], {"id": "one"}

    assert as_data(Renamed(IMAGES, TARGETS)).samples.ids[0] == "100"
    assert as_data(Renamed(IMAGES, TARGETS)).fingerprint != as_data(Shades(IMAGES, TARGETS)).fingerprint
    with pytest.raises(UserError, match="expected 9 different ids, got 1"):
        as_data(Same(IMAGES, TARGETS))


def test_an_audit_of_both_equals_that_of_a_callable_and_arrays(tmp_path: Path) -> None:
    def thirds(images: np.ndarray) -> np.ndarray:
        return np.eye(3)[images[..., 0].mean((1, 2)).astype(int) * 3 // 256]

    (tmp_path / "own.py").write_text(FILE)
    place = tmp_path / "own.py"
    data = load_data(f"{place}:data")
    asked = [
        snellen.audit({"m": model}, data, "interference([shuffle(2), occlude(0.4, white)])", quiet=True, report=False)
        for model in (from_callable(thirds, NAMES, name="thirds", version="1"), as_model(load_model(f"{place}:model")))
    ]
    columns = ["distortion", "sample", "pred", "score", "confidence"]
    tables = [run.predictions()[columns].sort_values(columns[:2], ignore_index=True) for run in asked]
    assert tables[0].equals(tables[1])
    assert set(tables[0]["sample"]) == {f"shade-{position}" for position in range(12)}


@pytest.mark.parametrize("text", ["{}:model", "python:{}:model", "{}:Rule", "mine={}:model"])
def test_a_text_names_a_model_or_what_makes_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.py").write_text(FILE)
    model = load_model(text.format(tmp_path / "own.py"))
    assert model.classes == NAMES
    assert model.name == ("mine" if "=" in text else text.rpartition(":")[2])


@pytest.mark.parametrize("text", ["{}:data", "python:{}:data", "{}:Shades"])
def test_a_text_names_a_dataset_or_what_makes_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.py").write_text(FILE)
    data = load_data(text.format(tmp_path / "own.py") + "?label=dark")
    assert data.samples.ids == ("shade-0", "shade-3", "shade-6", "shade-9")


@pytest.mark.parametrize(
    ("load", "text", "reason"),
    [
        (load_model, "{}:number", "is int; expected a factory that returns a model, or a model"),
        (load_model, "{}:model@a.pt", "is a model and no factory that takes '@a.pt'; leave that out"),
        (load_model, "{}:nothing", "has no 'nothing'; it has: Rule, Shades, model"),
        (load_data, "{}:number", "is int; expected a dataset, or a factory that returns one"),
        (load_data, "{}:data@1", "is a dataset and no factory that takes '@1'; leave that out"),
        (load_data, "{}:Rule", "returned Rule; expected a dataset"),
        (load_data, "{}:Shades@1", "failed: TypeError"),
        (load_data, "{}", "cannot tell what"),
    ],
)
def test_a_name_that_is_none_of_these_is_refused(tmp_path: Path, load: Any, text: str, reason: str) -> None:
    (tmp_path / "own.py").write_text(FILE)
    with pytest.raises(UserError, match=reason):
        load(text.format(tmp_path / "own.py"))


def test_a_run_folder_names_no_code_to_run(tmp_path: Path) -> None:
    """Else a folder from elsewhere could bring its own."""
    from snellen.data import load_stored

    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + FILE)
    for text in (f"python:{tmp_path}/own.py:data", f"{tmp_path}/own.py:data"):
        with pytest.raises(UserError, match="made by code"):
            load_stored(text)
    assert not (tmp_path / "ran").exists()
    assert len(load_stored("phantom:test?n=3")) == 3


@pytest.mark.skipif(find_spec("maite") is None, reason="needs the package maite, as an oracle of its protocols")
def test_the_shapes_of_these_tests_are_those_of_the_protocol() -> None:
    from maite.protocols import image_classification as ic  # type: ignore[import-not-found]

    assert isinstance(Rule(), ic.Model)
    assert isinstance(Shades(IMAGES, TARGETS), ic.Dataset)
