"""Options of commands: those that all share, and those that follow from a request."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from snellen.files import expand_home
from snellen.request import Request, Setting, settings_of

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")]
AsJson = Annotated[bool, typer.Option("--json", help="print the result as JSON")]
AllFindings = Annotated[bool, typer.Option("--all", help="print every finding of each model")]
ModelPairs = Annotated[bool, typer.Option("--pairs", help="print the differences between pairs of models")]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=expand_home,
        help="settings from a YAML file, such as an earlier settings.yaml; options win",
    ),
]


def epilog(*examples: str) -> str:
    """The end of a command's --help: lines one can paste."""
    return "\b\n" + "\n".join(f"Example: {example}" for example in examples)  # \b: a line to paste is not wrapped


def summary(command: Callable[..., Any] | None) -> str:
    """The first paragraph of a command's help, whole."""
    return " ".join((inspect.getdoc(command) or "").split("\n\n")[0].split())


def finish(code: int) -> None:
    """End a command with an exit code."""
    if code:
        raise typer.Exit(code)


def takes(
    *classes: type[Request], arguments: tuple[str, ...] = (), after: type[Request] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the settings of a request, or of several, as its options (the named ones as its arguments).

    The command's first parameter receives those that were given, by name; its other parameters stay options of its own. The
    settings of `after`, from which a request derives, come behind those that it adds.
    """
    general = set() if after is None else {item.name for item in settings_of(after)}
    chosen = sorted((item for cls in classes for item in settings_of(cls)), key=lambda item: item.name in general)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        def run(**values: Any) -> None:
            settings = {item.name: values.pop(item.name) for item in chosen}
            command({name: value for name, value in settings.items() if value is not None and value != []}, **values)

        parameters = [_parameter(item, item.name in arguments) for item in chosen]
        parameters += [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return run

    return decorate


def _parameter(item: Setting, is_argument: bool) -> inspect.Parameter:
    """A typer parameter. Values arrive as texts, so that a wrong item gets the same error as in a file or in Python."""
    kind: Any = (
        bool | None if item.kind is bool else list[str] | None if item.several and not item.commas else str | None
    )
    if is_argument:
        how = typer.Argument(help=item.help, metavar=item.name.upper().rstrip("S"))
    else:
        off = f"/--no-{item.flag.removeprefix('--')}" if item.kind is bool and "/" not in item.flag else ""
        names = [f"{item.flag}{off}", *([item.short] if item.short else [])]
        how = typer.Option(*names, help=item.help + _note(item), metavar=None if item.kind is bool else item.metavar)
    return inspect.Parameter(item.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, how])


def _note(item: Setting) -> str:
    """What an option's help ends with: that it must be given, or its default, unless its words say that."""
    if item.required:
        return "  [required]"
    default = item.default
    if default is None or default is False or default in ((), "") or "default" in item.help:
        return ""
    if default is True:
        return f"  [default: {item.flag.partition('/')[0].removeprefix('--')}]"
    words = ",".join(map(str, default)) if isinstance(default, tuple) else default
    return f"  [default: {words:g}]" if isinstance(words, float) else f"  [default: {words}]"
