"""The names that users type: all of docs/reference/names.md after the plain import, and nothing else when they press tab."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import snellen

from .test_package import rooms

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "snellen"
NAMES = (ROOT / "docs/reference/names.md").read_text()
LISTED = ("data.in9", "data.phantom", "models.observers", "train.augment", "train.mixing")  # packages with public names
ALIAS = re.compile(r"^([A-Z][a-z]\w*)(?:: TypeAlias)? = (?!TypeVar|ParamSpec)", re.M)


def code_of(page: str) -> str:
    """The code of a page: its indented blocks and its spans."""
    return "\n".join(re.findall(r"^    .+$|`[^`\n]+`", page, re.M))


def dotted_names(page: str) -> set[str]:
    """Every name a page calls from `snellen.` on, and the methods of Run.

    Lines such as `snellen.sweep.grain(…) · methods(…)` and `snellen.search: correct(…) · finds(…)` name several of one module;
    a line below it that begins with `·` names more of it.
    """
    names = {f"snellen.Run.{name}" for name in re.findall(r"\bRun\.(\w+)\(", code_of(page))}
    room = ""
    for line in code_of(page).splitlines():
        if room and line.strip().startswith("·"):
            names |= {f"{room}.{name}" for name in re.findall(r"· (\w+)\(", line)}
        elif not line.startswith("        "):
            room = ""
        for match in re.finditer(r"\bsnellen((?:\.\w+)+)(:?)", line):
            names.add(f"snellen{match[1]}")
            room = f"snellen{match[1]}" if match[2] else f"snellen{match[1]}".rpartition(".")[0]
            rest = line[match.end() :].partition("snellen.")[0]
            places = r"(?:^|·) ?(\w+)(?=\(| ·|$)" if match[2] else r"· (\w+)\("
            names |= {f"{room}.{name}" for name in re.findall(places, rest)}
    return names


def missing(names: set[str]) -> dict[str, str]:
    """Which names are not there after `import snellen` in a fresh interpreter, and why.

    Names of one module are looked up in a process of their own: those of another might load what they lack. What is not ours
    is loaded once, before.
    """
    script = (
        "import itertools, json, operator, os, sys, numpy, pandas, torch, snellen\n"
        "wrong = {}\n"
        "for _, names in itertools.groupby(json.load(sys.stdin), lambda name: name.rpartition('.')[0]):\n"
        "    read, write = os.pipe()\n"
        "    if os.fork() == 0:\n"
        "        for name in names:\n"
        "            try:\n"
        "                operator.attrgetter(name.partition('.')[2])(snellen)\n"
        "            except Exception as error:\n"
        "                os.write(write, f'{name} {error!r}\\n'.encode())\n"
        "        os._exit(0)\n"
        "    os.close(write)\n"
        "    wrong.update(line.strip().split(' ', 1) for line in os.fdopen(read))\n"
        "    assert os.wait()[1] == 0\n"
        "print(json.dumps(wrong))\n"
    )
    text = json.dumps(sorted(names, key=lambda name: name.rpartition(".")))
    done = subprocess.run([sys.executable, "-c", script], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_every_listed_name_is_there_after_the_plain_import() -> None:
    names = dotted_names(NAMES)
    assert len(names) > 60
    assert {
        *("snellen.build.iruo.build", "snellen.distort.parse", "snellen.models.observers.background", "snellen.Run.maps"),
        *("snellen.search.finds", "snellen.train.mixing.majority_loss", "snellen.train.shift.tuple_set.write_tuples"),
    } <= names  # fmt: skip
    wrong = missing(names | {"snellen.build.attic", "snellen.train.trian"})
    assert wrong.keys() == {"snellen.build.attic", "snellen.train.trian"}, wrong
    assert "module 'snellen.train' has no attribute 'trian'" in wrong["snellen.train.trian"]


def test_a_line_is_taken_apart() -> None:
    page = (
        "    snellen.a.b(x) → Run · c(y) · Run.d(z)  snellen.e\n        · f(x)\n"
        "    snellen.g.h: i(x) · j\n        x\n        · k(x)\n    l(x)\n        · m(x)\nsnellen.prose and `snellen.span()`\n"
    )
    assert dotted_names(page) == {
        *("snellen.a.b", "snellen.a.c", "snellen.Run.d", "snellen.e", "snellen.f", "snellen.span"),
        *("snellen.g.h", "snellen.g.h.i", "snellen.g.h.j", "snellen.g.h.k"),
    }


def test_the_nearest_name_is_suggested() -> None:
    done = subprocess.run([sys.executable, "-c", "import snellen; snellen.train.trian"], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith("Did you mean: 'train'?"), done.stderr


@pytest.mark.parametrize("room", ["", *rooms(), *LISTED])
def test_tab_shows_the_public_names_and_nothing_else(room: str) -> None:
    module = importlib.import_module(f"snellen.{room}".rstrip("."))
    assert dir(module) == sorted(module.__all__)
    assert len(module.__all__) == len(set(module.__all__))
    assert set(getattr(module, "_HOMES", ())) <= set(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name == "__version__" or not name.startswith("_")


def test_every_room_shows_something() -> None:
    assert [room for room in rooms() if not dir(getattr(snellen, room))] == []


def test_the_plain_import_and_what_tab_shows_need_no_torch() -> None:
    code = "import sys, snellen; dir(snellen); snellen.build; snellen.train; snellen.sweep; snellen.exam; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert {"snellen.build", "snellen.exam"} <= modules
    assert not {"torch", "numpy", "pandas", "snellen.exam.run", "snellen.data", "snellen.build.iruo"} & modules


def bound_names(package: str, tree: ast.Module) -> Iterator[str]:
    """What a package's __init__.py binds, its lazy names included, but for modules of its own under their names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            pairs = [(name.asname or name.name, f"{node.module}.{name.name}") for name in node.names]
            yield from (name for name, home in pairs if home != f"{package}.{name}")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
            if isinstance(node.value, ast.Dict) and "_HOMES" in ast.dump(targets[0]):
                homes = ast.literal_eval(node.value)
                yield from (name for name, home in homes.items() if home != f"{package}.{name}")


def test_what_has_the_name_of_a_module_is_that_module() -> None:
    """So that a reader can tell whether `snellen.data.folder` is a function; commands, which no one imports, aside."""
    hidden = []
    for file in SOURCE.rglob("__init__.py"):
        beside = {path.stem for path in file.parent.iterdir()}
        package = ".".join(("snellen", *file.parent.relative_to(SOURCE).parts))
        if package != "snellen.cli":
            hidden += [
                f"{package}.{name}" for name in bound_names(package, ast.parse(file.read_text())) if name in beside
            ]
    assert not hidden


def test_a_name_that_hides_a_module_would_be_seen() -> None:
    code = (
        "from snellen.data import coco, tar\nfrom snellen.data.voc import voc\nfrom snellen.data.folder import load_folder\n"
        "def cue(): ...\n_HOMES = {'stl': 'snellen.data.stl', 'svhn': 'snellen.data.other'}\n"
    )
    assert set(bound_names("snellen.data", ast.parse(code))) == {"voc", "load_folder", "cue", "_HOMES", "svhn"}


@pytest.mark.parametrize("room", [*rooms(), *LISTED])
def test_no_public_function_has_the_name_of_a_module_beside_it(room: str) -> None:
    module = importlib.import_module(f"snellen.{room}")
    beside = {path.stem for path in (SOURCE / room.replace(".", "/")).iterdir() if path.name != "__init__.py"}
    functions = {name for name in module.__all__ if isinstance(getattr(module, name), FunctionType)}
    assert not functions & beside


def test_modules_among_the_public_names_are_modules_of_the_room() -> None:
    for room in rooms():
        module = getattr(snellen, room)
        for name in module.__all__:
            value = getattr(module, name)
            assert not isinstance(value, ModuleType) or value.__name__ == f"snellen.{room}.{name}"


def class_homes() -> dict[str, list[str]]:
    """Public class → the files that define it."""
    homes = defaultdict(list)
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(file.relative_to(SOURCE).as_posix())
    return homes


def test_a_class_name_has_one_meaning() -> None:
    twice = {name: files for name, files in class_homes().items() if len(files) > 1}
    assert twice == {}


def test_no_alias_has_the_name_of_a_class() -> None:
    classes = class_homes()
    aliases = {
        (name, file.relative_to(SOURCE).as_posix())
        for file in sorted(SOURCE.rglob("*.py"))
        for name in ALIAS.findall(file.read_text())
    }
    assert not {(name, file) for name, file in aliases if name in classes and file not in classes[name]}
