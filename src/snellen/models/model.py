"""A model: its card and one function from uint8 images on its canvas to probabilities."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from snellen.data.canvas import Canvas
from snellen.errors import UserError
from snellen.hashing import checksum, key_of
from snellen.lazy_torch import torch
from snellen.models.card import LARGEST, Card, Task
from snellen.models.device import Device, choose_device, precision_on
from snellen.models.tasks import READERS, maps_of_network, refuse_negative, summary
from snellen.user_code import PASSING, failure_of, user_code

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor, nn

    from snellen.models.labels import LabelMap
    from snellen.models.remote.fleet import Fleet

PROBES = 16  # images shown to a callable, whose answers stand for its weights


@dataclass(frozen=True)
class Model:
    """What is asked. `predict` maps uint8 [B, 3, H, W] to probabilities [B, classes] on `device`.

    For segmentation it gives the class of each pixel, int64 [B, H, W]; for detection boxes, float [B, most, 4] (see `tasks`).
    `module` is the torch network where there is one (white-box methods need it). A model made of recorded answers has
    `recorded` instead of `predict`: one row per sample and distortion. `predict_by` makes another `predict` of another form of
    the network, such as a compiled one. `support` maps images to the pixels that the answers rest on, float [B, H, W] in 0…1,
    where these are known by construction. `floats` says that `predict` also takes pixels that are no bytes, as a torch
    network's does: other ways of normalising can be tried on it. `by_row` gives the answers to images, and by row why a service
    declines some of them, so that nothing is asked twice. `fleets` are the connections to services. `asking` makes the same
    model, asked about samples of these keys and outputs, of one whose questions depend on them.
    """

    card: Card
    predict: Callable[[Tensor], Tensor] | None = None
    device: torch.device | None = None
    precision: str = "fp32"
    module: nn.Module | None = field(default=None, repr=False)
    recorded: pd.DataFrame | None = field(default=None, repr=False)
    support: Callable[[Tensor], Tensor] | None = field(default=None, repr=False)
    predict_by: Callable[[Callable[..., Any]], Callable[[Tensor], Tensor]] | None = field(default=None, repr=False)
    floats: bool = False
    by_row: Callable[[Tensor], tuple[Tensor, dict[int, str]]] | None = field(default=None, repr=False)
    fleets: Sequence[Fleet] = ()
    asking: Callable[[np.ndarray, np.ndarray], Model] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def classes(self) -> tuple[str, ...] | None:
        return self.card.classes

    @property
    def canvas(self) -> Canvas | None:
        """The size and crop of the images that it takes."""
        return self.card.canvas

    def __call__(self, images: Tensor) -> Tensor:
        """Probabilities [B, classes], class maps or boxes of uint8 images [B, 3, H, W] on the model's canvas."""
        if self.predict is None:
            raise UserError(f"model '{self.name}' is a file of recorded answers; it cannot be shown new images")
        try:
            return self.predict(images)
        except (Exception, *PASSING):
            raise  # a batch that fails is asked image by image
        except BaseException as error:
            raise failure_of(f"model '{self.name}'", error) from error

    def about(self, keys: np.ndarray, labels: np.ndarray, label_map: LabelMap) -> Model:
        """The same model, told which samples the next images are of: their keys, uint64 [B], and labels, int [B], which a map
        turns into its own outputs. To most models that says nothing."""
        return self if self.asking is None else self.asking(keys, label_map.outputs_of(labels))

    def named(self, name: str, text: str | None = None) -> Model:
        """The same model under another name."""
        return replace(self, card=replace(self.card, name=name, text=text or self.card.text))


def from_torch(
    module: nn.Module,
    classes: Sequence[str] | None = None,
    size: int | tuple[int, int] | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    *,
    name: str | None = None,
    device: Device = None,
    canvas: Canvas | None = None,
    outputs: Literal["logits", "probabilities"] = "logits",
    task: Task = "classification",
    notices: Sequence[str] = (),
    stated: float | None = None,
) -> Model:
    """A model of a torch module that takes normalised float RGB [B, 3, H, W] and gives logits (or probabilities).

    With `task="segmentation"` it gives them per pixel, [B, classes, H, W] or coarser; detectors are callables.
    `size` in pixels (shorter side scaled to it, centre cropped) or a whole `canvas`; without either the data's own
    size. `mean` and `std` are of pixels in 0…1; without them the module gets plain 0…1 pixels. `stated` is
    the clean accuracy (0 to 1) that is known of it: an audit warns where it finds far less.

    >>> from snellen.models import from_torch
    >>> import torch
    >>> network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 2))
    >>> from_torch(network, ["cat", "dog"], size=8, mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25)).classes
    ('cat', 'dog')
    """
    if (mean is None) != (std is None):
        raise ValueError("expected mean and std together, got only one of them")
    if std is not None and not all(float(deviation) > 0 for deviation in std):
        raise ValueError(f"expected a std above 0 for each channel, got {list(std)}")
    if stated is not None and not 0 <= stated <= 1:
        raise ValueError(f"expected stated accuracy in [0, 1], got {stated:g}")
    if task == "detection":
        raise ValueError("expected a detector as a callable that returns boxes; see snellen.models.from_callable")
    canvas = canvas or _canvas(size)
    where = choose_device(device)
    module = module.eval().to(where)
    if where.type == "cuda" or _convolutional(module):
        module = module.to(memory_format=torch.channels_last)
    name = name or type(module).__name__
    card = Card(
        name=name,
        text=f"python:{name}",
        fingerprint="",
        classes=None if classes is None else tuple(map(str, classes)),
        canvas=canvas,
        mean=_triple(mean),
        std=_triple(std),
        task=task,
        notices=tuple(notices),
        stated=stated,
        gradients=True,
    )
    facts = [type(module).__name__, weights_hash(module), str(card.canvas), card.mean, card.std, outputs, task]
    predict_by = functools.partial(_torch_predict, card, where, precision_on(where), outputs)
    card, predict = replace(card, fingerprint=key_of(facts)), predict_by(module)
    return Model(card, predict, where, precision_on(where), module, predict_by=predict_by, floats=True)


def from_callable(
    function: Callable[[np.ndarray], Any],
    classes: Sequence[str] | None = None,
    size: int | tuple[int, int] | None = None,
    *,
    name: str | None = None,
    version: str | None = None,
    task: Task = "classification",
) -> Model:
    """A model of any callable from uint8 arrays [B, H, W, 3] to probabilities [B, classes].

    With `task="segmentation"` it returns class maps, integers [B, H, W], or probabilities [B, classes, H, W]; with
    `task="detection"` one list of boxes x0, y0, x1, y1 per image, in pixels, maximum exclusive.
    `version` names what it computes; without it the source code and the answers to 16 probe images stand for it.

    >>> import numpy as np
    >>> from snellen.models import from_callable
    >>> def brightness(images):  # uint8 [B, H, W, 3]
    ...     light = images.mean((1, 2, 3)) / 255
    ...     return np.stack([1 - light, light], 1)
    ...
    >>> model = from_callable(brightness, ["night", "day"], size=32, version="1")
    >>> model.classes
    ('night', 'day')
    """
    if task not in READERS:
        raise ValueError(f"expected a task of {', '.join(READERS)}, got {task!r}")
    canvas = _canvas(size)
    name = name or str(getattr(function, "__name__", type(function).__name__))

    def predict(images: Tensor) -> Tensor:
        arrays = images.permute(0, 2, 3, 1).contiguous().cpu().numpy()
        return READERS[task](function(arrays), arrays.shape[:3], name)

    probes = None
    if version is None:
        side = (canvas.height, canvas.width) if canvas else (32, 32)
        with user_code(f"model '{name}'"):
            probes = summary(predict(probe_images(side)), task)
    card = Card(
        name=name,
        text=f"python:{name}",
        fingerprint=key_of(["callable", name, version or _source(function), str(canvas)]),
        classes=None if classes is None else tuple(map(str, classes)),
        canvas=canvas,
        task=task,
        probes=probes,
    )
    return Model(card, predict, torch.device("cpu"))


def as_model(thing: Any, name: str | None = None, device: Device = None) -> Model:
    """A Model of what a factory or a caller gave: ours, one that follows MAITE's protocol, a torch module, or any callable,
    whose `task` may name its task and whose `answers` may say that it answers labels, names of its `classes`.

    >>> import numpy as np
    >>> from snellen.models import as_model
    >>> def brightness(images):  # uint8 [B, H, W, 3]
    ...     light = images.mean((1, 2, 3)) / 255
    ...     return np.stack([1 - light, light], 1)
    ...
    >>> as_model(brightness, "light").name
    'light'
    """
    if isinstance(thing, Model):
        return thing if name is None else thing.named(name)
    from snellen.models.maite import from_maite, is_maite_model  # which makes one of a callable

    if is_maite_model(thing):
        return from_maite(thing, name=name)
    if isinstance(thing, torch.nn.Module):
        config: Mapping[str, Any] | None = getattr(thing, "pretrained_cfg", None)
        if config:
            from snellen.models.adapters.timm import from_timm_module

            return from_timm_module(thing, name or type(thing).__name__, device)
        label = name or type(thing).__name__
        notice = (
            f"model '{label}' is a bare torch module: it gets float RGB in 0…1 at the data's own size; "
            "if it expects normalised input, wrap it: snellen.models.from_torch(module, mean=…, std=…, size=…)"
        )
        return from_torch(thing, name=label, device=device, notices=[notice])
    if callable(thing):
        if getattr(thing, "answers", None) == "labels":
            from snellen.models.text_answers import from_labels

            return from_labels(thing, getattr(thing, "classes", ()), name=name)
        task = getattr(thing, "task", None)
        return from_callable(thing, name=name, task=task if task in READERS else "classification")
    raise UserError(f"expected a model, a torch module or a callable, got {type(thing).__name__}")


def weights_hash(module: nn.Module) -> str:
    """A hash of every parameter and buffer, by name, type and value."""
    import hashlib

    digest = hashlib.blake2b(digest_size=16)
    for key, tensor in module.state_dict().items():
        if not isinstance(tensor, torch.Tensor):
            continue
        digest.update(f"{key} {tensor.dtype} {list(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def probe_images(size: tuple[int, int]) -> Tensor:
    """16 fixed images uint8 [16, 3, H, W]: smooth colour waves of growing frequency."""
    rows = torch.arange(size[0]).view(1, 1, -1, 1)
    columns = torch.arange(size[1]).view(1, 1, 1, -1)
    number = torch.arange(1, PROBES + 1).view(-1, 1, 1, 1)
    channel = torch.arange(3).view(1, 3, 1, 1)
    return ((rows * number + columns * (number % 5 + channel) + 40 * channel) % 256).to(torch.uint8)


def normaliser(card: Card, device: torch.device) -> Callable[[Tensor], Tensor]:
    """What makes a network's input, normalised float RGB on its device, of uint8 images [B, 3, H, W]."""
    scale, offset = _scale_and_offset(card.mean or (0, 0, 0), card.std or (1, 1, 1), device)

    def normalised(images: Tensor) -> Tensor:
        pixels = images.to(device, non_blocking=True)
        if device.type != "cuda":
            return torch.addcmul(offset, pixels.to(torch.float32, memory_format=torch.channels_last), scale)
        floats = torch.empty(pixels.shape, device=device, memory_format=torch.channels_last)
        return torch.addcmul(offset, pixels, scale, out=floats)  # a GPU reads bytes as floats, in one pass

    return normalised


@functools.cache
def _scale_and_offset(mean: tuple[float, ...], std: tuple[float, ...], device: torch.device) -> tuple[Tensor, Tensor]:
    """What pixels are multiplied by and what is added, each [1, 3, 1, 1]; cached, since sending them waits for a GPU."""
    with torch.inference_mode(False):  # gradients may have to pass them later
        scale = torch.tensor([1 / 255 / s for s in std], device=device).view(1, 3, 1, 1)
        offset = torch.tensor([-m / s for m, s in zip(mean, std)], device=device).view(1, 3, 1, 1)
    return scale, offset


def _torch_predict(
    card: Card, device: torch.device, precision: str, outputs: str, module: Callable[..., Any]
) -> Callable[[Tensor], Tensor]:
    """uint8 → normalise → forward → probabilities, in inference mode."""
    normalised = normaliser(card, device)

    @torch.inference_mode()
    def predict(images: Tensor) -> Tensor:
        pixels = normalised(images)
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16"):
            answers = module(pixels)
        if card.task == "segmentation":
            return maps_of_network(answers, (len(images), *images.shape[2:]), card.name)
        answers = getattr(answers, "logits", answers)
        if not isinstance(answers, torch.Tensor) or answers.ndim != 2 or len(answers) != len(images):
            got = list(answers.shape) if isinstance(answers, torch.Tensor) else type(answers).__name__
            raise UserError(
                f"model '{card.name}' answered {got} for {len(images)} images; expected [{len(images)}, classes]"
            )
        if outputs == "probabilities":
            refuse_negative(answers.float().cpu().numpy(), card.name)
            return answers.float()
        return answers.float().softmax(1)

    return predict


def _convolutional(module: nn.Module) -> bool:
    return any(isinstance(part, torch.nn.Conv2d) for part in module.modules())


def _canvas(size: int | tuple[int, int] | None) -> Canvas | None:
    """The canvas of a size in pixels: the shorter side is scaled to it, and the centre taken."""
    if size is None:
        return None
    height, width = (size, size) if isinstance(size, int) else size
    if not (1 <= height <= LARGEST and 1 <= width <= LARGEST):
        raise ValueError(f"expected a size from 1 to {LARGEST:,} pixels, got {size}")
    return Canvas(height, width, "crop", min(height, width))


def _triple(values: Sequence[float] | None) -> tuple[float, float, float] | None:
    if values is None:
        return None
    listed = [float(v) for v in values]
    if len(listed) == 1:
        listed *= 3
    if len(listed) != 3:
        raise ValueError(f"expected three channel values, got {len(listed)}")
    if not all(map(math.isfinite, listed)):
        raise ValueError(f"expected three finite channel values, got {listed}")
    return listed[0], listed[1], listed[2]


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function if inspect.isroutine(function) else type(function))
    except (OSError, TypeError):
        return checksum(repr(type(function)).encode())
