"""Settings files: the settings of a request as YAML, the same words as the options of its command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from snellen.atomic import encode_yaml, write_atomic
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.yaml_file import read_yaml
from snellen.request import Request, describe, is_given, settings_of, signature_of

R = TypeVar("R", bound=Request)
T = TypeVar("T")


def read_settings(path: Path) -> dict[str, Any]:
    """The settings of a YAML file; `batch-size` and `batch_size` are the same word."""
    content = read_yaml(expand_home(path), "settings file")
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected settings as 'name: value' lines, got {type(content).__name__}")
    settings: dict[str, Any] = {}
    for key, value in content.items():
        name = str(key).replace("-", "_")
        if name in settings:
            spellings = [str(other) for other in content if str(other).replace("-", "_") == name]
            raise UserError(f"{path}: {' and '.join(map(repr, spellings))} are one setting; leave one out")
        settings[name] = value
    return settings


def resolve(cls: type[R], values: Mapping[str, Any], file: Path | None = None) -> R:
    """The request of some settings over those of a file: one that was not given (None) leaves the file's."""
    below = cls.checked(read_settings(file), str(file)) if file is not None else {}
    above = cls.checked({name: value for name, value in values.items() if is_given(value)})
    return blame(file, lambda: cls(**{**below, **above}), lambda: cls(**below))


def door(
    carry_out: Callable[..., T], cls: type[R], *positional: str, name: str = "", **defaults: Any
) -> Callable[..., T]:
    """A Python function that takes a request's settings, the named ones also by position, and `config`, a file of them.

    `defaults` are those of Python alone, such as quiet=True. What `carry_out` takes beside the request, such as a function to be
    called with notices, the function takes by name. `name` is the function's, by default the first word of `carry_out`'s.
    """
    beside = list(inspect.signature(carry_out).parameters.values())[1:]

    def call(*values: Any, config: Path | str | None = None, **settings: Any) -> T:
        if len(values) > len(positional):
            raise TypeError(f"takes {len(positional)} values by position ({', '.join(positional)}), got {len(values)}")
        by_position = dict(zip(positional, values))
        if twice := by_position.keys() & settings.keys():
            raise TypeError(f"got '{min(twice)}' twice, by position and by name")
        values_by_name = {name: value for name, value in {**by_position, **settings}.items() if value is not None}
        passed_on = {
            parameter.name: values_by_name.pop(parameter.name)
            for parameter in beside
            if parameter.name in values_by_name
        }
        return carry_out(
            resolve(cls, {**defaults, **values_by_name}, None if config is None else expand_home(config)), **passed_on
        )

    own = signature_of(cls, positional).parameters.values()
    parameters = [parameter.replace(default=defaults.get(parameter.name, parameter.default)) for parameter in own]
    config = inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, default=None)
    call.__signature__ = inspect.Signature([*parameters, *beside, config])  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name or carry_out.__name__.partition("_")[0]
    call.__module__ = carry_out.__module__
    settings = f"{describe(cls)}\n    config: settings from a YAML file; what is given here wins"
    call.__doc__ = f"{carry_out.__doc__}\n\nSettings:\n{settings}\n"
    return call


def blame(file: Path | None, make: Callable[[], R], make_of_file: Callable[[], object]) -> R:
    """What `make` gives; an error that the settings of the file alone raise too is told with the file's name."""
    try:
        return make()
    except UserError as error:
        if file is None or str(file) in str(error):
            raise
        try:
            make_of_file()
        except UserError as own:
            if str(own) == str(error):
                raise UserError(f"{file}: {error}") from None
        raise


def write_settings(path: Path, *requests: Request) -> None:
    """The settings that differ from their defaults, ready to be read again; a comment names those that YAML cannot hold."""
    once = {item.name for request in requests for item in settings_of(type(request)) if item.once}
    chosen = {name: value for request in requests for name, value in request.chosen().items() if name not in once}
    plain = {name: _plain(value) for name, value in chosen.items()}
    absent = [name for name, value in plain.items() if not _is_plain(value)]
    notes = [f"# {name} was made in Python and is not listed here: give it again\n" for name in absent]
    listed = {name: value for name, value in plain.items() if name not in absent}
    text = encode_yaml(listed) if listed else ""
    write_atomic(path, ("".join(notes) + text).encode())


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str | Path) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, str | bool | int | float)
