"""Repair: what was damaged on disk or went missing is removed with all that rests on it, so that it is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.atomic import remove
from snellen.engine.keep.shard_file import is_whole, shard_file, shard_of
from snellen.engine.keep.store import FOLDERS, Present, Store, read_pass
from snellen.engine.keep.thumbnail_file import read_thumbnail
from snellen.errors import UserError

_AGAIN = {  # what becomes of a file that is lost, by its table; all others are asked again
    "maps": "it is made again",
    "things": "it is made again",
    "searches": "the search is made again",
    "surveys": "the survey is made again",
    "thumbs": "it is drawn again where its distortion can be",
}
_ASK_AGAIN = "its images are asked again"


@dataclass(frozen=True)
class Repair:
    """What was wrong in a store, one notice each, and the shown keys whose `pictures` are to be drawn again."""

    notices: Sequence[str] = ()
    pictures: frozenset[str] = frozenset()


def repair_store(store: Store) -> Repair:
    """Leave only files that are what they were written as.

    Answers stand only as long as the samples and the shown rows that they rest on.
    """
    for half in store.folder.rglob("*.part"):
        remove(half)
    losses, damages = _losses(store), _damaged_files(store)
    notices = [_describe(*loss) for loss in losses]
    notices += _check_cells(store)
    notices += _check_passes(store)
    for file in damages:
        if file.exists():  # its whole pass may be gone
            again = _AGAIN.get(file.parent.parent.name, _ASK_AGAIN)
            notices.append(f"{file.relative_to(store.folder)} was damaged; {again}")
            remove(file)
    notices += _check_support(store)
    folders = [*(name for name, *_ in losses), *(f"{file.parent.parent.name}/{file.parent.name}" for file in damages)]
    tables = [folder.partition("/") for folder in folders]
    return Repair(notices, frozenset(shown for table, _, shown in tables if table == "thumbs"))


def _check_support(store: Store) -> Iterator[str]:
    """Remove answers without the samples or the shown rows that they rest on."""
    records = sorted((store.folder / "answers").glob("*/pass.json"))
    present = {on: store.present(on) for on in {content["on"] for content in map(read_pass, records) if content}}
    for record in records:
        content = read_pass(record)
        assert content is not None  # unreadable passes were removed above
        yield from _remove_unsupported(store, record, content, present[content["on"]])


def _losses(store: Store) -> list[tuple[str, int, int]]:
    """The folders that hold fewer files than run.json counted when the run was complete: name, files now, files then."""
    before, now = store.facts().get("files", {}), store.count_files()
    return [(folder, now.get(folder, 0), count) for folder, count in before.items() if now.get(folder, 0) < count]


def _describe(folder: str, now: int, count: int) -> str:
    again = _AGAIN.get(folder.partition("/")[0], "what is missing is asked again").replace(
        "it is", "what is missing is"
    )
    return f"{folder} has {now} of {count} files; {again}"


def _damaged_files(store: Store) -> list[Path]:
    """The files of tables that are not whole; two threads, since hashing leaves the interpreter to others."""
    files = [file for table in FOLDERS if table != "thumbs" for file in store.files(table)]
    pictures = sorted((store.folder / "thumbs").glob("*/*.png"))
    with ThreadPoolExecutor(max_workers=2) as pool:
        damaged = [file for file, whole in zip(files, pool.map(is_whole, files)) if not whole]
    return damaged + [file for file in pictures if read_thumbnail(file) is None]


def _check_cells(store: Store) -> Iterator[str]:
    """The `cells` table is rewritten from the plan, so a damaged one is only removed."""
    try:
        if not store.cells() and store.files("answers"):
            yield "cells.parquet was missing; the cells of this command are listed in it again"
    except UserError:
        remove(store.folder / "cells.parquet")
        yield "cells.parquet was damaged; the cells of this command are listed in it again"


def _check_passes(store: Store) -> Iterator[str]:
    """Passes that no longer say which cells they hold are removed whole."""
    folders = [folder for table in ("answers", "shown") for folder in (store.folder / table).glob("*")]
    for name in sorted({folder.name for folder in folders}):
        record = store.folder / "answers" / name / "pass.json"
        if read_pass(record) is None:
            for table in ("answers", "shown"):
                remove(store.folder / table / name)
            yield f"{record.relative_to(store.folder)} was damaged or missing; {_ASK_AGAIN}"


def _remove_unsupported(
    store: Store, record: Path, content: Mapping[str, Any], present: Mapping[int, Present]
) -> Iterator[str]:
    """Remove the answers of a pass whose samples are gone, or the rows of what was shown."""
    needed = set(content["cells"].values())
    for file in sorted(record.parent.glob("*.parquet")):
        shard = shard_of(file)
        lost = "shown" if needed - present[shard].shown else ""
        lost = lost or ("samples" if shard_file(store.folder / "samples" / content["on"], shard) is None else "")
        if lost:
            remove(file)
            yield f"{file.relative_to(store.folder)} lacks its {lost}; {_ASK_AGAIN}"
