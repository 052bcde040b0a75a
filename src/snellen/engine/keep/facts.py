"""run.json on disk: what it must hold, and the checksum that it carries of its own content."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.atomic import encode_json, write_atomic
from snellen.errors import UserError, option
from snellen.files import decode_json, fit, read_bytes
from snellen.hashing import checksum

NAME, SUM = "run.json", "checksum"


def read_facts(folder: Path) -> dict[str, Any]:
    """The content of run.json; empty where there is none yet.

    One that does not fit its own checksum is refused, since everything else is read by what it says; one that an earlier
    version wrote has none.
    """
    from snellen.engine.keep.schemas import RunRecord

    path = folder / NAME
    if not os.path.exists(path):
        return {}
    try:
        content: dict[str, Any] = decode_json(read_bytes(path, "run.json"), dict[str, Any], path)
        strange = SUM not in content and not content.keys() <= set(RunRecord.__struct_fields__)  # its name is damaged
        if strange or content.get(SUM, expected := _sum_of(content)) != expected:
            raise UserError(f"{path} does not fit its own checksum, so it was damaged or changed")
        fit(content, RunRecord, path)
    except UserError as error:
        raise UserError(f"{error}; choose another {option('out')} or pass {option('fresh')}") from error
    return content


def write_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write run.json, with its checksum as the last line."""
    content = json.loads(encode_json({name: value for name, value in facts.items() if name != SUM}))
    write_atomic(folder / NAME, encode_json({**content, SUM: _sum_of(content)}))


def _sum_of(content: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != SUM}
    return checksum(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())
