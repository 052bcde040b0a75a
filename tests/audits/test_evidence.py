"""The evidence for iOcclusion on answers whose accuracies are planted."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.audits import Exam, parse_audits
from snellen.audits.finding import Finding
from snellen.audits.iocclusion_evidence import judge_typicality, with_option
from snellen.data.dataset import Samples
from snellen.data.subset import draw_labels
from snellen.distort import Nothing
from snellen.engine import AnswerBlock, Answers
from snellen.errors import UserError
from snellen.models import from_callable

CLASSES = ("bird", "ship", "truck", "cat")
COUNT = 400  # images of each split: the first half typical, the second tail
LISTS = "typical=[a, b], tail=[c, d]"


def ids(on: str) -> list[str]:
    return [f"{on}-{i}" for i in range(COUNT)]


def exam_of(models: list[str], text: str = "", lost: dict[str, tuple[str, ...]] | None = None) -> Exam:
    samples = {on: Samples(tuple(ids(on)), np.arange(COUNT) % 4) for on in ("test", "train")}
    half = COUNT // 2
    lists = {
        (on, file): frozenset(ids(on)[part])
        for on, files in (("test", "ac"), ("train", "bd"))
        for file, part in zip(files, (slice(0, half), slice(half, None)))
    }
    return Exam(
        classes={"test": CLASSES, "train": CLASSES}, side=32, samples=samples, losses={name: [{}] for name in models},
        texts={"test": "folder:test", "train": "folder:train"}, lists=lists, lost=lost or {},
    )  # fmt: skip


def block(on: str, labels: np.ndarray, pred: np.ndarray, sure: np.ndarray | None = None) -> AnswerBlock:
    truth = np.arange(COUNT) % 4
    given = np.ones((1, COUNT)) if sure is None else sure[None]
    return AnswerBlock(
        pred[None], pred[None], (pred == truth)[None].astype(np.float32), given, given, truth,
        np.full(COUNT, np.nan), np.ones(COUNT, bool), np.array(ids(on), object),
    )  # fmt: skip


def missed(labels: np.ndarray, shares: tuple[float, float], to: int | None = None) -> np.ndarray:
    """Predictions of which these shares of typical and of tail images are right; wrong ones name the next class, or `to`."""
    half = COUNT // 2
    rank = np.arange(COUNT) % half
    wrong = rank >= np.repeat(shares, half) * half
    return np.where(wrong, (labels + 1) % 4 if to is None else to, labels)


def answers_of(
    name: str, exam: Exam, audit: snellen.audits.OcclusionAudit, shares: dict[str, tuple[float, float]], learnt: bool = False,
    to: int | None = None, sure: np.ndarray | None = None,
) -> Answers:  # fmt: skip
    """A model with these accuracies on typical and tail images: `train`, `test`, and each of them `covered`."""
    blocks = {}
    for on in ("test", "train"):
        labels = np.arange(COUNT) % 4
        target = draw_labels(exam.samples["train"], 4) if learnt and on == "train" else labels
        for cell in {exam.clean(on), exam.yardstick(on), *(c for c in audit.cells(exam) if c.on == on)}:
            clean = isinstance(cell.distortion, Nothing)
            share = shares[on if clean or cell == exam.yardstick(on) else f"{on} covered"]
            blocks[cell] = block(on, labels, missed(target, share, None if clean else to), sure)
    return Answers(name, ["0"], blocks, exam.classes)


PLANTED = {"train": (1.0, 0.9), "test": (0.9, 0.7), "train covered": (0.8, 0.6), "test covered": (0.6, 0.2)}


def told(text: str, exam: Exam, everyone: list[Answers]) -> dict[str, Finding]:
    (audit,) = parse_audits(text)
    return {one.name: one for one in audit.compare(exam, everyone, [])}


def test_tail_images_move_cut_occlusion_and_not_iocclusion() -> None:
    """Ratios 0.2 / 0.1 on typical and 0.4 / 0.2 on tail images; accuracies 0.6 and 0.2."""
    text = f"occlusion([0.3], validate=true, {LISTS})"
    exam, (audit,) = exam_of(["mine"]), parse_audits(text)
    found = told(text, exam, [answers_of("mine", exam, audit, PLANTED)])["iocclusion_tail_gap"]
    assert found.value == pytest.approx(0, abs=1e-9)
    assert found.low < 0 < found.high
    facts = found.plain_facts
    assert (facts["iocclusion"], facts["iocclusion_other"]) == pytest.approx((2, 2))
    assert (facts["cut_occlusion"], facts["cut_occlusion_other"]) == pytest.approx((0.6, 0.2))
    assert (facts["relative"], facts["cut_relative"]) == pytest.approx((0, 1), abs=1e-9)
    assert (facts["typical_test"], facts["tail_train"], facts["proxy"]) == (200, 200, False)
    assert "by your lists" in found.text
    assert not facts["unclear"]


@pytest.mark.parametrize(("fills", "gap"), [("black, white", 2 - 4 / 3), ("white, black", 4 / 3 - 2)])
def test_the_fill_gap_is_that_of_the_first_fill_less_the_other(fills: str, gap: float) -> None:
    """A gap of 0.15 becomes one of 0.3 under black squares and of 0.2 under white ones; accuracies 0.4 and 0.5."""
    exam, (audit,) = exam_of(["mine"]), parse_audits(f"occlusion([0.3], [{fills}], validate=true)")
    black = answers_of("mine", exam, audit, PLANTED)
    white = answers_of("mine", exam, audit, {**PLANTED, "test covered": (0.7, 0.3)})
    cells = [*(exam.clean(on) for on in ("test", "train")), exam.yardstick(), *audit.cells(exam)]
    sides = {cell: (white if "white" in str(cell.distortion) else black)[cell] for cell in cells}
    blocks = {cell: replace(one, covered=np.full(COUNT, 0.3)) for cell, one in sides.items()}
    listed = audit.conclude(exam, Answers("mine", ["0"], blocks, exam.classes))
    (found,) = [one for one in listed if one.name == "iocclusion_fill_gap"]
    assert found.value == pytest.approx(gap)
    first, other = sorted((2, 4 / 3), reverse=gap > 0)
    assert (found.plain_facts["iocclusion"], found.plain_facts["iocclusion_other"]) == pytest.approx((first, other))
    first, other = sorted((0.4, 0.5), reverse=gap < 0)
    assert (found.plain_facts["cut_occlusion"], found.plain_facts["cut_occlusion_other"]) == pytest.approx(
        (first, other)
    )
    assert (found.low > 0) == (gap > 0)


def test_three_judges_halve_the_images_by_the_mean_of_what_they_find_probable() -> None:
    """Two find all images alike; by the median of the three nothing would tell the images apart."""
    text = "occlusion([0.3], validate=true, judges=[a, b, c])"
    exam, (audit,) = exam_of(["mine", "a", "b", "c"]), parse_audits(text)
    sure = {"a": np.full(COUNT, 0.5), "b": np.full(COUNT, 0.5), "c": np.tile([0.1, 0.9], COUNT // 2)}
    judges = [answers_of(name, exam, audit, PLANTED, sure=probable) for name, probable in sure.items()]
    typical, tail = judge_typicality(exam, judges).parts["test"]
    assert typical == frozenset(ids("test")[1::2])
    assert tail == frozenset(ids("test")[::2])


def test_judges_are_other_models_and_their_doubt_is_called_a_proxy() -> None:
    text = "occlusion([0.3], validate=true, judges=[judge])"
    exam, (audit,) = exam_of(["mine", "judge"]), parse_audits(text)
    sure = np.concatenate([np.linspace(0.9, 0.6, COUNT // 2), np.linspace(0.5, 0.1, COUNT // 2)])
    mine = answers_of("mine", exam, audit, PLANTED)
    judge = answers_of("judge", exam, audit, PLANTED, sure=sure)
    found = [one for one in audit.compare(exam, [mine, judge], []) if one.name == "iocclusion_tail_gap"]
    assert [one.model for one in found] == ["mine"]  # nobody judges himself
    assert found[0].plain_facts["proxy"]
    assert found[0].plain_facts["judges"] == "judge"
    assert found[0].plain_facts["tail_test"] == COUNT // 2
    assert re.search("by a PROXY: .* whose label judge find more and less probable", found[0].text)
    assert (found[0].plain_facts["cut_occlusion"], found[0].plain_facts["cut_occlusion_other"]) == pytest.approx(
        (0.6, 0.2)
    )
    assert found[0].plain_facts["iocclusion"] == pytest.approx(2)


def test_a_part_without_a_gap_or_with_an_uncertain_one_is_named() -> None:
    text = f"occlusion([0.3], validate=true, {LISTS})"
    exam, (audit,) = exam_of(["mine"]), parse_audits(text)
    small = {**PLANTED, "train": (0.91, 0.9)}
    found = told(text, exam, [answers_of("mine", exam, audit, small)])["iocclusion_tail_gap"]
    assert "of typical images the gap without covering is not clearly there" in found.text
    assert found.plain_facts["unclear"] == "typical"
    planted = {**PLANTED, "train": (0.9, 0.9)}
    found = told(text, exam, [answers_of("mine", exam, audit, planted)])["iocclusion_tail_gap"]
    assert np.isnan(found.value)
    assert "of typical images there is no gap between training and test accuracy" in found.text


def test_random_labels_are_scored_as_they_were_learnt() -> None:
    """By heart on train, at chance on test: CutOcclusion is the same, iOcclusion tells the two trainings apart."""
    text = "occlusion([0.3], validate=true, random_labels=[basic, fmix])"
    exam, (audit,) = exam_of(["basic", "fmix"]), parse_audits(text)
    chance = {"train": (1.0, 1.0), "test": (0.25, 0.25), "test covered": (0.25, 0.25)}
    everyone = [
        answers_of(name, exam, audit, {**chance, "train covered": (kept, kept)}, learnt=True)
        for name, kept in (("basic", 0.4), ("fmix", 0.85))
    ]
    listed = audit.compare(exam, everyone, [])
    by_model = {one.model: one for one in listed if one.name == "iocclusion_random_labels"}
    assert by_model["basic"].value == pytest.approx(0.15 / 0.75, abs=0.01)
    assert by_model["fmix"].value == pytest.approx(0.6 / 0.75, abs=0.01)
    assert by_model["basic"].plain_facts["train_accuracy"] == 1
    (gap,) = [one for one in listed if one.name == "iocclusion_random_gap"]
    assert gap.model == "fmix"
    assert gap.value == pytest.approx(0.6, abs=0.01)
    assert gap.low > 0
    assert gap.plain_facts["cut_relative"] == pytest.approx(0)


def test_a_network_that_has_not_learnt_the_labels_is_told() -> None:
    text = "occlusion([0.3], validate=true, random_labels=[basic])"
    exam, (audit,) = exam_of(["basic"]), parse_audits(text)
    found = told(text, exam, [answers_of("basic", exam, audit, PLANTED, learnt=False)])["iocclusion_random_labels"]
    assert "knows only 2" in found.text  # a quarter of labels drawn from four classes
    assert "labels_seed" in found.text


def test_another_class_takes_the_place_of_the_one_that_was_never_seen() -> None:
    text = "occlusion([0.3, 0.5], validate=true)"
    exam, (audit,) = exam_of(["whole", "rest"], lost={"whole": (), "rest": ("truck",)}), parse_audits(text)
    whole = answers_of("whole", exam, audit, PLANTED, to=2)
    rest = answers_of("rest", exam, audit, PLANTED, to=1)
    found = told(text, exam, [whole, rest])["interference_without_class"]
    assert found.model == "rest"
    facts = found.plain_facts
    assert (facts["removed"], facts["dominant"], facts["taken"]) == ("truck", "ship", True)
    assert facts["others"]["whole"]["dominant"] == "truck"
    assert "'ship' takes its place" in found.text
    assert facts["p_uniform"] < 0.01
    assert found.value > 0.5


def test_a_class_that_never_dominated_has_no_place_to_take() -> None:
    text = "occlusion([0.3, 0.5], validate=true)"
    exam, (audit,) = exam_of(["whole", "rest"], lost={"whole": (), "rest": ("truck",)}), parse_audits(text)
    whole = answers_of("whole", exam, audit, PLANTED, to=1)
    rest = answers_of("rest", exam, audit, PLANTED, to=1)
    found = told(text, exam, [whole, rest])["interference_without_class"]
    assert found.plain_facts["dominant"] == "ship"
    assert found.plain_facts["taken"] is False
    assert "takes its place" not in found.text
    assert "truck did not clearly dominate where it is known, so no place to take; 'ship' dominates" in found.text


def test_evidence_that_was_not_given_names_the_command_that_makes_it() -> None:
    text = "occlusion([0.3], validate=true)"
    exam, (audit,) = exam_of(["mine"]), parse_audits(text)
    found = told(text, exam, [answers_of("mine", exam, audit, PLANTED, to=2)])
    assert all(np.isnan(one.value) for one in found.values())
    assert "typical=[test.txt, train.txt]" in found["iocclusion_tail_gap"].text
    assert "snellen train ARCH --data 'folder:train?random_labels=1'" in found["iocclusion_random_labels"].text
    assert "--data 'folder:train?without=truck'" in found["interference_without_class"].text
    assert set(found) == set(audit.names) - {
        "cut_occlusion", "occluded_accuracy", "fill_gap", "iocclusion", "mean_iocclusion",
        "iocclusion_fill_gap",
    }  # fmt: skip
    assert not parse_audits("occlusion")[0].compare(exam, [], [])
    assert with_option("phantom:train?n=5", "without=cat") == "phantom:train?n=5&without=cat"


def test_wrong_settings_are_told() -> None:
    for text, said in (
        ("occlusion(tail=[a, b])", "evidence of validate; add validate=true"),
        ("occlusion(validate=true, tail=[a, b])", "expected typical and tail as two lists each"),
        (f"occlusion(validate=true, judges=[other], {LISTS})", "either lists of typical and tail images or judges"),
    ):
        with pytest.raises(UserError, match=said):
            parse_audits(text)
    (audit,) = parse_audits("occlusion(validate=true, judges=[jugde])")
    with pytest.raises(UserError, match="unknown model in judges 'jugde'; did you mean 'judge'"):
        audit.cells(exam_of(["mine", "judge"]))
    (audit,) = parse_audits("occlusion(validate=true, judges=[mine])")
    with pytest.raises(UserError, match=r"judges \[mine\] leave no model that they could judge images for"):
        audit.cells(exam_of(["mine"]))
    text = "occlusion([0.3], validate=true, typical=['x/a.txt', b.txt], tail=[c.txt, d.txt], random_labels=[r], labels_seed=2)"
    assert parse_audits(str(parse_audits(text)[0])) == parse_audits(text)


def test_a_whole_audit_reads_the_lists_and_names_the_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rules for 24 grey images, one as the judge; the report's table says that it is a proxy."""
    monkeypatch.chdir(tmp_path)
    levels = np.arange(24) % 3
    for name in ("test", "train"):
        images = np.broadcast_to((60 * (levels + 1))[:, None, None], (24, 8, 8)).astype(np.uint8)
        np.savez(f"{name}.npz", images=images, labels=levels, ids=[f"{name}-{i}" for i in range(24)])
        Path(f"typical-{name}.txt").write_text("\n".join(f"{name}-{i}" for i in range(12)))
        Path(f"tail-{name}.txt").write_text("\n".join(f"{name}-{i}" for i in range(12, 24)))

    def rule(offset: int) -> snellen.models.Model:
        def answer(images: np.ndarray) -> np.ndarray:
            seen = np.clip(np.rint(images.max((1, 2, 3)) / 60).astype(int) - 1, 0, 2)
            return np.eye(3)[(seen + offset * (images[:, 0, 0, 0] == 0)) % 3]

        return from_callable(answer, size=8, name=f"rule{offset}", version="1")

    lists = "typical=[typical-test.txt, typical-train.txt], tail=[tail-test.txt, tail-train.txt]"
    given = {"train": "arrays:train.npz", "quiet": True}
    run = snellen.audit(rule(0), "arrays:test.npz", f"occlusion([0.2], validate=true, {lists})", **given)
    found = run.findings().query("name == 'iocclusion_tail_gap'")
    assert found["tail_test"].item() == 12
    text = "occlusion([0.2], validate=true, judges=[rule1])"
    run = snellen.audit([rule(0), rule(1)], "arrays:test.npz", text, **given)
    assert "proxy: rare by the doubt of rule1" in (run.path / "report.md").read_text()
    assert "by a PROXY" in (run.path / "report.html").read_text()
    Path("tail-test.txt").write_text("nobody")
    with pytest.raises(UserError, match=r"tail-test.txt line 1: arrays:test.npz has no sample 'nobody'"):
        snellen.audit(rule(0), "arrays:test.npz", f"occlusion([0.2], validate=true, {lists})", **given)
