"""CIFAR's binary files, idx files as of MNIST and torchvision's datasets, compared with torchvision's own readers."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torchvision
from PIL import Image

from snellen.data import Dataset, load_data
from snellen.errors import UserError

RANDOM = np.random.default_rng(0)


def pixels(data: Dataset) -> np.ndarray:
    return np.stack([photo.image for photo in data.read(range(len(data)))])


def write_cifar(place: Path, name: str, images: np.ndarray, *labels: np.ndarray) -> Path:
    """uint8 [N, 32, 32, 3] as the binary version has them."""
    place.mkdir(parents=True, exist_ok=True)
    columns = [column.astype(np.uint8)[:, None] for column in labels]
    np.hstack([*columns, images.transpose(0, 3, 1, 2).reshape(len(images), -1)]).tofile(place / name)
    return place / name


def some(count: int, *shape: int) -> np.ndarray:
    return RANDOM.integers(0, 256, (count, *shape), dtype=np.uint8)


def test_cifar_10_has_five_files_of_training_images_and_its_names(tmp_path: Path) -> None:
    train, test = some(10, 32, 32, 3), some(4, 32, 32, 3)
    place = tmp_path / "cifar-10-batches-bin"
    for batch in range(5):
        write_cifar(place, f"data_batch_{batch + 1}.bin", train[2 * batch : 2 * batch + 2], np.array([batch, 9]))
    write_cifar(place, "test_batch.bin", test, np.array([3, 0, 3, 1]))
    for text in (f"cifar:{tmp_path}", f"cifar:{place}", f"cifar:{place}/test_batch.bin", str(place)):
        data = load_data(text)
        assert np.array_equal(pixels(data), test)
        assert [data.classes[label] for label in data.samples.labels] == ["cat", "airplane", "cat", "automobile"]
    assert len(load_data(f"cifar:{place}?label=cat")) == 2
    data = load_data(f"cifar:{place}?split=train")
    assert np.array_equal(pixels(data), train)
    assert data.samples.labels.tolist() == [0, 9, 1, 9, 2, 9, 3, 9, 4, 9]
    (place / "batches.meta.txt").write_text("\n".join(f"class {number}" for number in range(10)) + "\n\n")
    renamed = load_data(f"cifar:{place}?split=train")
    assert renamed.classes[9] == "class 9"
    assert renamed.fingerprint != data.fingerprint


def test_cifar_100_has_fine_and_coarse_labels(tmp_path: Path) -> None:
    images = some(5, 32, 32, 3)
    write_cifar(tmp_path, "test.bin", images, np.array([1, 0, 1, 2, 2]), np.array([4, 5, 6, 7, 8]))
    (tmp_path / "fine_label_names.txt").write_text("\n".join(f"fine {number}" for number in range(100)))
    fine, coarse = load_data(f"cifar:{tmp_path}"), load_data(f"cifar:{tmp_path}?labels=coarse")
    assert np.array_equal(pixels(fine), images)
    assert (fine.classes[4], fine.samples.labels.tolist()) == ("fine 4", [4, 5, 6, 7, 8])
    assert (coarse.classes, coarse.samples.labels.tolist()) == (("0", "1", "2"), [1, 0, 1, 2, 2])
    assert fine.fingerprint != coarse.fingerprint
    assert load_data(f"cifar:{tmp_path}/test.bin").samples.labels.tolist() == [4, 5, 6, 7, 8]


class Explosive:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return exec, ("raise SystemExit('the pickle ran')",)


def test_pickles_of_the_python_version_are_never_run(tmp_path: Path) -> None:
    place = tmp_path / "cifar-10-batches-py"
    place.mkdir()
    for name in ("batches.meta", "test_batch", *(f"data_batch_{number}" for number in range(1, 6))):
        (place / name).write_bytes(pickle.dumps(Explosive()))
    with pytest.raises(
        UserError, match="holds the Python version, pickles, which run code when they are read; get the binary"
    ):
        load_data(f"cifar:{place}")
    with pytest.raises(UserError, match="torchvision:CIFAR10 cannot be read in .*: Dataset not found or corrupted"):
        load_data(f"torchvision:CIFAR10?root={tmp_path}")


def write_idx(file: Path, values: np.ndarray, packed: bool = False) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    content = (
        bytes([0, 0, 8, values.ndim]) + b"".join(side.to_bytes(4, "big") for side in values.shape) + values.tobytes()
    )
    file.write_bytes(gzip.compress(content) if packed else content)
    return file


@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_are_read_as_torchvision_reads_them(tmp_path: Path, packed: bool) -> None:
    raw = tmp_path / "MNIST" / "raw"
    for split, count in (("t10k", 6), ("train", 9)):
        write_idx(raw / f"{split}-images-idx3-ubyte", some(count, 28, 28))
        write_idx(raw / f"{split}-labels-idx1-ubyte", np.arange(count, dtype=np.uint8))
    theirs = torchvision.datasets.MNIST(str(tmp_path), train=False)
    if packed:
        for file in list(raw.iterdir()):
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
    for text in (f"mnist:{tmp_path}", f"mnist:{raw}?split=test", f"{raw}"):
        data = load_data(text)
        assert np.array_equal(pixels(data)[..., 0], theirs.data.numpy())
        assert data.samples.labels.tolist() == theirs.targets.tolist()
        assert data.classes == tuple("0123456789")
    assert len(load_data(f"mnist:{tmp_path}?split=train")) == 9
    turned = load_data(f"mnist:{tmp_path}?transposed=true")
    assert np.array_equal(pixels(turned)[..., 0], theirs.data.numpy().transpose(0, 2, 1))
    (tmp_path / "names.txt").write_text("\n".join(f"thing {number}" for number in range(6)))
    named = load_data(f"mnist:{tmp_path}?names={tmp_path}/names.txt")
    assert named.classes[5] == "thing 5"
    assert len({data.fingerprint, turned.fingerprint, named.fingerprint}) == 3


def test_datasets_of_torchvision_are_read_from_disk(tmp_path: Path) -> None:
    raw = tmp_path / "FashionMNIST" / "raw"
    for split, count in (("t10k", 4), ("train", 5)):
        write_idx(raw / f"{split}-images-idx3-ubyte", some(count, 28, 28))
        write_idx(raw / f"{split}-labels-idx1-ubyte", np.arange(count, dtype=np.uint8))
    data = load_data(f"torchvision:FashionMNIST?root={tmp_path}&split=test")
    assert data.classes[:2] == ("T-shirt/top", "Trouser")
    assert np.array_equal(pixels(data), pixels(load_data(f"mnist:{raw}")))
    assert len(load_data(f"torchvision:FashionMNIST?root={tmp_path}&split=train&label=Dress")) == 1
    for name in ("a", "b"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        Image.fromarray(some(8, 8, 3)).save(tmp_path / "photos" / name / "1.png")
    assert load_data(f"torchvision:ImageFolder?root={tmp_path}/photos").classes == ("a", "b")
    assert len(load_data("torchvision:FakeData?size=5&num_classes=3")) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("torchvision:CIFAR11?root=.", "unknown dataset of torchvision 'CIFAR11'; did you mean 'CIFAR10'"),
        ("torchvision:LSUN?root=.", "unknown dataset of torchvision 'LSUN'"),
        ("torchvision:CIFAR10", r"needs the folder that it lies in; write torchvision:CIFAR10\?root=DIR"),
        ("torchvision:CIFAR10?root=nowhere", "cannot be read in 'nowhere': .*; download it with torchvision once"),
        ("torchvision:CIFAR10?root=.&split=val", "expected the split train or test, got 'val'"),
        ("torchvision:FakeData?size=five", r"expected \?size= as a number, got 'five'"),
        ("cifar:EMPTY", "has neither test_batch.bin nor test.bin; give one of the binary version"),
        ("cifar:EMPTY?split=val", r"expected \?split= one of test, train, got 'val'"),
        ("cifar:short.bin", "expected 3,073 bytes per image in '.*short.bin', got 100; is it the binary version"),
        ("cifar:short.bin?split=test", "chooses among the files of a folder, but .* is none; leave it out"),
        ("mnist:EMPTY", "has no t10k-images-idx3-ubyte, nor .gz of it; name the file of images"),
        ("mnist:short.bin", "which labels belong to '.*short.bin'. name their file"),
        ("mnist:x-images-idx3-ubyte", "'.*x-images-idx3-ubyte' is damaged: its header says .2, 2, 2., but 9 bytes follow"),
        ("mnist:y-images-idx3-ubyte.gz", "'.*y-images-idx3-ubyte.gz' cannot be unpacked by gzip"),
        ("mnist:z-images-idx3-ubyte.gz", r"holds 1\.6.* GiB, more than 8 GiB|holds .* GiB, more than 8 GiB"),
        ("mnist:short.bin?labels=short.bin", "is not an idx file of bytes"),
        ("mnist:v-images-idx3-ubyte", r"expected images .N, H, W. .* and N labels in .*, got .2, 2, 2. and .3."),
    ],
)  # fmt: skip
def test_other_files_are_refused_in_one_line(
    tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "short.bin").write_bytes(bytes(100))
    header = bytes([0, 0, 8, 3]) + (2).to_bytes(4, "big") * 3
    for name in "xyzv":
        write_idx(tmp_path / f"{name}-labels-idx1-ubyte", np.zeros(3 if name == "v" else 2, np.uint8))
    (tmp_path / "x-images-idx3-ubyte").write_bytes(header + bytes(9))
    (tmp_path / "y-images-idx3-ubyte.gz").write_bytes(b"\x1f\x8bnot packed at all")
    huge = bytes([0, 0, 8, 3]) + b"\0\1\0\0" + b"\0\0\1\0" * 2  # 65,536 images of 256 x 256 pixels
    (tmp_path / "z-images-idx3-ubyte.gz").write_bytes(
        gzip.compress(huge.replace(b"\0\1\0\0", b"\0\x10\0\0") + bytes(100))
    )
    write_idx(tmp_path / "v-images-idx3-ubyte", some(2, 2, 2))
    with pytest.raises(UserError, match=message) as error:
        load_data(text)
    assert "\n" not in str(error.value)
