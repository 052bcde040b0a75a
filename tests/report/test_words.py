from __future__ import annotations

import pytest

from snellen.report.words import in_unit, in_words, index, interval, join_words, percent


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("none()", "clean"),
        ("occlude(area=0.3, fill=black, inside=true, law=exact)", "black square of 30%"),
        (
            "occlude(area=uniform(low=0.7, high=1), fill=black, inside=false, law=exact)",
            "black square of 70–100% (partly outside)",
        ),
        ("shuffle(grid=4)", "4×4 patches shuffled"),
        ("soft_shuffle(grid=4, width=0.75)", "4×4 patches shuffled softly"),
        ("noise(sigma=uniform(low=0, high=0.1))", "Gaussian noise of σ 0–0.1"),
        ("fourier(area=0.5, fill=black, spectrum=official)", "black Fourier mask of 50%"),
        ("tiles(grid=8, share=0.5, fill=grey)", "grey tiles over 50% of 8×8"),
        ("shuffle(grid=2) | noise(sigma=0.1)", "2×2 patches shuffled, then Gaussian noise of σ 0.1"),
        ("mix(kind=fmix, alpha=1)", "FMix with another image"),
        (
            "salient(share=0.3, which=coin, fill=mean, layer=none, method=gradcam)",
            "most or least salient 30% under mean",
        ),
        ("swirl(turns=2)", "swirl(turns=2)"),
        ("not a <distortion>", "not a <distortion>"),
    ],
)
def test_a_distortion_is_said_in_words_and_an_unknown_one_as_it_is(text: str, words: str):
    assert in_words(text) == words


def test_every_distortion_of_the_language_has_words():
    from snellen.distort import DISTORTIONS

    for kind in DISTORTIONS.values():
        assert in_words(str(kind())) != str(kind())


def test_what_is_not_known_is_a_dash():
    assert percent(None) == index(None) == index(float("nan")) == in_unit(None, "difference") == "–"
    assert interval(None, 0.5, "share") == "–"
    assert interval(0.426, None, "index") == "0.43–∞"  # a ratio by something that may be nothing


def test_values_are_written_in_their_unit():
    assert in_unit(0.927, "share") == "92.7%"
    assert percent(-0.0744) == "−7.4%"
    assert in_unit(-0.0744, "difference") == "−7.4 points"
    assert in_unit(8.8897, "index") == "8.89"
    assert interval(0.9148, 0.9376, "share") == "91.5–93.8"
    assert interval(-0.02, 0.013, "difference") == "−2.0 to +1.3"


def test_lists_read_as_sentences():
    assert [join_words(["a", "b", "c"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
