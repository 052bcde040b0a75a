"""Options of commands: those that all share, and those that follow from a request."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from snellen.request import Request, Setting, settings_of

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")]
AsJson = Annotated[bool, typer.Option("--json", help="print the result as JSON")]
Config = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="settings from a YAML file, such as an earlier settings.yaml; options win"),
]


def epilog(*examples: str) -> str:
    """The end of a command's --help: lines one can paste."""
    return "\b\n" + "\n".join(f"Example: {example}" for example in examples)  # \b: a line to paste is not wrapped


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
    general = set() if after is None else {one.name for one in settings_of(after)}
    chosen = sorted((one for cls in classes for one in settings_of(cls)), key=lambda one: one.name in general)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        def run(**values: Any) -> None:
            settings = {one.name: values.pop(one.name) for one in chosen}
            command({name: value for name, value in settings.items() if value is not None and value != []}, **values)

        parameters = [_parameter(one, one.name in arguments) for one in chosen]
        parameters += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return run

    return decorate


def _parameter(one: Setting, is_argument: bool) -> inspect.Parameter:
    """A typer parameter. Values arrive as texts, so that a wrong one gets the same error as in a file or in Python."""
    kind: Any = bool | None if one.kind is bool else list[str] | None if one.several and not one.commas else str | None
    if is_argument:
        how = typer.Argument(help=one.help, metavar=one.name.upper().rstrip("S"))
    else:
        off = f"/--no-{one.flag.removeprefix('--')}" if one.kind is bool else ""
        names = [f"{one.flag}{off}", *([one.short] if one.short else [])]
        how = typer.Option(*names, help=one.help, metavar=None if one.kind is bool else one.metavar)
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, how])
