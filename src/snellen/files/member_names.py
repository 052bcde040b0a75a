"""Names of files in archives: relative, and below the archive."""

from __future__ import annotations

from pathlib import PurePosixPath

from snellen.errors import UserError


def check_name(name: str, where: str) -> None:
    """Refuse a name that leads out of an archive, `../a.png` or `/a.png`; `where` begins the error."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts or parts[:1] == ("/",) or (parts and len(parts[0]) == 2 and parts[0][1] == ":"):
        raise UserError(f"{where}: the name '{name[:200]}' leads out of it; pack paths that are relative, without '..'")
