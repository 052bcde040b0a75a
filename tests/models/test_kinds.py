"""The table of model kinds: one entry is all that a new kind needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from snellen.catalogue import catalogue
from snellen.errors import UserError
from snellen.models import Card, Model, from_callable, from_torch, load_model, subjects_of
from snellen.models.card_memory import recall_card, remember_card
from snellen.models.device import Device
from snellen.models.kinds import KINDS, ModelKind
from snellen.models.observers import background
from snellen.models.text import ModelText, expand_text, parse_text


def load_constant(place: str, argument: str | None, device: Device) -> Model:
    """A model that always says the class of its argument, the number in a file."""
    number = int(Path(argument).read_text()) if argument else 0
    return from_callable(lambda images: np.eye(3)[[number] * len(images)], size=8, name=place, version=str(number))


def test_one_entry_makes_a_kind_that_is_listed_loaded_named_and_run_by_glob(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (2, 10):
        (tmp_path / f"run-{number}.txt").write_text(str(number % 3))
    lines = (("constant:NAME@file.txt", "always the same class"),)
    monkeypatch.setitem(KINDS, "constant", ModelKind(load_constant, lines, takes_argument=True, glob="argument"))
    assert lines[0] in catalogue("models")
    subjects = subjects_of(f"mine=constant:c@{tmp_path}/run-*.txt")
    assert [(one.name, one.run) for one in subjects] == [("mine", "run-2"), ("mine", "run-10")]
    images = torch.zeros(1, 3, 8, 8, dtype=torch.uint8)
    assert [int(one.model()(images).argmax()) for one in subjects] == [2, 1]
    with pytest.raises(UserError, match="unknown kind of model 'constnat'; did you mean 'constant'"):
        load_model("constnat:c")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("timm/resnet18.a1_in1k", ModelText("timm", "resnet18.a1_in1k")),
        ("timm:name@odd", ModelText("timm", "name@odd")),
        ("a/b.safetensors", ModelText("zoo", "", "a/b.safetensors")),
        ("zoo:timm:resnet18@a.pt", ModelText("zoo", "timm:resnet18", "a.pt")),
        ("torchvision:resnet50", ModelText("torchvision", "resnet50")),
        ("torchvision:resnet50@V1", ModelText("torchvision", "resnet50", "V1")),
        ("python:a.py:b@c", ModelText("python", "a.py:b", "c")),
        ("predictions:me@home.csv", ModelText("predictions", "me@home.csv")),
        ("observer:mixture(oracle, guess)", ModelText("observer", "mixture(oracle, guess)")),
    ],
)
def test_a_text_is_read_as_its_kind_says_and_printed_again(text: str, parts: ModelText) -> None:
    assert parse_text(text) == parts
    assert parse_text(str(parts)) == parts


def test_only_the_part_that_may_be_a_glob_makes_runs(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"p{number}.csv").write_text("sample,pred\n")
    name, runs = expand_text(f"predictions:{tmp_path}/p*.csv")
    assert (name, [Path(run.place).name for run in runs]) == ("p", ["p1.csv", "p2.csv"])
    assert expand_text("observer:oracle('phantom:test?n=5')")[1] == [
        ModelText("observer", "oracle('phantom:test?n=5')")
    ]


def test_a_file_of_torch_is_named_by_what_is_in_it(tmp_path: Path) -> None:
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 2))
    torch.save(network.state_dict(), tmp_path / "weights.pt")
    torch.jit.save(torch.jit.trace(network, torch.zeros(1, 3, 2, 2)), tmp_path / "program.pt")
    with pytest.raises(UserError, match=r"'.*weights.pt' holds weights and no architecture; .*'zoo:timm:resnet18@"):
        parse_text(f"{tmp_path}/weights.pt")
    with pytest.raises(
        UserError, match=r"'.*program.pt' is a TorchScript program; name it 'torchscript:.*program.pt#size=8'"
    ):
        parse_text(f"{tmp_path}/program.pt#size=8")
    with pytest.raises(
        UserError, match=r"'.*program.pt' is a TorchScript program, not weights alone; name it 'torchscript:"
    ):
        load_model(f"zoo:smallnet@{tmp_path}/program.pt")
    with pytest.raises(UserError, match="holds weights and no architecture"):
        parse_text("nothing.pt")


def test_cards_say_what_their_models_can_do(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("sample,pred\na,1\n")
    rule = from_callable(lambda images: np.full((len(images), 2), 0.5), size=8, version="1")
    network = from_torch(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 2)), size=8, device="cpu")
    recorded = load_model(f"predictions:{tmp_path}/p.csv")
    cards = [model.card for model in (network, rule, background(), recorded)]
    assert [card.gradients for card in cards] == [True, False, False, False]
    assert [card.live for card in cards] == [True, True, True, False]


def test_planned_cards_say_the_same_as_loaded_ones(tmp_path: Path) -> None:
    from snellen.models.checkpoint import save_checkpoint
    from snellen.models.zoo import NETWORKS

    (tmp_path / "p.csv").write_text("sample,pred\na,1\n")
    save_checkpoint(tmp_path / "net.safetensors", NETWORKS["smallnet"](3), {"arch": "smallnet", "size": [32, 32]})
    for text in ("observer:texture", f"predictions:{tmp_path}/p.csv", f"{tmp_path}/net.safetensors"):
        (subject,) = subjects_of(text)
        loaded = subject.model("cpu").card
        assert (subject.card.gradients, subject.card.live) == (loaded.gradients, loaded.live)


def test_a_remembered_card_from_before_gets_what_its_kind_can_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path))
    parts = parse_text("timm:resnet18.a1_in1k")
    remember_card(Card("resnet18.a1_in1k", str(parts), "1234", gradients=True))
    (file,) = (tmp_path / "cards").iterdir()
    facts = json.loads(file.read_text())
    file.write_text(json.dumps({name: value for name, value in facts.items() if name not in ("gradients", "live")}))
    card = recall_card(parts)
    assert card is not None
    assert (card.gradients, card.live) == (True, True)


def test_listing_models_imports_no_torch() -> None:
    code = (
        "import sys; from snellen.catalogue import catalogue; catalogue('models')\n"
        "print(sorted({'torch', 'timm', 'torchvision', 'pandas', 'scipy'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"
