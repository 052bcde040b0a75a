"""Datasets of Hugging Face's hub, through its library: rows whose images are not decoded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.errors import UserError
from snellen.extras import import_package
from snellen.files.plain import GIB, format_size
from snellen.files.rows.arrow_rows import ArrowRows
from snellen.hashing import checksum
from snellen.offline import asking, hub_address, is_offline, offline

NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
MOST_STREAMED = 4 * GIB  # bytes of images, which stay in memory


@dataclass(frozen=True)
class HubRows:
    """The rows of a split, what the library says of their columns, where its files lie, and what was left out."""

    rows: ArrowRows
    features: Mapping[str, Any]
    folder: Path
    notices: tuple[str, ...] = ()


def hub_rows(name: str, options: dict[str, str], text: str) -> HubRows:
    """The rows of a dataset by its name on the hub; `split`, `config`, `revision` and `stream` leave the options."""
    datasets = import_package("datasets", text)
    config, revision, split = (options.pop(option, None) for option in ("config", "revision", "split"))
    stream = _count(options.pop("stream", None), text)
    with _library(datasets, text):
        if split is None:
            split = _only_split(datasets.get_dataset_split_names(name, config, revision=revision), text)
        loaded = datasets.load_dataset(name, config, split=split, revision=revision, streaming=stream is not None)
        if stream is not None:
            return _streamed(datasets, loaded, stream, text)
    return _stored(datasets, loaded)


def local_rows(folder: Path, options: dict[str, str], text: str) -> HubRows:
    """The rows of a folder as the library reads it, whose images are files of their own: only their paths are kept."""
    datasets = import_package("datasets", text)
    config, split = (options.pop(option, None) for option in ("config", "split"))
    with _library(datasets, text, local=True):
        if split is None:
            split = _only_split(datasets.get_dataset_split_names(str(folder), config), text)
        loaded = datasets.load_dataset(str(folder), config, split=split, streaming=True)
        return _streamed(datasets, loaded, None, text)


def _stored(datasets: Any, loaded: Any) -> HubRows:
    """A dataset in the library's cache, mapped."""
    table = loaded.data.table if loaded._indices is None else loaded.flatten_indices().data.table
    files = [Path(file["filename"]) for file in loaded.cache_files]
    return HubRows(ArrowRows(table, [str(loaded._fingerprint)], files), loaded.features.to_dict(), _cache(datasets))


def _streamed(datasets: Any, loaded: Any, most: int | None, text: str) -> HubRows:
    """The first rows, in memory; no more is downloaded than they need."""
    import pyarrow as pa

    loaded = loaded if loaded.features is not None else loaded._resolve_features()
    features = dict(loaded.features.items())
    images = [name for name, feature in features.items() if isinstance(feature, datasets.Image)]
    loaded = loaded.decode(False)  # a stage that casts or removes columns before would decode and encode again
    size, rows, sums = 0, list[dict[str, Any]](), list[str]()
    for row in _first(loaded, most):
        for name in images:
            row[name] = _with_bytes(datasets, row[name])
            content = (row[name] or {}).get("bytes") or b""
            size += len(content)
            sums.append(checksum(content) if content else "")
        if size > MOST_STREAMED:
            raise UserError(
                f"{text}: the first {len(rows):,} rows have over {format_size(MOST_STREAMED)} of images; stream fewer"
            )
        rows.append(row)
    table = pa.Table.from_pylist(rows, schema=loaded.features.arrow_schema)
    notice = (
        f"{text}: only the first {len(rows):,} rows are used, in the order of the dataset; they are no random sample"
    )
    full = most is not None and len(rows) == most
    return HubRows(ArrowRows(table, [sums]), loaded.features.to_dict(), _cache(datasets), (notice,) if full else ())


def _first(loaded: Iterable[dict[str, Any]], most: int | None) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(loaded):
        if number == most:
            return
        yield dict(row)


def _with_bytes(datasets: Any, image: Any) -> Any:
    """An image at an address of the hub, as its bytes."""
    path = image.get("path") if isinstance(image, dict) and image.get("bytes") is None else None
    if not isinstance(path, str) or not path.rpartition("::")[2].startswith("hf://"):
        return image
    with datasets.utils.file_utils.xopen(path, "rb") as file:
        return image | {"bytes": file.read(GIB)}


def _count(text: str | None, where: str) -> int | None:
    if text is not None and not (text.isdecimal() and int(text)):
        raise UserError(
            f"{where}: expected ?stream= as the number of rows to stream, such as ?stream=1000, got '{text}'"
        )
    return None if text is None else int(text)


def _only_split(names: list[str], text: str) -> str:
    if len(names) != 1:
        raise UserError(f"{text} has the splits {', '.join(names)}; name one with ?split=")
    return names[0]


def _cache(datasets: Any) -> Path:
    return Path(datasets.config.HF_CACHE_HOME)


@contextmanager
def _library(datasets: Any, text: str, local: bool = False) -> Iterator[None]:
    """Whatever the library raises as one line; offline, it uses what is here already."""
    bars = datasets.utils.is_progress_bar_enabled() if hasattr(datasets.utils, "is_progress_bar_enabled") else True
    datasets.disable_progress_bars()
    before = datasets.config.HF_HUB_OFFLINE
    try:
        with nullcontext("") if local else asking(hub_address()) as advice, offline(local or is_offline()):
            datasets.config.HF_HUB_OFFLINE = is_offline() or before
            try:
                yield
            except (UserError, MemoryError):
                raise
            except Exception as error:
                raise UserError(_reason(datasets, error, advice, text, local)) from error
    finally:
        datasets.config.HF_HUB_OFFLINE = before
        if bars:
            datasets.enable_progress_bars()


def _reason(datasets: Any, error: Exception, advice: str, text: str, local: bool) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    if not local and (is_offline() or isinstance(error, ConnectionError | TimeoutError)):
        return f"{text} is not here and could not be downloaded: {advice}"
    return f"{text} cannot be loaded by Hugging Face's library: {words[:300]}"
