"""Every kind of model text, on local files through the real loading code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import save_file

import snellen
from snellen.data.canvas import Canvas
from snellen.errors import UserError
from snellen.models import from_callable, from_torch, load_model, subjects_of
from snellen.models.checkpoint import load_state, save_checkpoint
from snellen.models.zoo import NETWORKS


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A zoo checkpoint with a card, of random weights."""
    torch.manual_seed(0)
    card = {"arch": "smallnet", "classes": list("abc"), "size": [32, 32], "mean": [0.5] * 3, "std": [0.25] * 3}
    save_checkpoint(tmp_path / "net-0.safetensors", NETWORKS["smallnet"](3), card)
    return tmp_path / "net-0.safetensors"


def test_a_zoo_checkpoint_loads_by_its_card_and_by_name(checkpoint: Path) -> None:
    by_card, by_name = load_model(str(checkpoint)), load_model(f"zoo:smallnet@{checkpoint}")
    images = torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8)
    assert torch.equal(by_card(images), by_name(images))
    assert by_card.classes == ("a", "b", "c")
    assert by_card.canvas == Canvas(32, 32, "crop", 32)
    assert by_card(images).sum(1).tolist() == pytest.approx([1] * 4)


def test_the_card_of_a_zoo_model_is_read_without_torch_and_follows_the_weights(checkpoint: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from snellen.models import subjects_of; subjects_of(sys.argv[1]); sys.exit('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(checkpoint)]
    assert subprocess.run(command, check=False).returncode == 0
    before = subjects_of(str(checkpoint))[0].card.fingerprint
    torch.manual_seed(1)
    save_checkpoint(checkpoint, NETWORKS["smallnet"](3), {"arch": "smallnet", "classes": list("abc"), "size": [32, 32]})
    assert subjects_of(str(checkpoint))[0].card.fingerprint != before


def test_a_glob_makes_runs_in_natural_order(checkpoint: Path) -> None:
    for number in (2, 10):
        checkpoint.with_name(f"net-{number}.safetensors").write_bytes(checkpoint.read_bytes())
    subjects = subjects_of(f"mine={checkpoint.parent}/net-*.safetensors")
    assert [(s.name, s.run) for s in subjects] == [("mine", "net-0"), ("mine", "net-2"), ("mine", "net-10")]


def test_timm_weights_from_a_local_cache_with_timms_own_preprocessing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hub cache made by hand holds random weights under a real name; the loading code is the real one."""
    import timm

    name = "test_resnet.r160_in1k"
    torch.manual_seed(0)
    theirs = timm.create_model(name, pretrained=False).eval()
    snapshot = tmp_path / "hub" / f"models--timm--{name}" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    save_file(theirs.state_dict(), snapshot / "model.safetensors")
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    model = load_model(f"timm:{name}")
    config = timm.data.resolve_model_data_config(theirs)
    assert model.canvas is not None
    assert (model.canvas.height, model.canvas.interpolation) == (config["input_size"][1], config["interpolation"])
    picture = np.random.default_rng(0).integers(0, 256, (200, 240, 3), dtype=np.uint8)
    from PIL import Image

    from snellen.data.canvas import render
    from snellen.data.dataset import Photo

    with torch.inference_mode():
        expected = theirs(timm.data.create_transform(**config)(Image.fromarray(picture))[None]).softmax(1)
    shown = torch.from_numpy(render(Photo(picture, ""), model.canvas).image)[None]
    torch.testing.assert_close(model(shown), expected, atol=1e-5, rtol=1e-4)
    assert model.classes is not None
    assert model.classes[1].startswith("goldfish")
    assert model.classes[1].endswith("n01443537")
    assert subjects_of(f"timm/{name}")[0].card.fingerprint == model.card.fingerprint


def test_torchvision_weights_from_a_local_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchvision import models

    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    torch.manual_seed(0)
    theirs = models.squeezenet1_1(weights=None).eval()
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    file = models.SqueezeNet1_1_Weights.IMAGENET1K_V1.url.rpartition("/")[2]
    torch.save(theirs.state_dict(), folder / file)
    monkeypatch.setattr("torch.hub.HASH_REGEX", __import__("re").compile("never"))
    model = load_model("torchvision:squeezenet1_1@IMAGENET1K_V1")
    assert model.canvas == Canvas(224, 224, "crop", 256, "bilinear")
    assert model.classes is not None
    assert len(set(model.classes)) == 1000


def test_offline_names_the_torchvision_weights_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("torch.hub.download_url_to_file", lambda *_, **__: pytest.fail("downloaded"))
    with pytest.raises(UserError, match="the weights of 'torchvision:squeezenet1_1@IMAGENET1K_V1' are not downloaded"):
        load_model("torchvision:squeezenet1_1@IMAGENET1K_V1")


def test_a_factory_in_a_file_gets_its_argument(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(
        "import numpy as np\n"
        "def always(which):\n    return lambda images: np.eye(3)[[int(which)] * len(images)]\n"
        "def broken():\n    raise RuntimeError('no weights')\n"
    )
    model = load_model(f"python:{tmp_path}/nets.py:always@2")
    assert model(torch.zeros(1, 3, 8, 8, dtype=torch.uint8)).tolist() == [[0, 0, 1]]
    with pytest.raises(UserError, match="the factory '.*broken' failed: RuntimeError: no weights"):
        load_model(f"python:{tmp_path}/nets.py:broken")
    with pytest.raises(UserError, match="has no 'nothing'; it has: always, broken"):
        load_model(f"python:{tmp_path}/nets.py:nothing")


def test_recorded_predictions_are_audited_like_any_model(tmp_path: Path) -> None:
    data = snellen.load_data("phantom:test?size=16&n=18")
    rows = []
    for distortion in ("none()", "noise(uniform(0, 0.025))", "shuffle(2)"):
        for sample, label in zip(data.samples.ids, data.samples.labels):
            right = distortion == "none()"
            rows.append({"sample": sample, "pred": data.classes[label] if right else -1, "distortion": distortion})
    pd.DataFrame(rows).to_csv(tmp_path / "people.csv", index=False)
    text = f"people=predictions:{tmp_path}/people.csv"
    run = snellen.audit(text, "phantom:test?size=16&n=18", "interference([shuffle(2)])", quiet=True, report=False)
    found = run.findings().set_index("name")["value"]
    assert found["accuracy"] == 1
    assert found["distorted_accuracy"] == 0
    assert set(run.predictions().query("distortion == 'shuffle(grid=2)'")["pred"]) == {-1}
    with pytest.raises(UserError, match="has no answer for sample .* under shuffle"):
        snellen.audit(text, "phantom:test?size=16&n=18", "interference([shuffle(4)])", quiet=True, report=False)


def test_a_callable_without_version_is_known_by_its_source_and_probe_answers() -> None:
    def grey(images: np.ndarray) -> np.ndarray:
        return np.full((len(images), 2), 0.5)

    model = from_callable(grey, size=16)
    assert model.card.probes is not None
    assert len(model.card.probes) == 16
    assert from_callable(grey, size=16, version="3").card.probes is None


def test_precision_and_normalisation_are_part_of_the_fingerprint() -> None:
    torch.manual_seed(0)
    module = torch.nn.Linear(2, 2)
    prints = {
        from_torch(module, size=8).card.fingerprint,
        from_torch(module, size=9).card.fingerprint,
        from_torch(module, size=8, mean=[0.5] * 3, std=[0.5] * 3).card.fingerprint,
    }
    assert len(prints) == 3


class Runs:
    """A pickle that would run code when loaded."""

    def __reduce__(self) -> tuple:
        return (print, ("code was run",))


def test_checkpoints_that_do_not_fit_or_hold_code_are_refused(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    torch.save({"model": Runs()}, tmp_path / "evil.pt")
    with pytest.raises(UserError, match="holds more than weights or is damaged"):
        load_state(tmp_path / "evil.pt")
    assert "code was run" not in capsys.readouterr().out
    with pytest.raises(UserError, match="does not fit this network: it lacks|does not fit: '"):
        load_model(f"zoo:resnet20@{checkpoint}")
    (tmp_path / "text.safetensors").write_text("hello")
    with pytest.raises(UserError, match="is not a safetensors file"):
        load_model(f"zoo:resnet20@{tmp_path}/text.safetensors")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("resnet18", "expected a model as 'kind:name'"),
        ("tim:resnet18", "unknown kind of model 'tim'; did you mean 'timm'?"),
        ("timm:resnet18", "'timm:resnet18' names no weights; choose one of: resnet18."),
        ("timm:resnt18.a1_in1k", "unknown timm model 'resnt18'; did you mean 'resnet18'?"),
        ("torchvision:resnet50", "names no weights; write torchvision:resnet50@IMAGENET1K_V2"),
        ("torchvision:resnet50@V3", "unknown weights of resnet50 'V3'"),
        ("zoo:resnet20", "'zoo:resnet20' names no weights"),
        ("nothing.safetensors", "no checkpoint 'nothing.safetensors'"),
        ("a=nothing-*.safetensors", "no file matches 'nothing-*.safetensors'"),
        ("python:os", "expected 'python:package.module:name'"),
        ("python:no.such:thing", "cannot import 'no.such'"),
        ("predictions:none.csv", "no predictions file 'none.csv'"),
    ],
)
def test_bad_texts_are_told(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load_model(text)
    assert message in str(caught.value)
