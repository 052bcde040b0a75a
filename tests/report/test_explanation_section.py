"""The section of explanations: its table, comparison, charts and pictures, from a run folder alone."""

from __future__ import annotations

import base64
import io
import re
import shutil
from dataclasses import replace as replace_dataclass
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image

import snellen
from snellen.audits.alignment_facts import AlignmentFacts, DisagreementFacts, EnergyFacts, MapPair
from snellen.explain.overlays import frame
from snellen.report.blocks import Block, Chart, Details, Gallery, Group, Panels, Picture, Row, Table, TableCell
from snellen.report.map_pictures import OBJECT, SUGGESTED
from snellen.report.results import Results
from snellen.report.sections.explanation import EXPLANATION
from snellen.report.sections.explanation_gallery import disagreement_blocks
from snellen.report.sections.explanation_tables import MEASURES

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
    rows = {row.head.text: row for row in tables[0].rows if isinstance(row, Row)}
    assert set(rows) == set(MODELS)
    energy = next(finding for finding in results.having(EnergyFacts) if finding.model == "both")
    value, error = energy.value, energy.facts.standard_error
    assert value is not None
    assert error is not None
    assert rows["both"].cells[0].text == f"{100 * value:.1f}% ± {100 * error:.1f}"  # type: ignore[union-attr]
    assert rows["object"].cells[0].text == "100.0% ± 0.0"  # type: ignore[union-attr]
    compared = [row.head.text for row in tables[1].rows if isinstance(row, Row)]
    assert compared == ["object", "both"]
    assert tables[1].head[0].text == "minus scene"


def even_notes(results: Results) -> list[str]:
    """Below each measure of the model `both`."""
    table = next(block for block in EXPLANATION.blocks(results) if isinstance(block, Table))
    (row,) = (row for row in table.rows if isinstance(row, Row) and row.head.text == "both")
    return [cell.note for cell in row.cells[: len(MEASURES)] if isinstance(cell, TableCell)]


def test_below_each_measure_is_its_own_value_of_even_maps(run: snellen.Run) -> None:
    results = Results.of(run)
    found = {one.name: one.facts for one in results.having(AlignmentFacts) if one.model == "both"}
    evens = [found[name].even for name in MEASURES]
    assert len(set(evens[:3])) == 1
    assert evens[4] != evens[0]
    assert even_notes(results) == [f"even map {100 * even:.1f}%" for even in evens if even is not None]


def test_a_run_of_an_older_version_shows_no_even_value_of_wsol(run: snellen.Run) -> None:
    """It holds the object's share as even value of every measure."""
    content = run.results()
    for finding in content["findings"]:
        if "object_share" in finding["facts"]:
            finding["facts"]["even"] = finding["facts"].pop("object_share")
    results = replace_dataclass(Results.of(run), findings_json=content)
    share = next(one.facts.even for one in results.having(EnergyFacts) if one.model == "both")
    assert share is not None
    assert even_notes(results) == [f"even map {100 * share:.1f}%"] * 3 + ["", ""]


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
    apart = results.having(DisagreementFacts)
    (energy,) = (finding for finding in results.having(EnergyFacts) if finding.model == "both")
    example = energy.facts.examples[0]

    def with_pairs(*pairs: MapPair) -> list[Block]:
        facts = [replace(finding.facts, pairs=pairs) for finding in apart]
        return disagreement_blocks([replace(finding, facts=own) for finding, own in zip(apart, facts)], results)

    assert with_pairs() == []
    (details,) = with_pairs(MapPair(example, example))
    assert isinstance(details, Details)
    (gallery,) = details.blocks
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
