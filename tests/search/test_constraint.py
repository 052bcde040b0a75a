"""Constraints that keep the content: text forms, the 95% rule, no model call for what is infeasible, and the trade-off."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from snellen.distort import View
from snellen.errors import UserError
from snellen.search.algorithms import Evolution, RandomSearch
from snellen.search.constraint import Edges, OwnJudgement, SameAnswer, Ssim, parse_constraint
from snellen.search.feasible import Feasible, trade_off
from snellen.search.fitness import Edits
from snellen.search.image_fitness import ImageFitness
from snellen.search.run_search import Search
from snellen.search.spaces import Space, levels_of

COUNT = 40
ROWS = torch.arange(COUNT)
IMAGES = torch.randint(60, 196, (COUNT, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
VIEW = View.of([str(row) for row in range(COUNT)])
SHADES = Space("shades", (levels_of("brightness", [number / 20 for number in range(1, 20)]),))


def close(before: Tensor, after: Tensor) -> Tensor:
    """1 less the mean change of a pixel, in shares of the range."""
    return 1 - (before.float() - after.float()).abs().flatten(1).mean(1) / 255


@pytest.mark.parametrize("text", ["ssim(at_least=0.8)", "edges(at_least=0.7)", "ssim(at_least=-1)"])
def test_the_text_form_parses_back(text: str) -> None:
    assert str(parse_constraint(text)) == text
    assert parse_constraint(parse_constraint(text)) == parse_constraint(text)
    assert parse_constraint("ssim") == Ssim(0.8)
    assert parse_constraint("edges(0.9)") == Edges(0.9)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sim(0.8)", "unknown constraint 'sim'; did you mean 'ssim'"),
        ("ssim(2)", r"ssim: expected at_least in \[-1, 1\], got 2"),
        ("edges(most=1)", "unknown argument of edges 'most'"),
        ("ssim(", "ssim"),
    ],
)
def test_a_wrong_constraint_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        parse_constraint(text)


def test_clean_images_meet_everything_and_black_ones_do_not() -> None:
    for constraint in (Ssim(0.99), Edges(0.99), OwnJudgement(0.99, close)):
        assert constraint.meets(IMAGES, IMAGES, ROWS).all()
        assert not constraint.meets(IMAGES, IMAGES * 0, ROWS).any()


def test_a_reference_must_keep_its_answer_and_hears_of_each_clean_image_once() -> None:
    shown = []

    def reference(images: Tensor) -> np.ndarray:
        shown.append(len(images))
        bright = images.float().mean((1, 2, 3)).numpy() > 100
        return np.stack([bright, ~bright], 1).astype(float)

    feasible = Feasible(IMAGES, VIEW, SameAnswer(reference=reference), batch=16)
    assert feasible.share(("brightness(0.99)",)) == 1
    assert feasible.share(("brightness(0.5)",)) == 0
    assert sum(shown) == COUNT + 2 * COUNT
    assert str(feasible.constraint) == "same_answer(reference)"

    class Ours:
        predict = staticmethod(reference)

    assert SameAnswer(reference=Ours()).meets(IMAGES, IMAGES // 2, ROWS).logical_not().all()
    with pytest.raises(UserError, match=r"the reference answered \[40\]"):
        SameAnswer(reference=lambda images: np.zeros(len(images))).meets(IMAGES, IMAGES, ROWS)
    with pytest.raises(UserError, match="expected a reference model"):
        SameAnswer()


def test_a_function_of_the_user_gives_numbers_or_truth_values() -> None:
    half = OwnJudgement(function=lambda before, after: np.arange(len(before)) % 2 == 0)
    assert half.meets(IMAGES, IMAGES, ROWS).float().mean() == 0.5
    with pytest.raises(UserError, match="one judgement per image"):
        OwnJudgement(function=lambda before, after: 1.0).meets(IMAGES, IMAGES, ROWS)
    with pytest.raises(UserError, match="expected a function"):
        OwnJudgement()


@pytest.mark.parametrize(("meeting", "feasible"), [(40, True), (38, True), (37, False), (0, False)])
def test_a_tuple_is_feasible_where_95_percent_of_the_images_meet_it(meeting: int, feasible: bool) -> None:
    count = iter([*range(COUNT)] * 2)
    rule = OwnJudgement(function=lambda before, after: [next(count) < meeting for _ in before])  # type: ignore[arg-type, return-value]
    judge = Feasible(IMAGES, VIEW, rule, batch=7)
    assert judge(("invert()",)) is feasible
    assert judge.share(("invert()",)) == meeting / COUNT
    assert judge.similarity(("invert()",)) == meeting / COUNT


def test_no_images_have_no_share() -> None:
    nothing = Feasible(IMAGES[:0], VIEW.rows(0, 0), Ssim())
    assert math.isnan(nothing.share(("invert()",)))
    assert not nothing(("invert()",))


def brightness_score(pixels: Tensor, rows: Tensor) -> Tensor:
    """A planted landscape: the darker the image, the worse the model."""
    return pixels.float().mean((1, 2, 3)) / 255


def test_infeasible_tuples_cost_no_model_call() -> None:
    asked: list[Edits] = []

    class Counting(ImageFitness):
        def many(self, tuples: object, samples: object = None) -> list[float]:
            asked.extend(tuples)  # type: ignore[arg-type]
            return super().many(tuples, samples)  # type: ignore[arg-type]

        def each(self, tuples: object) -> Iterator[float]:
            asked.extend(tuples)  # type: ignore[arg-type]
            return super().each(tuples)  # type: ignore[arg-type]

    feasible = Feasible(IMAGES, VIEW, OwnJudgement(0.8, close))
    fitness = Counting(IMAGES, brightness_score, VIEW)
    result = Search(SHADES, 2, Evolution(10, 9), seed=1).run(fitness, constraint=feasible)
    shown = {one.edits for one in result.history if one.value is not None}
    assert shown
    assert len(shown) < len({one.edits for one in result.history})
    assert set(asked) == shown == {one.edits for one in result.history if feasible(one.edits)}
    assert fitness.images_shown == result.images_shown == COUNT * len(shown)
    assert feasible(result.best)


def test_the_trade_off_of_a_planted_landscape_follows_the_budget() -> None:
    """Mean pixels lie at 128: a similarity of 1 − 128 (1 − b) / 255 is what brightness b leaves, and accuracy is b · 0.5."""
    budgets = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5]
    fitness = ImageFitness(IMAGES, brightness_score, VIEW)
    constraints = [Feasible(IMAGES, VIEW, OwnJudgement(level, close, "close"), needed=1) for level in budgets]
    rows = trade_off(Search(SHADES, 1, RandomSearch(400), seed=2, at_once=400), fitness, constraints)
    assert [row.budget for row in rows] == budgets
    pixels = IMAGES.numpy().astype(float)
    for row in rows:
        assert row.constraint == f"own_judgement(close, at_least={row.budget:g})"
        assert row.similarity >= row.budget
        shades = [level / 20 for level in range(1, 20)]
        alike = [1 - np.abs(pixels - np.floor(pixels * shade)).mean((1, 2, 3)).max() / 255 for shade in shades]
        levels = [shade for shade, similarity in zip(shades, alike) if similarity >= row.budget]
        assert row.edits == (f"brightness({min(levels)})",)
        assert row.accuracy == pytest.approx(float(IMAGES.float().mean()) / 255 * min(levels), abs=0.005)
        assert row.infeasible == pytest.approx(1 - len(levels) / 19, abs=0.08)
    assert [row.accuracy for row in rows] == sorted((row.accuracy for row in rows), reverse=True)
    impossible = trade_off(
        Search(SHADES, 1, RandomSearch(20)), fitness, [Feasible(IMAGES, VIEW, OwnJudgement(1.0, close))]
    )
    assert math.isnan(impossible[0].accuracy)
    assert math.isnan(impossible[0].similarity)
    assert impossible[0].edits == ()
    assert impossible[0].infeasible == 1
