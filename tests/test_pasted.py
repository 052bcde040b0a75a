"""Blocks of the pages that build on each other, pasted in their order beside networks that were never trained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from snellen.cli import main
from snellen.data import load_data
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import build

from .pages import commands

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the training commands of the pages would leave."""
    monkeypatch.chdir(tmp_path)
    classes = list(load_data("phantom:test?size=32&n=12").classes)
    for seed, name in enumerate(("biased", "plain")):
        torch.manual_seed(seed)
        (tmp_path / "nets" / name).mkdir(parents=True)
        card = {"arch": "smallnet", "classes": classes, "size": [32, 32]}
        save_checkpoint(tmp_path / "nets" / name / "seed0.safetensors", build("smallnet", len(classes)), card)


def paste(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words[1:])
    assert not ended.value.code, words


@pytest.mark.slow
def test_models_side_by_side_are_explained_by_the_command_and_in_python(networks: None, tmp_path: Path) -> None:
    page = (DOCS / "questions/explanations.md").read_text().partition("## Models side by side")[2].partition("\n## ")[0]
    for words in commands(page):
        if words[1] in ("explain", "audit"):
            paste(words)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    names: dict[str, object] = {}
    exec(code, names)
    assert names["shares"].shape == (1, 64)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_backgrounds_that_fool_are_listed_by_the_query(networks: None, capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "questions/background.md").read_text().partition("## 4. ")[2].partition("\n## ")[0]
    audit, sql = commands(page)
    paste([*audit, "--quiet"])
    capsys.readouterr()
    paste(sql)
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "background"
    assert 1 <= len(rows) <= 5
