"""The interference audit and the flag that travels with every distortion-based number."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

import snellen
from snellen.audits import AUDITS, parse_audits
from snellen.errors import UserError
from snellen.models import Model, from_callable

DATA = "phantom:test?size=32&n=450"


def oracle(edges_class: int | None, name: str = "oracle") -> Model:
    """Knows every clean image by heart; a changed one is answered at random, or as `edges_class` if it is shuffled.

    Shuffling keeps the set of pixels of an image, occlusion and noise do not: that is how it tells them apart.
    """
    data = snellen.load_data(DATA)
    known: dict[bytes, int] = {}
    pixels: dict[bytes, int] = {}
    for photo, label in zip(data.read(range(len(data))), data.samples.labels):
        known[photo.image.tobytes()] = int(label)  # type: ignore[union-attr]
        pixels[np.sort(photo.image.reshape(-1)).tobytes()] = int(label)  # type: ignore[union-attr]

    def answer(images: np.ndarray) -> np.ndarray:
        seen = []
        for image in images:
            if image.tobytes() in known:
                seen.append(known[image.tobytes()])
            elif edges_class is not None and np.sort(image.reshape(-1)).tobytes() in pixels:
                seen.append(edges_class)
            else:
                seen.append(crc32(image.tobytes()) % 12)
        return np.eye(12)[seen]

    return from_callable(answer, size=32, name=name, version=f"{edges_class}")


def test_a_model_that_takes_shuffled_images_for_one_class_is_flagged_with_that_class() -> None:
    run = snellen.audit(oracle(4), DATA, "interference([shuffle(4), occlude(0.5)])", quiet=True, report=False)
    found = run.findings().query("name == 'interference'").set_index("distortion")
    shuffled = found.loc["shuffle(grid=4)"]
    assert shuffled["value"] == pytest.approx(12)  # no clean errors, all errors to one class: DI = K
    assert shuffled["dominant"] == run.facts["data"]["test"]["classes"][4]
    assert shuffled["di_flagged"]
    assert "comparative, not absolute" in shuffled["flag"]
    occluded = found.loc["occlude(area=0.5, fill=black, inside=true, law=exact)"]
    assert occluded["value"] < 0.3
    assert not occluded["di_flagged"]


def test_random_answers_to_shuffled_images_are_not_flagged() -> None:
    run = snellen.audit(oracle(None), DATA, "interference([shuffle(4)])", quiet=True, report=False)
    found = run.findings().query("name == 'interference' and distortion == 'shuffle(grid=4)'")
    assert found["value"].item() < 0.35
    assert not found["di_flagged"].item()


def test_every_distortion_based_finding_carries_its_interference_and_clean_ones_none() -> None:
    run = snellen.audit(oracle(4), DATA, quiet=True, report=False)
    for one in run.results()["findings"]:
        distorted = [text for text in one["distortions"] if text != "none()"]
        assert (one["interference"] is not None) == bool(distorted)
        if distorted:
            assert one["interference"]["distortion"] in distorted
            assert one["interference"]["noise"] is not None


def test_the_grid_follows_the_image_size_unless_given() -> None:
    (audit,) = parse_audits("interference")
    from snellen.audits import Exam

    assert str(audit.chosen(Exam({"test": "ab"}, side=28))[0]) == "shuffle(grid=2)"
    assert str(audit.chosen(Exam({"test": "ab"}, side=32))[0]) == "shuffle(grid=4)"
    (audit,) = parse_audits("interference(grid=8)")
    assert str(audit.chosen(Exam({"test": "ab"}, side=32))[0]) == "shuffle(grid=8)"


@pytest.mark.parametrize("name", AUDITS)
def test_the_text_of_an_audit_parses_back(name: str) -> None:
    (audit,) = parse_audits(name)
    assert parse_audits(str(audit)) == [audit]
    two = parse_audits(f"{name}, interference([occlude(0.2, noise) | shuffle(3)])")
    assert parse_audits(", ".join(map(str, two))) == two


def test_bad_audits_are_told() -> None:
    with pytest.raises(UserError, match="unknown audit 'interferense'; did you mean 'interference'"):
        parse_audits("interferense")
    with pytest.raises(UserError, match="expected distortions to be a list"):
        parse_audits("interference(distortions=4)")


@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_makes_just_the_findings_it_lists(name: str) -> None:
    """`--require` refuses other names before anything is asked."""
    run = snellen.audit(oracle(4), "phantom:test?size=32&n=18", name, quiet=True, report=False)
    made = {one["name"] for one in run.results()["findings"] if one["audit"] == name}
    assert made == set(AUDITS[name].names)
