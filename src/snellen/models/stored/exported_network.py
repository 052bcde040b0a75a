"""An exported network as a torch module that applies its operators one by one: no code is made of the file, none is run.

Only operators of torch's own library `aten` are applied, and arithmetic of lengths; those that open files are refused by name.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from snellen.errors import UserError
from snellen.files.exported_file import ExportedFile, Graph, Node, TensorMeta

# torch's numbers for types, layouts and orders of memory in such files (torch._export.serde.schema).
DTYPES = {
    1: torch.uint8, 2: torch.int8, 3: torch.int16, 4: torch.int32, 5: torch.int64, 6: torch.float16, 7: torch.float32,
    8: torch.float64, 12: torch.bool, 13: torch.bfloat16,
}  # fmt: skip
STRIDED = 7
ORDERS = {
    1: torch.contiguous_format, 2: torch.channels_last, 3: torch.channels_last_3d, 4: torch.preserve_format,
}  # fmt: skip
# What is done with lengths that are known only when the network runs.
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "_operator.add": operator.add, "_operator.sub": operator.sub, "_operator.mul": operator.mul, "_operator.neg": operator.neg,
    "_operator.floordiv": operator.floordiv, "_operator.truediv": operator.truediv, "_operator.mod": operator.mod,
    "_operator.eq": operator.eq, "_operator.ne": operator.ne, "_operator.lt": operator.lt, "_operator.le": operator.le,
    "_operator.gt": operator.gt, "_operator.ge": operator.ge, "_operator.and_": operator.and_, "_operator.or_": operator.or_,
    "math.ceil": math.ceil, "math.floor": math.floor, "math.trunc": math.trunc,
    "torch.sym_int": int, "torch.sym_float": float, "torch.sym_max": max, "torch.sym_min": min, "torch.sym_not": operator.not_,
}  # fmt: skip
CHECKS = (
    "torch.ops.aten._assert",
    "torch.ops.aten.sym_constrain_range",
)  # of lengths, which were true when it was exported
TRAINING = ("training", "train")  # parameters of operators that draw at random or change the network's numbers
OPERATORS = "torch.ops.aten."
UNSAFE = re.compile(r"Storage|filename|file_name")  # in the signature of an operator that opens a file or shares memory
PLAIN = {
    "as_int", "as_ints", "as_float", "as_floats", "as_bool", "as_bools", "as_string", "as_strings", "as_int_lists",
    "as_float_lists",
}  # fmt: skip
Value = Callable[[Mapping[str, Any], torch.device], Any]  # an argument, by the values so far and the device


@dataclass(frozen=True)
class GraphStep:
    """One operator with its arguments, the names that its results get, and those that no later step needs."""

    apply: Callable[..., Any]
    positional: Sequence[Value]
    named: Mapping[str, Value]
    results: Sequence[str | Sequence[str | None] | None]
    last: Sequence[str]
    target: str


class ExportedNetwork(nn.Module):
    """The network of an exported file; it takes one tensor and gives its outputs by name, or its one output."""

    def __init__(self, file: ExportedFile) -> None:
        super().__init__()
        program = file.program().graph_module
        self.path = file.path
        self.image, inputs = _inputs(program.signature.input_specs, file)
        self.outputs = _outputs(program.signature.output_specs, file)
        self.meta = program.graph.tensor_values.get(self.image)
        tensors = dict(_tensors(file))
        self.places: dict[str, str] = {}
        for number, (name, source) in enumerate(inputs.items()):
            if source not in tensors:
                raise UserError(f"'{file.path}' has no numbers for '{source}'; save it again")
            self.register_buffer(f"tensor{number}", tensors[source])
            self.places[name] = f"tensor{number}"
        self.steps = list(_steps(program.graph, self.outputs, file))

    def forward(self, pixels: Tensor) -> Any:
        values: dict[str, Any] = {name: getattr(self, place) for name, place in self.places.items()}
        values[self.image] = pixels
        for step in self.steps:
            arguments = [value(values, pixels.device) for value in step.positional]
            named = {name: value(values, pixels.device) for name, value in step.named.items()}
            _store(values, step.results, step.apply(*arguments, **named))
            for name in step.last:
                values.pop(name, None)
        if len(self.outputs) == 1:
            return values[self.outputs[0]]
        return {name: values[name] for name in self.outputs}


def _store(values: dict[str, Any], names: Sequence[str | Sequence[str | None] | None], answer: Any) -> None:
    """Keep the results of an operator under their names."""
    for name, part in zip(names, answer if isinstance(answer, tuple) else [answer]):
        if isinstance(name, str):
            values[name] = part
        elif name is not None:
            values.update((inner, value) for inner, value in zip(name, part) if inner is not None)


def _inputs(specs: Sequence[Mapping[str, Any]], file: ExportedFile) -> tuple[str, dict[str, str]]:
    """The name of the user's tensor in the graph, and of each other input the name of its numbers."""
    images, inputs = [], {}
    for spec in specs:
        ((sort, facts),) = spec.items()
        name = facts["arg"].get("name") or facts["arg"].get("as_tensor", {}).get("name")
        if sort == "user_input":
            images.append(str(name))
        elif sort in ("parameter", "buffer", "tensor_constant"):
            inputs[str(name)] = str(facts[{"tensor_constant": "tensor_constant_name"}.get(sort, f"{sort}_name")])
        else:
            raise UserError(
                f"'{file.path}' has an input of the sort '{sort}', which is not read; export a network of plain tensors"
            )
    if len(images) != 1:
        raise UserError(f"'{file.path}' has {len(images)} inputs ({', '.join(images)[:200]}); expected images alone")
    return images[0], inputs


def _outputs(specs: Sequence[Mapping[str, Any]], file: ExportedFile) -> list[str]:
    """The names of what the network returns."""
    names = []
    for spec in specs:
        ((sort, facts),) = spec.items()
        if sort != "user_output":
            raise _in_training(file)
        if "as_tensor" in facts["arg"]:
            names.append(str(facts["arg"]["as_tensor"]["name"]))
    if not names:
        raise UserError(f"'{file.path}' returns no tensor; expected numbers [images, classes]")
    return names


def _in_training(file: ExportedFile) -> UserError:
    return UserError(f"'{file.path}' was exported in training; call network.eval() and export it again")


def _tensors(file: ExportedFile) -> Iterator[tuple[str, Tensor]]:
    for folder in ("weights", "constants"):
        for name, meta, content in file.payloads(folder):
            yield name, _tensor(name, meta, content, file)


def _tensor(name: str, meta: TensorMeta, content: bytes, file: ExportedFile) -> Tensor:
    """The tensor of raw bytes, whose shape must lie within them."""
    sizes, strides = ([length.as_int for length in lengths] for lengths in (meta.sizes, meta.strides))
    offset = meta.storage_offset.as_int
    if meta.dtype not in DTYPES or meta.layout != STRIDED or None in (*sizes, *strides, offset):
        raise UserError(
            f"'{file.path}': '{name}' is no plain tensor; export a network without sparse or quantised ones"
        )
    dtype = DTYPES[meta.dtype]
    numbers = torch.frombuffer(bytearray(content), dtype=dtype) if content else torch.empty(0, dtype=dtype)
    return numbers.as_strided(sizes, strides, offset).clone()  # type: ignore[arg-type]


def _steps(graph: Graph, outputs: Sequence[str], file: ExportedFile) -> Iterator[GraphStep]:
    """The operators in order, each with what is no longer needed after it."""
    needed = set(outputs)
    last: list[list[str]] = []
    for node in reversed(graph.nodes):
        used = {name for argument in node.inputs for name in _names(argument.arg)}
        last.append(sorted(used - needed))
        needed |= used
    for node, done in zip(graph.nodes, reversed(last)):
        if node.target.startswith(CHECKS):
            continue
        if any(argument.name in TRAINING and argument.arg.get("as_bool") is True for argument in node.inputs):
            raise _in_training(file)
        yield GraphStep(
            _operator(node, file),
            [_value(argument.arg, file) for argument in node.inputs if argument.kind != 2],
            {argument.name: _value(argument.arg, file) for argument in node.inputs if argument.kind == 2},
            [_result(output) for output in node.outputs],
            done,
            node.target,
        )


def _operator(node: Node, file: ExportedFile) -> Callable[..., Any]:
    """What a target names: an operator of aten, or arithmetic of lengths."""
    if node.target in ARITHMETIC:
        return ARITHMETIC[node.target]
    name, dot, overload = node.target.removeprefix(OPERATORS).partition(".")
    if node.target.startswith(OPERATORS) and dot and name.isidentifier() and overload.isidentifier():
        match = getattr(getattr(torch.ops.aten, name, None), overload, None)
        if isinstance(match, torch._ops.OpOverload) and not UNSAFE.search(str(match._schema)):
            return match
    raise UserError(
        f"'{file.path}' applies '{node.target}', which is not among the operators that are read (torch.ops.aten); use "
        "python:file.py:factory if you trust it"
    )


def _reference(content: Any) -> str | None:
    """The value that a tensor or a length refers to; None where it is a number or nothing."""
    if not isinstance(content, Mapping):
        return None
    inside = content.get("as_tensor")
    name = (
        content.get("name") or content.get("as_name") or (inside.get("name") if isinstance(inside, Mapping) else None)
    )
    return None if name is None else str(name)


def _names(argument: Mapping[str, Any]) -> Iterator[str]:
    """The values that an argument refers to."""
    for content in argument.values():
        for part in content if isinstance(content, list) else [content]:
            if name := _reference(part):
                yield name


def _result(output: Mapping[str, Any]) -> str | list[str | None] | None:
    """The name or names that a result gets."""
    ((_, content),) = output.items()
    return [_reference(part) for part in content] if isinstance(content, list) else _reference(content)


def _value(argument: Mapping[str, Any], file: ExportedFile) -> Value:
    """What gives an argument when the network runs."""
    ((sort, content),) = argument.items()
    if sort in PLAIN:
        return lambda values, device: content
    if sort == "as_none":
        return lambda values, device: None
    if sort == "as_device":
        return lambda values, device: device
    if sort == "as_layout":
        return lambda values, device: torch.strided
    if sort in ("as_scalar_type", "as_memory_format"):
        table: Mapping[int, Any] = DTYPES if sort == "as_scalar_type" else ORDERS
        match = table.get(content)
        if match is None:
            raise UserError(f"'{file.path}' uses a type of number ({sort} {content}) that is not read")
        return lambda values, device: match
    if sort in ("as_tensor", "as_sym_int", "as_sym_float", "as_sym_bool", "as_optional_tensor"):
        return _single(content)
    if sort in ("as_tensors", "as_sym_ints", "as_sym_floats", "as_sym_bools", "as_optional_tensors"):
        parts = [_single(part) for part in content]
        return lambda values, device: [part(values, device) for part in parts]
    raise UserError(f"'{file.path}' gives an operator an argument of the sort '{sort}', which is not read")


def _single(content: Mapping[str, Any]) -> Value:
    """A tensor or a length by its name, or a number."""
    name = _reference(content)
    if name is not None:
        return lambda values, device: values[name]
    number = next((content[key] for key in ("as_int", "as_float", "as_bool") if key in content), None)
    return lambda values, device: number
