"""`wds:shards-{000..099}.tar`: WebDataset, several tar files whose members `KEY.jpg`, `KEY.cls`, `KEY.json` are one sample.

A key is what stands before the first dot of a name, and the sample's id. The label is in `cls`, in `json` under `label`, or in
`txt`; `?label=` names another field, or key of the JSON. `?image=` and `?mask=` name a field (`?object=1`: the values of
the object in masks), `?id=` a key of the JSON, and `?names=` a file with the class names, one per line. Scalars in all JSON
become columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snellen.data.archive import is_hidden, name_in
from snellen.data.columns import record_columns
from snellen.data.dataset import Dataset, Samples
from snellen.data.encoded import EncodedImages, encoded_dataset, labels_of
from snellen.data.folder import EXTENSIONS
from snellen.data.names import different, read_names, storable
from snellen.data.pixel_files import mask_values
from snellen.errors import UserError
from snellen.files import MIB, decode_json
from snellen.files.braces import files_of
from snellen.files.places import is_folder
from snellen.files.plain import NotRead
from snellen.files.tar_file import Member, list_tar, read_members
from snellen.files.tree import files_below, size_and_time
from snellen.hashing import checksum

IMAGES = {ending[1:] for ending in EXTENSIONS}
LARGEST_LABEL = 16 * MIB  # bytes of a cls, txt or json member


@dataclass
class WdsShard:
    """A tar file with its samples, as it was when it was listed."""

    path: Path
    state: tuple[int, int]
    digest: str


@dataclass
class WdsSample:
    """A key with its members by field, and the shard that they lie in."""

    key: str
    shard: WdsShard
    fields: dict[str, Member] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """To begin an error with."""
        return f"{self.shard.path}: sample '{self.key[:200]}'"

    def member(self, name: str) -> Member:
        if name not in self.fields:
            raise UserError(f"{self.place} has no field '{name}'; it has: {', '.join(self.fields)}")
        return self.fields[name]


def load_wds(path: str, options: Mapping[str, str]) -> Dataset:
    """The samples of all shards, in their order."""
    conditions = dict(options)
    shards = [_shard(file) for file in _shard_files(path)]
    samples = [sample for shard in shards for sample in _samples(shard)]
    if not samples:
        raise UserError(f"wds:{path} holds no samples; expected members such as 0001.jpg and 0001.cls")
    image, mask, names, own_id = (conditions.pop(name, None) for name in ("image", "mask", "names", "id"))
    if own_id is None:
        _refuse_repeated(samples)
    values = mask_values(conditions.pop("object"), "object") if mask and "object" in conditions else ()
    pictures = [_image(sample, image) for sample in samples]
    masks = None if mask is None else [sample.member(mask) for sample in samples]
    records = _records(samples) if "json" in samples[0].fields else []
    written = _labels(samples, records, conditions.pop("label", None))
    labels, classes = labels_of(written, None if names is None else read_names(names), lambda row: samples[row].place)
    ids = _ids(samples, records, own_id, f"wds:{path}")
    marks = [[shard.digest, *shard.state] for shard in shards]
    images = EncodedImages(
        Samples(ids, labels, record_columns(records, {"id", "label", "mask"}) if records else {}),
        classes,
        lambda positions: _contents(samples, pictures, positions),
        ["wds", marks, [member.start for member in [*pictures, *(masks or [])]]],
        None if masks is None else lambda positions: _contents(samples, masks, positions),
        values,
    )
    return encoded_dataset(f"wds:{path}", images, conditions)


def _shard_files(path: str) -> list[Path]:
    """The tar files that a text or a folder names."""
    files = files_of(path, "tar file")
    if len(files) == 1 and is_folder(files[0]):
        files = files_below(files[0], {".tar"})
        if not files:
            raise UserError(
                f"folder '{path}' holds no tar files; name the shards, as wds:{path}/shards-{{000..099}}.tar"
            )
    return files


def _shard(path: Path) -> WdsShard:
    return WdsShard(path, size_and_time(path), "")


def _samples(shard: WdsShard) -> list[WdsSample]:
    """The samples of a shard, in its order; what is hidden, or has no ending, is left out."""
    samples: dict[str, WdsSample] = {}
    last = ""
    members = list_tar(shard.path, ended=True)
    for member in members:
        name = name_in(member)
        base, dot, ending = name.name.partition(".")
        if not dot or is_hidden(name):
            continue
        key = storable((name.parent / base).as_posix())
        if key in samples and (key != last or ending.lower() in samples[key].fields):
            raise UserError(f"{shard.path} holds the sample '{key[:200]}' twice; give each its own key")
        last = key
        samples.setdefault(key, WdsSample(key, shard)).fields[ending.lower()] = member
    shard.digest = checksum(repr([(member.name, member.start, member.size) for member in members]).encode())
    return list(samples.values())


def _refuse_repeated(samples: Sequence[WdsSample]) -> None:
    first: dict[str, WdsSample] = {}
    for sample in samples:
        other = first.setdefault(sample.key, sample)
        if other is not sample:
            raise UserError(
                f"{sample.place} stands in {other.shard.path} too; give each its own key, or name a key of their JSON, ?id=id"
            )


def _image(sample: WdsSample, name: str | None) -> Member:
    """The image of a sample: of the field named, or of its only image field."""
    if name is not None:
        return sample.member(name)
    fields = [ending for ending in sample.fields if ending in IMAGES]
    if len(fields) != 1:
        why = f"several images, {', '.join(fields)}" if fields else f"no image; it has: {', '.join(sample.fields)}"
        raise UserError(f"{sample.place} has {why}; name the field with ?image=")
    return sample.fields[fields[0]]


def _records(samples: Sequence[WdsSample]) -> list[dict[str, Any]]:
    """The JSON of each sample."""
    contents = _small(samples, [sample.member("json") for sample in samples])
    return [decode_json(content, dict[str, Any], sample.place) for sample, content in zip(samples, contents)]


def _labels(samples: Sequence[WdsSample], records: Sequence[Mapping[str, Any]], name: str | None) -> list[Any]:
    """The label of each sample, as it is written."""
    fields = samples[0].fields
    name = _label_name(fields, records) if name is None else name
    if name in fields and name != "json":
        contents = _small(samples, [sample.member(name) for sample in samples])
        return [_text(content, sample) for sample, content in zip(samples, contents)]
    for sample, record in zip(samples, records):
        if name not in record:
            known = ", ".join(list(record)[:20])
            raise UserError(f"{sample.place}: its JSON has no '{name}'; it has: {known}; name one with ?label=")
    if records:
        return [record[name] for record in records]
    raise UserError(f"{samples[0].place} has no label '{name}'; it has: {', '.join(fields)}; name one with ?label=")


def _label_name(fields: Mapping[str, Member], records: Sequence[Mapping[str, Any]]) -> str:
    """Where the label is, if that is not said."""
    if "cls" in fields:
        return "cls"
    if records and "label" in records[0]:
        return "label"
    return "txt" if "txt" in fields else "label" if records else "cls"


def _ids(
    samples: Sequence[WdsSample], records: Sequence[Mapping[str, Any]], name: str | None, text: str
) -> tuple[str, ...]:
    if name is None:
        return tuple(sample.key for sample in samples)
    for sample, record in zip(samples, records or [{}] * len(samples)):
        if not isinstance(record.get(name), str | int):
            raise UserError(f"{sample.place} has no '{name}' in its JSON that could be its id")
    return different([str(record[name]) for record in records], text)


def _text(content: bytes, sample: WdsSample) -> str:
    try:
        return content.decode().strip()
    except UnicodeDecodeError:
        raise UserError(f"{sample.place}: its label is not UTF-8 text") from None


def _small(samples: Sequence[WdsSample], members: Sequence[Member]) -> Iterator[bytes]:
    """The contents of labels, which are short; one that cannot be read is refused."""
    for sample, content in zip(samples, _contents(samples, members, range(len(samples)), LARGEST_LABEL)):
        if isinstance(content, NotRead):
            raise UserError(f"{sample.place}: its label cannot be read: {content.reason}")
        yield content


def _contents(
    samples: Sequence[WdsSample], members: Sequence[Member], positions: Sequence[int], *most: int
) -> list[bytes | NotRead]:
    """The contents of a member of each of some samples; of a shard that has changed since it was listed, why not."""
    contents: dict[int, bytes | NotRead] = {}
    by_shard = defaultdict(list)
    for position in positions:
        by_shard[id(samples[position].shard)].append(position)
    for own in by_shard.values():
        shard = samples[own[0]].shard
        if size_and_time(shard.path) != shard.state:
            reason = f"its shard {shard.path.name} has changed since it was listed"
            contents |= dict.fromkeys(own, NotRead(reason, reason))
            continue
        try:
            contents |= zip(own, read_members(shard.path, [members[position] for position in own], *most))
        except NotRead as error:
            contents |= dict.fromkeys(own, NotRead(str(error), f"its shard {shard.path.name}: {error.reason}"))
    return [contents[position] for position in positions]
