"""Weights on disk: safetensors with a card in the header, or `.pt` files read without running code."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor, nn

CARD = "snellen"  # the header entry that holds our card as JSON
_LONGEST_HEADER = 100_000_000


def save_checkpoint(path: Path, module: nn.Module, card: Mapping[str, Any]) -> None:
    """Write a module's weights and a JSON card (arch, classes, size, mean, std, recipe …) as one safetensors file."""
    from safetensors.torch import save_file

    state = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    half = path.with_name(path.name + ".part")
    save_file(state, half, metadata={CARD: json.dumps(dict(card), sort_keys=True)})
    half.replace(path)


def read_card(path: Path) -> dict[str, Any]:
    """The card in a safetensors header, read without torch; empty where there is none."""
    if not path.is_file():
        raise UserError(f"no checkpoint '{path}'")
    if path.suffix != ".safetensors":
        return {}
    with path.open("rb") as file:
        try:
            (length,) = struct.unpack("<Q", file.read(8))
            header: dict[str, Any] = json.loads(file.read(length)) if length < _LONGEST_HEADER else {}
            return json.loads(header.get("__metadata__", {}).get(CARD, "{}"))
        except (struct.error, ValueError, AttributeError):
            raise UserError(f"'{path}' is not a safetensors file") from None


def load_state(path: Path) -> dict[str, Tensor]:
    """Tensors by name from a safetensors or `.pt` file; a file that holds code instead of weights is refused."""
    if not path.is_file():
        raise UserError(f"no checkpoint '{path}'")
    if path.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(path)
        except SafetensorError as error:
            raise UserError(f"'{path}' is not a safetensors file: {error}") from None
    import pickle

    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(f"'{path}' holds more than weights or is damaged ({reason}); save it as safetensors") from None
    for wrapper in ("state_dict", "model", "model_state_dict"):
        if isinstance(content, dict) and isinstance(content.get(wrapper), dict):
            content = content[wrapper]
    if not isinstance(content, dict) or not all(isinstance(v, torch.Tensor) for v in content.values()):
        raise UserError(f"'{path}' holds no state dict; save module.state_dict()")
    return {name.removeprefix("module."): tensor for name, tensor in content.items()}


def load_into(module: nn.Module, path: Path) -> nn.Module:
    """The module with a file's weights; the first tensor that does not fit is named."""
    state = load_state(path)
    own = module.state_dict()
    for name, tensor in state.items():
        if name in own and own[name].shape != tensor.shape:
            raise UserError(
                f"'{path}' does not fit: '{name}' is {list(tensor.shape)}, expected {list(own[name].shape)}"
            )
    missing = [n for n in own if n not in state and not n.endswith("num_batches_tracked")]
    foreign = [n for n in state if n not in own]
    if missing or foreign:
        problem = f"lacks '{missing[0]}'" if missing else f"has the unknown '{foreign[0]}'"
        raise UserError(f"'{path}' does not fit this network: it {problem}; is it of another architecture?")
    module.load_state_dict({n: t.to(own[n].dtype) for n, t in state.items()}, strict=False)
    return module
