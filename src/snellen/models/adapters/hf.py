"""`hf:owner/name@revision` or `hf:FOLDER`: networks and preprocessing as transformers has them, from the hub or a folder.

Classifiers and semantic segmenters, such as UPerNet. Weights are read from safetensors alone; no code of a repository is run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.extras import import_package
from snellen.files import reading
from snellen.files.net import reason_of
from snellen.files.plain import place_here
from snellen.lazy_torch import torch
from snellen.models.card import Task
from snellen.models.device import Device
from snellen.models.model import Model, from_torch
from snellen.offline import hub_address, is_offline, reaches

if TYPE_CHECKING:
    from torch import nn

TASKS: dict[str, Task] = {"ForImageClassification": "classification", "ForSemanticSegmentation": "segmentation"}


def load_hf(place: str, revision: str | None, device: Device) -> Model:
    """The model of a repository of the hub, or of a folder that `save_pretrained` wrote."""
    from snellen.models.adapters.hf_files import (
        check_configuration,
        check_network,
        check_processor,
        check_weights,
    )
    from snellen.models.adapters.hf_parts import Logits, canvas_of, rule_of, statistics_of

    transformers = import_package("transformers", f"'hf:{place}'")
    source, chosen = source_of(place, revision)

    find = functools.partial(find_file, transformers, source, chosen)
    with loading(place, source):
        check_configuration(find)
        config = transformers.AutoConfig.from_pretrained(source, **chosen)
    task = _task(place, config)
    loader = {
        "classification": transformers.AutoModelForImageClassification,
        "segmentation": transformers.AutoModelForSemanticSegmentation,
    }[task]
    options = {**chosen, "config": config, "use_safetensors": True, "dtype": torch.float32, "output_loading_info": True}
    with loading(place, source), without_bars(transformers):
        check_processor(find, f"hf:{place}")
        weights = check_weights(find)
        if weights is not None:
            check_network(lambda: loader.from_config(config), weights, place)
        processor = transformers.AutoImageProcessor.from_pretrained(source, **chosen)
        network, facts = loader.from_pretrained(source, **options)
    if missing := sorted(facts["missing_keys"]):
        raise UserError(f"'hf:{place}' lacks weights that its network needs, such as '{missing[0]}'")
    rule = rule_of(processor, place)
    mean, std = statistics_of(rule)
    return from_torch(
        Logits(network),
        classes=[config.id2label[number] for number in range(config.num_labels)],
        canvas=canvas_of(rule, place),
        mean=mean,
        std=std,
        name=Path(place).name,
        device=device,
        task=task,
    )


def untrained_hf(place: str, revision: str | None, classes: int) -> nn.Module:
    """The classifier of a repository or folder with random weights and that many classes; its own weights are not read."""
    from snellen.models.adapters.hf_files import check_configuration
    from snellen.models.adapters.hf_parts import Logits

    transformers = import_package("transformers", f"'hf:{place}'")
    source, chosen = source_of(place, revision)
    with loading(place, source):
        check_configuration(functools.partial(find_file, transformers, source, chosen))
        config = transformers.AutoConfig.from_pretrained(source, num_labels=classes, **chosen)
    if _task(place, config) != "classification":
        raise UserError(f"'hf:{place}' segments; a training by name needs a classifier of transformers")
    return Logits(transformers.AutoModelForImageClassification.from_config(config))


def source_of(place: str, revision: str | None) -> tuple[str, dict[str, Any]]:
    """What transformers is given: a folder, or a repository and its revision."""
    folder = place_here(place, "a model of transformers")
    options: dict[str, Any] = {"trust_remote_code": False}
    if folder.is_dir():
        if revision is not None:
            raise UserError(f"'hf:{place}@{revision}': a folder has no revisions; leave out @{revision}")
        if not (folder / "config.json").is_file():
            raise UserError(
                f"{place} has no config.json; save_pretrained of a model and of its image processor writes one"
            )
        return str(folder), options
    if folder.is_absolute() or place.startswith(("~", ".")) or place.count("/") > 1:
        raise UserError(f"no folder '{place}' of a model of transformers")
    return place, {**options, "revision": revision, "local_files_only": is_offline() or not reaches(hub_address())}


def find_file(transformers: Any, source: str, chosen: dict[str, Any], name: str) -> Path | None:
    """Where a file of a folder or a repository is, downloaded first where need be; None where there is none."""
    quiet = {f"_raise_exceptions_for_{what}": False for what in ("missing_entries", "connection_errors", "gated_repo")}
    options = {option: value for option, value in chosen.items() if option != "trust_remote_code"}
    file = transformers.utils.cached_file(source, name, **options, **quiet)
    return None if file is None else Path(file)


def loading(place: str, source: str) -> AbstractContextManager[None]:
    """Tell what fails inside as the failure of a folder or of a download."""
    return reading(place, "a model of transformers") if Path(source).is_dir() else _downloading(place)


@contextmanager
def _downloading(place: str) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # the hub client raises many kinds when it cannot reach its host
        raise UserError(f"'hf:{place}' could not be loaded ({reason_of(error)}); are you offline? set HF_HOME to a cache that "
                        "holds it, or name a folder") from None  # fmt: skip


@contextmanager
def without_bars(transformers: Any) -> Iterator[None]:
    """No bars of transformers among the messages of a command."""
    bars = transformers.utils.logging
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


def _task(place: str, config: Any) -> Task:
    """The task of a network, by the class that it was saved from."""
    names = list(getattr(config, "architectures", None) or ())
    for ending, task in TASKS.items():
        if any(name.endswith(ending) for name in names):
            return task
    raise UserError(
        f"'hf:{place}' is {', '.join(names)[:80] or 'of no named architecture'}; expected one that ends in {' or '.join(TASKS)}"
    )
