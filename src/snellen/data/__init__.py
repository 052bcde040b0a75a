"""What is shown: datasets, their listings and how their images get onto a model's canvas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from snellen.data.arrays import from_arrays, load_arrays
from snellen.data.bare_paths import scheme_of
from snellen.data.boxes import load_boxes
from snellen.data.canvas import Canvas, render
from snellen.data.cifar import load_cifar
from snellen.data.class_map import map_classes, rename_classes
from snellen.data.coco import load_coco
from snellen.data.cue import load_cue
from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, limited
from snellen.data.folder import load_folder
from snellen.data.hf import load_hf
from snellen.data.in9.reading import load_in9
from snellen.data.manifest import load_manifest
from snellen.data.mnist import load_mnist
from snellen.data.names import storable
from snellen.data.openimages import load_openimages
from snellen.data.origin import DataOrigin, is_loaded_alike
from snellen.data.ovis.adapter import load_ovis
from snellen.data.pairs import load_pairs
from snellen.data.panoptic import load_panoptic
from snellen.data.parquet import load_parquet
from snellen.data.phantom import DIALS, load_phantom
from snellen.data.python import load_python
from snellen.data.stl import load_stl
from snellen.data.subset import OPTIONS, apply_options, only_ids, random_labels, without_classes
from snellen.data.svhn import load_svhn
from snellen.data.tar import load_tar
from snellen.data.torchvision import load_torchvision
from snellen.data.voc import load_voc
from snellen.data.wds import load_wds
from snellen.data.zip import load_zip
from snellen.errors import UserError, unknown
from snellen.files.remote.remote_path import SCHEMES as ADDRESSES
from snellen.files.remote.remote_path import address_scheme, check_address
from snellen.hashing import key_of
from snellen.lazy_names import lister
from snellen.plugins import PluginOrigin, PluginTable, instance_of, stamp
from snellen.user_code import user_code


@dataclass(frozen=True)
class DataKind:
    """A kind of data: how it is read from its path and options, an example of its text, and what it is.

    `also` are further examples with what they are. A plug-in's `version` stands in keys for its code; without it the digest of
    its source does.
    """

    read: Callable[[str, Mapping[str, str]], Dataset]
    example: str
    meaning: str
    also: tuple[tuple[str, str], ...] = ()
    version: str | None = None


SCHEMES: dict[str, DataKind] = {
    "folder": DataKind(load_folder, "folder:path", "a folder with one sub-folder of images per class"),
    "tar": DataKind(
        load_tar, "tar:file.tar", "the same in a tar file: the class of an image is the folder that it lies in"
    ),
    "zip": DataKind(load_zip, "zip:file.zip", "the same in a zip file; ?folder= names one in it"),
    "wds": DataKind(
        load_wds,
        "wds:shards-{000..099}.tar",
        "WebDataset, several tar files: KEY.jpg with KEY.cls, KEY.json or KEY.txt; ?label=, ?image=, ?mask=, ?id=, ?names=",
    ),
    "parquet": DataKind(
        load_parquet,
        "parquet:file.parquet?image=image&label=label",
        "images as bytes (or paths) in a column of one or several Parquet files; ?mask=, ?objects=, ?id=, ?names=",
    ),
    "hf": DataKind(
        load_hf,
        "hf:owner/name?split=test",
        "a dataset of Hugging Face's hub; ?image=, ?label=, ?mask=, ?objects=, ?config=, ?revision=, ?stream=1000",
        also=(("hf:FOLDER?split=test", "what save_to_disk wrote, or a folder of Parquet files as the hub has them"),),
    ),
    "cue": DataKind(
        load_cue,
        "cue:path",
        "cue conflicts in the published layout: SHAPE/SHAPE1-TEXTURE2.png, columns texture and conflict",
    ),
    "manifest": DataKind(
        load_manifest,
        "manifest:file.csv",
        "a CSV or Parquet table: path, label, optional box, mask, group and other columns",
    ),
    "arrays": DataKind(
        load_arrays,
        "arrays:file.npz",
        "arrays: images uint8 [N, H, W, 3] or [N, H, W], labels, optional ids, classes, masks, boxes",
    ),
    "boxes": DataKind(
        load_boxes,
        "boxes:file.csv",
        "a table with one row per box: path, label, x0, y0, x1, y1; maximum exclusive, or ?max=inclusive",
    ),
    "voc": DataKind(
        load_voc,
        "voc:DIR",
        "images with XML files as Pascal VOC and ImageNet have them; ?split=, ?masks=true, ?first=0",
    ),
    "coco": DataKind(
        load_coco,
        "coco:annotations.json?images=DIR",
        "images, boxes and masks in one JSON file, as COCO has them",
    ),
    "panoptic": DataKind(
        load_panoptic,
        "panoptic:panoptic_val2017.json?images=DIR&segments=DIR",
        "boxes and masks of things in a JSON file and PNG files, as COCO-panoptic has them; ?stuff=true",
    ),
    "openimages": DataKind(
        load_openimages,
        "openimages:validation-annotations-bbox.csv?images=DIR",
        "one row per box as Open Images has them, in shares of the image; ?names=class-descriptions-boxable.csv, ?groups=false",
    ),
    "ovis": DataKind(
        load_ovis,
        "ovis:annotations.json?frames=DIR",
        "instances in the frames of videos as OVIS and YouTube-VIS have them, cropped; ?view=frame; columns video, level",
    ),
    "pairs": DataKind(
        load_pairs,
        "pairs:IMAGES,LABELS",
        "two folders, of images and of PNG files with the class of every pixel; ?ignore=, ?names=, ?suffix=",
    ),
    "svhn": DataKind(
        load_svhn,
        "svhn:test_32x32.mat",
        "digits in a MATLAB file as SVHN and SYN have them: X uint8 [height, width, 3, N], y (10 is 0)",
    ),
    "stl": DataKind(
        load_stl,
        "stl:DIR?split=test",
        "the binary files of STL-10: images of 96x96 pixels, labels from 1, class_names.txt",
        also=(("stl:test_X.bin", "one of these files, with test_y.bin beside it, or ?labels="),),
    ),
    "cifar": DataKind(
        load_cifar,
        "cifar:DIR?split=test",
        "the binary files of CIFAR-10 and CIFAR-100, or one of them; ?labels=coarse",
    ),
    "mnist": DataKind(
        load_mnist,
        "mnist:DIR?split=test",
        "idx files as of MNIST, Fashion-MNIST and EMNIST, packed or not, or one of images; ?names=, ?labels=, ?transposed=true",
    ),
    "torchvision": DataKind(
        load_torchvision,
        "torchvision:CIFAR10?root=DIR&split=test",
        "a dataset of torchvision that is on disk and gives (image, label)",
    ),
    "in9": DataKind(
        load_in9,
        "in9:ROOT/VARIANT",
        "a variant that `snellen build in9` made, or of the published ImageNet-9; ?split=",
    ),
    "python": DataKind(
        load_python,
        "python:file.py:name",
        "a dataset that your own code makes: of torch's shape, or MAITE's; also python:package.module:factory@argument",
    ),
    "phantom": DataKind(
        load_phantom,
        "phantom:test?size=32",
        f"a generated world whose truth is known; dials {', '.join(DIALS)}",
        also=(("phantom:test?task=presence", "the same world in two classes: is there an object, or only its scene?"),),
    ),
}


def _fit(name: str, thing: object, origin: PluginOrigin) -> DataKind:
    """A plug-in's kind, whose datasets are marked with its code."""
    kind = instance_of(DataKind, thing)
    mark = stamp(origin, kind.version)

    def read(path: str, options: Mapping[str, str]) -> Dataset:
        with user_code(f"the plug-in '{name}'"):
            data = as_data(kind.read(path, options))
        return replace(data, fingerprint=key_of([mark, data.fingerprint]))

    return replace(kind, read=read)


PLUGGED = PluginTable("data", SCHEMES, _fit)


def load_data(text: str) -> Dataset:
    """The dataset a text names: `folder:path`, `manifest:file.csv`, `arrays:file.npz`, `phantom:test?texture_bias=1`.

    A path alone is of the kind that it looks like: `photos/`, `photos.csv`, `photos.tar`.

    `?column=value` keeps only the rows with that value; several are joined with `&`. Options that any data take are
    `ids`, `without`, `rename`, `classes`, `random_labels` and `labels_seed`: see subset.py.

    >>> from snellen.data import load_data
    >>> data = load_data("phantom:test?size=32&n=12")
    >>> len(data), data.classes[:3]
    (12, ('disc', 'ring', 'crescent'))
    """
    if storable(text) != text:  # reports and run.json name it, and it must be readable from there
        raise UserError(f"'{text}' has bytes that are not UTF-8; rename the file or folder, or make a link to it")
    scheme, colon, rest = text.partition(":")
    if scheme == "file" and rest.startswith("//"):
        colon, text = "", rest.removeprefix("//")
    elif address_scheme(text) in ADDRESSES:
        colon = ""
    if colon and scheme.endswith(".py"):
        scheme, rest, text = "python", text, f"python:{text}"
    if not colon:
        scheme, rest = scheme_of(text.partition("?")[0], list(SCHEMES)), text
        text = f"{scheme}:{text}"
    PLUGGED.find(scheme)
    if scheme not in SCHEMES:
        raise unknown("data scheme", scheme, PLUGGED.names())
    path, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=False))
    check_address(path, list(options))
    if query and not options:
        raise UserError(f"cannot read '?{query}' in '{text}'; write it as ?column=value&other=value")
    data = SCHEMES[scheme].read(path, {name: value for name, value in options.items() if name not in OPTIONS})
    data = apply_options(data, {name: value for name, value in options.items() if name in OPTIONS})
    data = data if data.text == text else replace(data, text=text)
    if not is_loaded_alike(scheme, path, text):
        return data
    return replace(data, origin=DataOrigin(text, data.fingerprint, len(data), data.read))


def load_stored(text: str) -> Dataset:
    """The dataset that a run folder names: not one made by code, which a folder from elsewhere might bring along.

    >>> from snellen.data import load_stored
    >>> len(load_stored("phantom:test?size=32&n=12"))
    12
    """
    if text.partition(":")[0] == "python" or text.partition(":")[0].endswith(".py"):
        raise UserError(
            f"the run's data are made by code, '{text}', which is not run because a folder names it; give the data themselves"
        )
    return load_data(text)


def as_data(thing: Any) -> Dataset:
    """The dataset of a text, of one of torch's datasets or loaders, or one that is there already.

    >>> from snellen.data import as_data
    >>> import torch
    >>> pictures = torch.zeros(4, 3, 8, 8, dtype=torch.uint8)
    >>> labels = torch.tensor([0, 1, 0, 1])
    >>> len(as_data(torch.utils.data.TensorDataset(pictures, labels)))
    4
    """
    if isinstance(thing, Dataset):
        return thing
    if isinstance(thing, str | Path):
        return load_data(str(thing))
    if hasattr(thing, "__getitem__") or hasattr(thing, "dataset"):
        from snellen.data.torch_data import from_torch_data

        return from_torch_data(thing)
    raise UserError(f"expected data as text, a Dataset or one of torch's, got {type(thing).__name__}")


def given_data(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    """Settings of a caller in Python, in which some data may be torch's: these as datasets, read once.

    >>> from snellen.data import given_data
    >>> given_data({"data": "phantom:test?size=32&n=12", "limit": 3}, "data")  # texts stay as they are
    {'data': 'phantom:test?size=32&n=12', 'limit': 3}
    """
    plain = (str, Path, Dataset, type(None))
    return settings | {n: as_data(settings[n]) for n in names if n in settings and not isinstance(settings[n], plain)}


__all__ = [
    "OPTIONS",
    "SCHEMES",
    "Canvas",
    "DataKind",
    "Dataset",
    "Photo",
    "Samples",
    "Unreadable",
    "as_data",
    "from_arrays",
    "given_data",
    "limited",
    "load_data",
    "load_stored",
    "map_classes",
    "only_ids",
    "random_labels",
    "rename_classes",
    "render",
    "without_classes",
]
__dir__ = lister(__all__)
