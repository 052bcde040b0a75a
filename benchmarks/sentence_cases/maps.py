"""Maps: whether they lie on the object more than an even map, find what answers rest on, and differ between models."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import StandIn, block_of, of_findings
from sentence_cases.world import World
from snellen.audits import CleanAudit, FaithfulnessAudit, Finding, InsideMaskAudit
from snellen.audits.alignment import EVEN, SWEEP, Alignment, MapReading
from snellen.audits.alignment_facts import AlignmentDifferenceFacts
from snellen.audits.alignment_findings import AlignmentPair, alignment_findings, comparison_findings
from snellen.audits.deletion_curves import DeletionCurves, DeletionDifferenceFacts
from snellen.audits.inside_mask import Shares
from snellen.engine import Answers
from snellen.report.sections.explanation import explanation_sentence
from snellen.report.sections.explanation_tables import _difference
from snellen.report.sections.faithfulness import faithfulness_sentence
from snellen.report.sections.inside_mask import inside_sentence
from snellen.report.sections.interpretability import closing_sentence

POINTS, ORDERS = 12, 5
NEAR = 1.25  # times what is stated: true differences up to it tell whether the statement holds
INSIDE, CURVES = InsideMaskAudit(), FaithfulnessAudit(points=POINTS, evaluation="full")


@dataclass(frozen=True)
class MapMaker:
    """A model whose maps have so much more on the object than even ones (`lift`), and whose curves lie so far above random ones
    (`area`, in points of 100)."""

    name: str
    lift: float
    area: float


def observe(seed: int) -> ReportRead:
    """Three models: equal, or each with a lift and an area of its own."""
    random = np.random.default_rng([seed, 8])
    world = World.draw(random)
    equal = random.random() < 0.5
    first = _law(random)
    laws = [first if equal else _law(random) for _ in range(3)]
    makers = [MapMaker(f"maker-{number}", *law) for number, law in enumerate(laws)]
    even = random.beta(2, 6, len(world)) * 0.8 + 0.06
    results = _report(random, world, makers, even)
    observations = [seen for maker in makers for seen in _of_one(results, maker)]
    return ReportRead((*observations, *_differences(results, makers), *_closing(results, makers)), world.tags)


def _law(random: np.random.Generator) -> tuple[float, float]:
    return float(random.choice([0.0, random.uniform(-0.04, 0.1)])), float(random.choice([0.0, random.uniform(0, 10)]))


def _report(random: np.random.Generator, world: World, makers: list[MapMaker], even: np.ndarray) -> StandIn:
    exam, reading = world.exam, MapReading(world.exam.map(), "mask", 0.15, "all")
    everyone, findings, alignments = [], [], []
    outcomes = {cell: [] for cell in CURVES.trials(exam)}  # the curves are given as they are
    for maker in makers:
        block = block_of(world, np.where(world.right(random, 0.8), world.labels, -1))
        answers = Answers(maker.name, ["run-0"], {exam.clean(): block}, exam.classes, outcomes=outcomes)
        energy = _energies(random, world, even, maker.lift)
        alignment = _alignment(world, energy, even)
        curves = _curves(random, world, maker.area)
        answers.once(INSIDE, lambda energy=energy: Shares(world.ids, energy[None], even))
        answers.once((CURVES, "lerf", None), lambda curves=curves: curves)
        findings += [*CleanAudit().conclude(exam, answers), *INSIDE.conclude(exam, answers)]
        findings += [*alignment_findings(exam, maker.name, alignment, reading, 0), *CURVES.conclude(exam, answers)]
        everyone.append(answers)
        alignments.append(alignment)
    pairs = [
        AlignmentPair.of(exam, (maker.name, makers[0].name), (own, alignments[0]), reading)
        for maker, own in zip(makers[1:], alignments[1:])
    ]
    compared: list[Finding] = [*comparison_findings(pairs), *CURVES.compare(exam, everyone, [])]
    return of_findings(world, everyone, [*findings, *compared])


def _energies(random: np.random.Generator, world: World, even: np.ndarray, lift: float) -> np.ndarray:
    """float [n]: shares of the map on the object; their mean is that of even maps and the lift, alike in a group."""
    noise = 0.1 * world.hard + 0.08 * random.normal(size=len(world))
    mean = even + lift
    room = 0.9 * np.minimum(mean, 1 - mean)  # symmetric around the mean, within 0 and 1
    return np.asarray(mean + np.clip(noise, -room, room))


def _alignment(world: World, energy: np.ndarray, even: np.ndarray) -> Alignment:
    size, row = len(world), energy[None]
    iou = np.broadcast_to(row[:, None], (1, 1 + len(SWEEP), size))
    boxes = tuple(np.array([[0, 0, 8, 8]]) for _ in range(size))
    return Alignment(
        world.ids, row, row, (row > 0.5).astype(float), iou, row, np.ones((1, size)), even,
        np.broadcast_to(even, (len(EVEN), size)), boxes, np.tile(np.array([0, 0, 8, 8]), (size, 1)), (32, 32),
    )  # fmt: skip


def _curves(random: np.random.Generator, world: World, area: float) -> DeletionCurves:
    """Curves from 1 to 0 that lie above the random ones by an area that differs from image to image."""
    line, bump = np.linspace(1, 0, POINTS), np.sin(np.linspace(0, np.pi, POINTS))
    unit = 100 * np.trapezoid(bump, dx=1 / (POINTS - 1))
    own = (area + 8 * world.hard + 8 * random.normal(size=len(world))) / unit
    chance = 10 * random.normal(size=(len(world), ORDERS)) / unit
    ordered, drawn = line + own[:, None] * bump, line + chance[..., None] * bump
    one = np.ones(1)
    return DeletionCurves(np.arange(len(world)), ordered[None], drawn[None], one, 0 * one, (1, 1), (1, 1), 0.0)


def _of_one(results: StandIn, maker: MapMaker) -> list[Observation]:
    """The sentences of the verdict on the maps of one model."""
    observations = []
    for kind, sentences in (
        ("energy beside an even map", explanation_sentence(results, maker.name)),
        ("map on the object beside an even map", inside_sentence(results, maker.name)),
    ):
        ((_, text),) = sentences
        side = 1 if "more than the" in text else -1 if "less than the" in text else 0
        observations.append(Observation(kind, side != 0, maker.lift != 0 and side * maker.lift >= 0))
    ((_, text),) = faithfulness_sentence(results, maker.name)
    observations.append(Observation("maps find what answers rest on", "Its maps find" in text, maker.area > 0))
    return observations


def _differences(results: StandIn, makers: list[MapMaker]) -> list[Observation]:
    """Bold differences to the baseline, and those of areas: clear or not, and what would mostly have been shown."""
    laws = {maker.name: maker for maker in makers}
    observations = []
    false, some_equal = False, False
    for finding in results.having(AlignmentDifferenceFacts):
        true = laws[finding.model].lift - laws[finding.facts.other].lift
        some_equal |= true == 0
        false |= true == 0 and (_difference(finding).bold or ": clearly different" in finding.text)
    if some_equal:
        observations.append(Observation("maps clearly differ from the baseline's", false, False))
    false, some_equal = False, False
    for finding in results.having(DeletionDifferenceFacts):
        facts, clear = finding.facts, ": clearly different" in finding.text
        true = laws[facts.first].area - laws[facts.second].area
        some_equal |= true == 0
        false |= clear and true == 0
        if true and facts.detectable is not None and facts.detectable <= abs(true) <= NEAR * facts.detectable:
            observations.append(Observation("difference of areas that would mostly be seen", clear, True, True))
    if some_equal:
        observations.append(Observation("areas of two models clearly differ", false, False))
    return observations


def _closing(results: StandIn, makers: list[MapMaker]) -> list[Observation]:
    """Which model pays least, where the sentence does not say that this may be chance."""
    others = makers[1:]
    sentence = closing_sentence(results)
    match = re.match(r"(\S+) pays least", sentence)
    said = match is not None and "may be chance" not in sentence
    ranks = {
        own.name: sum((other.lift > own.lift) + (other.area > own.area) for other in others)
        + sum((other.lift == own.lift) + (other.area == own.area) for other in others) / 2
        for own in others
    }
    lowest = [name for name, rank in ranks.items() if rank == min(ranks.values())]
    true = len(lowest) == 1 and (not match or match[1] == lowest[0])
    return [Observation("a model pays least in interpretability", said, true)]
