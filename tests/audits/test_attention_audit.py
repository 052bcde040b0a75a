"""Attention under occlusion: transformers whose attention is planted, so that every share is known beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import nn

import snellen
from snellen.attention.survey import REGIONS, AttentionMass
from snellen.audits import Exam, parse_audits
from snellen.audits.attention import AttentionFacts
from snellen.data import from_arrays
from snellen.data.dataset import Dataset, Samples
from snellen.distort import parse
from snellen.engine import AnswerBlock, Answers
from snellen.engine.keep import survey_checkpoint
from snellen.engine.requests.survey import SurveyTable
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.models import Model, from_torch

AUDIT = "attention(occluders=[lattice(0.5, 8), lattice(0.5, 4), lattice(0.75, 2)], examples=1)"
GATES = "gates(oblique, least=0.05, most=0.95)"
PATCH = 8


def planted(scale: float, name: str = "vit", depth: int = 2) -> Model:
    """A ViT with patches of 8 pixels whose tokens attend to others by the exponential of `scale` times their brightness: evenly
    at 0, to the brightest alone where it is large."""
    network = VisionTransformer(
        img_size=32, patch_size=PATCH, embed_dim=4, depth=depth, num_heads=1, num_classes=2, norm_layer=nn.Identity
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.patch_embed.proj.weight[0] = 1 / (3 * PATCH**2)  # the mean of a patch
        for block in network.blocks:
            block.attn.qkv.bias[0] = 2 * scale  # each query; 2 is the root of the head's width
            block.attn.qkv.weight[4, 0] = 1  # each key
        network.head.bias[0] = 1
    return from_torch(network, classes=["one", "two"], size=32, name=name, device="cpu")


def white_objects(count: int = 5) -> Dataset:
    """White objects of whole patches on black; the last image has none."""
    masks = np.zeros((count, 32, 32), bool)
    masks[:-1, 8:24, 8:24] = True
    masks[0, 16:24] = False  # two patches instead of four
    images = np.where(masks[..., None], np.uint8(255), np.uint8(0)).repeat(3, 3)
    content = {"images": images, "labels": np.arange(count) % 2, "masks": masks, "classes": np.array(["one", "two"])}
    return from_arrays(content, "arrays:white", "white")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    models = [planted(200, "object"), planted(0, "even")]
    return snellen.audit(models, white_objects(), AUDIT, tmp_path_factory.mktemp("attention") / "run", quiet=True)


def found(run: Run, model: str) -> dict[tuple[str, Any], dict[str, Any]]:
    """By region and size of the lattice; None is the clean image."""
    own = (one for one in run.results()["findings"] if one["audit"] == "attention" and one["model"] == model)
    return {(one["facts"]["region"], one["facts"]["px"]): one for one in own}


def test_attention_to_the_object_alone_has_the_shares_worked_out_by_hand(run: Run) -> None:
    values = {key: one["value"] for key, one in found(run, "object").items()}
    assert values["visible", None] == values["object", None] == pytest.approx(1)
    assert ("occluder", None) not in values
    # squares of a whole patch: half of the object's patches are white, the others grey and left alone
    assert [values[region, 8] for region in ("visible", "occluder", "background", "object")] == pytest.approx(
        [1, 0, 0, 1]
    )
    # smaller squares: each patch of the object is half, or three quarters, occluder
    assert [values[region, 4] for region in ("visible", "occluder", "background", "object")] == pytest.approx(
        [0.5, 0.5, 0, 1]
    )
    assert [values[region, 2] for region in ("visible", "occluder", "background")] == pytest.approx([0.25, 0.75, 0])


def test_even_attention_has_the_shares_of_the_image(run: Run) -> None:
    findings = found(run, "even")
    for one in findings.values():
        assert one["value"] == pytest.approx(one["facts"]["even"])
        assert one["n"] == 4  # the image without an object does not count
    area = (2 + 3 * 4) / 4 / 16  # of the objects, in patches
    assert findings["object", 4]["value"] == pytest.approx(area)
    assert findings["visible", 4]["value"] == pytest.approx(area / 2)
    assert findings["occluder", 2]["value"] == pytest.approx(0.75)


def test_the_best_that_patches_allow_is_known(run: Run) -> None:
    best = {key: one["facts"].get("best") for key, one in found(run, "object").items()}
    assert (best["visible", 8], best["occluder", 8]) == (1, 0)
    assert (best["visible", 4], best["occluder", 4]) == (0.5, 0.5)
    assert (best["visible", 2], best["occluder", 2]) == (0.25, 0.75)
    assert found(run, "object")["visible", 4]["facts"]["patch"] == [[8, 8], [8, 8]]


@pytest.mark.parametrize(("side", "sizes"), [(32, [1, 2, 4, 8, 16]), (31, [1, 2, 4, 8]), (8, [1, 2, 4])])
def test_without_occluders_the_published_lattices_are_shown_that_have_two_squares_across(
    side: int, sizes: list[int]
) -> None:
    (audit,) = parse_audits("attention")
    shown = [str(cell.distortion) for cell in audit.cells(Exam(classes={"test": ("a", "b")}, side=side))]
    assert shown == ["none()", *(str(parse(f"lattice(0.5, {px})")) for px in sizes)]


def test_the_accuracy_beside_a_share_is_that_under_its_occluder() -> None:
    """Answers given by hand: all right on clean images, one in four under one lattice, two in four under the other."""
    (audit,) = parse_audits("attention(occluders=[lattice(0.5, 8), lattice(0.5, 4)], examples=0)")
    ids = tuple("pqrs")
    exam = Exam(classes={"test": ("a", "b")}, side=32, samples={"test": Samples(ids, np.zeros(4, np.int64))})
    shares = dict.fromkeys([*REGIONS, *(f"{one}_area" for one in REGIONS), "most_visible", "least_occluder"], 0.5)
    table = SurveyTable([{"sample": one, **shares} for one in ids], {"layer": ["blocks.0.attn"], "patch": [(8, 8)]})
    blocks = {}
    for cell, right in zip(audit.cells(exam), (4, 1, 2)):
        pred = (np.arange(4) >= right).astype(int)[None]
        score, seen = (pred == 0).astype(float), np.ones(4, bool)
        labels, nowhere = np.zeros(4, int), np.full(4, np.nan)
        blocks[cell] = AnswerBlock(pred, pred, score, score, score, labels, nowhere, seen, np.array(ids, object))
    outcomes = {cell: [table] for cell in audit.surveys(exam)}
    told = audit.conclude(exam, Answers("m", ["0"], blocks, exam.classes, outcomes=outcomes))
    better = {finding.name: finding.better for finding in told}
    assert better == {
        "attention_visible": "higher",
        "attention_occluder": "lower",
        "attention_background": "",
        "attention_object": "higher",
    }
    facts = [finding.facts for finding in told]
    accuracies = {(own.px, own.accuracy) for own in facts if isinstance(own, AttentionFacts)}
    assert accuracies == {(None, 1.0), (8, 0.25), (4, 0.5)}


def test_shares_are_a_table_and_the_page_shows_them(run: Run) -> None:
    rows = run.sql(
        "select layer, sum(visible + occluder + background) as whole, count(visible) as n from surveys group by layer"
    )
    assert sorted(rows["layer"]) == ["blocks.0.attn", "blocks.1.attn"]
    assert np.allclose(rows["whole"], 2 * 4 * 4)  # models × conditions × images with an object
    page = (run.path / "report.html").read_text()
    assert "<h2>Attention under occlusion</h2>" in page
    assert page.count("attention at blocks.1.attn") == 2 * 4
    text = run.report(run.path / "again.md").read_text()
    assert "the visible object gets 100.0% (even 10.9%) under grey lattice of 8 px over 50%" in text
    assert ", chosen as the highest and the lowest of 3 on these images." in text


def test_a_second_audit_asks_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AttentionMass, "run", lambda *_: pytest.fail("asked again"))
    models = [planted(200, "object"), planted(0, "even")]
    again = snellen.audit(models, white_objects(), AUDIT, run.path, quiet=True, report=False)
    assert again.results()["findings"] == run.results()["findings"]


def test_what_is_hidden_is_what_the_answers_were_given_to(tmp_path: Path) -> None:
    """Drawn occluders: the same pixels as in the cell of the same distortion."""
    model = from_torch(
        VisionTransformer(img_size=32, patch_size=8, embed_dim=8, depth=1, num_heads=2, num_classes=12), size=32
    )
    audits = f"attention(occluders=[{GATES}], layers=[-1], examples=0)"
    run = snellen.audit(
        model, "phantom:test?size=32&n=20", audits, tmp_path / "run", quiet=True, report=False, batch_size=8
    )
    rows = run.sql(
        "select u.occluder_area as area, s.covered, s.excluded, u.occluder from surveys u join cells c using (cell) "
        "join cells d on d.distortion like 'gates%' join shown s on s.shown = d.shown and s.sample = u.sample "
        "where c.distortion like '%gates%'"
    )
    assert len(rows) == 20
    counted = ~rows["excluded"].astype(bool)
    assert np.allclose(rows["area"][counted], rows["covered"][counted])
    assert np.isnan(rows["occluder"][~counted].astype(float)).all()
    below = rows["area"][counted].mean()
    assert 0.05 < below < 0.95


def test_a_stopped_walk_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_checkpoint, "EVERY", 0.0)
    model, data, audits = planted(3), white_objects(7), "attention(occluders=[lattice(0.5, 4)], examples=1)"
    whole = snellen.audit(model, data, audits, tmp_path / "whole", quiet=True, report=False, batch_size=2)
    looks: list[int] = []
    look = AttentionMass.run.__globals__["_Walker"]._look

    def stopped(walker: Any, batch: Any) -> Any:
        looks.append(len(batch.places))
        if len(looks) == 3:
            raise KeyboardInterrupt
        return look(walker, batch)

    monkeypatch.setattr(AttentionMass.run.__globals__["_Walker"], "_look", stopped)
    with pytest.raises(KeyboardInterrupt):
        snellen.audit(model, data, audits, tmp_path / "run", quiet=True, report=False, batch_size=2)
    again = snellen.audit(model, data, audits, tmp_path / "run", quiet=True, report=False, batch_size=2)
    assert sum(looks) == 2 + 2 + 2 + (3 + 1) + (
        7 + 1
    )  # two batches, the stopped one, the rest of the walk, the other condition
    assert again.results()["findings"] == whole.results()["findings"]


def test_what_cannot_be_measured_is_refused_in_one_line(tmp_path: Path) -> None:
    cnn = from_torch(nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)), size=32)
    with pytest.raises(UserError, match="no self-attention that can be read"):
        snellen.audit(cnn, white_objects(), "attention", tmp_path / "a", quiet=True)
    names = np.array(["one", "two"])
    bare = {"images": np.zeros((4, 32, 32, 3), np.uint8), "labels": np.arange(4) % 2, "classes": names}
    with pytest.raises(UserError, match="needs the objects' masks, which arrays:bare does not have"):
        snellen.audit(planted(1), from_arrays(bare, "arrays:bare", "bare"), "attention", tmp_path / "b", quiet=True)
    with pytest.raises(UserError, match="expected distortions that cover pixels, such as lattice"):
        parse_audits("attention(occluders=[shuffle(4)])")
    with pytest.raises(UserError, match="expected occluders that need no donors"):
        parse_audits("attention(occluders=[occlude(0.3, donor)])")
    with pytest.raises(UserError, match="expected a layer of attention from -2 to 1, got 5"):
        snellen.audit(planted(1), white_objects(), "attention(layers=[5])", tmp_path / "c", quiet=True)
    with pytest.raises(UserError, match="expected examples"):
        parse_audits("attention(occluders=[none()], examples=-1)")
