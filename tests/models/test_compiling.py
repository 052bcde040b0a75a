"""Compiled networks: the answers of the network itself, in batches of one size, under a key of their own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import snellen
from snellen.data import from_arrays
from snellen.engine.ask import local
from snellen.engine.settings import Settings
from snellen.errors import UserError
from snellen.exam import compile_choice
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.models import from_callable, from_torch
from snellen.models.compiling import compile_model
from snellen.models.model import Model
from snellen.settings_file import resolve


class MeanColour(nn.Module):
    """A linear network on the mean colour."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(3, 4)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.last(images.mean((2, 3)))


def network() -> Model:
    torch.manual_seed(0)
    return from_torch(MeanColour(), size=8, mean=[0.5] * 3, std=[0.25] * 3, name="net", device="cpu")


def some_data(count: int = 60):
    images = np.random.default_rng(0).integers(0, 256, (count, 8, 8, 3), dtype=np.uint8)
    return from_arrays({"images": images, "labels": np.arange(count) % 4}, f"memory:{count}", f"{count}")


@pytest.fixture
def eager_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dynamo traces and the network itself runs: what concerns us, without minutes of a C++ compiler."""
    monkeypatch.setattr(local, "compile_model", lambda model: compile_model(model, backend="eager"))


def images_of(count: int, side: int = 8) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(count).integers(0, 256, (count, 3, side, side), dtype=np.uint8))


def test_batches_of_any_size_are_answered_as_by_the_network_itself() -> None:
    model = network()
    shadow = compile_model(model, backend="eager")
    for count in (8, 5, 1, 12, 5):
        answers = shadow(images_of(count))
        assert len(answers) == count
        assert torch.allclose(answers, model(images_of(count)), atol=1e-6)


def test_the_network_sees_one_size_until_memory_is_short() -> None:
    sizes: list[int] = []
    model = network()

    def predict_by(module: Any) -> Any:
        def predict(images: torch.Tensor) -> torch.Tensor:
            sizes.append(len(images))
            if len(images) > 8:
                raise torch.OutOfMemoryError
            return images[:, :, 0, 0].float()

        return predict

    shadow = compile_model(replace(model, predict_by=predict_by), backend="eager")
    shadow(images_of(6)), shadow(images_of(2))
    with pytest.raises(torch.OutOfMemoryError):
        shadow(images_of(16))
    shadow(images_of(8)), shadow(images_of(3)), shadow(images_of(3, side=4))
    assert sizes == [6, 6, 16, 8, 8, 3]


def test_a_network_that_cannot_be_compiled_is_named_with_what_to_do() -> None:
    def refuse(graph: Any, inputs: Any) -> Any:
        raise RuntimeError("no such instruction")

    with pytest.raises(UserError, match="model 'net' cannot be compiled here .*; pass compile off"):
        compile_model(network(), backend=refuse)(images_of(4))


def test_what_is_no_network_stays_as_it_is() -> None:
    model = from_callable(lambda images: np.full((len(images), 2), 0.5), size=8, name="half", version="1")
    assert compile_model(model) is model


def test_answers_are_the_same_under_a_key_of_their_own(tmp_path: Path, eager_backend: None) -> None:
    how: dict[str, Any] = {"quiet": True, "report": False, "device": "cpu", "batch_size": 16, "shard": 32}
    audits = "occlusion([0.3], [black])"
    plain = snellen.audit(network(), some_data(), audits, tmp_path / "plain", **how)
    shadow = snellen.audit(network(), some_data(), audits, tmp_path / "compiled", compile="on", **how)
    assert shadow.facts["settings"]["precision"] == "fp32+compile"
    assert (plain.predictions() == shadow.predictions()).all().all()
    cells = [{row["cell"]: row["precision"] for row in run.store.cells()} for run in (plain, shadow)]
    assert [set(one.values()) for one in cells] == [{"fp32"}, {"fp32+compile"}]
    assert not cells[0].keys() & cells[1].keys()
    before = json.loads((shadow.path / "findings.json").read_text())["findings"]
    again = snellen.audit(network(), some_data(), audits, shadow.path, **how)  # without --compile: as the folder has it
    assert again.results()["findings"] == before
    for out, known, other in ((plain.path, "off", "on"), (shadow.path, "on", "off")):
        with pytest.raises(UserError, match=f"was made with compile {known}; leave compile out"):
            snellen.audit(network(), some_data(), audits, out, compile=other, **how)


def test_what_is_not_compiled_keeps_its_key(tmp_path: Path) -> None:
    half = from_callable(lambda images: np.full((len(images), 4), 0.25), size=8, name="half", version="1")
    keys = []
    for choice in ("off", "on"):
        request = AuditRequest(
            models=(network(), half), data=some_data(), audits=(), out=tmp_path, device="cpu", compile=choice
        )
        plan = prepare(request).plan()
        keys.append({name: {one.key for one in plan.cells if one.subject.name == name} for name in ("net", "half")})
    assert keys[0]["half"] == keys[1]["half"]
    assert not keys[0]["net"] & keys[1]["net"]
    assert Settings(precision="bf16+compile").precision_of(compiled=False) == "bf16"


@pytest.mark.parametrize(("count", "device", "expected"), [
    (1_000, "cuda", False), (400_000, "cuda", False), (500_000, "cuda", True), (500_000, "cpu", False),
])  # fmt: skip
def test_auto_compiles_where_a_gpu_is_shown_a_million_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, device: str, expected: bool
) -> None:
    """Two cells, the clean images and the yardstick, so half a million of them."""
    monkeypatch.setattr(compile_choice, "SMALL", 0)
    monkeypatch.setattr(compile_choice, "has_triton", lambda: True)
    plan = prepare(AuditRequest(models=(network(),), data=some_data(4), audits=(), out=tmp_path, device="cpu")).plan()
    plan = replace(plan, settings=replace(plan.settings, device=device))
    monkeypatch.setattr(type(plan), "samples_of", lambda self, on, shard: range(count))
    assert compile_choice.pays(plan) is expected


REAL = """
import torch
from torch import nn
from snellen.models import from_torch
from snellen.models.compiling import compile_model

network = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 4))
model = from_torch(network, size=8, mean=[0.5] * 3, std=[0.25] * 3, device="cpu")
shadow, images = compile_model(model), torch.randint(0, 256, (16, 3, 8, 8), dtype=torch.uint8)
assert torch.allclose(shadow(images), model(images), atol=1e-5)
assert torch.allclose(shadow(images[:3]), model(images[:3]), atol=1e-5)
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_the_real_compiler_gives_the_same_classes() -> None:
    """In a process of its own: the compiler asks for setuptools, which refuses to be imported after distutils."""
    ended = subprocess.run([sys.executable, "-c", REAL], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(("text", "expected"), [("on", "on"), ("off", "off"), ("auto", "auto"), ("'on'", "on")])
def test_a_settings_file_may_say_on_and_off(tmp_path: Path, text: str, expected: str) -> None:
    """YAML reads a bare on as true."""
    (tmp_path / "settings.yaml").write_text(f"models: ['observer:shape']\ndata: phantom:test?n=9\ncompile: {text}\n")
    assert resolve(AuditRequest, {}, tmp_path / "settings.yaml").compile == expected
