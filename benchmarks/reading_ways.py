"""Every way to read the same photos onto a canvas of 224 px that `reading.py decode` compares, and their table.

A peer that is not installed is left out, and so is a kind of data that this version of the package does not have.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import statistics
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from photos import write_photos

from snellen.data import SCHEMES, Canvas, jpeg, load_data, readers
from snellen.engine.ask.slides import slides

BATCH = 256
SHARDS = 4


class Arrays(torch.utils.data.Dataset):
    """The images of an npz, one by one, as a DataLoader wants them."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as content:
            self.images, self.labels = content["images"], content["labels"]

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.from_numpy(self.images[index].transpose(2, 0, 1)), int(self.labels[index])


def by_snellen(text: str, workers: int, scale: int = 256) -> int:
    data, canvas = load_data(text), Canvas(224, 224, "crop", scale)
    shards = [range(start, min(start + BATCH, len(data))) for start in range(0, len(data), BATCH)]
    return sum(len(slide.images[canvas]) for slide in slides(data, shards, [canvas], workers))


def by_snellen_with_pillow(text: str, workers: int) -> int:
    usual = jpeg.jpeg_decoder
    jpeg.jpeg_decoder = lambda: jpeg.JpegDecoder("pillow", "")  # type: ignore[assignment]
    try:
        return by_snellen(text, workers)
    finally:
        jpeg.jpeg_decoder = usual


def by_snellen_in_processes(text: str, workers: int) -> int:
    """However few photos and workers there are."""
    least, most = readers.LEAST, readers.MOST_THREADS
    readers.LEAST, readers.MOST_THREADS = 0, 0
    try:
        return by_snellen(text, workers)
    finally:
        readers.LEAST, readers.MOST_THREADS = least, most


def steps() -> Any:
    from torchvision.transforms import InterpolationMode, v2

    return v2.Compose([v2.Resize(256, interpolation=InterpolationMode.BICUBIC), v2.CenterCrop(224), v2.PILToTensor()])


def by_torchvision(path: Path, workers: int) -> int:
    from torchvision.datasets import ImageFolder

    return by_loader(ImageFolder(str(path), transform=steps()), workers)


def by_loader(data: Any, workers: int) -> int:
    return sum(len(images) for images, _ in torch.utils.data.DataLoader(data, BATCH, num_workers=workers))


def by_timm(path: Path, workers: int) -> int:
    from timm.data import create_dataset, create_loader

    data = create_dataset("", root=str(path))
    loader = create_loader(
        data, (3, 224, 224), BATCH, use_prefetcher=False, interpolation="bicubic", num_workers=workers, crop_pct=0.875
    )
    return sum(len(images) for images, _ in loader)


def by_webdataset(pattern: str, workers: int) -> int:
    import webdataset

    data = webdataset.WebDataset(pattern, shardshuffle=False, empty_check=False).decode("pil").to_tuple("jpg", "cls")
    loader = webdataset.WebLoader(data.map_tuple(steps(), int).batched(BATCH), batch_size=None, num_workers=workers)
    return sum(len(images) for images, _ in loader)


def by_datasets(folder: Path, workers: int) -> int:
    from datasets import load_from_disk

    prepare = steps()

    def transform(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        return {"image": [prepare(image.convert("RGB")) for image in rows["image"]], "label": rows["label"]}

    loader = torch.utils.data.DataLoader(
        load_from_disk(str(folder)).with_transform(transform), BATCH, num_workers=workers
    )
    return sum(len(rows["image"]) for rows in loader)


def pack(folder: Path, photos: Path) -> None:
    """The same photos in a tar file, in WebDataset's shards, in a zip, as datasets keeps them, and on their canvas in an npz."""
    files = sorted(photos.rglob("*.jpg"))
    with tarfile.open(folder / "photos.tar", "w") as tar:
        tar.add(photos, arcname=".")
    with zipfile.ZipFile(folder / "photos.zip", "w") as archive:
        for file in files:
            archive.write(file, file.relative_to(photos))
    names = sorted({file.parent.name for file in files})
    for shard in range(SHARDS):
        with tarfile.open(folder / f"shard-{shard:03d}.tar", "w") as tar:
            for file in files[shard::SHARDS]:
                add(tar, f"{file.stem}.jpg", file.read_bytes())
                add(tar, f"{file.stem}.cls", str(names.index(file.parent.name)).encode())
    if find_spec("datasets"):
        from datasets import ClassLabel, Dataset, Features, Image

        rows = {
            "image": [{"bytes": file.read_bytes(), "path": None} for file in files],
            "label": [names.index(file.parent.name) for file in files],
        }
        kept = Dataset.from_dict(rows, features=Features({"image": Image(), "label": ClassLabel(names=names)}))
        kept.save_to_disk(str(folder / "hf"))
        kept.to_parquet(str(folder / "photos.parquet"))
    data, canvas = load_data(f"folder:{photos}"), Canvas(224, 224, "crop", 256)
    (slide,) = slides(data, [range(len(data))], [canvas], 2)
    pixels = slide.images[canvas].permute(0, 2, 3, 1).numpy()
    np.savez(folder / "photos.npz", images=pixels, labels=data.samples.labels)


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


class Server(SimpleHTTPRequestHandler):
    """Sends files, in parts, on connections that stay."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        content, part = Path(self.translate_path(self.path)).read_bytes(), self.headers.get("Range", "")
        first, last = part.removeprefix("bytes=").split("-") if part else ("0", str(len(content) - 1))
        some = content[int(first) : int(last) + 1]
        self.send_response(206 if part else 200)
        self.send_header("Content-Length", str(len(some)))
        self.send_header("ETag", '"same"')
        if part:
            self.send_header("Content-Range", f"bytes {first}-{int(first) + len(some) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(some)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a web server on this machine, and a cache of its own for what comes from it."""
    os.environ |= {"SNELLEN_REMOTE_CACHE": str(folder / "cache"), "NO_PROXY": "127.0.0.1"}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def ways_of(folder: Path, photos: Path, address: str, workers: int) -> dict[str, Callable[[], int]]:
    """What is compared: `from, with` → what reads all photos and says how many there were."""
    shards = f"{folder}/shard-{{000..{SHARDS - 1:03d}}}.tar"
    ways: dict[str, Callable[[], int]] = {
        "folder, snellen": lambda: by_snellen(f"folder:{photos}", workers),
        "folder, snellen, JPEG by Pillow": lambda: by_snellen_with_pillow(f"folder:{photos}", workers),
        "folder, snellen, processes": lambda: by_snellen_in_processes(f"folder:{photos}", workers),
        "folder, torchvision": lambda: by_torchvision(photos, workers),
        "folder, timm": lambda: by_timm(photos, workers),
        "tar, snellen": lambda: by_snellen(f"tar:{folder}/photos.tar", workers),
        "tar, timm": lambda: by_timm(folder / "photos.tar", workers),
        "tar at an address, snellen": lambda: by_snellen(f"tar:{address}/photos.tar", workers),
        "npz, snellen": lambda: by_snellen(f"arrays:{folder}/photos.npz", workers, 224),
        "npz, DataLoader": lambda: by_loader(Arrays(folder / "photos.npz"), workers),
    }
    kinds = {
        "wds": ("WebDataset shards", f"wds:{shards}"),
        "zip": ("zip", f"zip:{folder}/photos.zip"),
        "parquet": ("Parquet", f"parquet:{folder}/photos.parquet?image=image&label=label"),
        "hf": ("datasets' folder", f"hf:{folder}/hf?image=image&label=label"),
    }
    for kind in kinds.keys() & SCHEMES.keys():
        name, text = kinds[kind]
        if kind in ("wds", "zip") or find_spec("datasets"):
            ways[f"{name}, snellen"] = partial(by_snellen, text, workers)
    if find_spec("webdataset"):
        ways["WebDataset shards, webdataset"] = lambda: by_webdataset(shards, workers)
    if find_spec("datasets"):
        ways["datasets' folder, datasets"] = lambda: by_datasets(folder / "hf", workers)
    return ways


def processor_seconds() -> float:
    """Of this process and of the workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def decode(folder: Path, count: int, rounds: int, workers: int) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    photos = write_photos(folder / "photos", count)
    pack(folder, photos)
    print(f"{count:,} photos onto 224 px, {workers} workers, {os.cpu_count()} cores, {rounds} rounds")
    print(f"JPEG: {jpeg.jpeg_decoder()}")
    with served(folder) as address:
        ways = ways_of(folder, photos, address, workers)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for turn in range(rounds + 1):
            for name, read in ways.items():
                began, worked = time.perf_counter(), processor_seconds()
                if read() != count:
                    raise SystemExit(f"{name} did not read {count} images")
                if turn:  # the first round fills the system's memory with the files, and the cache
                    times[name].append((time.perf_counter() - began, processor_seconds() - worked))
    print("| from, with | images per second | per second of one core |\n|---|---|---|")
    for name, some in sorted(times.items(), key=lambda item: item[0]):
        clock, processor = (statistics.median(count / one for one in each) for each in zip(*some))
        print(f"| {name} | {clock:,.0f} | {processor:,.0f} |", flush=True)
