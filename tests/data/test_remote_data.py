"""Data at addresses: every kind that reads files gives there what it gives on this machine, and a run of them is the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import fsspec
import numpy as np
import pandas as pd
import pytest
import scipy.io
from PIL import Image
from safetensors.torch import save_file

import snellen
from snellen.build.in9 import build as build_in9
from snellen.data import Photo, load_data
from snellen.data.phantom import export
from snellen.errors import UserError
from snellen.files.remote import facts, object_store
from snellen.models import from_callable, load_model
from snellen.models.zoo import build

from ..gates import wait_until
from ..hostile import corpus
from ..served import Handler, Served, ask_quickly, served
from .shapes import encoded_images, hf_saved, parquet, shards, zipped
from .test_small_images import write_cifar, write_idx

pytest.importorskip("aiohttp")
WORLD = "phantom:test?size=32&n=24"


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_quickly(tmp_path / "cache", monkeypatch)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same phantoms in every layout that a path names."""
    top = tmp_path_factory.mktemp("sets")
    for format in ("folder", "voc", "coco"):
        export(WORLD, format, top / format)
    export("phantom:test?size=32&n=4&frames=3", "ovis", top / "ovis")
    data = load_data(f"folder:{top}/folder")
    photos = [photo for photo in data.read(range(len(data))) if isinstance(photo, Photo)]
    names = [data.classes[label] for label in data.samples.labels]
    images = np.stack([photo.image for photo in photos])
    np.savez(top / "set.npz", images=images, labels=data.samples.labels, classes=np.array(data.classes))
    np.savez_compressed(top / "packed.npz", images=images, labels=data.samples.labels)
    rows = [
        f"folder/{sample},{name},{number % 3}" for number, (sample, name) in enumerate(zip(data.samples.ids, names))
    ]
    (top / "list.csv").write_text("\n".join(["path,label,part", *rows]))
    pd.read_csv(top / "list.csv").to_parquet(top / "list.parquet")
    boxes = [f"folder/{sample},{name},1,2,9,9" for sample, name in zip(data.samples.ids, names)]
    (top / "boxes.csv").write_text("\n".join(["path,label,x0,y0,x1,y1", *boxes]))
    (top / "classes.txt").write_text("\n".join(data.classes[:3]))
    (top / "ids.txt").write_text("\n".join(data.samples.ids[:7]))
    (top / "maps" / "images").mkdir(parents=True)
    (top / "maps" / "labels").mkdir()
    for number, image in enumerate(images[:5]):
        Image.fromarray(image).save(top / "maps" / "images" / f"{number}.png")
        Image.fromarray((image[..., 0] > 99).astype(np.uint8)).save(top / "maps" / "labels" / f"{number}.png")
    (top / "stl").mkdir()
    random = np.random.default_rng(0)
    (top / "stl" / "test_X.bin").write_bytes(random.bytes(3 * 3 * 96 * 96))
    (top / "stl" / "test_y.bin").write_bytes(bytes([1, 2, 10]))
    digits = {"X": images[:6].transpose(1, 2, 3, 0), "y": np.arange(1, 7)[:, None]}
    scipy.io.savemat(top / "plain.mat", digits)
    scipy.io.savemat(top / "packed.mat", digits, do_compression=True)
    with tarfile.open(top / "set.tar", "w") as tar:
        tar.add(top / "folder", arcname=".")
    encoded = encoded_images()
    for shape in (zipped, shards, parquet):
        (top / shape.__name__).mkdir()
        shape(encoded, top / shape.__name__)
    build_in9(f"voc:{top}/voc?masks=true", top / "in9", "all", size=16, masks="data", workers=1, balance=False)
    corpus.annotated(top)
    for number, image in enumerate(images[:4]):
        shape, texture = ("cat", "dog")[number % 2], ("dog", "cat")[number // 2]
        (top / "cue" / shape).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(top / "cue" / shape / f"{shape}{number}-{texture}1.png")
    for place in ("library", "library/files/data"):
        (top / place).mkdir(parents=True)
    hf_saved(encoded, top / "library")
    (top / "library" / "files" / "data" / "test-00000-of-00001.parquet").write_bytes(
        (top / "parquet" / "part-0.parquet").read_bytes()
    )
    (top / "small").mkdir()
    write_cifar(top / "small", "test_batch.bin", random.integers(0, 256, (4, 32, 32, 3), np.uint8), np.arange(4))
    write_idx(top / "small" / "t10k-images-idx3-ubyte", random.integers(0, 256, (4, 28, 28), np.uint8))
    write_idx(top / "small" / "t10k-labels-idx1-ubyte", np.arange(4, dtype=np.uint8))
    return top


@pytest.fixture
def bucket(sets: Path) -> Iterator[fsspec.AbstractFileSystem]:
    store = fsspec.filesystem("memory")
    files = [file for file in sets.rglob("*") if file.is_file()]
    store.pipe({f"/bucket/{file.relative_to(sets).as_posix()}": file.read_bytes() for file in files})
    yield store
    store.rm("/bucket", recursive=True)


@pytest.fixture
def server(sets: Path) -> Iterator[Served]:
    with served(sets) as one:
        yield one


KINDS = {
    "folder": "folder:{}/folder",
    "tar": "tar:{}/set.tar",
    "manifest": "manifest:{}/list.csv",
    "manifest, some": "manifest:{}/list.csv?part=1",
    "manifest, Parquet": "manifest:{}/list.parquet",
    "manifest, its root": "manifest:{0}/list.csv?root={0}",
    "arrays": "arrays:{}/set.npz",
    "arrays, packed": "arrays:{}/packed.npz",
    "boxes": "boxes:{}/boxes.csv",
    "voc": "voc:{}/voc?masks=true",
    "coco": "coco:{0}/coco/annotations/instances_test.json?images={0}/coco/test",
    "ovis": "ovis:{0}/ovis/annotations_test.json?frames={0}/ovis/test",
    "svhn": "svhn:{}/plain.mat",
    "svhn, packed": "svhn:{}/packed.mat",
    "pairs": "pairs:{0}/maps/images,{0}/maps/labels",
    "stl": "stl:{}/stl",
    "chosen ids": "folder:{0}/folder?ids={0}/ids.txt&classes={0}/classes.txt",
    "stl, labels": "stl:{0}/stl/test_X.bin?labels={0}/stl/test_y.bin",
    "zip": "zip:{}/zipped/photos.zip",
    "wds": "wds:{}/shards/shard-{{000..002}}.tar",
    "wds, all": "wds:{}/shards/shard-*.tar",
    "parquet": "parquet:{}/parquet/part-{{0..2}}.parquet?id=name",
    "cifar": "cifar:{}/small/test_batch.bin",
    "mnist": "mnist:{}/small?split=test",
    "hf, saved": "hf:{}/library/saved?id=name",
    "hf, files": "hf:{}/library/files?split=test&label=label&id=name",
    "cue": "cue:{}/cue",
    "panoptic": "panoptic:{0}/panoptic/things.json?images={0}/panoptic/images&segments={0}/panoptic/things",
    "openimages": "openimages:{0}/openimages/boxes.csv?images={0}/openimages&names={0}/openimages/class-descriptions-boxable.csv",
    "in9": "in9:{}/in9/mixed_rand",
    "in9, its masks": "in9:{}/in9/original",
    "a variant alone": "{}/in9/only_fg",
    "a saved folder alone": "{}/library/saved",
    "a path alone": "{}/set.tar",
    "a folder alone": "{}/folder",
}
LISTED = (
    "wds, all",
    "mnist",
    "folder",
    "voc",
    "pairs",
    "stl",
    "chosen ids",
    "a folder alone",
    "hf, files",
    "cue",
    "in9",
    "in9, its masks",
    "a variant alone",
    "a saved folder alone",
)  # which a web server cannot list
ON_THE_WEB = [kind for kind in KINDS if kind not in LISTED]


def content(data) -> tuple:
    photos = data.read(range(len(data)))
    assert all(isinstance(photo, Photo) for photo in photos), photos
    return (
        [str(one) for one in data.samples.ids],
        data.classes,
        data.samples.labels.tolist(),
        {name: list(map(str, values)) for name, values in data.samples.columns.items()},
        [(photo.checksum, photo.image.tobytes(), photo.size) for photo in photos],
        [{name: values.tobytes() for name, values in photo.maps.items()} for photo in photos],
        [None if photo.boxes is None else photo.boxes.tolist() for photo in photos],
    )


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_store_gives_what_the_files_give(kind, sets, bucket):
    here, there = load_data(KINDS[kind].format(sets)), load_data(KINDS[kind].format("memory://bucket"))
    assert content(there) == content(here)
    assert there.fingerprint == load_data(KINDS[kind].format("memory://bucket")).fingerprint


@pytest.mark.parametrize("kind", ON_THE_WEB)
def test_a_web_server_gives_what_the_files_give(kind, sets, server):
    here, there = load_data(KINDS[kind].format(sets)), load_data(KINDS[kind].format(server.address))
    assert content(there) == content(here)


@pytest.mark.parametrize("name", ["folder/{}", "list.csv", "set.tar", "set.npz"])
def test_what_changes_between_two_commands_is_other_data(name, sets, bucket):
    sample = load_data(f"folder:{sets}/folder").samples.ids[0]
    text = {"list.csv": "manifest:memory://bucket/list.csv", "set.tar": "tar:memory://bucket/set.tar"}.get(
        name, "folder:memory://bucket/folder" if "{}" in name else "arrays:memory://bucket/set.npz"
    )
    before = load_data(text).fingerprint
    key = f"/bucket/{name.format(sample)}"
    changed = bytearray(bucket.cat_file(key))
    if name == "list.csv":
        changed[changed.rindex(b",") + 1] = ord("7")
    elif name == "set.npz":
        changed = bytearray((sets / "packed.npz").read_bytes())
    bucket.pipe(key, bytes(changed))
    assert load_data(text).fingerprint != before


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("in9:memory://bucket/in9/original", "/in9/fg_mask/"),
        ("in9:memory://bucket/in9/mixed_rand", "/in9/mixed_rand/"),
        ("in9:memory://bucket/in9/original", "/in9/provenance.csv"),
        ("hf:memory://bucket/library/saved?id=name", "/library/saved/data-"),
    ],
)
def test_a_set_or_saved_folder_that_changes_is_other_data(text, part, bucket):
    before = load_data(text).fingerprint
    key = next(key for key in bucket.find("/bucket") if part in key)
    content = bucket.cat_file(key)
    bucket.pipe(key, content.replace(b",0.", b",0.0") if key.endswith(".csv") else content)  # written again
    assert load_data(text).fingerprint != before


@pytest.mark.parametrize(
    "path", ["../secret.png", "/etc/passwd", "file:///etc/passwd", "s3://other/x.png", "memory://bucket2/x.png"]
)
def test_a_table_at_an_address_names_no_file_elsewhere(path, bucket):
    bucket.pipe("/bucket/wrong.csv", f"path,label\n{path},cat\n".encode())
    with pytest.raises(UserError, match=r"wrong.csv line 2: path '.*' leaves memory://bucket; add \?root=DIR"):
        load_data("manifest:memory://bucket/wrong.csv")


def test_a_table_may_write_addresses_out(sets, bucket):
    sample = load_data(f"folder:{sets}/folder").samples.ids[0]
    bucket.pipe("/bucket/whole.csv", f"path,label\nmemory://bucket/folder/{sample},cat\n".encode())
    assert isinstance(load_data("manifest:memory://bucket/whole.csv").read([0])[0], Photo)


def test_a_table_on_this_machine_names_images_elsewhere(sets, bucket):
    """`?root=` names the address."""
    data = load_data(f"manifest:{sets}/list.csv?root=memory://bucket")
    assert content(data) == content(load_data(f"manifest:{sets}/list.csv"))


def test_an_image_that_is_missing_is_told_as_of_a_folder(server):
    rows = "path,label\nfolder/none.png,cat\n"
    (server.folder / "missing.csv").write_text(rows)
    (photo,) = load_data(f"manifest:{server.address}/missing.csv").read([0])
    assert photo.reason == "cannot be read: there is no such file"


def test_what_is_not_read_from_addresses_is_told_in_a_line(bucket):
    for text in (
        "in9:memory://bucket/folder",
        "hf:memory://bucket/folder",
        "svhn:memory://bucket/none.mat",
        "python:memory://bucket/a.py:name",
    ):
        with pytest.raises(UserError) as caught:
            load_data(text)
        assert "\n" not in str(caught.value)


def colour(images: np.ndarray) -> np.ndarray:
    """An answer that depends on every pixel."""
    means = images.reshape(len(images), -1, 3).mean(1)[:, :, None] / 255
    classes = np.linspace(0, 1, 12)[None, None, :]
    weights = np.exp(-((means - classes) ** 2)).prod(1)
    return weights / weights.sum(1, keepdims=True)


def ask(text: str, out: Path, **settings):
    classes = load_data(WORLD).classes
    model = from_callable(colour, classes=classes, size=32, name="colour", version="1")
    return snellen.audit(
        model,
        text,
        "occlusion(areas=[0.3], fills=[black])",
        out=out,
        quiet=True,
        report=False,
        shard=4,
        batch_size=4,
        **settings,
    )


def same_table(one, two) -> None:
    tables = [run.predictions() for run in (one, two)]
    names = ["sample", "label", "pred", "score", "confidence", "label_prob", "distortion"]
    kept = [
        table[[name for name in names if name in table]].sort_values(["distortion", "sample"]).reset_index(drop=True)
        for table in tables
    ]
    assert len(kept[0]) == 72
    pd.testing.assert_frame_equal(kept[0], kept[1], check_exact=True)


def test_a_run_of_a_folder_and_of_an_address_have_the_same_table(sets, bucket, server, tmp_path):
    here = ask(f"folder:{sets}/folder", tmp_path / "here")
    there = ask("folder:memory://bucket/folder", tmp_path / "there")
    same_table(here, there)
    shard = ask(f"tar:{server.address}/set.tar", tmp_path / "shard")
    same_table(here, shard)
    facts = json.loads((tmp_path / "shard" / "run.json").read_text())
    assert facts["data"]["test"]["text"] == f"tar:{server.address}/set.tar"
    note = facts["remote"][f"{server.address}/set.tar"]
    assert note["size"] == (sets / "set.tar").stat().st_size
    assert len(note["sha256"]) == 64
    assert facts["jpeg"]["name"] in ("simplejpeg", "pillow")


def test_a_folder_of_a_run_whose_address_has_changed_is_refused(sets, bucket, tmp_path):
    ask("folder:memory://bucket/folder", tmp_path / "run")
    key = bucket.find("/bucket/folder")[0]
    bucket.pipe(key, bucket.cat_file(key))  # written again
    with pytest.raises(UserError, match="was made with other files in folder:memory://bucket/folder"):
        ask("folder:memory://bucket/folder", tmp_path / "run")


def test_offline_refuses_an_address_before_it_is_asked(bucket, server, tmp_path, monkeypatch):
    monkeypatch.setattr(object_store, "_store", None)
    for text in ("folder:memory://bucket/folder", f"tar:{server.address}/set.tar"):
        with pytest.raises(UserError, match="is not read while offline; run once without offline=True"):
            ask(text, tmp_path / "run", offline=True)
    assert server.requests == []


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept on disk: every look at a file is a request."""
    monkeypatch.setenv("SNELLEN_REMOTE_CACHE_SIZE", "0")


def requests_of(text: str, out: Path, server: Served) -> tuple[snellen.Run, int]:
    """An undisturbed run, and how many parts of files it asks for."""
    run = ask(text, out)
    count = server.count("GET")
    server.requests.clear()
    return run, count


@pytest.mark.parametrize("kind", ["tar", "manifest"])
def test_an_address_that_stops_answering_stops_the_run_which_resumes(kind, server, bare, tmp_path):
    """No image is listed as unreadable."""
    text = KINDS[kind].format(server.address)
    whole, count = requests_of(text, tmp_path / "whole", server)
    server.odd = lambda h: not h.looks and server.count("GET") >= count and (h.reply(503, b"") or True)
    with pytest.raises(UserError, match=r"'http://.*' does not answer \(503 service unavailable; asked 4 times"):
        ask(text, tmp_path / "run")
    server.odd = lambda handler: False
    same_table(ask(text, tmp_path / "run"), whole)


AUDIT = """
import sys
from pathlib import Path
from tests.data.test_remote_data import ask
ask(sys.argv[1], Path(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tar", "manifest"])
def test_a_run_killed_while_it_reads_an_address_resumes_with_the_same_table(kind, server, bare, tmp_path):
    """The server holds the last answer back until some shards are written and the process is dead."""
    text, out = KINDS[kind].format(server.address), tmp_path / "run"
    whole, count = requests_of(text, tmp_path / "whole", server)
    dead = Event()

    def holds(handler: Handler) -> bool:
        if handler.looks or server.count("GET") < count:
            return False
        dead.wait()
        handler.close_connection = True
        return True

    server.odd = holds
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", AUDIT, text, str(out)], env=environment, cwd=root) as process:

        def held() -> bool:
            return server.count("GET") >= count and any((out / "answers").glob("*/*.parquet"))

        wait_until(lambda: held() or process.poll() is not None, "the request that is held back, and a shard")
        process.kill()
    assert process.returncode == -9
    assert not (out / "findings.json").exists()
    server.odd = lambda handler: False
    dead.set()
    server.requests.clear()
    same_table(ask(text, out), whole)
    assert 0 < server.count("GET") < count


def test_weights_at_an_address_are_the_same_network(sets, bucket, tmp_path):
    """The key of its answers is that of the file on this machine."""
    classes = len(load_data(WORLD).classes)
    save_file(build("smallnet", classes).state_dict(), tmp_path / "net.safetensors")
    bucket.pipe("/bucket/net.safetensors", (tmp_path / "net.safetensors").read_bytes())
    here, there = (
        load_model(f"zoo:smallnet@{place}/net.safetensors#size=32&mean=0.5&std=0.5")
        for place in (tmp_path, "memory://bucket")
    )
    assert here.card.fingerprint == there.card.fingerprint


@pytest.mark.parametrize("kind", ["in9, its masks", "hf, files", "folder", "voc"])
def test_what_is_listed_is_not_asked_about_file_by_file(kind, bucket, monkeypatch):
    asked = []
    monkeypatch.setattr(facts, "object_facts", lambda path: asked.append(str(path)) or object_store.object_facts(path))
    assert len(load_data(KINDS[kind].format("memory://bucket"))) >= 4
    assert len(asked) <= 3, asked
