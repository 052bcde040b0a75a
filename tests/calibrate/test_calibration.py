"""Calibration series: what is planted is found, a second call asks nothing, and the page says the same in all its forms."""

from __future__ import annotations

import json
import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import snellen
from snellen.audits.interference import InterferenceFacts
from snellen.calibrate import LADDERS, Ladder, PlantedPoint, calibrate, score
from snellen.calibrate.result import follows
from snellen.calibrate.series_scores import ranks, spearman
from snellen.cli import main
from snellen.report import html_of, markdown_of
from snellen.report.pages.calibration import CalibrationResult, brief_page_of, chart_of, number, page_of

from ..report.stored import stored

numbers = st.lists(st.integers(-20, 20), min_size=3, max_size=12)


def straight(*pairs: tuple[float, float], half: float = 0.1, truth: float = math.nan) -> list[PlantedPoint]:
    return [PlantedPoint(x, y, y - half, y + half, truth) for x, y in pairs]


# Scores


def test_a_straight_rise_has_rank_correlation_one_and_its_slope():
    told = score(straight((0, 1), (1, 3), (2, 5)))
    assert told.spearman == pytest.approx(1)
    assert told.slope.value == pytest.approx(2)
    # slope = (y2 − y0) / 2, so its half interval is √2 · 0.1 / 2
    assert told.slope.high - told.slope.value == pytest.approx(math.sqrt(2) * 0.1 / 2)
    assert told.inside is None
    assert math.isnan(told.worst)


def test_a_curved_fall_is_monotone_too_and_a_flat_line_is_nothing():
    assert score(straight((0, 1), (1, 0.2), (2, 0.1))).spearman == pytest.approx(-1)
    assert math.isnan(score(straight((0, 1), (1, 1))).spearman)
    assert score(straight((0, 1), (1, 1))).slope.value == 0
    assert math.isnan(score(straight((0, 1))).slope.value)


def test_the_truth_is_missed_by_its_largest_distance():
    points = [
        PlantedPoint(0, 0.1, 0.0, 0.2, 0.0),
        PlantedPoint(1, 0.7, 0.6, 0.8, 1.0),
        PlantedPoint(2, 2.05, 1.9, 2.2, 2.0),
    ]
    told = score(points)
    assert told.worst == pytest.approx(0.3)
    assert told.inside == 2
    assert told.truth_slope == pytest.approx(1)


@given(numbers, st.randoms(use_true_random=False))
def test_rank_correlation_is_scipy_s(values, random):
    other = [random.randint(-5, 5) for _ in values]
    np.testing.assert_array_equal(ranks(values), stats.rankdata(values))
    if len(set(values)) > 1 and len(set(other)) > 1:
        assert spearman(values, other) == pytest.approx(stats.spearmanr(values, other).statistic)


# Series


@pytest.mark.parametrize("name", LADDERS)
def test_every_series_can_be_planned(name):
    ladder = LADDERS[name]
    for rung in ladder.rungs(24):
        snellen.load_data(rung.data)
        if rung.train:
            snellen.load_data(rung.train)
        else:
            snellen.load_model(rung.model)
    from snellen.audits import BaselineAudit, parse_audits

    for rung in ladder.rungs(24):
        assert any(ladder.finding in audit.names for audit in (BaselineAudit(), *parse_audits(rung.audits)))
    assert list(ladder.values) == sorted(ladder.values)
    assert [rung.x for rung in ladder.rungs(24, quick=True)] == [
        ladder.values[0], ladder.values[len(ladder.values) // 2], ladder.values[-1]
    ]  # fmt: skip


def test_a_series_asks_somebody_or_trains_somebody():
    with pytest.raises(ValueError, match="either a model that is asked or a world to train on"):
        Ladder("t", "p", "s", data="phantom:test", finding="accuracy", moves="up")


def test_two_findings_of_one_name_are_not_guessed_between():
    finding = stored(name="accuracy", distortions=["none()"])
    with pytest.raises(ValueError, match="expected one finding 'accuracy' with {}, got 2"):
        LADDERS["knowing"].pick([finding, finding])


def test_the_rise_of_the_planted_class_is_read_from_its_place():
    from snellen.calibrate.network_series import planted_rise

    half = 4.303 * 0.3 / math.sqrt(3)  # Student's t with 2 degrees of freedom; the sample deviation is 0.3
    numbers = dict.fromkeys(("std", "worst_case", "worst_case_std", "p_uniform", "p_one"))
    increase: list[list[float | None]] = [[0.9, 0.1], [0.8, -0.2], [0.7, 0.4]]
    facts = InterferenceFacts(dominant="disc", classes=["disc", "hexagram"], increase=increase, **numbers)
    assert planted_rise(stored(facts)) == pytest.approx((0.1, 0.1 - half, 0.1 + half), abs=1e-3)


def test_a_flat_series_holds_where_one_level_fits_every_rung():
    def holds(points, moves):
        return follows(score(points), points, moves)

    level, rising = straight((0, 1), (1, 1.02), (2, 0.99)), straight((0, 1), (1, 1.3), (2, 1.6))
    assert holds(level, "flat")
    assert not holds(rising, "flat")
    assert not holds(straight((0, 1), (1, 1.3), (2, 1)), "flat")  # a hump has no slope, and is not flat
    assert holds(rising, "up")
    assert not holds(rising, "down")
    assert not holds(straight((0, 1)), "flat")


# Running


@pytest.fixture(scope="module")
def climbed(tmp_path_factory):
    """Two series, three rungs of 48 images each: folder and page."""
    out = tmp_path_factory.mktemp("calibration")
    return out, calibrate(out, ("memory", "patches"), images=48, quick=True, quiet=True)


def test_what_is_planted_is_measured(climbed):
    memory, patches = climbed[1]["ladders"]
    assert memory["spearman"] == patches["spearman"] == pytest.approx(-1)
    assert memory["follows"]
    assert patches["follows"]
    assert memory["points"][0]["value"] == 1  # 5 % suffice: every square leaves them
    assert memory["worst"] < 0.1
    assert patches["points"][0]["value"] == 1
    assert patches["slope"]["value"] == pytest.approx(-11 / 12, abs=0.15)


def test_soft_seams_are_no_edges_and_the_order_of_shape_observers_stays(tmp_path):
    names = ("shuffle_edges", "soft_shuffle_edges", "soft_shuffle_shape")
    hard, soft, shape = calibrate(tmp_path / "c", names, images=120, quick=True, quiet=True)["ladders"]
    assert hard["slope"]["low"] > 2
    assert soft["follows"]
    assert abs(soft["slope"]["value"]) < hard["slope"]["low"] / 2
    assert shape["spearman"] == pytest.approx(-1)
    assert shape["points"][0]["value"] == 1  # the middles of the tiles still show the texture
    assert shape["points"][-1]["value"] < 0.2


def test_a_second_climb_asks_nothing(climbed, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("asked again")

    monkeypatch.setattr("snellen.engine.ask.local.run_local", refuse)
    again = calibrate(climbed[0], ("memory", "patches"), images=48, quick=True, quiet=True)
    assert again["ladders"] == climbed[1]["ladders"]
    with pytest.raises(AssertionError, match="asked again"):  # other images are other questions
        calibrate(climbed[0], ("memory",), images=36, quick=True, quiet=True)


def test_html_markdown_and_json_say_the_same(climbed):
    out, first = climbed
    page = json.loads((out / "calibration.json").read_text())  # of the second climb, if that came before
    assert page["ladders"] == first["ladders"]
    result = msgspec.convert(page, CalibrationResult)
    assert msgspec.to_builtins(result) == page
    assert (out / "calibration.md").read_text() == markdown_of(brief_page_of(result))
    html = (out / "calibration.html").read_text()
    assert html == html_of(page_of(result))
    assert "http" not in html.replace("http://www.w3.org", "")  # one file that needs nothing else
    for ladder in page["ladders"]:
        for point in ladder["points"]:
            assert (out / point["run"] / "findings.json").exists()
            assert number(point["value"]) in html
            assert number(point["value"]) in markdown_of(brief_page_of(result))


def test_the_truth_is_drawn_only_where_it_is_known(climbed):
    ladder = msgspec.convert(climbed[1], CalibrationResult).ladders[0]
    points = [msgspec.structs.replace(point, truth=None) for point in ladder.points]
    unknown = msgspec.structs.replace(ladder, points=points)
    assert len(chart_of(ladder)["layer"]) == len(chart_of(unknown)["layer"]) + 1


# The command


def test_the_command_runs_one_series(climbed, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["calibrate", "--out", str(climbed[0]), "--only", "patches", "--images", "48", "--quick", "--json"])
    assert stop.value.code in (0, None)
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told["ladders"]] == ["patches"]
    assert told["command"] == "snellen calibrate --only patches --images 48 --quick"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--only", "patchs"], "unknown series 'patchs'; did you mean 'patches'?"),
        (["--images", "1"], "expected --images from 2 to 1,000,000, got '1'"),
    ],
)
def test_a_bad_flag_is_an_error_in_words(tmp_path, capsys, flags, said):
    with pytest.raises(SystemExit) as stop:
        main(["calibrate", "--out", str(tmp_path / "c"), *flags])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_networks_are_trained_only_when_asked_for():
    from snellen.calibrate.climbing import choose_ladders

    assert not any(LADDERS[name].trained for name in choose_ladders((), trained=False))
    assert choose_ladders((), trained=True) == list(LADDERS)
    assert choose_ladders(("trained_edges", "memory"), trained=False) == ["memory", "trained_edges"]
