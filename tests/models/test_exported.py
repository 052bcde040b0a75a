"""Files of torch.export and TorchScript: the network's own answers, and no code of a file is ever run."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import snellen
from snellen.errors import UserError
from snellen.files.exported_file import open_exported
from snellen.models.stored.exported_network import ExportedNetwork

from .stored_networks import NORMALISED, Several, Small, normalised, some_images, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("exported")
    write(Small(), root / "plain.pt2")
    write(Small(nn.Softmax(1)), root / "fixed.pt2", dynamic=(), batch=2)
    write(Small(bytes_in=True, channels_last=True), root / "bytes.pt2")
    write(Small(), root / "anysize.pt2", dynamic=(0, 2, 3))
    write(Several(), root / "several.pt2")
    write(Small(), root / "plain.pt")
    write(Small(nn.Softmax(1)), root / "shares.pt")
    write(Small(bytes_in=True), root / "bytes.pt")
    write(Several(), root / "several.pt")
    return root


@pytest.mark.parametrize(
    "text",
    [
        f"{{}}/plain.pt2#{NORMALISED}",
        f"exported:{{}}/fixed.pt2#{NORMALISED}",
        "exported:{}/bytes.pt2",
        f"exported:{{}}/anysize.pt2#size=16&{NORMALISED}",
        f"exported:{{}}/several.pt2#output=linear&{NORMALISED}",
        f"torchscript:{{}}/plain.pt#size=16&{NORMALISED}",
        f"torchscript:{{}}/shares.pt#size=16&{NORMALISED}",
        "torchscript:{}/bytes.pt#size=16&numbers=uint8",
        f"torchscript:{{}}/several.pt#output=1&size=16&{NORMALISED}",
    ],
)
def test_answers_are_those_of_the_network_that_was_exported(folder: Path, text: str) -> None:
    images = some_images()
    model = snellen.load_model(text.format(folder), device="cpu")
    with torch.no_grad():
        truth = Small().eval()(normalised(images)).softmax(1)
    torch.testing.assert_close(model(images), truth, atol=1e-5, rtol=0)
    assert (model.module, model.card.gradients) == (None, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exported:{}/plain.pt2", "does not say how its images are normalised; add"),
        ("torchscript:{}/plain.pt", "does not say which size its images have and how its images are normalised"),
        (f"exported:{{}}/plain.pt2#size=32&{NORMALISED}", "takes images of 16x16 alone, but 32x32 are asked for"),
        (f"exported:{{}}/several.pt2#{NORMALISED}", "has the outputs .*, linear; choose one of them by #output=NAME"),
        (
            f"torchscript:{{}}/several.pt#size=16&{NORMALISED}",
            "has the outputs 0, 1; choose one of them by #output=NAME",
        ),
        (f"torchscript:{{}}/plain.pt#size=17&{NORMALISED}&classes=a,b", "has 3 outputs, but 2 classes are named"),
        (
            f"exported:{{}}/plain.pt#{NORMALISED}",
            "is not an exported network of this format; expected one of torch.export.save",
        ),
        (
            f"torchscript:{{}}/plain.pt2#size=16&{NORMALISED}",
            "holds no program, so it is no network in TorchScript; weights alone",
        ),
        ("exported:{}/none.pt2", "no exported network '.*none.pt2'"),
    ],
)
def test_what_cannot_be_known_or_used_is_told_in_one_line(folder: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(text.format(folder), device="cpu")
    assert "\n" not in str(caught.value)


def test_a_network_in_training_is_refused(tmp_path: Path) -> None:
    network = Small().train()
    program = torch.export.export(network, (torch.zeros(2, 3, 16, 16),))
    torch.export.save(program, tmp_path / "net.pt2")
    with pytest.raises(UserError, match=r"was exported in training; call network.eval\(\) and export it again"):
        snellen.load_model(f"exported:{tmp_path}/net.pt2#{NORMALISED}", device="cpu")


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return open, (str(self.path), "w")


def changed(folder: Path, target: Path, change: Callable[[dict[str, bytes]], None], name: str = "plain.pt2") -> Path:
    """A copy of an archive whose parts were changed."""
    with zipfile.ZipFile(folder / name) as archive:
        parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    change(parts)
    with zipfile.ZipFile(target, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return target


def edit_graph(edit: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, bytes]], None]:
    def change(parts: dict[str, bytes]) -> None:
        name = next(part for part in parts if part.endswith("models/model.json"))
        program = json.loads(parts[name])
        edit(program)
        parts[name] = json.dumps(program).encode()

    return change


def call(target: str) -> Callable[[dict[str, bytes]], None]:
    def edit(program: dict[str, Any]) -> None:
        program["graph_module"]["graph"]["nodes"][0]["target"] = target

    return edit_graph(edit)


def pickled_weight(parts: dict[str, bytes]) -> None:
    name = next(part for part in parts if part.endswith("model_weights_config.json"))
    config = json.loads(parts[name])
    next(iter(config["config"].values()))["use_pickle"] = True
    parts[name] = json.dumps(config).encode()


def large_weight(parts: dict[str, bytes]) -> None:
    name = next(part for part in parts if part.endswith("model_weights_config.json"))
    config = json.loads(parts[name])
    next(iter(config["config"].values()))["tensor_meta"]["sizes"][0]["as_int"] = 1 << 40
    parts[name] = json.dumps(config).encode()


def library(parts: dict[str, bytes]) -> None:
    root = next(iter(parts)).partition("/")[0]
    parts[f"{root}/data/aotinductor/model/net.so"] = b"\x7fELF"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pickled_weight, "is stored as a pickle, which may hold code and is not read"),
        (library, "holds a compiled library, which is code and is not run"),
        (large_weight, "cannot be read as an exported network"),
        (call("torch.ops.aten.from_file.default"), "applies 'torch.ops.aten.from_file.default', which is not among"),
        (call("torch.ops.aten.save.default"), "applies 'torch.ops.aten.save.default', which is not among"),
        (call("torch.hub.load"), "applies 'torch.hub.load', which is not among the operators that are read"),
        (call("os.system"), "applies 'os.system', which is not among"),
        (call("torch.ops.aten.__class__.mro"), "applies 'torch.ops.aten.__class__.mro', which is not among"),
        (call("torch.ops.higher_order.cond"), "applies 'torch.ops.higher_order.cond', which is not among"),
    ],
)
def test_what_may_be_code_is_refused(
    folder: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    path = changed(folder, tmp_path / "net.pt2", change)
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(f"exported:{path}#{NORMALISED}", device="cpu")
    assert "\n" not in str(caught.value)


def test_no_pickle_and_no_expression_of_a_file_is_run(folder: Path, tmp_path: Path) -> None:
    """torch's own loader would unpickle the first and evaluate the second: here both are not looked at."""

    def plant(parts: dict[str, bytes]) -> None:
        name = next(part for part in parts if part.endswith("sample_inputs/model.pt"))
        parts[name] = pickle.dumps(Evil(tmp_path / "pickled"))
        edit_graph(evil_expressions)(parts)

    def evil_expressions(program: dict[str, Any]) -> None:
        text = f"__import__('pathlib').Path({str(tmp_path / 'evaluated')!r}).touch()"
        program["guards_code"] = [text]
        program["range_constraints"] = {text: {"min_val": 0, "max_val": 9}}
        for meta in program["graph_module"]["graph"]["tensor_values"].values():
            for length in meta["sizes"]:
                if "as_expr" in length:
                    length["as_expr"]["expr_str"] = text

    path = changed(folder, tmp_path / "net.pt2", plant)
    images = some_images()
    answers = snellen.load_model(f"exported:{path}#{NORMALISED}", device="cpu")(images)
    plain = snellen.load_model(f"exported:{folder}/plain.pt2#{NORMALISED}", device="cpu")(images)
    assert torch.equal(answers, plain)
    assert {file.name for file in tmp_path.iterdir()} == {"net.pt2"}


def test_gradients_pass_the_operators_that_are_applied(folder: Path) -> None:
    with open_exported(folder / "plain.pt2") as file:
        network = ExportedNetwork(file)
    pixels = normalised(some_images()).requires_grad_()
    network(pixels)[:, 0].sum().backward()
    own = normalised(some_images()).requires_grad_()
    Small().eval()(own)[:, 0].sum().backward()
    assert pixels.grad is not None
    assert own.grad is not None
    torch.testing.assert_close(pixels.grad, own.grad)


class Writes(nn.Module):
    """A TorchScript program that writes a file."""

    def forward(self, images: Tensor) -> Tensor:
        torch.save(images, "written")
        return images.mean((2, 3))


def test_a_script_that_opens_files_is_refused_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.jit.script(Writes()).save(str(tmp_path / "net.pt"))
    with pytest.raises(UserError, match="calls 'save', which opens files or belongs to another library"):
        snellen.load_model(f"torchscript:{tmp_path}/net.pt#size=16&mean=0&std=1", device="cpu")
    assert {file.name for file in tmp_path.iterdir()} == {"net.pt"}


def test_lengths_that_are_computed_follow_the_image(tmp_path: Path) -> None:
    class Pooled(nn.Module):
        def forward(self, images: Tensor) -> Tensor:
            height = images.shape[2] // 4
            parts = images[:, :, : height * 4].reshape(images.shape[0], 3, 4, height, images.shape[3])
            first, second = parts.mean((3, 4)).split([1, 3], 2)
            return torch.cat([first.flatten(1) * 2, second.sum(2)], 1)

    write(Pooled(), tmp_path / "net.pt2", dynamic=(0, 2, 3))
    with open_exported(tmp_path / "net.pt2") as file:
        network = ExportedNetwork(file)
    for side in (16, 24):
        pixels = normalised(some_images(3, side))
        torch.testing.assert_close(network(pixels), Pooled()(pixels))


def test_the_file_of_an_older_torch_is_named(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("serialized_exported_program.json", "{}")
    (tmp_path / "net.pt2").write_bytes(buffer.getvalue())
    with pytest.raises(UserError, match="an older torch wrote it; load and save it again with this one"):
        snellen.load_model(f"exported:{tmp_path}/net.pt2#{NORMALISED}", device="cpu")
