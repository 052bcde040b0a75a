"""The interference audit and the flag that travels with every distortion-based number."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

import snellen
from snellen.audits import AUDITS, Exam, Finding, InterferenceAudit, parse_audits
from snellen.audits.facts import FindingFacts
from snellen.distort import Shuffle
from snellen.engine import AnswerBlock, Answers
from snellen.errors import UserError
from snellen.models import Model, from_callable, from_torch
from snellen.models.zoo import NETWORKS

from ..models.chat_service import completion, serve_chat

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
    assert "to compare between models, not a score" in shuffled["flag"]
    occluded = found.loc["occlude(area=0.5, fill=black, inside=true, law=exact)"]
    assert occluded["value"] < 0.3
    assert not occluded["di_flagged"]


def test_the_published_index_and_the_published_sigma_stand_beside() -> None:
    run = snellen.audit(
        oracle(None), DATA, "interference([shuffle(4)], published_noise=true)", quiet=True, report=False
    )
    found = {one["distortions"][0]: one for one in run.results()["findings"] if one["name"] == "interference"}
    shuffled = found["shuffle(grid=4)"]
    assert shuffled["facts"]["published_index"] == pytest.approx(np.mean(shuffled["per_run"]))
    assert shuffled["interference"]["published"] == shuffled["facts"]["published_index"]
    assert f"as published {shuffled['facts']['published_index']:.2f}" in shuffled["text"]
    assert "our choice" in found["noise(sigma=uniform(low=0, high=0.025))"]["text"]
    assert (
        "the published sigma, read as 0.1 of the pixel range" in found["noise(sigma=uniform(low=0, high=0.1))"]["text"]
    )
    assert "our choice" in shuffled["interference"]["text"]


def test_random_answers_to_shuffled_images_are_not_flagged() -> None:
    run = snellen.audit(oracle(None), DATA, "interference([shuffle(4)])", quiet=True, report=False)
    found = run.findings().query("name == 'interference' and distortion == 'shuffle(grid=4)'")
    assert found["value"].item() < 0.35
    assert not found["di_flagged"].item()


def test_every_distortion_based_finding_carries_its_interference_and_clean_ones_none() -> None:
    run = snellen.audit(oracle(4), DATA, "occlusion,interference", quiet=True, report=False)
    for one in run.results()["findings"]:
        distorted = [text for text in one["distortions"] if text != "none()"]
        assert (one["interference"] is not None) == bool(distorted)
        if distorted:
            assert one["interference"]["distortion"] in distorted
            assert one["interference"]["noise"] is not None


def test_the_grid_follows_the_image_size_unless_given() -> None:
    (audit,) = parse_audits("interference")
    assert str(audit.distortions_for(Exam(classes={"test": "ab"}, side=28))[0]) == "shuffle(grid=2)"
    assert str(audit.distortions_for(Exam(classes={"test": "ab"}, side=32))[0]) == "shuffle(grid=4)"
    (audit,) = parse_audits("interference(grid=8)")
    assert str(audit.distortions_for(Exam(classes={"test": "ab"}, side=32))[0]) == "shuffle(grid=8)"


def test_a_sweep_is_asked_beside_what_is_chosen_and_nothing_twice() -> None:
    exam = Exam(classes={"test": "abc"}, side=32)
    (audit,) = parse_audits("interference(sweep=[shuffle(2), shuffle(4), shuffle(8)])")
    asked = [str(cell.distortion) for cell in audit.cells(exam)]
    assert [text for text in asked if "shuffle" in text] == [f"shuffle(grid={grid})" for grid in (4, 2, 8)]
    assert len(asked) == 5
    (audit,) = parse_audits("interference([shuffle(2), shuffle(2)], sweep=[shuffle(8)])")
    assert [str(cell.distortion) for cell in audit.cells(exam)] == ["shuffle(grid=2)", "shuffle(grid=8)"]
    assert parse_audits(str(audit)) == [audit]


def concluded(clean: list[list[int]], distorted: list[list[int]], classes: str) -> Finding:
    """The interference finding of the shuffle, from answers to images that are all of class 0; noise changes nothing."""
    exam, samples = Exam(classes={"test": classes}, side=32), len(clean[0])

    def block(pred: list[list[int]]) -> AnswerBlock:
        given, labels, shown = np.array(pred), np.zeros(samples, int), np.ones(samples, bool)
        score = (given == labels).astype(np.float32)
        return AnswerBlock(
            given, given, score, score, score, labels, np.full(samples, np.nan), shown, np.arange(samples)
        )

    audit = InterferenceAudit((Shuffle(2),))
    blocks = {exam.clean(): block(clean), exam.yardstick(): block(clean), audit.cells(exam)[0]: block(distorted)}
    told = audit.conclude(exam, Answers("m", ["run"] * len(clean), blocks, {"test": classes}))
    (one,) = [one for one in told if one.name == "interference" and "shuffle" in str(one.cells[0].distortion)]
    return one


def test_the_worst_case_of_table_9_is_told_with_its_spread_by_hand() -> None:
    # Four classes, ten images of class a. Errors b, c, d, clean → distorted:
    #   run 0: none → 4, 0, 0: b rises by 1, times K: 4.
    #   run 1: none → 0, 2, 2: c and d rise by 1/2 each: 2 and 2.
    # cmax = b, mean rise 2: v = 4/4 · 2 = 2 and 0, index 1, deviation √2.
    # Worst case: weighted by the highest rise of b, 4: 4/4 · 4 = 4 and 0, mean 2, deviation 2√2.
    # Each run its own class: maxima 4 and 2, mean 3: 4/4 · 3 = 3 and 2/4 · 3 = 1.5, mean 2.25, deviation 1.5/√2.
    clean = [[0] * 10] * 2
    one = concluded(clean, [[1, 1, 1, 1] + [0] * 6, [2, 2, 3, 3] + [0] * 6], "abcd")
    assert (one.plain_facts["published_index"], one.plain_facts["dominant"]) == (pytest.approx(1), "b")
    assert one.low <= one.value <= one.high
    assert one.plain_facts["std"] == pytest.approx(2**0.5)
    assert one.plain_facts["worst_case"] == pytest.approx(2)
    assert one.plain_facts["worst_case_std"] == pytest.approx(2 * 2**0.5)
    assert one.plain_facts["per_run_worst"] == pytest.approx(2.25)
    assert one.plain_facts["per_run_worst_std"] == pytest.approx(1.5 / 2**0.5)


def test_the_facts_hold_both_chances_with_and_without_clean_errors() -> None:
    # Ten classes, five runs of 500 errors, all on one class; 100 clean errors, all on class b.
    clean, distorted = [[1] * 100 + [0] * 400] * 5, [[3] * 500] * 5
    facts = concluded(clean, distorted, "abcdefghij").plain_facts
    # No throw of 500 errors reaches it; five runs agree on one class (not b) in 9 of 10⁵ draws.
    assert facts["p_uniform"] == facts["p_one"] == pytest.approx(1 / 1001)
    nulls = facts["nulls"]
    assert nulls["uniform"]["p"] == facts["p_uniform"]
    # Without clean errors: the rule of five runs, FACTS 1.1; pooled as in B.2: 0.10 (4e-5) and 0.10 ± 0.30.
    assert nulls["uniform_without_clean_errors"]["mean"] == pytest.approx(0.121, abs=0.001)
    assert nulls["one_without_clean_errors"]["mean"] == pytest.approx(1.42, abs=0.1)
    assert nulls["published"]["uniform"]["mean"] == pytest.approx(0.10)
    assert nulls["published"]["uniform"]["standard_error"] == pytest.approx(4.24e-5, rel=0.01)
    assert nulls["published"]["one"]["std"] == pytest.approx(0.30)
    # With them b falls from 1 to about 1/10 and nine classes rise, each by 10 · 1/10 = 1: index about 1/9 · 1.
    assert nulls["uniform"]["mean"] == pytest.approx(1 / 9, abs=0.03)


def test_scattered_errors_have_no_small_p_value() -> None:
    scattered = [[1 + (i + run) % 9 if i < 90 else 0 for i in range(200)] for run in range(3)]
    one = concluded([[0] * 200] * 3, scattered, "abcdefghij")
    assert one.plain_facts["p_uniform"] > 0.5
    assert f"p = {one.plain_facts['p_uniform']:.3f} for errors at random" in one.text
    assert "one run" not in one.text


def test_one_run_has_no_spread_and_the_finding_says_so() -> None:
    one = concluded([[0] * 200], [[i % 10 for i in range(200)]], "abcdefghij")
    assert np.isnan(one.plain_facts["std"])
    assert "one run: no spread over runs" in one.text


def test_two_classes_show_no_dominant_class_and_no_p_value() -> None:
    one = concluded([[1, 0, 0, 0]], [[1, 1, 1, 0]], "ab")
    assert "with two classes no dominant class can be shown" in one.text
    assert one.plain_facts["dominant"] == "none"
    assert np.isnan([one.plain_facts["p_uniform"], one.plain_facts["p_one"]]).all()
    assert "published" not in one.plain_facts["nulls"]


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


@pytest.fixture
def undeclared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the findings that are made with facts of no declared type."""
    names: list[str] = []
    complete = Finding.__post_init__

    def watch(finding: Finding) -> None:
        if not isinstance(finding.facts, FindingFacts):
            names.append(finding.name)
        complete(finding)

    monkeypatch.setattr(Finding, "__post_init__", watch)
    return names


@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_makes_just_the_findings_it_lists_with_facts_of_their_types(name: str, undeclared: list[str]) -> None:
    """`--require` refuses other names before anything is asked."""
    inside = dict.fromkeys(
        ("inside_mask", "explanation", "faithfulness", "concepts"), "smallnet"
    )  # which look into networks
    inside["attention"] = "vit_small_p8"
    with serve_chat(lambda body: completion("none of these")) as server:
        if name == "replies":
            model: object = f"chat:{server.url}#model=m&retries=0"
        else:
            model = from_torch(NETWORKS[inside[name]](12), size=32, name="net") if name in inside else oracle(4)
        run = snellen.audit(model, "phantom:test?size=32&n=18", name, quiet=True, report=False)
    names = {one["name"] for one in run.results()["findings"] if one["audit"] not in ("clean", "baseline")}
    assert names == set(parse_audits(name)[0].names or ())
    assert not undeclared


def test_copies_of_one_run_are_compared_with_chance_as_that_run_alone() -> None:
    """How far runs make the same errors is asked of the distorted images. Three runs that make the very same ones say no more
    than one does, and have its null; three that err on other images have a narrower one. Clean images are all right."""
    draw = np.random.default_rng(0)
    runs = [np.where(draw.random(400) < 0.3, draw.integers(1, 10, 400), 0).tolist() for _ in range(3)]
    null = {
        name: concluded([[0] * 400] * len(given), given, "abcdefghij").plain_facts["nulls"]["uniform"]
        for name, given in (("one", runs[:1]), ("copies", runs[:1] * 3), ("different", runs))
    }
    assert null["copies"] == pytest.approx(null["one"])
    assert null["different"]["quantile95"] < 0.8 * null["one"]["quantile95"]
