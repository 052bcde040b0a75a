"""The section of explanations: its table, comparison, charts and pictures, from a run folder alone."""

from __future__ import annotations

import base64
import io
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.explain.overlay import frame
from snellen.report.blocks import Chart, Details, Gallery, Group, Panels, Picture, Row, Table
from snellen.report.map_pictures import OBJECT, SUGGESTED
from snellen.report.results import Results
from snellen.report.sections.explanation import EXPLANATION

MODELS = {"object": "observer:texture", "scene": "observer:background", "both": "observer:glance(0.4)"}
DATA = "phantom:test?size=32&n=40"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> snellen.Run:
    folder = tmp_path_factory.mktemp("explained") / "run"
    return snellen.audit(
        MODELS, DATA, "explanation(support, examples=3, baseline=scene, curves=off)", folder, quiet=True, shard=16
    )


def picture_of(address: str | None) -> np.ndarray:
    assert address is not None
    assert address.startswith("data:image/jpeg;base64,")
    content = base64.b64decode(address.partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)


def near(picture: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    return np.abs(picture - np.array(colour)).max(2) < 40


def test_the_tables_hold_the_findings_with_their_standard_errors(run: snellen.Run) -> None:
    results = Results.of(run)
    blocks = EXPLANATION.blocks(results)
    tables = [one for one in blocks if isinstance(one, Table)]
    findings = {(one["model"], one["name"]): one for one in results.of_audit("explanation")}
    rows = {row.head.text: row for row in tables[0].rows if isinstance(row, Row)}
    assert set(rows) == set(MODELS)
    energy = findings["both", "energy_pg"]
    error = energy["facts"]["standard_error"]
    assert rows["both"].cells[0].text == f"{100 * energy['value']:.1f}% ± {100 * error:.1f}"  # type: ignore[union-attr]
    assert rows["object"].cells[0].text == "100.0% ± 0.0"  # type: ignore[union-attr]
    compared = [row.head.text for row in tables[1].rows if isinstance(row, Row)]
    assert compared == ["object", "both"]
    assert tables[1].head[0].text == "less scene"


def test_the_sweep_is_a_chart_with_a_line_per_model(run: snellen.Run) -> None:
    (panels,) = (one for one in EXPLANATION.blocks(Results.of(run)) if isinstance(one, Panels))
    assert len(panels.blocks) == 2
    for chart in panels.blocks:
        assert isinstance(chart, Chart)
        values = chart.spec["data"]["values"]
        assert {one["model"] for one in values} == set(MODELS)
        assert len(values) == 19 * 3


def test_the_same_images_stand_under_each_model_with_boxes_drawn(run: snellen.Run) -> None:
    galleries = [one for one in EXPLANATION.blocks(Results.of(run)) if isinstance(one, Gallery)]
    rows = [row for row in galleries[0].rows if isinstance(row, Row)]
    assert len(rows) == 3
    assert [head.text for head in galleries[0].head] == ["is", "the object’s box", *MODELS]
    for row in rows:
        pictures = [picture_of(one.source) for one in row.cells if isinstance(one, Picture)]
        assert len(pictures) == 4
        assert all(min(one.shape[:2]) >= 208 for one in pictures)
        for one in pictures:
            assert near(one, OBJECT).sum() > 100
        assert (
            near(pictures[2], SUGGESTED).sum() > near(pictures[0], SUGGESTED).sum() + 200
        )  # the scene's box is the image
        numbers = row.cells[1].answers[-1]  # type: ignore[union-attr]
        assert numbers.text == "EnergyPG 100%"
        assert re.fullmatch(r"EHR 100%, IoU 100%", numbers.note)


def test_the_pairs_that_disagree_are_shown_where_there_are_any(run: snellen.Run) -> None:
    results = Results.of(run)
    apart = [one for one in results.of_audit("explanation") if one["name"] == "wsol_disagreement"]
    pairs = sum(len(one["facts"]["pairs"]) for one in apart)
    blocks = [one for one in EXPLANATION.blocks(results) if isinstance(one, Details) and "WSOL prefers" in one.summary]
    if not pairs:
        assert not blocks
        one = next(one for one in apart if one["model"] == "both")
        example = next(f for f in results.of_audit("explanation") if f["facts"].get("examples"))["facts"]["examples"][0]
        one["facts"]["pairs"] = [{"own": example, "other": example}]
        blocks = [
            one for one in EXPLANATION.blocks(results) if isinstance(one, Details) and "WSOL prefers" in one.summary
        ]
    (gallery,) = blocks[0].blocks
    assert isinstance(gallery, Gallery)
    assert isinstance(gallery.rows[0], Group)
    assert isinstance(gallery.rows[1], Row)
    assert all(one.source for one in gallery.rows[1].cells if isinstance(one, Picture))


def test_without_stored_maps_the_numbers_stay_and_pictures_are_missing(run: snellen.Run, tmp_path: Path) -> None:
    shutil.copytree(run.path, tmp_path / "copy")
    for file in (tmp_path / "copy" / "maps").glob("*/*.parquet"):
        file.unlink()
    results = Results.of(snellen.load_run(tmp_path / "copy"))
    galleries = [one for one in EXPLANATION.blocks(results) if isinstance(one, Gallery)]
    row = next(row for row in galleries[0].rows if isinstance(row, Row))
    sources = [one.source for one in row.cells if isinstance(one, Picture)]
    assert sources[0] is not None
    assert sources[1:] == [None] * 3


def test_the_verdict_and_the_comparison_name_the_measures(run: snellen.Run) -> None:
    results = Results.of(run)
    ((term, sentence),) = EXPLANATION.verdict(results, "object")
    assert term == "Where it looks"
    assert "100.0% of the energy of its maps (support) lies in the object’s box" in sentence
    assert "more than the" in sentence
    page = (run.path / "report.html").read_text()
    assert "<h2>Explanations</h2>" in page
    assert "The models side by side" in page
    assert "Published values" in page
    assert "Gain ratio" in page


def test_nothing_without_the_audit(tmp_path: Path) -> None:
    run = snellen.audit("observer:shape", DATA, "shape(grid=2)", tmp_path / "run", quiet=True, report=False)
    assert EXPLANATION.blocks(Results.of(run)) == []
    assert EXPLANATION.verdict(Results.of(run), "shape") == []


def test_a_frame_is_the_edge_of_a_box_cut_to_the_picture() -> None:
    blank = np.zeros((5, 6, 3), np.uint8)
    drawn = frame(blank, [1, 1, 5, 4], (9, 8, 7))
    edge = np.zeros((5, 6), bool)
    edge[1:4, 1:5] = True
    edge[2, 2:4] = False
    assert ((drawn == (9, 8, 7)).all(2) == edge).all()
    assert (frame(blank, [-3, -3, 90, 90], (1, 1, 1), 9) == 1).all()
    assert (frame(blank, [7, 7, 9, 9], (1, 1, 1)) == 0).all()
    assert (frame(blank, [2, 2, 3, 3], (1, 1, 1)).any(2)).sum() == 1
