"""Which mutations fit which files, and one of them drawn and applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

from . import service_calls
from .mutate import (
    arrays,
    cells,
    databases,
    in_bytes,
    journals,
    lines,
    markup,
    pictures,
    places,
    tar_headers,
    values,
    weights,
)
from .mutate.unfit import Unfit

Mutation = Callable[[Path, Random], str]  # changes a file, and says how
OWN: Mapping[str, Mutation] = {  # by the ending of a file's name
    ".npz": arrays.mutate_npz,
    ".npy": arrays.mutate_npy,
    ".csv": cells.mutate_csv,
    ".parquet": cells.mutate_parquet,
    ".json": values.mutate_json,
    ".yaml": values.mutate_yaml,
    ".xml": markup.mutate,
    ".txt": lines.mutate,
    ".safetensors": weights.mutate_safetensors,
    ".pt": weights.mutate_torch,
    ".tar": tar_headers.mutate,
    ".http": service_calls.mutate,
    ".jsonl": journals.mutate,
    ".sqlite": databases.mutate,
    ".md": lines.mutate,
    ".py": lines.mutate,
    **dict.fromkeys((".png", ".jpg", ".gif", ".tiff", ".webp", ".bmp"), pictures.mutate),
}
TRIES = 20


def mutate(file: Path, draw: Random, names: bool) -> str:
    """Change a file in a drawn way, and say how; `names` says that its name may change too."""
    for _ in range(TRIES):
        try:
            return draw.choice(_fitting(file, names))(file, draw)
        except (Unfit, FileNotFoundError, IsADirectoryError, PermissionError):
            continue
    return "nothing fits"


def _fitting(file: Path, names: bool) -> Sequence[Mutation]:
    own = OWN.get(file.suffix, in_bytes.mutate)
    placed = [places.mutate_sort, *([places.mutate_name, places.mutate_folder] if names else [])]
    if not file.is_file() or file.is_symlink():
        return [places.mutate_sort]
    return [*[own] * 8, *[in_bytes.mutate] * 4, *placed]
