"""Journals of searches: cut anywhere, on a full disk, or with more lines than the search has evaluations."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.search.algorithms import Evolution, RandomSearch
from snellen.search.fitness import Edits
from snellen.search.history import Evaluation, History
from snellen.search.run_search import Search
from snellen.search.spaces import SPACES, Space, Transformation

SEARCH = Search(SPACES["mnist"], 2, Evolution(4, 3), seed=5)


def value_of(edits: Edits) -> float:
    return 0.1 + 0.8 * (sum(map(ord, "".join(edits))) % 997) / 997


def resumed(path: Path, search: Search = SEARCH) -> Any:
    return search.run(value_of, History(search.facts(), path))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    resumed(tmp_path / "journal.jsonl")
    return tmp_path / "journal.jsonl"


def test_a_journal_cut_at_any_byte_resumes_and_ends_the_same(journal: Path) -> None:
    whole, content = SEARCH.run(value_of), journal.read_bytes()
    head, first = (len(line) + 1 for line in content.splitlines()[:2])
    for end in [*range(head + first + 1), len(content) - 1]:
        journal.write_bytes(content[:end])
        assert resumed(journal) == whole, end
        assert journal.read_bytes() == content, end


class FullDisk:
    """A file that takes so many characters and then no more."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, content: Any) -> None:
        self.file.write(content[: self.room])
        if len(content) > self.room:
            self.file.flush()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(content)


@pytest.mark.parametrize("room", [0, 1, 30, 400, 5000])
def test_a_disk_that_fills_while_a_journal_is_written_leaves_one_that_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    path, opened = tmp_path / "searches" / "journal.jsonl", Path.open
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", lambda self, *mode, **how: FullDisk(opened(self, *mode, **how), room))
        patched.setattr(Path, "write_bytes", lambda self, content: FullDisk(opened(self, "wb"), room).write(content))
        with pytest.raises(UserError, match="no space left on device; free some space and run the same command again"):
            resumed(path)
    assert resumed(path) == SEARCH.run(value_of)


def test_lines_behind_the_last_evaluation_are_not_believed(journal: Path) -> None:
    whole = SEARCH.run(value_of)
    seen = json.loads(journal.read_text().splitlines()[1])["edits"]
    for edits in (("red(3)", "red(4)"), tuple(seen)):  # another tuple, and one whose value is known
        forged = Evaluation(edits, 0.0)
        line = json.dumps({**forged._asdict(), "checksum": key_of(forged)})
        content = journal.read_bytes()
        journal.write_bytes(content + line.encode() + b"\n")
        assert resumed(journal) == whole
        journal.write_bytes(content)


def test_a_search_that_stops_earlier_takes_of_a_journal_only_its_own_part(tmp_path: Path) -> None:
    search = Search(SPACES["mnist"], 2, RandomSearch(64), seed=1)
    whole = resumed(tmp_path / "a.jsonl", search)
    early = Search(SPACES["mnist"], 2, RandomSearch(64), seed=1, stop=whole.history[0].value)
    assert resumed(tmp_path / "a.jsonl", early) == early.run(value_of)
    assert early.run(value_of).evaluations == 16


def test_a_value_that_changes_from_one_line_to_the_next_is_refused(tmp_path: Path) -> None:
    few = Space("few", (Transformation("red", ("red(1)", "red(2)")),))
    search, path = Search(few, 1, RandomSearch(9), seed=1), tmp_path / "a.jsonl"
    resumed(path, search)
    lines = path.read_text().splitlines()
    forged = Evaluation(tuple(json.loads(lines[-1])["edits"]), 0.2)
    path.write_text("\n".join([*lines[:-1], json.dumps({**forged._asdict(), "checksum": key_of(forged)})]) + "\n")
    with pytest.raises(UserError, match="a.jsonl does not fit this search: its evaluation 9 is another"):
        resumed(path, search)


@pytest.mark.parametrize(
    "content", [b"shopping list", b'{"name": "net"}', b'{"search": 5}', b'{"search": "a"} and more']
)
def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    for ending in (b"", b"\n"):
        path.write_bytes(content + ending)
        with pytest.raises(UserError, match=r"notes\.txt"):
            resumed(path)
        assert path.read_bytes() == content + ending


def test_the_whole_head_of_another_search_without_its_newline_is_refused(tmp_path: Path) -> None:
    other = Search(SPACES["mnist"], 3, RandomSearch(9))
    History(other.facts(), tmp_path / "a.jsonl")
    content = (tmp_path / "a.jsonl").read_bytes().rstrip(b"\n")
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(UserError, match="is the history of another search"):
        resumed(tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == content
