"""`python docs/attention.py RUN`: write docs/images/attention.png, an example of a run of the audit `attention`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

import snellen

FILE = Path(__file__).parent / "images" / "attention.png"
SIDE, GAP, LEFT, TOP = 112, 6, 92, 20


def sheet(run: snellen.Run, number: int = 0) -> Image.Image:
    """A row per condition: the image as it is shown, then the attention at each layer."""
    store = run.store
    findings = [one for one in run.results()["findings"] if one["name"] == "attention_visible"]
    sample, layers = findings[0]["facts"]["examples"][number], list(findings[0]["facts"]["layers"])
    size = (LEFT + (SIDE + GAP) * (1 + len(layers)), TOP + (SIDE + GAP) * len(findings))
    canvas, font = Image.new("RGB", size, "white"), ImageFont.load_default(12)
    pen = ImageDraw.Draw(canvas)
    for column, text in enumerate(["as shown", *layers]):
        pen.text((LEFT + column * (SIDE + GAP), 2), text, "black", font)
    for row, one in enumerate(findings):
        facts, top = one["facts"], TOP + row * (SIDE + GAP)
        pen.text((4, top + SIDE // 2 - 6), "clean" if facts["px"] is None else f"{facts['px']} px, 50%", "black", font)
        (key,) = (cell["cell"] for cell in store.cells() if cell["distortion"] == facts["request"])
        table = store.survey(key)
        assert table is not None
        stored = {line["layer"]: line["pictures"] for line in table.rows if line["sample"] == sample}
        contents = [stored[layers[0]][0], *(stored[layer][1] for layer in layers)]
        for column, content in enumerate(contents):
            picture = Image.open(io.BytesIO(content)).convert("RGB").resize((SIDE, SIDE), Image.Resampling.NEAREST)
            canvas.paste(picture, (LEFT + column * (SIDE + GAP), top))
    return canvas


if __name__ == "__main__":
    place = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sheet(snellen.load_run(sys.argv[1]), place).quantize(128).save(FILE, optimize=True)
