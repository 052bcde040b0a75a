"""Alignment on real photographs: MobileNetV2 on pets, and on their twins into which a tag was pasted."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.data import from_arrays

FACTORY = Path(__file__).resolve().parents[2] / "examples" / "maintainers" / "shared_networks.py"
CORNERS = ("xmin", "ymin", "xmax", "ymax")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pets(shared: Path) -> list[dict[str, str]]:
    with (shared / "pets" / "boxes.csv").open() as file:
        return list(csv.DictReader(file))


def align(shared: Path, rows: list[dict[str, str]], file: str, **known: np.ndarray) -> dict[str, Any]:
    """The findings about MobileNetV2's maps on some photographs, by name."""
    content = {
        "images": np.stack([np.asarray(Image.open(shared / "pets" / row[file]).convert("RGB")) for row in rows]),
        "labels": np.array([row["species"] == "dog" for row in rows]).astype(np.int64),
        "classes": np.array(["cat", "dog"]),
        "ids": np.array([row["file"] for row in rows]),
        **known,
    }
    data = from_arrays(content, "pets", f"pets-{file}-{'-'.join(known)}")
    model = f"python:{FACTORY}:mobilenet_v2@whole"
    run = snellen.audit(
        {"mobilenet_v2": model}, data, "explanation(curves=off)", quiet=True, report=False, device="cpu"
    )
    return {one["name"]: one for one in run.results()["findings"] if one["audit"] == "explanation"}


@pytest.fixture(autouse=True)
def pack(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_SHARED", str(shared.parent))


def test_maps_of_mobilenet_lie_on_the_pets(shared: Path, pets: list[dict[str, str]]) -> None:
    """Measured: EnergyPG 0.473, EHR 0.429, mean IoU 0.584, peak on the pet 0.583; pets fill 0.299 of the images."""
    masks = np.stack([np.asarray(Image.open(shared / "pets" / row["mask"])) == 1 for row in pets])
    found = align(shared, pets, "file", masks=masks)
    assert found["energy_pg"]["n"] == 148
    assert found["energy_pg"]["facts"]["even"] == pytest.approx(0.299, abs=0.001)
    for name, value in {"energy_pg": 0.473, "ehr": 0.429, "wsol_iou": 0.584, "pointing_game": 0.583}.items():
        assert found[name]["value"] == pytest.approx(value, abs=0.02), name
    assert found["wsol_iou"]["facts"]["even"] == pytest.approx(0.533, abs=0.001)
    assert found["energy_pg"]["low"] > found["energy_pg"]["facts"]["even"]


def test_a_network_that_never_saw_the_tags_does_not_look_at_them(shared: Path, pets: list[dict[str, str]]) -> None:
    """Measured in the tag's box, which fills 0.027: 0.033 of the energy before it was pasted in, 0.029 after."""
    tagged = [row for row in pets if row["artifact_file"]]
    boxes = np.array([[float(row[f"artifact_{corner}"]) for corner in CORNERS] for row in tagged])
    plain, twins = (align(shared, tagged, file, boxes=boxes) for file in ("file", "artifact_file"))
    assert plain["energy_pg"]["n"] == twins["energy_pg"]["n"] == 74
    assert plain["energy_pg"]["facts"]["even"] == pytest.approx(0.027, abs=0.001)
    assert plain["energy_pg"]["value"] == pytest.approx(0.033, abs=0.005)
    assert twins["energy_pg"]["value"] == pytest.approx(0.029, abs=0.005)
    assert twins["energy_pg"]["value"] < plain["energy_pg"]["high"]  # nothing moved there
