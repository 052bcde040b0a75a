"""Files behind http:// and https://: their facts, and parts of them.

A redirection is followed to http and https alone, and never from https to http. No more of an answer is read than was asked for.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urljoin, urlsplit

from snellen.errors import UserError
from snellen.extras import import_package
from snellen.files.remote.patience import Changed
from snellen.files.remote.remote_path import WEB, RemoteFacts, RemotePath, without_secrets

KIB, MIB = 1 << 10, 1 << 20
CONNECT, SILENCE, WHOLE = (
    10.0,
    30.0,
    600.0,
)  # seconds to connect, for the head of an answer or its next part, and for all
MOST_REDIRECTIONS = 5
MOST_WITHOUT_RANGES = 64 * MIB  # of a file whose server sends it only whole
_MARKS = ("ETag", "Last-Modified", "Content-MD5")
_sessions: dict[int, Any] = {}  # by process: one that was forked must not use its parent's


def web_facts(path: RemotePath) -> RemoteFacts:
    """Size and mark of a file."""
    return _wait(_facts(path))


def web_part(path: RemotePath, facts: RemoteFacts, start: int, stop: int) -> bytes:
    """The bytes of a file from `start` to `stop`."""
    return _wait(_part(path, facts, start, stop))


async def _facts(path: RemotePath) -> RemoteFacts:
    async with _answer(path, {"Range": "bytes=0-0"}) as answer:  # not HEAD, which some refuse
        if answer.status == 416 and answer.headers.get("Content-Range") == "bytes */0":
            return RemoteFacts(0, _mark(answer.headers))
        _check_status(path, answer)
        total = _total(answer)
        if total is None:
            raise UserError(f"'{path}': the server does not say how large it is; download it and name the file")
        return RemoteFacts(total, _mark(answer.headers))


async def _part(path: RemotePath, facts: RemoteFacts, start: int, stop: int) -> bytes:
    whole = (start, stop) == (0, facts.size)
    async with _answer(path, {} if whole else {"Range": f"bytes={start}-{stop - 1}"}) as answer:
        if answer.status == 416:
            raise Changed(path)
        _check_status(path, answer)
        if _total(answer) not in (None, facts.size) or (facts.mark and _mark(answer.headers) != facts.mark):
            raise Changed(path)
        if answer.status == 206:
            if not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-{stop - 1}/"):
                raise UserError(f"'{path}': the server sends another part of it than was asked for; download it")
            return await _body(answer, stop - start)
        if not whole and facts.size > MOST_WITHOUT_RANGES:
            raise UserError(f"'{path}': the server sends no parts of files; download it and name the file")
        return (await _body(answer, facts.size))[start:stop]


async def _body(answer: Any, length: int) -> bytes:
    """So many bytes; fewer are an answer that broke off, more are not read."""
    parts, left = [], length
    while left and (part := await answer.content.read(min(left, 256 * KIB))):
        parts.append(part)
        left -= len(part)
    if left:
        raise ConnectionError(f"the answer broke off after {length - left:,} of {length:,} bytes")
    return b"".join(parts)


@asynccontextmanager
async def _answer(path: RemotePath, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    """The answer to a request, with redirections followed."""
    url, session = _url(path), await _session()
    for _ in range(MOST_REDIRECTIONS + 1):
        async with asyncio.timeout(SILENCE):  # however slowly it drips
            head = await session.get(url, headers=headers, allow_redirects=False)
        async with head as answer:
            if answer.status not in (301, 302, 303, 307, 308):
                yield answer
                return
            target = urljoin(url, answer.headers.get("Location", ""))
        _check_target(path, url, target)
        url = target
    raise UserError(f"'{path}' redirects more than {MOST_REDIRECTIONS} times; name the address that it leads to")


def _check_target(path: RemotePath, url: str, target: str) -> None:
    before, after = urlsplit(url), urlsplit(target)
    if after.scheme not in WEB or not after.hostname or (before.scheme == "https" and after.scheme == "http"):
        place = without_secrets(f"{after.scheme}://{after.hostname or ''}")
        raise UserError(f"'{path}' redirects to '{place}', which is not followed; name the address that you mean")


def _check_status(path: RemotePath, answer: Any) -> None:
    status, reason = answer.status, str(answer.reason or "").lower()
    if status in (404, 410):
        raise FileNotFoundError(str(path))
    if status in (401, 403, 407):
        raise PermissionError(f"{status} {reason}")
    if status in (408, 425, 429) or status >= 500:
        raise ConnectionError(f"{status} {reason}")
    if status not in (200, 206):
        raise UserError(f"'{path}' cannot be read: the server answers {status} {reason}; check the address")
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise UserError(f"'{path}': the server packs its answers though not asked to; download it and name the file")


def _total(answer: Any) -> int | None:
    """How many bytes the whole file has."""
    if answer.status == 206:
        match = re.fullmatch(r"bytes \d+-\d+/(\d+)", answer.headers.get("Content-Range", ""))
        return int(match[1]) if match else None
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None


def _mark(headers: Mapping[str, str]) -> str:
    return next((f"{name}: {headers[name]}" for name in _MARKS if headers.get(name)), "")


def _url(path: RemotePath) -> str:
    """The path holds no query: what looks like one belongs to a file's name."""
    return str(path).replace("?", "%3F").replace("#", "%23")


async def _session() -> Any:
    """One for all requests of this process, so that connections are used again."""
    if os.getpid() not in _sessions:
        aiohttp = import_package("aiohttp", "reading https:// addresses")
        timeout = aiohttp.ClientTimeout(total=WHOLE, sock_connect=CONNECT, sock_read=SILENCE)
        _sessions[os.getpid()] = aiohttp.ClientSession(
            timeout=timeout, trust_env=True, auto_decompress=False, headers={"Accept-Encoding": "identity"}
        )
        atexit.register(_close)
    return _sessions[os.getpid()]


def _close() -> None:
    session = _sessions.pop(os.getpid(), None)
    if session is not None:
        _wait(session.close())


def _wait(task: Any) -> Any:
    from fsspec.asyn import get_loop

    try:
        return asyncio.run_coroutine_threadsafe(task, get_loop()).result()
    except TimeoutError as error:
        silent = type(error).__name__ == "SocketTimeoutError"
        raise ConnectionError(f"nothing came for {SILENCE:.0f} s" if silent else "its answer takes too long") from error
    except Exception as error:
        name = type(error).__name__
        if name == "ClientPayloadError":
            raise ConnectionError("the answer broke off") from error
        if name == "ClientResponseError":  # of aiohttp's parser: the status of an answer is looked at here
            raise ConnectionError("what it sends is not HTTP") from error
        raise
