"""Words are shown, never read: whatever labels, topics and texts of findings say, pages hold the same rows and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.audits import AUDITS
from snellen.engine.keep.run_folder import RunFolder
from snellen.exam.run import Run
from snellen.report import brief_page_of, page_of

from ..audits.test_attention_audit import planted, white_objects
from ..audits.test_explanation import network, red_things
from ..audits.test_occluders_people import DATA as CLIPS
from ..audits.test_occluders_people import write_people
from ..audits.test_replies import refusing
from ..audits.test_shift_audit import by_red, flat_images
from ..models.chat_service import serve_chat
from .reading import ChangedRun

PHANTOM = "phantom:test?size=16&n=36"
OBSERVERS = ["shape=observer:shape", "texture=observer:texture", "patches=observer:patches(4)"]
UNITS = [f"u{share}=python:snellen.models.planted:concept_units@0.{share}" for share in (5, 3)]

# Places on pages, as `changes` writes them, where texts are shown in two pieces: what those of all models begin with stands at
# the row, the rest at each model (`report/table.py`, `parted`). Nothing is lost or read there.
SHOWN_IN_PIECES = (r".*\.rows\[\d+\](\.head\.more|.*\.note):",)


def run_of_occluders(folder: Path) -> Run:
    people = write_people(folder / "people.csv")
    audit = f"occluders(synthetic=[black], diffuse=[solid], lattices=[0.5], px=[2, 4], people='{people}')"
    return snellen.audit(OBSERVERS, CLIPS, audit, folder / "run", quiet=True, report=False)


def run_of_squares(folder: Path) -> Run:
    audits = "occlusion(areas=[0.1, 0.5], validate=true),interference(grid=2),augmentation([occlude(0.3), noise]),calibration"
    how = {"train": "phantom:train?size=16&n=36", "quiet": True, "report": False}
    return snellen.audit(OBSERVERS[:2], PHANTOM, audits, folder / "run", **how)


def run_of_backgrounds(folder: Path) -> Run:
    audits = "background,adversarial_backgrounds(rates=true, worst=12),shape"
    data = f"{PHANTOM}&texture_bias=1"
    return snellen.audit(OBSERVERS[:2], data, audits, folder / "run", quiet=True, report=False)


def run_of_maps(folder: Path) -> Run:
    models = {"red": network(1.0, 0.0, -0.5), "blue": network(0.2, 0.0, 1.0)}
    audits = "inside_mask,explanation(examples=1),faithfulness(tile=4, error=3)"
    data = red_things(8, masks=True)
    return snellen.audit(models, data, audits, folder / "run", quiet=True, report=False, device="cpu")


def run_of_concepts(folder: Path) -> Run:
    return snellen.audit(UNITS, PHANTOM, "concepts(layer=units)", folder / "run", quiet=True, report=False, limit=20)


def run_of_attention(folder: Path) -> Run:
    models = [planted(200, "object"), planted(0, "even")]
    audit = "attention(occluders=[lattice(0.5, 8), lattice(0.5, 4)], examples=1)"
    return snellen.audit(models, white_objects(), audit, folder / "run", quiet=True, report=False)


def run_of_shift(folder: Path) -> Run:
    audit = "shift(set=mnist, length=1, random=20, evaluations=10, images=24)"
    return snellen.audit([by_red(), by_red(140.0)], flat_images(), audit, folder / "run", quiet=True, report=False)


def run_of_corruptions(folder: Path) -> Run:
    audit = "corruptions([fog, brightness, jpeg_compression], severities=[1, 5])"
    return snellen.audit(OBSERVERS[:2], PHANTOM, audit, folder / "run", quiet=True, report=False)


def run_of_services(folder: Path) -> Run:
    """Chat models that differ in the order of options, asked twice, one beside a network."""
    with serve_chat(refusing) as server:
        chat = f"chat:{server.url}#model=m&retries=0&repeats=2&protocol=choice"
        models = [f"vlm={chat}", f"other-order={chat}&order=1", "shape=observer:shape"]
        audits = "delivery([jpeg(50), rescale(0.25)])"
        return snellen.audit(models, PHANTOM, audits, folder / "run", quiet=True, report=False)


RUNS: dict[Callable[[Path], Run], tuple[str, ...]] = {
    run_of_occluders: ("occluders",),
    run_of_squares: ("occlusion", "interference", "augmentation", "calibration"),
    run_of_backgrounds: ("background", "adversarial_backgrounds", "shape"),
    run_of_maps: ("inside_mask", "explanation", "faithfulness"),
    run_of_concepts: ("concepts",),
    run_of_attention: ("attention",),
    run_of_shift: ("shift",),
    run_of_corruptions: ("corruptions",),
    run_of_services: ("delivery", "replies"),
}


class Dictionary:
    """A word for each label, topic and text, which says nothing of what it stands for; several of one text are one word."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    def word(self, text: str) -> str:
        word = self.words.setdefault(text, f"Qx{len(self.words)}zq")
        self.texts[word] = text
        return word

    def rename(self, finding: dict[str, Any]) -> dict[str, Any]:
        """The finding with other words."""
        trust = finding["interference"]
        told = {name: self.word(finding[name]) for name in ("label", "topic", "text")}
        return {**finding, **told, "interference": trust and {**trust, "text": self.word(trust["text"])}}

    def put_back(self, value: Any) -> Any:
        """What holds these words, with the texts that they stand for."""
        if isinstance(value, dict):
            return {name: self.put_back(inside) for name, inside in value.items()}
        if isinstance(value, list | tuple):
            return [self.put_back(inside) for inside in value]
        return re.sub(r"Qx\d+zq", lambda match: self.texts[match[0]], value) if isinstance(value, str) else value


def pages_of(run: RunFolder) -> dict[str, Any]:
    """The blocks of the brief page, those above its chapters, and its chapters by title."""
    parts: dict[str, Any] = {"brief page": brief_page_of(run).to_json()["blocks"]}
    heading = "top"
    for block in page_of(run).to_json()["blocks"]:
        if block["kind"] == "chapter":
            heading = block["title"]
        parts.setdefault(heading, []).append(block)
    return parts


def changes(before: Any, after: Any, place: str) -> Iterator[str]:
    """Where two pages differ, down to the text of a cell and the point of a chart."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            yield from changes(before.get(name), after.get(name), f"{place}.{name}")
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        for number, (inside, instead) in enumerate(zip(before, after)):
            yield from changes(inside, instead, f"{place}[{number}]")
    elif before != after:
        yield f"{place}: {before!r} became {after!r}"


@pytest.mark.parametrize("make", RUNS, ids=lambda make: make.__name__)
def test_a_page_shows_words_whole_and_reads_nothing_from_them(make: Callable[[Path], Run], tmp_path: Path) -> None:
    """Every label, topic and text becomes another word. With the old ones put back, the page is the same to the letter: nothing
    was found by its words, cut out of them or counted by them."""
    run, dictionary = make(tmp_path), Dictionary()
    assert {finding["audit"] for finding in run.results()["findings"]} >= set(RUNS[make])
    before, after = pages_of(run), pages_of(ChangedRun(run, dictionary.rename))
    assert "Qx0zq" in str(after["All findings"])  # the label of the first finding
    assert list(before) == list(after)
    differences = [
        change for part in before for change in changes(before[part], dictionary.put_back(after[part]), part)
    ]
    assert not [change for change in differences if not any(re.match(place, change) for place in SHOWN_IN_PIECES)]


def test_every_audit_is_in_a_run() -> None:
    assert {name for names in RUNS.values() for name in names} == set(AUDITS)
