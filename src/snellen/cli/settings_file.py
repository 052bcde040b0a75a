"""Settings from a YAML file: the same words as the flags, which win."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic
from snellen.errors import UserError, unknown


def read_config(path: Path, known: set[str]) -> dict[str, Any]:
    """The settings of a YAML file; `batch-size` and `batch_size` are the same word."""
    import yaml

    try:
        held = yaml.safe_load(path.read_text())
    except OSError:
        raise UserError(f"no settings file '{path}'") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path} is not YAML: {error}") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        raise UserError(f"{path}{where} is not YAML: {getattr(error, 'problem', error)}") from None
    if held is None:
        return {}
    if not isinstance(held, dict):
        raise UserError(f"{path}: expected settings as 'name: value' lines, got {type(held).__name__}")
    settings = {str(key).replace("-", "_"): value for key, value in held.items()}
    for key, value in settings.items():
        if key not in known:
            raise unknown(f"setting in {path}", key, known)
        _check_kind(path, key, value)
    return settings


def _check_kind(path: Path, key: str, value: Any) -> None:
    """Refuse a value of another kind than the flag of that name takes."""
    if value is None:
        return
    several = isinstance(value, list) and all(isinstance(one, str) for one in value)
    fits, wanted = {
        "models": (isinstance(value, str) or several, "a text or a list of texts"),
        "require": (isinstance(value, str) or several, "a text or a list of texts"),
        "limit": (type(value) is int, "a whole number"),
        "seed": (type(value) is int, "a whole number"),
        "batch_size": (type(value) in (int, str), "auto or a whole number"),
        "offline": (isinstance(value, bool), "true or false"),
    }.get(key, (isinstance(value, str), "a text"))
    if not fits:
        raise UserError(f"{path}: expected {key} as {wanted}, got {str(value)[:40]!r}")


def merged(flags: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """Flags over file: a flag that was not given (None, or an empty list) leaves the file's value."""
    held = read_config(file, set(flags)) if file is not None else {}
    given = {key: value for key, value in flags.items() if _is_set(value)}
    return {**dict.fromkeys(flags), **held, **given}


def write_config(path: Path, settings: Mapping[str, Any]) -> None:
    """The resolved settings, ready to be passed to --config again."""
    import yaml

    plain = {key: str(value) if isinstance(value, Path) else value for key, value in settings.items()}
    held = {key: value for key, value in plain.items() if _is_set(value)}
    write_atomic(path, yaml.safe_dump(held, sort_keys=False).encode())


def _is_set(value: Any) -> bool:
    return value is not None and value is not False and value != []
