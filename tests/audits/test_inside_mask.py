"""Maps inside the masks as an audit: known networks, hand-made maps, maps that were never stored, resuming."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import snellen
from snellen.audits import Exam, InsideMaskAudit, parse_audits
from snellen.audits.inside_mask import AT_ONCE, Shares
from snellen.data import load_data
from snellen.data.canvas import Canvas, render
from snellen.data.dataset import Dataset, Photo, Samples, Unreadable
from snellen.engine import Answers
from snellen.engine.ask.maps import Maps
from snellen.engine.keep.map_reader import MapReader, masked_maps
from snellen.engine.keep.store import Store
from snellen.errors import UserError
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.explain import gradcam
from snellen.measure import accuracy, inside_mask, paired_difference
from snellen.models import from_callable, from_torch
from snellen.models.zoo import NETWORKS

SIDE = 16


class Colour(nn.Module):
    """Its features are one mix of the colours, and both answers follow it: its map is that mix."""

    def __init__(self, *mix: float) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 1, 1, bias=False)
        self.features.weight.data = torch.tensor(mix, dtype=torch.float32).view(1, 3, 1, 1)
        self.head = nn.Linear(1, 2, bias=False)
        self.head.weight.data = torch.tensor([[1.0], [2.0]])

    def forward(self, images):
        return self.head(self.features(images).mean((2, 3)))


def network(*mix: float):
    return from_torch(Colour(*mix), classes=["a", "b"], size=SIDE, device="cpu")


def red_things(count: int = 6, bad: tuple[int, ...] = (), **more: Any) -> Dataset:
    """A red square of 4 × 4 to 9 × 9 pixels, which the mask covers, on blue; green is nowhere."""

    def read(rows):
        photos: list[Photo | Unreadable] = []
        for row in rows:
            mask = np.zeros((SIDE, SIDE), bool)
            mask[2 : 6 + row % 6, 3 : 7 + row % 6] = True
            image = np.zeros((SIDE, SIDE, 3), np.uint8)
            image[mask, 0], image[~mask, 2] = 200, 100
            photos.append(Unreadable("torn") if row in bad else Photo(image, str(row), maps={"mask": mask}))
        return photos

    samples = Samples(tuple(f"<{row}>" for row in range(count)), np.ones(count, np.int64))
    given = {"facts": frozenset({"masks"}), "size": (SIDE, SIDE), **more}
    return Dataset("things", ("a", "b"), samples, f"things-{count}-{bad}", read, **given)


def ask(models: Any, data: Any, out: Path | None = None, **how: Any) -> dict[tuple[str, str], dict[str, Any]]:
    run = snellen.audit(models, data, "inside_mask", out, quiet=True, report=False, device="cpu", **how)
    return {(one["model"], one["name"]): one for one in run.results()["findings"]}


def test_the_share_inside_is_that_of_what_each_network_looks_at(tmp_path) -> None:
    models = {"red": network(1, 0, 0), "blue": network(0, 0, 1), "green": network(0, 1, 0)}
    findings = ask(models, red_things())
    assert findings["red", "inside_mask"]["value"] == pytest.approx(1)
    assert findings["blue", "inside_mask"]["value"] == pytest.approx(0)
    assert findings["green", "inside_mask"]["value"] is None  # it saw nothing anywhere
    assert findings["green", "inside_mask"]["facts"]["empty_maps"] == 6
    by_hand = np.mean([(4 + row) ** 2 / SIDE**2 for row in range(6)])
    assert findings["red", "inside_mask"]["facts"]["mask_share"] == pytest.approx(by_hand)
    assert findings["blue", "inside_mask_difference"]["value"] == pytest.approx(-1)
    assert findings["blue", "inside_mask_difference"]["facts"] == {"other": "red"}
    assert findings["blue", "inside_mask_difference"]["audit"] == "inside_mask"
    assert ("red", "inside_mask_difference") not in findings
    of = {one["facts"]["of"] for one in findings.values() if one["name"] == "difference"}
    assert "inside_mask" not in of  # its difference is not one of accuracies


def test_shares_between_by_hand_with_runs_and_an_image_that_cannot_be_read() -> None:
    data, shard = red_things(48, bad=(7,)), 20
    findings = ask({"grey": [network(1, 0, 1), network(1, 0, 0)]}, data, shard=shard)["grey", "inside_mask"]
    inside = np.array([(4 + row % 6) ** 2 for row in range(48) if row != 7])
    by_hand = 200 * inside / (200 * inside + 100 * (SIDE**2 - inside))
    assert findings["n"] == 47
    assert findings["per_run"] == pytest.approx([by_hand.mean(), 1], abs=1e-3)
    examples = findings["facts"]["examples"]
    assert [one["sample"] for one in examples] == [f"<{row}>" for row in range(17) if row != 7]
    assert [one["inside"][0] for one in examples] == pytest.approx(by_hand[:16].tolist(), abs=1e-3)


def test_the_numbers_are_those_of_maps_that_were_never_stored_up_to_the_rounding_of_bytes() -> None:
    data = load_data("phantom:test?size=24&n=40")
    torch.manual_seed(0)
    models = {f"m{i}": from_torch(NETWORKS["smallnet"](12), size=24, name=f"m{i}", device="cpu") for i in range(2)}
    findings = ask(models, "phantom:test?size=24&n=40")
    photos = [render(photo, Canvas(24, 24, "crop", 24)) for photo in data.read(range(40)) if isinstance(photo, Photo)]
    pixels = torch.from_numpy(np.stack([photo.image for photo in photos]))
    masks = np.stack([photo.maps["mask"].astype(bool) for photo in photos])
    shares = {name: inside_mask(gradcam(model, pixels).numpy(), masks) for name, model in models.items()}
    for name, inside in shares.items():
        estimate = accuracy(inside[None])
        own = findings[name, "inside_mask"]
        assert [own["value"], own["low"], own["high"]] == pytest.approx(
            [estimate.value, estimate.low, estimate.high], abs=0.01
        )
        assert (own["n"], own["on"], own["distortions"]) == (estimate.n, "", [])
        assert own["facts"]["mask_share"] == pytest.approx(masks.mean((1, 2)).mean())
        assert own["facts"]["empty_maps"] == np.isnan(inside).sum()
    difference = paired_difference(shares["m1"][None], shares["m0"][None])
    own = findings["m1", "inside_mask_difference"]
    assert [own["value"], own["low"], own["high"]] == pytest.approx(
        [difference.value, difference.low, difference.high], abs=0.01
    )


def hand_made(monkeypatch: pytest.MonkeyPatch, stored: dict[str, Maps]) -> None:
    """Maps by key in the place of stored ones, in two shards."""

    def shards(store: Store, key: str):
        ids, maps = stored[key].ids, stored[key].maps
        return iter([Maps(ids[:2], maps[:2], 2), Maps(ids[2:], maps[2:], 2)])  # two images per shard, mapped or not

    monkeypatch.setattr("snellen.engine.keep.map_reader.stored_maps", shards)


def test_hand_made_maps_are_measured_on_each_runs_own_canvas(monkeypatch, tmp_path) -> None:
    data = red_things(4)
    draw = np.random.default_rng(0)
    canvases = {"a": Canvas(SIDE, SIDE, "native"), "b": Canvas(8, 8, "crop", 12)}
    ids = np.array(data.samples.ids, object)
    maps = {key: draw.integers(0, 256, (4, one.height, one.width), np.uint8) for key, one in canvases.items()}
    hand_made(monkeypatch, {"a": Maps(ids, maps["a"]), "b": Maps(ids[[0, 2, 3]], maps["b"][[0, 2, 3]])})
    rows = {sample: row for row, sample in enumerate(ids)}
    readers = [MapReader(Store(tmp_path), key, data, canvas, rows) for key, canvas in canvases.items()]
    both = [[], []]
    for parts in masked_maps(readers):
        for number, part in enumerate(parts):
            assert part.maps.shape == part.masks.shape
            both[number] += list(zip(part.ids, inside_mask(part.maps, part.masks)))
    assert (
        [sample for sample, _ in both[0]] == [sample for sample, _ in both[1]] == ["<0>", "<3>"]
    )  # whom both have, by shard
    mask = data.read([3])[0].maps["mask"]  # type: ignore[union-attr]
    assert dict(both[0])["<3>"] == pytest.approx(maps["a"][3][mask].sum() / maps["a"][3].sum())
    (image,) = snellen.data.canvas.render(data.read([3])[0], canvases["b"]).maps.values()  # type: ignore[arg-type]
    assert dict(both[1])["<3>"] == pytest.approx(maps["b"][3][image].sum() / maps["b"][3].sum())


def test_a_resumed_run_asks_nothing_and_keeps_its_maps_and_pictures(tmp_path) -> None:
    models, data = {"red": network(1, 0, 0)}, red_things(AT_ONCE + 8)
    run = snellen.audit(models, data, "inside_mask", tmp_path / "run", quiet=True, device="cpu", shard=16)
    assert len(run.maps("red").ids) == len(data)
    facts = run.findings().query("name == 'inside_mask'").iloc[0]
    assert facts["value"] == pytest.approx(1)
    request = AuditRequest(models=(models,), data=data, audits=("inside_mask",), out=run.path, device="cpu")
    assert prepare(request).plan().forward_passes == 0
    before = run.results()["findings"]
    assert (
        snellen.audit(models, data, "inside_mask", run.path, quiet=True, device="cpu").results()["findings"] == before
    )
    assert "Share of the map inside the true mask" in (run.path / "report.html").read_text()


def test_groups_of_images_widen_the_interval() -> None:
    data, grey = red_things(36), {"grey": network(1, 0, 1)}
    clips = replace(data, samples=replace(data.samples, columns={"group": np.arange(36) % 6}), fingerprint="clips")
    alone, grouped = (ask(grey, one)["grey", "inside_mask"] for one in (data, clips))
    assert grouped["value"] == alone["value"]
    assert grouped["high"] - grouped["low"] > 1.5 * (alone["high"] - alone["low"])


def test_data_without_masks_and_models_without_gradients_are_refused(tmp_path) -> None:
    with pytest.raises(UserError, match="things has no masks to compare maps with; give data that have"):
        ask({"red": network(1, 0, 0)}, red_things(facts=frozenset()), tmp_path / "a")
    rule = from_callable(lambda images: np.full((len(images), 2), 0.5), size=SIDE, name="rule", version="1")
    with pytest.raises(UserError, match="a map by gradcam needs the gradients of a torch network, which 'rule' is not"):
        ask({"rule": rule}, red_things(), tmp_path / "b")
    assert not list(tmp_path.iterdir())


def test_the_audit_is_asked_for_by_name_and_takes_a_layer() -> None:
    assert parse_audits("inside_mask(-2)") == [InsideMaskAudit(-2)]
    assert parse_audits("inside_mask(stage3)") == [InsideMaskAudit("stage3")]
    assert not InsideMaskAudit().suits(load_data("phantom:test?n=9"))


def test_two_models_are_compared_on_the_images_that_both_have_each_with_itself() -> None:
    """The models have maps of other images, listed in another order: 0.9 − 0.5, 0.7 − 0.4 and 0.3 − 0.1 by hand."""
    audit, exam = InsideMaskAudit(), Exam(classes={"test": ("a", "b")}, side=SIDE)
    maps = {
        "first": Shares(("r", "s", "t", "u"), np.array([[0.4, 0.0, 0.1, 0.5]]), np.full(4, 0.2)),
        "second": Shares(("x", "u", "r", "t"), np.array([[1.0, 0.9, 0.7, 0.3]]), np.full(4, 0.2)),
    }
    everyone = [Answers(name, ["0"], {}, exam.classes) for name in maps]
    for answers in everyone:
        answers.once(audit, lambda own=maps[answers.model]: own)
    (difference,) = audit.compare(exam, everyone, [])
    by_hand = paired_difference([0.9, 0.7, 0.3], [0.5, 0.4, 0.1])
    assert (difference.model, difference.n, difference.value) == ("second", 3, pytest.approx(0.3))
    assert (difference.low, difference.high) == pytest.approx((by_hand.low, by_hand.high))
