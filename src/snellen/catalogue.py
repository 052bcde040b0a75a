"""What there is: models, data, distortions and audits, each with its first line of documentation."""

from __future__ import annotations

import dataclasses
from typing import Any

from snellen.errors import unknown
from snellen.notation import format_value


def catalogue(kind: str) -> list[tuple[str, str]]:
    """(how to write it, what it is) of every model kind, data scheme, distortion or audit."""
    kinds = {"models": _models, "data": _data, "distortions": _distortions, "audits": _audits}
    if kind not in kinds:
        raise unknown("list", kind, kinds)
    return kinds[kind]()


def _models() -> list[tuple[str, str]]:
    from snellen.models.observers import OBSERVERS
    from snellen.models.zoo import NETWORKS

    return [
        ("timm:resnet18.a1_in1k", "any timm model, always with its weight tag"),
        ("torchvision:resnet50@IMAGENET1K_V2", "any torchvision classifier with its weights"),
        ("zoo:ARCH@file.safetensors", "weights for a network named below, or for timm:NAME or torchvision:NAME"),
        *((f"zoo:{name}@file.safetensors", _first_line(network)) for name, network in NETWORKS.items()),
        ("file.safetensors", "a checkpoint that snellen trained; a * in its name makes runs of one model"),
        ("python:package.module:factory", "your own code; also python:file.py:factory@argument"),
        ("predictions:file.csv", "answers made elsewhere: columns sample, pred and optionally distortion, seed"),
        ("observer:NAME", f"one that answers as it is built to, on the phantom world: {', '.join(OBSERVERS)}"),
        ("NAME=MODEL", "any of these under a name of your choice"),
    ]


def _data() -> list[tuple[str, str]]:
    from snellen.data import SCHEMES

    return [line for kind in SCHEMES.values() for line in ((kind.example, kind.meaning), *kind.also)]


def _distortions() -> list[tuple[str, str]]:
    from snellen.distort import DISTORTIONS

    return [(_signature(name, cls), _first_line(cls)) for name, cls in DISTORTIONS.items()]


def _audits() -> list[tuple[str, str]]:
    from snellen.audits import AUDITS

    return [(_signature(name, cls), _first_line(cls)) for name, cls in AUDITS.items()]


def _signature(name: str, cls: type) -> str:
    """`name(field=default, …)`."""
    shown = [f"{f.name}={format_value(f.default)}" for f in dataclasses.fields(cls)]
    return f"{name}({', '.join(shown)})"


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]
