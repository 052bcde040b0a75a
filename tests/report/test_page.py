"""The page, its pictures and its renderings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from snellen.audits import Baseline, Interference, Occlusion, parse_audits
from snellen.distort import Shuffle
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.report import html_of, markdown_of, page_of, write_report
from snellen.report.charts import bar_chart, curve_chart
from snellen.report.page import command_of
from snellen.report.words import measured

from .conftest import Toy, falls_for, steady


class Reader(HTMLParser):
    """The tags, the addresses they point to and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "srcset")]

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def html(fooled: Run) -> str:
    return (fooled.path / "report.html").read_text()


def test_every_number_of_the_table_is_the_finding(fooled: Run, html: str):
    findings = [one for one in fooled.results()["findings"] if one["audit"] != "between"]
    shown = Reader(html).text
    page = page_of(fooled)
    rows = [row for section in page["table"] for row in section["rows"]] + page["sizes"]
    cells = [(row, cell) for row in rows for cell in row["cells"]]
    assert len(cells) == len(findings)
    for row, cell in cells:
        fitting = [one for one in findings if one["name"] == row["name"] and one["model"] == cell["model"]]
        same = [one for one in fitting if all(one[name] == cell[name] for name in ("value", "low", "high", "n"))]
        assert same
        assert measured(cell["value"], cell["unit"]) in shown


def test_every_distorted_number_has_its_interference_beside_it(fooled: Run):
    page = page_of(fooled)
    for row in [row for section in page["table"] for row in section["rows"]] + page["sizes"]:
        for cell in row["cells"]:
            unmeasured = cell["value"] is None  # such as iOcclusion without training images
            assert (cell["trust"] is None) == (row["label"] == "Clean accuracy" or unmeasured)


def test_the_curves_begin_at_the_clean_accuracy_and_hold_every_size(fooled: Run):
    findings = fooled.results()["findings"]
    for panel in page_of(fooled)["curves"]:
        for line in panel["lines"]:
            own = [one for one in findings if one["model"] == line["model"]]
            clean = next(one for one in own if one["name"] == "accuracy")
            sizes = [one for one in own if one["name"] == "occluded_accuracy" and one["facts"]["fill"] == panel["fill"]]
            assert [point["value"] for point in line["points"]] == [clean["value"], *(one["value"] for one in sizes)]
            assert line["points"][0]["covered"] == 0
        spec = curve_chart(panel, ["naive", "wise"])
        drawn = {(one["model"], round(one["covered"], 3)): one["mark"] for one in spec["data"]["values"]}
        assert (drawn["naive", 0.5] == "flagged") == (panel["fill"] == "black")


def test_bars_are_mean_and_range_over_runs(fooled: Run):
    one = next(
        one for one in fooled.results()["findings"]
        if one["name"] == "interference" and one["model"] == "naive" and "fourier" in one["distortions"][0]
    )  # fmt: skip
    group = next(group for group in page_of(fooled)["bars"] if "fourier" in group["distortion"])
    bar = group["charts"][0]["bars"][2]
    values = [run[2] for run in one["facts"]["increase"]]
    assert bar["class"] == "eel"
    assert (bar["mean"], bar["low"], bar["high"]) == (pytest.approx(sum(values) / 3), min(values), max(values))
    assert [row["dominant"] for row in bar_chart(group["charts"][0], (0, 1))["data"]["values"]] == [0, 0, 1, 0]


def test_of_many_classes_the_largest_bars_are_shown(toy_run: Callable[[Toy], Run]):
    classes = [f"class {i} with a name that is much too long for an axis" for i in range(100)]
    run = toy_run(Toy({"many": [falls_for(7, "shuffle")]}, classes=classes, samples=300))
    group = next(group for group in page_of(run)["bars"] if "shuffle" in group["distortion"])
    bars = group["charts"][0]["bars"]
    assert len(bars) == 15
    assert bars[0]["class"] == classes[7]
    assert len({row["class"] for row in bar_chart(group["charts"][0], (0, 1))["data"]["values"]}) == 15
    assert "the 15 largest of 100 classes" in Reader((run.path / "report.html").read_text()).text


@pytest.mark.parametrize(("samples", "classes"), [(1, ("a", "b")), (2, ("a", "b")), (30, ("a", "b")), (1, ("alone",))])
def test_a_page_is_made_of_very_little(toy_run: Callable[[Toy], Run], samples: int, classes: tuple[str, ...]):
    run = toy_run(Toy({"m": [steady(0.0)]}, samples=samples, classes=classes))
    text = Reader((run.path / "report.html").read_text()).text
    assert "nan" not in text.lower().split()
    assert "None" not in text


@pytest.mark.parametrize(
    "audits",
    [(Baseline(),), (Baseline(), Interference((Shuffle(2),))), (Baseline(), Occlusion(areas=(0.5,), fills=("grey",)))],
)
def test_a_page_is_made_of_any_audits(toy_run: Callable[[Toy], Run], audits):
    page = page_of(toy_run(Toy({"m": [steady(0.1)], "n": [steady(0.1)]}, audits=audits)))
    assert len(page["table"]) == len(audits)
    assert bool(page["curves"]) == any(isinstance(one, Occlusion) for one in audits)
    assert bool(page["bars"]) == any(isinstance(one, Interference) for one in audits)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_what_is_not_known_is_shown_as_a_dash(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"m": [steady(0.0)]}, samples=3, unreadable=(0, 1, 2)))
    page = page_of(run)
    assert page["table"][0]["rows"][0]["cells"][0]["value"] is None
    assert "No unmodified test image could be scored" in page["verdict"]["models"][0]["clean"]
    assert "| Clean accuracy | – (–) |" in markdown_of(page)
    text = Reader(html_of(page)).text
    assert "Clean accuracy share of test images answered rightly, unmodified – [–]" in text
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
    assert widths == {4, 5}  # a label and two models; side by side a model and three numbers


def test_the_page_needs_nothing_from_outside(html: str):
    reader = Reader(html)
    assert all(address.startswith("data:image/") for address in reader.addresses)
    assert not reader.tags & {"script", "link", "iframe", "object"}
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org/)", html)
    assert "prefers-color-scheme: dark" in html


def test_photos_keep_the_page_small(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"m": [steady(0.1)], "n": [steady(0.1)]}, classes=[f"c{i}" for i in range(10)], side=112))
    assert (run.path / "report.html").stat().st_size < 3_000_000


def test_the_gallery_shows_eight_samples_of_spread_classes_with_their_answers(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"m": [steady(0), steady(0), falls_for(2, "shuffle", 0)]}, shard=10))
    gallery = page_of(run)["gallery"]
    assert [column["words"] for column in gallery["columns"]] == [
        "clean", "Gaussian noise of σ 0–0.025",
        *(f"{fill} square of {area} %" for fill in ("black", "noise") for area in (10, 30, 50, 70, 90)),
        "4×4 patches shuffled", "black square of 70–100 % (partly outside)", "black Fourier mask of 50 %",
    ]  # fmt: skip
    assert [row["class"] for row in gallery["rows"]] == ["cat", "cat", "dog", "dog", "eel", "eel", "fox", "fox"]
    shuffled = [row["cells"][12] for row in gallery["rows"]]
    assert [cell["answers"][0]["answer"] for cell in shuffled] == [row["class"] for row in gallery["rows"]]
    assert [cell["answers"][0]["runs_right"] for cell in shuffled] == [2, 2, 2, 2, 3, 3, 2, 2]
    assert all(cell["picture"].startswith("data:image/png;base64,") for row in gallery["rows"] for cell in row["cells"])


def test_an_unreadable_image_is_not_in_the_gallery(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"m": [steady(0)]}, unreadable=range(0, 24, 2)))
    assert {row["class"] for row in page_of(run)["gallery"]["rows"]} == {"dog", "fox"}


def test_the_page_is_plain_data_and_the_same_each_time(fooled: Run):
    assert json.loads(json.dumps(page_of(fooled), allow_nan=False)) == page_of(fooled)


def test_the_command_can_be_pasted(calm: Run, toy_run: Callable[[Toy], Run]):
    assert page_of(calm)["command"] == "snellen audit zoo:toy --data 'folder:my pets'"
    run = toy_run(Toy({"m": [steady(0)]}, command=()))
    assert page_of(run)["command"] == "snellen.audit({'m': 'zoo:toy'}, 'folder:my pets')"
    facts = {**run.facts, "donors": {"text": "folder:don"}, "occluders": {"text": "things"}}
    facts["data"] = {**facts["data"], "train": {"text": "folder:t r"}}
    facts["settings"] = {**facts["settings"], "seed": 3, "keep": "top5"}
    facts["audits"] = ["baseline()", "shape(grid=2)", "Mine()"]
    assert command_of(facts) == (
        "snellen.audit({'m': 'zoo:toy'}, 'folder:my pets', audits='shape(grid=2), …', train='folder:t r', "
        "donors='folder:don', occluders='things', seed=3, keep='top5')"
    )
    facts["audits"] = ["baseline()", *(str(one) for one in parse_audits(None))]
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
    page = page_of(fooled)
    for row in (row for section in page["table"] for row in section["rows"]):
        for cell in row["cells"]:
            assert measured(cell["value"], cell["unit"]) in markdown
    assert "## Make it again" in markdown


def test_a_report_needs_no_torch(calm: Run, tmp_path: Path):
    code = (
        "import sys, snellen; snellen.load_run(sys.argv[1]).report(sys.argv[2]); "
        "sys.exit('torch' in sys.modules or 'altair' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(calm.path), str(tmp_path / "r.html")], check=True)
