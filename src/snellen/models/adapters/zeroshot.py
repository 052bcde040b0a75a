"""`zeroshot:hf:owner/name` or `zeroshot:hf:FOLDER`: CLIP and SigLIP of transformers as classifiers of any classes.

The classes are those of the data that are audited, or `#classes=FILE`. `#prompts=FILE` has the sentences about them (one per
line, {} for the name), else the 80 of Radford et al. 2021; `#synonyms=FILE` says what they are called, as JSON.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from snellen.errors import UserError
from snellen.extras import import_package
from snellen.files import expand_home
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.models.adapters.hf import find_file, loading, source_of, without_bars
from snellen.models.device import Device, choose_device
from snellen.models.model import Model, from_torch, weights_hash
from snellen.models.network_settings import SETTINGS
from snellen.models.text_settings import Readers, read_settings, split_settings
from snellen.models.zero_shot.prompts import PUBLISHED, read_prompts, read_synonyms, sentences, spoken

ENCODERS = ("CLIPModel", "SiglipModel")
OPTIONS: Readers = {"classes": SETTINGS["classes"], "prompts": expand_home, "synonyms": expand_home}
TOKENIZERS = ("tokenizer.json", "vocab.json", "spiece.model", "tokenizer.model")


def load_zeroshot(place: str, argument: str | None, device: Device) -> Model:
    """The classifier of a text that names its classes."""
    model = zeroshot_of(place, argument, device, None)
    assert model is not None
    return model


def zeroshot_of(place: str, argument: str | None, device: Device, classes: Sequence[str] | None) -> Model | None:
    """The classifier of these classes; None where they are given and the text names its own."""
    path, query = split_settings(place)
    settings = read_settings(query, OPTIONS, f"zeroshot:{path}")
    if "classes" in settings and classes is not None:
        return None
    names = settings.get("classes") or classes
    if names is None:
        raise UserError(
            f"'zeroshot:{place}' has no classes of its own; add #classes=FILE, one name per line (an audit takes its data's)"
        )
    kind, colon, name = path.partition(":")
    if kind != "hf" or not colon:
        raise UserError(f"expected 'zeroshot:hf:owner/name' or 'zeroshot:hf:FOLDER', got 'zeroshot:{path}'")
    prompts = read_prompts(settings["prompts"]) if "prompts" in settings else PUBLISHED
    synonyms = read_synonyms(settings["synonyms"], names) if "synonyms" in settings else {}
    texts = [sentences(synonyms.get(label) or [spoken(label)], prompts) for label in names]
    return _load(name, tuple(names), texts, device)


def _load(place: str, classes: tuple[str, ...], texts: Sequence[Sequence[str]], device: Device) -> Model:
    """The encoder of a place, with the features of the texts about each class."""
    from snellen.models.adapters.hf_parts import canvas_of, rule_of, statistics_of
    from snellen.models.zero_shot.network import ZeroShot, class_features, encoder_hash

    transformers = import_package("transformers", f"'zeroshot:hf:{place}'")
    network, processor, tokenizer = _parts(transformers, place)
    where = choose_device(device)
    network = network.eval().to(where)
    text_parts = [network.text_model, *([network.text_projection] if hasattr(network, "text_projection") else [])]

    def encode(tokens: dict[str, Any]) -> Any:
        features = network.get_text_features(**{name: part.to(where) for name, part in tokens.items()})
        return getattr(features, "pooler_output", features)

    longest = int(network.config.text_config.max_position_embeddings)
    how = {"padding": "max_length", "truncation": True, "max_length": longest, "return_tensors": "pt"}
    tokens = [
        {name: part for name, part in tokenizer(list(some), **how).items() if _wanted(name, network)} for some in texts
    ]
    features, key = class_features(encode, tokens, encoder_hash(text_parts))
    rule = rule_of(processor, place)
    mean, std = statistics_of(rule)
    model = from_torch(
        ZeroShot(network, features.to(where)),
        classes,
        canvas=canvas_of(rule, place),
        mean=mean,
        std=std,
        name=Path(place.partition("@")[0]).name,
        device=where,
    )
    assert model.module is not None
    facts = ["zeroshot", [weights_hash(part) for part in model.module.children()], key, str(model.canvas), mean, std]
    scale = [network.logit_scale.item(), *([network.logit_bias.item()] if hasattr(network, "logit_bias") else [])]
    return replace(model, card=replace(model.card, fingerprint=key_of([*facts, scale])))


def _wanted(name: str, network: Any) -> bool:
    """Whether a text encoder is given these tokens; SigLIP's was trained without an attention mask."""
    return name == "input_ids" or (name == "attention_mask" and type(network).__name__ == "CLIPModel")


def _parts(transformers: Any, place: str) -> tuple[Any, Any, Any]:
    """The network, the image processor and the tokenizer of a place."""
    from snellen.models.adapters.hf_files import check_configuration, check_network, check_processor, check_weights

    name, at, revision = place.partition("@")
    source, chosen = source_of(name, revision if at else None)
    find = functools.partial(find_file, transformers, source, chosen)
    with loading(name, source):
        check_configuration(find)
        config = transformers.AutoConfig.from_pretrained(source, **chosen)
    architectures = list(getattr(config, "architectures", None) or ())
    if not set(architectures) & set(ENCODERS):
        raise UserError(
            f"'zeroshot:hf:{name}' is {', '.join(architectures)[:80] or 'of no named architecture'}; expected one of "
            f"{', '.join(ENCODERS)}"
        )
    loader = getattr(transformers, next(known for known in architectures if known in ENCODERS))
    with loading(name, source), without_bars(transformers):
        check_processor(find, f"zeroshot:hf:{name}")
        if not any(find(file) for file in TOKENIZERS):  # transformers would make one that knows no word
            raise UserError(
                f"'zeroshot:hf:{name}' has no {TOKENIZERS[0]}, which says how words are read; save the tokenizer of the "
                "network beside it"
            )
        weights = check_weights(find)
        if weights is not None:
            check_network(lambda: loader(config), weights, name)
        processor = transformers.AutoImageProcessor.from_pretrained(source, **chosen)
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **chosen)
        options = {"use_safetensors": True, "dtype": torch.float32, "output_loading_info": True}
        network, facts = loader.from_pretrained(source, **chosen, **options)
    if missing := sorted(facts["missing_keys"]):
        raise UserError(f"'zeroshot:hf:{name}' lacks weights that its network needs, such as '{missing[0]}'")
    return network, processor, tokenizer
