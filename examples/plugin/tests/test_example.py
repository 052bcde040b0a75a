"""The plug-in does what its help says; run it where the package and snellen are installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import snellen
from snellen.errors import UserError


def test_every_other_row_is_black_and_the_rest_as_it_was() -> None:
    images = torch.full((2, 3, 4, 4), 9, dtype=torch.uint8)
    lined = snellen.distort.apply("scanlines(2)", images)
    assert lined[0, 0, :, 0].tolist() == [0, 9, 0, 9]
    assert images.min() == 9
    assert str(snellen.distort.parse("scanlines")) == "scanlines(every=4)"


def test_the_model_knows_every_image_of_the_data() -> None:
    data, model = snellen.load_data("shades:20?seed=3"), snellen.load_model("threshold:0.5")
    images = torch.from_numpy(np.stack([photo.image for photo in data.read(range(20))])).permute(0, 3, 1, 2)
    assert model(images).argmax(1).tolist() == data.samples.labels.tolist()
    assert model.classes == data.classes == ("dark", "bright")


def test_a_text_that_says_too_little_is_refused() -> None:
    with pytest.raises(UserError, match="such as threshold:0.5, got 'threshold:high'"):
        snellen.load_model("threshold:high")
    with pytest.raises(UserError, match="such as shades:200"):
        snellen.load_data("shades:many")


def test_an_audit_finds_what_black_rows_cost(tmp_path: Path) -> None:
    """All rows black: every image is dark, so the bright half is lost."""
    run = snellen.audit("threshold:0.5", "shades:40", "row_loss([1, 32])", tmp_path / "run", quiet=True, report=False)
    losses = {finding.label: finding.value for finding in run.stored_findings() if finding.name == "row_loss"}
    assert losses == {"Accuracy lost to 1 black row of 1": 0.5, "Accuracy lost to 1 black row of 32": 0}
