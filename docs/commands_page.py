"""commands.md: every command with all its arguments and options, read from the command line's own declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

HEAD = """# Commands

Written by `python docs/build.py` from the commands' own help; do not edit. Exit codes: 0 done, 1 a condition or check
failed, 2 bad input. `snellen COMMAND --help` prints the same. MODEL and DATA: [models](models.md), [data](data.md).
"""


def commands_page() -> str:
    """The text of commands.md."""
    return "\n".join([HEAD, *(entry(name, command) for name, command in commands())])


def commands() -> Iterator[tuple[str, Any]]:
    """Each command that does something, by the words one types: `snellen build in9`."""
    import typer

    from snellen.cli import app

    root: Any = typer.main.get_command(app)
    yield "snellen", root
    yield from _below("snellen", root)


def _below(words: str, group: Any) -> Iterator[tuple[str, Any]]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _below(f"{words} {name}", command)
        else:
            yield f"{words} {name}", command


def parameters(command: Any) -> list[tuple[str, str]]:
    """Arguments and options that are not hidden, as `--data <str>` and what it is; without --help."""
    context = command.context_class(command)
    shown = (one for one in command.get_params(context) if not getattr(one, "hidden", False) and one.name != "help")
    return [one.get_help_record(context) for one in shown]


def entry(words: str, command: Any) -> str:
    lines = [f"## `{words}`", "", *wrapped(" ".join((command.help or "").split()), ""), ""]
    for written, meaning in parameters(command):
        lines += wrapped(f"- `{written}`: {meaning}", "  ")
    if command.epilog:
        examples = [line.removeprefix("Example: ") for line in command.epilog.strip("\b\n").splitlines()]
        lines += ["", "```sh", *(line for example in examples for line in _broken(example)), "```"]
    return "\n".join(lines) + "\n"


def wrapped(text: str, indent: str, width: int = 120) -> list[str]:
    """The lines of a paragraph or a list entry."""
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _broken(command: str, width: int = 110) -> list[str]:
    """A command line over several lines, broken before options, each line but the last ending in a backslash."""
    first, *rest = command.split(" --")
    lines = [first]
    for part in (f"--{option}" for option in rest):
        if len(lines[-1]) + 1 + len(part) > width:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return lines
