"""The how-to pages are true: each is followed in a copy of the tree, and touches as many files as contribute/index.md states."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from .howto import ROOT, Step, content_of, copy_tree, follow, run, steps_of

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("contribute/add-*.md"))
STRUCTURE = (  # what any addition to the tree must pass
    *("tests/test_rooms.py", "tests/test_readers.py", "tests/test_names.py", "tests/test_public_names.py"),
    *("tests/test_wording.py", "tests/test_docs.py", "tests/hostile/test_registered.py"),
)
OTHERS = (
    "terminal or examples or pictures or links or parse or plain_import"  # slow, or about files that no page changes
)
ROW = re.compile(r"^\| \[.+?\]\((add-[\w-]+\.md)\) \| .+ \| (.+?) \|$", re.M)


def stated(page: Path) -> dict[str, int]:
    """How many files contribute/index.md says the page's steps touch: source, test, generated."""
    cells = dict(ROW.findall((DOCS / "contribute/index.md").read_text()))
    return {kind: int(number) for number, kind in re.findall(r"(\d+) (\w+)", cells[page.name])}


def counted(files: set[str], by_hand: set[str]) -> dict[str, int]:
    kinds = {"src": "source", "tests": "test", "docs": "docs"}
    return dict(Counter(kinds[one.partition("/")[0]] if one in by_hand else "generated" for one in files))


@dataclass(frozen=True)
class FollowedPages:
    """A tree in which every page was followed, one after the other; the files that each has touched, or how it failed."""

    tree: Path
    touched: dict[Path, set[str]]
    failed: dict[Path, AssertionError]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> FollowedPages:
    pages = FollowedPages(copy_tree(tmp_path_factory.mktemp("tree")), {}, {})
    before = content_of(pages.tree)
    for page in PAGES:
        try:
            for step in steps_of(page.read_text()):
                follow(step, pages.tree)
        except AssertionError as error:
            pages.failed[page] = error
        after = content_of(pages.tree)
        pages.touched[page] = {name for name in before | after if before.get(name) != after.get(name)}
        before = after
    return pages


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed_and_touches_as_many_files_as_stated(page: Path, followed: FollowedPages) -> None:
    if page in followed.failed:
        raise followed.failed[page]
    touched = followed.touched[page]
    assert counted(touched, {step.path for step in steps_of(page.read_text())}) == stated(page)
    python = " ".join(name for name in sorted(touched) if name.endswith(".py"))
    run(f"ruff check {python}\nruff format --diff {python}", followed.tree)


@pytest.mark.slow
def test_a_tree_in_which_all_pages_were_followed_is_in_order(followed: FollowedPages) -> None:
    """One run for all of them: it takes a minute."""
    run(f"pytest -q -p no:cacheprovider {' '.join(STRUCTURE)} -k 'not ({OTHERS})'", followed.tree)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_code_a_test_and_commands(page: Path) -> None:
    steps = steps_of(page.read_text())
    by_hand = {step.path for step in steps if step.path}
    numbers = counted(by_hand, by_hand)
    assert numbers.items() <= stated(page).items()
    assert numbers["source"]
    assert numbers["test"]
    assert any(not step.path for step in steps)


def test_every_page_is_linked_and_counted() -> None:
    names = {page.name for page in PAGES}
    assert names == {name for name, _ in ROW.findall((DOCS / "contribute/index.md").read_text())}
    assert names == set(re.findall(r"\(docs/contribute/(add-[\w-]+\.md)\)", (ROOT / "CONTRIBUTING.md").read_text()))
    assert "(CONTRIBUTING.md)" in (ROOT / "README.md").read_text()


def test_a_block_is_divided_into_the_parts_that_it_names() -> None:
    page = (
        "Text.\n```python\n# src/a.py (new)\nfirst\n\n# a comment\n# src/b.py, below: x = 1  # so\nsecond\n```\n"
        "```sh\ntrue\n```\n```text\nnothing\n```\n"
    )
    assert steps_of(page) == [
        Step("src/a.py", "first\n\n# a comment\n"),
        Step("src/b.py", "second\n", "x = 1  # so", "below"),
        Step("", "true\n"),
    ]
    with pytest.raises(ValueError, match="does not say where it goes: 'first'"):
        steps_of("```python\nfirst\n```\n")


def test_content_goes_above_or_below_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    x = 1\n    return x\n")
    follow(Step("a.py", "    y = 2\n", "x = 1", "below"), tmp_path)
    follow(Step("a.py", "    w = 0\n", "x = 1", "above"), tmp_path)
    assert (tmp_path / "a.py").read_text() == "def f():\n    w = 0\n    x = 1\n    y = 2\n    return x\n"


def test_steps_that_do_not_fit_the_tree_fail(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\nx = 1\n")
    with pytest.raises(AssertionError, match="is there already"):
        follow(Step("a.py", "y = 2\n"), tmp_path)
    with pytest.raises(AssertionError, match="has the line 'x = 1' 2 times"):
        follow(Step("a.py", "y = 2\n", "x = 1", "below"), tmp_path)
    with pytest.raises(AssertionError, match="no such thing"):
        follow(Step("", "echo no such thing; false\ntrue\n"), tmp_path)
