"""Repair: what was damaged on disk or went missing is removed with all that rests on it, so that it is asked again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from snellen.engine.keep.store import Present, Store, is_whole, read_pass, shard_file, shard_of


def repair(store: Store) -> list[str]:
    """Leave only files that are what they were written as; one notice for each that is not.

    Answers stand only as long as the samples and the shown rows that they rest on.
    """
    for half in store.folder.rglob("*.part"):
        half.unlink(missing_ok=True)
    notices = list(_check_cells(store))
    notices += _check_passes(store)
    damaged = _damaged_files(store)
    for file in damaged:
        derived = file.parent.parent.name in ("maps", "things")
        again = "it is made again when it is needed" if derived else "its images are asked again"
        notices.append(f"{file.relative_to(store.folder)} was damaged; {again}")
        file.unlink(missing_ok=True)
    records = sorted((store.folder / "answers").glob("*/pass.json"))
    present = {on: store.present(on) for on in {content["on"] for content in map(read_pass, records) if content}}
    for record in records:
        content = read_pass(record)
        assert content is not None  # unreadable passes were removed above
        notices += _remove_unsupported(store, record, content, present[content["on"]])
    return notices


def _damaged_files(store: Store) -> list[Path]:
    """The shard files that are not whole; two threads, since hashing leaves the interpreter to others."""
    files = [
        file for table in ("samples", "maps", "shown", "answers", "trials", "things") for file in store.files(table)
    ]
    with ThreadPoolExecutor(max_workers=2) as pool:
        return [file for file, whole in zip(files, pool.map(is_whole, files)) if not whole]


def _check_cells(store: Store) -> Iterator[str]:
    """The `cells` table is rewritten from the plan, so a damaged one is only removed."""
    import pyarrow.parquet as pq

    for path in store.files("cells"):
        try:
            pq.read_table(path, page_checksum_verification=True)
        except (OSError, ValueError):
            path.unlink(missing_ok=True)
            yield f"{path.name} was damaged; it is written again"


def _check_passes(store: Store) -> Iterator[str]:
    """Passes that no longer say which cells they hold are removed whole."""
    folders = [folder for table in ("answers", "shown") for folder in (store.folder / table).glob("*")]
    for name in sorted({folder.name for folder in folders}):
        record = store.folder / "answers" / name / "pass.json"
        if read_pass(record) is None:
            for table in ("answers", "shown"):
                shutil.rmtree(store.folder / table / name, ignore_errors=True)
            yield f"{record.relative_to(store.folder)} was damaged or missing; its images are asked again"


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
            file.unlink(missing_ok=True)
            yield f"{file.relative_to(store.folder)} lacks its {lost}; its images are asked again"
