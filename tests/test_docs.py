"""The docs are true: generated parts are current, public names are there, links lead somewhere."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.audits import AUDITS
from snellen.distort import DISTORTIONS
from snellen.models import from_callable

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def builder(name: str = "build") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_current() -> None:
    assert (ROOT / "docs" / "reference.md").read_text() == builder().reference(), "run `make docs`"


def test_every_distortion_and_audit_is_documented() -> None:
    for cls in (*DISTORTIONS.values(), *AUDITS.values()):
        assert cls.__doc__
        assert len(cls.__doc__) > 15


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize(
    "name", ["audit", "load_data", "load_model", "load_run", "Run", "distort", "measure", "models"]
)
def test_public_names_are_there(name: str) -> None:
    assert getattr(snellen, name) is not None


def test_the_worked_examples_of_the_docs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distortion and the measure of the two how-to pages are compiled and used as written."""
    from snellen.distort import View, parse
    from snellen.distort.language import DISTORTIONS as table
    from snellen.lazy_torch import torch

    def code(page: str, number: int) -> dict:
        held: dict = {"__name__": f"docs_{number}"}
        import sys

        module = ModuleType(held["__name__"])
        sys.modules[module.__name__] = module
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)
        exec(blocks[number], module.__dict__)
        return module.__dict__

    curtain = code("add-a-distortion.md", 0)["Curtain"]
    monkeypatch.setitem(table, "curtain", curtain)
    images = torch.full((200, 3, 8, 10), 9, dtype=torch.uint8)
    out = parse("curtain(0.3)")(images, View.of([str(i) for i in range(200)]))
    assert (out == 0).flatten(1).float().mean(1).unique().tolist() == pytest.approx([0.3])
    left = (out[:, 0, 0, 0] == 0).float().mean()
    assert 0.35 < float(left) < 0.65
    flip_rate = code("add-a-measure.md", 0)["flip_rate"]
    assert flip_rate([1, 2, 3, 0], [1, 2, 3, 1]).value == 0.25
    monkeypatch.setattr("snellen.measure.flip_rate", flip_rate, raising=False)
    monkeypatch.setitem(AUDITS, "flips", code("add-a-measure.md", 2)["Flips"])
    first_pixel = from_callable(lambda images: np.eye(12)[images[:, 0, 0, 0] % 12], size=16, name="m", version="1")
    run = snellen.audit(first_pixel, "phantom:test?size=16&n=90", "flips(grid=2)", quiet=True)
    found = run.findings().query("name == 'flip_rate'")
    answers = run.predictions().pivot(index="sample", columns="distortion", values="pred")
    assert found["value"].item() == pytest.approx((answers["none()"] != answers["shuffle(grid=2)"]).mean())
    assert found["di"].notna().item()


def test_the_examples_of_the_phantom_page_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "phantom.md").read_text(), re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {"__name__": "docs_phantom"})


def test_the_phantom_page_names_every_dial_and_every_field_of_the_truth() -> None:
    from snellen.data.phantom import DIALS, FORMATS, Truth
    from snellen.data.phantom.shapes import NODES, SHAPES

    page = (ROOT / "docs" / "phantom.md").read_text()
    for name in (*DIALS, *FORMATS, *(f.name for f in dataclasses.fields(Truth))):
        assert f"`{name}`" in page, name
    for name in (*SHAPES, *NODES):
        assert re.search(rf"(── |, ){name}\b", page), name


def test_the_pictures_of_the_phantom_page_are_current_and_small() -> None:
    pictures, folder = builder("phantom_pictures").PICTURES, ROOT / "docs" / "images"
    page, total = (ROOT / "docs" / "phantom.md").read_text(), 0
    for name, drawn in pictures.items():
        file = folder / f"phantom-{name.replace('_', '-')}.png"
        assert f"images/{file.name}" in page
        total += file.stat().st_size
        with Image.open(file) as image:
            stored, now = np.asarray(image.convert("RGB")).astype(int), np.asarray(drawn()).astype(int)
        assert stored.shape == now.shape, f"{file.name}: run `python docs/build.py --phantom`"
        assert abs(stored - now).mean() < 4, f"{file.name}: run `python docs/build.py --phantom`"  # of a palette
    assert total < 1_000_000
    assert len(list(folder.glob("phantom-*"))) == len(pictures)
