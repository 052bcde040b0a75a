"""A run as samples of FiftyOne: its documented JSON layout, held against its own importer where that is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.errors import UserError

AUDITS = "occlusion(areas=[0.3], fills=[black])"
DATA = "phantom:test?size=16&n=40"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> snellen.Run:
    folder = tmp_path_factory.mktemp("fiftyone") / "run"
    return snellen.audit(["observer:shape", "observer:texture"], DATA, AUDITS, folder, quiet=True)


def samples_of(folder: Path) -> list[dict[str, Any]]:
    samples: list[dict[str, Any]] = json.loads((folder / "samples.json").read_text())["samples"]
    return samples


def test_each_sample_has_its_image_its_class_and_every_answer(run: snellen.Run, tmp_path: Path) -> None:
    folder = run.export(tmp_path / "fo", "fiftyone")
    samples = samples_of(folder)
    data = snellen.load_data(DATA)
    assert [sample["sample"] for sample in samples] == list(data.samples.ids)
    fields = json.loads((folder / "metadata.json").read_text())["info"]["fields"]
    assert fields["shape_clean"] == {"model": "shape", "run": "shape", "distortion": "none()", "seed": 0}
    stored = run.predictions().set_index(["model", "distortion", "sample"])
    classes = data.classes
    for place, sample in enumerate(samples):
        pixels = np.asarray(Image.open(folder / sample["filepath"]))
        assert np.array_equal(pixels, data.read([place])[0].image)  # type: ignore[union-attr]
        assert sample["ground_truth"] == {"_cls": "Classification", "label": classes[data.samples.labels[place]]}
        for field, cell in fields.items():
            row = stored.loc[(cell["model"], cell["distortion"], sample["sample"])]
            assert sample[field]["label"] == classes[row["pred"]]
            assert sample[field]["confidence"] == pytest.approx(row["confidence"])
            assert sample[field]["score"] == row["score"]
    assert len(fields) == 6


def test_boxes_are_shares_of_the_image(run: snellen.Run, tmp_path: Path) -> None:
    sample = samples_of(run.export(tmp_path / "fo", "fiftyone"))[3]
    (box,) = snellen.load_data(DATA).read([3])[0].boxes  # type: ignore[union-attr]
    (found,) = sample["boxes"]["detections"]
    left, top, width, height = found["bounding_box"]
    assert np.allclose([left * 16, top * 16, (left + width) * 16, (top + height) * 16], box)
    assert found["label"] == sample["ground_truth"]["label"]


def test_images_in_a_folder_are_named_where_they_are(run: snellen.Run, tmp_path: Path) -> None:
    for name in ("a b", "ü"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(6):
            pixels = np.random.default_rng(number).integers(0, 256, (16, 16, 3), np.uint8)
            Image.fromarray(pixels).save(tmp_path / "photos" / name / f"{number}.png")

    def first(images: np.ndarray) -> np.ndarray:
        return np.eye(2)[np.zeros(len(images), int)]

    model = snellen.models.from_callable(first, name="a.model of mine", version="1", size=16, classes=["a b", "ü"])
    own = snellen.audit(model, f"folder:{tmp_path}/photos", AUDITS, tmp_path / "run", quiet=True)
    folder = own.export(tmp_path / "fo", "fiftyone")
    samples = samples_of(folder)
    assert not (folder / "data").exists()
    assert all(Path(sample["filepath"]).is_file() and Path(sample["filepath"]).is_absolute() for sample in samples)
    assert "a_model_of_mine_clean" in samples[0]  # no dot, which a field's name may not have
    assert {sample["ground_truth"]["label"] for sample in samples} == {"a b", "ü"}
    (tmp_path / "photos" / "ü" / "5.png").unlink()
    with pytest.raises(UserError, match="no longer has the image 'ü/5.png' of the run"):
        own.export(tmp_path / "again", "fiftyone")


def test_their_importer_reads_it(run: snellen.Run, tmp_path: Path) -> None:
    importers = pytest.importorskip("fiftyone.utils.data.importers", reason="fiftyone is not installed")
    folder = run.export(tmp_path / "fo", "fiftyone")
    importer = importers.LegacyFiftyOneDatasetImporter(str(folder))
    with importer:
        samples = list(importer)
    assert len(samples) == 40
    assert samples[0].shape_clean.label == samples[0].ground_truth.label
