"""What is known of addresses: whether there is a file or folder, its size and mark, and what lies below it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from snellen.errors import UserError
from snellen.files.remote.object_store import object_facts, object_tree
from snellen.files.remote.patience import patiently
from snellen.files.remote.remote_path import WEB, RemoteFacts, RemoteFolder, RemotePath
from snellen.files.remote.web_store import web_facts

AT_ONCE = 16  # files that are asked about side by side
LISTED_FROM = 50  # files of an object store: so many are listed with all that lies in their folder
_FOLDER = RemoteFacts(-1)


def facts_at(path: RemotePath) -> RemoteFacts | None:
    """Size and mark of the file at an address, asked for once; None where there is none."""
    known = path.look.facts
    if str(path) not in known:
        listed = _listed(path)
        known[str(path)] = _server_facts(path) if listed is None else listed.files.get(path.name)
    return known[str(path)]


def facts_of_many(paths: Sequence[RemotePath]) -> None:
    """Learn the facts of many files side by side: each is a request of its own where a server cannot list them."""
    unknown = [path for path in paths if str(path) not in path.look.facts]
    if len(unknown) > LISTED_FROM and unknown[0].scheme not in WEB:
        remote_tree(_common(unknown))
    elif len(unknown) > 1:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(facts_at, unknown))


def remote_exists(path: RemotePath) -> bool:
    return facts_at(path) is not None or is_remote_folder(path)


def is_remote_folder(path: RemotePath) -> bool:
    """Whether files lie below an address; nothing does behind https://, which has no listings."""
    if path.scheme in WEB:
        return False
    facts_at(path)
    listed = _folder(path)
    return f"{path}/" in path.look.facts or (listed is not None and bool(listed.files or listed.folders))


def remote_tree(path: RemotePath) -> RemoteFolder:
    """All that lies below an address, listed once for it and the folders in it."""
    if path.scheme in WEB:
        raise UserError(
            f"'{path}' cannot be listed: {path.scheme}:// has no folders; name a table of images (manifest:), a tar "
            "file or another file there"
        )
    look = path.look
    with look.lock:
        tree = _folder(path)
        if tree is None:
            tree = look.trees[str(path)] = patiently(path, lambda: object_tree(path))
    return tree


def remote_files(path: RemotePath, folder: RemoteFolder) -> Iterator[tuple[RemotePath, RemoteFacts]]:
    """Every file below, with its facts."""
    waiting = [(path, folder)]
    while waiting:
        place, folder = waiting.pop()
        for name, facts in folder.files.items():
            yield place / name, facts
        waiting += [(place / name, below) for name, below in folder.folders.items()]


def mark_number(facts: RemoteFacts | None) -> tuple[int, int]:
    """Size and mark as two numbers, as fingerprints have them of local files; zeros where there is no file."""
    if facts is None:
        return (0, 0)
    digest = hashlib.blake2b(facts.mark.encode(), digest_size=8).digest()
    return (facts.size, int.from_bytes(digest, "big") >> 1 if facts.mark else 0)


def _server_facts(path: RemotePath) -> RemoteFacts | None:
    """What the server says of one address; that it is a folder is remembered."""
    try:
        facts = patiently(path, lambda: web_facts(path) if path.scheme in WEB else object_facts(path))
    except FileNotFoundError:
        return None
    if facts is None:
        path.look.facts[f"{path}/"] = _FOLDER
    return facts


def _listed(path: RemotePath) -> RemoteFolder | None:
    """The listed folder in which a path lies; None where no listing covers it."""
    return _folder(path.parent)


def _folder(path: RemotePath) -> RemoteFolder | None:
    """A folder of the listing, empty where it lists none there; None where the listing does not reach."""
    below: list[str] = []
    place, trees = path, path.look.trees
    while trees and str(place) not in trees:
        if place.parent == place:
            return None
        below.append(place.name)
        place = place.parent
    if not trees:
        return None
    folder = trees[str(place)]
    for name in reversed(below):
        folder = folder.folders.get(name, RemoteFolder())
    return folder


def _common(paths: Sequence[RemotePath]) -> RemotePath:
    """The folder that all of some files lie in."""
    folder = paths[0].parent
    while not all(path.is_relative_to(folder) for path in paths):
        folder = folder.parent
    return folder
