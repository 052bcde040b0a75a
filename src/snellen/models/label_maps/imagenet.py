"""ImageNet's classes as timm has them: which synset stands where, what synsets are called, and which sets of images have which.

timm lists the 1,000 classes, the names of all 21,841 synsets, and the 200 each of ImageNet-A and ImageNet-R (Hendrycks et al.
2021). The validation set, ImageNet-V2 and ImageNet-Sketch have all 1,000. ObjectNet's classes come with its images alone.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from snellen.files import read_text
from snellen.models.label_maps import PLACES, plain

SETS = {
    "ImageNet-A": "imagenet_a_synsets.txt",
    "ImageNet-R": "imagenet_r_synsets.txt",
    "mini-ImageNet": "mini_imagenet_synsets.txt",
}
CHOSEN_AMONG = ("ImageNet-A", "ImageNet-R")  # as in the code of Hendrycks et al. 2021
WHOLE = "ImageNet, ImageNet-V2 and ImageNet-Sketch"
SIGNS = 0.95  # share of a list's names that must stand at ImageNet's place


@functools.cache
def synsets() -> tuple[str, ...]:
    """The 1,000 in ImageNet's order."""
    from timm.data import ImageNetInfo

    return tuple(ImageNetInfo("imagenet-1k").label_names())


@functools.cache
def lemmas() -> Mapping[str, str]:
    """What each synset of ImageNet is called: its names, separated by commas."""
    from timm.data import ImageNetInfo

    infos = [ImageNetInfo(subset) for subset in ("imagenet-22k", "imagenet-1k")]
    return {synset: info.label_name_to_description(synset) for info in infos for synset in info.label_names()}


def synsets_by_place(names: Sequence[Collection[str]]) -> tuple[str | None, ...] | None:
    """The synset of each class of a list, known by plain names, that is in ImageNet's order; None if it is another list.

    A list of 1,001 begins with the background, which is no synset.
    """
    first = PLACES.get(len(names))
    if first is None:
        return None
    known = [{plain(name) for name in lemmas()[synset].split(",")} for synset in synsets()]
    right = sum(not table.isdisjoint(own) for own, table in zip(names[first:], known))
    return (None,) * first + synsets() if right >= SIGNS * len(known) else None


def set_of(ids: Collection[str]) -> str | None:
    """Which published sets have exactly these synsets, in words."""
    import timm.data

    if set(ids) == set(synsets()):
        return WHOLE
    folder = Path(timm.data.__file__).parent / "_info"
    for name, file in SETS.items():
        if (folder / file).is_file() and set(ids) == set(read_text(folder / file, "list of synsets").split()):
            return name
    return None
