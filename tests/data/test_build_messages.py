"""Every option that a message of a build may name is one of that command's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from snellen.build.covering.request import CoverRequest
from snellen.build.request import CrewRequest
from snellen.cli.build import BUILDERS, build

SOURCE = Path(__file__).parents[2] / "src"
NAMED = {"option": 1, "choice": 2}  # functions that name a setting, and the place of a flag of its own
# Options of others in what builders import, and why no build says them.
NEVER_SAID = {
    "snellen.data.dataset --limit": "only builders with a limit give one",
    "snellen.data.occluders --occluders": "only builders with cut-outs read such a folder",
    "snellen.distort.view --donors": "builders give their distortions what these need",
    "snellen.distort.view --occluders": "the same",
    "snellen.files.tar_file --hard-dereference": "an option of tar",
    "snellen.models.compositional.network --init": "of a training",
    "snellen.models.device --device": "said of a device that was named; builders name none",
    "snellen.build.crew --workers": "said of several processes; the phantom world is written by one",
    "snellen.files.remote.patience --offline": "said where that set it; builders obey the variable",
    "snellen.request --plugin": "the declaration of the setting",
}


def file_of(module: str) -> Path | None:
    path = SOURCE.joinpath(*module.split("."))
    found = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return found if found.is_file() else None


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that a file names in its imports, and what may be a module among their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("snellen."):
            yield from (str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names))


def modules_of(builder: str) -> dict[str, ast.Module]:
    """The modules that a builder reaches by imports, without those of other builders."""
    own, trees = f"snellen.build.{builder}", dict[str, ast.Module]()
    others = tuple(f"snellen.build.{name}" for name in BUILDERS if name != builder)
    if not issubclass(BUILDERS[builder][0], CoverRequest):
        others += ("snellen.build.covering",)
    waiting = [own, *(f"{own}.{file.stem}" for file in (SOURCE / "snellen/build" / builder).glob("[!_]*.py"))]
    while waiting:
        module = waiting.pop()
        if module in trees or module.startswith(others) or (file := file_of(module)) is None:
            continue
        trees[module] = ast.parse(file.read_text())
        waiting += imported(trees[module])
    return trees


def options_named(tree: ast.Module) -> Iterator[str]:
    """Every option that a module's messages name, written out or by the name of a setting."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMED:
            setting, *flag = (node.args[0], *node.args[NAMED[node.func.id] :])
            if flag and isinstance(flag[0], ast.Constant):
                yield str(flag[0].value)
            elif isinstance(setting, ast.Constant):
                yield f"--{setting.value}".replace("_", "-")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield from re.findall(r"(?<![\w-])--[a-z][a-z-]+", node.value)


def options_of(builder: str) -> set[str]:
    """Those that the command line knows."""
    commands = get_command(build).commands  # type: ignore[attr-defined]
    return {"--debug"}.union(*(option.opts + option.secondary_opts for option in commands[builder].params))


@pytest.mark.parametrize("builder", BUILDERS)
def test_no_message_of_a_build_names_an_option_that_it_does_not_have(builder: str) -> None:
    known, trees = options_of(builder), modules_of(builder)
    named = {f"{module} {option}" for module, tree in trees.items() for option in options_named(tree)}
    unknown = {said for said in named if said.split()[1] not in known}
    assert unknown - NEVER_SAID.keys() == set()
    assert any(said.startswith(f"snellen.build.{builder}") for said in named) or builder == "diffuse"
    if issubclass(BUILDERS[builder][0], CrewRequest):
        assert "--workers" in known


def test_every_exception_is_still_needed() -> None:
    unknown = {
        f"{module} {option}"
        for builder in BUILDERS
        for module, tree in modules_of(builder).items()
        for option in options_named(tree)
        if option not in options_of(builder)
    }
    assert unknown == NEVER_SAID.keys()
