"""Every file comes in by one door: outside `files/`, no module opens, decodes or parses a file by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "snellen"
METHODS = {"read_bytes", "read_text", "safe_load", "load_file", "safe_open", "fromstring", "unpackb"}  # of any object
CALLS = {  # by the name before the dot
    "json": {"load", "loads"},
    "yaml": {"load", "compose", "parse"},
    "np": {"load", "loadtxt", "genfromtxt", "fromfile", "memmap"},
    "pd": {"read_csv", "read_parquet", "read_json", "read_pickle"},
    "pq": {"read_table", "read_schema", "read_metadata", "ParquetFile"},
    "torch": {"load"},
    "pickle": {"load", "loads"},
    "csv": {"reader", "DictReader"},
    "Image": {"open"},
    "cv2": {"imread", "imdecode"},
    "zipfile": {"ZipFile"},
    "ElementTree": {"parse", "fromstring", "XML"},
}
ALLOWED: dict[str, str] = {  # file → why it may
    "atomic.py": "opens a file to append to, without following links or waiting; reads back its own YAML before it is written",
    "cli/__init__.py": "opens the null device for what a closed pipe no longer takes",
    "distort/jpeg.py": "reads back the picture that it has just written",
    "engine/keep/facts.py": "reads back its own text before it is written, so that its checksum is of what a reader will see",
    "lock.py": "opens the lock file, which it makes, without following links or waiting",
    "models/label_maps/geirhos16.py": "reads a file of this package",
    "models/label_maps/imagenet9.py": "reads a file of this package",
    "report/published.py": "reads a file of this package",
    "web/study/experimenter.py": "opens a door: sets the cookie of a visitor",
    "web/study/participant.py": "opens a door: sets the cookie of a visitor",
    "web/curate/app.py": "opens a door: sets the cookie of a visitor",
    "sweep/image_cache.py": "reads the machine's memory limit, a file of the kernel",
}


def raw_reads(tree: ast.AST) -> Iterator[str]:
    """The calls in a file that read a file, or decode the content of one, without `files/`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        call = node.func
        if isinstance(call, ast.Name) and call.id == "open" and not _writes(node, 1):
            yield "open"
        elif isinstance(call, ast.Attribute):
            owner = call.value.id if isinstance(call.value, ast.Name) else ""
            if call.attr in METHODS or call.attr in CALLS.get(owner, ()):
                yield f"{owner}.{call.attr}"
            elif call.attr == "open" and owner not in CALLS and not _writes(node, 0):
                yield f"{owner}.open"


def _writes(call: ast.Call, place: int) -> bool:
    """Whether a call of `open` opens for writing."""
    modes = [one for one in call.args[place : place + 1] if isinstance(one, ast.Constant)]
    modes += [one.value for one in call.keywords if one.arg == "mode" and isinstance(one.value, ast.Constant)]
    return any(set(str(one.value)) & set("wax") for one in modes)


FILES = [file for file in sorted(SOURCE.rglob("*.py")) if file.relative_to(SOURCE).parts[0] != "files"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SOURCE).as_posix())
def test_no_module_reads_a_file_by_itself(file: Path) -> None:
    calls = sorted(set(raw_reads(ast.parse(file.read_text()))))
    name = file.relative_to(SOURCE).as_posix()
    assert bool(calls) == (name in ALLOWED), (
        f"{calls}: read through snellen.files, or say why not in {Path(__file__).name}"
    )


@pytest.mark.parametrize(
    "text", ["open('a')", "p.open()", "p.open('rb')", "json.loads(x)", "Image.open(x)", "p.read_text()", "np.load(x)"]
)
def test_a_raw_read_would_be_seen(text: str) -> None:
    assert list(raw_reads(ast.parse(text)))


def test_writing_is_no_reading() -> None:
    assert not list(raw_reads(ast.parse("open('a', 'w')\np.open('wb')\np.open(mode='a')\njson.dumps(x)\nopen_file(x)")))
