"""Where models run and in which precision."""

from __future__ import annotations

from typing import TypeAlias

from snellen.errors import UserError, option
from snellen.files.net import reason_of
from snellen.lazy_torch import torch

Device: TypeAlias = "str | torch.device | None"  # a name such as cuda:1 or auto; None is auto


def choose_device(device: Device = None) -> torch.device:
    """The device that is meant; `auto` (or nothing) is the GPU where there is one."""
    if isinstance(device, torch.device):
        return device
    if device in (None, "auto"):
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(str(device))
    except RuntimeError:
        raise UserError(f"unknown device '{device}'; for example cpu, cuda, cuda:1, mps or auto") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise UserError(f"expected a GPU for device '{device}', but torch sees none; use {option('device')} cpu")
    _check_usable(chosen)
    return chosen


def _check_usable(device: torch.device) -> None:
    """Refuse a device that this torch knows by name only, or that the machine does not have."""
    if device.type == "cpu":
        return
    try:
        torch.zeros(1, device=device).cpu()
    except Exception as error:  # each kind of device fails in its own way
        reason = reason_of(error).split(". ")[0]
        raise UserError(
            f"device '{device}' cannot be used here ({reason}); use {option('device')} cpu or another one"
        ) from None


def precision_on(device: torch.device) -> str:
    """bf16 autocast on CUDA only: on CPUs it is slow, and some machines die of it."""
    return "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "fp32"
