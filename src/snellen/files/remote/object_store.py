"""Files in object stores, through fsspec: their facts, listings and parts of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any

from snellen.errors import UserError
from snellen.files.remote.patience import Changed
from snellen.files.remote.remote_path import PACKAGES, RemoteFacts, RemoteFolder, RemotePath

_MARKS = (
    "ETag",
    "etag",
    "md5Hash",
    "content_md5",
    "generation",
    "LastModified",
    "last_modified",
    "modified",
    "mtime",
    "created",
)


def object_facts(path: RemotePath) -> RemoteFacts | None:
    """Size and mark of a file; None for a folder."""
    info = _store(path.scheme).info(_key(path))
    return None if info["type"] == "directory" else facts_of(info)


def object_tree(path: RemotePath) -> RemoteFolder:
    """All files below a folder, by one listing."""
    top, prefix = RemoteFolder(), _key(path).rstrip("/") + "/"
    for key, info in _store(path.scheme).find(_key(path), detail=True).items():
        name = key.removeprefix(prefix)
        if info["type"] != "file" or not name or name.endswith("/") or not key.startswith(prefix):
            continue  # what some programs write to mark a folder
        *folders, last = name.split("/")
        if {"", ".", ".."} & {*folders, last}:
            raise UserError(f"'{path}' holds the key '{name[:200]}', which is not the name of a file; rename it")
        folder = top
        for part in folders:
            folder = folder.folders.setdefault(part, RemoteFolder())
        folder.files[last] = facts_of(info)
    return top


def object_part(path: RemotePath, facts: RemoteFacts, start: int, stop: int) -> bytes:
    """The bytes of a file from `start` to `stop`."""
    store, key = _store(path.scheme), _key(path)
    content: bytes = store.cat_file(key, start=start, end=stop)
    whole = (start, stop) == (0, facts.size)
    if len(content) != stop - start or (not whole and facts_of(store.info(key)) != facts):
        raise Changed(path)
    return content


def facts_of(info: Mapping[str, Any]) -> RemoteFacts:
    """Size and mark of an entry of a listing."""
    mark = next((f"{name}: {info[name]}" for name in _MARKS if info.get(name)), "")
    return RemoteFacts(int(info.get("size") or 0), mark)


def _key(path: RemotePath) -> str:
    key: str = _store(path.scheme)._strip_protocol(str(path))
    return key


def _store(scheme: str) -> Any:
    return _store_of_process(scheme, os.getpid())


@functools.cache
def _store_of_process(scheme: str, process: int) -> Any:
    """fsspec's file system; it keeps no listings of its own, which would hide changes."""
    import fsspec

    try:
        return fsspec.filesystem(scheme, use_listings_cache=False, skip_instance_cache=True)
    except ImportError:
        package = PACKAGES[scheme]
        raise UserError(
            f"{scheme}:// addresses need {package}, which is not installed; pip install {package}"
        ) from None
