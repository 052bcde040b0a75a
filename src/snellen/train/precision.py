"""The precision that a network computes in."""

from __future__ import annotations

from typing import Any

from snellen.lazy_torch import torch
from snellen.models.device import precision_on


def autocast(device: torch.device) -> Any:
    """bf16 on a GPU that has it, else float32: on a CPU bf16 crashes some machines."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision_on(device) == "bf16")
