"""The same files at addresses: in an object store (fsspec's, in memory), and as what a web server sends."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from .raw_service import serve_bytes
from .service_calls import AGAIN, HOLD, pieces_of

BUCKET = "/hostile"
ADDRESS = f"memory:/{BUCKET}"
SETTINGS = {"HF_HUB_OFFLINE": "0", "SNELLEN_REMOTE_CACHE_SIZE": "0", "NO_PROXY": "localhost"}


def data(text: str) -> Callable[[Path], object]:
    """Reads a dataset and all its photos from an object store; `{}` in the text is the folder's address there."""

    def read(place: Path) -> object:
        from snellen.data import load_data

        from .calls import look_at

        return look_at(load_data(text.format(place)))

    return there(read)


def there(call: Callable[[Path], object]) -> Callable[[Path], object]:
    """Calls it with the address of the folder's copy in an object store."""

    def read(folder: Path) -> object:
        import fsspec

        from snellen.files import expand_home

        store = fsspec.filesystem("memory")
        files = [Path(place) / name for place, _, names in os.walk(folder) for name in names]
        store.pipe({f"{BUCKET}/{file.relative_to(folder)}": file.read_bytes() for file in files if file.is_file()})
        try:
            with patch.dict(os.environ, SETTINGS):
                return call(expand_home(ADDRESS))
        finally:
            if store.exists(BUCKET):
                store.rm(BUCKET, recursive=True)

    return read


def fetched(folder: Path) -> object:
    """A file of a web server that sends the bytes of a file to every request, or why there is none."""
    from snellen.files import read_bytes
    from snellen.files.remote import patience, web_store

    content = read_bytes(folder / "answer.http")
    seconds = 60 if AGAIN not in content and HOLD not in content else 0.05
    waiting = patch.multiple(web_store, SILENCE=seconds, CONNECT=seconds, WHOLE=2 * seconds)
    with (
        waiting,
        patch.object(patience, "PAUSES", (0.0,)),
        serve_bytes(lambda: pieces_of(content), path="/answer.http") as url,
    ):
        try:
            with patch.dict(os.environ, SETTINGS):
                return read_bytes(url)
        finally:
            web_store._close()
