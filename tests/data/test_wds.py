"""`wds:`: several tar files of WebDataset, compared with its own library, and what is wrong with shards."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import webdataset

import snellen
from snellen.data import Photo, Unreadable, load_data
from snellen.errors import UserError
from snellen.files.tar_file import list_tar
from snellen.models import from_callable

from .shapes import class_of, encoded_images, shards, write_tar

IMAGES = encoded_images()


def plain(place: Path, **fields: bytes) -> Path:
    """A shard of one sample `a` with a PNG image and these fields."""
    return write_tar(place / "one.tar", {"a.png": IMAGES["cat/0.png"], **{f"a.{n}": c for n, c in fields.items()}})


def test_keys_labels_and_images_are_those_of_webdataset(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for shard in range(3):
        members = {}
        for number in range(4):
            key, name = f"some.folder/{shard}{number:03d}", list(IMAGES)[4 * shard + number]
            members |= {f"{key}.{name[-3:].upper()}": IMAGES[name], f"{key}.cls": str(random.integers(12)).encode()}
        write_tar(tmp_path / f"s-{shard:02d}.tar", members)
    text = f"{tmp_path}/s-{{00..02}}.tar"
    theirs = list(webdataset.WebDataset(text, shardshuffle=False))
    data = load_data(f"wds:{text}")
    assert data.samples.ids == tuple(sample["__key__"] for sample in theirs)
    assert [data.classes[label] for label in data.samples.labels] == [sample["cls"].decode() for sample in theirs]
    photos, images = data.read(range(12)), [sample.get("png") or sample["jpg"] for sample in theirs]
    whole = load_data(f"tar:{tmp_path}/s-01.tar")
    assert [photo.checksum for photo in whole.read(range(4))] == [photo.checksum for photo in photos[4:8]]
    assert [photo.checksum for photo in photos] == [snellen.hashing.checksum(image) for image in images]
    assert (
        data.fingerprint == load_data(f"wds:{tmp_path}/s-*.tar").fingerprint == load_data(f"wds:{tmp_path}").fingerprint
    )


@pytest.mark.parametrize(
    ("fields", "query", "classes", "label"),
    [
        ({"cls": b"7\n"}, "", tuple(map(str, range(8))), 7),
        ({"cls": b"cat"}, "", ("cat",), 0),
        ({"txt": b" a dog "}, "", ("a dog",), 0),
        ({"json": b'{"label": 2}'}, "", ("0", "1", "2"), 2),
        ({"json": b'{"label": 2, "kind": "eel"}'}, "?label=kind", ("eel",), 0),
        ({"cls": b"1", "txt": b"eel"}, "?label=txt", ("eel",), 0),
        ({"cls": b"1"}, "?names=names.txt", ("cat", "dog", "eel"), 1),
        ({"txt": b"eel"}, "?names=names.txt", ("cat", "dog", "eel"), 2),
    ],
)
def test_labels_are_found(tmp_path: Path, fields: dict, query: str, classes: tuple, label: int) -> None:
    (tmp_path / "names.txt").write_text("cat\ndog\neel\n")
    data = load_data(f"wds:{plain(tmp_path, **fields)}{query.replace('names.txt', str(tmp_path / 'names.txt'))}")
    assert (data.classes, data.samples.labels.tolist()) == (classes, [label])


def test_scalars_of_the_json_are_columns_and_unknown_labels_are_listed(tmp_path: Path) -> None:
    text = shards(IMAGES, tmp_path, record=lambda name: {
        "id": name, "label": None if name == "cat/0.png" else class_of(name), "level": int(name[4:-4]) % 2, "tags": []
    })  # fmt: skip
    data = load_data(f"{text}&level=0")
    assert set(data.samples.columns) == {"level"}
    assert len(data) == 6
    assert [name for name, label in zip(data.samples.ids, data.samples.labels) if label < 0] == ["cat/0.png"]


def test_masks_are_read_from_a_field(tmp_path: Path) -> None:
    import io

    from PIL import Image

    mask = np.zeros((16, 16), np.uint8)
    mask[2:5, 3:9] = 2
    stream = io.BytesIO()
    Image.fromarray(mask).save(stream, "PNG")
    file = plain(tmp_path, cls=b"0", **{"seg.png": stream.getvalue()})
    (photo,) = load_data(f"wds:{file}?mask=seg.png").read([0])
    assert np.array_equal(photo.maps["mask"], mask == 2)
    (photo,) = load_data(f"wds:{file}?mask=seg.png&object=0").read([0])
    assert np.array_equal(photo.maps["mask"], mask == 0)


@pytest.mark.parametrize(
    ("members", "query", "message"),
    [
        ({"a.png": "image"}, "", "one.tar: sample 'a' has no label 'cls'; it has: png; name one with .label="),
        ({"a.png": "image", "a.cls": "0", "b.png": "image"}, "", "sample 'b' has no field 'cls'; it has: png"),
        ({"a.png": "image", "a.json": '{"class": 1}'}, "", "its JSON has no 'label'; it has: class; name one"),
        ({"a.png": "image", "a.json": '{"class": 1}'}, "?label=labels", "its JSON has no 'labels'; it has: class; name one"),
        ({"a.png": "image", "a.json": '{"label": [1]}'}, "", "sample 'a' has a label of the type list; expected the number"),
        ({"a.png": "image", "a.json": "{"}, "", "sample 'a' cannot be read as JSON"),
        ({"a.png": "image", "a.cls": b"\xff"}, "", "sample 'a': its label is not UTF-8"),
        ({"a.png": "image", "a.cls": "9"}, "?names=names.txt", "has the label '9', which is none of the 3 classes: cat, dog"),
        ({"a.txt": "x", "a.cls": "9"}, "", "sample 'a' has no image; it has: txt, cls; name the field with .image="),
        ({"a.png": "image", "a.jpg": "image", "a.cls": "9"}, "", "has several images, png, jpg; name the field"),
        ({"a.png": "image", "a.cls": "0", "b.cls": "0", "a.jpg": "image"}, "", "holds the sample 'a' twice"),
        ({"a.png": "image", "a.cls": "0", "a.CLS": "0"}, "", "holds the sample 'a' twice"),
        ({"../a.png": "image", "../a.cls": "0"}, "", "the name '../a.png' leads out of it"),
        ({"README": "x"}, "", "holds no samples; expected members such as 0001.jpg and 0001.cls"),
        ({"a.png": "image", "a.cls": ""}, "", "neither it nor any other has a label"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_samples_is_one_line(tmp_path: Path, members: dict, query: str, message: str) -> None:
    (tmp_path / "names.txt").write_text("cat\ndog\neel\n")
    contents = {
        n: IMAGES["cat/0.png"] if c == "image" else c if isinstance(c, bytes) else c.encode()
        for n, c in members.items()
    }
    file = write_tar(tmp_path / "one.tar", contents)
    with pytest.raises(UserError, match=message) as error:
        load_data(f"wds:{file}{query.replace('names.txt', str(tmp_path / 'names.txt'))}")
    assert "\n" not in str(error.value)


def test_what_is_wrong_with_shards_names_the_shard(tmp_path: Path) -> None:
    text = shards(IMAGES, tmp_path)
    second = tmp_path / "shard-001.tar"
    whole = second.read_bytes()
    for cut in range(512, list_tar(second)[-1].start, 300):  # also where a member ends
        second.write_bytes(whole[:cut])
        with pytest.raises(UserError, match=r"shard-001\.tar.* (is cut off|is damaged|cannot be read)"):
            load_data(text)
    second.unlink()
    with pytest.raises(UserError, match=r"no tar file '.*shard-001\.tar'"):
        load_data(text)
    second.write_bytes((tmp_path / "shard-000.tar").read_bytes())
    with pytest.raises(
        UserError, match=r"shard-001\.tar: sample '(.*)' stands in .*shard-000\.tar too; give each its own"
    ):
        load_data(text.partition("?")[0])
    with pytest.raises(UserError, match="2 have the id 'cat/0.png'"):
        load_data(text)
    with pytest.raises(UserError, match=r"names the tar file '.*shard-000\.tar' twice"):
        load_data(f"wds:{tmp_path}/shard-{{000,000}}.tar")
    with pytest.raises(UserError, match="names more than 100,000 files"):
        load_data(f"wds:{tmp_path}/shard-{{000000..999999}}.tar")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no tar files; name the shards"):
        load_data(f"wds:{tmp_path}/empty")


def test_a_shard_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    data = load_data(shards(IMAGES, tmp_path))
    (tmp_path / "shard-001.tar").write_bytes(b"x" * 5000)
    (tmp_path / "shard-002.tar").unlink()
    photos = data.read(range(12))
    assert all(isinstance(photo, Photo) for photo in photos[:4])
    reasons = {photo.reason for photo in photos[4:] if isinstance(photo, Unreadable)}
    assert reasons == {f"cannot be read: its shard shard-00{n}.tar has changed since it was listed" for n in (1, 2)}


def test_a_shard_that_changed_between_two_commands_is_refused(tmp_path: Path) -> None:
    text = shards(IMAGES, tmp_path)
    model = from_callable(
        lambda images: np.eye(3)[[0] * len(images)], classes=["cat", "dog", "eel"], size=16, version="1"
    )
    kept = {"out": tmp_path / "run", "quiet": True, "report": False}
    snellen.audit(model, text, "occlusion(areas=[0.3], fills=[black])", **kept)
    os.utime(tmp_path / "shard-001.tar", (1, 1))
    with pytest.raises(UserError, match="fresh"):
        snellen.audit(model, text, "occlusion(areas=[0.3], fills=[black])", **kept)


def test_the_fingerprint_changes_with_what_an_answer_depends_on(tmp_path: Path) -> None:
    text = shards(IMAGES, tmp_path)
    first = load_data(text).fingerprint
    assert load_data(text).fingerprint == first
    state = (tmp_path / "shard-000.tar").stat()
    changes = [
        lambda name: {"id": name, "label": class_of(name[::-1]) if name == "cat/0.png" else class_of(name)},
        lambda name: {"id": name.upper(), "label": class_of(name)},
        lambda name: {"id": name, "label": class_of(name), "level": 1},
    ]
    for change in changes:
        shards(IMAGES, tmp_path, record=change)
        for file in tmp_path.glob("*.tar"):
            os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
        assert load_data(text).fingerprint != first
    record = json.dumps({"id": "a", "label": "cat"}).encode()
    one = write_tar(
        tmp_path / "one.tar", {"a.png": IMAGES["cat/0.png"], "a.jpg": IMAGES["dog/1.jpg"], "a.json": record}
    )
    texts = [
        f"wds:{one}?{query}"
        for query in ("image=png", "image=jpg", "image=png&mask=jpg", "image=png&mask=jpg&object=1")
    ]
    assert len({load_data(text).fingerprint for text in texts}) == len(texts)
