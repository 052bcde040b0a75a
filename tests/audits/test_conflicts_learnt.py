"""Networks that learn from the same cue conflicts, by shape or by texture, and what shuffling leaves of each."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import snellen
from snellen.data.phantom import export
from snellen.train import Recipe, train


def conflicts(world: str, out: Path) -> dict[str, str]:
    """Data texts of an export of cue conflicts, labelled by shape and by texture."""
    export(world, "cue-conflict", out, limit=1800)
    with (out / "listing.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (out / "by-texture.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows({**row, "label": row["texture"]} for row in rows)
    return {"shape": f"cue:{out}", "texture": f"manifest:{out}/by-texture.csv"}


@pytest.mark.slow
def test_the_same_images_teach_shape_or_texture_and_shuffling_spares_the_texture(tmp_path):
    learnt = conflicts("phantom:train?size=32&n=1800", tmp_path / "train")
    shown = conflicts("phantom:test?size=32&n=300", tmp_path / "test")
    found = {}
    for cue, data in learnt.items():
        train(Recipe(epochs=10), snellen.load_data(data), tmp_path / cue, runs=1)
        model = f"{cue}={tmp_path / cue}/*.safetensors"
        for asked in {cue, "shape"}:  # on its own labels, and for the shape bias on those of shape
            run = snellen.audit(model, shown[asked], "shape", tmp_path / f"{cue}-{asked}", quiet=True, report=False)
            found |= {(cue, asked, one["name"]): one["value"] for one in run.results()["findings"]}
    assert found["shape", "shape", "shape_bias"] > 0.95
    assert found["texture", "shape", "shape_bias"] < 0.2
    for name in ("shuffled_accuracy", "soft_shuffled_accuracy"):
        kept = {cue: found[cue, cue, name] / found[cue, cue, "accuracy"] for cue in learnt}
        assert kept["shape"] < kept["texture"]
