"""The binary files of STL-10: columns first, labels from 1, mapped; a model can be asked about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.data import Photo
from snellen.errors import UserError

COUNT = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Images of the layout's own description: image 3 has one green pixel in row 1, column 2; labels 1 to 10, 1, 2."""
    images = np.zeros((COUNT, 3, 96, 96), np.uint8)  # image, channel, column, row
    images[3, 1, 2, 1] = 255
    images.tofile(tmp_path / "test_X.bin")
    (np.arange(COUNT) % 10 + 1).astype(np.uint8).tofile(tmp_path / "test_y.bin")
    images[:2].tofile(tmp_path / "unlabeled_X.bin")
    return tmp_path


def test_pixels_labels_and_names_are_where_they_belong(folder: Path) -> None:
    data = snellen.load_data(f"stl:{folder}")
    assert (len(data), data.size, data.classes[2], data.classes[7]) == (COUNT, (96, 96), "car", "monkey")
    assert data.samples.labels.tolist() == [*range(10), 0, 1]
    (photo,) = data.read([3])
    assert isinstance(photo, Photo)
    assert np.argwhere(photo.image).tolist() == [[1, 2, 1]]
    assert data.samples.ids[3] == "000003"
    assert len(snellen.load_data(f"stl:{folder}?split=test&label=bird")) == 2


def test_a_file_alone_is_the_same_set(folder: Path) -> None:
    whole, alone = (snellen.load_data(f"stl:{place}") for place in (folder, folder / "test_X.bin"))
    assert whole.fingerprint == alone.fingerprint
    (folder / "test_X.bin").rename(folder / "mine.bin")
    assert snellen.load_data(f"stl:{folder}/mine.bin?labels={folder}/test_y.bin").fingerprint == whole.fingerprint
    with pytest.raises(UserError, match=r"which labels belong to .*mine.bin\? name their file"):
        snellen.load_data(f"stl:{folder}/mine.bin")


def test_images_without_labels_have_none(folder: Path) -> None:
    assert snellen.load_data(f"stl:{folder}?split=unlabeled").samples.labels.tolist() == [-1, -1]


def test_names_may_lie_beside_the_images(folder: Path) -> None:
    before = snellen.load_data(f"stl:{folder}").fingerprint
    (folder / "class_names.txt").write_text("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n")
    data = snellen.load_data(f"stl:{folder}")
    assert data.classes == tuple("abcdefghij")
    assert data.fingerprint != before


def test_the_images_are_read_only_when_they_are_looked_at(tmp_path: Path) -> None:
    """A file of 2.7 GB, as that of the unlabelled images is, and nothing of it in memory."""
    import resource

    with (tmp_path / "unlabeled_X.bin").open("wb") as file:
        file.truncate(100_000 * 27_648)  # a hole: it has no blocks on disk
    from snellen.data.stl import _images

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    images = _images(tmp_path / "unlabeled_X.bin")
    assert images.shape == (100_000, 96, 96, 3)
    assert np.asarray(images[99_999]).max() == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("test_X.bin", b"", "has 0 bytes; expected 27,648 for each image"),
        ("test_X.bin", b"abc", "has 3 bytes; expected 27,648 for each image of 96x96 pixels"),
        ("test_y.bin", b"\1\2", "has 2 labels; expected one for each of the 12 images"),
        ("test_y.bin", b"\1" * 11 + b"\x0b", "label 11 of image 11 is outside 1 to 10"),
        ("test_y.bin", b"\0" * 12, "label 0 of image 0 is outside 1 to 10"),
        ("class_names.txt", b"a\nb\n", "label 3 of image 2 is outside 1 to 2"),
        ("class_names.txt", b"a\n\nb\n", "line 2 is empty"),
        ("class_names.txt", b"a\na\n", "2 have the name 'a'"),
        ("class_names.txt", b"", "expected 1 to 1,000,000 names of classes"),
        ("class_names.txt", b"\xff", "is not UTF-8"),
    ],
)
def test_damage_is_one_line_that_names_the_file(folder: Path, file: str, content: bytes, said: str) -> None:
    (folder / file).write_bytes(content)
    with pytest.raises(UserError, match=said) as caught:
        snellen.load_data(f"stl:{folder}")
    assert str(folder) in str(caught.value)


def test_a_split_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(UserError, match="has no split 'val'; expected one of train, test, unlabeled"):
        snellen.load_data(f"stl:{folder}?split=val")
    with pytest.raises(UserError, match=r"no file of images '.*train_X.bin'"):
        snellen.load_data(f"stl:{folder}?split=train")
    with pytest.raises(UserError, match="chooses among the files of a folder"):
        snellen.load_data(f"stl:{folder}/test_X.bin?split=test")
    (folder / "test_y.bin").unlink()
    with pytest.raises(UserError, match=r"no file of labels '.*test_y.bin'"):
        snellen.load_data(f"stl:{folder}")


def test_labels_are_counted_before_gigabytes_are_hashed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.data.stl.file_sha256", lambda file: pytest.fail(f"{file} was hashed"))
    (folder / "test_y.bin").write_bytes(b"\1\2")
    with pytest.raises(UserError, match="has 2 labels; expected one for each of the 12 images"):
        snellen.load_data(f"stl:{folder}")


def test_a_file_that_becomes_shorter_while_it_is_read_is_one_line(folder: Path) -> None:
    """To look at pages of a mapped file that are gone would end the process with SIGBUS."""
    data = snellen.load_data(f"stl:{folder}")
    assert len(data.read([0, 1])) == 2
    with (folder / "test_X.bin").open("r+b") as file:
        file.truncate(3 * 96 * 96)
    with pytest.raises(
        UserError, match=r"stl:.*: the file has become shorter while it was read \(27,648 bytes\); leave it"
    ):
        data.read([COUNT - 1])
