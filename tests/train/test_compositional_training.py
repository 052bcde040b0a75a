"""Training compositional networks: from a trained backbone to a checkpoint that finds what hides objects."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

import snellen
from snellen.data import load_data
from snellen.distort import apply
from snellen.errors import UserError
from snellen.explain.methods import METHODS
from snellen.models import load_model
from snellen.models.checkpoint import read_card
from snellen.train import train
from snellen.train.device_dataset import remember

FEW = "phantom:train?size=28&n=96"


@pytest.fixture
def start(tmp_path):
    (path,) = train(None, FEW, tmp_path / "start", epochs=1, device="cpu")
    return path


def test_a_checkpoint_names_all_it_is_built_from_and_is_a_model_like_any_other(tmp_path, start) -> None:
    arch = "compositional(smallnet, kernels=8, mixtures=2)"
    (path,) = train(None, FEW, tmp_path / "parts", arch=arch, epochs=1, lr=0.01, device="cpu", init=start)
    card = read_card(path)
    assert card["recipe"]["arch"] == arch
    assert card["arch"].startswith("compositional(backbone=smallnet, layer=stage4, kernels=8, mixtures=2, ")
    assert card["arch"].endswith("channels=96, rows=3, columns=3)")
    model = load_model(str(path))
    images = torch.randint(0, 256, (3, 3, 28, 28), dtype=torch.uint8)
    answers = model(images)
    assert answers.shape == (3, len(card["classes"]))
    assert torch.allclose(answers.sum(1), torch.ones(3), atol=1e-5)
    again = train(None, FEW, tmp_path / "parts", arch=arch, epochs=1, lr=0.01, device="cpu", init=start)
    assert again == [path]  # it is there already


def test_a_run_that_was_stopped_ends_with_the_same_weights(tmp_path, start) -> None:
    from snellen.models.checkpoint import load_state

    class Stopped(Exception):
        pass

    def stop(progress) -> None:
        if progress.epoch == 1:
            raise Stopped

    settings = {"arch": "compositional(smallnet, kernels=8, mixtures=2)", "epochs": 2, "lr": 0.01, "device": "cpu"}
    (whole,) = train(None, FEW, tmp_path / "whole", init=start, **settings)
    with pytest.raises(Stopped):
        train(None, FEW, tmp_path / "parts", init=start, progress=stop, **settings)
    (resumed,) = train(None, FEW, tmp_path / "parts", init=start, **settings)
    first, second = load_state(whole), load_state(resumed)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_what_a_compositional_network_lacks_is_said_in_a_line(tmp_path, start) -> None:
    def refusal(arch: str, data: str = FEW, **settings: object) -> str:
        with pytest.raises(UserError) as error:
            train(None, data, tmp_path / "x", arch=arch, epochs=1, device="cpu", **{"init": start, **settings})
        return str(error.value)

    assert "name its checkpoint with --init" in refusal("compositional(smallnet)", init=None)
    assert "leave --mix out" in refusal("compositional(smallnet)", mix="cutmix")
    text = refusal("compositional(smallnet, kernels=2000)", "phantom:train?size=28&n=24")
    assert "24 images have 216 features, fewer than 2000 kernels" in text
    text = refusal("compositional(smallnet, kernels=8, mixtures=50)")
    assert "has 8 images, fewer than the 50 mixtures of each class; leave the class out, or write mixtures=8" in text
    assert "has no layer with a map of features" in refusal("compositional(vit_small_p8)", init=_untrained(tmp_path))


def test_a_class_without_images_is_named(tmp_path) -> None:
    """Of four images all are cats, so dogs have no parts."""
    from snellen.models.compositional import Compositional
    from snellen.models.compositional.network import CompositionalNet, find_features
    from snellen.models.zoo import build
    from snellen.train.compositional import Beginning
    from snellen.train.device_dataset import ImagesInMemory

    images = torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8)
    backbone = build("smallnet", 2).eval()
    settings = find_features(Compositional("smallnet", kernels=4), backbone, images.float())
    beginning = Beginning(
        None, ImagesInMemory(images, torch.zeros(4, dtype=torch.int64)), ("cat", "dog"), torch.Tensor.float, 0
    )
    with (
        torch.no_grad(),
        pytest.raises(UserError, match="class 'dog' has no images to learn its parts from; leave it out"),
    ):
        beginning.fit(CompositionalNet(settings, backbone, 2))


def _untrained(folder):
    (path,) = train(None, FEW, folder / "vit", arch="vit_small_p8", epochs=1, device="cpu")
    return path


def test_other_backgrounds_are_another_training(tmp_path, start) -> None:
    arch = "compositional(smallnet, kernels=8, mixtures=1, backgrounds='phantom:test?size=28&n=20&seed={}')"
    settings = {"epochs": 1, "lr": 0.01, "device": "cpu", "init": start}
    (first,) = train(None, FEW, tmp_path / "a", arch=arch.format(0), **settings)
    (second,) = train(None, FEW, tmp_path / "b", arch=arch.format(1), **settings)
    assert read_card(first)["backgrounds"] != read_card(second)["backgrounds"]


def test_every_measure_of_explanations_reads_its_map(tmp_path, start) -> None:
    """By the name of the method: shares of energy, pointing, faithfulness, and pixels hidden by the map; and as pictures."""
    arch = "compositional(smallnet, kernels=8, mixtures=1)"
    (path,) = train(None, FEW, tmp_path / "parts", arch=arch, epochs=1, lr=0.01, device="cpu", init=start)
    audits = (
        "explanation(method=occluder, filter=off, curves=off), inside_mask(method=occluder), "
        "faithfulness(method=occluder, tile=7), interference([salient(0.2, method=occluder)])"
    )
    data = "phantom:test?size=28&n=12"
    run = snellen.audit(f"parts={path}", data, audits, tmp_path / "run", quiet=True, report=False)
    findings = run.findings().set_index("name")["value"]
    measured = ("energy_pg", "ehr", "pointing_game", "wsol_iou", "wsol", "inside_mask", "inter_model_deletion")
    assert np.isfinite(findings[list(measured)].to_numpy(float)).all()
    images = remember(load_data(data), torch.device("cpu")).images
    made = METHODS["occluder"].make(load_model(str(path)), images).numpy()
    stored = run.maps("parts", method="occluder").maps
    assert stored / 65535 == pytest.approx(made / made.max((1, 2), keepdims=True), abs=1e-3)


@pytest.mark.slow
def test_the_map_of_occluders_finds_them_in_the_phantom_world(tmp_path) -> None:
    """AUC of at least 0.85 against the true squares, image by image, on features of 8 × 8 places; chance is 0.5."""
    world = "phantom:{}?size=64&n={}&texture_bias=0.5"
    (base,) = train(None, world.format("train", 3000), tmp_path / "base", epochs=8, device="cpu")
    arch = "compositional(smallnet, layer=stage3, kernels=128, mixtures=1)"
    settings = {"epochs": 1, "lr": 0.001, "device": "cpu", "init": base}
    (path,) = train(None, world.format("train", 3000), tmp_path / "parts", arch=arch, **settings)
    data = load_data(world.format("test", 100))
    clean = remember(data, torch.device("cpu")).images
    hidden = apply("occlude(0.2, noise)", clean, ids=list(data.samples.ids))
    maps = METHODS["occluder"].make(load_model(str(path)), hidden).numpy()
    truth = (hidden != clean).any(1).numpy()
    areas = [roc_auc_score(mask.ravel(), heat.ravel()) for mask, heat in zip(truth, maps)]
    assert np.mean(areas) >= 0.85
    right = load_model(str(base))(clean).argmax(1).numpy() == data.samples.labels
    assert np.mean(right) >= 0.8  # the backbone has learnt its task
    with pytest.raises(UserError, match="has no model of occluders; method occluder is for networks trained as"):
        METHODS["occluder"].make(load_model(str(base)), hidden[:1])
