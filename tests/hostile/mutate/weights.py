"""Checkpoints: headers and cards edited as JSON, tensors of other types and shapes, pickles instead of weights."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from . import nasty, values
from .payload import Bomb, pickled
from .unfit import fitting


def mutate_safetensors(file: Path, draw: Random) -> str:
    content = file.read_bytes()
    with fitting():
        (length,) = struct.unpack("<Q", content[:8])
        header: dict[str, Any] = json.loads(content[8 : 8 + length])
        card = json.loads(header["__metadata__"]["snellen"])
    how = draw.choice(["card", "card", "card", "card text", "header", "header", "tensor", "length", "alone"])
    if how == "card":
        card, _ = values.edit(card, draw)
        header["__metadata__"]["snellen"] = values.encode(card, draw).decode(errors="replace")
    elif how == "card text":
        header["__metadata__"]["snellen"] = draw.choice(
            [nasty.text(draw), "null", "[]", "{}", '"a"', "{", "[" * 50_000]
        )
    elif how == "header":
        edited, _ = values.edit(header, draw)
        return _write(file, values.encode(edited, draw), content[8 + length :], "header")
    elif how == "tensor":
        with fitting():  # there may be none left
            name = draw.choice([name for name in header if name != "__metadata__"])
            header[name][draw.choice(["dtype", "shape", "data_offsets"])] = draw.choice(
                ["F64", "BOOL", "I8", "BF16", [0], [1, 2, 3], [-1], [2**62, 2**62], [0, 0], [10**9, 10**10], []]
            )
    elif how == "length":
        lying = draw.choice([0, 1, 2**63, 2**64 - 1, len(content), 99_999_999, length - 1, length + 1])
        file.write_bytes(struct.pack("<Q", lying) + content[8:])
        return "weights: length"
    else:
        return _write(file, json.dumps({"__metadata__": header["__metadata__"]}).encode(), b"", how)
    return _write(file, json.dumps(header).encode(), content[8 + length :], how)


def _write(file: Path, header: bytes, rest: bytes, how: str) -> str:
    file.write_bytes(struct.pack("<Q", len(header)) + header + rest)
    return f"weights: {how}"


def mutate_torch(file: Path, draw: Random) -> str:
    import torch

    how = draw.choice(["content", "content", "content", "tensor", "pickle", "code", "legacy"])
    if how == "pickle":
        file.write_bytes(pickled(file))
        return f"weights: {how}"
    with fitting():
        state = torch.load(io.BytesIO(file.read_bytes()), weights_only=True)
        inner = state.get("state_dict", state.get("network", state))
        name = draw.choice(sorted(name for name in inner if isinstance(inner[name], torch.Tensor)))
    tensor = inner[name]
    if how == "tensor":
        tensors: tuple[Callable[[], Any], ...] = (
            lambda: tensor.to(torch.complex64),
            lambda: tensor.double(),
            lambda: tensor.to(torch.bool),
            lambda: tensor.to(torch.float8_e4m3fn),
            lambda: tensor.to_sparse(),
            lambda: tensor.flatten(),
            lambda: tensor[..., None],
            lambda: tensor.new_empty((0,)),
            lambda: torch.tensor(1),
            lambda: torch.full_like(tensor, float("nan"), dtype=torch.float32),
            lambda: torch.quantize_per_tensor(tensor.float(), 0.1, 0, torch.qint8),
            lambda: torch.empty((3,), device="meta"),
            lambda: torch.zeros(1).expand(10**12),
            lambda: torch.nn.Parameter(torch.zeros(3)),
        )
        with fitting():  # not every tensor can become every other
            inner[name] = draw.choice(tensors)()
    elif how == "code":
        inner[name] = Bomb()
    elif how == "content":
        state = draw.choice([
            {1: tensor}, {None: tensor}, {(1, 2): tensor}, {name: [1]}, {name: None}, {name: "x"}, {}, [], None, 3, "x",
            tensor, [tensor], {"state_dict": {}}, {"state_dict": {3: tensor}}, {"model": {"model": {name: tensor}}},
            {**inner, "extra": tensor}, {nasty.text(draw): tensor}, {f"module.{n}": t for n, t in inner.items()},
            {"identity": nasty.value(draw), "epoch": nasty.value(draw)},
            {**state, draw.choice(sorted(map(str, state))): nasty.value(draw)},
        ])  # fmt: skip
    stream = io.BytesIO()
    with fitting():
        torch.save(state, stream, _use_new_zipfile_serialization=how != "legacy")
    file.write_bytes(stream.getvalue())
    return f"weights: {how}"
