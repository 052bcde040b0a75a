"""What users read is plain and short, names papers by authors and year, and needs nothing that users do not have."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from snellen.catalogue import catalogue
from snellen.train.presets import OLD_NAMES

from .pages import blocks

ROOT = Path(__file__).resolve().parents[1]
OURS = ("README.md", "CONTRIBUTING.md", "docs", "examples", "src", "benchmarks", "tests")
PAGES = sorted(
    page for place in OURS for page in ([ROOT / place] if place.endswith(".md") else (ROOT / place).rglob("*.md"))
)
GENERATED = (
    "models.md",
    "data.md",
    "distortions.md",
    "audits.md",
    "commands.md",
    "glossary.md",
)  # their words are those of help texts and docstrings
NOT = {
    r"\bdata sets?\b": "dataset",
    r"\d %": "95% without a space",
    r"[Pp]apers? 00\d": "authors and year",
    r"\banew\b": "again",
    r"\bloudly\b": "the report flags it",
    r"\blearnt by heart\b": "memorised",
    r"\b(nobody|whoever|somebody)\b": "no model, any, a user's",
    r"\b(number|row|line|column|network|folder|answer)s? a (model|rung|sample|class|paper|test|point|core|run)\b": "per",
    r"\b(images|seconds|operations|classes|networks|runs) (a|an) (second|step|epoch|batch|rung|class)\b": "per",
}  # fmt: skip


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(text: str) -> str:
    """The text without code: neither blocks nor spans."""
    lines = (line for kind, lines in blocks(text) if kind != "code" for line in lines)
    return re.sub(r"`[^`\n]*`", "``", "\n".join(lines))


def test_there_are_pages() -> None:
    assert len(PAGES) > 25


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_lines_and_paragraphs_are_short(page: Path) -> None:
    """No line over 130 characters, no paragraph or list entry over six lines.

    A row of a table cannot be broken: those of measured values in docs/results may be longer, no others.
    """
    results = page.parent.name == "results"
    for kind, lines in blocks(page.read_text()):
        for line in lines:
            assert len(line) <= 130 or (kind == "table" and results), f"{len(line)} characters: {line}"
        assert kind != "prose" or len(lines) <= 6, f"{len(lines)} lines: {lines[0]}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in GENERATED], ids=page_id)
@pytest.mark.parametrize("pattern", NOT)
def test_words_are_those_that_users_know(page: Path, pattern: str) -> None:
    match = re.search(rf".*({pattern}).*", prose(page.read_text()))
    assert match is None, f"'{match[1]}' in: {match[0]}; write: {NOT[pattern]}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_papers_are_named_by_authors_and_year(page: Path) -> None:
    assert not re.search(r"papers? 00\d", page.read_text(), re.I)


def test_no_help_text_or_list_names_a_paper_or_a_recipe_by_number() -> None:
    texts = [(ROOT / "docs" / "reference/commands.md").read_text()]  # every help text; another test holds it current
    texts += [" ".join(pair) for kind in ("models", "data", "distortions", "audits") for pair in catalogue(kind)]
    for text in texts:
        assert not re.search(r"papers? 00\d", text, re.I)
        assert not set(re.split(r"[\s,;()`]+", text)) & set(OLD_NAMES)


def test_users_are_never_told_to_use_the_maintainers_data() -> None:
    """Only examples/maintainers, and lines that point there, speak of the data pack."""
    pattern = r"shared_|/shared\b|SNELLEN_SHARED|data pack"
    places = ("docs", "README.md", "examples", "CONTRIBUTING.md", "Makefile")
    command = ["grep", "-rnIiE", pattern, *places, "--exclude-dir=__pycache__"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()
    assert any(line.startswith("examples/maintainers/") for line in lines)
    assert [line for line in lines if "maintainers/" not in line] == []
