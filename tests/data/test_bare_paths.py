"""Data by their path alone: the kind is told by the name and a look at it, and the same images come out."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from snellen.data import Dataset, load_data
from snellen.data.phantom import export
from snellen.errors import UserError

from .shapes import encoded_images, hf_saved, parquet, shards, tarred, zipped


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two classes of two images."""
    for number, name in enumerate(("cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png")):
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (40 * number, 0, 0)).save(tmp_path / "photos" / name)
    return tmp_path / "photos"


def same(bare: Dataset, named: Dataset) -> bool:
    return (bare.text, bare.fingerprint, bare.samples.ids) == (named.text, named.fingerprint, named.samples.ids)


def test_folders_tables_arrays_and_tars_choose_their_kind(photos: Path) -> None:
    names = sorted(file.relative_to(photos.parent).as_posix() for file in photos.rglob("*.png"))
    table = pd.DataFrame({"path": names, "label": [Path(name).parent.name for name in names], "level": [0, 1, 0, 1]})
    table.to_csv(photos.parent / "list.csv", index=False)
    table.to_parquet(photos.parent / "list.parquet")
    np.savez(photos.parent / "set.npz", images=np.zeros((2, 4, 4, 3), np.uint8), labels=np.array([0, 1]))
    with tarfile.open(photos.parent / "set.tar", "w") as tar:
        tar.add(photos, "photos")
    for name, scheme in [("photos", "folder"), ("list.csv", "manifest"), ("list.parquet", "manifest"), ("set.npz", "arrays"),
                         ("set.tar", "tar")]:  # fmt: skip
        path = photos.parent / name
        assert same(load_data(str(path)), load_data(f"{scheme}:{path}")), name
    kept = load_data(f"{photos.parent}/list.csv?level=1")
    assert same(kept, load_data(f"manifest:{photos.parent}/list.csv?level=1"))
    assert len(kept) == 2
    assert load_data(f"{photos}/").text == f"folder:{photos}/"


def test_archives_and_shards_choose_their_kind(tmp_path: Path) -> None:
    images = encoded_images()
    for text in (zipped(images, tmp_path), tarred(images, tmp_path)):
        assert same(load_data(text.partition(":")[2]), load_data(text))
    text = shards(images, tmp_path)
    assert same(load_data(text.partition(":")[2]), load_data(text))
    for text in (parquet(images, tmp_path), hf_saved(images, tmp_path)):
        assert same(load_data(text.partition(":")[2]), load_data(text))
    assert load_data(f"{tmp_path}/part-0.parquet").text == f"parquet:{tmp_path}/part-0.parquet"
    assert load_data(f"{tmp_path}/shard-000.tar").text == f"wds:{tmp_path}/shard-000.tar"
    with pytest.raises(UserError, match="no tar file '.*gone-0.tar'"):
        load_data(f"{tmp_path}/gone-{{0..3}}.tar")


def test_annotations_choose_their_kind_by_what_they_hold(tmp_path: Path) -> None:
    for format, file, scheme in [("coco", "annotations.json", "coco"), ("ovis", "annotations.json", "ovis")]:
        where = export("phantom:test?n=6&size=32&frames=2", format, tmp_path / format).out
        (path,) = sorted(where.rglob("*.json"))[:1] if not (where / file).exists() else [where / file]
        images = next(folder for folder in sorted(where.iterdir()) if folder.is_dir())
        option = "images" if scheme == "coco" else "frames"
        assert same(load_data(f"{path}?{option}={images}"), load_data(f"{scheme}:{path}?{option}={images}"))
    where = export("phantom:test?n=6&size=32", "voc", tmp_path / "voc").out
    assert same(load_data(str(where)), load_data(f"voc:{where}"))


def test_folders_of_splits_are_no_classes(photos: Path) -> None:
    for split in ("train", "test"):
        (photos.parent / "set" / split).parent.mkdir(exist_ok=True)
        (photos.parent / "set" / split).symlink_to(photos)
    for text in (f"{photos.parent}/set", f"folder:{photos.parent}/set"):
        with pytest.raises(UserError, match=r"holds the splits test, train, which .*; name one: 'folder:.*/set/test'"):
            load_data(text)
    for name in ("train", "test"):  # classes of images that are called so
        (photos.parent / "signals" / name).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(photos.parent / "signals" / name / "1.png")
    assert load_data(f"{photos.parent}/signals").classes == ("test", "train")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "gone.csv",
            "no file or folder .*gone.csv'; expected data as 'scheme:path' .*, for example 'manifest:.*gone.csv'",
        ),
        ("gone", "for example 'folder:.*gone'"),
        ("one.png", "is one image; give a folder with one sub-folder of images per class"),
        ("what.xyz", "cannot tell what .*what.xyz' is; write it as 'scheme:"),
        ("answers.csv", "holds answers and no images; it is a model: 'predictions:"),
    ],
)
def test_a_path_that_cannot_be_told_is_one_line(name: str, message: str, tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "one.png")
    (tmp_path / "what.xyz").touch()
    (tmp_path / "answers.csv").write_text('"sample","pred"\na,1\n')
    with pytest.raises(UserError, match=message):
        load_data(f"{tmp_path}/{name}")


def test_a_word_is_found_across_parts_of_a_long_file(tmp_path: Path) -> None:
    from snellen.data.bare_paths import scheme_of
    from snellen.files import MIB

    for before in (MIB - 4, MIB, 3):
        (tmp_path / "long.json").write_text('{"a": "' + "x" * (before - 10) + '", "videos": []}')
        assert scheme_of(str(tmp_path / "long.json"), []) == "ovis"
    (tmp_path / "long.json").write_text(json.dumps({"images": ["x" * MIB]}))
    assert scheme_of(str(tmp_path / "long.json"), []) == "coco"
