"""Per-sample information bottleneck attribution (Schulz et al. 2020): where in the image the bits lie that an answer needs.

Noise replaces features of a layer as far as the answer allows it. What still passes, in bits, is the map. Many images are
optimised at once, each as if it were alone: their noise comes from their own pixels, and Adam works neuron by neuron.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.explain.bottleneck import Bottleneck, BottleneckFit
from snellen.explain.feature_grid import enlarge, unit_maps
from snellen.explain.layer_gradients import check_reached
from snellen.explain.network import TargetClasses, class_answers, eval_mode, open_network, target_classes
from snellen.explain.noise import image_seeds
from snellen.explain.reference import estimate, load_statistics, warn_of_few
from snellen.explain.splice import make_splice
from snellen.explain.statistics import FeatureStatistics
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor, nn

EstimationData: TypeAlias = "Dataset | str | FeatureStatistics | Tensor | Iterable[Tensor] | None"
DEFAULT = Bottleneck()


def iba(
    model: Model | nn.Module,
    images: Tensor,
    targets: TargetClasses = None,
    layer: int | str | None = None,
    beta: float = 10,
    steps: int = 10,
    lr: float = 1,
    copies: int = 10,
    sigma: float = 1,
    seed: int = 0,
    estimation_data: EstimationData = None,
    *,
    bits: bool = False,
) -> Tensor:
    """Maps float32 [B, H, W] in 0…1, each divided by its own maximum; with `bits`, bits per pixel.

    `model`, `images` and `targets` are as for `gradcam`. `layer` is a name, a stage from the end or `stage3`; by default
    `layer2` of a ResNet and its like: the third stage from the end, of a transformer the block a quarter of the way.
    `estimation_data` are the images that the noise imitates: a dataset or its text (of which up to 5,000 are used, and
    the result is kept in the cache folder), tensors like `images`, or `FeatureStatistics`; by default the images
    themselves. Fewer than 1,000 give a warning. `beta` weighs bits against the answer's loss, `copies` are noisy ones per
    image and step, `sigma` smooths over places. An image has the same map in any batch, but for floating point.

    >>> from snellen.explain import iba
    >>> import timm
    >>> import torch
    >>> network = timm.create_model("resnet10t", num_classes=3).eval()
    >>> images = torch.rand(2, 3, 64, 64)
    >>> iba(network, images, steps=2, copies=2).shape
    torch.Size([2, 64, 64])
    """
    known = _statistics(model, images, layer, estimation_data)
    warn_of_few(known.count)
    how = Bottleneck(beta, steps, lr, copies, sigma, seed)
    return bottleneck_maps(model, images, targets, layer, known, how=how, bits=bits)


def bottleneck_maps(
    model: Model | nn.Module,
    images: Tensor,
    targets: TargetClasses,
    layer: int | str | None,
    statistics: FeatureStatistics | None = None,
    *,
    how: Bottleneck = DEFAULT,
    bits: bool = False,
) -> Tensor:
    """The same with statistics that are known (None: those of the images), without a warning."""
    if statistics is None:
        statistics = estimate(model, [images], layer)
    if statistics.count < 2:
        raise UserError(
            "iba needs at least 2 images to learn from what is usual, better 1,000; give it data: --data DATA"
        )
    opened = open_network(model, images)
    pixels, seeds = opened.normalise(images), image_seeds(images, how.seed)
    with eval_mode(opened.network):
        spot = opened.pick(pixels, layer, bottleneck=True)
        check_reached(opened, pixels, targets, spot)
        splice = make_splice(opened, pixels, spot)
        with torch.no_grad(), opened.autocast():
            answers = class_answers(opened.network(pixels)).float()
        fit = BottleneckFit(splice, statistics.to(pixels.device), how, _are_probabilities(answers))
        coarse = fit.maps(pixels, target_classes(answers, targets), seeds)
    maps = enlarge(coarse, pixels.shape[2:])  # the bits of a place are spread over the pixels it stands for
    return maps * (spot.places.count / (pixels.shape[2] * pixels.shape[3])) if bits else unit_maps(maps)


def _statistics(
    model: Model | nn.Module, images: Tensor, layer: int | str | None, data: EstimationData
) -> FeatureStatistics:
    """What is usual at the layer, from whatever the caller gave."""
    if isinstance(data, FeatureStatistics):
        return data
    if data is None or isinstance(data, torch.Tensor):
        return estimate(model, [images if data is None else data], layer)
    if isinstance(data, Dataset | str):
        if not isinstance(model, Model):
            raise UserError("a bare network takes no dataset; give estimation_data as tensors, or models.from_torch(…)")
        return load_statistics(model, data, layer)
    return estimate(model, data, layer)


def _are_probabilities(answers: Tensor) -> bool:
    """Whether the answers [B, classes] are probabilities, not logits: a loss needs to know."""
    return bool((answers >= 0).all()) and bool(((answers.sum(1) - 1).abs() < 1e-3).all())
