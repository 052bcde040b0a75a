"""The page of faithfulness: six panels per method, areas with their errors, differences, and nothing where nothing is known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from torch import nn

import snellen
from snellen.audits import FACTS
from snellen.audits.deletion_curves import DeletionDifferenceFacts, DeletionFacts
from snellen.audits.stored_finding import read_finding
from snellen.explain import methods
from snellen.models import Model, from_torch
from snellen.report import page_of
from snellen.report.blocks import Chart, Gallery, Group, Heading, Panels, Row, Table
from snellen.report.results import Results
from snellen.report.sections.faithfulness import FAITHFULNESS
from snellen.report.sections.faithfulness_gallery import areas_by_image, extreme_samples

from .stored import stored


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
    own = {finding.model: finding.facts for finding in results.having(DeletionFacts) if finding.facts.layer is None}
    for row in table.rows:
        facts = own[row.head.text]  # type: ignore[union-attr]
        assert facts.order_area is not None
        assert facts.random_area is not None
        assert row.cells[2].value == pytest.approx(facts.order_area - facts.random_area)  # type: ignore[union-attr]
        assert row.cells[3].value == pytest.approx(row.cells[2].value)  # type: ignore[union-attr]


def words_under_the_areas(results: Results) -> str:
    """The note under the first table of areas."""
    blocks = FAITHFULNESS.blocks(results)
    table = next(place for place, block in enumerate(blocks) if isinstance(block, Table))
    return str(blocks[table + 1])


def with_facts(run: snellen.Run, **facts: Any) -> Results:
    """The results with other facts of the areas; those that are None are missing, as in older runs."""
    content = json.loads(json.dumps(run.results()))
    for finding in content["findings"]:
        if "order_area" in finding["facts"]:
            finding["facts"] = {
                k: v for k, v in {**finding["facts"], **facts}.items() if v is not None or k not in facts
            }
    return replace(Results.of(run), findings_json=content)


def test_other_seeds_lie_as_far_apart_as_is_stated() -> None:
    """The audit itself, every point of every curve asked: areas of other seeds differ by their random orders alone."""
    images = np.random.default_rng(1).integers(0, 90, (6, 12, 12, 3), dtype=np.uint8)
    images[:, :, :4] += 130
    data = snellen.data.from_arrays(
        {"images": images, "labels": np.zeros(6, int), "classes": np.array(list("abc"))}, "memory:s", "1"
    )
    found = []
    for seed in range(8):
        audits = "faithfulness(tile=4, evaluation=full)"
        own = snellen.audit(model("soft", 12.0), data, audits, quiet=True, report=False, seed=seed)
        found += [finding for finding in own.stored_findings() if finding.name == "inter_model_deletion"]
    areas = np.array([finding.value for finding in found])
    stated = np.mean([finding.facts.order_error for finding in found]) / 1.645
    assert all(finding.facts.sampling_error == 0 for finding in found)
    assert np.ptp(areas) > 0
    assert 0.5 < areas.std(ddof=1) / stated < 2


def test_the_note_says_how_far_other_random_orders_move_the_areas(run: snellen.Run) -> None:
    facts = [finding.facts for finding in Results.of(run).having(DeletionFacts) if finding.facts.layer is None]
    error = max(own.order_error for own in facts)
    assert f"another seed may move areas by {error:.2f} (90% confidence)" in words_under_the_areas(Results.of(run))
    assert "another seed" not in words_under_the_areas(with_facts(run, order_error=None, requested_error=None))


def test_the_note_says_where_the_requested_error_is_not_reached(run: snellen.Run) -> None:
    missed = "The 3 that was asked for is not reached for soft, sharp: 30 images are too few"
    assert missed not in words_under_the_areas(with_facts(run, sampling_error=2.9))
    assert missed in words_under_the_areas(with_facts(run, sampling_error=3.1))
    assert "asked for" not in words_under_the_areas(with_facts(run, sampling_error=3.1, requested_error=None))


def test_areas_beyond_the_scale_are_explained(run: snellen.Run) -> None:
    for area, explained in ((99.0, False), (115.7, True), (-0.5, True)):
        note = words_under_the_areas(with_facts(run, order_area=area, random_area=50.0))
        assert ("An area above 100 says" in note) == explained, area
        assert "0 to 100" not in note


def test_both_layers_have_a_row_of_their_own_and_a_sentence(run: snellen.Run) -> None:
    text = (run.path / "report.md").read_text()
    assert "Answers kept without irrelevant tiles, minus random ones (deletion), by gradcam at layer features.0" in text
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
    results = Results.of(run)
    own = [finding for finding in results.having(DeletionFacts) if finding.facts.layer is None]
    (pair,) = (finding for finding in results.having(DeletionDifferenceFacts) if finding.facts.layer is None)
    areas = areas_by_image(own, [pair])  # type: ignore[arg-type]  # their facts are of a narrower type
    for finding in own:
        assert len(finding.facts.examples) == 8
        for example in finding.facts.examples:
            assert areas[finding.model, example.sample] == pytest.approx(example.area)
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
    assert [finding.value for finding in results.of_audit("faithfulness")] == [None, None]
    assert FAITHFULNESS.verdict(results, "blind") == []
    assert not [one for one in FAITHFULNESS.blocks(results) if isinstance(one, Panels)]


def test_findings_of_before_images_were_shown_still_read() -> None:
    """Runs of the first version have no grid, seed and examples, and differences no areas by image."""
    curve = {"value": [1.0, 0.5, 0.0], "se": [0.0, None, 0.0]}
    facts = {
        "method": "gradcam", "layer": None, "tile": 7, "fill": "image_mean", "evaluation": "full", "se": 1.0,
        "se_steps": None, "order_area": 60, "random_area": 50, "whole": [0.9], "hidden": [0.1], "asked": [10, 50],
        "full": [10, 50], "sampling_error": 0, "curves": {"order": curve, "random": curve, "difference": curve},
    }  # fmt: skip
    compared = {"method": "gradcam", "layer": -2, "first": "a", "second": "b", "p": 0.1, "p_corrected": 0.1}
    rows = {"inter_model_deletion": facts, "inter_model_deletion_difference": {**compared, "detectable": None}}
    usual = msgspec.to_builtins(stored(audit="faithfulness"))
    area, difference = (read_finding({**usual, "name": name, "facts": own}, FACTS) for name, own in rows.items())
    assert (area.facts.grid, area.facts.seed, area.facts.examples) == (0, 0, ())
    assert area.facts.curves.order.se == (0, None, 0)
    assert (difference.facts.layer, difference.facts.areas) == (-2, {})
