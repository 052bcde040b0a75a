"""The audit of explanations asks how faithful maps are too: what it finds is what the audit of faithfulness finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen.audits import ExplanationAudit, FaithfulnessAudit, parse_audits
from snellen.errors import UserError
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.report.blocks import Heading, Panels, Table
from snellen.report.results import Results
from snellen.report.sections.faithfulness import FAITHFULNESS

from .test_explanation import network, red_things

MODELS = {"object": "observer:texture", "strip": "observer:border"}
DATA = "phantom:test?size=32&n=16"
SURE = {"object": "observer:texture", "centre": "observer:centre(0.5)"}
TEXTURES = "phantom:test?size=32&n=16&texture_bias=1"


def ask(audits: str, **how: Any) -> snellen.Run:
    return snellen.audit(MODELS, DATA, audits, quiet=True, device="cpu", **how)


def of_faithfulness(run: snellen.Run) -> list[dict[str, Any]]:
    return [one for one in run.results()["findings"] if one["audit"] == "faithfulness"]


@pytest.fixture(scope="module")
def joint() -> snellen.Run:
    return ask("explanation(support)")


def test_its_findings_are_those_of_both_audits(joint: snellen.Run) -> None:
    apart = ask("explanation(support, curves=off),faithfulness(support)", report=False).results()["findings"]
    own = joint.results()["findings"]
    assert {one["audit"] for one in own} >= {"explanation", "faithfulness"}
    assert sorted(map(str, own)) == sorted(map(str, apart))
    assert sum(one["name"] == "inter_model_deletion_difference" for one in own) == 1
    assert all(
        one["facts"]["evaluation"] == "adaptive" for one in of_faithfulness(joint) if "evaluation" in one["facts"]
    )


def test_asked_twice_it_is_found_once(joint: snellen.Run) -> None:
    both = ask("explanation(support),faithfulness(support),faithfulness(support)", report=False)
    assert of_faithfulness(both) == of_faithfulness(joint)


def test_the_page_has_the_section_of_faithfulness(joint: snellen.Run) -> None:
    blocks = FAITHFULNESS.blocks(Results.of(joint))
    assert Heading("Faithfulness of the maps") in blocks
    assert sum(isinstance(one, Panels) for one in blocks) == 2
    page = (joint.path / "report.html").read_text()
    assert "<h2>Explanations</h2>" in page
    assert "<h2>Faithfulness of the maps</h2>" in page


def test_all_methods_share_the_random_orders(tmp_path: Path) -> None:
    audit = ExplanationAudit(("gradcam", "support"), curves="full")
    assert audit.faithfulness == [FaithfulnessAudit(method, evaluation="full") for method in ("gradcam", "support")]
    request = {
        "models": ("observer:texture",),
        "data": DATA,
        "audits": ("explanation(support)",),
        "out": tmp_path / "run",
    }
    prepared = prepare(AuditRequest(**request))
    ordered, random = prepared.plan().open_trials
    several = ExplanationAudit(("support", "gradcam")).trials(prepared.exam)
    assert [ordered.cell, random.cell] == several[:2]
    assert len(several) == 4
    assert len(set(several)) == 3


def test_conditions_on_curves_are_known_where_there_are_some(joint: snellen.Run) -> None:
    value = next(one["value"] for one in of_faithfulness(joint) if one["name"] == "inter_model_deletion")
    assert value > 0
    with pytest.raises(snellen.RequirementFailed, match="inter_model_deletion"):
        ask("explanation(support)", report=False, require=["inter_model_deletion > 99"])
    with pytest.raises(UserError, match="unknown finding in require 'inter_model_deletion'"):
        ask("explanation(support, curves=off)", report=False, require=["inter_model_deletion > 10"])
    assert not set(FaithfulnessAudit.names) & set(parse_audits("explanation(curves=off)")[0].names or ())


@pytest.fixture(scope="module")
def filtered() -> snellen.Run:
    audits = (
        "explanation(support, filter=on, object_share=[0.3, 0.4], curves=full), faithfulness(support, evaluation=full)"
    )
    return snellen.audit(SURE, TEXTURES, audits, quiet=True, device="cpu")


def chosen_of(run: snellen.Run) -> list[str]:
    """The images that the filter should leave: those of middling boxes that both observers are sure of."""
    data = snellen.load_data(TEXTURES)
    shares = [float((photo.boxes[0, 2:] - photo.boxes[0, :2]).prod()) / 32**2 for photo in data.read(range(16))]
    sized = {sample for sample, share in zip(data.samples.ids, shares) if 0.3 < share < 0.4}
    surety = run.predictions().query("distortion == 'none()'").groupby("sample")["label_prob"].min()
    return [sample for sample in data.samples.ids if sample in sized and surety[sample] > 0.6]


def test_the_filter_chooses_the_images_of_faithfulness_too(filtered: snellen.Run) -> None:
    """As if the other images were not there: also scores are normalised by those that count alone."""
    data, chosen = snellen.load_data(TEXTURES), chosen_of(filtered)
    assert 2 < len(chosen) < 16
    rows = np.array([row for row, sample in enumerate(data.samples.ids) if sample in set(chosen)])
    alone = snellen.audit(
        SURE, data.at(rows), "faithfulness(support, evaluation=full)", quiet=True, report=False, device="cpu"
    )
    own = [one for one in of_faithfulness(filtered) if "filter" in one["facts"]]
    assert len(own) == len(of_faithfulness(alone)) == 5
    for one, other in zip(own, of_faithfulness(alone)):
        assert (one["name"], one["model"], one["n"]) == (other["name"], other["model"], other["n"])
        assert one["value"] == pytest.approx(other["value"], abs=1e-4)
        assert (one["low"], one["high"]) == pytest.approx((other["low"], other["high"]), abs=1e-3)
        assert one["facts"]["filter"]["chosen"] == len(chosen)
        assert one["label"] != other["label"]


def test_areas_of_all_and_of_filtered_images_stand_apart(filtered: snellen.Run) -> None:
    """Both were asked for: each has its own panels, table and differences."""
    findings = of_faithfulness(filtered)
    labels = [(one["model"], one["label"]) for one in findings]
    assert len(set(labels)) == len(labels) == 10
    blocks = FAITHFULNESS.blocks(Results.of(filtered))
    titles = [block.text for block in blocks if isinstance(block, Heading) and block.level == 3]
    assert sorted("filter left" in title for title in titles) == [False, True]
    for title, table in zip(titles, [block for block in blocks if isinstance(block, Table)][::2]):
        values = [row.cells[2].value for row in table.rows]  # type: ignore[union-attr]
        expected = [
            one["value"]
            for one in findings
            if one["name"] == "inter_model_deletion" and ("filter" in one["facts"]) == ("filter left" in title)
        ]
        assert values == expected


def test_a_filter_that_leaves_nothing_leaves_no_areas() -> None:
    strict = ask("explanation(support, filter=on, confidence=1)", report=False)
    assert {one["n"] for one in of_faithfulness(strict)} == {0}
    assert {one["value"] for one in of_faithfulness(strict)} == {None}
    energy = [one for one in strict.results()["findings"] if one["name"] == "energy_pg"]
    assert [one["n"] for one in energy] == [0, 0]


def test_data_without_objects_are_refused_with_the_audit_that_needs_none() -> None:
    with pytest.raises(
        UserError, match="neither boxes nor masks .* or ask for the audit faithfulness, which needs none"
    ):
        snellen.audit(network(1, 0, 0), red_things(boxes=False), "explanation", quiet=True, report=False, device="cpu")
