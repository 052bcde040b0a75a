"""The same few images in every shape that data come in."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

NAMES = ("cat", "dog", "eel")
Contents = Mapping[str, bytes]  # encoded images by id, `cat/0.png`


def encoded_images(count: int = 12, side: int = 16) -> dict[str, bytes]:
    """PNG and JPEG files of noise on blocks of colour, by their paths `CLASS/NUMBER.ENDING`."""
    random = np.random.default_rng(5)
    images = {}
    for number in range(count):
        pixels = np.kron(random.integers(0, 200, (4, 4, 3)), np.ones((side // 4, side // 4, 1))).astype(np.uint8)
        pixels += random.integers(0, 50, pixels.shape).astype(np.uint8)
        ending = ("png", "jpg")[number % 2]
        stream = io.BytesIO()
        Image.fromarray(pixels).save(stream, "PNG" if ending == "png" else "JPEG")
        images[f"{NAMES[number % 3]}/{number}.{ending}"] = stream.getvalue()
    return dict(sorted(images.items()))


def class_of(name: str) -> str:
    return name.partition("/")[0]


def folder(images: Contents, place: Path) -> str:
    for name, content in images.items():
        (place / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "photos" / name).write_bytes(content)
    return f"folder:{place}/photos"


def zipped(images: Contents, place: Path, method: int = zipfile.ZIP_DEFLATED) -> str:
    with zipfile.ZipFile(place / "photos.zip", "w", method) as archive:
        for name, content in images.items():
            archive.writestr(name, content)
    return f"zip:{place}/photos.zip"


def tarred(images: Contents, place: Path) -> str:
    write_tar(place / "photos.tar", images)
    return f"tar:{place}/photos.tar"


def shards(images: Contents, place: Path, count: int = 3, record: Callable[[str], Any] | None = None) -> str:
    """WebDataset with a JSON of `id` and `label` for each image."""
    record = record or (lambda name: {"id": name, "label": class_of(name)})
    names = list(images)
    for shard in range(count):
        members = {}
        for name in names[shard::count]:
            key, _, ending = name.rpartition(".")
            members |= {f"{key}.{ending}": images[name], f"{key}.json": json.dumps(record(name)).encode()}
        write_tar(place / f"shard-{shard:03d}.tar", members)
    return f"wds:{place}/shard-{{000..{count - 1:03d}}}.tar?id=id"


def write_tar(file: Path, members: Contents) -> Path:
    with tarfile.open(file, "w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file


def parquet(images: Contents, place: Path) -> str:
    """Bytes, labels as texts and ids in three files, of several row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(images)
    size = len(names) // 3
    for part in range(3):
        own = names[part * size : (part + 1) * size]
        table = pa.table({"image": [images[n] for n in own], "label": [class_of(n) for n in own], "name": own})
        pq.write_table(table, place / f"part-{part}.parquet", row_group_size=3)
    return f"parquet:{place}/part-{{0..2}}.parquet?id=name"


def hf_dataset(images: Contents) -> Any:
    """A dataset of Hugging Face's library: images as bytes with their paths, and numbers of named classes."""
    import datasets

    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=list(NAMES)), "name": datasets.Value("string")}
    )
    rows = {
        "image": [{"bytes": content, "path": name} for name, content in images.items()],
        "label": [NAMES.index(class_of(name)) for name in images],
        "name": list(images),
    }
    return datasets.Dataset.from_dict(rows, features=features)


def hf_saved(images: Contents, place: Path) -> str:
    hf_dataset(images).save_to_disk(place / "saved", num_shards=2)
    return f"hf:{place}/saved?id=name"


def arrays(images: Contents, place: Path) -> str:
    """What the decoder made of them, in one npz file."""
    from snellen.data.decode import decode_bytes

    pixels = [decode_bytes(content).image for content in images.values()]  # type: ignore[union-attr]
    labels = np.array([NAMES.index(class_of(name)) for name in images])
    np.savez(
        place / "set.npz", images=np.stack(pixels), labels=labels, classes=np.array(NAMES), ids=np.array(list(images))
    )
    return f"arrays:{place}/set.npz"
