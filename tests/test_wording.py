"""What users read is plain and short, names papers by authors and year, and needs nothing that users do not have."""

from __future__ import annotations

import ast
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
GONE = {  # may not come back: on any page, generated ones too, in any text of the source, in any sentence of a report
    r"comparative, not absolute": "compare between models; not a score",
    r"\bblack less (noise|stripes)\b": "black minus noise",
    r"\bas weakness alone\b": "Drops marked ▲ may be artefacts",
    r"\bno all-clear\b": "Too few errors to decide for",
    r"\bno proof of equality\b": "No significant difference",
    r"\bmay stand anywhere\b": "accepted anywhere",
    r"\bdataset to show\b": "test images",
    r"\bconclude nothing \(exit 2\)": "stop with exit 2 on any warning",
    r"\bdefault some\b": "the number",
    r"\bthat the target has not\b": "absent from the target",
    r"\bmethods? of making maps\b": "attribution methods",
    r"\bbackground fools it on\b": "misclassified on at least one background",
    r"\bclimb only\b": "run only this calibration series",
    r"\banswered rightly\b|\bare known on \d": "classified correctly",
    r"\blies what speaks for\b": "which pixels support the prediction",
    r"\bguessed from box size, above\b": "class leakage through box size",
    r"\bgoes with what rests on it\b": "it and its dependents are deleted and recomputed",
    r"\bstand edited\b": "robust to edits",
    r"\bnumber a model\b|\bimages a step\b": "per",
    r"\bcould not be had\b|\banew\b|\blearnt by heart\b|\bwhoever\b": "downloaded, again, memorised, any",
}  # fmt: skip
GONE_FROM_PAGES = {  # of which code has its own use
    r"\bladders?\b|\brungs?\b": "series, level",
    r"\bsays so\b": "the report flags it",
    r"\| looks like \|": "new errors go to",
}
SOURCE = ROOT / "src" / "snellen"


def texts_of_source() -> dict[str, str]:
    """Every text in the source by its place: docstrings, help, messages, sentences."""
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                found[f"{file.relative_to(ROOT)}:{node.lineno}"] = " ".join(node.value.split())
    return found


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
def test_words_that_may_not_come_back_are_on_no_page(page: Path) -> None:
    text = prose(page.read_text())
    joined = " ".join(text.split())  # words that a line divides
    found = {words: instead for words, instead in (GONE | GONE_FROM_PAGES).items() if re.search(words, joined)}
    assert not found
    assert not re.search(r"(?m)^#+ .*\b(is|are) (asked|shown)\b.*", text), "of models say: predictions, test images"


def test_words_that_may_not_come_back_are_in_no_text_of_the_source() -> None:
    texts = texts_of_source()
    assert len(texts) > 5000
    listing = (ROOT / "benchmarks/sentence_cases/listing.csv").read_text()
    assert [(place, words) for place, text in texts.items() for words in GONE if re.search(words, text)] == []
    assert [words for words in GONE if re.search(words, listing)] == []


def test_each_word_that_may_not_come_back_would_be_seen() -> None:
    for text in (
        "the gap black less noise",
        "That is no all-clear where",
        "It is done anew.",
        "answered rightly",
        "one number a model",
    ):
        assert any(re.search(words, text) for words in GONE), text
    assert any(re.search(words, "| mix | looks like |") for words in GONE_FROM_PAGES)
    assert not any(re.search(words, "It looks like a class; the answer is right.") for words in GONE | GONE_FROM_PAGES)


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
