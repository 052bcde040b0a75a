"""Whether nothing may be downloaded: the variable of Hugging Face's library, which counts for all kinds of models."""

from __future__ import annotations

import os

VARIABLE = "HF_HUB_OFFLINE"


def is_offline() -> bool:
    """Whether the environment forbids downloads."""
    return means_yes(os.environ.get(VARIABLE))


def means_yes(value: str | None) -> bool:
    """Whether huggingface_hub would read a variable's value as yes."""
    return (value or "").upper() in ("1", "ON", "YES", "TRUE")
