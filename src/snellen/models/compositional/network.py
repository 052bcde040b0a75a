"""The network: a backbone up to one layer, and a head of kernels, part maps and clutter models that scores classes.

Everything is differentiable, so it is fine-tuned end to end; the layers of the backbone behind the chosen one are left out of
every pass and of training.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from snellen.errors import UserError
from snellen.models.compositional.likelihood import (
    Explained,
    activations,
    by_place,
    clutter_likelihood,
    explain_places,
    part_likelihood,
    scores_of_mixtures,
)
from snellen.models.compositional.settings import Compositional, parse_compositional

CLUTTER_MODELS = 3  # white, noise, and backgrounds in general


class _Reached(Exception):
    """The features of the chosen layer: what lies behind it need not be computed."""

    def __init__(self, features: Tensor) -> None:
        super().__init__()
        self.features = features


class CompositionalNet(nn.Module):
    """Logits [B, classes] of normalised images [B, 3, H, W]: `scale` times each class's mean log-likelihood over places."""

    def __init__(self, settings: Compositional, backbone: nn.Module, classes: int) -> None:
        super().__init__()
        self.settings, self.backbone = settings, backbone
        shape = (settings.kernels, settings.rows, settings.columns)
        self.kernels = nn.Parameter(F.normalize(torch.randn(settings.kernels, settings.channels), dim=1))
        # Logits over kernels. Class and mixture are one dimension: torch puts weights of five in no order of channels.
        self.part_logits = nn.Parameter(torch.zeros(classes * settings.mixtures, *shape))
        self.clutter_logits = nn.Parameter(torch.zeros(CLUTTER_MODELS, settings.kernels))
        self.log_scale = nn.Parameter(torch.zeros(()))
        self.last_features: Tensor | None = None
        self._matrices: tuple[tuple[Any, ...], Tensor] | None = None

    @property
    def text(self) -> str:
        """The text it is built from again."""
        return str(self.settings)

    @property
    def parts(self) -> Tensor:
        """The share of each kernel at each place, [Y, M, K, H, W]."""
        return self.part_logits.softmax(1).unflatten(0, (-1, self.settings.mixtures))

    def set_parts(self, number: int, parts: Tensor) -> None:
        """Give a class its part maps [M, K, H, W]."""
        self.part_logits.data.unflatten(0, (-1, self.settings.mixtures))[number] = parts.log()

    def features(self, images: Tensor) -> Tensor:
        """What the chosen layer answers, [B, D, H, W]."""
        layer = self.settings.layer
        assert layer is not None
        with _stopping_at(self.backbone.get_submodule(layer)):
            try:
                self.backbone(images)
            except _Reached as reached:
                return self._fitting(reached.features)
        raise UserError(f"layer '{layer}' of {self.settings.backbone} was not reached")

    def explain(self, features: Tensor) -> Explained:
        """Scores of all classes, and where each place is hidden."""
        return explain_places(*self._likelihoods(features), self.settings.occlusion)

    def scores(self, features: Tensor) -> Tensor:
        """Those scores alone, [B, Y]."""
        return scores_of_mixtures(*self._likelihoods(features), self.settings.occlusion).amax(2)

    def _likelihoods(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Of the parts [B, Y, M, H, W] and of clutter [B, H, W]."""
        active = activations(features, self.kernels, self.settings.concentration)
        parts = part_likelihood(active, self._part_matrices(), self.settings.mixtures)
        return parts, clutter_likelihood(active, self.clutter_logits.softmax(1))

    def _part_matrices(self) -> Tensor:
        """The part maps by place; without gradients they are kept until the weights change."""
        if torch.is_grad_enabled():
            return by_place(self.parts)
        weights = self.part_logits
        state = (weights.data_ptr(), weights._version, weights.device)
        if self._matrices is None or self._matrices[0] != state:
            self._matrices = (state, by_place(self.parts))
        return self._matrices[1]

    def forward(self, images: Tensor) -> Tensor:
        features = self.features(images)
        if self.training:
            self.last_features = features
        with torch.autocast(images.device.type, enabled=False):
            return self.logits_of(self.scores(features))

    def logits_of(self, scores: Tensor) -> Tensor:
        """Log-likelihoods summed over places as logits."""
        return self.log_scale.exp() * scores / (self.settings.rows * self.settings.columns)

    def occluders(self, images: Tensor, classes: Tensor) -> Tensor:
        """The chance [B, H, W] that each place is hidden, if the images show these classes [B]."""
        odds = self.explain(self.features(images)).odds
        return odds[torch.arange(len(odds), device=odds.device), classes].sigmoid()

    def regulariser(self, labels: Tensor) -> Tensor:
        """The cluster and mixture losses of the last batch, weighed (Kortylewski et al. 2020, eq. 13 to 15).

        Both are means over images and places in units of a cosine: how far features are from their nearest kernel, and how badly
        the best mixture of the true class explains them without occlusion.
        """
        assert self.last_features is not None
        settings = self.settings
        with torch.autocast(labels.device.type, enabled=False):
            active = activations(self.last_features, self.kernels, settings.concentration)
            cluster = -active.amax(1).log().mean() / settings.concentration
            own = torch.einsum("bkhw,bmkhw->bmhw", active, self.parts[labels])
            mixture = -own.log().mean((2, 3)).amax(1).mean() / settings.concentration
        return settings.cluster * cluster + settings.mixture * mixture

    def freeze_unused(self, images: Tensor) -> None:
        """Leave the backbone's layers behind the chosen one out of training."""
        used: set[int] = set()
        hooks = [
            part.register_forward_pre_hook(lambda part, _: used.update(map(id, part.parameters(recurse=False))))
            for part in self.backbone.modules()
        ]
        with torch.no_grad():
            self.features(images)
        for hook in hooks:
            hook.remove()
        for weights in self.backbone.parameters():
            weights.requires_grad_(id(weights) in used)

    def _fitting(self, features: Tensor) -> Tensor:
        wanted = (self.settings.channels, self.settings.rows, self.settings.columns)
        if features.shape[1:] != wanted:
            got, expected = ("×".join(map(str, shape)) for shape in (features.shape[1:], wanted))
            raise UserError(
                f"features of '{self.settings.layer}' are {got}, but the parts were learnt on {expected}; show "
                "images of the size of the training"
            )
        return features


def build_compositional(text: str, classes: int) -> CompositionalNet:
    """A network of a complete text, such as a checkpoint's card has."""
    from snellen.models.zoo import build

    settings = parse_compositional(text)
    if not (settings.layer and settings.channels and settings.rows and settings.columns):
        raise UserError(
            f"'{text}' is complete once it is trained; for example: snellen train '{text}' --init backbone.safetensors --data …"
        )
    return CompositionalNet(settings, build(settings.backbone, classes), classes)


def find_features(settings: Compositional, backbone: nn.Module, images: Tensor) -> Compositional:
    """The settings with the layer and the shape of its features, found by showing the backbone some images.

    A layer that is not named must have most of the backbone's layers before it: the patches that a transformer begins with are a
    map, but not of features.
    """
    maps = _maps(backbone, images)
    layer = settings.layer or ([*maps][-1] if maps else None)
    if layer is None or (settings.layer is None and maps[layer].depth < 0.5):
        raise UserError(
            f"{settings.backbone} has no layer with a map of features (2×2 places or more); take a convolutional backbone, "
            "such as resnet20"
        )
    if layer not in maps:
        raise UserError(
            f"layer '{layer}' of {settings.backbone} is no map of features; its last ones: {', '.join([*maps][-5:])}"
        )
    return settings.of_shape(layer, *maps[layer].shape)


class _Map(NamedTuple):
    """The shape [channels, rows, columns] of a layer's features, and how many of the backbone's weighted layers are
    convolutional ones up to it."""

    shape: tuple[int, int, int]
    depth: float


def _maps(backbone: nn.Module, images: Tensor) -> dict[str, _Map]:
    """The layers that answer maps [B, channels, rows, columns] of 2×2 places or more, in the order they are run."""
    shapes: dict[str, tuple[tuple[int, int, int], int]] = {}
    weighted = convolutional = 0

    def note(name: str) -> Any:
        def look(part: nn.Module, inputs: Any, output: Any) -> None:
            nonlocal weighted, convolutional
            four = isinstance(output, Tensor) and output.ndim == 4
            if any(weights.ndim > 1 for weights in part.parameters(recurse=False)):
                weighted, convolutional = weighted + 1, convolutional + four
            if four and _in_order(output, images):
                _, channels, rows, columns = output.shape
                shapes.pop(name, None)
                shapes[name] = (channels, rows, columns), convolutional

        return look

    hooks = [part.register_forward_hook(note(name)) for name, part in backbone.named_modules() if name]
    with torch.no_grad():
        backbone(images)
    for hook in hooks:
        hook.remove()
    return {name: _Map(shape, before / max(weighted, 1)) for name, (shape, before) in shapes.items()}


def _in_order(output: Tensor, images: Tensor) -> bool:
    """Whether an answer has places as the images have: those of square images are square, unless channels stand last (as in
    Swin transformers) or heads and tokens do."""
    square = images.shape[2] == images.shape[3]
    return min(output.shape[2:]) > 1 and (not square or output.shape[2] == output.shape[3])


@contextmanager
def _stopping_at(layer: nn.Module) -> Iterator[None]:
    def stop(part: nn.Module, inputs: Any, output: Tensor) -> None:
        raise _Reached(output)

    hook = layer.register_forward_hook(stop)
    try:
        yield
    finally:
        hook.remove()
