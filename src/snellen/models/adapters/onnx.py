"""`onnx:file.onnx`: networks in the exchange format of many frameworks, run by onnxruntime.

What the graph says is read from it: name, layout, size and type of its input, and how many images it takes at once. How its
images are normalised it does not say: `#mean=…&std=…` or `#like=NAME` does, unless it takes bytes.
"""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.errors import UserError
from snellen.extras import import_package
from snellen.files import length_of, local_name, open_file, open_whole
from snellen.files.net import reading, reason_of
from snellen.files.remote.remote_path import RemotePath
from snellen.lazy_torch import torch
from snellen.models.card import Card
from snellen.models.device import Device, choose_device
from snellen.models.model import Model
from snellen.models.stored.image_input import ImageInput, image_input
from snellen.models.stored.stored_card import StoredText, read_text, stored_card
from snellen.models.text_settings import Readers, choice_setting

if TYPE_CHECKING:
    from torch import Tensor

TYPES = {"float": "float32", "float16": "float16", "double": "float64", "uint8": "uint8"}  # ONNX's names of numbers
FURTHER: Readers = {"output": str, "layout": choice_setting("NCHW", "NHWC")}
LOCATION = b"\n\x08location\x12"  # what stands before the length and name of a file of weights
CUDA = "CUDAExecutionProvider"


def onnx_card(place: str, argument: str | None = None) -> Card:
    """The card of an ONNX file, read from its graph without torch."""
    text = read_text("onnx", place, FURTHER)
    return _card(text, _session(text))


def load_onnx(place: str, argument: str | None, device: Device) -> Model:
    """The network of an ONNX file, on the GPU where onnxruntime has its provider for it, else on the CPU."""
    from snellen.models.stored.answers import StoredNetwork, model_of

    text = read_text("onnx", place, FURTHER)
    where = choose_device(device)
    runtime = _runtime(text)
    gpu = where.type == "cuda" and CUDA in runtime.get_available_providers()
    session = _session(text, torch.get_num_threads(), where.index or 0 if gpu else None)
    card, images = _card(text, session), _input(text, session)
    ask = _asker(session, images, _output(text, session))
    return model_of(StoredNetwork(ask, text, images.batch), card, torch.device("cpu"), floats=images.normalised)


def _asker(session: Any, images: ImageInput, output: str) -> Any:
    """What gives the answers of a session to pixels float [n, 3, H, W], which for bytes are in 0…1."""

    from snellen.models.stored.answers import as_taken

    def ask(pixels: Tensor) -> Tensor:
        (answer,) = session.run([output], {images.name: np.ascontiguousarray(as_taken(pixels, images).numpy())})
        return torch.from_numpy(np.asarray(answer))

    return ask


def _runtime(text: StoredText) -> Any:
    """onnxruntime, which otherwise reports its use to its makers and keeps an identity of the machine in the user's cache."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    return import_package("onnxruntime", f"'{text}'")


def _session(text: StoredText, threads: int | None = None, gpu: int | None = None) -> Any:
    """A session of onnxruntime with so many threads, on a GPU by number; without threads only the graph is to be read."""
    runtime = _runtime(text)
    open_file(text.file, "network in ONNX").close()
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # what fails is raised, too
    options.intra_op_num_threads = threads or 1
    if threads is None:
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    providers = [*([] if gpu is None else [(CUDA, {"device_id": gpu})]), "CPUExecutionProvider"]
    if isinstance(text.file, RemotePath) and (others := _data_files(text.file)):
        raise UserError(f"'{text}' refers to '{others[0].name}' beside it; copy both, and name the copy")
    with local_name(text.file, "network in ONNX") as file, reading(text.file, "ONNX"):
        try:
            return runtime.InferenceSession(str(file), options, providers)
        except Exception as error:
            raise _refusal(text, runtime.__version__, error) from error


def _refusal(text: StoredText, version: str, error: Exception) -> Exception:
    """The error for a file that onnxruntime cannot load, in fewer words than its own where these are known."""
    words = " ".join(str(error).split())
    if match := re.search(r"[Oo]pset (\d+) is under development|[Oo]pset version (\d+)", words):
        return UserError(
            f"'{text}' is of opset {match[1] or match[2]}, newer than onnxruntime {version} reads; export it with a lower "
            "opset_version, or update onnxruntime"
        )
    if match := re.search(r"[Ii][Rr][ _]version: ?(\d+)", words):
        return UserError(
            f"'{text}' is of IR version {match[1]}, newer than onnxruntime {version} reads; save it with an older onnx, or "
            "update onnxruntime"
        )
    if match := re.search(r"No Op registered for (\S+)|(?:implementation for|Fatal error:) ([\w.:]+)", words):
        return UserError(
            f"'{text}' has the operator '{match[1] or match[2]}', which onnxruntime {version} does not have"
        )
    return type(error)(_last(words)) if type(error) in (RuntimeError, ValueError) else RuntimeError(_last(words))


def _last(words: str) -> str:
    """The reason at the end of onnxruntime's own words, without its codes and paths."""
    return reason_of(
        RuntimeError(re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : (Load model from \S+ failed:)?", "", words))
    )


def _card(text: StoredText, session: Any) -> Card:
    outputs = session.get_outputs()
    shape = next((list(output.shape) for output in outputs if output.name == _output(text, session)), [])
    classes = shape[1] if len(shape) > 1 and isinstance(shape[1], int) else None
    return stored_card(text, _input(text, session), classes, _data_files(text.file))


def _input(text: StoredText, session: Any) -> ImageInput:
    """The one input of a graph."""
    inputs = session.get_inputs()
    if len(inputs) != 1:
        names = ", ".join(f"'{entry.name}'" for entry in inputs)
        raise UserError(f"'{text}' has {len(inputs)} inputs ({names}); expected images alone; export it with one")
    (entry,) = inputs
    match = re.fullmatch(r"tensor\((\w+)\)", entry.type)
    numbers = TYPES.get(match[1], match[1]) if match else entry.type
    shape = [length if isinstance(length, int) and length > 0 else None for length in entry.shape]
    return image_input(entry.name, shape, numbers, str(text), text.further.get("layout"))


def _output(text: StoredText, session: Any) -> str:
    """The name of the output that is meant."""
    names = [str(output.name) for output in session.get_outputs()]
    wanted = text.further.get("output")
    if wanted in names:
        return str(wanted)
    if wanted is not None or len(names) != 1:
        raise UserError(f"'{text}' has the outputs {', '.join(names)[:200]}; choose one of them by #output=NAME")
    return names[0]


def _data_files(file: Path) -> list[Path]:
    """The files of weights that an ONNX file refers to, in its own folder or below."""
    names: set[str] = set()
    with open_whole(file, "network in ONNX") as content:
        if not length_of(content):
            return []  # nothing can be mapped, and onnxruntime says what is wrong
        with mmap.mmap(content.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            at = mapped.find(LOCATION)
            while at >= 0:
                at += len(LOCATION)
                names.add(mapped[at + 1 : at + 1 + mapped[at]].decode("utf-8", "replace"))
                at = mapped.find(LOCATION, at)
    if wrong := [name for name in names if Path(name).is_absolute() or ".." in Path(name).parts]:
        raise UserError(
            f"'{file}' refers to '{sorted(wrong)[0]}', which is not in its folder; save it with its weights beside it"
        )
    return [file.parent / name for name in sorted(names)]
