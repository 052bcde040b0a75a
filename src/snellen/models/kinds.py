"""The table of model kinds: what may stand before the colon of a model text. A new kind is an adapter and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from snellen.models.adapters.chat import chat_of, load_chat
from snellen.models.adapters.ensemble import load_ensemble
from snellen.models.adapters.exported import load_exported
from snellen.models.adapters.hf import load_hf
from snellen.models.adapters.http import http_loader
from snellen.models.adapters.observer import load_observer, observer_card
from snellen.models.adapters.onnx import load_onnx, onnx_card
from snellen.models.adapters.opencv import load_opencv
from snellen.models.adapters.predictions import load_predictions, predictions_card, runs_of
from snellen.models.adapters.python import load_python
from snellen.models.adapters.timm import load_timm
from snellen.models.adapters.torchscript import load_torchscript
from snellen.models.adapters.torchvision import load_torchvision
from snellen.models.adapters.tta import load_tta
from snellen.models.adapters.zeroshot import load_zeroshot, zeroshot_of
from snellen.models.adapters.zoo import load_zoo, zoo_card
from snellen.models.card import Card
from snellen.models.device import Device
from snellen.models.model import Model
from snellen.models.network_settings import SETTINGS
from snellen.models.observers import OBSERVERS
from snellen.models.zoo import NETWORKS

Lines = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ModelKind:
    """How the models of one kind, written `kind:place@argument`, are found, planned and loaded.

    `load` makes a model of place, argument and device. `card` reads its card without torch; without it the model is loaded
    for the plan, or its card `remembered` from an earlier run, for the version of that package. `gradients` is what
    remembered cards of before are taken to say. `glob` is the part of the text whose `*` makes runs. `prefix` stands for
    `kind:`, and a bare path that ends in one of `suffixes` is of this kind: its argument where it takes one, else its place.
    `lines` are those of `snellen list models`: how to write it, what it means. `of_classes` makes a model of the data's classes;
    None where its text names others. A plug-in's `version` stands in keys for its code; without it the digest of its source does.
    `repeats` says that `#repeats=R` makes R runs of its text; `runs` gives the place of each run of a place that holds several.
    """

    load: Callable[[str, str | None, Device], Model]
    lines: Lines
    card: Callable[[str, str | None], Card] | None = None
    takes_argument: bool = False
    remembered: str | None = None
    gradients: bool = False
    glob: Literal["argument", "place"] | None = None
    prefix: str | None = None
    suffixes: tuple[str, ...] = ()
    of_classes: Callable[[str, str | None, Device, Sequence[str]], Model | None] | None = None
    version: str | None = None
    repeats: bool = False
    runs: Callable[[str], Sequence[str]] | None = None


def _zoo_lines() -> Lines:
    networks = [(f"zoo:{name}@file.safetensors", (build.__doc__ or "").strip()) for name, build in NETWORKS.items()]
    return (
        (
            "zoo:ARCH@file.safetensors",
            "weights for a network named below, or for timm:NAME, torchvision:NAME or hf:NAME; also .pt and its like",
        ),
        (
            "zoo:timm:resnet18@ft.pt#like=resnet18.a1_in1k",
            f"fine-tuned weights, and how their images are made: #{', '.join(SETTINGS)}",
        ),
        *networks,
        ("file.safetensors", "a checkpoint that snellen trained; a * in its name makes runs of one model"),
    )


KINDS: dict[str, ModelKind] = {
    "timm": ModelKind(
        load_timm,
        (
            ("timm:resnet18.a1_in1k", "any timm model, always with its weight tag"),
            ("timm:FOLDER", "one that timm wrote for the hub: config.json and model.safetensors"),
        ),
        remembered="timm",
        gradients=True,
        prefix="timm/",
    ),
    "torchvision": ModelKind(
        load_torchvision,
        (("torchvision:resnet50@IMAGENET1K_V2", "any torchvision classifier with its weights"),),
        takes_argument=True,
        remembered="torchvision",
        gradients=True,
    ),
    "onnx": ModelKind(
        load_onnx,
        (
            (
                "onnx:file.onnx#mean=…&std=…",
                "a network in ONNX, run by onnxruntime; #like=NAME, #classes=FILE, #output=NAME",
            ),
        ),
        onnx_card,
        glob="place",
        suffixes=(".onnx",),
    ),
    "exported": ModelKind(
        load_exported,
        (("exported:file.pt2#mean=…&std=…", "a network of torch.export.save; the same settings"),),
        glob="place",
        suffixes=(".pt2",),
    ),
    "torchscript": ModelKind(
        load_torchscript,
        (("torchscript:file.pt#size=…&mean=…&std=…", "a network of torch.jit.save; the same settings"),),
        glob="place",
    ),
    "hf": ModelKind(
        load_hf,
        (
            (
                "hf:owner/name@revision",
                "a classifier or semantic segmenter of the Hugging Face hub; needs transformers",
            ),
            ("hf:FOLDER", "one that save_pretrained wrote, with its image processor"),
        ),
        takes_argument=True,
    ),
    "zeroshot": ModelKind(
        load_zeroshot,
        (
            (
                "zeroshot:hf:owner/name",
                "CLIP or SigLIP of transformers, for the classes of the data; #prompts=FILE, #synonyms=FILE, #classes=FILE",
            ),
        ),
        of_classes=zeroshot_of,
    ),
    "ensemble": ModelKind(
        load_ensemble,
        (("ensemble:MODEL,MODEL", "the mean of the probabilities of models with the same classes and canvas"),),
    ),
    "tta": ModelKind(
        load_tta,
        (("tta(flip):MODEL", "the mean of a model's probabilities for each image and its mirror image"),),
        prefix="tta(flip):",
    ),
    "zoo": ModelKind(
        load_zoo, _zoo_lines(), zoo_card, takes_argument=True, glob="argument", suffixes=(".safetensors",)
    ),
    "python": ModelKind(
        load_python,
        (("python:package.module:factory", "your own code; also python:file.py:factory@argument"),),
        takes_argument=True,
        glob="argument",
    ),
    "predictions": ModelKind(
        load_predictions,
        (
            ("predictions:file.csv", "answers made elsewhere: columns sample, pred and optionally distortion, seed"),
            ("predictions:file.csv#model=NAME", "those of one model, with its runs, in an export of several"),
        ),
        predictions_card,
        glob="place",
        runs=runs_of,
        suffixes=(".csv", ".parquet"),
    ),
    "observer": ModelKind(
        load_observer,
        (("observer:NAME", f"one that answers as it is built to, on the phantom world: {', '.join(OBSERVERS)}"),),
        observer_card,
    ),
    "opencv": ModelKind(
        load_opencv,
        (("opencv:frontalcatface#size=64", "a cascade that OpenCV ships, as a detector; #scale=1.1&neighbours=3"),),
    ),
    "http": ModelKind(
        http_loader("http"),
        (
            (
                "http://host:port/path",
                "a web service that answers POSTed images; settings as #timeout=10&rate=5&batch=32",
            ),
        ),
        repeats=True,
    ),
    "https": ModelKind(
        http_loader("https"),
        (("https://host/path", "the same over TLS; #token=NAME sends a bearer token"),),
        repeats=True,
    ),
    "chat": ModelKind(
        load_chat,
        (
            (
                "chat:http://host/v1#model=NAME",
                "a vision-language model behind an OpenAI-compatible endpoint; #protocol=closed, choice or free, #token=NAME",
            ),
        ),
        of_classes=chat_of,
        repeats=True,
    ),
}
