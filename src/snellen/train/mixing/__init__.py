"""Mixing: batch transforms that show two images in one, for any PyTorch loop.

    mix = parse_mix("fmix(per=sample)")
    draws = torch.Generator().manual_seed(0)
    for step, (images, labels) in enumerate(loader):
        images, targets = mix(images, labels, draws, step=step)
        loss = mixed_loss(network(normalise(images)), targets)

A mix is a small frozen dataclass whose text form is its identity; see `batch.mixed` for its arguments and what it
returns. Random numbers are drawn on the CPU whatever the images' device, so that they are the same on all of
them, and sent without waiting for a GPU.

>>> str(parse_mix("cutmix(rule=corrected)"))
'cutmix(alpha=1, rule=corrected)'
"""

from __future__ import annotations

from snellen.lazy_names import lister
from snellen.train.mixing.batch import BatchMix
from snellen.train.mixing.blend import Alternate, MixUp, Unmixed
from snellen.train.mixing.boxes import CutMix, Cutout, SaliencyMix
from snellen.train.mixing.language import MIXES, of_run, parse_mix
from snellen.train.mixing.masks import FMix, RandomMasks
from snellen.train.mixing.partners import fitted
from snellen.train.mixing.saliency import fine_grained
from snellen.train.mixing.targets import IGNORE, Targets, majority_loss, mixed_loss

__all__ = [
    "IGNORE",
    "MIXES",
    "Alternate",
    "BatchMix",
    "CutMix",
    "Cutout",
    "FMix",
    "MixUp",
    "RandomMasks",
    "SaliencyMix",
    "Targets",
    "Unmixed",
    "fine_grained",
    "fitted",
    "majority_loss",
    "mixed_loss",
    "of_run",
    "parse_mix",
]
__dir__ = lister(__all__)
