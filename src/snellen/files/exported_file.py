"""Networks that `torch.export.save` wrote (.pt2): the graph as checked data and the weights as bytes.

torch's own loader unpickles parts of such a file and evaluates expressions in it. Nothing here does: the graph is JSON of a
declared schema, weights are raw numbers, and what is neither (pickles, libraries, objects) is refused.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec

from snellen.errors import UserError
from snellen.files.json_file import decode_json
from snellen.files.net import reading
from snellen.files.plain import GIB, MIB, open_file

KIND = "exported network"
LONGEST_GRAPH = 256 * MIB
LONGEST_WEIGHT = 16 * GIB
FORMAT = b"pt2"
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


class Length(msgspec.Struct):
    """A length of a tensor: a number, or an expression where it may be any."""

    as_int: int | None = None
    as_expr: dict[str, Any] | None = None


class TensorMeta(msgspec.Struct):
    """The type, by torch's number for it, and the shape of a tensor."""

    dtype: int
    sizes: list[Length]
    strides: list[Length]
    storage_offset: Length
    layout: int


class Named(msgspec.Struct):
    """An argument of an operator: a value under the name of its type; `kind` 2 is given by name."""

    name: str
    arg: dict[str, Any]
    kind: int | None = None


class Node(msgspec.Struct):
    """One operator applied."""

    target: str
    inputs: list[Named]
    outputs: list[dict[str, Any]]


class Graph(msgspec.Struct):
    """What is computed of what, in order."""

    inputs: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    nodes: list[Node]
    tensor_values: dict[str, TensorMeta]


class Signature(msgspec.Struct):
    """What each input and output of the graph is: a parameter, a buffer, what the user gives and gets."""

    input_specs: list[dict[str, Any]]
    output_specs: list[dict[str, Any]]


class GraphModule(msgspec.Struct):
    graph: Graph
    signature: Signature


class Program(msgspec.Struct):
    """An exported network without its weights."""

    graph_module: GraphModule


class Payload(msgspec.Struct):
    """Where the numbers of a tensor are."""

    path_name: Annotated[str, msgspec.Meta(max_length=1000)]
    use_pickle: bool
    tensor_meta: TensorMeta | None


class Payloads(msgspec.Struct):
    config: dict[str, Payload]


class ExportedFile:
    """An open archive: its program, and its tensors by name."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self.archive, self.path = archive, path
        names = [entry.filename for entry in archive.infolist()]
        self.root = names[0].partition("/")[0] if names else ""
        self._check(names)

    def program(self) -> Program:
        """The graph and its signature."""
        content = self._read("models/model.json", LONGEST_GRAPH)
        program: Program = decode_json(content, Program, f"the graph of '{self.path}'")
        return program

    def payloads(self, folder: str) -> Iterator[tuple[str, TensorMeta, bytes]]:
        """The tensors in `weights` or `constants`: name, shape and bytes."""
        source = f"the {folder} of '{self.path}'"
        listing: Payloads = decode_json(
            self._read(f"data/{folder}/model_{folder}_config.json", LONGEST_GRAPH), Payloads, source
        )
        for name, payload in listing.config.items():
            if payload.use_pickle or payload.tensor_meta is None:
                raise UserError(
                    f"{source}: '{name}' is stored as a pickle, which may hold code and is not read; export a network of plain "
                    "tensors"
                )
            yield name, payload.tensor_meta, self._read(f"data/{folder}/{payload.path_name}", LONGEST_WEIGHT)

    def _read(self, name: str, most: int) -> bytes:
        try:
            entry = self.archive.getinfo(f"{self.root}/{name}")
        except KeyError:
            raise UserError(
                f"'{self.path}' has no {name}; save it again with this version of torch: torch.export.save(program, path)"
            ) from None
        if entry.file_size > most:
            raise UserError(
                f"'{self.path}': {name} has {entry.file_size:,} bytes, more than the {most:,} that are read"
            )
        return self.archive.read(entry)

    def _check(self, names: list[str]) -> None:
        """Refuse what is damaged, packed or compiled, or no exported network at all."""
        path = self.path
        if f"{self.root}/archive_format" not in names or self._read("archive_format", 100).strip() != FORMAT:
            old = "serialized_exported_program.json" in names
            how = (
                "an older torch wrote it; load and save it again with this one"
                if old
                else "expected one of torch.export.save"
            )
            raise UserError(f"'{path}' is not an exported network of this format; {how}")
        if packed := [entry for entry in self.archive.infolist() if entry.compress_type != zipfile.ZIP_STORED]:
            raise UserError(f"'{path}': '{packed[0].filename}' is compressed, which torch.export.save does not do")
        if len(set(names)) < len(names):
            raise UserError(f"'{path}' has two parts of one name; save it again")
        if any(name.startswith(f"{self.root}/data/aotinductor/") for name in names):
            raise UserError(f"'{path}' holds a compiled library, which is code and is not run; use torch.export.save")
        if damaged := self.archive.testzip():
            raise UserError(f"'{path}' is damaged: the checksum of '{damaged}' does not match; get the file again")


@contextmanager
def open_exported(path: Path) -> Iterator[ExportedFile]:
    """The archive of an exported network; whatever is wrong with it inside is told in one line."""
    with open_file(path, KIND) as file, reading(path, f"an {KIND}"), zipfile.ZipFile(file) as archive:
        yield ExportedFile(archive, path)
