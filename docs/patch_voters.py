"""`python docs/patch_voters.py`: write docs/images/patch_voters.png, figure 15 of Kassaw et al. 2024 for voters of patches."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch
from PIL import Image

import snellen
from snellen.calibrate.ladder import CHANCE
from snellen.calibrate.series import VOTERS_WORLD
from snellen.calibrate.truths import FREE, IMAGES, voting_share
from snellen.distort import Lattice, View
from snellen.models import observers

FILE = Path(__file__).parent / "images" / "patch_voters.png"
PATCHES, SIZES = (1, 2, 4, 8), (1, 2, 4, 8)
AXIS = {"title": "accuracy", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}}


def rows() -> list[dict[str, Any]]:
    """Accuracy of each voter under each lattice, and what it must be by construction."""
    data = snellen.load_data(f"phantom:test?size=32&n={IMAGES}&{VOTERS_WORLD}")
    assert data.read_together is not None
    images = torch.from_numpy(data.read_together(range(IMAGES)).images).permute(0, 3, 1, 2).contiguous()
    view, labels = View.of(data.samples.ids), torch.from_numpy(data.samples.labels)
    points = []
    for share in FREE:
        for px in SIZES:
            shown = Lattice(share, px)(images, view)
            for patch in PATCHES:
                right = (observers.patches(patch)(shown).argmax(1) == labels).float().mean()
                votes = voting_share(patch, share, px)
                truth = votes + (1 - votes) * CHANCE
                points.append({"share": share, "px": px, "patch": patch, "accuracy": float(right), "truth": truth})
    return points


def chart() -> dict[str, Any]:
    """A panel per share, a line per patch; what must be measured is dashed."""
    points = rows()
    x = {"field": "px", "type": "ordinal", "title": "side of a square, px", "axis": {"labelAngle": 0}}
    hue = {"field": "patch", "type": "ordinal", "title": "patch, px", "scale": {"scheme": "viridis"}}
    measured = {"field": "accuracy", "type": "quantitative", **AXIS}
    expected = {"field": "truth", "type": "quantitative", **AXIS}
    dashed = {"type": "line", "strokeDash": [4, 4], "opacity": 0.6, "color": "black"}
    lines = [
        {"mark": {"type": "line", "point": True}, "encoding": {"x": x, "y": measured, "color": hue}},
        {"mark": dashed, "encoding": {"x": x, "y": expected, "detail": {"field": "patch"}}},
    ]
    panels = [
        {
            "title": f"squares over {share:.0%} of the image",
            "width": 200,
            "height": 180,
            "data": {"values": [point for point in points if point["share"] == share]},
            "layer": lines,
        }
        for share in FREE
    ]
    return {"hconcat": panels}


if __name__ == "__main__":
    import vl_convert

    picture = Image.open(io.BytesIO(vl_convert.vegalite_to_png(chart(), vl_version="5.20", scale=1.5)))
    picture.convert("RGB").quantize(64).save(FILE, optimize=True)
