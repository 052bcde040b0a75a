"""Every command and every piece of Python on the pages is carried out, or a mark in the page's source says why not.

A page's blocks run one after the other in a folder of their own, as a reader would paste them. Where a page trains or shows more
than a test has time for, numbers are made smaller by the literal table SMALLER; what such a page shows and states is then not
compared, unless SNELLEN_WHOLE_PAGES is set: then nothing is made smaller (minutes per page).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from .commands import exit_code
from .page_blocks import Block, carry_out, runnable
from .page_numbers import assert_stated, statements

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
REFERENCE = ("backgrounds", "maps", "phantom", "rank-measures", "search")  # the others are lists of texts, or generated
PAGES = [
    *(ROOT / "README.md", DOCS / "index.md"),
    *(page for room in ("start", "questions", "understanding") for page in sorted((DOCS / room).glob("*.md"))),
    *(DOCS / "reference" / f"{name}.md" for name in REFERENCE),
]
BLOCKS = {page.relative_to(ROOT).as_posix(): tuple(runnable(page.read_text())) for page in PAGES}

# Why a block may stay out, and how many do: a further one changes a number here.
NOT_RUN = {
    "needs the network": 51,
    "needs a GPU": 6,
    "needs your own files": 32,
    "takes N minutes": 2,
    "carried out by tests/": 17,
}
SHORT = (
    (r"\bn=\d{3,4}\b", "n=96"),
    (r"snellen train ", "snellen train --epochs 1 "),
    (r"--epochs \d+", "--epochs 1"),
    (r"--runs \d+", "--runs 1"),
    (r"runs=\d+", "runs=1"),
    (r"(snellen build (?!phantom)\w+)", r"\1 --workers 1"),
)
# Clips of which some are occluded at every level, and networks that differ.
CLIPS = (
    (r"\bn=4800\b", "n=480"),
    (r"--epochs ([123])0\b", r"--epochs \1"),
    (r"(snellen build (?!phantom)\w+)", r"\1 --workers 1"),
)
TRAINED = 8.0  # points: the same command on another number of threads gives another network
WHOLE = bool(os.environ.get("SNELLEN_WHOLE_PAGES"))
# Pages whose commands are carried out with smaller numbers: (pattern, what stands in its place), one after the other.
SMALLER: dict[str, tuple[tuple[str, str], ...]] = {
    "docs/questions/attention.md": ((r"n=(120|300)\b", "n=24"), *SHORT),
    "docs/questions/background.md": SHORT,
    "docs/questions/compositional.md": SHORT,
    "docs/questions/derived-sets.md": (
        *SHORT,
        (r'law="code"', 'law="code", workers=1'),
        (r'"lines"', '"lines", workers=1'),
    ),
    "docs/questions/domains.md": SHORT,
    "docs/questions/explanations.md": SHORT,
    "docs/questions/faithfulness.md": SHORT,
    "docs/questions/feature-augmentation.md": SHORT,
    "docs/questions/iruo.md": (*CLIPS, (r'format="png"', 'format="png", workers=1')),
    "docs/questions/occluders.md": CLIPS,
    "docs/questions/occlusion.md": SHORT,
    "docs/questions/robust-training.md": SHORT,
    "docs/questions/training-data.md": (
        *SHORT,
        (r"240,480,960,1920", "24,48"),
        (r"\[240, 480, 960, 1920\]", "[24, 48]"),
        (r"label\*background_class", "background_class"),  # groups of enough images
    ),
    "docs/questions/training.md": SHORT,
    "docs/reference/maps.md": SHORT,
    "docs/start/own-model.md": SHORT,
}
# Small files that a page says are the reader's.
GIVEN: dict[str, dict[str, str]] = {}
NUMBER = r"\d+(?:\.\d+)?"


def reason_of(block: Block) -> str:
    """The entry of NOT_RUN that the mark of a block is."""
    reason = re.sub(r"^takes [1-9]\d* minutes$", "takes N minutes", block.reason)
    return "carried out by tests/" if reason.startswith("carried out by tests/") else reason


def test_every_block_is_carried_out_or_says_why_not() -> None:
    out = Counter(reason_of(block) for blocks in BLOCKS.values() for block in blocks if block.reason)
    assert dict(out) == {reason: count for reason, count in NOT_RUN.items() if count}
    assert sum(not block.reason for blocks in BLOCKS.values() for block in blocks) >= 100


def test_blocks_are_found_with_their_marks_and_what_is_shown() -> None:
    page = (
        "# T\n\n<!-- not run: needs a GPU -->\n\n    snellen train x\n\nText.\n\n    occlusion(areas=[0.3])\n\n"
        "```console\n$ snellen audit a \\\n    b\n3.1%\n```\n\n```python\nprint(2)\n```\n\n```text\n2\n```\n"
    )
    assert runnable(page) == [
        Block("sh", "snellen train x\n", "needs a GPU"),
        Block("sh", "snellen audit a \\\n    b\n", "", "3.1%\n"),
        Block("python", "print(2)\n", "", "2"),
    ]
    with pytest.raises(ValueError, match="no command follows the mark"):
        list(runnable("<!-- not run: needs a GPU -->\n\nText.\n"))


def test_a_script_goes_through_a_shell_and_ends_at_the_first_command_that_fails() -> None:
    seen: list[list[str]] = []

    def command(words: list[str]) -> int:
        seen.append(words)
        return 3 if "b" in words else 0

    script = "W='x&y z'\nfor one in a b c; do\n    snellen say \"$one\" \"$W\" 'two\nlines'\ndone\n"
    assert carry_out(script, command) == 3
    assert seen == [["say", one, "x&y z", "two\nlines"] for one in "ab"]
    assert carry_out("snellen a\nsnellen c", command) == 0


def test_numbers_may_differ_a_little_and_words_may_not() -> None:
    assert_like("model 10.1% in 3 s", "model 10.0% in 3 s")
    for other in ("model 10.5% in 3 s", "models 10.0% in 3 s", "model 10.0% in 3 s more"):
        with pytest.raises(AssertionError):
            assert_like("model 10.0% in 3 s", other)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_that_another_test_carries_out_is_named_there(name: str) -> None:
    for block in BLOCKS[name]:
        if block.reason.startswith("carried out by "):
            text = (ROOT / block.reason.removeprefix("carried out by ")).read_text()
            words = re.match(r"snellen((?: [a-z]+)+)", block.text)
            assert Path(name).name in text or (words and all(word in text for word in words[1].split())), block


@pytest.mark.parametrize("name", SMALLER)
def test_every_number_that_is_made_smaller_is_on_its_page(name: str) -> None:
    text = "\n".join(block.text for block in BLOCKS[name] if not block.reason)
    for pattern, _ in SMALLER[name]:
        assert pattern in dict(SHORT) or re.search(pattern, text), pattern


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, blocks in BLOCKS.items() if not all(block.reason for block in blocks)])
def test_the_blocks_of_a_page_run_in_their_order(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for file, content in GIVEN.get(name, {}).items():
        Path(file).write_text(content)
    names: dict[str, object] = {"__name__": "page"}
    compared = WHOLE or name not in SMALLER
    for block in BLOCKS[name]:
        if block.reason:
            continue
        text = block.text
        for pattern, instead in () if WHOLE else SMALLER.get(name, ()):
            text = re.sub(pattern, instead, text)
        if file := re.match(r"# (\w+\.py)\n", text):
            Path(file[1]).write_text(text)
        elif block.language == "python":
            exec(compile(text, name, "exec"), names)
        else:
            assert carry_out(text, exit_code) == 0, f"{text}\n{capsys.readouterr().err}"
        printed = capsys.readouterr().out
        if block.shown and compared:
            assert_like(printed, block.shown)
    for statement in statements((ROOT / name).read_text()):
        if statement.kind == "of":
            assert_stated(statement, None if not compared else TRAINED if name in SMALLER else 0.1)


def assert_like(printed: str, shown: str) -> None:
    """The same words in the same order; numbers may be off by 2% or 0.02, as between processors."""
    ours, pages = printed.split(), shown.split()
    assert len(ours) == len(pages), f"{printed}\nbut the page shows\n{shown}"
    for one, other in zip(ours, pages):
        assert re.sub(NUMBER, "#", one) == re.sub(NUMBER, "#", other), f"{one!r}, but the page shows {other!r}"
        for value, expected in zip(re.findall(NUMBER, one), re.findall(NUMBER, other)):
            assert float(value) == pytest.approx(float(expected), rel=0.02, abs=0.02), f"{one!r}, not {other!r}"
