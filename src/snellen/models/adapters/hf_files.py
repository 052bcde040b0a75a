"""The files of a model of transformers, checked before the library makes anything of them.

Weights are `model.safetensors`, or the `.safetensors` files beside it that an index names; nothing else is followed. A network
that would need more memory than its weights account for is refused before it is allocated.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from snellen.errors import UserError
from snellen.files import MIB, decode_json, fit, read_bytes
from snellen.files.weights import count_tensors
from snellen.lazy_torch import torch

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
MOST_CLASSES = 100_000
MOST_NUMBER = 10_000_000  # whole numbers of a configuration: some become lists of as many entries
SPARE = 16 * MIB  # elements that a network may have beyond those in its files, such as tables of positions
PROCESSORS = ("preprocessor_config.json", "processor_config.json")
Find = Callable[[str], Path | None]  # where a file of the model is; None where there is none


class Configuration(msgspec.Struct):
    """What is read of config.json before transformers reads it."""

    architectures: list[str] | None = None
    num_labels: Annotated[int, msgspec.Meta(ge=1, le=MOST_CLASSES)] | None = None
    id2label: Annotated[dict[str, str], msgspec.Meta(min_length=1, max_length=MOST_CLASSES)] | None = None
    transformers_weights: str | None = None


class WeightIndex(msgspec.Struct):
    """Which file holds which tensor."""

    weight_map: Annotated[dict[str, str], msgspec.Meta(min_length=1)]
    metadata: dict[str, Any]


@dataclass(frozen=True)
class WeightFiles:
    """How many tensors the weights of a model have, and how many bytes their files."""

    tensors: int
    size: int


def check_configuration(find: Find) -> None:
    """Refuse a configuration of odd classes or of numbers beyond any network."""
    path = find("config.json")
    if path is None:
        return  # transformers says so
    content: dict[str, Any] = decode_json(read_bytes(path, "configuration", 64 * MIB), dict[str, Any], path)
    config: Configuration = fit(content, Configuration, path)
    for name, number in _numbers(content, ""):
        if abs(number) > MOST_NUMBER:
            raise UserError(f"{path}: {name} is {number:,}, more than the {MOST_NUMBER:,} that is read")
    if config.id2label is not None and set(config.id2label) != {str(place) for place in range(len(config.id2label))}:
        raise UserError(
            f"{path}: id2label has {len(config.id2label):,} classes, but not the numbers 0 to {len(config.id2label) - 1:,}; "
            "name every class once"
        )
    if config.transformers_weights is not None or find("adapter_config.json") is not None:
        raise UserError(f"'{path.parent}' refers to weights elsewhere; only {WEIGHTS} or its index is read")


def _numbers(value: Any, name: str) -> Iterator[tuple[str, int]]:
    """Every whole number of a document with its name."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _numbers(inside, str(key)[:60])
    elif isinstance(value, list):
        for inside in value:
            yield from _numbers(inside, name)
    elif isinstance(value, int):
        yield name, value


def check_processor(find: Find, text: str) -> None:
    """Refuse a network of which nothing says how its images are made."""
    if not any(find(name) for name in PROCESSORS):
        raise UserError(
            f"'{text}' has no {PROCESSORS[0]}, which says how images are made; save the image processor of the network beside it"
        )


def check_weights(find: Find) -> WeightFiles | None:
    """What the files of weights hold; None where there are none, as transformers will say."""
    single, index = find(WEIGHTS), find(INDEX)
    if single is not None:
        return WeightFiles(count_tensors(single), os.stat(single).st_size)
    if index is None:
        return None
    content: WeightIndex = decode_json(read_bytes(index, "index of weights", 64 * MIB), WeightIndex, index)
    files = [_shard(name, index, find) for name in sorted(set(content.weight_map.values()))]
    return WeightFiles(sum(map(count_tensors, files)), sum(os.stat(file).st_size for file in files))


def _shard(name: str, index: Path, find: Find) -> Path:
    """A file that an index names."""
    if not name.endswith(".safetensors") or Path(name).name != name or "\\" in name:
        raise UserError(f"{index} names '{name}'; expected .safetensors files in its own folder")
    file = find(name)
    if file is None:
        raise UserError(f"{index} names '{name}', which is not there; get the file, or save the model again")
    return file


def check_network(make: Callable[[], Any], weights: WeightFiles, place: str) -> None:
    """Refuse a network of far more layers or elements than its weights have; it is made without memory for them."""
    with _at_most(1_000 + 20 * weights.tensors, place), torch.device("meta"):
        network = make()
    elements = sum(math.prod(tensor.shape) for tensor in (*network.parameters(), *network.buffers()))
    if elements > weights.size + SPARE:
        raise UserError(
            f"'hf:{place}': its config.json describes a network of {elements:,} numbers, but its weights are "
            f"{weights.size:,} bytes; do the two belong together?"
        )


@contextmanager
def _at_most(modules: int, place: str) -> Iterator[None]:
    """Stop where a network registers more modules than that."""
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1
        if count > modules:
            raise UserError(
                f"'hf:{place}': its config.json describes a network of more than {modules:,} parts, far more than its "
                "weights have; do the two belong together?"
            )

    handle = torch.nn.modules.module.register_module_module_registration_hook(note)
    try:
        yield
    finally:
        handle.remove()
