"""Folders, manifests and arrays: stable ids, right labels, filters, limits, and messages for bad input."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from snellen.data import Dataset, Photo, Unreadable, limited, load_data
from snellen.errors import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes, three images of different sizes each."""
    for label, name in enumerate(("cat", "dog")):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for i in range(3):
            colour = (50 * i, 100 * label, 7)
            Image.new("RGB", (20 + i, 30), colour).save(tmp_path / "photos" / name / f"{i}.png")
    return tmp_path / "photos"


def photo(data: Dataset, position: int) -> Photo:
    (read,) = data.read([position])
    assert isinstance(read, Photo)
    return read


def test_a_folder_lists_its_classes_and_reads_its_pixels(folder: Path) -> None:
    data = load_data(f"folder:{folder}")
    assert data.classes == ("cat", "dog")
    assert data.samples.ids == ("cat/0.png", "cat/1.png", "cat/2.png", "dog/0.png", "dog/1.png", "dog/2.png")
    assert data.samples.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert photo(data, 5).image.shape == (30, 22, 3)
    assert photo(data, 5).image[0, 0].tolist() == [100, 100, 7]


def test_the_fingerprint_follows_the_listing(folder: Path) -> None:
    before = load_data(f"folder:{folder}").fingerprint
    assert load_data(f"folder:{folder}").fingerprint == before
    os.utime(folder / "cat" / "0.png", (1, 1))
    assert load_data(f"folder:{folder}").fingerprint != before


def test_a_manifest_reads_boxes_masks_and_columns(folder: Path) -> None:
    mask = np.zeros((30, 20), np.uint8)
    mask[5:9, 3:8] = 255
    Image.fromarray(mask).save(folder / "mask.png")
    row = {"path": "cat/0.png", "label": "cat", "x0": 3, "y0": 5, "x1": 8, "y1": 9, "mask": "mask.png", "level": 2}
    pd.DataFrame([row]).to_csv(folder / "list.csv", index=False)
    data = load_data(f"manifest:{folder}/list.csv")
    assert data.facts == {"boxes", "masks"}
    read = photo(data, 0)
    assert read.boxes is not None
    assert read.boxes.tolist() == [[3, 5, 8, 9]]
    assert read.maps["mask"].sum() == 20
    assert data.samples.columns["level"].tolist() == ["2"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_manifest_may_be_csv_or_parquet_and_is_filtered_by_columns(folder: Path, suffix: str) -> None:
    frame = pd.DataFrame(
        {"path": ["cat/0.png", "dog/0.png", "dog/1.png"], "label": ["c", "d", "d"], "split": [0, 0, 1]}
    )
    frame.to_csv(folder / "list.csv", index=False)
    frame.to_parquet(folder / "list.parquet")
    assert load_data(f"manifest:{folder}/list.{suffix}?split=0").samples.ids == ("cat/0.png", "dog/0.png")
    assert load_data(f"manifest:{folder}/list.{suffix}?split=0&label=d").samples.ids == ("dog/0.png",)


def test_numbered_labels_keep_their_numbers(folder: Path) -> None:
    pd.DataFrame({"path": ["cat/0.png", "dog/0.png"], "label": [10, 2]}).to_csv(folder / "list.csv", index=False)
    data = load_data(f"manifest:{folder}/list.csv")
    assert data.classes == tuple(map(str, range(11)))
    assert data.samples.labels.tolist() == [10, 2]


def test_arrays_are_mapped_or_unpacked_to_the_same_pixels(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (5, 4, 6, 3), dtype=np.uint8)
    np.savez(tmp_path / "stored.npz", images=images, labels=np.arange(5))
    np.savez_compressed(tmp_path / "packed.npz", images=images, labels=np.arange(5))
    for name in ("stored", "packed"):
        data = load_data(f"arrays:{tmp_path}/{name}.npz")
        assert data.size == (4, 6)
        assert np.array_equal(np.stack([photo(data, i).image for i in range(5)]), images)


def test_grey_arrays_become_three_equal_channels(tmp_path: Path) -> None:
    np.savez(tmp_path / "grey.npz", images=np.full((2, 4, 4), 9, np.uint8), labels=[0, 1], classes=["a", "b"])
    data = load_data(f"arrays:{tmp_path}/grey.npz")
    assert data.classes == ("a", "b")
    assert (photo(data, 0).image == 9).all()
    assert photo(data, 0).image.shape == (4, 4, 3)


def test_limits_are_nested_and_favour_no_class() -> None:
    data = load_data("phantom:test?size=16&n=900")
    ten, hundred = (set(limited(data, n).samples.ids) for n in (10, 100))
    assert len(ten) == 10
    assert ten < hundred
    labels = limited(data, 450).samples.labels
    assert np.bincount(labels, minlength=12).min() > 20


def test_photos_of_every_kind_are_decoded_upright_in_rgb(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    grey16 = Image.fromarray(np.full((4, 4), 65535 // 2, np.uint16))
    alpha = Image.new("RGBA", (4, 4), (200, 100, 50, 128))
    turned = Image.new("RGB", (6, 2), (1, 2, 3))
    turned.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[274] = 6  # turn by 90° clockwise
    grey16.save(tmp_path / "x" / "a16.png")
    alpha.save(tmp_path / "x" / "b_alpha.png")
    Image.new("CMYK", (4, 4), (0, 255, 255, 0)).save(tmp_path / "x" / "c_cmyk.tif")
    Image.new("P", (4, 4), 0).save(tmp_path / "x" / "d_palette.png")
    turned.save(tmp_path / "x" / "e_turned.png", exif=exif)
    Image.new("L", (1, 1), 77).save(tmp_path / "x" / "f_one.png")
    data = load_data(f"folder:{tmp_path}")
    seen = [photo(data, i).image for i in range(6)]
    assert seen[0][0, 0].tolist() == [127] * 3
    assert seen[1][0, 0].tolist() == [100, 50, 25]
    assert seen[2][0, 0].tolist() == [255, 0, 0]
    assert seen[3].shape == (4, 4, 3)
    assert seen[4].shape == (6, 2, 3)
    assert seen[4][0, 1].tolist() == [255, 0, 0]
    assert seen[5].tolist() == [[[77, 77, 77]]]


def test_what_cannot_be_decoded_says_why(folder: Path) -> None:
    whole = (folder / "cat" / "0.png").read_bytes()
    (folder / "cat" / "0.png").write_bytes(whole[: len(whole) // 2])
    (folder / "cat" / "1.png").write_bytes(b"")
    (folder / "cat" / "2.png").write_text("not an image")
    reasons = [read.reason for read in load_data(f"folder:{folder}").read([0, 1, 2]) if isinstance(read, Unreadable)]
    assert len(reasons) == 3
    assert reasons[0].startswith("cannot be decoded")
    assert reasons[1] == "the file is empty"
    assert reasons[2].startswith("cannot be decoded")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("photos", "no file or folder 'photos'; expected data as 'scheme:path'"),
        ("foldr:x", "unknown data scheme 'foldr'; did you mean 'folder'?"),
        ("folder:nowhere", "no folder 'nowhere'"),
        ("arrays:nowhere.npz", "no file 'nowhere.npz'"),
        ("manifest:nowhere.csv", "no file 'nowhere.csv'"),
        ("phantom:train?n=0", "expected n"),
        ("phantom:tset", "tset"),
    ],
)
def test_bad_texts_are_told(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load_data(text)
    assert message in str(caught.value)


def test_bad_files_are_told(folder: Path, tmp_path: Path) -> None:
    def refused(text: str, message: str) -> None:
        with pytest.raises(UserError, match=message):
            load_data(text)

    (tmp_path / "flat").mkdir()
    refused(f"folder:{tmp_path}/flat", "has no sub-folders")
    (folder / "empty").mkdir()
    refused(f"folder:{folder}", "class folder '.*empty' holds no images")
    (tmp_path / "bad.npz").write_text("nothing")
    refused(f"arrays:{tmp_path}/bad.npz", "cannot be read as npz")
    np.savez(tmp_path / "one.npz", images=np.zeros((2, 4, 4), np.uint8))
    refused(f"arrays:{tmp_path}/one.npz", "has no array 'labels'; it has: images")
    np.savez(tmp_path / "float.npz", images=np.zeros((2, 4, 4)), labels=[0, 1])
    refused(f"arrays:{tmp_path}/float.npz", "expected images uint8")
    np.savez(tmp_path / "label.npz", images=np.zeros((2, 4, 4), np.uint8), labels=[0, 5], classes=["a", "b"])
    refused(f"arrays:{tmp_path}/label.npz", "label 5 of image 1 is outside the 2 classes")
    (tmp_path / "list.csv").write_text("path,lable\na.png,1\n")
    refused(f"manifest:{tmp_path}/list.csv", "has no column 'label'; it has: path, lable")
    (tmp_path / "list.csv").write_text("path,label\n../../etc/passwd,1\n")
    refused(f"manifest:{tmp_path}/list.csv", r"line 2: path '../../etc/passwd' leaves .* add \?root=DIR")
    (tmp_path / "list.csv").write_text('path,label\n"a.png,1\n')
    refused(f"manifest:{tmp_path}/list.csv", "list.csv cannot be read as CSV: EOF inside string in line 2")
    (tmp_path / "list.csv").write_text("path,label\na.png,1\na.png,2\n")
    refused(f"manifest:{tmp_path}/list.csv", "lists 'a.png' twice")
    refused(f"folder:{folder}?level=1".replace(str(folder), str(folder.parent / "photos")), "holds no images")
