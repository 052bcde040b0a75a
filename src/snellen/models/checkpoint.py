"""Weights on disk: safetensors with a card in the header, or `.pt` files read without running code."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.files import decode_json, fit, open_file
from snellen.files.weights import load_safetensors, load_torch, read_metadata

if TYPE_CHECKING:
    from torch import Tensor, nn

CARD = "snellen"  # the header entry that holds our card as JSON
_NOT_JSON = re.compile(
    r'"(?:[^"\\]|\\.)*"|(-?\b(?:NaN|Infinity)\b)'
)  # numbers that cards of before may hold, outside texts


def save_checkpoint(path: Path, module: nn.Module, card: Mapping[str, Any]) -> None:
    """Write a module's weights and a JSON card (arch, classes, size, mean, std, recipe …) as one safetensors file."""
    from safetensors.torch import save

    state = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    text = json.dumps(_finite(dict(card)), sort_keys=True, allow_nan=False)
    write_atomic(path, save(state, metadata={CARD: text}))


def read_card(path: Path) -> dict[str, Any]:
    """The card in a safetensors header, read without torch and checked; empty where there is none."""
    if path.suffix != ".safetensors":
        open_file(path, "checkpoint").close()
        return {}
    text = read_metadata(path).get(CARD)
    if text is None:
        return {}
    from snellen.models.checkpoint_card import CheckpointCard

    source = f"the card of '{path}'"
    card: dict[str, Any] = decode_json(_NOT_JSON.sub(lambda m: "null" if m[1] else m[0], text), dict[str, Any], source)
    fit(card, CheckpointCard, source)
    return card


def load_state(path: Path) -> dict[str, Tensor]:
    """Tensors by name from a safetensors or `.pt` file; a file that holds code instead of weights is refused."""
    content = load_safetensors(path) if path.suffix == ".safetensors" else load_torch(path)
    import torch

    for wrapper in ("state_dict", "model", "model_state_dict", "module"):
        if isinstance(content, dict) and isinstance(content.get(wrapper), dict):
            content = content[wrapper]
    if not isinstance(content, dict) or not all(isinstance(v, torch.Tensor) for v in content.values()):
        raise UserError(f"'{path}' holds no state dict; save module.state_dict()")
    for name, tensor in content.items():
        if not isinstance(name, str):
            raise UserError(f"'{path}' names a tensor {name!r}, which is no text; save module.state_dict()")
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_complex() or tensor.is_meta:
            raise UserError(f"'{path}': '{name}' is sparse, quantised or complex; save plain tensors of real numbers")
    return {name.removeprefix("module."): tensor for name, tensor in content.items()}


def load_into(module: nn.Module, path: Path) -> nn.Module:
    """The module with a file's weights; the first tensor that does not fit is named."""
    own = module.state_dict()
    state = unwrapped(load_state(path), own, path)
    for name, tensor in state.items():
        if name in own and own[name].shape != tensor.shape:
            raise UserError(
                f"'{path}' does not fit: '{name}' is {list(tensor.shape)}, expected {list(own[name].shape)}; is it of another "
                "architecture?"
            )
    missing = [n for n in own if n not in state and not n.endswith("num_batches_tracked")]
    foreign = [n for n in state if n not in own]
    if missing or foreign:
        problem = f"lacks '{missing[0]}'" if missing else f"has the unknown '{foreign[0]}'"
        raise UserError(f"'{path}' does not fit this network: it {problem}; is it of another architecture?")
    module.load_state_dict({n: t.to(own[n].dtype) for n, t in state.items()}, strict=False)
    return module


def unwrapped(state: dict[str, Tensor], own: Iterable[str], path: Path) -> dict[str, Tensor]:
    """The tensors under a network's `own` names, where what saved them put a word in front (`model.` of Lightning, `_orig_mod.`
    of torch.compile). A file with several such networks is refused; one that does not hold the network comes back as it is."""
    wanted = [name for name in own if not name.endswith("num_batches_tracked")]
    if not wanted or any(name in state for name in wanted):
        return state
    fronts = [name.removesuffix(wanted[0]) for name in state if name.endswith("." + wanted[0])]
    whole = [front for front in fronts if all(front + name in state for name in wanted)]
    if len(whole) > 1:
        raise UserError(f"'{path}' holds several networks, under {' and '.join(map(repr, whole))}; save the one to use")
    return {n.removeprefix(whole[0]): t for n, t in state.items() if n.startswith(whole[0])} if whole else state


def _finite(value: Any) -> Any:
    """The value with null for numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
