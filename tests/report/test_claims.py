"""A sentence claims what its interval shows, and what was chosen is said to be chosen."""

from __future__ import annotations

import pytest

from snellen.audits.calibration import CalibrationFacts
from snellen.audits.occluders.ranks import AgreementFacts
from snellen.audits.occlusion import SquareFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.measure.edges import wilson
from snellen.report.sections.calibration import _side
from snellen.report.sections.occluders.ranks import agreement_words
from snellen.report.sections.occlusion import _halved

from .stored import stored


def share(right: int, images: int, area: float | None = None) -> StoredFinding:
    value = right / images
    facts = {} if area is None else {"facts": SquareFacts(fill="black", area=area, covered=area)}
    low, high = wilson(value, images)
    return stored(value=value, low=low, high=high, n=images, **facts)


@pytest.mark.parametrize(
    ("images", "right", "said"),
    [
        (20, 8, "Too few images to decide whether it keeps half"),  # 40% of 90%, of 20 images
        (20, 10, "Too few images to decide whether it keeps half"),
        (2000, 800, "falls below half of its clean accuracy once the square covers 50% (black)"),
        (2000, 1000, "At every size tried it keeps at least half"),
    ],
)
def test_half_of_the_clean_accuracy_is_lost_or_kept_where_so_many_images_show_it(
    images: int, right: int, said: str
) -> None:
    clean = share(round(0.9 * images), images)
    assert said in _halved(clean, [share(right, images, 0.5)], ["black"])


def test_a_size_is_named_only_where_all_larger_ones_are_clear() -> None:
    clean, near = share(1800, 2000), share(890, 2000, 0.9)  # the largest is not told from half
    sizes = [share(1700, 2000, 0.1), share(600, 2000, 0.5), near]
    assert "Too few images to decide" in _halved(clean, sizes, ["black"])
    sizes[-1] = share(500, 2000, 0.9)
    assert "once the square covers 50% (black)" in _halved(clean, sizes, ["black"])


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((0.02, 0.01, 0.03), "by 2.0% too sure of itself on average"),
        ((-0.02, -0.03, -0.01), "by 2.0% too unsure of itself on average"),
        ((0.02, -0.01, 0.05), "not shown to be too sure or too unsure of itself on average"),
    ],
)
def test_a_model_is_too_sure_where_the_interval_says_so(ends: tuple[float, float, float], said: str) -> None:
    names = ("excess", "excess_low", "excess_high")
    assert (
        _side(CalibrationFacts(bins=1, share=[1], confidence=[0.8], accuracy=[0.78], **dict(zip(names, ends)))) == said
    )


def test_an_older_run_says_on_which_images_it_is_too_sure() -> None:
    older = CalibrationFacts(bins=1, share=[1], confidence=[0.8], accuracy=[0.78])
    assert _side(older) == "by 2.0% too sure of itself on these images, on average"


def agreement(p: float, **more: float) -> AgreementFacts:
    facts = {"family": "synthetic", "level": 1, "level_name": "less than half", "judges": ("black", "white")}
    return AgreementFacts(**facts, q=9.0, p=p, w=0.9, method="chi2", models=5, **more)


def test_types_agree_on_the_order_only_where_equal_models_would_not() -> None:
    assert agreement_words(agreement(0.001, p_images=0.01)) == "types agree on the order"
    assert "differ no more than equal ones (p = 0.4" in agreement_words(agreement(0.001, p_images=0.4))
    assert agreement_words(agreement(0.001)) == "types agree on the order on these images"  # an older run
    assert agreement_words(agreement(0.2, p_images=0.01)) == "types are not shown to agree more than chance would"
