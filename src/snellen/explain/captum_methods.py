"""Attribution by Captum (an extra), by the name of its class: what each needs is given to it, and maps come back as ours do."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.errors import UserError, unknown
from snellen.explain.feature_grid import enlarge, finite, tensor_in, unit_maps
from snellen.explain.layer_gradients import refuse_dead_pixels
from snellen.explain.layer_trail import Layer
from snellen.explain.network import OpenNetwork, TargetClasses, class_answers, eval_mode, open_network, target_classes
from snellen.explain.noise import image_seeds
from snellen.extras import import_package
from snellen.lazy_torch import torch
from snellen.models.model import Model
from snellen.user_code import PASSING

if TYPE_CHECKING:
    from torch import Tensor, nn

PREFIX = "captum:"
TILES = 8  # per side: what methods that hide parts of the image hide at a time
RANDOM = ("Shap", "Lime")  # in a name: image by image, each with its seed
MIXING = ("FeaturePermutation", "LayerFeaturePermutation")
KNOWN = (  # those that are tried in tests; any other class of captum.attr is tried as well
    *(
        "Saliency",
        "InputXGradient",
        "IntegratedGradients",
        "DeepLift",
        "GradientShap",
        "GuidedBackprop",
        "Deconvolution",
    ),
    *("Occlusion", "FeatureAblation", "ShapleyValueSampling", "KernelShap", "Lime", "GuidedGradCam", "LayerGradCam"),
    *("LayerActivation", "LayerGradientXActivation", "LayerIntegratedGradients", "LayerConductance"),
)


def check_captum(name: str) -> None:
    """Refuse a class that Captum does not have, or Captum where it is not installed."""
    kinds = _kinds()
    if name not in kinds:
        raise unknown("method of captum", name, kinds)
    if name in MIXING:
        raise UserError(
            f"{PREFIX}{name} swaps parts between images, so maps would depend on the batch; try FeatureAblation"
        )


def captum_maps(
    name: str, model: Model | nn.Module, images: Tensor, targets: TargetClasses = None, layer: int | str | None = None
) -> Tensor:
    """Maps float32 [B, H, W] in 0…1 by a class of `captum.attr`: absolute values summed over channels, divided by the maximum.

    `model`, `images`, `targets` and `layer` (for those that have one) are as for `gradcam`. Baselines are 0 after
    normalising. Random ones draw from a seed of the image's own, so a map does not depend on the batch.
    """
    check_captum(name)
    opened = open_network(model, images)
    pixels = opened.normalise(images)
    with eval_mode(opened.network), _not_in_place(opened.network), opened.autocast(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Captum, about the hooks it sets
        with torch.no_grad():
            classes = target_classes(class_answers(opened.network(pixels)), targets)
        call = _Call(name, opened, pixels, layer)
        try:
            parts = _parts(call, images, pixels, classes)
        except UserError:
            refuse_dead_pixels(opened, pixels, classes, f"{PREFIX}{name}")
            raise
        values = finite(torch.cat(parts))
        if not bool(values.any()):
            refuse_dead_pixels(opened, pixels, classes, f"{PREFIX}{name}")
    return unit_maps(enlarge(values, pixels.shape[2:]))


def _parts(call: _Call, images: Tensor, pixels: Tensor, classes: Tensor) -> list[Tensor]:
    """The values [B, h, w] in one part, or image by image, each with its seed."""
    if not any(word in call.name for word in RANDOM):
        return [call(pixels, classes)]
    seeds = image_seeds(images, 0)
    return [call.seeded(pixels[row : row + 1], classes[row : row + 1], seed) for row, seed in enumerate(seeds)]


class _Call:
    """One class of Captum, made for a network, and how it is called."""

    def __init__(self, name: str, opened: OpenNetwork, pixels: Tensor, layer: int | str | None) -> None:
        self.name, self.opened = name, opened
        kind = _kinds()[name]
        self.spot: Layer | None = None
        arguments: list[Any] = [opened.network]
        if "layer" in inspect.signature(kind).parameters:
            known = opened.layers(pixels)
            self.spot = opened.pick(pixels, layer)
            if known.calls:
                raise UserError(f"{PREFIX}{name} needs layers that are modules, which {opened.name} does not have")
            arguments.append(opened.network.get_submodule(self.spot.name))
        elif layer is not None:
            raise UserError(f"{PREFIX}{name} looks at the image, not at a layer; leave out layer={layer}")
        with _blamed(self.name, opened):
            self.method = kind(*arguments)

    def __call__(self, pixels: Tensor, classes: Tensor) -> Tensor:
        """Absolute values summed over channels, [B, h, w]."""
        with _blamed(self.name, self.opened):
            result = self.method.attribute(pixels, **self._settings(pixels, classes))
        values = tensor_in(result)
        if values is None:
            raise UserError(f"{PREFIX}{self.name} gave no tensor for {self.opened.name}")
        if self.spot is not None and values.shape[1:] != pixels.shape[1:]:
            values = self.spot.places.features(values)
        return values.detach().float().abs().sum(1)

    def seeded(self, pixels: Tensor, classes: Tensor, seed: int) -> Tensor:
        """The same, with every generator that Captum may use started from a seed, and left as it was."""
        state = np.random.get_state()
        try:
            with torch.random.fork_rng(devices=[pixels.device] if pixels.device.type == "cuda" else []):
                torch.manual_seed(seed)
                np.random.seed(seed % 2**32)
                return self(pixels, classes)
        finally:
            np.random.set_state(state)

    def _settings(self, pixels: Tensor, classes: Tensor) -> dict[str, Any]:
        """What `attribute` is given beyond the images, of that which it takes."""
        height, width = pixels.shape[2:]
        side = (3, max(1, height // TILES), max(1, width // TILES))
        rows, columns = (torch.arange(size) * TILES // size for size in (height, width))
        tiles = (rows[:, None] * TILES + columns)[None, None].to(pixels.device)
        offers: dict[str, Any] = {
            "target": classes,
            "internal_batch_size": len(pixels),
            "sliding_window_shapes": side,
            "strides": (3, max(1, side[1] // 2), max(1, side[2] // 2)),
            "feature_mask": tiles,
        }
        taken, empty = inspect.signature(self.method.attribute).parameters, inspect.Parameter.empty
        if "baselines" in taken and taken["baselines"].default is empty:
            offers["baselines"] = torch.zeros_like(pixels[:1]).repeat(2, 1, 1, 1)
        needed = [name for name, argument in taken.items() if argument.default is empty and argument.kind in _NAMED]
        missing = [name for name in needed if name not in offers and name != "inputs"]
        if missing:
            raise UserError(f"{PREFIX}{self.name} needs {' and '.join(missing)}, which a map request does not have")
        return {name: value for name, value in offers.items() if name in taken}


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _kinds() -> dict[str, Any]:
    """The classes of `captum.attr` that attribute, by name."""
    import_package("captum", "attribution by captum:…")
    attr = importlib.import_module("captum.attr")
    kinds = {name: getattr(attr, name) for name in attr.__all__ if inspect.isclass(getattr(attr, name))}
    return {name: kind for name, kind in kinds.items() if callable(getattr(kind, "attribute", None))}


@contextmanager
def _blamed(name: str, opened: OpenNetwork) -> Iterator[None]:
    """What Captum raises for a network that a method does not suit, in one line."""
    try:
        yield
    except (UserError, torch.OutOfMemoryError, *PASSING):
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise UserError(f"{PREFIX}{name} does not work with {opened.name}: {reason}") from error


@contextmanager
def _not_in_place(network: nn.Module) -> Iterator[None]:
    """Layers that write into their input do not, since Captum's hooks look at it."""
    changed: list[Any] = [part for part in network.modules() if getattr(part, "inplace", False) is True]
    for part in changed:
        part.inplace = False
    try:
        yield
    finally:
        for part in changed:
            part.inplace = True
