"""Families of tests: equal models give a clear difference in no more than 5% of the reports, whatever the section compares."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from snellen.audits import Exam
from snellen.audits.alignment import SWEEP, Alignment, MapReading
from snellen.audits.alignment_facts import AlignmentDifferenceFacts
from snellen.audits.alignment_findings import NAMES, AlignmentPair, comparison_findings
from snellen.audits.edit_effects import EditLeftOut, effect_findings
from snellen.audits.families import SURE, corrected
from snellen.audits.occluders.ranks import Judged, ProxyFacts, proxy_findings
from snellen.audits.unsearched import UnsearchedImages
from snellen.distort import parse
from snellen.measure import accuracy, compare, proxy_taus

EXAM = Exam(classes={"test": "ab"}, side=32)
READINGS = [MapReading(EXAM.map(method=method), "box", 0.15, "all") for method in ("gradcam", "iba")]
IMAGES, REPORTS = 60, 250


def measured(random: np.random.Generator) -> Alignment:
    """A model whose maps lie on the objects by luck: its measures are independent of those of any other."""
    scores = [random.random((1, IMAGES)) for _ in range(5)]
    iou = random.random((1, 1 + len(SWEEP), IMAGES))
    boxes = tuple(np.array([[0, 0, 4, 4]]) for _ in range(IMAGES))
    ids = tuple(str(place) for place in range(IMAGES))
    energy, ehr, pointing, inside, whole = scores
    share, even = random.random(IMAGES), np.full((4, IMAGES), 0.5)
    return Alignment(
        ids, energy, ehr, pointing.round(), iou, inside, 1 + whole, share, even, boxes, np.zeros((IMAGES, 4)), (8, 8)
    )  # fmt: skip


def pairs_of(models: int, random: np.random.Generator) -> list[AlignmentPair]:
    """The pairs of one report: each model beside the first, by two methods."""
    pairs = []
    for reading in READINGS:
        first, *others = [measured(random) for _ in range(models)]
        names = [(f"m{place}", "m0") for place in range(1, models)]
        pairs += [AlignmentPair.of(EXAM, name, (own, first), reading) for name, own in zip(names, others)]
    return pairs


def test_equal_models_give_a_clear_difference_in_at_most_one_report_in_twenty() -> None:
    random = np.random.default_rng(1)
    alarms = []
    for _ in range(REPORTS):
        findings = comparison_findings(pairs_of(4, random))
        facts = [found.facts for found in findings if isinstance(found.facts, AlignmentDifferenceFacts)]
        assert len(facts) == 3 * 2 * len(NAMES)
        alarms.append(any(own.p_corrected is not None and own.p_corrected < SURE for own in facts))
    rate = accuracy(np.array(alarms, float))
    assert rate.low <= 0.05, f"{rate.value:.3f} ({rate.low:.3f} to {rate.high:.3f}) of the reports"
    assert rate.value <= 0.08  # without a family of all pairs and methods: a fifth and more


def test_a_true_difference_is_still_found_and_names_its_family() -> None:
    random = np.random.default_rng(2)
    *equal, last = pairs_of(4, random)
    better = {field.name: getattr(last.own, field.name) for field in fields(last.own)}
    better["energy_pg"] = last.beside.energy_pg + 0.2 + 0.05 * random.random((1, IMAGES))
    pair = AlignmentPair(last.model, last.other, Alignment(**better), last.beside, last.reading, None)
    found = [
        own.facts for own in comparison_findings([*equal, pair]) if isinstance(own.facts, AlignmentDifferenceFacts)
    ]
    assert sum(own.p_corrected is not None and own.p_corrected < SURE for own in found) == 1
    assert {own.corrected_over for own in found} == {
        "30 tests (differences of maps to the baseline: all measures, models and methods)"
    }


def test_effects_of_edits_are_one_family_over_all_models() -> None:
    random = np.random.default_rng(3)
    cell, others = EXAM.cell(parse("invert()")), UnsearchedImages(frozenset(map(str, range(40))))
    effects = [
        EditLeftOut(model, cell, "invert()", place, compare(random.random(40), random.random(40)), others)
        for model in ("a", "b")
        for place in range(5)
    ]
    findings = effect_findings(EXAM, effects)
    p = [effect.effect.p for effect in effects]
    assert [found.plain_facts["p_corrected"] for found in findings] == pytest.approx(corrected(p, "").p)
    assert {found.plain_facts["corrected_over"][:18] for found in findings} == {"10 tests (effects "}


def test_taus_of_all_types_and_levels_are_one_family() -> None:
    random = np.random.default_rng(4)
    judge = np.repeat(np.array(["real", "black", "white"], object), 30)
    every = [
        Judged("synthetic", level, tuple("abcdef"), (random.random((6, 90)) < 0.6).astype(float), judge, np.arange(90))
        for level in (1, 2)
    ]
    facts = [found.facts for found in proxy_findings(every) if isinstance(found.facts, ProxyFacts)]
    alone = [tau.p for judged in every for tau in proxy_taus(judged.correct, judge, "real", judged.group).values()]
    assert [own.p for own in facts] == pytest.approx(alone)
    assert [own.p_corrected for own in facts] == pytest.approx(corrected(alone, "").p)
    assert {own.corrected_over for own in facts} == {"4 tests (τ with real occlusion: all types and levels)"}
