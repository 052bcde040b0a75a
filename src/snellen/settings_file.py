"""Settings files: the settings of a request as YAML, the same words as the options of its command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.request import Request, is_given

R = TypeVar("R", bound=Request)


def read_settings(path: Path) -> dict[str, Any]:
    """The settings of a YAML file; `batch-size` and `batch_size` are the same word."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text())
    except OSError:
        raise UserError(f"no settings file '{path}'") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path} is not YAML: {error}") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        raise UserError(f"{path}{where} is not YAML: {getattr(error, 'problem', error)}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected settings as 'name: value' lines, got {type(content).__name__}")
    return {str(key).replace("-", "_"): value for key, value in content.items()}


def resolve(cls: type[R], values: Mapping[str, Any], file: Path | None = None) -> R:
    """The request of some settings over those of a file: one that was not given (None, or empty) leaves the file's."""
    below = cls.checked(read_settings(file), str(file)) if file is not None else {}
    above = cls.checked({name: value for name, value in values.items() if is_given(value)})
    return cls(**{**below, **above})


def write_settings(path: Path, request: Request) -> None:
    """The settings that differ from their defaults, ready to be read again."""
    import yaml

    plain = {name: _plain(value) for name, value in request.chosen().items()}
    write_atomic(path, yaml.safe_dump(plain, sort_keys=False, allow_unicode=True).encode())


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value
