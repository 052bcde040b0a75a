"""Asking a server again, with pauses; one that does not answer ends in one line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from snellen.errors import UserError, is_command
from snellen.files.net import reason_of
from snellen.files.remote.remote_path import RemotePath, without_secrets

T = TypeVar("T")
PAUSES = (0.5, 2.0, 5.0)  # seconds before an address is asked again
VARIABLE = "HF_HUB_OFFLINE"  # of Hugging Face's library; here it counts for every download
BY_SETTING = "SNELLEN_OFFLINE"  # set where the setting `offline` set that, also for processes that are started inside
_HOPELESS = (ValueError, TypeError, KeyError, AttributeError, NotImplementedError)  # asking again would not help


class Changed(UserError):
    """A remote file that is no longer what was listed."""

    def __init__(self, path: RemotePath) -> None:
        super().__init__(
            f"'{path}' has changed since it was listed; run the command again when it stays as it is, into another folder if "
            "it then says that the data are others"
        )


def is_offline() -> bool:
    """Whether the environment forbids downloads."""
    return means_yes(os.environ.get(VARIABLE))


def how_to_go_online() -> str:
    """What to do where downloads are forbidden: leave the setting out, or the variable, which every command obeys."""
    if BY_SETTING in os.environ:
        return f"run once without {'--offline' if is_command() else 'offline=True'}"
    return f"unset {VARIABLE}"


def means_yes(value: str | None) -> bool:
    """Whether huggingface_hub would read a variable's value as yes."""
    return (value or "").upper() in ("1", "ON", "YES", "TRUE")


def patiently(path: RemotePath, call: Callable[[], T]) -> T:
    """What a call comes back with, made again where the server does not answer. FileNotFoundError is an answer."""
    if is_offline():
        raise UserError(f"'{path}' is not read while offline; {how_to_go_online()}, or copy it to this machine")
    began = time.monotonic()
    for pause in (*PAUSES, None):
        try:
            return call()
        except (UserError, FileNotFoundError):
            raise
        except PermissionError as error:
            raise _denied(path, error) from error
        except ImportError as error:
            raise UserError(f"{path.scheme}:// addresses cannot be read: {_words(error)}") from error
        except _HOPELESS as error:
            raise UserError(f"'{path}' cannot be read: {_words(error)}") from error
        except Exception as error:
            if "Credential" in type(error).__name__:
                raise _denied(path, error) from error
            if pause is None:
                raise UserError(
                    f"'{path}' does not answer ({_words(error)}; asked {len(PAUSES) + 1} times in "
                    f"{time.monotonic() - began:.0f} s); check the address and the network, then run the same command again"
                ) from error
        time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def _denied(path: RemotePath, error: Exception) -> UserError:
    return UserError(
        f"'{path}' may not be read ({_words(error)}); check the address, and the credentials of this machine "
        "(docs/start/remote.md)"
    )


def _words(error: Exception) -> str:
    return without_secrets(reason_of(error)).rstrip(".")
