"""The docs are true: generated parts are current, commands parse, names are there, links lead somewhere."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.audits import AUDITS, parse_audits
from snellen.data import SCHEMES
from snellen.distort import DISTORTIONS

from .pages import commands

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.rglob("*.md")),
    *sorted(ROOT.glob("examples/**/*.md")),
]
HOW_TO = sorted(
    DOCS.glob("contribute/add-*.md")
)  # tests/test_howto.py follows them: what they name exists after their steps
REFRESH = "run `python docs/build.py`"


@cache
def builder(name: str = "build") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_the_generated_pages_are_current() -> None:
    for name, text in builder().PAGES.items():
        assert (DOCS / "reference" / name).read_text() == text(), f"{name}: {REFRESH}"


GUIDES = [page for room in ("start", "questions", "reference", "understanding") for page in sorted((DOCS / room).glob("*.md"))
          if page.name not in ("design.md", *builder().PAGES)]  # fmt: skip


@pytest.mark.parametrize("page", GUIDES, ids=page_id)
def test_a_guide_that_speaks_of_di_says_what_it_is(page: Path) -> None:
    text = " ".join(page.read_text().split())
    if re.search(r"\bDI\b", text):
        assert "whether a modification sends new errors to one class" in text


@pytest.mark.slow
def test_the_terminal_output_of_the_readme_is_what_the_command_prints() -> None:
    readme = (ROOT / "README.md").read_text()
    assert builder().TERMINAL.search(readme)
    assert builder().terminal(readme) == readme, "run `python docs/build.py --terminal`"


@pytest.mark.slow
def test_the_tutorial_runs_and_its_page_shows_what_it_prints() -> None:
    assert (DOCS / "start/notebook.md").read_text() == builder().tutorial(), "run `python docs/build.py --terminal`"


def test_every_distortion_and_audit_is_documented() -> None:
    for cls in (*DISTORTIONS.values(), *AUDITS.values()):
        assert cls.__doc__
        assert len(cls.__doc__) > 15


def test_every_command_and_option_is_documented() -> None:
    sections = dict(
        re.findall(r"^## `(.+?)`\n(.*?)(?=^## |\Z)", (DOCS / "reference/commands.md").read_text(), re.M | re.S)
    )
    declared = dict(builder("commands_page").commands())
    assert sections.keys() == declared.keys(), REFRESH
    for words, command in declared.items():
        assert command.help or words == "snellen", f"{words} has no help text"
        for one in command.params:
            name = one.opts[0] if one.param_type_name == "option" else one.metavar or one.name
            assert getattr(one, "hidden", False) or name in sections[words], f"{words} {name}: {REFRESH}"
            assert getattr(one, "help", None) or getattr(one, "hidden", False), f"{words} {name} has no help text"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text()):
        if target.startswith("http"):
            continue
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [one for one in PAGES if one.name != "roadmap.md" and one not in HOW_TO], ids=page_id)
def test_the_commands_of_a_page_parse(page: Path) -> None:
    """Each `snellen …` line names a command and options that exist, with values of the right type."""
    for words in commands(page.read_text()):
        command, rest = command_of(words)
        chosen = command.make_context(" ".join(words), rest).params
        for name in ("data", "train", "test", "donors", "world"):
            for text in texts(chosen.get(name)):
                if text.partition("=")[2].startswith("phantom:"):
                    text = text.partition("=")[2]
                if text.startswith("phantom:") and "$" not in text:
                    assert len(snellen.load_data(text)) > 0
        if chosen.get("recipe") and not chosen["recipe"].endswith(".yaml"):
            assert chosen["recipe"] in snellen.train.PRESETS
        if page.name != "plugins.md":  # tests/plugins carries its commands out, with the plug-ins that it installs
            parse_audits(chosen.get("audits"))


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The declared command that the words call, and the words after it."""
    declared = dict(builder("commands_page").commands())
    for length in (3, 2, 1):
        if " ".join(words[:length]) in declared:
            return declared[" ".join(words[:length])], words[length:]
    raise AssertionError(f"no command {' '.join(words[:3])}")


def texts(value: Any) -> list[str]:
    return [str(one) for one in (value if isinstance(value, (list, tuple)) else [value]) if one is not None]


@pytest.mark.parametrize(
    "name", ["audit", "load_data", "load_model", "load_run", "Run", "distort", "measure", "models"]
)
def test_public_names_are_there(name: str) -> None:
    assert getattr(snellen, name) is not None


def test_the_design_names_the_rooms_that_exist_and_only_those() -> None:
    design = (DOCS / "understanding/design.md").read_text()
    assert len(design.splitlines()) <= 350
    rooms = set(re.findall(r"^\| `(\w+)/` \|", design, re.M))
    assert rooms == {
        path.name for path in (ROOT / "src" / "snellen").iterdir() if path.is_dir() and path.name[0] != "_"
    }
    top = design[design.index("Top level:") : design.index("- `measure/` imports")]
    modules = {path.stem for path in (ROOT / "src" / "snellen").glob("*.py")} - {"__init__", "__main__"}
    assert set(re.findall(r"`(\w+)`", top)) == modules


def test_measures_of_the_list_of_names_exist_and_those_of_the_roadmap_do_not_yet() -> None:
    def names(text: str) -> set[str]:
        return set(re.findall(r"(?:^    |· )(\w+)\(", text, re.M))

    listed = (DOCS / "reference/names.md").read_text()
    now, planned = (
        names(listed[listed.index("`snellen.measure` (clean") :]),
        names((DOCS / "understanding/roadmap.md").read_text()),
    )
    assert {"interference", "attack_success", "diversity", "friedman", "diffuseness"} <= now
    assert all(hasattr(snellen.measure, name) for name in now)
    assert not any(hasattr(snellen.measure, name) for name in planned)


def test_every_measure_has_one_row_under_its_question() -> None:
    rows = re.findall(r"^\| (.*?) ?\| (.+?) \| (.+?) \|$", (DOCS / "reference/measures.md").read_text(), re.M)
    questions = [question for question, _, _ in rows[1:] if question]
    assert all(question.endswith("?") for question in questions)
    assert len(questions) == len(set(questions)) > 15
    named = [name for _, names, _ in rows[1:] for name in re.findall(r"`(\w+)`", names)]
    assert sorted(named) == sorted(snellen.measure.__all__)


def test_the_texts_of_the_list_of_names_are_those_that_exist() -> None:
    """Public text forms stay; the pages that are generated have those that were added since."""
    design = (DOCS / "reference/names.md").read_text()
    listed = design[design.index("### Distortions") : design.index("## Names")]
    distortions = set(re.findall(r"^\| `(\w+)\(", listed, re.M))
    assert len(distortions) >= 11
    assert distortions <= set(DISTORTIONS)
    data = design[design.index("### DATA") : design.index("### Distortions")]
    schemes = set(re.findall(r"[|,] `(\w+):", data))
    assert len(schemes) >= 9
    assert schemes <= set(SCHEMES)


def test_the_examples_of_the_phantom_page_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "reference/phantom.md").read_text(), re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {"__name__": "docs_phantom"})


def test_the_examples_of_the_page_about_ranks_run_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "docs_ranks"}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "reference/rank-measures.md").read_text(), re.S)
    assert len(blocks) == 4
    for block in blocks:
        exec(block, names)
    assert names["people"].outliers == (11,)
    assert "[1.0, 1.0, 0.75, 0.5, 0.25, 0.0]" in capsys.readouterr().out


def test_the_phantom_page_names_every_dial_and_every_field_of_the_truth() -> None:
    from snellen.data.phantom import DIALS, FORMATS, Truth
    from snellen.data.phantom.shapes import class_tree

    page = (DOCS / "reference/phantom.md").read_text()
    for name in (*DIALS, *FORMATS, *(f.name for f in dataclasses.fields(Truth))):
        assert f"`{name}`" in page, name
    parents, above = {}, ["shape"]
    for indent, names in re.findall(r"^    ([ │]*)[├└]── (.+)$", page, re.M):
        depth = 1 + len(indent) // 4
        above[depth:] = names.split(", ")[:1]
        parents |= dict.fromkeys(names.split(", "), above[depth - 1])
    assert parents == class_tree()


def test_the_pictures_of_the_phantom_page_are_current_and_small() -> None:
    pictures, folder = builder("phantom_pictures").PICTURES, DOCS / "images"
    page, total = (DOCS / "reference/phantom.md").read_text(), 0
    for name, drawn in pictures.items():
        file = folder / f"phantom-{name.replace('_', '-')}.png"
        assert f"../images/{file.name}" in page
        total += file.stat().st_size
        with Image.open(file) as image:
            stored, now = np.asarray(image.convert("RGB")).astype(int), np.asarray(drawn()).astype(int)
        assert stored.shape == now.shape, f"{file.name}: run `python docs/build.py --phantom`"
        assert abs(stored - now).mean() < 4, f"{file.name}: run `python docs/build.py --phantom`"  # of a palette
    assert total < 1_000_000
    assert len(list(folder.glob("phantom-*"))) == len(pictures)


def test_results_pages_open_with_their_finding_and_pictures_of_their_own_tables() -> None:
    gallery = gallery_script()
    for path, text in gallery.files().items():
        assert path.read_text() == text, f"{path.name}: run `python docs/gallery.py`"
    openings = [one for section in gallery.sections().values() for one in section]
    assert {one.name for one in openings} == {page.stem for page in (DOCS / "results").glob("*.md")} - {"index"}
    for one in openings:
        page = (DOCS / "results" / f"{one.name}.md").read_text()
        body = page.partition("\nAbout: ")[2]
        for number in re.findall(r"\d*\.?\d+", one.finding.replace("4×4", "").replace("PreAct-ResNet18", "")):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", body), f"{one.name}: {number} is not on its page"


def test_pictures_show_the_numbers_of_their_tables() -> None:
    gallery_script()
    chart = importlib.import_module("gallery_chart")
    page = "# T\n\n## H\n\n| a | b |\n|---|---|\n| x | 4.5% [2.0, 6.5] |\n| y | −1 ± 0.5 |\n| z | – |\n| w | 9 |\n"
    labels, values = chart.chosen(page, chart.Bars("## H", ("b",), "title", rows=("x", "y", "z")))
    assert labels == ["x", "y", "z"]
    assert values[:2] == [[chart.Value(4.5, 2.0, 6.5)], [chart.Value(-1, -1.5, -0.5)]]
    assert np.isnan(values[2][0].value)
    assert ">4.5</text>" in chart.drawing(page, chart.Bars("## H", ("b",), "title"))
    assert chart.counted("| f |\n|---|\n| 1 |\n| 1 |\n| .5 |\n", chart.Counts("f", "t"))[0] == ["1", ".5"]


def gallery_script() -> ModuleType:
    if str(DOCS) not in sys.path:
        sys.path.insert(0, str(DOCS))
    return importlib.import_module("gallery")


def test_the_map_among_the_pictures_names_every_room() -> None:
    drawn = re.findall(r">(\w+)/</text>", (DOCS / "images/map.svg").read_text())
    assert sorted(drawn) == sorted(
        path.name for path in (ROOT / "src" / "snellen").iterdir() if path.is_dir() and path.name[0] != "_"
    )
