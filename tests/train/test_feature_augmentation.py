"""Deep feature augmentation: vectors that can be worked out from pixels, and training that is the same where they do nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from snellen.data.occluders import read_occluders
from snellen.distort import apply
from snellen.errors import UserError
from snellen.models.checkpoint import load_state, read_card
from snellen.train import train
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.feature_augmentation import Dfa, FeatureShifts, difference_vectors, own_classes, parse_dfa

DATA = "phantom:train?size=28&n=96"


def cut_out(file: Path, colour: tuple[int, int, int]) -> None:
    """A square of one colour on a transparent ground."""
    file.parent.mkdir(exist_ok=True)
    picture = Image.new("RGBA", (24, 24))
    picture.paste((*colour, 255), (2, 2, 22, 22))
    picture.save(file)


@pytest.fixture
def cutouts(tmp_path: Path) -> Path:
    """Two squares, red and white."""
    folder = tmp_path / "cutouts"
    cut_out(folder / "lamp.png", (255, 0, 0))
    cut_out(folder / "cup.png", (255, 255, 255))
    return folder


class MeanColour(nn.Module):
    """Its features are the mean colour of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.pool, self.last = nn.AdaptiveAvgPool2d(1), nn.Linear(3, 2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.last(self.pool(images).flatten(1))


def test_a_vector_is_the_features_of_the_occluded_less_those_of_the_clean_image(cutouts: Path) -> None:
    """Of mean colours, so that the truth is a mean of pixels; both images are normalised alike."""
    images = torch.randint(0, 256, (10, 3, 24, 24), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    way = Dfa(str(cutouts), vectors=10, least=0.2, most=0.4)
    shown = ImagesInMemory(images, torch.zeros(10, dtype=torch.int64))
    vectors = difference_vectors(way, MeanColour().train(), lambda batch: batch.float() / 255 - 0.5, shown, 3)
    rows = np.random.default_rng([3, 11]).permutation(10)
    names = [f"{row}/{place}" for place, row in enumerate(rows)]
    covered = apply("cutouts(uniform(0.2, 0.4))", images[rows], names, seed=3, occluders=cutouts)
    truth = (covered.double() - images[rows].double()).mean((2, 3)) / 255
    assert vectors.numpy() == pytest.approx(truth.numpy(), abs=1e-6)
    share = (covered != images[rows]).any(1).double().mean((1, 2))
    assert (share > 0.15).all()
    assert (share < 0.42).all()


def test_images_are_used_again_where_more_vectors_are_wanted_than_there_are(cutouts: Path) -> None:
    images = torch.randint(0, 256, (4, 3, 16, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    shown = ImagesInMemory(images, torch.zeros(4, dtype=torch.int64))
    vectors = difference_vectors(Dfa(str(cutouts), vectors=11), MeanColour(), lambda batch: batch.float(), shown, 0)
    assert len(vectors) == 11
    assert len(vectors.unique(dim=0)) > 8  # the same image gets other cut-outs in other places


def test_vectors_enter_the_last_layer_as_often_and_as_strongly_as_asked(cutouts: Path) -> None:
    network, images = MeanColour(), torch.zeros(6, 3, 4, 4)
    with torch.no_grad():
        network.last.weight.copy_(torch.tensor([[1.0, 0, 0], [0, 1, 0]]))
        network.last.bias.zero_()
    vectors = torch.tensor([[1.0, 10, 0], [2, 20, 0], [3, 30, 0]])
    shifts = FeatureShifts(Dfa(str(cutouts), probability=0.25, weight=2), vectors, seed=0)
    changed, seen = 0, set()
    for step in range(2000):
        with shifts.of_step(step, network), torch.no_grad():
            logits = network(images)
        if logits.any():
            changed += 1
            assert torch.equal(logits[:, 1], 10 * logits[:, 0])
            seen |= set(logits[:, 0].tolist())
    assert seen == {2.0, 4.0, 6.0}  # twice a vector, another one for each image
    assert abs(changed - 500) < 5 * np.sqrt(2000 * 0.25 * 0.75)
    assert not network(images).any()  # nothing is left behind


@pytest.fixture
def start(tmp_path: Path) -> Path:
    (path,) = train(None, DATA, tmp_path / "start", epochs=1, device="cpu")
    return path


def test_probability_and_weight_0_give_the_weights_of_plain_training_to_the_bit(tmp_path, cutouts, start) -> None:
    def weights(name: str, robust: str) -> dict[str, torch.Tensor]:
        (path,) = train(None, DATA, tmp_path / name, epochs=2, device="cpu", init=start, robust=robust)
        return load_state(path)

    plain = weights("plain", "none")
    for name, how in (("never", "probability=0"), ("nothing", "probability=1, weight=0")):
        same = weights(name, f"dfa('{cutouts}', {how})")
        assert all(torch.equal(plain[key], same[key]) for key in plain)
    other = weights("other", f"dfa('{cutouts}', probability=1)")
    assert not all(torch.equal(plain[key], other[key]) for key in plain)


def test_other_cutouts_in_the_folder_are_another_training(tmp_path, cutouts, start) -> None:
    robust = f"dfa('{cutouts}', vectors=20)"
    (path,) = train(None, DATA, tmp_path / "out", epochs=1, device="cpu", init=start, robust=robust)
    before = read_card(path)["occluders"]
    cut_out(cutouts / "leaf.png", (0, 255, 0))
    with pytest.raises(UserError, match="was trained otherwise"):
        train(None, DATA, tmp_path / "out", epochs=1, device="cpu", init=start, robust=robust)
    assert read_occluders(cutouts).fingerprint != before


def test_what_dfa_lacks_or_should_not_have_is_said_in_a_line(tmp_path, cutouts, start) -> None:
    with pytest.raises(
        UserError, match="dfa takes its vectors from a trained network; name its checkpoint with --init"
    ):
        train(None, DATA, tmp_path / "a", epochs=1, device="cpu", robust=f"dfa('{cutouts}')")
    with pytest.raises(UserError, match="no folder 'nowhere' of cut-outs"):
        train(None, DATA, tmp_path / "b", epochs=1, device="cpu", init=start, robust="dfa(nowhere)")
    with pytest.raises(UserError, match="dfa: expected probability from 0 to 1, got 2"):
        parse_dfa("dfa(x, probability=2)")
    with pytest.raises(UserError, match="dfa needs 'occluders'"):
        parse_dfa("dfa()")
    notes: list[str] = []
    for name in ("disc-2.png", "Star/1.png"):
        cut_out(cutouts / name, (0, 255, 0))
    assert own_classes(read_occluders(cutouts), ("disc", "star", "cross")) == ["disc", "star"]
    classes = tuple(read_card(start)["classes"])
    cut_out(cutouts / f"{classes[1]}_7.png", (0, 255, 0))
    train(
        None, DATA, tmp_path / "c", epochs=1, device="cpu", init=start, robust=f"dfa('{cutouts}')", notice=notes.append
    )
    assert any("has cut-outs of classes to be told apart" in note and classes[1] in note for note in notes)
