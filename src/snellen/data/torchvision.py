"""`torchvision:CIFAR10?root=DIR&split=test`: a dataset of torchvision that is on disk and gives (image, label).

Nothing is downloaded. `?split=` is passed as `split`, or as `train` where the class has that; other options that its constructor
takes are passed on (`?target_type=category`). Names of classes are its `classes`. It is torchvision that reads the files: its
CIFAR classes unpickle what their checksums say is the published file; LSUN, which unpickles a cache of its own, is left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from snellen.data.dataset import Dataset, filter_rows
from snellen.data.torch_data import from_torch_data
from snellen.errors import UserError, unknown
from snellen.files import expand_home
from snellen.files.net import reason_of
from snellen.files.remote.remote_path import RemotePath

OURS = frozenset(
    {
        "self",
        "root",
        "train",
        "split",
        "download",
        "transform",
        "target_transform",
        "transforms",
        "loader",
        "is_valid_file",
    }
)
UNPICKLED = ("LSUN", "LSUNClass")  # which read a pickle that nothing vouches for
TRAIN = {"train": True, "test": False}


def load_torchvision(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of one split, read once at the start; what else the options say filters them."""
    from torchvision import datasets

    kinds = {
        name: getattr(datasets, name) for name in datasets.__all__ if _is_dataset(getattr(datasets, name), datasets)
    }
    if path not in kinds:
        raise unknown("dataset of torchvision", path, sorted(kinds))
    text, conditions, kind = f"torchvision:{path}", dict(options), kinds[path]
    arguments = _arguments(kind, conditions, text)
    try:
        source = kind(**arguments)
    except Exception as error:
        place = f" in '{arguments['root']}'" if "root" in arguments else ""
        raise UserError(
            f"{text} cannot be read{place}: {reason_of(error)}; download it with torchvision once"
        ) from error
    if not isinstance(getattr(source, "classes", None), list) and hasattr(source, "wnids"):
        source.classes = source.wnids
    return filter_rows(from_torch_data(source, text), conditions)


def _is_dataset(kind: Any, datasets: Any) -> bool:
    if not inspect.isclass(kind) or kind.__name__ in UNPICKLED:
        return False
    return issubclass(kind, datasets.VisionDataset) and kind is not datasets.VisionDataset


def _arguments(kind: Callable[..., Any], conditions: dict[str, str], text: str) -> dict[str, Any]:
    """What the constructor gets, taken out of the options."""
    known = inspect.signature(kind).parameters
    arguments: dict[str, Any] = {}
    if "root" in known:
        if "root" not in conditions:
            raise UserError(f"{text} needs the folder that it lies in; write {text}?root=DIR")
        root = expand_home(conditions.pop("root"))
        if isinstance(root, RemotePath):
            raise UserError(
                f"'{root}' is an address, and torchvision reads files of this machine alone; copy the folder, or name its files "
                "as cifar:, mnist:, svhn: or stl:"
            )
        arguments["root"] = str(root)
    if "split" in known and "split" in conditions:
        arguments["split"] = conditions.pop("split")
    if "train" in known:
        split = conditions.pop("part", None) if "split" in known else conditions.pop("split", None)
        if (split or "test") not in TRAIN:
            raise UserError(f"{text}: expected the split train or test, got '{split}'")
        arguments["train"] = TRAIN[split or "test"]
    for name in [name for name in conditions if name in known and name not in OURS]:
        value = conditions.pop(name)
        default = known[name].default
        try:
            arguments[name] = type(default)(value) if type(default) in (int, float) else value
        except ValueError:
            raise UserError(f"{text}: expected ?{name}= as a number, got '{value}'") from None
    return arguments
