"""The augmentation audit on observers that count what they see, and the losses on a card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.audits import AugmentationAudit
from snellen.errors import UserError
from snellen.models import Model, from_callable
from snellen.models.adapters.zoo import last_losses
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import build
from snellen.search import fitness_of, space


@pytest.fixture
def levels(tmp_path: Path) -> str:
    """200 images of 16 × 16 pixels, each of one grey level that tells its class: 40, 80, 120 or 160."""
    labels = np.arange(200) % 4
    images = np.broadcast_to((40 * (labels + 1))[:, None, None], (200, 16, 16)).astype(np.uint8)
    np.savez(tmp_path / "levels.npz", images=images, labels=labels)
    return f"arrays:{tmp_path}/levels.npz"


def of(reduce: object, version: str = "1") -> Model:
    def answer(images: np.ndarray) -> np.ndarray:
        seen = np.array([reduce(image) for image in images[..., 0]])  # type: ignore[operator]
        return np.eye(4)[np.clip(np.rint(seen / 40).astype(int) - 1, 0, 3)]

    return from_callable(answer, size=16, name="m", version=version)


def majority(image: np.ndarray) -> int:
    """The level that most pixels have."""
    return np.bincount(image.reshape(-1)).argmax()


def test_an_observer_of_the_majority_loses_nothing_to_pasting_and_much_to_blending(levels: str) -> None:
    """Partners come from the test data, without --donors; the image keeps the larger part, so its label stays right."""
    run = snellen.audit(of(majority), levels, "augmentation", quiet=True, report=False)
    found = run.findings().query("name == 'affinity'").set_index("distortion")["value"]
    assert found["mix(kind=cutmix, alpha=1)"] == pytest.approx(0, abs=0.01)
    assert found["mix(kind=fmix, alpha=1)"] == pytest.approx(0, abs=0.01)
    # λ uniform: a partner k levels away (k = 1, 2, 3 with chance 6/16, 4/16, 2/16) moves it past the middle between two
    # levels where its share exceeds 1/(2k): never, half the time, two thirds of the time.
    assert found["mix(kind=mixup, alpha=1)"] == pytest.approx(-(4 / 16 / 2 + 2 / 16 * 2 / 3), abs=0.07)


def test_an_observer_of_the_brightest_pixel_is_pushed_to_the_brightest_class(levels: str) -> None:
    runs = {"bright": [of(np.max, "1"), of(np.max, "2"), of(lambda image: np.quantile(image, 0.999), "3")]}
    run = snellen.audit(runs, levels, "augmentation([mix(cutmix)])", quiet=True, report=False)
    (found,) = [one for one in run.results()["findings"] if one["name"] == "direction"]
    assert found["facts"]["towards"] == "3"
    assert len(found["facts"]["shift"]) == 4
    assert found["value"] > 0.99
    assert found["facts"]["p"] < 0.2  # four classes: few ways to disagree
    (gap,) = [one for one in run.results()["findings"] if one["name"] == "affinity"]
    # Wrong where the partner is brighter (6/16) and its box shows at all.
    assert -6 / 16 - 0.07 < gap["value"] < -0.2
    assert len(gap["per_run"]) == 3


def test_any_distortion_is_an_augmentation_and_one_run_agrees_with_nobody(levels: str) -> None:
    run = snellen.audit(of(majority), levels, "augmentation([occlude(0.3), noise])", quiet=True, report=False)
    found = run.findings()
    assert (found["name"] == "affinity").sum() == 2
    direction = found.query("name == 'direction'")
    assert direction["value"].isna().all()
    assert direction["text"].str.contains("one run: nothing to agree with").all()
    assert "no training history" in found.query("name == 'diversity'")["text"].item()


def test_a_donor_fill_still_needs_donors(levels: str) -> None:
    with pytest.raises(UserError, match="needs a donor pool; pass --donors DATA"):
        snellen.audit(of(majority), levels, "augmentation([mix(mixup), occlude(0.3, donor)])", quiet=True, report=False)


def test_the_partners_do_not_depend_on_the_limit(levels: str) -> None:
    def shown(limit: int | None) -> dict:
        run = snellen.audit(of(np.mean), levels, "augmentation([mix(mixup)])", quiet=True, report=False, limit=limit)
        held = run.predictions().query("distortion != 'none()'")
        return held[held["distortion"].str.startswith("mix")].set_index("sample")["pred"].to_dict()

    few, all_of_them = shown(20), shown(None)
    assert len(few) == 20
    assert few == {sample: all_of_them[sample] for sample in few}


def of_diversity(levels: str, folder: Path, histories: list[list[dict[str, float]]]) -> dict[str, Any]:
    """The finding about networks whose cards have these histories, one per run."""
    for number, history in enumerate(histories):
        torch.manual_seed(number)
        network = build("smallnet", 4)
        card = {
            "arch": "smallnet", "classes": ["0", "1", "2", "3"], "size": [16, 16], "mean": [0.5] * 3, "std": [0.2] * 3,
            "history": history,
        }  # fmt: skip
        save_checkpoint(folder / f"net-{number}.safetensors", network, card)
    model = f"net={folder}/net-*.safetensors"
    run = snellen.audit(model, levels, "augmentation([mix(mixup)])", quiet=True, report=False)
    (found,) = [one for one in run.results()["findings"] if one["name"] == "diversity"]
    return found


def test_diversity_is_read_from_the_cards_of_the_runs(levels: str, tmp_path: Path) -> None:
    first = {"diversity": 2.0, "mix_diversity": 3.0}
    last = [{"diversity": loss, "mix_diversity": loss + 0.3} for loss in (0.4, 0.5)]
    found = of_diversity(levels, tmp_path, [[first, one] for one in last])
    assert found["value"] == pytest.approx(0.45)
    assert found["per_run"] == pytest.approx([0.4, 0.5])
    assert found["facts"]["mix_diversity"] == pytest.approx(0.75)


def test_diversity_is_the_loss_against_the_majority_label_where_the_card_has_both(levels: str, tmp_path: Path) -> None:
    """The loss as trained, on mixed or smoothed labels, is no measure of how hard the images are: it counts only where every
    other is missing, in any of the runs."""
    both = {"loss": 1.7, "diversity": 0.4}
    found = of_diversity(levels, tmp_path, [[both], [{**both, "diversity": 0.6}]])
    assert (found["value"], found["facts"]["loss"]) == (pytest.approx(0.5), "majority label")
    found = of_diversity(levels, tmp_path, [[both], [{"loss": 1.9}]])
    assert (found["value"], found["facts"]["loss"]) == (pytest.approx(1.8), "as trained")


@pytest.mark.parametrize(
    ("history", "known"),
    [
        (None, None),
        ([], None),
        ([{"epoch": 1}], None),
        ([{"loss": 2}, {"loss": 1, "epoch": 2}], {"loss": 1.0}),
        ({"loss": [3, 2, 1.5], "epoch": [1, 2, 3], "diversity": []}, {"loss": 1.5}),
        ("odd", None),
    ],
)
def test_histories_of_both_shapes_are_read(history: object, known: object) -> None:
    assert last_losses(history) == known


def test_the_affinity_of_random_brightness_is_that_of_its_law(levels: str) -> None:
    """Level 40·k becomes 40·k·f with f uniform in 0.6 to 1.4, and is read as the nearest of 1 to 4: right where |f − 1| < 1/(2k),
    and for k = 4 wherever f > 7/8. Contrast does nothing to an image of one colour."""
    right = [1, 0.25 / 0.4, (1 / 6) / 0.4, 0.525 / 0.8]
    kinds = ["brightness(uniform(0.6,1.4))", "contrast(uniform(0.6,1.4)) | brightness(uniform(0.6,1.4))"]
    run = snellen.audit(of(majority), levels, f"augmentation([{', '.join(kinds)}])", quiet=True, report=False)
    affinity = run.findings().query("name == 'affinity'")["value"]
    assert affinity.tolist() == pytest.approx([np.mean(right) - 1] * 2, abs=0.07)


def test_the_affinity_of_random_tuples_is_the_mean_over_tuples_of_a_search_space() -> None:
    edits, random = space("mnist"), np.random.default_rng(0)
    kinds = tuple(" | ".join(edits.texts(edits.draw(random, 3))) for _ in range(4))
    run = snellen.audit(
        "observer:shape", "phantom:test?size=24&n=40", AugmentationAudit(kinds), quiet=True, report=False
    )
    affinity = run.findings().query("name == 'affinity'")["value"]
    fitness = fitness_of("observer:shape", "phantom:test?size=24&n=40")
    assert affinity.tolist() == pytest.approx([fitness(tuple(one.split(" | "))) - fitness(()) for one in kinds])
