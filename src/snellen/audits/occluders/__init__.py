"""Occluders: which of them hurt which model, and whether they agree on that, beside people (Kassaw et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts
from snellen.audits.finding import Finding, accuracy_finding
from snellen.audits.occluders.answers import check_people, frame_of_file, frame_of_model, groups_column, shown_rows
from snellen.audits.occluders.consistency import ErrorConsistencyFacts, consistency_findings, runs_by_image
from snellen.audits.occluders.levels import LevelAccuracyFacts, OcclusionSlopeFacts, level_findings, series_of
from snellen.audits.occluders.people import (
    ClickFacts,
    HumanAccuracyFacts,
    HumanGapFacts,
    PeopleFacts,
    TopPeopleFacts,
    best_people,
    crowd_of,
    people_findings,
    top_findings,
)
from snellen.audits.occluders.ranks import (
    AgreementFacts,
    MeanRankFacts,
    OcclusionResidualFacts,
    ProxyFacts,
    clean_accuracies,
    judged_images,
    proxy_findings,
    rank_findings,
    residual_findings,
)
from snellen.audits.occluders.rows import OccluderRows, common_rows, names_of_levels, pooled_rows, rows_of
from snellen.audits.occluders.trees import (
    TreeAccuracyFacts,
    TreeDistanceFacts,
    top_tree_findings,
    tree_findings,
    tree_findings_of_people,
    tree_of,
)
from snellen.audits.occluders.types import (
    AUDIT,
    IN_WORDS,
    RENAMED,
    UNOCCLUDED,
    Diffuse,
    OccluderType,
    Synthetic,
    TypeChoice,
    real_levels,
)
from snellen.audits.run_facts import RunFacts
from snellen.data.dataset import Dataset
from snellen.distort.law import expect_within
from snellen.distort.occluders.lattice import TILES
from snellen.distort.raster import FINEST
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.errors import UserError
from snellen.measure.occlusion_levels import GATE_BINS, occlusion_level
from snellen.notation import format_value

PUBLISHED_PX = (1, 2, 4, 8, 16)


class OccluderTypeFacts(RunFacts, frozen=True, kw_only=True):
    """The type of occluder and its family, `synthetic` or `diffuse`."""

    type: str
    family: str


@dataclass(frozen=True)
class OccludersAudit(Audit):
    """Accuracy by type and level of occlusion, ranks of models and whether types agree on them, beside people.

    Data with a column `level` (`ovis:`, or the `manifest:` of `snellen build iruo`) are asked as they are: real occlusion. Their
    unoccluded images, or all of data without levels, are also shown under `synthetic` types (boxes in `black`, `white`,
    `noise` or `stripes`, and a cut-out `object` of `--occluders`), `diffuse` types (a `solid` box and lines), and lattices of
    `px` pixels that hide the shares `lattices`. `bins` are the levels of the diffuse types, as pairs of hidden shares. Where the
    data have no masks, hidden shares are those of the image instead of the object.

    `people` is a file of people's answers (columns observer, sample, pred, distortion), or the name of a model of the same
    command whose runs are people; `top` is how many of the best are set beside the models (none: the better half).
    """

    synthetic: tuple[Synthetic, ...] = ("black", "white", "noise", "stripes", "object")
    diffuse: tuple[Diffuse, ...] = ("solid", "vertical", "horizontal", "cross_hatch", "oblique")
    lattices: tuple[float, ...] = (0.25, 0.5, 0.75)
    px: tuple[int, ...] = PUBLISHED_PX
    bins: tuple[tuple[float, ...], ...] = tuple((float(start), float(stop)) for start, stop in GATE_BINS)
    people: str | None = None
    top: int | None = None
    title: ClassVar[str] = "Occluders"
    names: ClassVar[tuple[str, ...]] = (
        *("occluder_accuracy", "unoccluded_accuracy", "level_accuracy", "occlusion_slope"),
        *("tree_accuracy", "tree_distance"),
    )
    compared: ClassVar[tuple[str, ...]] = (
        *("mean_rank", "friedman_q", "kendall_w", "proxy_tau", "occlusion_residual"),
        *(
            "human_accuracy",
            "human_gap",
            "error_consistency",
            "human_outliers",
            "top_human_accuracy",
            "top_image_accuracy",
            "wrong_object_clicks",
        ),
    )

    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "occluder_accuracy": OccluderTypeFacts,
        "unoccluded_accuracy": FindingFacts,
        "level_accuracy": LevelAccuracyFacts,
        "occlusion_slope": OcclusionSlopeFacts,
        "mean_rank": MeanRankFacts,
        "friedman_q": AgreementFacts,
        "kendall_w": AgreementFacts,
        "proxy_tau": ProxyFacts,
        "occlusion_residual": OcclusionResidualFacts,
        "tree_accuracy": TreeAccuracyFacts,
        "tree_distance": TreeDistanceFacts,
        "top_tree_accuracy": TreeAccuracyFacts,
        "human_accuracy": HumanAccuracyFacts,
        "human_gap": HumanGapFacts,
        "error_consistency": ErrorConsistencyFacts,
        "human_outliers": PeopleFacts,
        "top_human_accuracy": TopPeopleFacts,
        "top_image_accuracy": HumanAccuracyFacts,
        "wrong_object_clicks": ClickFacts,
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "synthetic", tuple(RENAMED.get(name, name) for name in self.synthetic))
        for name in ("synthetic", "diffuse", "lattices", "px"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{name} names a value twice: {format_value(values)}")
        for share in self.lattices:
            if share not in TILES or not share:
                raise ValueError(f"expected lattices of 0.25, 0.5 or 0.75, got {format_value(share)}")
        for size in self.px:
            expect_within("px", size, 1, FINEST)
        if any(len(ends) != 2 for ends in self.bins) or self.bins[:1] != ((0.0, 0.0),) or len(self.bins) < 2:
            raise ValueError(
                "expected bins as pairs of shares that begin with [0, 0], such as [[0, 0], [0.1, 0.5], [0.5, 0.9]]"
            )
        occlusion_level([], self._bins)  # refuses what is no list of bins
        if self.top is not None:
            expect_within("top", self.top, 1, 1_000_000)

    @property
    def _bins(self) -> tuple[tuple[float, float], ...]:
        return tuple((start, stop) for start, stop in self.bins)

    def types(self, exam: Exam) -> list[OccluderType]:
        """What is shown to the models, as far as data and cut-outs allow; none where no image is unoccluded."""
        if not (real_levels(exam.samples["test"]) == 0).any():
            return []
        return TypeChoice(self.synthetic, self.diffuse, self.lattices, self.px).types(exam)

    def parts(self, data: Dataset) -> Mapping[str, Dataset]:
        """The unoccluded images alone where the data have others too: occluders are not put before occluded ones."""
        clear = real_levels(data.samples) == 0
        if clear.all() or not clear.any():
            return {}
        return {UNOCCLUDED: data.at(np.flatnonzero(clear))}

    def responses(self) -> list[str]:
        return [self.people] if self.people else []

    def cells(self, exam: Exam) -> list[Cell]:
        types = self.types(exam)
        if not types and not (real_levels(exam.samples["test"]) > 0).any():
            raise UserError(
                "occluders has nothing to ask: no type is named that could be shown, and no test image has a level of real "
                "occlusion; name types, as in occluders(synthetic=[black]), or give data with a column 'level'"
            )
        if self.people is not None and self.people in exam.responses:
            check_people(exam, exam.responses[self.people])
        return [exam.clean(), *(occluder.cell(exam) for occluder in types)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        types = self.types(exam)
        rows = rows_of(exam, answers, types)
        findings = [self._whole(exam, answers, occluder) for occluder in types if occluder.family != "lattice"]
        findings += level_findings(exam, answers, series_of(rows, types, self._bins))
        tree = tree_of(exam)
        return findings + (tree_findings(exam, answers.model, rows, tree) if tree else [])

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        """Ranks and their agreement where there are several models, and people beside them."""
        models = [answers.model for answers in everyone]
        rows = common_rows([rows_of(exam, answers, self.types(exam)) for answers in everyone])
        conclusions: list[Finding] = []
        if len(models) > 1:
            clean = clean_accuracies(rows)
            every = judged_images(models, rows)
            conclusions += [ranked for judged in every for ranked in rank_findings(judged)]
            conclusions += proxy_findings(every) + residual_findings(every, clean)
        return conclusions + (self._people(exam, everyone, rows) if self.people else [])

    def _whole(self, exam: Exam, answers: Answers, occluder: OccluderType) -> Finding:
        """Accuracy under a type, whatever share it hides: the number that models are compared by."""
        cell, words = occluder.cell(exam), IN_WORDS[occluder.name]
        facts = OccluderTypeFacts(type=occluder.name, family=occluder.family)
        more = {"facts": facts, "label": f"Accuracy: {words}", "topic": words}
        text = f"accuracy under {words}, whatever they hide"
        return accuracy_finding(AUDIT, "occluder_accuracy", answers.model, answers[cell], cell, text, **more)

    def _people(self, exam: Exam, everyone: Sequence[Answers], rows: Sequence[OccluderRows]) -> list[Finding]:
        """People as one more row: their accuracy, gaps, the best of them, and the class tree."""
        assert self.people is not None
        types, tree = self.types(exam), tree_of(exam)
        shown = [shown_rows(pooled_rows(own, types, self._bins)) for own in rows]
        models = {answers.model: own for answers, own in zip(everyone, shown)}
        if self.people in models:
            runs = next(answers.runs for answers in everyone if answers.model == self.people)
            frame = frame_of_model(exam, models.pop(self.people), runs)
        else:
            frame = frame_of_file(exam, exam.responses[self.people], shown[0], types)
        if not frame["sample"]:
            return []
        scores = {model: own.scores_by_image() for model, own in models.items()}
        crowd = crowd_of(frame, names_of_levels(types, self._bins), groups_column(exam))
        findings = people_findings(crowd, scores)
        findings += consistency_findings(crowd, {model: runs_by_image(own) for model, own in models.items()})
        findings += tree_findings_of_people(exam, crowd, tree) if tree else []
        top = best_people(crowd, scores, self.top)
        if top is not None:
            findings += top_findings(crowd, top) + (top_tree_findings(exam, crowd, top, models, tree) if tree else [])
        return findings
