"""Whether anything may be downloaded: the variable of Hugging Face's library, which counts for all kinds of models, and
`--offline`, which sets it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

VARIABLE = "HF_HUB_OFFLINE"


def is_offline() -> bool:
    """Whether the environment forbids downloads."""
    return means_yes(os.environ.get(VARIABLE))


def means_yes(value: str | None) -> bool:
    """Whether huggingface_hub would read a variable's value as yes."""
    return (value or "").upper() in ("1", "ON", "YES", "TRUE")


@contextmanager
def offline(enabled: bool) -> Iterator[None]:
    """Hugging Face's hub asks its servers nothing while the body runs, whether its library is imported yet or not."""
    if not enabled:
        yield
        return
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    loaded = _set_constant(True)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
        _set_constant(means_yes(before) if loaded is None else loaded)


def _set_constant(value: bool) -> bool | None:
    """Set what huggingface_hub read from the environment when it was imported; what it was, None if it is not."""
    constants: Any = sys.modules.get("huggingface_hub.constants")
    if constants is None:
        return None
    before = bool(constants.HF_HUB_OFFLINE)
    constants.HF_HUB_OFFLINE = value
    return before
