"""Whether anything may be downloaded: the variable of Hugging Face's library, which counts for all kinds of models, `--offline`,
which sets it, and a look at whether the server answers, since the libraries of hubs retry for minutes."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from snellen.files.remote.patience import BY_SETTING, VARIABLE, how_to_go_online, is_offline, means_yes

SECONDS = 3.0  # that a server has to accept a connection
FORGET = 60.0  # seconds after which a server that did not is tried again


@contextmanager
def offline(enabled: bool) -> Iterator[None]:
    """Hugging Face's hub asks its servers nothing while the body runs, whether its library is imported yet or not."""
    if not enabled:
        yield
        return
    changed = {VARIABLE: "1"} if is_offline() else {VARIABLE: "1", BY_SETTING: "1"}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    loaded = _set_constant(True)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        _set_constant(means_yes(before[VARIABLE]) if loaded is None else loaded)


@contextmanager
def asking(address: str) -> Iterator[str]:
    """What is downloaded inside comes from the server at an address; where it cannot be reached, only what is here already is
    used. The value is why, as the end of a message: how to allow it, or that the server cannot be reached."""
    if is_offline():
        yield how_to_go_online()
        return
    if reaches(address):
        yield f"'{host_of(address)}' did not send them"
        return
    with offline(True):
        yield f"'{host_of(address)}' cannot be reached; connect to the network once, or name files of this machine"


def hub_address() -> str:
    """Where Hugging Face's library asks."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co")


def reaches(address: str) -> bool:
    """Whether a server accepts connections, within some seconds; taken for granted where a proxy stands between."""
    parts = urlsplit(address)
    if parts.scheme in getproxies() or "all" in getproxies():
        return True
    if time.monotonic() - _unreachable.get(address, -FORGET) < FORGET:
        return False
    done = threading.Event()

    def connect() -> None:
        try:
            port = parts.port or (80 if parts.scheme == "http" else 443)
            socket.create_connection((parts.hostname or "", port), timeout=SECONDS).close()
            done.set()
        except OSError:
            pass

    attempt = threading.Thread(target=connect, daemon=True)  # a look-up of a name knows no time-out
    attempt.start()
    attempt.join(SECONDS)
    if not done.is_set():
        _unreachable[address] = time.monotonic()
    return done.is_set()


def host_of(address: str) -> str:
    return urlsplit(address).hostname or address


_unreachable: dict[str, float] = {}  # when each was tried in vain


def _set_constant(value: bool) -> bool | None:
    """Set what huggingface_hub read from the environment when it was imported; what it was, None if it is not."""
    constants: Any = sys.modules.get("huggingface_hub.constants")
    if constants is None:
        return None
    before = bool(constants.HF_HUB_OFFLINE)
    constants.HF_HUB_OFFLINE = value
    return before
