"""Without a network: nothing is asked under `--offline`, a hub that does not answer is one line, and folders do as well."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path

import pytest
import timm
import torch
from timm.models import save_for_hf

import snellen
from snellen import offline
from snellen.errors import UserError, command
from snellen.models import load_model, subjects_of
from snellen.offline import asking, reaches

HUBS = ["timm:test_resnet.r160_in1k", "hf:owner/name", "torchvision:squeezenet1_1@IMAGENET1K_V1"]


@pytest.fixture(autouse=True)
def empty_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))  # which remembers the cards of models that were loaded
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(offline, "_unreachable", {})


@pytest.mark.parametrize("text", HUBS)
def test_offline_opens_no_connection(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **named: object) -> None:
        pytest.fail(f"a connection was opened: {given}")

    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(UserError) as error:
        snellen.audit(text, "phantom:test?n=4&size=32", offline=True, dry_run=True)
    assert text.partition("@")[0].partition(".")[0] in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(UserError, match="offline"):
        snellen.match(text, "phantom:test?n=4&size=32", offline=True)


@pytest.mark.parametrize("text", HUBS)
def test_a_hub_that_cannot_be_reached_is_one_line_and_is_not_asked(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = []

    def unreachable(address: tuple[str, int], **named: object) -> None:
        attempts.append(address)
        raise OSError("no route")

    monkeypatch.setattr(socket, "create_connection", unreachable)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **named: pytest.fail(f"a name was looked up: {given}"))
    with pytest.raises(UserError) as error:
        load_model(text)
    assert "\n" not in str(error.value)
    assert (
        "is not in the cache" in str(error.value)
        or "cannot be reached" in str(error.value)
        or "HF_HOME" in str(error.value)
    )
    assert [host for host, _ in attempts] == ["download.pytorch.org" if "torchvision" in text else "huggingface.co"]


def test_a_server_that_accepts_is_reached_and_one_that_is_gone_is_tried_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert reaches(address)
    assert not reaches(address)
    monkeypatch.setattr(threading, "Thread", lambda **named: pytest.fail("tried again at once"))
    assert not reaches(address)
    with asking(address) as why:
        assert why == "'127.0.0.1' cannot be reached; connect to the network once, or name files of this machine"
    offline._unreachable[address] -= offline.FORGET
    with pytest.raises(pytest.fail.Exception, match="tried again"):
        reaches(address)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert reaches(address)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What timm writes for the hub, of a network with three classes and a preprocessing of its own."""
    torch.manual_seed(0)
    network = timm.create_model("test_resnet", num_classes=3)
    config = {"label_names": ["cat", "dog", "cow"]}
    save_for_hf(network, tmp_path / "mine", model_config=config, safe_serialization=True)
    return tmp_path / "mine"


def test_a_folder_that_timm_wrote_is_a_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = timm.create_model(f"local-dir:{folder}", pretrained=True).eval()
    model = load_model(f"timm:{folder}")
    settings = timm.data.resolve_model_data_config(theirs)
    assert (model.name, model.classes) == ("mine", ("cat", "dog", "cow"))
    assert model.canvas is not None
    assert model.canvas.height == settings["input_size"][1]
    assert model.card.mean == tuple(settings["mean"])
    shown = torch.randint(0, 256, (2, 3, 160, 160), dtype=torch.uint8)
    mean, std = (torch.tensor(settings[name]).view(3, 1, 1) for name in ("mean", "std"))
    with torch.inference_mode():
        expected = theirs((shown / 255 - mean) / std).softmax(1)
    torch.testing.assert_close(model(shown), expected, atol=1e-5, rtol=1e-4)
    before = subjects_of(f"timm:{folder}")[0].card.fingerprint
    torch.manual_seed(1)
    save_for_hf(timm.create_model("test_resnet", num_classes=3), folder, safe_serialization=True)
    assert subjects_of(f"timm:{folder}")[0].card.fingerprint != before  # no card of a folder is remembered


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"architecture": "resnet81"}, "unknown timm model in '.*config.json' 'resnet81'; did you mean 'resnet"),
        ({"architecture": 5}, "config.json: architecture: expected str, got int"),
        ({"num_classes": 10**9}, "num_classes: expected int <= 100000"),
        ({"num_classes": 4}, r"does not fit: 'fc.bias' is \[3\], expected \[4\]"),
    ],
)
def test_a_folder_that_does_not_fit_is_one_line(change: dict[str, object], message: str, folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(UserError, match=message):
        load_model(f"timm:{folder}")


def test_a_folder_without_weights_is_one_line(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"model.safetensors"):
        load_model(f"timm:{folder}")


def test_how_to_allow_downloads_is_said_of_what_forbids_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable counts for commands that have no `--offline`; with both, leaving the option out is not enough."""
    said = []
    for typed, setting in ((True, True), (False, True), (True, False)):
        with command(typed), offline.offline(setting):
            if not setting:
                monkeypatch.setenv("HF_HUB_OFFLINE", "1")
            with asking("http://hub") as advice:
                said.append(advice)
    with command(), offline.offline(True), asking("http://hub") as advice:
        said.append(advice)
    assert said == [
        *("run once without --offline", "run once without offline=True", "unset HF_HUB_OFFLINE", "unset HF_HUB_OFFLINE"),
    ]  # fmt: skip
    assert os.environ.get("HF_HUB_OFFLINE") == "1"
    assert "SNELLEN_OFFLINE" not in os.environ
