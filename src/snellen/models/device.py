"""Where models run and in which precision."""

from __future__ import annotations

from snellen.errors import UserError
from snellen.lazy_torch import torch


def chosen_device(text: str | torch.device | None = None) -> torch.device:
    """The device a text names; `auto` (or nothing) is the GPU where there is one."""
    if isinstance(text, torch.device):
        return text
    if text in (None, "auto"):
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(str(text))
    except RuntimeError:
        raise UserError(f"unknown device '{text}'; for example cpu, cuda, cuda:1, mps or auto") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UserError(f"device '{text}' asked for, but torch sees no GPU; use --device cpu")
    return device


def precision_on(device: torch.device) -> str:
    """bf16 autocast on CUDA only: on CPUs it is slow, and some machines die of it."""
    return "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "fp32"
