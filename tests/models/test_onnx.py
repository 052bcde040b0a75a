"""ONNX files: the answers of the network that was exported, whatever its input, and one line for what cannot be known."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import snellen
from snellen.data.canvas import Canvas
from snellen.errors import UserError
from snellen.models import Subject, subjects_of
from snellen.models.adapters.onnx import load_onnx, onnx_card
from snellen.models.stored.image_input import image_input

from .stored_networks import NORMALISED, SIDE, Several, Small, normalised, some_images, write

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small networks as ONNX: plain, of bytes and channels last, with probabilities, of a fixed batch, with two outputs."""
    root = tmp_path_factory.mktemp("onnx")
    write(Small(), root / "plain.onnx", external_data=False)
    write(Small(bytes_in=True, channels_last=True), root / "bytes.onnx", external_data=False)
    write(Small(nn.Softmax(1)), root / "shares.onnx", external_data=False)
    write(Small(nn.Sigmoid()), root / "sigmoid.onnx", external_data=False)
    write(Small(), root / "fixed.onnx", dynamic=(), batch=2, external_data=False)
    write(Small(), root / "anysize.onnx", dynamic=(0, 2, 3), external_data=False)
    write(Several(), root / "several.onnx", external_data=False)
    write(Small(), root / "beside.onnx", external_data=True)
    return root


def truth(images: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        answers: torch.Tensor = Small().eval()(normalised(images)).softmax(1)
    return answers


@pytest.mark.parametrize(
    "text",
    [
        f"plain.onnx#{NORMALISED}",
        "bytes.onnx",
        f"shares.onnx#{NORMALISED}",
        f"fixed.onnx#{NORMALISED}",
        f"anysize.onnx#size=16&{NORMALISED}",
        f"several.onnx#output=addmm&{NORMALISED}",
        f"beside.onnx#{NORMALISED}",
    ],
)
def test_answers_are_those_of_the_network_that_was_exported(folder: Path, text: str) -> None:
    if "several" in text:
        names = [output.name for output in onnx.load(folder / "several.onnx").graph.output]
        text = text.replace("addmm", names[1])
    images = some_images()
    answers = snellen.load_model(f"onnx:{folder}/{text}", device="cpu")(images)
    torch.testing.assert_close(answers, truth(images), atol=1e-5, rtol=0)
    assert (truth(images).argmax(1) != truth(images).argmax(1)[0]).any()  # the images differ


def test_a_bare_path_is_known_by_its_ending_and_a_star_makes_runs(folder: Path, tmp_path: Path) -> None:
    for name in ("run-2", "run-10"):
        shutil.copy(folder / "bytes.onnx", tmp_path / f"{name}.onnx")
    assert snellen.load_model(f"{folder}/bytes.onnx").card.text.startswith("onnx:")
    subjects = subjects_of(f"mine={tmp_path}/run-*.onnx")
    assert [(one.name, one.run) for one in subjects] == [("mine", "run-2"), ("mine", "run-10")]


def test_the_planned_card_is_that_of_the_loaded_model(folder: Path) -> None:
    place = f"{folder}/plain.onnx#{NORMALISED}&classes=cat,dog,fox"
    card = onnx_card(place)
    assert card == load_onnx(place, None, "cpu").card
    assert (card.classes, card.canvas, card.gradients) == (
        ("cat", "dog", "fox"),
        Canvas(SIDE, SIDE, "crop", SIDE),
        False,
    )
    (subject,) = subjects_of(f"onnx:{place}")
    assert isinstance(subject, Subject)
    assert subject.model("cpu").card.fingerprint == card.fingerprint


def test_the_fingerprint_follows_file_weights_beside_it_and_settings(folder: Path, tmp_path: Path) -> None:
    def print_of(place: str) -> str:
        return onnx_card(place).fingerprint

    first = print_of(f"{folder}/beside.onnx#{NORMALISED}")
    assert first == print_of(f"{folder}/beside.onnx#{NORMALISED}")
    assert first != print_of(f"{folder}/beside.onnx#mean=0&std=1")
    assert first != print_of(f"{folder}/plain.onnx#{NORMALISED}")
    (data,) = (file for file in folder.iterdir() if file.name.startswith("beside.onnx."))
    for name in ("beside.onnx", data.name):
        shutil.copy(folder / name, tmp_path / name)
    assert print_of(f"{tmp_path}/beside.onnx#{NORMALISED}") == first
    content = bytearray(data.read_bytes())
    content[4] ^= 1
    (tmp_path / data.name).write_bytes(content)
    assert print_of(f"{tmp_path}/beside.onnx#{NORMALISED}") != first


def test_the_number_of_threads_is_that_of_torch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    threads: list[int] = []
    session = onnxruntime.InferenceSession

    def note(path: str, options: Any, providers: Any) -> Any:
        threads.append(options.intra_op_num_threads)
        return session(path, options, providers)

    monkeypatch.setattr(onnxruntime, "InferenceSession", note)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        load_onnx(f"{folder}/bytes.onnx", None, "cpu")
    finally:
        torch.set_num_threads(before)
    assert threads == [3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "plain.onnx",
            r"does not say how its images are normalised; add for example #mean=0.485,.*mean=0&std=1 for plain",
        ),
        (
            "anysize.onnx",
            "does not say which size its images have and how its images are normalised; add for example #size=224&mean",
        ),
        (f"plain.onnx#size=32&{NORMALISED}", "takes images of 16x16 alone, but 32x32 are asked for; leave out size"),
        ("bytes.onnx#mean=0&std=1", "takes bytes, so it normalises by itself; leave out mean and std"),
        (f"plain.onnx#{NORMALISED}&classes=cat,dog", "has 3 outputs, but 2 classes are named"),
        (f"several.onnx#{NORMALISED}", "has the outputs .*; choose one of them by #output=NAME"),
        (f"plain.onnx#{NORMALISED}&output=odd", "has the outputs .*; choose one"),
        (f"plain.onnx#{NORMALISED}&sise=3", "unknown setting of 'onnx:.*' 'sise'; did you mean 'size'"),
        (f"sigmoid.onnx#{NORMALISED}", "answers numbers in 0…1 that do not sum to 1.*add #outputs=logits"),
        (f"plain.onnx#{NORMALISED}&layout=NHWC", "sets layout=NHWC, but .* is .*; leave it out, or set NCHW"),
        ("none.onnx#mean=0&std=1", "no network in ONNX '.*none.onnx'"),
    ],
)
def test_what_cannot_be_known_or_used_is_told_in_one_line(folder: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(f"onnx:{folder}/{text}", device="cpu")
    assert "\n" not in str(caught.value)


def test_probabilities_that_were_declared_are_taken_as_they_are(folder: Path) -> None:
    images = some_images()
    answers = snellen.load_model(f"onnx:{folder}/sigmoid.onnx#{NORMALISED}&outputs=probabilities", device="cpu")(images)
    torch.testing.assert_close(answers, Small(nn.Sigmoid()).eval()(normalised(images)).detach(), atol=1e-5, rtol=0)


def newer_opset(model: Any) -> None:
    model.opset_import[0].version = 99


def odd_operator(model: Any) -> None:
    model.graph.node[0].op_type = "Convolution"


def newer_format(model: Any) -> None:
    model.ir_version = 99


def grey(model: Any) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (newer_opset, "is of opset 99, newer than onnxruntime .* reads; export it with a lower opset_version"),
        (newer_format, "is of IR version 99, newer than onnxruntime .* reads"),
        (odd_operator, "has the operator 'Convolution', which onnxruntime .* does not have"),
        (grey, "expected images of three channels"),
    ],
)
def test_a_graph_that_cannot_be_run_is_named(
    folder: Path, tmp_path: Path, change: Callable[[Any], None], message: str
) -> None:
    model = onnx.load(folder / "plain.onnx")
    change(model)
    (tmp_path / "odd.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(f"onnx:{tmp_path}/odd.onnx#{NORMALISED}", device="cpu")
    assert "odd.onnx" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_batch_that_is_dynamic_in_name_alone_is_told_and_can_be_set(tmp_path: Path) -> None:
    write(Small(), tmp_path / "net.onnx", dynamic=(), external_data=False)
    model = onnx.load(tmp_path / "net.onnx")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"  # as careless tools write it
    shape = onnx.helper.make_tensor("shape", onnx.TensorProto.INT64, [2], [1, 3])
    model.graph.initializer.append(shape)
    last = model.graph.output[0].name
    model.graph.node.append(onnx.helper.make_node("Reshape", [last, "shape"], ["reshaped"]))
    model.graph.output[0].name = "reshaped"
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(
        UserError, match=r"answers one image but not 16 at once \(.*\); add #batch=1, or export it with"
    ):
        snellen.load_model(f"onnx:{tmp_path}/net.onnx#{NORMALISED}", device="cpu")
    images = some_images()
    answers = snellen.load_model(f"onnx:{tmp_path}/net.onnx#{NORMALISED}&batch=1", device="cpu")(images)
    torch.testing.assert_close(answers, truth(images), atol=1e-5, rtol=0)


def test_weights_outside_the_folder_are_not_read(folder: Path, tmp_path: Path) -> None:
    model = onnx.load(folder / "beside.onnx", load_external_data=False)
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = "../" + entry.value
    (tmp_path / "in").mkdir()
    shutil.copy(folder / "beside.onnx.data", tmp_path)
    (tmp_path / "in" / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(UserError, match="net.onnx"):
        snellen.load_model(f"onnx:{tmp_path}/in/net.onnx#{NORMALISED}", device="cpu")


def test_without_the_package_the_message_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UserError, match=r"needs onnxruntime; pip install 'snellen\[onnx\]'"):
        snellen.load_model(f"onnx:{folder}/bytes.onnx")


@pytest.mark.parametrize(
    ("shape", "numbers", "layout", "found"),
    [
        ((None, 3, 224, 200), "float32", None, ("NCHW", (224, 200), None)),
        ((4, 32, 32, 3), "uint8", None, ("NHWC", (32, 32), 4)),
        ((None, None, 32, 3), "float16", None, ("NHWC", None, None)),
        ((None, None, None, None), "float32", "NHWC", ("NHWC", None, None)),
        ((1, 3, None, None), "float32", None, ("NCHW", None, 1)),
    ],
)
def test_the_input_is_read_from_its_shape(shape: Any, numbers: str, layout: str | None, found: Any) -> None:
    given = image_input("x", shape, numbers, "onnx:a.onnx", layout)
    assert (given.layout, given.size, given.batch) == found


@pytest.mark.parametrize(
    ("shape", "numbers", "message"),
    [
        ((None, 784), "float32", r"takes \[any, 784\] of float32 as 'x'; expected images, four dimensions"),
        ((None, 3, 32, 32), "int64", "of int64 as 'x'; expected images"),
        ((None, 1, 28, 28), "float32", r"takes \[any, 1, 28, 28\] as 'x'; expected images of three channels"),
        (
            (None, None, None, None),
            "float32",
            "does not say which dimension of 'x', .*, is colour; add #layout=NCHW or NHWC",
        ),
        ((None, 3, 3, 3), "float32", "does not say which dimension of 'x'"),
    ],
)
def test_an_input_that_is_no_image_is_told(shape: Any, numbers: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        image_input("x", shape, numbers, "onnx:a.onnx", None)


def test_onnxruntime_reports_nothing_and_writes_nothing_in_the_users_home(folder: Path, tmp_path: Path) -> None:
    """Version 1.31 does both on Linux, unless it is told not to before it is imported."""
    code = f"import snellen; snellen.load_model('onnx:{folder}/bytes.onnx', device='cpu')"
    places = {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "SNELLEN_HOME": str(tmp_path / "snellen"),
    }
    rest = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], check=True, env={**rest, **places})
    assert [
        file for file in tmp_path.rglob("*") if "onnx" in file.name.lower() or "microsoft" in str(file).lower()
    ] == []
