"""`hf:owner/name?split=test` or `hf:FOLDER`: datasets of Hugging Face's hub and folders in its layouts.

Folders are read without its library: what `save_to_disk` wrote (Arrow files, mapped), Parquet files as the hub has them, and
Arrow files of its cache. Other folders, and names of the hub, go through the library (`pip install 'snellen[datasets]'`), which
runs no code of a dataset; `?config=`, `?revision=` and `?stream=1000` (the first rows, without downloading the rest) are for
them. Images are decoded by snellen, whatever they come from. Options that name columns: `image_table`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from snellen.data.dataset import Dataset
from snellen.data.features import features_of
from snellen.data.folder import SPLITS
from snellen.data.hub import NAME, HubRows, hub_rows, local_rows
from snellen.data.image_table import table_dataset
from snellen.errors import UserError
from snellen.files import expand_home, read_json
from snellen.files.places import exists, is_folder, list_below, may_be_folder
from snellen.files.remote.remote_path import RemotePath
from snellen.files.rows.arrow_rows import map_arrow
from snellen.files.rows.parquet_rows import ParquetRows
from snellen.files.tree import files_below

SAVED, INFO, SEVERAL = "state.json", "dataset_info.json", "dataset_dict.json"
_SHARD = re.compile(r"(?:(?P<name>.+)-)?(?P<split>[^-]+?)-\d{5}-of-\d{5}(-[0-9a-f]+)?")


def load_hf(path: str, options: Mapping[str, str]) -> Dataset:
    """The rows of one split."""
    place, text, conditions = expand_home(path), f"hf:{path}", dict(options)
    if may_be_folder(place):
        return _folder(place, text, conditions)
    if exists(place):
        raise UserError(f"'{path}' is a file; give the folder of a dataset, or parquet:{path}")
    if isinstance(place, RemotePath):
        raise UserError(f"no folder '{path}'; give the folder that save_to_disk wrote, or one of Parquet files")
    if not NAME.fullmatch(path):
        raise UserError(f"no folder '{path}', and no name of the hub; write it as hf:owner/name?split=test")
    return _of_library(hub_rows(path, conditions, text), text, conditions)


def _folder(place: Path, text: str, conditions: dict[str, str]) -> Dataset:
    """A folder by what lies in it; behind https:// what save_to_disk wrote alone, which names its files."""
    if is_folder(place):
        list_below(place)
    if exists(place / SEVERAL):
        place /= _chosen(_listed(place / SEVERAL, "splits"), conditions, text)
    if exists(place / SAVED):
        return _saved(place, text, conditions)
    for ending in (".parquet", ".arrow"):
        if files := files_below(place, {ending}):
            return _files(place, files, text, conditions)
    if isinstance(place, RemotePath):
        raise UserError(
            f"{text} holds no Parquet and no Arrow files, so Hugging Face's library would read it, on this machine alone; copy "
            "it, or name it as folder: or manifest:"
        )
    return _of_library(local_rows(place, conditions, text), text, conditions, place)


def _saved(place: Path, text: str, conditions: dict[str, str]) -> Dataset:
    """What `save_to_disk` wrote."""
    state: dict[str, Any] = read_json(place / SAVED, dict[str, Any])
    if state.get("_indices_data_files"):
        raise UserError(f"{text} was saved with indices by an old version of the library; save it again")
    files = state.get("_data_files")
    if not isinstance(files, list) or not all(
        isinstance(f, dict) and isinstance(f.get("filename"), str) for f in files
    ):
        raise UserError(f"{place / SAVED}: expected '_data_files' as a list of file names; save the dataset again")
    names = [entry["filename"] for entry in files]
    if wrong := [name for name in names if os.path.basename(name) != name or not name]:
        raise UserError(
            f"{place / SAVED} names '{wrong[0][:200]}', which is no file in that folder; save the dataset again"
        )
    if not names:
        raise UserError(f"{text} has no rows; name another split or folder")
    conditions.pop("split", None)
    info = read_json(place / INFO, dict[str, Any]).get("features") if exists(place / INFO) else None
    rows = map_arrow([place / name for name in names])
    return table_dataset(text, rows, features_of(rows.schema, str(place / INFO), info), place, conditions)


def _files(place: Path, files: Sequence[Path], text: str, conditions: dict[str, str]) -> Dataset:
    """Parquet or Arrow files in splits, which their names or folders say, as the hub names them."""
    configs = defaultdict(list)
    for file in files:
        configs[file.parent.relative_to(place).as_posix()].append(file)
    by_split: dict[str, list[Path]] = defaultdict(list)
    config = conditions.pop("config", None)
    for folder, own in configs.items():
        if config is None or config in Path(folder).parts:
            for file in own:
                by_split[_split_of(file.relative_to(place))].append(file)
    if not by_split:
        raise UserError(f"{text} has no folder '{config}' with such files; it has: {', '.join(configs)}")
    chosen = by_split[_chosen(list(by_split), conditions, text)]
    if len({file.parent for file in chosen}) > 1 and config is None:
        raise UserError(f"{text} has this split in several folders, {', '.join(configs)}; name one with ?config=")
    rows = ParquetRows(chosen) if chosen[0].suffix == ".parquet" else map_arrow(chosen)
    return table_dataset(text, rows, features_of(rows.schema, str(chosen[0])), place, conditions)


def _split_of(file: Path) -> str:
    """`test` of `data/test-00000-of-00002.parquet`, `test.parquet`, `name-test.arrow` or `test/0000.parquet`."""
    if match := _SHARD.fullmatch(file.stem):
        return match["split"]
    for name in (file.stem, file.stem.rpartition("-")[2], *reversed(file.parts[:-1])):
        if name.lower() in SPLITS:
            return name
    return "train"  # as the library has it


def _chosen(splits: Sequence[str], conditions: dict[str, str], text: str) -> str:
    """The split that the options name, or the only one."""
    split = conditions.pop("split", None)
    if split is None and len(splits) == 1:
        return splits[0]
    if split not in splits:
        what = "several splits" if split is None else f"no split '{split}'"
        raise UserError(f"{text} has {what}; name one with ?split=: {', '.join(splits)}")
    return str(split)


def _listed(file: Path, key: str) -> list[str]:
    """The texts in a list of a JSON file: names of folders beside it."""
    content: dict[str, list[str]] = read_json(file, dict[str, list[str]])
    names = content.get(key, [])
    if not names or any(os.path.basename(name) != name or name in ("", ".", "..") for name in names):
        raise UserError(f"{file}: expected '{key}' as the names of folders; save the dataset again")
    return names


def _of_library(loaded: HubRows, text: str, conditions: Mapping[str, str], folder: Path | None = None) -> Dataset:
    features = features_of(loaded.rows.schema, text, loaded.features)
    data = table_dataset(text, loaded.rows, features, folder or loaded.folder, conditions)
    return replace(data, notices=(*data.notices, *loaded.notices))
