"""The classifier that an encoder of images becomes with the features of texts: the nearer, the likelier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.files.plain import snellen_home
from snellen.files.weights import load_safetensors
from snellen.hashing import checksum, key_of
from snellen.models.model import weights_hash

BATCH = 256  # texts that are encoded at once
Encode = Callable[[dict[str, Tensor]], Tensor]  # tokens [n, length] by name → features [n, channels]


class ZeroShot(nn.Module):
    """Logits [B, classes] of normalised pixels: cosines between features of images and of classes, times a learnt scale.

    `features` [classes, channels] have length 1. SigLIP adds a learnt bias, the same for all classes.
    """

    features: Tensor

    def __init__(self, network: Any, features: Tensor) -> None:
        super().__init__()
        self.vision = network.vision_model
        self.projection = getattr(network, "visual_projection", nn.Identity())
        self.scale = network.logit_scale
        self.bias = getattr(network, "logit_bias", None)
        self.register_buffer("features", features)

    def forward(self, pixels: Tensor) -> Tensor:
        images = self.projection(self.vision(pixel_values=pixels).pooler_output)
        logits = self.scale.exp() * nn.functional.normalize(images, dim=-1) @ self.features.T
        return logits if self.bias is None else logits + self.bias


def class_features(encode: Encode, tokens: Sequence[dict[str, Tensor]], encoder: str) -> tuple[Tensor, str]:
    """Features [classes, channels] of length 1, and the key that stands for them.

    `tokens` are those of the sentences about each class: their features, each of length 1, are averaged (Radford et al. 2021,
    section 3.1.4). They are made once and kept in SNELLEN_HOME under a key of the tokens and the encoder's weights.
    """
    key = key_of(
        [encoder, [[name, list(part.shape), _bytes_of(part)] for some in tokens for name, part in sorted(some.items())]]
    )
    file = snellen_home() / "zero-shot" / f"{key}.safetensors"
    features = _recall(file, len(tokens))
    if features is None:
        features = torch.stack([_mean(encode, some) for some in tokens])
        from safetensors.torch import save

        with suppress(UserError):  # a home that cannot be written to only costs the next command some time
            write_atomic(file, save({"features": features}))
    return features, key


def encoder_hash(parts: Sequence[nn.Module]) -> str:
    """What stands for the weights of a text encoder."""
    return key_of([weights_hash(part) for part in parts])


def _mean(encode: Encode, tokens: dict[str, Tensor]) -> Tensor:
    """The mean direction [channels] of the sentences about one class."""
    count = len(next(iter(tokens.values())))
    parts = []
    with torch.no_grad():
        for start in range(0, count, BATCH):
            features = encode({name: part[start : start + BATCH] for name, part in tokens.items()}).float().cpu()
            parts.append(nn.functional.normalize(features, dim=-1))
        return nn.functional.normalize(torch.cat(parts).mean(0), dim=-1)


def _recall(file: Path, classes: int) -> Tensor | None:
    if not file.exists():
        return None
    try:
        features = load_safetensors(file, "features of texts").get("features")
    except UserError:
        return None  # a damaged file only costs this command some time
    if not isinstance(features, Tensor) or features.ndim != 2 or len(features) != classes:
        return None
    return features if bool(features.isfinite().all()) else None


def _bytes_of(tokens: Tensor) -> str:
    return checksum(tokens.contiguous().numpy().tobytes())
