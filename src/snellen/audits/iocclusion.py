"""iOcclusion: the gap between training and test images under any cover (Marcu & Prügel-Bennett 2022, section 3.2)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.finding import Finding, finding
from snellen.audits.trust import ONE_RUN
from snellen.distort.fills import Fill
from snellen.distort.language import in_words, masked_by
from snellen.engine.keep.read_back import AnswerBlock, Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import Covered, IOcclusion, IOcclusionGap, iocclusion, iocclusion_gap, mean_iocclusion
from snellen.measure.estimate import NO_DATA
from snellen.notation import name_of

Select = Callable[[AnswerBlock, str], AnswerBlock]
IOCCLUSION_LABELS = {
    "iocclusion": "Train–test gap left (iOcclusion)",
    "mean_iocclusion": "Train–test gap left (iOcclusion), mean over sizes",
    "iocclusion_fill_gap": "Effect of the fill on iOcclusion",
    "iocclusion_tail_gap": "iOcclusion of typical minus rare images",
    "iocclusion_random_labels": "iOcclusion after learning random labels",
    "iocclusion_random_gap": "iOcclusion of random labels",
}
GAPLESS = "there is no gap between training and test accuracy, so there is nothing to divide by"
MISSING = (
    "iOcclusion needs the training images too: add --train DATA (the images it was trained on, without augmentation)"
)


class IOcclusionFacts(FindingFacts, frozen=True, kw_only=True):
    """The way of covering, its fill and covered share (0 to 1), and what iOcclusion is made of.

    `numerator` and `denominator` are the gaps between training and test accuracy, covered and not, `signed` the ratio with its
    sign and `std` its deviation over runs; `gapless` runs have no gap to divide by; the gap's own interval is `gap_low` to
    `gap_high`.
    """

    masking: str
    fill: str
    area: float
    std: Number
    signed: Number
    numerator: Number
    denominator: Number
    gapless: int
    gap_low: Number
    gap_high: Number


class MeanIOcclusionFacts(FindingFacts, frozen=True, kw_only=True):
    """The way of covering and its fill, over all shares, and the deviation over runs."""

    masking: str
    fill: str
    std: Number


class MovedFacts(FindingFacts, frozen=True, kw_only=True):
    """Mean iOcclusion and CutOcclusion on one side and on the other, and how far each moves as a part of its size."""

    beside: ClassVar[bool] = True
    std: Number
    iocclusion: Number
    iocclusion_other: Number
    relative: Number
    cut_occlusion: Number
    cut_occlusion_other: Number
    cut_relative: Number


class IOcclusionFillGapFacts(MovedFacts, frozen=True, kw_only=True):
    """The two fills and the way of covering, which hides the same pixels with both."""

    fill: str
    other: str
    masking: str


@dataclass(frozen=True)
class CoverSeries:
    """One way of covering at several shares, in one fill, on training and on test images: what one iOcclusion rests on."""

    masking: Any
    shares: Sequence[float]
    fill: Fill | Literal["cutout"]

    def cells(self, exam: Exam) -> list[Cell]:
        """For each share the test cell and the train cell, beside the clean ones."""
        covered = [exam.cell(distortion, on) for distortion in self.distortions for on in ("test", "train")]
        return [exam.clean("test"), exam.clean("train"), *covered]

    @property
    def distortions(self) -> list[Any]:
        return [at_share(self.masking, share, self.fill) for share in self.shares]

    def measure(self, exam: Exam, answers: Answers) -> list[IOcclusion]:
        """One measure per share; several findings may rest on it."""
        return [_iocclusion_of(exam, answers, distortion) for distortion in self.distortions]

    def findings(self, exam: Exam, answers: Answers) -> list[Finding]:
        findings = []
        for share, distortion, ratio in zip(self.shares, self.distortions, self.measure(exam, answers)):
            cells = tuple(exam.cell(distortion, on) for on in ("test", "train"))
            facts = IOcclusionFacts(
                masking=name_of(type(self.masking)), fill=self.fill, area=share, std=ratio.std, signed=ratio.signed,
                numerator=ratio.numerator, denominator=ratio.denominator, gapless=ratio.gapless, gap_low=ratio.gap_low,
                gap_high=ratio.gap_high,
            )  # fmt: skip
            text = f"gap between training and test accuracy under {distortion} by the gap without it{_doubts(ratio)}"
            per_run = tuple(ratio.per_run.tolist())
            findings.append(
                finding(
                    "occlusion", "iocclusion", answers.model, ratio, text, better="higher", unit="index", cells=cells,
                    facts=facts, per_run=per_run, label=f"{IOCCLUSION_LABELS['iocclusion']} under {in_words(str(distortion))}",
                )
            )  # fmt: skip
        return [*findings, self._mean(exam, answers)]

    def _mean(self, exam: Exam, answers: Answers) -> Finding:
        """The mean over all shares: one number per model, to set models beside each other."""
        mean = mean_iocclusion(cover_scores(exam, answers, self))
        cells = tuple(exam.cell(distortion, on) for distortion in self.distortions for on in ("test", "train"))
        doubts = _doubts(self.measure(exam, answers)[0])
        text = f"mean iOcclusion over {span(self.shares)} of the image, as {self.distortions[0]}{doubts}"
        masking = name_of(type(self.masking))
        facts = MeanIOcclusionFacts(masking=masking, fill=self.fill, std=mean.std)
        return finding(
            "occlusion", "mean_iocclusion", answers.model, mean, text, better="higher", unit="index", cells=cells,
            facts=facts, per_run=tuple(mean.per_run.tolist()),
            label=f"{IOCCLUSION_LABELS['mean_iocclusion']}, {masked_by(masking, self.fill)}",
        )  # fmt: skip


def at_share(masking: Any, share: float, fill: str) -> Any:
    """The covering distortion at another share, in another fill where it has one."""
    names = {field.name for field in dataclasses.fields(masking)}
    changed: dict[str, Any] = {"area" if "area" in names else "share": share}
    return dataclasses.replace(masking, **changed, **({"fill": fill} if "fill" in names else {}))


def span(shares: Sequence[float]) -> str:
    """The covered shares in words: `0.1 to 0.9`."""
    return f"{shares[0]:g} to {shares[-1]:g}" if len(shares) > 1 else f"{shares[0]:g}"


def covers_a_share(masking: Any) -> bool:
    """Whether a distortion has a share of the image to cover."""
    return dataclasses.is_dataclass(masking) and bool({"area", "share"} & {f.name for f in dataclasses.fields(masking)})


def cover_scores(
    exam: Exam,
    answers: Answers,
    series: CoverSeries,
    select: Select = lambda block, on: block,
    also: Sequence[Any] = (),
) -> Covered:
    """The scores behind iOcclusion at all shares, of the images that count in all of them and under the distortions `also`.

    `select` gives the block of some of a dataset's samples, or with other scores.
    """
    parts = []
    for on in ("train", "test"):
        distortions = [*series.distortions, *also]
        blocks = answers.together(exam.clean(on), *(exam.cell(distortion, on) for distortion in distortions))
        parts.append([select(block, on) for block in blocks[: 1 + len(series.distortions)]])
    (train, *train_occluded), (test, *test_occluded) = parts
    on_train, on_test = ([block.score for block in blocks] for blocks in (train_occluded, test_occluded))
    return Covered(train.score, test.score, on_train, on_test, (train.groups, test.groups))


def fill_gap(exam: Exam, answers: Answers, first: CoverSeries, other: CoverSeries, cut: tuple[float, float]) -> Finding:
    """How much the fill alone changes iOcclusion, beside how much it changes CutOcclusion (`cut`: its two values)."""
    sides = ((first, other), (other, first))
    scores = (cover_scores(exam, answers, side, also=beside.distortions) for side, beside in sides)
    gap = iocclusion_gap(*scores, shared=True)
    text = f"mean iOcclusion with {first.fill} less with {other.fill}, covering the very same pixels: {describe_move(gap, cut)}"
    masking = name_of(type(first.masking))
    facts = IOcclusionFillGapFacts(fill=first.fill, other=other.fill, masking=masking, **moved(gap, cut))
    cells = tuple(exam.cell(d, on) for side in (first, other) for d in side.distortions for on in ("test", "train"))
    return finding(
        "occlusion", "iocclusion_fill_gap", answers.model, gap, text, unit="index", cells=cells, facts=facts,
        per_run=tuple(gap.per_run.tolist()),
        label=f"{IOCCLUSION_LABELS['iocclusion_fill_gap']}, {masked_by(masking)}: {first.fill} minus {other.fill}",
    )  # fmt: skip


def describe_move(gap: IOcclusionGap, cut: tuple[float, float], gapless: str = "") -> str:
    """How far the two measures move, in words; `gapless` names the images without a gap, where it is not of all."""
    if not math.isfinite(gap.value):
        of = f"of {gapless} images " if gapless else ""
        return f"{of}{GAPLESS} (CutOcclusion moves by {_part(*cut)})"
    ends = "" if math.isfinite(gap.high - gap.low) else "; the gap is too uncertain for an interval with two ends"
    return f"it moves by {_part(gap.first, gap.second)} of its size, CutOcclusion by {_part(*cut)}{ends}"


def moved(gap: IOcclusionGap, cut: tuple[float, float]) -> dict[str, Any]:
    """The fields of `MovedFacts` of both measures."""
    return {
        "std": gap.std,
        "iocclusion": gap.first,
        "iocclusion_other": gap.second,
        "relative": _relative(gap.first, gap.second),
        "cut_occlusion": cut[0],
        "cut_occlusion_other": cut[1],
        "cut_relative": _relative(*cut),
    }


def no_training_images(name: str, model: str) -> Finding:
    """The finding in its place where there are no training images: nothing measured, and what to add."""
    return finding(
        "occlusion", name, model, NO_DATA, MISSING, better="higher", unit="index", label=IOCCLUSION_LABELS[name]
    )


def _iocclusion_of(exam: Exam, answers: Answers, distortion: Any) -> IOcclusion:
    return answers.once(("iocclusion", str(distortion)), lambda: _compute(exam, answers, distortion))


def _compute(exam: Exam, answers: Answers, distortion: Any) -> IOcclusion:
    test, test_occluded = answers.together(exam.clean("test"), exam.cell(distortion, "test"))
    train, train_occluded = answers.together(exam.clean("train"), exam.cell(distortion, "train"))
    scores = train.score, test.score, train_occluded.score, test_occluded.score
    return iocclusion(*scores, (train.groups, test.groups))


def _doubts(ratio: IOcclusion) -> str:
    doubts = []
    if ratio.gapless:
        some = f"in {ratio.gapless} of {len(ratio.per_run)} runs " if ratio.gapless < len(ratio.per_run) else ""
        doubts.append(some + GAPLESS)
    elif ratio.gap_low <= 0 <= ratio.gap_high:
        doubts.append("the gap itself is not clearly there, so the ratio says little")
    if len(ratio.per_run) == 1:
        doubts.append(ONE_RUN)
    return f" ({'; '.join(doubts)})" if doubts else ""


def _part(first: float, other: float) -> str:
    relative = _relative(first, other)
    return f"{relative:.0%}" if math.isfinite(relative) else "an unknown part"


def _relative(first: float, other: float) -> float:
    middle = (first + other) / 2
    return abs(first - other) / middle if middle > 0 else float("nan")
