"""The page of faithfulness: six panels per method, areas with their errors, differences, and nothing where nothing is known."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import snellen
from snellen.explain import methods
from snellen.models import Model, from_torch
from snellen.report import page_of
from snellen.report.blocks import Chart, Gallery, Group, Heading, Panels, Row, Table
from snellen.report.results import Results
from snellen.report.sections.faithfulness import FAITHFULNESS
from snellen.report.sections.faithfulness_gallery import areas_by_image, extreme_samples


class Brightest(nn.Module):
    """Knows the class by which third of the image is brightest; `sharp` says how sure it is."""

    def __init__(self, sharp: float) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 3, 1, bias=False), nn.ReLU())
        self.register_buffer("sharp", torch.tensor(sharp))
        with torch.no_grad():
            self.features[0].weight.copy_(torch.eye(3)[:, :, None, None])  # type: ignore[union-attr]

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.sharp * self.features(pixels).mean(2).unflatten(2, (3, -1)).mean((1, 3))


def model(name: str, sharp: float) -> Model:
    return from_torch(Brightest(sharp), size=12, name=name, device="cpu")


@pytest.fixture(scope="module")
def run() -> snellen.Run:
    random = np.random.default_rng(0)
    labels = np.arange(30) % 3
    images = random.integers(0, 90, (30, 12, 12, 3), dtype=np.uint8)
    for image, label in zip(images, labels):
        image[:, 4 * label : 4 * label + 4] += 130
    data = snellen.data.from_arrays(
        {"images": images, "labels": labels, "classes": np.array(list("abc"))}, "memory:b", "1"
    )
    audits = "faithfulness(tile=2, orders=[lerf, morf], error=3),faithfulness(tile=2, layer=features.0, error=3)"
    return snellen.audit({"soft": model("soft", 12.0), "sharp": model("sharp", 40.0)}, data, audits, quiet=True)


def test_each_method_and_order_has_six_panels_and_a_table(run: snellen.Run) -> None:
    blocks = FAITHFULNESS.blocks(Results.of(run))
    titles = [one.text for one in blocks if isinstance(one, Heading) and one.level == 3]
    assert titles == [
        "gradcam: least relevant first against random",
        "gradcam: most relevant first against random",
        "gradcam at layer features.0: least relevant first against random",
    ]
    panels = [one for one in blocks if isinstance(one, Panels)]
    assert [len(one.blocks) for one in panels] == [3] * 6
    charts = [[one for one in some.blocks if isinstance(one, Chart)] for some in panels]
    assert [one.title for one in charts[0]] == [
        "Least relevant first, deleted",
        "Random order, deleted",
        "Difference, deleted",
    ]
    assert charts[1][0].title == "Most relevant first, inserted"
    first = charts[0][0].spec["data"]["values"]
    assert {row["model"] for row in first} == {"soft", "sharp"}
    assert all(row["low"] <= row["value"] <= row["high"] for row in first)
    tables = [one for one in blocks if isinstance(one, Table)]
    assert len(tables) == 5  # areas of three, differences of the two that are published
    assert "times fewer than all points of all curves need" in json.dumps(page_of(run).to_json())


def test_areas_of_the_table_are_those_of_the_findings(run: snellen.Run) -> None:
    results = Results.of(run)
    table = next(one for one in FAITHFULNESS.blocks(results) if isinstance(one, Table))
    values: dict[str, Any] = {
        one["model"]: one for one in results.of_audit("faithfulness") if one["name"] == "inter_model_deletion"
        and one["facts"]["layer"] is None
    }  # fmt: skip
    for row in table.rows:
        facts = values[row.head.text]["facts"]  # type: ignore[union-attr]
        assert row.cells[2].value == pytest.approx(facts["order_area"] - facts["random_area"])  # type: ignore[union-attr]
        assert row.cells[2].value == row.cells[3].value  # type: ignore[union-attr]


def test_both_layers_have_a_row_of_their_own_and_a_sentence(run: snellen.Run) -> None:
    text = (run.path / "report.md").read_text()
    assert "Inter-model deletion: least relevant first, less random, by gradcam at layer features.0" in text
    assert text.count("**Faithful maps**: ") == 2
    assert "hiding the least relevant first keeps" in text


def test_models_are_compared_on_the_same_images(run: snellen.Run) -> None:
    findings = run.results()["findings"]
    pairs = [one for one in findings if one["name"] == "inter_model_deletion_difference"]
    assert [one["model"] for one in pairs] == ["soft − sharp"] * 2
    own = {
        (one["model"], one["facts"]["layer"]): one["value"] for one in findings if one["name"] == "inter_model_deletion"
    }
    for one in pairs:
        layer = one["facts"]["layer"]
        assert one["value"] == pytest.approx(own["soft", layer] - own["sharp", layer])
        assert one["low"] <= one["value"] <= one["high"]
        assert one["n"] == 30


def test_images_with_high_and_low_areas_are_shown_at_three_stages(run: snellen.Run) -> None:
    galleries = [one for one in FAITHFULNESS.blocks(Results.of(run)) if isinstance(one, Gallery)]
    assert len(galleries) == 2  # of each layer
    groups = [one for one in galleries[0].rows if isinstance(one, Group)]
    rows = [one for one in galleries[0].rows if isinstance(one, Row)]
    assert len(groups) == 4
    assert [one.head.text for one in rows] == ["soft", "sharp"] * 4
    assert [cell.text for cell in galleries[0].head] == [
        "",
        "image",
        "map",
        "50% deleted",
        "75% deleted",
        "90% deleted",
    ]
    for row in rows:
        assert all(str(one.source).startswith("data:image/jpeg") for one in row.cells)  # type: ignore[union-attr]
        assert len({one.source for one in row.cells}) == 5  # type: ignore[union-attr]
    means = [float(one.text.split("area ")[1].split(",")[0].replace("−", "-")) for one in groups]
    assert means == sorted(means, reverse=True)


def test_the_areas_of_an_image_are_known_of_every_model(run: snellen.Run) -> None:
    findings = [one for one in run.results()["findings"] if one["facts"].get("layer", "") is None]
    own = [one for one in findings if one["name"] == "inter_model_deletion"]
    (pair,) = (one for one in findings if one["name"] == "inter_model_deletion_difference")
    areas = areas_by_image(own, [pair])
    for one in own:
        for example in one["facts"]["examples"]:
            assert areas[one["model"], example["sample"]] == pytest.approx(example["area"])
    samples = {sample for _, sample in areas}
    assert len(areas) == 2 * len(samples)
    best, *_, worst = extreme_samples(areas)
    means = {sample: areas["soft", sample] + areas["sharp", sample] for sample in samples}
    assert (means[best], means[worst]) == (max(means.values()), min(means.values()))
    assert extreme_samples({}) == []


def test_a_model_that_loses_nothing_has_no_areas_and_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def even(model: Model, images: torch.Tensor, targets: Any, layer: Any) -> torch.Tensor:
        return torch.ones(len(images), *images.shape[2:])

    monkeypatch.setitem(methods.METHODS, "even", methods.Method(even, "even", gradients=False))
    images = np.random.default_rng(0).integers(0, 255, (9, 12, 12, 3), dtype=np.uint8)
    data = snellen.data.from_arrays({"images": images, "labels": np.arange(9) % 3}, "memory:n", "1")
    run = snellen.audit(model("blind", 0.0), data, "faithfulness(method=even, tile=4)", quiet=True)
    results = Results.of(run)
    assert all(one["value"] is None for one in results.of_audit("faithfulness"))
    assert FAITHFULNESS.verdict(results, "blind") == []
    assert not [one for one in FAITHFULNESS.blocks(results) if isinstance(one, Panels)]
