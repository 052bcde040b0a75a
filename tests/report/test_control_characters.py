"""Control characters in names reach no chart and no written page: they are written as escapes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.commands import exit_code

import snellen
from snellen.report.blocks import Command, Page, prose
from snellen.report.charts import chart, layer, nominal, quantitative, svg
from snellen.report.render import RENDERINGS

ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
NASTY = "a\x1b[31mb\x00\x9b\u202e\x07\ufffe"
ESCAPES = r"a\x1b[31mb\x00\x9b\u202e\x07\ufffe"


def drawn(text: str) -> str:
    """A bar whose axis, title and label have the text."""
    rows = [{"name": text, "value": 1.0}]
    return svg(chart(90, 90, rows, layer("bar", {"x": quantitative("value", text), "y": nominal("name", [text])})))


@pytest.mark.parametrize("code", [*range(32), 0x7F, 0x9B, 0x2028, 0x202E, 0xD800, 0xFFFE, 0xFFFF])
def test_a_chart_is_drawn_whatever_its_texts_hold(code: int) -> None:
    """Without the escapes some of these end the process, others are refused by the drawing library."""
    assert repr(chr(code))[1:-1] in drawn(f"a{chr(code)}b")


def test_a_long_text_beyond_the_basic_plane_is_drawn() -> None:
    """It is cut to fit by its UTF-16 units, and half a pair of them is no text."""
    assert drawn("🏳️‍🌈" * 50).startswith("<svg")
    assert "🏳" in drawn("🏳")


@pytest.mark.parametrize("suffix", RENDERINGS)
def test_no_page_holds_what_acts_on_a_terminal(suffix: str) -> None:
    text = RENDERINGS[suffix](Page(NASTY, (prose(NASTY), Command(f"snellen {NASTY}\r\n  again\t\ud800"))))
    assert not ACTING.search(text)
    assert text.encode()
    shown = json.loads(text)["title"] if suffix == ".json" else text
    assert (
        NASTY in shown
        if suffix == ".json"
        else ESCAPES.replace("[", "") in shown.replace("[", "").replace("\\\\", "\\")
    )


def test_names_with_control_characters_are_audited_and_every_file_is_clean(tmp_path: Path) -> None:
    labels = np.arange(12) % 3
    images = np.broadcast_to((60 * (labels + 1))[:, None, None], (12, 8, 8)).astype(np.uint8)
    classes = [NASTY, f"{NASTY}b", "c"]
    np.savez(tmp_path / "a.npz", images=images, labels=labels, classes=classes)
    model = snellen.models.from_callable(
        lambda images: np.full((len(images), 3), [0.8, 0.1, 0.1]), classes=classes, size=8, version="1"
    )
    run = snellen.audit(
        {NASTY: model},
        f"arrays:{tmp_path}/a.npz",
        ["interference([shuffle(2)])", "shape"],
        tmp_path / "run",
        quiet=True,
    )
    for name in ("report.html", "report.md", "findings.csv", "findings.json"):
        assert not ACTING.search((tmp_path / "run" / name).read_bytes().decode()), name
    assert set(run.findings()["model"]) == {NASTY}
    snellen.gate(
        run, require=("accuracy > 0.99",), junit=tmp_path / "gate.xml", markdown=tmp_path / "gate.md",
        write_baseline=tmp_path / "baseline.json",
    )  # fmt: skip
    for style in ("card", "hf"):
        words = ["report", str(tmp_path / "run"), "--format", style, "--out", str(tmp_path / f"{style}.md")]
        assert exit_code(words) == 0
    assert exit_code(["report", str(tmp_path / "run"), "--figures", str(tmp_path / "figures")]) == 0
    written = [
        *tmp_path.glob("gate.*"),
        *tmp_path.glob("*.json"),
        *tmp_path.glob("*.md"),
        *tmp_path.glob("figures/*.svg"),
    ]
    assert len(written) >= 6
    for file in written:
        assert not ACTING.search(file.read_bytes().decode()), file.name
