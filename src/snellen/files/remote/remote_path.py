"""Addresses that stand where a path stands: `s3://bucket/photos`, `https://host/photos.csv`.

Functions of `snellen.files` read them as they read files of this machine. Anything else that is given one, such as `open`, ends
in one line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PosixPath
from threading import RLock
from typing import Any, NoReturn

from snellen.errors import UserError

WEB = frozenset({"http", "https"})
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "memory": "fsspec"}  # of object stores
SCHEMES = frozenset({*WEB, *PACKAGES})
_BEGINNING = re.compile(r"([a-z][a-z0-9+.-]*)://")
_SIGNED = re.compile(
    r"x-(amz|goog)-.*|awsaccesskeyid|googleaccessid|expires|policy|sig|(.*[-_])?(key|token|secret|password|signature)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RemoteFacts:
    """The size of a remote file in bytes, and what its server says that changes with its content (ETag, time); '' for nothing."""

    size: int
    mark: str = ""


@dataclass(frozen=True)
class RemoteFolder:
    """What a store lists in a folder and below."""

    folders: dict[str, RemoteFolder] = field(default_factory=dict)
    files: dict[str, RemoteFacts] = field(default_factory=dict)


class RemoteLook:
    """What was learnt of addresses since a text was read: each file keeps its facts, so that a change while it is read shows."""

    def __init__(self) -> None:
        self.facts: dict[str, RemoteFacts | None] = {}
        self.trees: dict[str, RemoteFolder] = {}
        self.lock = RLock()


class RemotePath(PosixPath):
    """An address as a path: names are joined and taken apart as those of files. Paths made from one share its `look`."""

    _shared: RemoteLook

    @property
    def look(self) -> RemoteLook:
        look: RemoteLook | None = self.__dict__.get("_shared")
        if look is None:
            look = self._shared = RemoteLook()
        return look

    @property
    def scheme(self) -> str:
        return self.parts[0].removesuffix(":")

    def __str__(self) -> str:
        scheme, colon, rest = super().__str__().partition(":/")
        return f"{scheme}://{rest}" if colon and scheme in SCHEMES else f"{scheme}{colon}{rest}"

    def __fspath__(self) -> str:
        self.refuse()

    def __reduce__(self) -> Any:
        """Another process knows what was learnt of this file, so that a change while it is read shows there too."""
        return _known_path, (str(self), self.look.facts.get(str(self)))

    def refuse(self) -> NoReturn:
        raise UserError(
            f"'{self}' is an address, from which this is not read; copy it to this machine and name it there"
        )

    def __truediv__(self, name: Any) -> RemotePath:
        return self._sharing(super().__truediv__(name))

    def joinpath(self, *names: Any) -> RemotePath:
        return self._sharing(super().joinpath(*names))

    @property
    def parent(self) -> RemotePath:
        return self._sharing(super().parent)

    def with_name(self, name: str) -> RemotePath:
        return self._sharing(super().with_name(name))

    def with_suffix(self, suffix: str) -> RemotePath:
        return self._sharing(super().with_suffix(suffix))

    def absolute(self) -> RemotePath:
        return self

    def expanduser(self) -> RemotePath:
        return self

    def resolve(self, strict: bool = False) -> RemotePath:
        return self

    def _sharing(self, other: Path) -> RemotePath:
        assert isinstance(other, RemotePath)
        other._shared = self.look
        return other


def _known_path(text: str, facts: RemoteFacts | None) -> RemotePath:
    path = RemotePath(text)
    if facts is not None:
        path.look.facts[text] = facts
    return path


def address_scheme(text: str) -> str:
    """What stands before `://` at the beginning of a text; '' where nothing does."""
    match = _BEGINNING.match(text)
    return match[1] if match else ""


def remote_path(text: str) -> RemotePath | None:
    """The address that a text is, not asked for yet; None for anything else. One that holds a password is refused."""
    scheme = address_scheme(text)
    if scheme not in SCHEMES:
        return None
    place = text.removeprefix(f"{scheme}://")
    user, at, host = place.partition("/")[0].rpartition("@")
    if at and (":" in user or not scheme.startswith("a")):  # of Azure's the container stands there
        raise UserError(
            f"'{scheme}://{host}…' holds a user or a password, which every report would show; leave them out: libraries look "
            "for them in their own files and variables (docs/start/remote.md)"
        )
    if not place.strip("/"):
        raise UserError(f"expected an address as {scheme}://{'host' if scheme in WEB else 'bucket'}/path, got '{text}'")
    return RemotePath(text)


def check_address(path: str, options: list[str]) -> None:
    """Raise where a path is an address of no known kind, or one of its options looks like a secret: run folders and reports show
    them all."""
    scheme = address_scheme(path)
    if not scheme or scheme == "file":
        return
    if scheme not in SCHEMES:
        known = ", ".join(f"{name}://" for name in sorted(SCHEMES))
        raise UserError(f"unknown kind of address '{scheme}://'; expected one of {known}, or a path of this machine")
    remote_path(path)
    signed = next((name for name in options if _SIGNED.fullmatch(name)), None)
    if signed is not None:
        raise UserError(
            f"'{path}' comes with a signature or password ('{signed[:40]}'), which every report would show; leave "
            "it out: libraries look for such in their own files and variables (docs/start/remote.md)"
        )


def without_secrets(text: str) -> str:
    """A library's words without queries and passwords of addresses: a redirection may have brought them."""
    return re.sub(r"(://)[^/\s@'\"]*@", r"\1", re.sub(r"(://[^\s?'\"]*)\?[^\s'\")]*", r"\1", text))
