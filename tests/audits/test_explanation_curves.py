"""The audit of explanations asks how faithful maps are too: what it finds is what the audit of faithfulness finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.audits import Explanation, Faithfulness, parse_audits
from snellen.errors import UserError
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.report.blocks import Heading, Panels
from snellen.report.results import Results
from snellen.report.sections.faithfulness import FAITHFULNESS

from .test_explanation import network, red_things

MODELS = {"object": "observer:texture", "strip": "observer:border"}
DATA = "phantom:test?size=32&n=16"


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
    audit = Explanation(("gradcam", "support"), curves="full")
    assert audit.faithfulness == [Faithfulness(method, evaluation="full") for method in ("gradcam", "support")]
    request = {
        "models": ("observer:texture",),
        "data": DATA,
        "audits": ("explanation(support)",),
        "out": tmp_path / "run",
    }
    prepared = prepare(AuditRequest(**request))
    ordered, random = prepared.plan().open_trials
    several = Explanation(("support", "gradcam")).trials(prepared.exam)
    assert [ordered.cell, random.cell] == several[:2]
    assert len(several) == 4
    assert len(set(several)) == 3


def test_conditions_on_curves_are_known_where_there_are_some(joint: snellen.Run) -> None:
    value = next(one["value"] for one in of_faithfulness(joint) if one["name"] == "inter_model_deletion")
    assert value > 0
    with pytest.raises(snellen.RequirementFailed, match="inter_model_deletion"):
        ask("explanation(support)", report=False, require=["inter_model_deletion > 99"])
    with pytest.raises(UserError, match="unknown finding in --require 'inter_model_deletion'"):
        ask("explanation(support, curves=off)", report=False, require=["inter_model_deletion > 10"])
    assert not set(Faithfulness.names) & set(parse_audits("explanation(curves=off)")[0].names or ())


def test_the_filter_leaves_faithfulness_on_all_images(joint: snellen.Run) -> None:
    strict = ask("explanation(support, filter=on, confidence=1)", report=False)
    assert of_faithfulness(strict) == of_faithfulness(joint)
    energy = [one for one in strict.results()["findings"] if one["name"] == "energy_pg"]
    assert [one["n"] for one in energy] == [0, 0]


def test_data_without_objects_are_refused_with_the_audit_that_needs_none() -> None:
    with pytest.raises(
        UserError, match="neither boxes nor masks .* or ask for the audit faithfulness, which needs none"
    ):
        snellen.audit(network(1, 0, 0), red_things(boxes=False), "explanation", quiet=True, report=False, device="cpu")
