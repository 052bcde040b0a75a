"""Backgrounds through the engine: donors from the test data, whole pools, and what the shown table says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import snellen
from snellen.data import Canvas, from_arrays, load_data
from snellen.engine.ask.canvas_pools import Pool, donor_pool
from snellen.errors import UserError
from snellen.models.observers import background as background_observer

KINDS = ("mixed_same", "mixed_rand", "mixed_next", "only_fg", "only_bg_t")
AUDIT = "interference([" + ", ".join(f"background({kind})" for kind in KINDS) + "])"


def test_an_audit_borrows_from_the_test_data_and_tells_from_whom(tmp_path: Path) -> None:
    """An observer of scenes on a world whose scene tells the class: right on mixed_same alone of the mixed ones."""
    world = load_data("phantom:test?size=32&n=60&background_bias=1")
    run = snellen.audit("observer:background", world, AUDIT, out=tmp_path / "run", report=False)
    shown = run.sql("select distortion, sample, donor, donor_class, excluded from shown join cells using (shown)")
    label = {sample: world.classes[k] for sample, k in zip(world.samples.ids, world.samples.labels)}
    mixed = shown[shown.distortion.str.contains("mixed")]
    assert (mixed.donor.map(lambda donor: label.get(donor, "")) == mixed.donor_class).all()
    same = mixed[mixed.distortion.str.contains("mixed_same")]
    assert (same.donor_class == same["sample"].map(label)).all()
    following = dict(zip(world.classes, [*world.classes[1:], world.classes[0]]))
    after = mixed[mixed.distortion.str.contains("mixed_next") & ~mixed.excluded]
    assert (after.donor_class == after["sample"].map(label).map(following)).all()
    score = run.predictions().groupby("distortion").score.mean()
    by_kind = {kind: score[next(d for d in score.index if f"kind={kind}," in d)] for kind in KINDS}
    assert by_kind["mixed_same"] == 1
    assert by_kind["mixed_next"] == 0
    assert by_kind["only_bg_t"] == 1


def test_donors_of_other_classes_get_numbers_behind_those_of_the_test_data() -> None:
    images = np.arange(4 * 6 * 6 * 3, dtype=np.uint8).reshape(4, 6, 6, 3)
    held = {
        "images": images, "labels": np.array([0, 1, 2, 1]), "classes": np.array(["sea", "cat", "dog"]),
        "boxes": np.tile([[[1.0, 1, 3, 3]]], (4, 1, 1)),
    }  # fmt: skip
    pool = donor_pool(
        from_arrays(held, "m", "f"), Pool(Canvas(6, 6, "native"), True), torch.device("cpu"), ("dog", "cat")
    )
    assert pool.classes == ("dog", "cat", "sea")
    assert pool.labels is not None
    assert pool.labels.tolist() == [2, 1, 0, 1]
    assert pool.order == 2
    assert pool.named[1].tolist() == ["sea", "cat", "dog", "cat", ""]


def test_donors_without_boxes_or_masks_are_refused(tmp_path: Path) -> None:
    held = {"images": np.zeros((4, 32, 32, 3), np.uint8), "labels": np.zeros(4, np.int64)}
    with pytest.raises(UserError, match="needs donors whose objects' boxes or masks are known"):
        snellen.audit(
            "observer:background", "phantom:test?size=32&n=12", "interference([background()])", out=tmp_path / "run",
            donors=from_arrays(held, "memory:x", "f"),
        )  # fmt: skip


def test_masks_alone_are_enough_for_boxes(tmp_path: Path) -> None:
    world = load_data("phantom:test?size=32&n=12")
    photos = world.read(range(12))
    held = {
        "images": np.stack([p.image for p in photos]),  # type: ignore[union-attr]
        "masks": np.stack([p.maps["mask"] for p in photos]),  # type: ignore[union-attr]
        "labels": world.samples.labels, "classes": np.array(world.classes),
    }  # fmt: skip
    data = from_arrays(held, "memory:masks", "masks")
    run = snellen.audit(
        {"scenes": background_observer()}, data, "interference([background(only_bg_b), background()])",
        out=tmp_path / "run", report=False,
    )  # fmt: skip
    shown = run.sql("select object_covered from shown join cells using (shown) where distortion like '%only_bg_b%'")
    assert (shown.object_covered == 1).all()
