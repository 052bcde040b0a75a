"""The page, its pictures and its renderings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from snellen.audits import BaselineAudit, InterferenceAudit, OcclusionAudit, parse_audits
from snellen.distort import Shuffle
from snellen.engine.keep.schemas import PoolRecord
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.report import brief_page_of, html_of, markdown_of, page_of, write_report
from snellen.report.answers import AnswerRow, answered_class
from snellen.report.blocks import Chart, Command, Gallery, Page, Table
from snellen.report.charts import curve_chart
from snellen.report.pages.origin import command_of
from snellen.report.results import Results
from snellen.report.sections.interference_charts import bar_chart
from snellen.report.sections.interference_values import bars_of
from snellen.report.sections.occlusion import curves_of
from snellen.report.words import in_unit, in_words, interval

from .conftest import Toy, falls_for, steady
from .reading import Reader, every, parts, rows, titles, under


def tables(page: Page) -> list[Table]:
    """The table of findings, and that of the numbers behind the curves."""
    return [every(Table, under(page, name))[0] for name in ("All findings", "Accuracy under a square")]


def gallery_of(run: Run) -> Gallery:
    (gallery,) = every(Gallery, under(page_of(run), "The same images under every distortion"))
    return gallery


@pytest.fixture(scope="module")
def html(fooled: Run) -> str:
    return (fooled.path / "report.html").read_text()


def test_every_number_of_the_table_is_the_finding(fooled: Run, html: str):
    findings = [one for one in fooled.results()["findings"] if one["audit"] != "between"]
    shown = Reader(html).text
    cells = []
    for table in tables(page_of(fooled)):
        models = [cell.text for cell in table.head[1:]]
        assert models == ["naive", "wise"]
        cells += [(row.head.text, model, cell) for row in rows(table) for model, cell in zip(models, row.cells)]
    assert len(cells) == len(findings)
    for _, model, cell in cells:
        fitting = [one for one in findings if one["model"] == model and one["value"] == cell.value]
        same = [one for one in fitting if interval(one["low"], one["high"], one["unit"]) == cell.interval]
        assert {in_unit(one["value"], one["unit"]) for one in same} >= {cell.text}
        assert cell.text in shown
    labels = [label for label, _, _ in cells]
    assert labels.count("Clean accuracy") == labels.count("Accuracy: black squares of all sizes") == 2


def test_every_distorted_number_has_its_interference_beside_it(fooled: Run):
    for table in tables(page_of(fooled)):
        for row in rows(table):
            for cell in row.cells:
                unmeasured = cell.value is None  # such as iOcclusion without training images
                assert (cell.badge is None) == (row.head.text == "Clean accuracy" or unmeasured)


def test_the_curves_begin_at_the_clean_accuracy_and_hold_every_size(fooled: Run):
    findings = fooled.results()["findings"]
    panels = curves_of(Results.of(fooled))
    for panel in panels:
        fill = panel.title.partition(" ")[0]
        for model, points in panel.lines.items():
            own = [one for one in findings if one["model"] == model]
            clean = next(one for one in own if one["name"] == "accuracy")
            sizes = [one for one in own if one["name"] == "occluded_accuracy" and one["facts"]["fill"] == fill]
            assert [point.value for point in points] == [clean["value"], *(one["value"] for one in sizes)]
            assert points[0].covered == 0
        spec = curve_chart(panel, ["naive", "wise"])
        drawn = {(one["model"], round(one["covered"], 3)): one["mark"] for one in spec["data"]["values"]}
        assert (drawn["naive", 0.5] == "flagged") == (fill == "black")
    charts = every(Chart, under(page_of(fooled), "Accuracy under a square"))
    assert [(one.title, one.spec) for one in charts] == [
        (panel.title, curve_chart(panel, ["naive", "wise"])) for panel in panels
    ]


def test_no_other_finding_of_clean_images_is_drawn_as_the_clean_accuracy(fooled: Run):
    content = fooled.results()
    clean = next(one for one in content["findings"] if one["name"] == "accuracy" and one["model"] == "wise")
    leakage = {**clean, "audit": "background", "name": "scale_leakage", "value": 0.02, "unit": "difference"}
    leakage["facts"] = {"guessed": 0.1, "chance": 0.08}
    content["findings"] = [leakage, *content["findings"], leakage]
    for panel in curves_of(Results(content, fooled.facts, fooled)):
        assert [point.value for point in panel.lines["wise"] if point.covered == 0] == [clean["value"]]


def test_bars_are_mean_and_range_over_runs(fooled: Run):
    one = next(
        one for one in fooled.results()["findings"]
        if one["name"] == "interference" and one["model"] == "naive" and "fourier" in one["distortions"][0]
    )  # fmt: skip
    group = next(group for group in bars_of(Results.of(fooled)) if "fourier" in group.distortion)
    bar = group.charts[0].bars[2]
    values = [run[2] for run in one["facts"]["increase"]]
    assert bar.name == "eel"
    assert (bar.mean, bar.low, bar.high) == (pytest.approx(sum(values) / 3), min(values), max(values))
    assert [row["dominant"] for row in bar_chart(group.charts[0], (0, 1))["data"]["values"]] == [0, 0, 1, 0]


def test_of_many_classes_the_largest_bars_are_shown(toy_run: Callable[[Toy], Run]):
    classes = [f"class {i} with a name that is much too long for an axis" for i in range(100)]
    run = toy_run(Toy({"many": [falls_for(7, "shuffle")]}, classes=classes, samples=300))
    group = next(group for group in bars_of(Results.of(run)) if "shuffle" in group.distortion)
    bars = group.charts[0].bars
    assert len(bars) == 15
    assert bars[0].name == classes[7]
    assert len({row["class"] for row in bar_chart(group.charts[0], (0, 1))["data"]["values"]}) == 15
    assert "the 15 largest of 100 classes" in Reader((run.path / "report.html").read_text()).text


@pytest.mark.parametrize(("samples", "classes"), [(1, ("a", "b")), (2, ("a", "b")), (30, ("a", "b")), (1, ("alone",))])
def test_a_page_is_made_of_very_little(toy_run: Callable[[Toy], Run], samples: int, classes: tuple[str, ...]):
    run = toy_run(Toy({"m": [steady(0.0)]}, samples=samples, classes=classes))
    text = Reader((run.path / "report.html").read_text()).text
    assert "nan" not in text.lower().split()
    assert "None" not in text


@pytest.mark.parametrize(
    "audits",
    [
        (BaselineAudit(),),
        (BaselineAudit(), InterferenceAudit((Shuffle(2),))),
        (BaselineAudit(), OcclusionAudit(areas=(0.5,), fills=("grey",))),
    ],
)
def test_a_page_is_made_of_any_audits(toy_run: Callable[[Toy], Run], audits):
    page = page_of(toy_run(Toy({"m": [steady(0.1)], "n": [steady(0.1)]}, audits=audits)))
    (table,) = every(Table, under(page, "All findings"))
    assert len(table.rows) - len(rows(table)) == len(audits)  # a group for each
    assert ("Accuracy under a square" in titles(page)) == any(isinstance(one, OcclusionAudit) for one in audits)
    assert ("Where the errors go" in titles(page)) == any(isinstance(one, InterferenceAudit) for one in audits)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_what_is_not_known_is_shown_as_a_dash(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"m": [steady(0.0)]}, samples=3, unreadable=(0, 1, 2)))
    page = page_of(run)
    (table,) = every(Table, under(page, "All findings"))
    assert rows(table)[0].cells[0].value is None
    assert "| Clean accuracy | – (–) |" in markdown_of(brief_page_of(run))
    text = Reader(html_of(page)).text
    assert "No unmodified test image could be scored" in text
    assert "Clean accuracy share of test images classified correctly, unmodified – [–]" in text
    assert "3 images that could not be shown" in text
    assert "pet-1 (test): not an image" in text


HOSTILE = "<script>alert('x')</script>"


def test_names_from_the_run_are_escaped_everywhere(toy_run: Callable[[Toy], Run]):
    run = toy_run(
        Toy(
            {f"m{HOSTILE}": [falls_for(0, "shuffle")], "a|b`c": [steady(0.1)]},
            classes=(HOSTILE, 'quo"te & <b>', "a|b", "`tick` *star*"),
            notices=[f"beware {HOSTILE}"],
            command=("snellen", "audit", HOSTILE),
            prefix=HOSTILE,
            unreadable=(30,),
        )
    )
    html = (run.path / "report.html").read_text()
    reader = Reader(html)
    assert not reader.tags & {"script", "b "}
    assert "<script" not in html
    assert "beware <script>" in reader.text  # shown as text
    markdown = (run.path / "report.md").read_text()
    assert "<" not in re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in markdown.splitlines() if line.startswith("|")}
    assert widths == {
        4,
        5,
        7,
    }  # a label and two models; side by side a model and three numbers; ranked, a model and five


def test_the_page_needs_nothing_from_outside(html: str):
    reader = Reader(html)
    assert all(address.startswith(("data:image/", "#")) for address in reader.addresses)
    inside = {address.removeprefix("#") for address in reader.addresses if address.startswith("#")}
    assert inside <= set(re.findall(r'id="([^"]+)"', html))  # such as pictures that are shown twice
    assert not reader.tags & {"script", "link", "iframe", "object"}
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org/)", html)
    assert "prefers-color-scheme: dark" in html


def test_photos_keep_the_page_small(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"m": [steady(0.1)], "n": [steady(0.1)]}, classes=[f"c{i}" for i in range(10)], side=112))
    assert (run.path / "report.html").stat().st_size < 3_000_000


def test_the_gallery_shows_eight_samples_of_spread_classes_with_their_answers(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"m": [steady(0), steady(0), falls_for(2, "shuffle", 0)]}, shard=10))
    gallery = gallery_of(run)
    assert [cell.text for cell in gallery.head[1:]] == [in_words(cell.note or "none()") for cell in gallery.head[1:]]
    names = ["none", "noise", *["occlude"] * 10, "shuffle", "occlude", "fourier"]
    assert [(cell.note or "none()").partition("(")[0] for cell in gallery.head[1:]] == names
    squares = [
        f"occlude(area={area}, fill={fill}, " for fill in ("black", "noise") for area in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    assert [cell.note.partition("inside")[0] for cell in gallery.head[3:13]] == squares
    classes = ["cat", "cat", "dog", "dog", "eel", "eel", "fox", "fox"]
    assert [row.head.text for row in rows(gallery)] == classes
    shuffled = [row.cells[12].answers[0] for row in rows(gallery)]
    assert [answer.text for answer in shuffled] == classes
    assert [answer.note for answer in shuffled] == [f"{right}/3" for right in (2, 2, 2, 2, 3, 3, 2, 2)]
    assert all(answer.right for answer in shuffled)
    assert all(cell.source.startswith("data:image/png;base64,") for row in rows(gallery) for cell in row.cells)


def test_a_gallery_of_many_distortions_has_fewer_samples(toy_run: Callable[[Toy], Run]):
    areas = tuple(round(0.01 * share, 2) for share in range(10, 50))
    audits = (BaselineAudit(), OcclusionAudit(areas=areas, fills=("black", "noise")))
    gallery = gallery_of(toy_run(Toy({"m": [steady(0)]}, audits=audits)))
    assert len(gallery.head[1:]) == 82
    assert len(rows(gallery)) == 2  # 240 pictures at most


def test_an_unreadable_image_is_not_in_the_gallery(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"m": [steady(0)]}, unreadable=range(0, 24, 2)))
    assert {row.head.text for row in rows(gallery_of(run))} == {"dog", "fox"}


def test_an_answer_outside_the_data_goes_by_the_models_own_class(toy_run: Callable[[Toy], Run]):
    def fish(distortion, labels, classes):
        return labels * 0 - (2 if distortion.startswith("shuffle") else 1)

    run = toy_run(Toy({"m": [fish]}, others=("goldfish, Carassius auratus", "tench, Tinca tinca")))
    gallery = gallery_of(run)
    clean, shuffled = (gallery.rows[0].cells[place].answers[0] for place in (0, 12))
    assert (clean.text, clean.right) == ("another class: goldfish", False)
    assert (shuffled.text, shuffled.right) == ("another class: tench", False)
    assert "✗ another class: tench" in Reader((run.path / "report.html").read_text()).text


def test_an_answer_outside_the_data_has_no_name_where_the_model_gives_none():
    def answer(pred: int, raw: int) -> AnswerRow:
        return AnswerRow("cell", "sample", pred, raw, 0.0)

    assert answered_class(answer(-1, 7), ["cat"], None) == "another class"
    assert answered_class(answer(-1, 7), ["cat"], ["a", "b"]) == "another class"
    assert answered_class(answer(-1, 1), ["cat"], ["a", "b"]) == "another class: b"
    assert answered_class(answer(0, 1), ["cat"], ["a", "b"]) == "cat"


def test_the_page_is_json_and_the_same_each_time(fooled: Run, tmp_path: Path):
    content = json.loads(write_report(fooled, tmp_path / "r.json").read_text())
    assert content.keys() == {"title", "blocks"}
    assert Page.from_json(content) == page_of(fooled)
    assert content["title"] == "Eye exam of naive, wise"


def test_no_block_holds_html(fooled: Run):
    texts = [one.text for one in parts(page_of(fooled)) if hasattr(one, "text")]
    assert texts
    assert not any(re.search(r"</?\w+>", text) for text in texts)


def test_the_command_can_be_pasted(calm: Run, toy_run: Callable[[Toy], Run]):
    assert [one.text for one in every(Command, under(page_of(calm), "Make it again"))] == [
        "snellen audit zoo:toy --data 'folder:my pets'"
    ]
    run = toy_run(Toy({"m": [steady(0)]}, command=()))
    again = every(Command, under(page_of(run), "Make it again"))
    assert again[0].text == "snellen.audit({'m': 'zoo:toy'}, 'folder:my pets')"
    facts = Results.of(run).facts
    facts.donors, facts.occluders = PoolRecord("folder:don", "d"), PoolRecord("things", "t")
    facts.data["train"] = replace(facts.data["test"], text="folder:t r")
    facts.settings = replace(facts.settings, seed=3, keep="top5")
    facts.audits = ["baseline()", "shape(grid=2)", "Mine()"]
    assert command_of(facts) == (
        "snellen.audit({'m': 'zoo:toy'}, 'folder:my pets', audits='shape(grid=2), …', train='folder:t r', "
        "donors='folder:don', occluders='things', seed=3, keep='top5')"
    )
    facts.audits = ["baseline()", *(str(audit) for audit in parse_audits(None))]
    assert "audits=" not in command_of(facts)


def test_the_suffix_chooses_the_rendering(calm: Run, tmp_path: Path):
    for name, start in (("r.html", "<!doctype html>"), ("new/r.md", "# Eye exam"), ("r.json", "{")):
        path = write_report(calm, tmp_path / name)
        assert path == tmp_path / name
        assert path.read_text().lstrip().startswith(start)
    with pytest.raises(UserError, match=r"expected a report name ending in \.html, \.md, \.json, got '.*r\.pdf'"):
        write_report(calm, tmp_path / "r.pdf")


def test_markdown_says_the_same(fooled: Run):
    markdown = (fooled.path / "report.md").read_text()
    for row in rows(tables(page_of(fooled))[0]):
        for cell in row.cells:
            assert cell.text in markdown
        assert row.head.text in markdown
    assert "## Make it again" in markdown


def test_a_report_needs_no_torch(calm: Run, tmp_path: Path):
    code = (
        "import sys, snellen; snellen.load_run(sys.argv[1]).report(sys.argv[2]); "
        "sys.exit('torch' in sys.modules or 'altair' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(calm.path), str(tmp_path / "r.html")], check=True)
