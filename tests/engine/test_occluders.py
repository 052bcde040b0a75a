"""Occluders in a run: the hidden share of each object is stored, and images left out count nowhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import snellen
from snellen.data import load_data
from snellen.data.occluders import from_images
from snellen.data.phantom import World
from snellen.distort import View, parse

DATA = "phantom:test?size=64&n=20"
BOUNDED = ["box(diffuse_code, grey, 0.05, 0.95)", "gates(oblique, least=0.05, most=0.95)", "cutout_object(least=0.3)"]
TEXTS = [*BOUNDED, "box(synthetic_code, noise)", "gates(cross_hatch, 2, 6)", "lattice(0.25, 4)", "cutout_object()"]


def things() -> list[np.ndarray]:
    truth = World("train", size=32).truth(np.arange(5))
    return [np.dstack([alone, 255 * mask.astype(np.uint8)]) for alone, mask in zip(truth.alone, truth.full)]


def test_object_covered_is_the_share_of_the_mask_that_is_hidden(tmp_path: Path) -> None:
    """Counted by hand from the pixels that the distortion itself says are hidden, image by image."""
    pool = from_images(things())
    run = snellen.audit(
        "observer:shape",
        DATA,
        f"interference([{', '.join(TEXTS)}])",
        out=tmp_path / "run",
        occluders=pool,
        report=False,
    )
    data = load_data(DATA)
    photos = data.read(range(20))
    masks = np.stack([photo.maps["mask"] for photo in photos]).astype(bool)  # type: ignore[union-attr]
    images = torch.from_numpy(np.stack([photo.image for photo in photos])).permute(0, 3, 1, 2)  # type: ignore[union-attr]
    for text in TEXTS:
        distortion = parse(text)
        table = run.sql(
            "select distinct sample, covered, object_covered, excluded from shown join cells using (shown) "
            f"where distortion = '{distortion}' and seed = 0"
        ).set_index("sample")
        known = View.of(data.samples.ids, 0, masks=torch.from_numpy(masks), occluders=pool)
        cover = distortion.cover(images, known).numpy()  # type: ignore[attr-defined]
        excluded = known.notes.get("excluded", np.zeros(20, bool))
        assert len(table) == 20
        for row, sample in enumerate(data.samples.ids):
            hidden = sum(cover[row, y, x] for y, x in zip(*np.nonzero(masks[row]))) / masks[row].sum()
            assert table.object_covered[sample] == pytest.approx(hidden, abs=1e-6)
            assert table.covered[sample] == pytest.approx(cover[row].mean(), abs=1e-6)
            assert table.excluded[sample] == excluded[row]
        if text in BOUNDED:
            share = table.object_covered[~table.excluded]
            assert len(share) >= 15
            assert share.min() >= 0.05 - 1e-6


def test_what_hides_an_object_moves_along_with_it(tmp_path: Path) -> None:
    """Tiles of covered images in another order: each object is hidden as far as before, and so is each image."""
    still, shuffled = "occlude(0.4)", "occlude(0.4) | shuffle(4)"
    run = snellen.audit("observer:shape", DATA, f"interference([{still}, {shuffled}])", out=tmp_path, report=False)
    first, second = (
        run.sql(
            "select distinct sample, covered, object_covered from shown join cells using (shown) "
            f"where distortion = '{parse(text)}' and seed = 0 order by sample"
        )
        for text in (still, shuffled)
    )
    assert len(first) == 20
    assert first.object_covered.between(0.01, 0.99).sum() > 10
    pd.testing.assert_frame_equal(first, second)


def test_batches_of_another_size_show_the_same(tmp_path: Path) -> None:
    shares = []
    for size in (3, 20):
        run = snellen.audit(
            "observer:shape", DATA, f"interference([{', '.join(TEXTS)}])", out=tmp_path / str(size), report=False,
            batch_size=size, occluders=from_images(things()),
        )  # fmt: skip
        table = run.sql("select distinct shown, sample, object_covered from shown order by all")
        answers = run.sql("select cell, sample, pred from answers order by all")
        shares.append((table, answers))
    assert shares[0][0].equals(shares[1][0])
    assert shares[0][1].equals(shares[1][1])
