"""Every output that a page shows is compared with what comes, or a mark in the page's source says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from .page_blocks import Block, Shown, shown
from .test_commands_run import BLOCKS, DOCS, ROOT, SMALLER

# Written by docs/build.py and compared by tests/test_docs.py as a whole, or text forms and signatures alone.
GENERATED = ("reference/audits.md", "reference/commands.md", "reference/distortions.md", "reference/names.md")
DIAGRAMS = ("understanding/design.md",)  # how data flows
ROOMS = ("start", "questions", "reference", "understanding")
PAGES = [
    *(ROOT / "README.md", DOCS / "index.md"),
    *(page for room in ROOMS for page in sorted((DOCS / room).glob("*.md"))),
]
OUTPUTS = {
    page.relative_to(ROOT).as_posix(): tuple(shown(page.read_text()))
    for page in PAGES
    if page.relative_to(DOCS.parent).as_posix().removeprefix("docs/") not in (*GENERATED, *DIAGRAMS)
}


def test_every_output_is_compared_or_says_why_not() -> None:
    compared = 0
    for name, outputs in OUTPUTS.items():
        for one in outputs:
            if not one.mark:
                assert one.follows, f"{name}: neither below its command nor marked:\n{one.text}"
                assert not one.follows.reason, (
                    f"{name}: its command is not run, so say why it is not compared:\n{one.text}"
                )
                assert name in BLOCKS, f"{name}: its commands are not run by tests/test_commands_run.py:\n{one.text}"
                assert name not in SMALLER, f"{name}: its commands are made smaller by SMALLER:\n{one.text}"
                assert any(block.shown.strip() in one.text for block in BLOCKS[name] if block.shown), one.text
                compared += 1
    assert compared == 8
    assert sum(bool(one.mark) for outputs in OUTPUTS.values() for one in outputs) == 3


@pytest.mark.parametrize("name", [name for name, outputs in OUTPUTS.items() if any(one.mark for one in outputs)])
def test_the_test_that_compares_an_output_reads_its_page(name: str) -> None:
    for one in OUTPUTS[name]:
        if one.mark.startswith("compared by "):
            assert Path(name).name in (ROOT / one.mark.removeprefix("compared by ")).read_text()


def test_outputs_are_told_from_commands_and_files() -> None:
    page = (
        "# T\n\n    snellen list data\n\n```text\nfolder\n```\n\n```csv\na,b\n```\n\nAnd:\n\n    a line\n\n"
        "<!-- not compared: a formula -->\n\n    a = b\n\n```console\n$ snellen x\ny\n```\n\n"
        "<!-- not run: needs a GPU -->\n\n    snellen y\n\n```text\nz\n```\n"
    )
    assert list(shown(page)) == [
        Shown("```text\nfolder\n```", Block("sh", "snellen list data\n")),
        Shown("    a line"),
        Shown("    a = b", None, "not compared: a formula"),
        Shown("y\n", Block("sh", "snellen x\n", "", "y\n")),
        Shown("```text\nz\n```", Block("sh", "snellen y\n", "needs a GPU")),
    ]
