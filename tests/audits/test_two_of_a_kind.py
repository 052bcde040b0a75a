"""Two audits of one kind in one run: each section, row and label shows the numbers of its own settings alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

import snellen
from snellen.audits import AUDITS
from snellen.cli.printing import PrintChoice, print_run
from snellen.report.blocks import Block
from snellen.report.chapters import chapters
from snellen.report.findings_table import finding_rows
from snellen.report.results import Results
from snellen.report.sections import SECTIONS, section_sentences
from snellen.report.sections.section import Section

from .test_attention_audit import planted, white_objects

PHANTOM = "phantom:test?size=32&n=24"
OBSERVERS = {"object": "observer:texture", "strip": "observer:border"}
UNITS = {share: f"python:snellen.models.planted:concept_units@{share}" for share in ("0.5", "0.3")}
TWICE = {
    "occlusion": ("occlusion(areas=[0.3])", "occlusion(areas=[0.3, 0.6])"),
    "occluders": (
        "occluders(synthetic=[black], diffuse=[solid], lattices=[0.5], px=[2])",
        "occluders(synthetic=[black, white], diffuse=[solid], lattices=[0.5], px=[2], bins=[[0, 0], [0.1, 0.5], [0.5, 0.9]])",
    ),
    "interference": ("interference(grid=2)", "interference(grid=4)"),
    "shape": ("shape(grid=2)", "shape(grid=4)"),
    "augmentation": ("augmentation(kinds=[mix(cutmix)])", "augmentation(kinds=[mix(cutmix), mix(mixup)])"),
    "background": ("background(bins=4)", "background(bins=6, sigma=3)"),
    "adversarial_backgrounds": ("adversarial_backgrounds(backgrounds=3)", "adversarial_backgrounds(backgrounds=12)"),
    "inside_mask": ("inside_mask(method=gradcam)", "inside_mask(method=gradcam, layer=units)"),
    "explanation": (
        "explanation(method=support, curves=off, threshold=0.1)",
        "explanation(method=support, curves=off, threshold=0.9, boxes=mask)",
    ),
    "faithfulness": (
        "faithfulness(method=support, tile=4, error=5, repeats=2)",
        "faithfulness(method=support, tile=8, error=5, repeats=2)",
    ),
    "shift": (
        "shift(length=1, random=8, evaluations=12, images=12, population=4)",
        "shift(length=3, random=8, evaluations=12, images=12, population=4)",
    ),
    "concepts": ("concepts(layer=units, threshold=0.04)", "concepts(layer=units, threshold=0.9)"),
    "attention": ("attention(occluders=[lattice(0.5, 8)], examples=1)", "attention(occluders=[lattice(0.75, 8)], examples=1)"),
    "calibration": ("calibration(bins=3)", "calibration(bins=15)"),
    "corruptions": ("corruptions([fog], severities=[1])", "corruptions([fog], severities=[5])"),
    "delivery": ("delivery([jpeg(50)])", "delivery([jpeg(50), rescale(0.5)])"),
}  # fmt: skip


def ask(kind: str, *audits: str) -> Results:
    models: Any = {
        "concepts": UNITS,
        "inside_mask": UNITS,
        "attention": {"even": planted(0.0, "even"), "bright": planted(9.0, "bright")},
    }
    data = white_objects(12) if kind == "attention" else PHANTOM
    run = snellen.audit(models.get(kind, OBSERVERS), data, ",".join(audits), quiet=True, device="cpu", report=False)
    return Results.of(run)


def test_every_audit_is_asked_twice() -> None:
    assert set(TWICE) == set(AUDITS) - {"replies"}  # which has no settings


@pytest.fixture(scope="module", params=TWICE)
def three(request: pytest.FixtureRequest) -> tuple[str, Results, list[Results]]:
    """A run with two audits of a kind, and one with each of them alone."""
    kind: str = request.param
    return kind, ask(kind, *TWICE[kind]), [ask(kind, audit) for audit in TWICE[kind]]


def test_no_two_findings_have_one_name_model_and_label(three: tuple[str, Results, list[Results]]) -> None:
    kind, both, _ = three
    words = [(finding.name, finding.model, finding.on, finding.label) for finding in both.of_audit(kind)]
    assert sorted(words) == sorted(set(words))


def test_each_audit_finds_what_it_finds_alone(three: tuple[str, Results, list[Results]]) -> None:
    kind, both, alone = three
    for results, settings in zip(alone, both.settings_of(kind) or ["", ""]):
        own = both.with_settings(kind, settings) if settings else both
        found = {_numbers(finding) for finding in own.of_audit(kind)}
        assert {_numbers(finding) for finding in results.of_audit(kind)} <= found
        assert not settings or len(found) == len({_numbers(finding) for finding in results.of_audit(kind)})


def test_each_section_and_sentence_is_that_of_its_own_audit(three: tuple[str, Results, list[Results]]) -> None:
    kind, both, alone = three
    if not (every := both.settings_of(kind)):
        return  # their findings have labels of their own, and are shown together
    blocks = SECTIONS.get(kind, Section()).blocks
    apart = [_tokens(blocks(results), every) for results in alone]
    assert [_tokens(blocks(both.with_settings(kind, settings)), every) for settings in every] == apart
    assert not sum(apart, Counter()) - _tokens(chapters(both, finding_rows(both)), every)
    for model in both.models:
        said = {_plain(text, every) for some in section_sentences(both, model).values() for text in some}
        for results in alone:
            assert said >= {text for some in section_sentences(results, model).values() for text in some}


def test_no_row_of_the_table_is_lost(three: tuple[str, Results, list[Results]]) -> None:
    kind, both, _ = three
    shown = [finding for rows in finding_rows(both).values() for row in rows for finding in row.findings.values()]
    section = SECTIONS.get(kind)
    hidden = section.elsewhere if section else frozenset()
    own = [finding for finding in both.of_audit(kind) if finding.model in both.models and finding.name not in hidden]
    assert len([finding for finding in shown if finding.audit == kind]) == len(own)


def _numbers(finding: Any) -> tuple[Any, ...]:
    return finding.name, finding.model, finding.on, finding.value, finding.low, finding.high, finding.n


def _tokens(blocks: Sequence[Block], settings: list[str]) -> Counter[str]:
    """The words and numbers of blocks; what all audits of a kind found alike comes first, so that their order may differ."""
    shown = re.sub(r"\bHeading\b|level=\d|code=", "", str(blocks))  # a chapter has one as its title, others lower
    return Counter(re.findall(r"[\w.−-]+", _plain(shown, settings)))


def _plain(text: str, settings: list[str]) -> str:
    """What is shown, without the settings in labels and headings."""
    return re.sub("|".join(rf" \({re.escape(own)}\)" for own in settings), "", text)


def test_faithfulness_within_explanation_is_told_from_one_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    within = "explanation(method=support)"
    run = snellen.audit(
        OBSERVERS, PHANTOM, f"{within},faithfulness(method=support, tile=4)", quiet=True, device="cpu", report=False
    )
    results = Results.of(run)
    assert results.settings_of("faithfulness") == ["tile=0", "tile=4"]
    (difference,) = results.with_settings("faithfulness", "tile=4").of_model("object − strip")[:1]
    assert difference.label.endswith("(tile=4)")
    titles = [chapter.title for chapter in chapters(results, finding_rows(results))]
    assert {"Faithfulness of the maps (tile=0)", "Faithfulness of the maps (tile=4)"} <= set(titles)
    terms = section_sentences(results, "object")
    assert {"Faithful maps (tile=0)", "Faithful maps (tile=4)"} <= set(terms)
    print_run(run, PrintChoice(every=True))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("inter_model_deletion ")]
    labels = [line.split("  ")[-1].strip() for line in lines]
    assert len(lines) == 4
    assert len(set(labels)) == 2
