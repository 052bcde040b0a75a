"""Imports follow the rooms: the table below lists the allowed edges; any other import, lazy or type-only, fails."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "snellen"
HELPERS = {  # modules at the top that any room may use
    *(
        "atomic",
        "ctrl_c",
        "errors",
        "extras",
        "files",
        "fitting",
        "freed_memory",
        "hashing",
        "lazy_names",
        "lazy_torch",
        "lock",
        "notation",
        "offline",
        "plugins",
        "processes",
        "request",
        "settings_file",
        "terminal",
        "user_code",
        "version",
    ),
}
ALLOWED: dict[str, set[str]] = {  # room → rooms, or single modules of rooms, that it may import
    "data": set(),
    "distort": {"data.keys", "data.occluders"},
    "models": {"data", "distort"},
    "build": {"data", "distort", "measure.occlusion_levels", "models"},
    "explain": {"data", "models"},
    "engine": {"data", "distort", "models", "explain"},
    "measure": set(),
    "search": {"data", "distort", "engine", "models"},
    "concepts": {"data", "engine", "explain", "measure", "models"},
    "attention": {"data", "distort", "engine", "explain", "measure"},
    "audits": {"attention", "concepts", "data", "distort", "engine", "measure", "search"},
    "check": {"audits", "engine", "measure", "report"},
    "checks": {"data", "distort", "engine", "measure", "models"},
    "train": {"data", "distort", "models", "search"},
    "report": {"audits", "checks", "distort", "engine", "explain.overlays", "measure", "models.label_maps"},
    "export": {"audits", "data", "engine", "report"},
    "exam": {
        "audits",
        "check",
        "checks",
        "data",
        "distort",
        "engine",
        "explain",
        "export",
        "measure",
        "models",
        "report",
    },
    "sweep": {"audits", "data", "engine", "exam", "measure", "models", "report", "train"},
    "web": {
        *(
            "audits.exam",
            "build",
            "data",
            "distort",
            "engine.ask",
            "exam.run",
            "explain.overlays",
            "measure",
            "models.card",
        ),
    },
    "calibrate": {"data", "distort", "exam", "measure", "models", "report", "train"},
    "catalogue": {"audits", "data", "distort", "explain", "models", "search"},
    "demo": {"data", "engine", "exam", "models", "train"},
    "doctor": {"data", "engine", "exam", "models"},
    "cli": {
        *("build", "calibrate", "catalogue", "check", "demo", "doctor", "engine.keep.gate_record", "exam", "explain"),
        *("models", "report", "sweep", "train", "web"),
    },
}
EXCEPTIONS: dict[tuple[str, str], str] = {  # file, module → why this edge may run against the flow
    ("data/in9/__init__.py", "snellen.build.in9"): "`snellen.data.in9.build` is a public name",
    ("data/phantom/__init__.py", "snellen.build.phantom"): "`snellen.data.phantom.export` is a public name",
    ("explain/__init__.py", "snellen.exam.side_by_side"): "`snellen.explain.explain_beside` is a public name",
    ("explain/__init__.py", "snellen.exam.explain_pictures"): "`snellen.explain.explain_images` is a public name",
    ("explain/__init__.py", "snellen.concepts.direct"): "`snellen.explain.dissect` is a public name",
}


class Import(NamedTuple):
    """One import: the file it is in, relative to src/snellen, its room, and the module it names."""

    file: str
    room: str
    module: str

    @property
    def target(self) -> str:
        """The imported room."""
        return self.module.partition(".")[2].partition(".")[0]


def imports_in(path: Path, source: Path = SOURCE) -> list[Import]:
    """Every import of ours in a file, at any depth: lazy ones, those for types alone and the homes of lazy names too."""
    file = path.relative_to(source)
    room = file.parts[0].removesuffix(".py")
    modules: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "snellen":
            modules += [f"snellen.{name.name}" for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import; write it out"
            modules.append(node.module or "")
        elif isinstance(node, ast.Import):
            modules += [name.name for name in node.names]
        elif isinstance(node, ast.Dict) and file.name == "__init__.py":  # of snellen.lazy_names
            modules += [str(value.value) for value in node.values if isinstance(value, ast.Constant)]
    return [Import(file.as_posix(), room, module) for module in modules if re.match(r"snellen(\.|$)", module)]


@cache
def every_import() -> list[Import]:
    return [one for path in sorted(SOURCE.rglob("*.py")) for one in imports_in(path)]


def is_allowed(one: Import) -> bool:
    if one.room in ("__init__", "__main__") or one.target in ("", one.room) or one.target in HELPERS:
        return True
    if (one.file, one.module) in EXCEPTIONS:
        return True
    inside = one.module.removeprefix("snellen.")
    return any(inside == room or inside.startswith(f"{room}.") for room in ALLOWED.get(one.room, ()))


def test_no_import_leaves_the_table():
    wrong = [f"{one.file} imports {one.module}" for one in every_import() if not is_allowed(one)]
    assert not wrong, "imports that tests/test_rooms.py does not allow:\n" + "\n".join(wrong)


def test_every_allowed_edge_and_every_exception_is_used():
    used = {(one.room, room) for one in every_import() for room in ALLOWED.get(one.room, ()) if _names(one, room)}
    idle = {(room, other) for room, others in ALLOWED.items() for other in others} - used
    assert not idle, f"allowed, but no longer there: {sorted(idle)}"
    there = {(one.file, one.module) for one in every_import()}
    assert not set(EXCEPTIONS) - there, f"exceptions that are no longer needed: {set(EXCEPTIONS) - there}"


def _names(one: Import, room: str) -> bool:
    return one.module.removeprefix("snellen.") == room or one.module.startswith(f"snellen.{room}.")


def test_no_two_packages_import_each_other_not_even_through_others():
    graph: dict[str, set[str]] = defaultdict(set)
    for one in every_import():
        if one.target not in (one.room, "") and (one.file, one.module) not in EXCEPTIONS and one.room != "__init__":
            graph[one.room].add(one.target)
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"packages import each other in a circle: {' → '.join(error.args[1])}")


def test_helpers_at_the_top_know_no_room():
    wrong = [
        f"{one.file} imports {one.module}"
        for one in every_import()
        if one.room in HELPERS and one.target not in HELPERS | {""}
    ]
    assert not wrong, "\n".join(wrong)


def test_every_room_is_in_the_table():
    there = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name not in ("__pycache__", "published")}
    there |= {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert there == set(ALLOWED) | HELPERS


def test_only_report_and_web_write_pages():
    wrong = []
    for path in SOURCE.rglob("*"):
        inside = path.relative_to(SOURCE)
        if inside.parts[0] in ("report", "web") or "__pycache__" in inside.parts:
            continue
        if path.suffix in (".html", ".css", ".j2"):
            wrong.append(f"{inside} is a template")
        if path.suffix == ".py" and re.search(r"import jinja2|</?(html|body|head|table|div|svg)\b", path.read_text()):
            wrong.append(f"{inside} writes HTML")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("measure/x.py", "from snellen.engine import Answers"),
        ("audits/x.py", "def f():\n    from snellen.report import words"),
        ("engine/x.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from snellen.audits import Audit"),
        ("distort/x.py", "from snellen.data.dataset import Dataset"),
        ("report/x.py", "from snellen import exam"),
        ("explain/__init__.py", "_HOMES = {'Doubt': 'snellen.checks.doubt'}"),
    ],
)
def test_an_import_against_the_flow_is_seen(tmp_path, file, content):
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(content)
    assert [is_allowed(one) for one in imports_in(tmp_path / file, tmp_path)] == [False]
